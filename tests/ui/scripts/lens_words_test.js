// The lens before anybody chooses, the words above it, and which object has which name.

import { layerTitle } from "../../../graphturbo_ui/components/overview/inspector.js";
import { foldedBlocks } from "../../../graphturbo_ui/components/overview/labels.js";
import {
  alikeBlocks, firstChoice, firstLens, firstOpen, lensTexts,
} from "../../../graphturbo_ui/components/overview/lens_words.js";
import { kernelCount, kernelNumber } from "../../../graphturbo_ui/components/overview/runs.js";
import { equal, near, outcomes } from "./check.js";
import { madeRun, madeScene } from "./made.js";

const LONGEST = { group: 1, hue: -1, loses_s: 0 };
const LOSES = { ...LONGEST, loses_s: 0.0041 };

/** Three layers, two sub-graphs: 0 and 1, then 2; `more`: what the header says besides. */
function scene(more = {}) {
  const found = madeScene([2, 1]);
  found.hues = { ...found.hues, meaning: "group", titles: ["stem", "stage 1"] };
  ["stem", "stage 1"].forEach((title, number) => { found.runs[0].groups[number].called = title; });
  return { ...found, focus: LONGEST, window: [20, 40], ...more };
}

/** Blocks of one layer each with these ops; kinds have the hues. */
function blocked(ops, more = {}) {
  const found = scene({
    layers: ops.map((own) => ({ name: "", ops: own })),
    blocks: ops.map((_, n) => ({ title: `layer ${n}`, first: n, last: n })),
    ...more,
  });
  found.hues = { ...found.hues, meaning: "kind" };
  found.runs[0].groups = [{ layers: [0, 1], called: "norm" }, { layers: [2], called: "norm" }];
  return found;
}

const words = (own, lens = firstLens(own, new Set())) => lensTexts(own, lens)[0];

export default function () {
  return outcomes({
    "what takes longest, or loses most, is named where it begins": () => {
      const lens = firstLens(scene(), new Set());
      equal([lens.run, lens.is], ["B", "focus"]);
      near([lens.t0, lens.t1], [0.2, 0.4]);
      equal(words(scene()), "where stage 1 begins, which takes longest");
      equal(words(scene({ focus: LOSES })), "where stage 1 begins, which loses 4.10 ms");
    },
    "of one sub-graph a stage is named": () => {
      const focus = { group: -1, hue: 0, loses_s: 0.0041 };
      equal(words(scene({ focus })), "where stem begins, which loses 4.10 ms");
      equal(firstChoice(scene({ focus })), { hue: 0 });
    },
    "a whole run is called that, rounds and all": () => {
      const whole = scene({ window: [0, 100] });
      const lens = firstLens(whole, new Set());
      near([lens.t0, lens.t1], [0, 2.4]);
      equal(words(whole), "all of B, 2.40 s");
    },
    "a stretch that somebody chose has its layers": () => {
      equal(lensTexts(scene(), { run: "B", t0: 0, t1: 0.05 }), ["layer 1", "layers 1 to 1"]);
      equal(lensTexts(scene(), { run: "B", t0: 0.1, t1: 0.35 })[1], "layers 1 to 3");
      // The second round repeats the first; of the third one nothing is known.
      equal(lensTexts(scene(), { run: "B", t0: 1.31, t1: 1.35 })[1], "layers 1 to 3");
      equal(lensTexts(scene(), { run: "B", t0: 2.1, t1: 2.2 }), ["no layer in flight"]);
    },
    "every word list goes from the longest to the shortest": () => {
      for (const more of [{}, { focus: LOSES }, { window: [0, 100] }]) {
        const lengths = lensTexts(scene(more), firstLens(scene(more), new Set())).map(({ length }) => length);
        equal(lengths, lengths.toSorted((one, other) => other - one));
      }
    },
    "a slower B is chosen where it loses, a faster one is not": () => {
      equal(firstChoice(scene({ focus: LOSES })), { group: 1 });
      equal(firstChoice(scene()), null);
    },
    "blocks that repeat are magnified one at a time": () => {
      const own = blocked(["a", "b", "b"]);
      const lens = firstLens(own, new Set([2]));
      equal([lens.is, lens.block], ["block", 2]);
      near([lens.t0, lens.t1], [0.5, 0.95]);
      equal(lensTexts(own, lens)[0], "layer 2, one of 2 equal blocks");
      equal(alikeBlocks(own, 0), [0]);
      // Block 0 has no kernel of its own: the window that the report names.
      equal(firstLens(own, new Set([0])).is, "focus");
    },
    "where a slower B loses, its block is open and its beginning is magnified": () => {
      const own = blocked(["b", "b", "b"], { focus: LOSES });
      equal(firstOpen(own), 2);
      equal(firstLens(own, new Set([2])).is, "focus");
      equal(words(own), "where norm begins, which loses 4.10 ms");
    },
    "folded blocks are counted where they equal the open one and lie in a row": () => {
      const own = blocked(["a", "b", "b", "b", "a", "b"]);
      equal(foldedBlocks(own, new Set([1])), { first: 2, last: 3, title: "layer 1" });
      equal([foldedBlocks(own, new Set([0])), foldedBlocks(own, new Set())], [null, null]);
    },
    "kernels are numbered in the order in which they run, over all rounds": () => {
      const run = madeRun();
      equal([[0, 0], [0, 1], [1, 0], [2, 1]].map(([round, kernel]) => kernelNumber(run, round, kernel)), [1, 2, 3, 6]);
      equal(kernelCount(run), 6);
    },
    "a sub-graph has the name that the report gives it, a layer without one its number": () => {
      const run = { groups: [{ called: "norm (layers 1–2)" }], groupOfLayer: [0, 0] };
      equal([1, 2].map((layer) => layerTitle(run, layer)), ["norm (layers 1–2)", "layer 3"]);
    },
  });
}
