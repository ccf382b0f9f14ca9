// Instructions -> what each pixel column shows: shares of engine time by row and hue. No page.

import { KINDS, NO_LAYER } from "./runs.js";

const LINK = KINDS.length; // the row of the DRAM link, after the engine kinds
export const FULL_LINK = 255;

/** Add `weight` for the pixels from `from` to `to` (fractions count in part). */
function spread(row, from, to, weight) {
  const a = Math.max(0, from);
  const b = Math.min(row.length, to);
  if (b <= a) return;
  const first = Math.floor(a);
  const last = Math.min(row.length - 1, Math.floor(b));
  if (first === last) {
    row[first] += (b - a) * weight;
    return;
  }
  row[first] += (first + 1 - a) * weight;
  for (let x = first + 1; x < last; x += 1) row[x] += weight;
  row[last] += (b - last) * weight;
}

/**
 * Shares by row (KINDS, then the DRAM link), hue and pixel column, for the window [t0, t1) seconds
 * of `run`; `only`: of a set of layers. `hueOf`: the hue per layer, `hues` their number.
 */
/** @param {Run} run */
export function binned(run, { t0, t1, width, hueOf, hues, only = null }) {
  const rows = Array.from({ length: KINDS.length + 1 }, () => (
    Array.from({ length: hues }, () => new Float32Array(width))
  ));
  const perPixel = (t1 - t0) / width;
  const engines = KINDS.map((kind) => Math.max(1, run.engines[kind]));
  const { start, hold, kind, layer, link, load } = run;
  for (const round of run.rounds) {
    if (!round.isDrawn || round.at >= t1 || round.at + round.length <= t0) continue;
    const scale = run.seconds_per_cycle / perPixel;
    const shift = (round.at - t0) / perPixel;
    const last = (t1 - round.at) / run.seconds_per_cycle;
    for (let i = 0; i < start.length; i += 1) {
      if (start[i] > last) break;
      const own = layer[i];
      if (only !== null && !only.has(own)) continue;
      const from = start[i] * scale + shift;
      const to = from + hold[i] * scale;
      if (to <= 0) continue;
      const hue = own === NO_LAYER ? hues - 1 : hueOf[own];
      spread(rows[kind[i]][hue], from, to, (load ? load[i] : 1) / engines[kind[i]]);
      if (link[i]) spread(rows[LINK][hue], from, to, link[i] / FULL_LINK);
    }
  }
  return rows;
}

/**
 * Mean and greatest number of layers in flight per pixel column of the window.
 *
 * @param {Run} run
 */
export function flightBinned(run, { t0, t1, width }) {
  const mean = new Float32Array(width);
  const most = new Uint16Array(width);
  const perPixel = (t1 - t0) / width;
  const { flight_cycle: cycle, flight_layers: layers } = run;
  for (const round of run.rounds) {
    if (!round.isDrawn || round.at >= t1 || round.at + round.length <= t0) continue;
    for (let i = 0; i < cycle.length; i += 1) {
      const until = i + 1 < cycle.length ? cycle[i + 1] : run.cycles;
      const from = (cycle[i] * run.seconds_per_cycle + round.at - t0) / perPixel;
      const to = (until * run.seconds_per_cycle + round.at - t0) / perPixel;
      if (!layers[i] || to <= 0) continue;
      if (from >= width) break;
      spread(mean, from, to, layers[i]);
      for (let x = Math.max(0, Math.floor(from)); x < Math.min(width, to); x += 1) {
        if (to - Math.max(from, x) > 0.02) most[x] = Math.max(most[x], layers[i]);
      }
    }
  }
  return { mean, most };
}

/** The mean of each row over all of its pixels: what stands beside it while the lens shows a part. */
export function rowMeans(rows) {
  return rows.map((hues) => (
    hues.reduce((sum, row) => sum + row.reduce((a, b) => a + b, 0), 0) / Math.max(1, hues[0].length)
  ));
}

/**
 * The layer of the instruction nearest to a time in a row, within `reach` seconds; null for none.
 *
 * @param {Run} run
 */
export function layerNear(run, time, row, reach) {
  const number = run.rounds.findLastIndex((round) => round.at <= Math.max(0, time));
  const round = run.rounds[number];
  if (!round || !round.isDrawn) return null;
  const cycle = (time - round.at) / run.seconds_per_cycle;
  const most = reach / run.seconds_per_cycle;
  let [best, found] = [Infinity, null];
  for (let i = 0; i < run.start.length && run.start[i] <= cycle + most; i += 1) {
    if (row < LINK ? run.kind[i] !== row : !run.link[i]) continue;
    const end = run.start[i] + run.hold[i];
    const distance = end < cycle ? cycle - end : Math.max(0, run.start[i] - cycle);
    if (distance <= most && distance <= best && run.layer[i] !== NO_LAYER) {
      [best, found] = [distance, run.layer[i]];
    }
  }
  return found;
}
