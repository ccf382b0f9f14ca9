// Bins: shares of engine time per pixel column add up to the busy time, at any width and zoom.

import { binned, flightBinned, layerNear, rowMeans } from "../../../graphturbo_ui/components/overview/bins.js";
import { NO_LAYER } from "../../../graphturbo_ui/components/overview/runs.js";
import { drawn, equal, holds, near, outcomes } from "./check.js";
import { madeRun } from "./made.js";

const HUES = { hueOf: [0, 1, 1], hues: 3 };
const sum = (values) => values.reduce((a, b) => a + b, 0);
const rowSums = (rows) => rows.map((hues) => sum(hues.map((row) => sum([...row]))));
const total = (rows, perPixel) => rowSums(rows).map((pixels) => pixels * perPixel);

/** A run of one round: instructions at random, one after the other per engine kind, two of matrix. */
function busyRun(seed, load = null) {
  const next = drawn(seed);
  const rows = [];
  for (const kind of [0, 0, 1, 2, 3]) {
    let cycle = Math.floor(next() * 20);
    while (cycle < 900) {
      const hold = 1 + Math.floor(next() * 60);
      rows.push({ start: cycle, hold, kind, layer: Math.floor(next() * 3), link: kind === 3 ? Math.floor(next() * 256) : 0 });
      cycle += hold + Math.floor(next() * 15);
    }
  }
  rows.sort((one, other) => one.start - other.start);
  const arrays = Object.fromEntries(["start", "hold", "kind", "layer", "link"].map((name) => [name, rows.map((row) => row[name])]));
  if (load) arrays.load = rows.map(() => load);
  return madeRun({ header: { cycles: 1000, sequence: [{ count: 1, cycles: 1000, samples: 1, is_drawn: true }] }, arrays });
}

/** Seconds per row: matrix is two engines. */
function busySeconds(run, load = 1) {
  const of = (row) => sum(run.start.map((_, i) => (
    row < 4 ? (run.kind[i] === row ? run.hold[i] * load / (row ? 1 : 2) : 0) : run.hold[i] * run.link[i] / 255
  )));
  return [0, 1, 2, 3, 4].map((row) => of(row) * run.seconds_per_cycle);
}

