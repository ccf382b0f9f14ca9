// Panes, rows and pixels of the address map: steps over time, and a rectangle a buffer.

import { boxText, bytesText, channels, clamp, secondsText } from "./canvas_kit.js";
import { lastUpTo } from "./time_axis.js";

export const TITLE = 24;
export const STRIP = 34;
const MAP = 112;
export const GAP = 14;
export const AXIS = 26;
export const DIMMED = 0.22;
const EDGED = 5; // pixels; a smaller buffer has no edge of its own

/** Cores of all runs that have an LB, each with how many are like it. */
export function coresOf(runs) {
  const found = new Map();
  for (const run of runs) {
    for (const { core, cores } of run.spaces) if (core >= 0) found.set(core, cores);
  }
  return [...found].sort(([a], [b]) => a - b);
}

/** The core whose LB holds most bytes for longest, the lowest of equals; -1 without any. */
export function fullestCore(runs, cores) {
  const held = new Map(cores.map(([core]) => [core, 0]));
  for (const { spaces, arrays: { from, to, size_bytes } } of runs) {
    for (const space of spaces.filter(({ core }) => core >= 0)) {
      let sum = 0;
      for (let i = space.from; i < space.to; i++) sum += size_bytes[i] * (to[i] - from[i]);
      held.set(space.core, held.get(space.core) + sum);
    }
  }
  return [...held].reduce((best, one) => (one[1] > best[1] ? one : best), [-1, -1])[0];
}

/** The rows of a run: use of LB and GB over time, then the addresses of GB and of one core's LB. */
export function rowsOf(run, core) {
  const steps = [["lb", "LB, fullest core"], ["gb", "GB"]]
    .filter(([memory]) => run.capacities[memory] > 0)
    .map(([memory, label]) => ({
      isMap: false, label, capacity: run.capacities[memory], height: STRIP,
      cycle: run.arrays[`${memory}_cycle`], bytes: run.arrays[`${memory}_bytes`],
    }));
  const maps = run.spaces
    .filter((space) => space.core < 0 || space.core === core)
    .map((space) => ({
      isMap: true, label: labelOf(space), capacity: space.capacity_bytes, height: MAP, space,
    }));
  return [...steps, ...maps];
}

function labelOf({ memory, core, cores }) {
  if (core < 0) return `${memory} addresses`;
  return `core ${core}${cores > 1 ? ` ×${cores.toLocaleString("en-US")}` : ""} ${memory}`;
}

/** The largest value of a step function in each of `width` columns from `t0` on. */
function columnPeaks({ cycle, bytes }, t0, perPixel, width) {
  const peaks = new Float64Array(width);
  let at = lastUpTo(cycle, t0);
  for (let x = 0; x < width; x++) {
    const end = t0 + (x + 1) * perPixel;
    let peak = at >= 0 ? bytes[at] : 0;
    while (at + 1 < cycle.length && cycle[at + 1] < end) peak = Math.max(peak, bytes[++at]);
    peaks[x] = peak;
  }
  return peaks;
}

/** A column is as high as the largest value in its time. */
function paintSteps(image, row, { t0, t1 }, area, ink) {
  const peaks = columnPeaks(row, t0, (t1 - t0) / area.width, area.width);
  const foot = area.top + area.height;
  for (let x = 0; x < area.width; x++) {
    const high = Math.min(1, peaks[x] / row.capacity) * area.height;
    if (high > 0) blend(image, x, foot - Math.max(high, 1), x + 1, foot, ink);
  }
}

/** Rows of a pane in a round's window, into a tile; gives how many buffers it drew. */
export function paintPane({ run, rows }, tile, view, { ratio, ink, free, ground, lit }) {
  let drawn = 0;
  tile.words.fill(packed(channels(ground)));
  const end = clamp(Math.round((run.cycles - view.t0) / (view.t1 - view.t0) * tile.width), 0, tile.width);
  for (const row of rows) {
    const top = Math.round(row.y * ratio);
    const area = { left: 0, top, width: tile.width, height: Math.round(row.height * ratio), edge: channels(ground) };
    for (let y = top; y < top + area.height; y++) tile.words.fill(free, y * tile.width, y * tile.width + end);
    if (row.isMap) drawn += paintBuffers(tile, run, row.space, { ...view, capacity: row.capacity }, area, ink);
    else paintSteps(tile, row, view, area, channels(lit(PALETTE.memory)));
  }
  return drawn;
}

/** A colour as [r, g, b], mixed with `ground` so that `share` of it is left. */
export function mixed(colour, ground, share) {
  const behind = channels(ground);
  return channels(colour).map((c, i) => c * share + behind[i] * (1 - share));
}

/** `colour` as any CSS text -> #rrggbb. */
export function hexOf(colour, pen) {
  pen.fillStyle = colour;
  return pen.fillStyle.startsWith("#") ? pen.fillStyle : "#808080";
}

/**
 * Paint the buffers of a space: a pixel takes of each buffer's colour the share that the buffer has
 * of the pixel's time and bytes, so one that is held for a tenth of a column does not fill it.
 * `area`: left, top, width, height in pixels, and the `edge`'s colour; `view`: t0, t1, capacity; `ink(i)` gives [r, g, b].
 */
