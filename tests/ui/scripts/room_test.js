// What is drawn where room is scarce: labels, bars of kernels, the gap behind the shorter run.

import { bandOfNumber, numberStep } from "../../../graphturbo_ui/components/overview/groupings_panel.js";
import { leaderFrom, linesInRoom, placedLabels } from "../../../graphturbo_ui/components/overview/labels.js";
import { besideLine, shorterHelps } from "../../../graphturbo_ui/components/overview/race.js";
import { kernelBars } from "../../../graphturbo_ui/components/overview/runs.js";
import { gutterWidth, rowTexts } from "../../../graphturbo_ui/components/overview/time_gutter.js";
import { gapOf } from "../../../graphturbo_ui/components/overview/time_marks.js";
import { axesText, clusterText, piecesTexts } from "../../../graphturbo_ui/components/overview/words.js";
import { equal, holds, outcomes } from "./check.js";
import { madeRun } from "./made.js";

const LINE = 10;
const PEN = { k: 1, width: (text, size) => text.length * size * 0.5 };
const label = (middle, lines = 1, isOptional = false) => ({ middle, height: lines * LINE, lines: Array(lines).fill({}), isOptional });
const placed = (items) => placedLabels(items, LINE, { top: 0, foot: 200 }).map(({ item, top, count }) => [item.middle, top, count]);
const gap = (a, b) => gapOf({ runs: [{ name: "A", total: a }, { name: "B", total: b }] }, { A: { top: 0, foot: 60 }, B: { top: 80, foot: 140 } }, PEN, (time) => time * 500);