export default function () {
  return outcomes({
    "an instruction lies in the columns that it covers, in part at its ends": () => {
      const run = madeRun();
      // A column is 16 cycles; the matrix instructions 10–50 of layer 0 and 20–40 of layer 1 are on one of two engines each.
      const [matrix, , , dma, link] = binned(run, { t0: 0, t1: 0.96, width: 6, ...HUES });
      near(matrix[0], [6 / 32, 0.5, 0.5, 2 / 32, 0, 0], 1e-6);
      near(matrix[1], [0, 12 / 32, 8 / 32, 0, 0, 0], 1e-6);
      near(dma[0], [10 / 16, 0, 0, 0, 0, 0], 1e-6);
      // Without a layer: the last hue; 51 of 255 is a fifth of the link.
      near(dma[2], [0, 0, 0, 0, 0, 6 / 16], 1e-6);
      near(link[2], [0, 0, 0, 0, 0, 6 / 80], 1e-6);
    },
    "shares add up to the busy cycles at any width": () => {
      for (const seed of [1, 2, 3]) {
        const run = busyRun(seed);
        for (const width of [1, 7, 100, 997, 2600]) {
          const rows = binned(run, { t0: 0, t1: run.total, width, ...HUES });
          near(total(rows, run.total / width), busySeconds(run), 1e-4);
          holds(rows.every((hues) => hues[0].every((_, x) => sum(hues.map((row) => row[x])) < 1 + 1e-5)), `${width}: above 1`);
        }
      }
    },
    "what is busy in part counts in part": () => {
      const run = busyRun(4, 0.25);
      const rows = binned(run, { t0: 0, t1: run.total, width: 300, ...HUES });
      near(total(rows, run.total / 300).slice(0, 4), busySeconds(run, 0.25).slice(0, 4), 1e-4);
    },
    "a window shows the columns of the whole": () => {
      const run = busyRun(5);
      const whole = binned(run, { t0: 0, t1: run.total, width: 1000, ...HUES });
      for (const [from, to] of [[0, 1000], [0, 250], [117, 431], [900, 1000]]) {
        const part = binned(run, { t0: from * 0.01, t1: to * 0.01, width: to - from, ...HUES });
        part.forEach((hues, row) => hues.forEach((columns, hue) => near(columns, whole[row][hue].slice(from, to), 1e-3)));
      }
    },
    "windows side by side add up to the whole": () => {
      const run = busyRun(6);
      const cuts = [0, 0.013, 3.3, 7.777, run.total];
      const parts = cuts.slice(1).map((t1, n) => total(binned(run, { t0: cuts[n], t1, width: 333, ...HUES }), (t1 - cuts[n]) / 333));
      near(parts.reduce((one, other) => one.map((value, row) => value + other[row])), busySeconds(run), 1e-4);
    },
    "drawn rounds repeat, others are empty": () => {
      const run = madeRun();
      const [matrix] = binned(run, { t0: 0, t1: 2.4, width: 240, ...HUES });
      near(matrix[0].slice(0, 100), matrix[0].slice(100, 200), 1e-5);
      equal(sum([...matrix[0].slice(200)]), 0);
    },
    "one layer alone": () => {
      const run = busyRun(7);
      const options = { t0: 0, t1: run.total, width: 200, ...HUES };
      const layers = [0, 1, 2].map((only) => rowSums(binned(run, { ...options, only: new Set([only]) })));
      near(layers.reduce((one, other) => one.map((value, row) => value + other[row])), rowSums(binned(run, options)), 1e-3);
      const [matrix] = binned(run, { ...options, only: new Set([0]) });
      equal(sum([...matrix[1]]), 0);
    },
    "the mean of a row is its share of the window": () => {
      const run = busyRun(8);
      const rows = binned(run, { t0: 0, t1: run.total, width: 321, ...HUES });
      near(rowMeans(rows), busySeconds(run).map((seconds) => seconds / run.total), 1e-5);
    },
    "layers in flight: the mean adds up, peaks are kept": () => {
      const run = madeRun();
      for (const width of [3, 24, 240, 500]) {
        const { mean, most } = flightBinned(run, { t0: 0, t1: 2.4, width });
        // 20·1 + 20·2 + 10·1 cycles, in each of two rounds.
        near(sum([...mean]) * 2.4 / width, 1.4, 1e-4);
        equal(Math.max(...most), 2);
      }
      const { mean, most } = flightBinned(run, { t0: 1.15, t1: 1.25, width: 2 });
      near(mean, [1, 2], 1e-5);
      equal([...most], [1, 2]);
    },
    "the layer near a time": () => {
      const run = madeRun();
      const [matrix, dma, link] = [0, 3, 4];
      equal([0.05, 0.11, 0.2].map((time) => layerNear(run, time, dma, 0.02)), [0, 0, null]);
      equal([0.05, 0.09, 0.3, 0.6].map((time) => layerNear(run, time, matrix, 0.02)), [null, 0, 1, null]);
      equal([0.05, 1.05, 0.95].map((time) => layerNear(run, time, link, 0.01)), [0, 0, null]);
      // In the second round as in the first; none in the round that is not drawn.
      equal([1.45, 2.05].map((time) => layerNear(run, time, matrix, 0.02)), [0, null]);
      equal(run.layer[4], NO_LAYER);
    },
    "the end of a round is not the begin of the next one": () => {
      const run = madeRun({ arrays: { start: [0, 80], hold: [5, 20], kind: [0, 0], layer: [0, 2], link: [0, 0] } });
      equal([0.995, 1.0, 1.995].map((time) => layerNear(run, time, 0, 0.01)), [2, 0, 2]);
      equal(layerNear(run, -0.005, 0, 0.01), 0);
    },
  });
}
