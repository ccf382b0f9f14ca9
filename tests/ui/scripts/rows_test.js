// Rows and boxes of the left card: they fill their room without overlap, boxes tile.

import { arrangedRows, framedStretches, kernelBoxes, rowAt, rowOf, stretchesOf } from "../../../graphturbo_ui/components/overview/rows.js";
import { drawn, equal, holds, near, outcomes } from "./check.js";
import { madeRun, madeScene } from "./made.js";

const TOP = 47;

/** Rows cover every layer once, lie below one another and end at the foot. */
function fills(scene, open, height) {
  const rows = arrangedRows(scene, new Set(open), TOP, height);
  equal(rows.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, n) => first + n)), scene.layers.map((_, n) => n));
  let foot = TOP;
  for (const { y, h } of rows) {
    holds(y >= foot - 1e-6 && h > 0, `row at ${y}, ${h} high, after ${foot}`);
    foot = y + h;
  }
  near(foot, TOP + height, 1e-6);
  near(rows[0].y, TOP);
  return rows;
}

/** Boxes tile: areas add up to `area`, and no two lie over one another. */
function tiles(boxes, area) {
  near(boxes.reduce((sum, { x0, x1, y0, y1 }) => sum + (x1 - x0) * (y1 - y0), 0), area, 1e-9);
  boxes.forEach((one, n) => boxes.slice(n + 1).forEach((other) => {
    const across = Math.min(one.x1, other.x1) - Math.max(one.x0, other.x0);
    const down = Math.min(one.y1, other.y1) - Math.max(one.y0, other.y0);
    holds(across < 1e-9 || down < 1e-9, `${JSON.stringify(one)} lies over ${JSON.stringify(other)}`);
  }));
}