export default function () {
  return outcomes({
    "a race label stands left of the bound's line, else right of it, else in fewer words": () => {
      equal(besideLine([90, 40], { left: 0, right: 130, at: 95 }), { text: 0, shift: 0 });
      equal(besideLine([90, 40], { left: 0, right: 130, at: 30 }), { text: 0, shift: 30 });
      equal(besideLine([90, 40], { left: 0, right: 130, at: 65 }), { text: 1, shift: 0 });
      equal(besideLine([90, 40], { left: 0, right: 60, at: 30 }), null);
    },
    "a block's name stands beside its own row or is left out": () => {
      const blocks = [20, 27, 34, 41, 48].map((middle) => label(middle, 1, true));
      equal(placed(blocks), [[20, 15, 1], [34, 29, 1], [48, 43, 1]]);
      equal(placed([...blocks, label(22)]), [[22, 17, 1], [34, 29, 1], [48, 43, 1]]);
    },
    "other labels move down and lose lines, none over another": () => {
      equal(placed([label(20, 3), label(28, 1)]), [[20, 10, 2], [28, 30, 1]]);
      equal(placed([label(20, 3), label(60, 2)]), [[20, 5, 3], [60, 50, 2]]);
    },
    "a line leads to a label that stands not beside its rows; far from them there is none": () => {
      const thin = { middle: 30, height: 4 };
      equal([20, 25, 27, 30].map((top) => leaderFrom(thin, top, LINE)), [30, null, null, 30]);
      equal(leaderFrom({ middle: 50, height: 80 }, 70, LINE), null);
      equal(leaderFrom({ middle: 50, height: 20 }, 80, LINE), 58);
      const crowd = [10, 11, 12, 13, 14, 15, 16, 17].map((middle) => ({ ...label(middle), height: 4 }));
      equal(placed(crowd).map(([, top]) => top), [5, 15, 25, 35, 45, 55]);
      equal(placed([{ ...label(198), height: 4 }]), [[198, 193, 1]]);
    },
    "a label without room for all lines leaves out what the boxes show": () => {
      const lines = [{ text: "stage 1" }, { text: "8 pieces", isDrawn: true }, { text: "6 MiB" }, { text: "13 % of B's time" }];
      const said = (count, after) => linesInRoom(lines, count, after).map(({ text }) => text);
      equal(said(3, ""), ["stage 1", "6 MiB", "13 % of B's time"]);
      equal([said(3, "13 %"), said(1, ""), said(4, "").length], [["stage 1", "8 pieces", "6 MiB"], ["stage 1"], 4]);
    },
    "a gutter has room for the longest names in the font that is there": () => {
      const block = { list: ["flight", "matrix"], rows: { flight: { y: 0, h: 20 }, matrix: { y: 20, h: 20 } } };
      const own = (wide, width) => gutterWidth({ k: 1, width: (text) => text.length * wide }, [[block, { engines: { matrix: 8 } }]], width);
      equal([own(5, 600), own(8, 600), own(8, 300)], [16 + 120, 16 + 183, 16 + 112]);
      equal([rowTexts("matrix", 1216), rowTexts("link", undefined)], [["Matrix ×1,216", "Matrix"], ["DRAM link", "DRAM"]]);
    },
    "a number stands in the middle of its box": () => {
      equal(bandOfNumber([{ top: 0, foot: 100, hue: 2 }], 20, 60, 10), { middle: 40, hue: 2 });
      // In the band that has the middle, though another one is taller.
      const bands = [{ top: 0, foot: 40, hue: 0 }, { top: 40, foot: 60, hue: 1 }, { top: 60, foot: 101, hue: 2 }];
      equal(bandOfNumber(bands, 0, 100, 20), { middle: 50, hue: 1 });
    },
    "a number that a seam would cross stands in the tallest band of its box": () => {
      const bands = [{ top: 0, foot: 48, hue: 0 }, { top: 48, foot: 110, hue: 1 }];
      equal(bandOfNumber(bands, 0, 100, 10), { middle: 74, hue: 1 });
      // Of a band the part inside the box counts: 48 of the first, 42 of the second.
      equal(bandOfNumber(bands, 0, 90, 10), { middle: 24, hue: 0 });
      equal(bandOfNumber(bands, 10, 90, 10), { middle: 69, hue: 1 });
    },
    "all layers are numbered where rows are high": () => {
      const rows = (h) => [{ h, isShut: false }, { h: 2, isShut: true }];
      equal([85, 20, 9].map((h) => numberStep(rows(h), 1)), [1, 5, 10]);
    },
    "kernels that clusters run at once are one bar": () => {
      const bars = (kernel_cluster) => kernelBars(madeRun({ arrays: {
        kernel_from: [0, 10, 12, 50], kernel_to: [10, 40, 45, 60], kernel_group: [0, 1, 1, 1], kernel_cluster,
      } })).map(({ from, to, first, last }) => [from, to, first, last]);
      equal(bars([0, 0, 1, 0]), [[0, 10, 0, 0], [10, 45, 1, 2], [50, 60, 3, 3]]);
      equal(bars([0, 0, 0, 0]).length, 4);
    },
    "the gap's words stand in the arrow, above it, or in the head of the shorter run": () => {
      equal([gap(1, 0.2).form, gap(1, 0.2).text, gap(1, 0.2).run.name], ["line", "0.800 s sooner", "B"]);
      equal([gap(0.88, 1).form, gap(0.88, 1).lines, gap(0.88, 1).outside], ["stack", ["0.120 s", "later"], ""]);
      equal([gap(0.98, 1).form, gap(0.98, 1).outside], ["none", "B ends 20.0 ms later"]);
      equal([gap(1, 0.98).outside, gap(1, 1)], ["B ends 20.0 ms sooner", null]);
    },
    "pieces by the names of their axes": () => {
      const said = (pieces, cuts, samples = 16) => piecesTexts({ pieces, cuts }, samples, "image")[0];
      equal(said(8, [["images", 8]]), "8 pieces × 2 images");
      equal(said(112, [["images", 16], ["rows", 7]]), "16 × 7 pieces (images × rows)");
      equal([said(4, [["rows", 4]]), said(4, []), said(1, [])], ["4 pieces (rows)", "4 pieces", "1 piece of 16 images"]);
      equal(said(1, [], 1), "1 piece");
      const lengths = piecesTexts({ pieces: 112, cuts: [["images", 16], ["rows", 7]] }, 16, "image").map(({ length }) => length);
      equal(lengths, lengths.toSorted((one, other) => other - one));
    },
    "a bracket names what boxes are cut along": () => {
      equal(["images"].map((name) => axesText([name, name], 16, "image")), ["16 images"]);
      equal([axesText([], 1, "image"), axesText(["rows"], 1, "image")], ["1 image", "rows"]);
      equal([axesText(["images", "rows"], 4, "image"), axesText(["images", "rows", "channels"], 4, "image")], ["images or rows", "several axes"]);
    },
    "what helps a run is said in fewer words, then by the change that helps, then without what binds it": () => {
      const [bound, gain] = ["B is DRAM-bound", "25 % more DRAM bandwidth makes B 1.2× as fast"];
      const brief = gain.replace(/make(s?) B (.*×) as fast/, "give$1 $2");
      holds(brief !== gain, brief);
      equal(shorterHelps(`${bound}: ${gain}`), [`${bound}: ${gain}`, `${bound}: ${brief}`, `${bound}: ${brief}`, brief, brief, bound]);
      const [share, vain] = ["DRAM takes 45 % of B's critical path", "25 % more DRAM bandwidth does not help"];
      const own = "25 % more vector lanes make B 1.1× as fast";
      const last = "25 % more vector lanes give 1.1×";
      const both = `${vain}; ${last}`;
      equal(shorterHelps(`${share}, but ${vain}; ${own}`), [`${share}, but ${vain}; ${own}`, `${share}: ${both}`, `${share}: ${last}`, both, last, share]);
      equal(shorterHelps(bound), [bound, bound]);
    },
    "clusters are counted per run where the runs use different ones": () => {
      const said = (...idle) => clusterText({ runs: idle.map((idle_clusters) => ({ idle_clusters })), chip: { clusters: 4 } });
      equal([said(3, 0), said(0, 0), said(3, 3)], ["A: 1 of 4 clusters, B: 4 of 4", "one cluster", "one cluster (3 of 4 idle)"]);
      holds(said(0) === "one cluster", "one run alone");
    },
  });
}
