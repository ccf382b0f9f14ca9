// Runs and scenes made by hand, as readScene gives them.

import { NO_LAYER, readScene } from "../../../graphturbo_ui/components/overview/runs.js";

const CYCLE = 0.01; // seconds

/**
 * A run: two drawn rounds of 100 cycles and 2 samples, then one of 40 cycles and 1 sample that is not
 * drawn. Two matrix engines, one of the others. `more`: instead of that.
 */
export function madeRun(more = {}) {
  const header = {
    names: "B",
    runs: [{
      seconds_per_cycle: CYCLE, cycles: 100, engines: { matrix: 2, vector: 1, move: 1, dma: 1 },
      sequence: [{ count: 2, cycles: 100, samples: 2, is_drawn: true }, { count: 1, cycles: 40, samples: 1, is_drawn: false }],
      groups: [{ layers: [0, 1], shares: [1, 0.25] }, { layers: [1, 2], shares: [0.75, 1] }],
      hue_cycles: [30, 50, 0, 0, 0, 0, 20],
      ...more.header,
    }],
  };
  const arrays = {
    start: [0, 10, 20, 30, 90], hold: [10, 40, 20, 10, 10], kind: [3, 0, 0, 1, 3], layer: [0, 0, 1, 2, NO_LAYER],
    link: [255, 0, 0, 0, 51],
    kernel_from: [0, 50], kernel_to: [50, 95], kernel_group: [0, 1],
    flight_cycle: [0, 20, 40, 50, 90], flight_layers: [1, 2, 1, 0, 0],
    layer_matrix_cycles: [80, 40, 0], layer_run_s: [0.72, 0.8, 0.4],
    ...more.arrays,
  };
  const own = Object.fromEntries(Object.entries(arrays).map(([name, values]) => [`0.${name}`, values]));
  return readScene({ header, arrays: own }).runs[0];
}

/**
 * A scene of so many layers per sub-graph; `blocks`: [first, last], …; hues by `hueOf(layer)`.
 */
export function madeScene(sizes, blocks = [], hueOf = () => 0) {
  let next = 0;
  const groups = sizes.map((size) => ({ layers: Array.from({ length: size }, () => next++) }));
  const layers = Array.from({ length: next }, () => ({ name: "" }));
  return {
    layers, blocks: blocks.map(([first, last]) => ({ title: "", first, last })),
    hues: { of_layer: layers.map((_, layer) => hueOf(layer)) }, runs: [madeRun({ header: { groups } })],
  };
}
