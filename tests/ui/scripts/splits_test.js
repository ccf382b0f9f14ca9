// Panel 1 as numbers: cuts, the layer that forces the count, what is in sight.

import { cutsOf, forcedBy, gridOf, rectangleOf, shownLayers, sizeTicks, slicesOf, windowAround } from "../../../graphturbo_ui/components/algorithms/splits.js";
import { equal, holds, near, outcomes } from "./check.js";

const layer = (number, pieces, whole_bytes) => ({ layer: number, pieces, whole_bytes });

export default function () {
  return outcomes({
    "a rectangle is samples by rows, or by the axis that is split": () => {
      equal(rectangleOf({ shape: [16, 64, 56, 55], axis: 0 }), { across: { axis: 0, size: 16, isCut: true }, down: { axis: 2, size: 56, isCut: false } });
      equal(rectangleOf({ shape: [1, 64, 56, 55], axis: 3 }).down, { axis: 3, size: 55, isCut: true });
      equal(rectangleOf({ shape: [8, 128, 768], axis: -1 }), { across: { axis: 0, size: 8, isCut: false }, down: { axis: 1, size: 128, isCut: false } });
      equal(rectangleOf({ shape: [8, 1000], axis: 0 }).down, { axis: 0, size: 1, isCut: false });
      equal(rectangleOf({ shape: [8], axis: 0 }).down.size, 1);
      equal(rectangleOf({ shape: [], axis: -1 }).across.size, 1);
    },
    "cuts lie between elements and leave none out": () => {
      near(cutsOf(16, 4).flat(), [0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1]);
      const cuts = cutsOf(7, 3);
      equal([cuts[0][0], cuts.at(-1)[1]], [0, 1]);
      holds(cuts.every(([from, to], n) => to > from && (n === 0 || from === cuts[n - 1][1])), JSON.stringify(cuts));
      near(cuts.map(([from, to]) => (to - from) * 7), [2, 3, 2]);
    },
    "an axis that later rules cut is across or down, with its parts": () => {
      const both = { shape: [16, 64, 56, 55], axis: 0, pieces: 4, final_cuts: [[0, 4], [3, 2]] };
      equal(rectangleOf(both).down, { axis: 3, size: 55, isCut: false });
      equal(gridOf(both), { across: 4, down: 2 });
      const rows = { shape: [16, 64, 56, 55], axis: 2, pieces: 7, final_cuts: [[2, 7], [0, 16]] };
      equal(gridOf(rows), { across: 16, down: 7 });
      // Rows and columns, where samples are whole.
      const plane = { shape: [1, 64, 56, 55], axis: 2, pieces: 2, final_cuts: [[2, 2], [3, 4]] };
      equal(rectangleOf(plane), { across: { axis: 3, size: 55, isCut: false }, down: { axis: 2, size: 56, isCut: true } });
      equal(gridOf(plane), { across: 4, down: 2 });
      // Along its own axis the count of Algorithm 1 counts, and an axis that is not drawn is no slice.
      equal(gridOf({ ...both, final_cuts: [[0, 8]] }), { across: 4, down: 1 });
      equal(gridOf({ shape: [8, 128], axis: -1, pieces: 1, final_cuts: [] }), { across: 1, down: 1 });
      equal(gridOf({ shape: [8], axis: 0, pieces: 2, final_cuts: [[0, 2]] }), { across: 2, down: 1 });
    },
    "slices lie between elements, and fewer are drawn where they have no room": () => {
      const { cuts, gap, isEvery } = slicesOf(40, 8, 4);
      equal([cuts.length, gap, isEvery], [4, 2, true]);
      near(cuts.flat(), [0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1]);
      const narrow = slicesOf(12, 100, 50);
      equal([narrow.cuts.length, narrow.gap, narrow.isEvery], [4, 1.5, false]);
      equal(slicesOf(40, 8, 1), { cuts: [[0, 1]], gap: 0, isEvery: true });
    },
    "the layer that needs as many pieces alone forces the count, the largest first": () => {
      const layers = [layer(4, 2, 10), layer(5, 8, 50), layer(6, 8, 55), layer(7, 0, 1)];
      equal(forcedBy({ layers, pieces: 8 }), { layers: [6, 5], most: 8 });
      equal(forcedBy({ layers, pieces: 16 }), { layers: [], most: 8 });
      equal(forcedBy({ layers: [layer(1, 1, 5)], pieces: 1 }), { layers: [], most: 1 });
    },
    "of many layers those with most bytes are shown, in order": () => {
      const many = [5, 9, 5, 7, 5].map((size, n) => layer(n, 1, size));
      equal(shownLayers(many, 3).map((own) => own.layer), [0, 1, 3]);
      equal(shownLayers(many, 9).length, 5);
    },
    "ticks are powers of two": () => {
      equal(sizeTicks(55 * 2 ** 20, 6).map((size) => size / 2 ** 20), [0, 16, 32, 48]);
      equal(sizeTicks(3, 6), [0, 1, 2, 3]);
    },
    "a window of places holds the one that is looked at": () => {
      equal(windowAround(3, 5, 9), [0, 5]);
      for (let at = 0; at < 50; at += 1) {
        const [first, end] = windowAround(at, 50, 12);
        holds(first <= at && at < end && end - first === 12 && end <= 50, `${at}: ${first} to ${end}`);
      }
    },
  });
}
