// The tree of merges: what is there after each step, where it lies, what was refused.

import { bandsOf, joined, layersInSight, levelsOf, nodesAt, partsAt, refusedBefore, treeOf } from "../../../graphturbo_ui/components/algorithms/merge_tree.js";
import { reasonText, shortReason } from "../../../graphturbo_ui/components/algorithms/merge_words.js";
import { drawn, equal, holds, outcomes } from "./check.js";

const merge = (parts, pieces = 4) => ({ parts, is_taken: true, pieces, counts: parts.map(() => pieces), cause: "pieces" });
const refuse = (parts, cause = "refetch") => ({ parts, is_taken: false, pieces: 0, counts: [8, 4], cause });
// Layers 0 to 5: 1 and 3 join without 2; the whole takes them in; 4 with 5 is refused.
const STEPS = [merge([1, 3]), refuse([0, 1]), merge([0, 1, 2], 8), refuse([4, 5]), refuse([0, 4])];
const madeTree = () => treeOf({ steps: STEPS, counts: [1, 2, 1, 2, 4, 8] });

export default function () {
  return outcomes({
    "stretches are joined where they meet": () => {
      equal(joined([[5, 6], [1, 1], [2, 3]]), [[1, 3], [5, 6]]);
      equal(joined([[4, 4]]), [[4, 4]]);
    },
    "a box is banded where the hue of its layers changes": () => {
      equal(bandsOf([[0, 4], [6, 6]], [0, 0, 1, 1, 0, 9, 0]), [[0, 1, 0], [2, 3, 1], [4, 4, 0], [6, 6, 0]]);
    },
    "a node per merge, on top of its parts": () => {
      const { nodes, of } = madeTree();
      equal(nodes.length, 8);
      equal(nodes[6].runs, [[1, 1], [3, 3]]);
      equal([nodes[7].runs, nodes[7].children, nodes[7].depth, nodes[7].pieces], [[[0, 3]], [0, 6, 2], 2, 8]);
      equal(of.map(({ made }) => made), [6, -1, 7, -1, -1]);
      equal(of[1].parts, [0, 6]);
      equal(of[4].parts, [7, 4]);
    },
    "parts after each step": () => {
      const tree = madeTree();
      equal([-1, 0, 1, 2, 3, 4].map((step) => partsAt(tree, step)), [6, 5, 5, 3, 3, 3]);
      equal(nodesAt(tree, -1).every(({ isTop }) => isTop), true);
      equal(nodesAt(tree, 2).filter(({ isTop }) => isTop).map(({ id }) => id), [4, 5, 7]);
      equal(nodesAt(tree, 0).length, 7);
    },
    "the parts of any step tile the layers": () => {
      const next = drawn(5);
      const counts = Array(40).fill(1);
      const firsts = counts.map((_, n) => n);
      const steps = [];
      while (firsts.length > 2) {
        const at = Math.floor(next() * (firsts.length - 1));
        const parts = [firsts[at], firsts[at + 1]];
        const isTaken = next() < 0.6;
        steps.push(isTaken ? merge(parts) : refuse(parts));
        if (isTaken) firsts.splice(at + 1, 1);
      }
      const tree = treeOf({ steps, counts });
      for (let step = -1; step < steps.length; step += 1) {
        const tops = nodesAt(tree, step).filter(({ isTop }) => isTop);
        equal(joined(tops.flatMap(({ runs }) => runs.map((run) => [...run]))), [[0, 39]]);
        equal(tops.reduce((sum, { runs }) => sum + runs.reduce((own, [from, to]) => own + to - from + 1, 0), 0), 40);
      }
    },
    "levels are the depths in sight": () => {
      const tree = madeTree();
      equal([...levelsOf(tree, [0, 6])], [[0, 0], [1, 1], [2, 2]]);
      equal([...levelsOf(tree, [4, 6])], [[0, 0]]);
    },
    "refusals stay while both parts do, the last of a pair": () => {
      const tree = madeTree();
      equal(refusedBefore(tree, STEPS, 1), []);
      equal(refusedBefore(tree, STEPS, 2), []);
      equal(refusedBefore(tree, STEPS, 4), [{ step: 3, parts: [4, 5] }]);
    },
    "of many layers those around the decision are in sight": () => {
      const steps = Array.from({ length: 4999 }, (_, n) => merge([0, n + 1]));
      const tree = treeOf({ steps, counts: Array(5000).fill(1) });
      for (const step of [-1, 0, 70, 2500, 4998]) {
        const [first, end] = layersInSight(tree, step, 64);
        holds(end - first === 64 && first >= 0 && end <= 5000, `${first} to ${end}`);
        const layer = Math.max(0, step + 1);
        holds(first <= layer && layer < end, `${layer} in ${first} to ${end}`);
        holds(levelsOf(tree, [first, end]).size <= 5001, "levels");
      }
      equal(layersInSight(madeTree(), 2, 64), [0, 6]);
    },
    "reasons are in words, with the numbers": () => {
      holds(reasonText(refuse([0, 1]), "8 MiB").startsWith("All parts would be cut into 8. A part with fewer"), "refetch");
      holds(reasonText({ cause: "grows", counts: [4, 4], pieces: 8 }, "").startsWith("Together they need 8 pieces"), "grows");
      holds(reasonText({ cause: "split", counts: [], pieces: 0, is_taken: false }, "8 MiB").includes("fits 8 MiB"), "split");
      equal(reasonText({ cause: "other", counts: [], rule: "as it is" }, ""), "as it is");
      equal(shortReason(refuse([0, 1])), "pieces 8 + 4: weights would be fetched again");
      equal(shortReason({ cause: "cycle", counts: [] }), "a path goes round");
      holds(reasonText({ cause: "refetch", counts: [0, 16] }, "").startsWith("A part that no cut fits"), "no cut");
      equal(shortReason({ cause: "refetch", counts: [0, 16] }), "pieces – + 16: weights would be fetched again");
    },
  });
}