function paintBuffers(image, run, space, view, area, ink) {
  const { from, to, offset, size_bytes } = run.arrays;
  const perCycle = area.width / (view.t1 - view.t0);
  const perByte = area.height / view.capacity;
  const right = area.left + area.width;
  let drawn = 0;
  for (let i = space.from; i < space.to && from[i] < view.t1; i++) {
    if (to[i] <= view.t0) continue;
    const x0 = area.left + Math.max(0, (from[i] - view.t0) * perCycle);
    const x1 = Math.min(right, area.left + (to[i] - view.t0) * perCycle);
    const y1 = area.top + area.height - offset[i] * perByte;
    const y0 = Math.max(area.top, y1 - size_bytes[i] * perByte);
    blend(image, x0, y0, x1, y1, ink(i));
    if (x1 - x0 >= EDGED && y1 - y0 >= EDGED) {
      blend(image, x1 - 1, y0, x1, y1, area.edge);
      blend(image, x0, y0, x1 - 1, y0 + 1, area.edge);
    }
    drawn += 1;
  }
  return drawn;
}

/** Mix `colour` into the pixels of a rectangle, each by the share that lies inside. */
function blend(image, x0, y0, x1, y1, colour) {
  const { words, width } = image;
  const whole = packed(colour);
  const lastColumn = Math.min(width, Math.ceil(x1));
  const lastLine = Math.min(image.height, Math.ceil(y1));
  for (let y = y0 | 0; y < lastLine; y++) {
    const tall = Math.min(y + 1, y1) - Math.max(y, y0);
    const line = y * width;
    for (let x = x0 | 0; x < lastColumn; x++) {
      const share = tall * (Math.min(x + 1, x1) - Math.max(x, x0));
      if (share > 0.999) words[line + x] = whole;
      else if (share > 0) words[line + x] = mixWords(words[line + x], colour, share);
    }
  }
}

export function packed([r, g, b]) {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** No array is made: this runs for every pixel that a buffer covers in part. */
function mixWords(ground, colour, share) {
  const rest = 1 - share;
  const red = (ground & 255) * rest + colour[0] * share;
  const green = ((ground >> 8) & 255) * rest + colour[1] * share;
  const blue = ((ground >> 16) & 255) * rest + colour[2] * share;
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** The buffer of a space at a cycle and address, or -1: one at most, live buffers share no byte. */
export function bufferAt(run, space, cycle, address) {
  const { from, to, offset, size_bytes } = run.arrays;
  for (let i = space.from; i < space.to && from[i] <= cycle; i++) {
    if (cycle < to[i] && offset[i] <= address && address < offset[i] + size_bytes[i]) return i;
  }
  return -1;
}

/** What is free at a cycle: the hole around an address, [low, high), and all of the space's. */
export function holeAt(run, space, cycle, address) {
  const { from, to, offset, size_bytes } = run.arrays;
  let [low, high, held] = [0, space.capacity_bytes, 0];
  for (let i = space.from; i < space.to && from[i] <= cycle; i++) {
    if (cycle >= to[i]) continue;
    held += size_bytes[i];
    if (offset[i] > address) high = Math.min(high, offset[i]);
    else low = Math.max(low, offset[i] + size_bytes[i]);
  }
  return { low, high, free: space.capacity_bytes - held };
}

/** The box of a buffer's tensor that it holds. */
function heldBox(run, i) {
  const { lo, hi, tensor, axes } = run.arrays;
  const at = i * run.columns;
  return boxText(axes[tensor[i]], (axis) => [lo[at + axis], hi[at + axis]]);
}

/** What is said of a buffer of the round at `at`: tensor, box, bytes, addresses, lifetime, and its neighbours in time. */
export function bufferLines(run, i, at) {
  const { from, to, offset, size_bytes, tensor, op, before, after, kind, op_layer } = run.arrays;
  const scale = run.seconds_per_cycle;
  const named = (other) => `${run.tensors[tensor[other]]} ${heldBox(run, other)}`;
  const when = (cycle) => secondsText((at + cycle) * scale);
  const end = offset[i] + size_bytes[i];
  const lines = [
    `${run.tensors[tensor[i]]} (${run.kinds[kind[tensor[i]]]})`,
    `box ${heldBox(run, i)}, ${bytesText(size_bytes[i])}`,
    `bytes ${offset[i]} to ${end} of ${bytesText(spaceOf(run, i).capacity_bytes)} ${spaceOf(run, i).memory}`,
    `from ${when(from[i])} to ${when(to[i])}: ${secondsText((to[i] - from[i]) * scale)} (${to[i] - from[i]} cycles)`,
  ];
  if (op[i] >= 0) lines.push(`filled for ${run.ops[op[i]]}, layer ${op_layer[op[i]] + 1}`);
  lines.push(before[i] < 0
    ? "nothing had its bytes before"
    : `bytes before: ${named(before[i])}, until ${when(to[before[i]])}`);
  lines.push(after[i] < 0
    ? "nothing takes its bytes after"
    : `bytes after: ${named(after[i])}, from ${when(from[after[i]])}`);
  return lines;
}

function spaceOf(run, i) {
  return run.spaces.find((space) => i >= space.from && i < space.to);
}
