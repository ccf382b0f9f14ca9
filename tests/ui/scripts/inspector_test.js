// What the inspector says of a sub-graph: its next best decision, its neighbours, its times.

import { bothTimes, firstFocus, nextBestCells, raisedCells, refusedTexts, restText, roomText, unexplainedCells } from "../../../graphturbo_ui/components/overview/inspector.js";
import { equal, outcomes } from "./check.js";
import { madeScene } from "./made.js";

/** The text of the cell for sub-graph 1, whose run takes 1,000 cycles for 16 samples. */
function text(row) {
  const found = { ...madeScene([2, 1]), noun: "image" };
  const run = { ...found.runs[0], cycles: 1000, rounds: [{ samples: 16 }], next_best: row ? [{ group: 1, ...row }] : [] };
  return nextBestCells(found, run, 1).map(({ parts: [what, { b }] }) => what + b).join();
}

export default function () {
  return outcomes({
    "before anybody points, the sub-graph that gains most, or all of its kind": () => {
      const found = { ...madeScene([1, 2]) };
      found.runs = [{ ...found.runs[0], layer_run_s: [1, 5, 4], groups: found.runs[0].groups.map((own) => ({ ...own, shares: own.layers.map(() => 1) })) }];
      const focusOf = (meaning, of_group) => firstFocus({ ...found, hues: { meaning, titles: ["norm", "matmul"], of_group, of_layer: [0, 1, 1] } });
      equal([focusOf("group", [1, 1]), focusOf("kind", [0, 1]), focusOf("kind", [1, 1])], [{ group: 1 }, { group: 1 }, { hue: 1, editedGroup: 1 }]);
    },
    "another split, and its cost as a part of the run": () => {
      equal(text({ how: "split", groups: 1, pieces: 8, along: "axis 0", cuts: [["images", 8]], more_cycles: 75 }), "8 × 2 images: the run takes 7.5 % longer");
      equal(text({ how: "split", groups: 1, pieces: 4, along: "axis 2", cuts: [["rows", 4]], more_cycles: 200 }), "4 pieces (rows): the run takes 20 % longer");
    },
    "several sub-graphs instead": () => {
      equal(text({ how: "divided", groups: 3, pieces: 4, along: "", cuts: [], more_cycles: 1 }), "as 3 sub-graphs: the run takes 0.1 % longer");
    },
    "an estimate below what was simulated is no promise": () => {
      equal(text({ how: "joined", groups: 1, pieces: 1, along: "", cuts: [], more_cycles: -5 }), "one with its neighbour: no slower");
    },
    "a refusal of several parts is about none of them alone": () => {
      const run = { groups: [{ called: "stage 1", layers: [0], pieces: 4 }, { called: "stage 2", layers: [1], pieces: 2 }], groupOfLayer: [0, 1] };
      const texts = (parts, isCut = false) => refusedTexts(run, 0, [{ cause: "refetch", rule: "", fewest_pieces: 2, most_pieces: 4, other_layer: 1, other_parts: parts }], isCut);
      equal(texts(1), ["stage 2 would be cut into 4, not 2"]);
      equal(texts(1, true), ["stage 2 into 4, not 2"]);
      equal(texts(3), ["with stage 2 and 2 more: it would cut one of them into 4, not 2"]);
    },
    "why a sub-graph has more pieces than its bytes alone need": () => {
      const run = { groups: [{ pieces: 8 }], raised: [{ group: 0, pieces_before: 4, core_bytes_before: 1_158_144, core_bytes: 579_072 }] };
      const cells = raisedCells({ chip: { lb_data_bytes: 1 << 20 } }, run, 0).map(({ caption, parts }) => [caption, ...parts]);
      equal(cells, [["Why not 4 pieces", "a core would need 1.10 MiB, its LB holds 1 MiB; 566 KiB in 8"]]);
      equal(raisedCells({ chip: {} }, { raised: [{ group: 0, core_bytes_before: 0 }] }, 0), []);
    },
    "live bytes have the room for data alone, and the rest has a place": () => {
      const MIB = 1 << 20;
      const chip = { cores: 8, lb_bytes: 1.25 * MIB, lb_data_bytes: MIB };
      equal(roomText({ chip }), ", of 8 MiB for data in 8 LBs");
      equal([roomText({ chip: { ...chip, lb_bytes: MIB } }), roomText({ chip: {} })], [", of 8 MiB in 8 LBs", ""]);
      const rest = (group, gb) => restText({ chip }, { groups: [{ layers: [0, 1], ...group }], layer_gb_peak_bytes: [0, gb * MIB] }, 0);
      equal(rest({ pieces: 4, piece_bytes: 8 * MIB, whole_bytes: 32 * MIB }, 3), "");
      equal(rest({ pieces: 1, piece_bytes: 0, whole_bytes: 27 * MIB }, 20), "; GB holds up to 20.0 MiB with weights");
      equal(rest({ pieces: 1, piece_bytes: 0, whole_bytes: 27 * MIB, is_via_dram: true }, 0), "; the rest goes via DRAM");
    },
    "a merged sub-graph without a reason has its layers and its neighbours": () => {
      const groups = [{ called: "stem", layers: [0], pieces: 1 }, { called: "stage 1", layers: [1, 2], pieces: 1 }, { called: "head", layers: [3], pieces: 4 }];
      const cells = (own, number, layers) => unexplainedCells({ layers }, { groups: own, groupOfLayer: [0, 1, 1, 2] }, number).map(({ caption, parts }) => [caption, ...parts]);
      equal(cells(groups, 1, Array(4)), [["Grouping", "2 of 4 layers; its strategy records no reason"], ["Neighbours", "stem in 1 piece; head in 4 pieces"]]);
      equal(cells([{ layers: [0, 1] }], 0, Array(2)), [["Grouping", "all layers are one sub-graph"]]);
      equal(cells(groups, 0, Array(4)), []);
    },
    "both times are in the unit of the shorter": () => {
      const texts = (a, b) => bothTimes({ runs: [{ name: "A", own: a, total: 0.02 }, { name: "B", own: b, total: 0.3 }] }, ({ own }) => own).map((part) => part.b ?? part).join("");
      equal(texts(0.149, 0.0414), "A 149 ms   B 41.4 ms");
      equal(texts(0, 0.149), "A 0 s   B 0.149 s");
      equal(texts(0, 0), "A 0 ms   B 0 ms");
    },
    "nothing where no search says so": () => equal(text(null), ""),
  });
}
