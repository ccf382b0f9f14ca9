// The buffer of report/overview/buffer.py as objects: two runs over the same layers. Times of a
// run's arrays are cycles of its drawn round; times on the screen are seconds of the whole run.

export const KINDS = ["matrix", "vector", "move", "dma"];
export const NO_LAYER = 0xffff;

/**
 * Header and arrays -> the scene: {…header, runs: [run, …]}, each run with its own arrays.
 *
 * @returns {Scene}
 */
export function readScene({ header, arrays }) {
  const runs = header.runs.map((run, number) => {
    const own = {};
    for (const name of Object.keys(arrays)) {
      if (name.startsWith(`${number}.`)) own[name.slice(String(number).length + 1)] = arrays[name];
    }
    return withTotals({ ...run, ...own, name: (header.names || "AB")[number] });
  });
  const layerOfGroup = runs.map((run) => run.groups.map((group) => group.layers));
  return { ...header, runs, layerOfGroup };
}

/** A run with the start and length in seconds of each of its rounds, and of all of them. */
function withTotals(run) {
  const rounds = [];
  let at = 0;
  for (const { count, cycles, samples, is_drawn: isDrawn } of run.sequence) {
    for (let n = 0; n < count; n += 1) {
      rounds.push({ at, length: cycles * run.seconds_per_cycle, samples, isDrawn });
      at += cycles * run.seconds_per_cycle;
    }
  }
  const samples = rounds.reduce((sum, round) => sum + round.samples, 0);
  return { ...run, rounds, total: at, samples, groupOfLayer: groupOfLayer(run) };
}

/** The sub-graph of each layer; of a layer that several share the first. */
function groupOfLayer(run) {
  const found = [];
  run.groups.forEach(({ layers }, group) => layers.forEach((layer) => { found[layer] ??= group; }));
  return found;
}

/**
 * The round at a time, and the cycle in it; null past the end or in a round that is not drawn.
 *
 * @param {Run} run
 */
export function cycleAt(run, time) {
  if (time === null || time < 0 || time >= run.total) return null;
  const number = run.rounds.findLastIndex((round) => round.at <= time);
  const round = run.rounds[number];
  if (!round || !round.isDrawn) return null;
  return { number, cycle: (time - round.at) / run.seconds_per_cycle };
}

/**
 * The kernel that runs at a time; -1 for none.
 *
 * @param {Run} run
 */
export function kernelAt(run, time) {
  const found = cycleAt(run, time);
  if (!found) return -1;
  return run.kernel_from.findLastIndex((from, k) => from <= found.cycle && found.cycle < run.kernel_to[k]);
}

/**
 * The number of a kernel in the order in which they run, over all rounds: from 1.
 *
 * @param {Run} run
 */
export function kernelNumber(run, round, kernel) {
  return round * run.kernel_from.length + kernel + 1;
}

/**
 * Kernels of all rounds.
 *
 * @param {Run} run
 */
export function kernelCount(run) {
  return run.kernel_from.length * run.rounds.length;
}

/**
 * Kernels of a round in the order in which they run; those of one sub-graph that run at once on
 * several clusters are one bar: [{from, to, group, first, last}], times in cycles.
 *
 * @param {Run} run
 */
export function kernelBars(run) {
  const bars = [];
  run.kernel_from.forEach((from, kernel) => {
    const [to, group] = [run.kernel_to[kernel], run.kernel_group[kernel]];
    const before = bars.at(-1);
    const isBeside = before?.group === group && run.kernel_cluster[kernel] !== run.kernel_cluster[before.last];
    if (isBeside && from < before.to) {
      Object.assign(before, { to: Math.max(before.to, to), last: kernel });
    } else bars.push({ from, to, group, first: kernel, last: kernel });
  });
  return bars;
}

/**
 * Layers in flight at a time, each with 1 where it computes, 2 where it only moves data.
 *
 * @param {Run} run
 */
export function layersAt(run, time) {
  const layers = new Map();
  const found = cycleAt(run, time);
  if (!found) return layers;
  for (let i = 0; i < run.start.length && run.start[i] <= found.cycle; i += 1) {
    if (run.start[i] + run.hold[i] <= found.cycle || run.layer[i] === NO_LAYER) continue;
    const layer = run.layer[i];
    layers.set(layer, Math.min(layers.get(layer) ?? 2, run.kind[i] < 2 ? 1 : 2));
  }
  return layers;
}

/**
 * The time of a layer's instructions on its own: seconds that matrix engines work, on average.
 *
 * @param {Run} run
 */
export function matrixSeconds(run, layer) {
  return (run.layer_matrix_cycles[layer] * run.seconds_per_cycle * scaleOf(run)) / Math.max(1, run.engines.matrix);
}

/**
 * How many times the drawn round's figures go into the whole run, by samples.
 *
 * @param {Run} run
 */
export function scaleOf(run) {
  const drawn = run.rounds.find((round) => round.isDrawn);
  return drawn ? run.samples / drawn.samples : 1;
}

/**
 * Seconds of a run per hue; the last entry is time without any layer.
 *
 * @param {Run} run
 */
export function hueSeconds(run) {
  return run.hue_cycles.map((cycles) => (run.cycles ? (cycles / run.cycles) * run.total : 0));
}

/**
 * Seconds of a run that the layers of a sub-graph take, as in `hueSeconds`: of layers that other
 * sub-graphs share its part.
 *
 * @param {Pick<Run, "layer_run_s">} run
 */
export function groupSeconds(run, { layers, shares }) {
  return layers.reduce((sum, layer, at) => sum + run.layer_run_s[layer] * shares[at], 0);
}

/**
 * Samples of a cluster that are through their last kernel at a time.
 *
 * @param {Run} run
 */
export function samplesDone(run, time) {
  if (time === null) return 0;
  return run.rounds.reduce((sum, round) => sum + (round.at + round.length <= time ? round.samples : 0), 0);
}
