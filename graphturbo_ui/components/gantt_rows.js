// What the Gantt chart draws: its runs, a row an engine, core or engine kind, and which colour each
// instruction takes.

import { hasRounds, ROUNDS } from "./rounds.js";

const TITLE = 58;
const ROW = 13;
export const STRIP = 30;
export const FLIGHT = 34; // height of the chart of layers in flight
export const AXIS = 24;
const MAX_ROWS = 64;
const MOST_ROWS = 512; // that anybody may ask for: a canvas has at most 16,384 pixels either way
const TONES = 2; // of a hue: full and pale
const HUES = PALETTE.hues.light.length; // the last for all else
export const DIM = TONES * HUES; // slot of what is not selected, or too far from it to have a hue
export const SLOTS = DIM + 1;
const NEAR = 4; // neighbours on either side of what is selected that keep their hue, paler
export const KINDS = ["compute", ...PALETTE.kindNames.slice(2)];
export const HELD_UP = ["its engine", "its data", "buffer space", "its channel", "the end of the segment"];
export const WAITS = ["nothing", "data", "buffer space", "a channel", "a barrier", "nothing to do"];

/**
 * The colour slot of every instruction of a run; `flags` tells the selected ops, null for none. By
 * layer or sub-graph a slot is a hue in full or pale: every second layer is pale, or, where ops are
 * selected, all but those; what is further than four from them is dim. By kind or wait the selected
 * keep their colours and the rest is dim.
 */
export function slotsOf(run, colourBy, flags) {
  const { op, layer, group, wait } = run.arrays;
  if (colourBy === "kind") return dimmed(kindSlots(run), op, flags);
  if (colourBy === "wait") return dimmed(Uint8Array.from(wait), op, flags);
  const owners = colourBy === "layer" ? layer : group;
  const hues = colourBy === "layer" ? run.hues.layers : run.hues.groups;
  const [low, high] = flags ? reachOf(run, colourBy, flags) : [0, Infinity];
  const slots = new Uint8Array(owners.length);
  for (let i = 0; i < slots.length; i++) {
    const owner = owners[i];
    const isNear = owner >= 0 && owner >= low - NEAR && owner <= high + NEAR;
    const isPale = flags ? op[i] < 0 || !flags[op[i]] : colourBy === "layer" && owner % TONES;
    // A sub-graph without a hue has those of its layers.
    const hue = hues[owner] < 0 ? run.hues.layers[layer[i]] : hues[owner];
    slots[i] = isNear ? TONES * hue + (isPale ? 1 : 0) : DIM;
  }
  return slots;
}

/** First and last layer or sub-graph of a run that holds a selected op. */
function reachOf(run, colourBy, flags) {
  const owners = colourBy === "layer" ? run.arrays.op_layer : run.arrays.op_group;
  let [low, high] = [Infinity, -Infinity];
  for (let op = 0; op < flags.length; op++) {
    if (!flags[op]) continue;
    low = Math.min(low, owners[op]);
    high = Math.max(high, owners[op]);
  }
  return [low, high];
}

/** Matrix computes are slot 0, vector computes 1, moves by their kind from 2. */
function kindSlots(run) {
  const { kind } = run.arrays;
  const slots = new Uint8Array(kind.length);
  for (const row of run.rows) {
    const compute = row.kind === "vector" ? 1 : 0;
    for (let i = row.from; i < row.to; i++) slots[i] = kind[i] === 0 ? compute : kind[i] + 1;
  }
  return slots;
}

function dimmed(slots, op, flags) {
  if (!flags) return slots;
  for (let i = 0; i < slots.length; i++) {
    if (op[i] < 0 || !flags[op[i]]) slots[i] = DIM;
  }
  return slots;
}

/**
 * Rows to draw for a run. `mode`: "auto" (engines, or kinds above 64 rows), "engines", "cores" (kinds
 * above 512), "kinds"; `turned`: cores folded among engines, or opened among folded ones.
 */
function rowsOf(run, mode, turned) {
  const own = (row) => ({ start: run.arrays.start, hold: run.arrays.hold, ...row });
  const overlap = {
    label: "within one core", kind: "overlap", core: null, ranges: run.overlap,
    share: coresOf(run.overlap) || 1,
    start: run.arrays.overlap_start, hold: run.arrays.overlap_hold,
  };
  const rows = mode === "kinds" ? kindRows(run) : coreRows(run, mode, turned);
  const isTooMany = rows.length > (mode === "auto" ? MAX_ROWS : MOST_ROWS);
  return [overlap, ...(isTooMany ? kindRows(run) : rows).map(own)];
}

/** The name of an engine or its kind as people write it: `DMA 0` of `dma 0`. */
export function spelled(name) {
  return name.replace(/^dma\b/, "DMA");
}

function kindRows(run) {
  return [...new Set(run.rows.map((row) => row.kind))].map((kind) => {
    const ranges = run.rows.filter((row) => row.kind === kind);
    return { label: `${spelled(kind)} ×${coresOf(ranges).toLocaleString("en-US")}`, kind, core: null, ranges, share: coresOf(ranges) };
  });
}

/** A row an engine, or a row a core of those that are folded; what belongs to no core stays. */
function coreRows(run, mode, turned) {
  const rows = [];
  let last = null;
  for (const row of run.rows) {
    const isFolded = row.core >= 0 && (mode === "cores") !== turned.has(row.core);
    if (isFolded && last?.core === row.core) {
      last.ranges.push(row);
      last.share += row.cores;
      continue;
    }
    const first = row.core >= 0 && last?.core !== row.core;
    const times = row.cores > 1 ? ` ×${row.cores.toLocaleString("en-US")}` : "";
    const label = isFolded ? `▶ core ${row.core}${times}` : `${first ? "▼ " : ""}${row.label}`;
    last = {
      label, kind: isFolded ? "core" : row.kind, core: row.core, ranges: [row], share: row.cores,
      isFolded,
    };
    rows.push(last);
  }
  return rows;
}

/** Cores that rows stand for: those of like programs are simulated once. */
export function coresOf(rows) {
  return rows.reduce((sum, row) => sum + row.cores, 0);
}

/** Memories that a run has, each as a step function under its capacity. */
function memoriesOf(run) {
  const names = { lb: "LB, fullest core", gb: "GB" };
  return Object.entries(names).map(([key, label]) => ({
    key, label, capacity: run.capacities[key] || 0,
    cycle: run.arrays[`${key}_cycle`], bytes: run.arrays[`${key}_bytes`],
    peak: run.arrays[`${key}_bytes`].reduce((most, held) => Math.max(most, held), 0),
  })).filter((memory) => memory.capacity || memory.peak);
}

/** Where every row and strip of every pane lies; gives the panes and the height of all of them. */
export function arranged(runs, mode, turned) {
  let top = 0;
  const panes = runs.map((run, number) => {
    const rows = rowsOf(run, mode, turned[number]);
    const height = Math.round(rows.length > 12 ? ROW : ROW * 1.8);
    const line = top + TITLE;
    const flight = line + (hasRounds(run) ? ROUNDS : 0);
    const first = flight + FLIGHT;
    const end = first + rows.length * height;
    const strips = memoriesOf(run).map((memory, i) => ({ ...memory, top: end + 4 + i * (STRIP + 4) }));
    const foot = end + 4 + strips.length * (STRIP + 4);
    const pane = { run, number, rows, strips, top, line, flight, height, first, end, foot };
    top = foot + AXIS;
    return pane;
  });
  return { panes, height: top };
}
