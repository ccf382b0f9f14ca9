// Pixels of the Gantt chart: a column shows the share of its time that each colour is busy.

import { channels } from "./canvas_kit.js";
import { SLOTS } from "./gantt_rows.js";
import { lastUpTo } from "./time_axis.js";

const UNDER = 70; // how opaque the ground is where memory works under compute all of the time, of 255

/** First index in [from, to) whose end lies after `cycle`. */
export function firstAfter(start, hold, from, to, cycle) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (start[middle] + hold[middle] <= cycle) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * Busy share of every pixel column and slot, into `shares` (width × SLOTS). `slots`: null for one
 * colour; `part`: share of its hold that an instruction is busy, undefined where that is all of it.
 */
export function accumulate(shares, row, slots, part, t0, perPixel, width) {
  shares.fill(0);
  const { start, hold } = row;
  const end = t0 + width * perPixel;
  const scale = 1 / perPixel;
  for (const { from, to, cores } of row.ranges) {
    for (let i = firstAfter(start, hold, from, to, t0); i < to; i++) {
      const begin = start[i];
      if (begin >= end) break;
      const x0 = begin <= t0 ? 0 : (begin - t0) * scale;
      const x1 = Math.min(width, (begin + hold[i] - t0) * scale);
      const weight = part ? cores * part[i] : cores;
      const slot = slots ? slots[i] : 0;
      const first = x0 | 0;
      const last = x1 | 0;
      if (first === last) {
        shares[first * SLOTS + slot] += weight * (x1 - x0);
        continue;
      }
      shares[first * SLOTS + slot] += weight * (first + 1 - x0);
      for (let x = first + 1; x < last; x++) shares[x * SLOTS + slot] += weight;
      if (last < width) shares[last * SLOTS + slot] += weight * (x1 - last);
    }
  }
}

/**
 * Paint the shares of one row as stacked columns from the row's foot upwards. A share rounds to
 * whole pixels; one that is not nothing shows at least one.
 */
export function paintRow(pixels, stride, top, height, shares, width, share, inks) {
  const perShare = height / share;
  for (let x = 0; x < width; x++) {
    let filled = 0;
    let painted = 0;
    const foot = (top + height - 1) * stride + x;
    for (let slot = 0, at = x * SLOTS; slot < SLOTS; slot++, at++) {
      if (shares[at] <= 0) continue;
      filled += shares[at] * perShare;
      const upto = Math.min(height, Math.max(Math.round(filled), painted ? 0 : 1));
      for (; painted < upto; painted++) pixels[foot - painted * stride] = inks[slot];
    }
  }
}

/** Paint a step function: every column as high as the most that it holds in the column's time. */
export function paintSteps(pixels, stride, top, height, memory, t0, perPixel, ink) {
  const { cycle, bytes } = memory;
  const perByte = height / scaleOf(memory);
  let at = Math.max(0, lastUpTo(cycle, t0));
  for (let x = 0; x < stride; x++) {
    const end = t0 + (x + 1) * perPixel;
    let most = bytes[at] || 0;
    while (at + 1 < cycle.length && cycle[at + 1] < end) most = Math.max(most, bytes[++at]);
    const rise = Math.min(height, Math.ceil(most * perByte));
    for (let y = 0; y < rise; y++) pixels[(top + height - 1 - y) * stride + x] = ink;
  }
}

/** Bytes at the upper edge of a strip. */
export function scaleOf(memory) {
  return Math.max(memory.capacity, memory.peak, 1) * 1.1;
}

/** A colour as one little-endian RGBA word. */
export function word(colour) {
  const [r, g, b] = channels(colour);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** `part` of one colour in another, both `#rrggbb` or `rgb(…)`. */
export function mixed(colour, other, part) {
  const [one, two] = [colour, other].map((text) => (
    text.startsWith("#") && text.length === 7 ? channels(text) : text.match(/\d+/g).slice(0, 3).map(Number)
  ));
  return "#" + one.map((c, i) => Math.round(c * part + two[i] * (1 - part)).toString(16).padStart(2, "0")).join("");
}

/** Integral of a step function up to each of its cycles, and from there on by its value. */
export function integralOf(cycle, value) {
  const sums = new Float64Array(cycle.length);
  for (let i = 1; i < cycle.length; i++) sums[i] = sums[i - 1] + (cycle[i] - cycle[i - 1]) * value[i - 1];
  return (at) => {
    const i = Math.max(0, lastUpTo(cycle, at));
    return cycle.length ? sums[i] + (at - cycle[i]) * value[i] : 0;
  };
}

/** Mean and largest number of layers in flight in [t0, t1) of a round. */
export function flightIn(run, t0, t1) {
  const { flight_cycle: cycle, flight_layers: layers } = run.arrays;
  let most = 0;
  for (let i = Math.max(0, lastUpTo(cycle, t0)); i < cycle.length && cycle[i] < t1; i++) most = Math.max(most, layers[i]);
  return { mean: (run.flightSum(t1) - run.flightSum(t0)) / Math.max(1e-9, t1 - t0), most };
}

/**
 * Layers in flight: of every column the mean, grey up to one layer and in the overlap's colour beyond
 * it, and paler up to the most of the column. `scale`: layers at the upper edge.
 */
export function paintFlight(tile, top, height, run, t0, perPixel, scale, inks) {
  for (let x = 0; x < tile.width; x++) {
    const { mean, most } = flightIn(run, t0 + x * perPixel, Math.min(run.cycles, t0 + (x + 1) * perPixel));
    const upto = [[Math.min(mean, 1), inks.one], [mean, inks.more], [most, inks.most]];
    let y = 0;
    for (const [layers, ink] of upto) {
      const rise = Math.min(height, Math.round(layers / scale * height));
      for (; y < rise; y++) tile.words[(top + height - 1 - y) * tile.width + x] = ink;
    }
  }
}

/** Ground of columns by the share of their time in which memory works under another layer's compute. */
export function paintUnder(tile, top, height, shares, rgb) {
  for (let x = 0; x < tile.width; x++) {
    const alpha = Math.round(Math.min(1, shares[x * SLOTS]) * UNDER);
    if (!alpha) continue;
    for (let y = top; y < top + height; y++) tile.words[y * tile.width + x] = ((alpha << 24) | rgb) >>> 0;
  }
}
