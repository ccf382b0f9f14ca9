// Rows of the plan diff: every layer once, folds as one line, gaps where groups end.

import {
  diffRows, foldText, heightOf, nextChanged,
} from "../../../graphturbo_ui/components/plan_diff/diff_rows.js";
import { numberOf } from "../../../graphturbo_ui/components/overview/rows.js";
import { drawn, equal, holds, outcomes } from "./check.js";

const never = () => false;

/** Eight layers of which 2 to 4 and 7 are the same in both; no group ends. */
function rowsOf(isFolded, ends = never) {
  return diffRows({ layers: 8, folds: [[2, 4], [7, 7]], isFolded, ends, pitch: 20 });
}

export default function () {
  return outcomes({
    "a row per layer where nothing is folded, one below the other": () => {
      const rows = rowsOf(never);
      equal(rows.map(({ first, last, isShut }) => [first, last, isShut]), Array.from({ length: 8 }, (_, n) => [n, n, false]));
      equal(rows.map(({ y }) => y), [0, 20, 40, 60, 80, 100, 120, 140]);
      equal(rows.map(({ block }) => block), [null, null, 0, 0, 0, null, null, 1]);
      equal(heightOf(rows), 160);
    },
    "a folded stretch is one line with room around it": () => {
      const rows = rowsOf(() => true);
      equal(rows.map(({ first, last }) => [first, last]), [[0, 0], [1, 1], [2, 4], [5, 5], [6, 6], [7, 7]]);
      // 0, 20, then 7 more before and after each fold: 47, 74, 94, 121.
      equal(rows.map(({ y }) => y), [0, 20, 47, 74, 94, 121]);
      equal(rows.map(({ isShut }) => isShut), [false, false, true, false, false, true]);
    },
    "one stretch can be unfolded alone": () => {
      const rows = rowsOf((block) => block === 1);
      equal(rows.length, 8);
      equal(rows.filter(({ isShut }) => isShut).map(({ first }) => first), [7]);
    },
    "rows are apart where a group of either run ends": () => {
      equal(rowsOf(never, (layer) => layer === 1).map(({ y }) => y), [0, 20, 43, 63, 83, 103, 123, 143]);
    },
    "keys go from row to row that differs": () => {
      const rows = rowsOf(() => true);
      equal([nextChanged(rows, -1, 1), nextChanged(rows, 1, 1), nextChanged(rows, 4, 1)], [0, 3, -1]);
      equal([nextChanged(rows, 3, -1), nextChanged(rows, 0, -1)], [1, -1]);
    },
    "a fold counts its layers": () => {
      equal(foldText({ first: 2, last: 13 }), "12 layers the same in both");
      equal(foldText({ first: 7, last: 7 }), "1 layer the same in both");
    },
    "whatever is folded, each layer has one row, found by its number": () => {
      const next = drawn(3);
      for (let n = 0; n < 60; n += 1) {
        const layers = 1 + Math.floor(next() * 40);
        const folds = [];
        for (let at = 0; at < layers; at += 1) {
          const last = Math.min(layers - 1, at + Math.floor(next() * 4));
          if (next() < 0.5) folds.push([at, last]);
          at = last + 1;
        }
        const rows = diffRows({ layers, folds, isFolded: () => next() < 0.5, ends: () => next() < 0.3, pitch: 20 });
        for (let layer = 0; layer < layers; layer += 1) {
          equal(rows.filter(({ first, last }) => first <= layer && layer <= last).length, 1);
          const { first, last } = rows[numberOf(rows, layer)];
          holds(first <= layer && layer <= last, `row ${first} to ${last} of layer ${layer}`);
        }
        equal(numberOf(rows, layers), -1);
        rows.slice(1).forEach((row, at) => holds(row.y >= rows[at].y + rows[at].h, "rows lie over one another"));
      }
    },
  });
}