export default function () {
  return outcomes({
    "a row per layer, all as high, with gaps between hues and sub-graphs": () => {
      const rows = fills(madeScene([2, 1, 2], [], (layer) => (layer < 3 ? 0 : 1)), [], 108.5);
      near(rows.map(({ h }) => h), [20, 20, 20, 20, 20], 1e-9);
      near(rows.map(({ y }, n) => (n ? y - rows[n - 1].y - rows[n - 1].h : 0)), [0, 0, 1.5, 7, 0], 1e-9);
    },
    "gaps take a quarter of the height at most": () => {
      const rows = fills(madeScene(Array(60).fill(1), [], (layer) => layer % 5), [], 200);
      near(rows.reduce((sum, { h }) => sum + h, 0), 150, 1e-6);
    },
    "a shut block has a row per sub-graph, an open one a row per layer": () => {
      const scene = madeScene([3, 3, 3, 3], [[0, 5], [6, 11]]);
      const rows = fills(scene, [1], 300);
      equal(rows.map(({ first, last, isShut, block }) => [first, last, isShut, block]).slice(0, 3), [[0, 2, true, 0], [3, 5, true, 0], [6, 6, false, 1]]);
      equal(rows.length, 8);
      equal(rows[0].h, 5);
    },
    "with all blocks shut the rows still fill the height": () => {
      equal(fills(madeScene([5, 7, 4], [[0, 4], [5, 11], [12, 15]]), [], 400).length, 3);
    },
    "rows fill the height whatever the model": () => {
      const next = drawn(11);
      for (let n = 0; n < 120; n += 1) {
        const sizes = Array.from({ length: 1 + Math.floor(next() * 150) }, () => 1 + Math.floor(next() * (n % 3 ? 4 : 14)));
        const layers = sizes.reduce((a, b) => a + b);
        const blocks = [];
        for (let first = 0; first < layers && layers > 90;) {
          const last = Math.min(layers - 1, first + 4 + Math.floor(next() * 40));
          blocks.push([first, last]);
          first = last + 1 + Math.floor(next() * 3);
        }
        const scene = madeScene(sizes, blocks, (layer) => Math.floor(layer / 7) % 5);
        const open = next() < 0.7 ? [Math.floor(next() * blocks.length)] : [];
        fills(scene, open, 330 + Math.floor(next() * 500));
      }
    },
    "a model of 5,000 layers has rows for its blocks": () => {
      const blocks = Array.from({ length: 80 }, (_, n) => [n * 62, n * 62 + 61]);
      const rows = fills(madeScene(Array(5000).fill(1), blocks), [3], 520);
      holds(rows.length < 240, `${rows.length} rows`);
    },
    "the row of a layer and of a height": () => {
      const rows = arrangedRows(madeScene([2, 2], [], (layer) => layer >> 1), new Set(), 0, 87);
      near(rows.map(({ y }) => y), [0, 20, 47, 67]);
      equal([0, 3].map((layer) => rowOf(rows, layer).first), [0, 3]);
      equal([-3, 10, 42, 46, 89].map((y) => rowAt(rows, y).first), [0, 0, 1, 2, 3]);
      equal([rowAt(rows, -5), rowAt(rows, 92), rowAt([], 5)], [null, null, null]);
    },
    "stretches of rows that hold layers": () => {
      const rows = arrangedRows(madeScene([1, 1, 1, 1, 1, 1]), new Set(), 0, 60);
      equal(stretchesOf(rows, [0, 1, 3, 5]), [[0, 1], [3, 3], [5, 5]]);
      equal(stretchesOf(rows, []), []);
    },
    "up to so many stretches have a frame each; of more those across the smallest gaps are joined": () => {
      const rows = [0, 20, 30, 60, 70, 110, 120].map((y, n) => ({ first: n, last: n, y, h: 8, block: null, isShut: false }));
      const layers = [0, 2, 4, 6]; // gaps of 22, 32 and 42
      equal(framedStretches(rows, layers, 4), [[0, 0], [2, 2], [4, 4], [6, 6]]);
      equal(framedStretches(rows, layers, 3), [[0, 2], [4, 4], [6, 6]]);
      equal(framedStretches(rows, layers, 2), [[0, 4], [6, 6]]);
      equal(framedStretches(rows, layers, 1), [[0, 6]]);
      equal(framedStretches(rows, [], 1), []);
    },
    "equal gaps are joined together, and shut blocks are framed whole": () => {
      // Blocks of three sub-graphs: the first is open, a row per layer; rows of four shut ones follow.
      const blocks = [0, 1, 2, 3, 4].map((n) => [6 * n, 6 * n + 5]);
      const rows = arrangedRows(madeScene(Array(15).fill(2), blocks, (layer) => (layer >> 1) % 3), new Set([0]), 0, 400);
      const middle = blocks.flatMap(([first]) => [first + 2, first + 3]);
      equal(framedStretches(rows, middle, 5), [[2, 3], [7, 7], [10, 10], [13, 13], [16, 16]]);
      equal(framedStretches(rows, middle, 4), [[2, 3], [6, 17]]);
    },
    "frames lie apart and hold all rows of the layers, whatever the model": () => {
      const next = drawn(5);
      for (let n = 0; n < 100; n += 1) {
        const sizes = Array.from({ length: 20 + Math.floor(next() * 60) }, () => 1 + Math.floor(next() * 3));
        const layers = sizes.reduce((a, b) => a + b);
        const blocks = Array.from({ length: Math.floor(layers / 8) }, (_, block) => [8 * block, 8 * block + 7]);
        const rows = arrangedRows(madeScene(sizes, n % 2 ? blocks : [], (layer) => layer % 4), new Set([1]), 0, 500);
        const chosen = Array.from({ length: layers }, (_, layer) => layer).filter(() => next() < 0.3);
        const frames = framedStretches(rows, chosen, 6);
        holds(frames.length <= 6, `${frames.length} frames`);
        frames.forEach(([first, last], at) => holds(first <= last && (!at || frames[at - 1][1] < first), JSON.stringify(frames)));
        for (const [first, last] of stretchesOf(rows, chosen)) holds(frames.some(([from, to]) => from <= first && last <= to), `${first} to ${last}`);
      }
    },
    "boxes of a sub-graph tile the samples, rounds side by side": () => {
      const run = madeRun({ arrays: {
        kernel_from: [0, 1, 2, 3, 4], kernel_group: [0, 0, 0, 1, 1],
        piece_first: [0, 2, 4, 0, 8], piece_end: [2, 4, 5, 8, 16], piece_extent: [5, 5, 5, 16, 16],
        second_first: [0, 0, 0, 0, 0], second_end: [1, 1, 1, 1, 1], second_extent: [1, 1, 1, 1, 1],
      } });
      const boxes = kernelBoxes(run);
      for (const group of [0, 1]) tiles(boxes.filter((box) => box.group === group), 1);
      // Rounds of 2, 2 and 1 samples: the second one begins at 2/5.
      near(boxes.filter(({ kernel }) => kernel === 0).map(({ x0 }) => x0), [0, 0.4, 0.8]);
      near([boxes[0].x1, boxes[1].x1, boxes[2].x1], [0.16, 0.32, 0.4]);
    },
    "pieces along two axes are cut both ways": () => {
      const cells = [0, 1, 2, 3, 4, 5];
      const run = madeRun({
        header: { sequence: [{ count: 1, cycles: 10, samples: 4, is_drawn: true }] },
        arrays: {
          kernel_from: cells, kernel_group: cells.map(() => 0),
          piece_first: cells.map((n) => (n % 3) * 8), piece_end: cells.map((n) => Math.min(20, (n % 3) * 8 + 8)), piece_extent: cells.map(() => 20),
          second_first: cells.map((n) => (n > 2 ? 3 : 0)), second_end: cells.map((n) => (n > 2 ? 7 : 3)), second_extent: cells.map(() => 7),
        },
      });
      const boxes = kernelBoxes(run);
      tiles(boxes, 1);
      near([boxes[4].x0, boxes[4].x1, boxes[4].y0, boxes[4].y1], [0.4, 0.8, 3 / 7, 1]);
    },
  });
}
