// Rows and pixels of the Gantt chart: a row an engine, drawn so that a column of pixels shows the
// share of its time that each colour is busy.

const GUTTER = 118;
const TITLE = 22;
const ROW = 13;
const AXIS = 24;
const MAX_ROWS = 64;
const SLOTS = 10;
const KINDS = ["compute", "load", "store", "core to core", "broadcast", "DMA"];
const WAITS = ["nothing", "data", "buffer space", "a channel", "a barrier", "nothing to do"];

/** The colour slot of every instruction of a run under one way of colouring. */
function slotsOf(run, colourBy) {
  const { kind, layer, group } = run.arrays;
  const slots = new Uint8Array(kind.length);
  if (colourBy === "kind") {
    for (const row of run.rows) {
      for (let i = row.from; i < row.to; i++) {
        slots[i] = kind[i] === 0 ? (row.kind === "vector" ? 1 : 0) : kind[i] + 1;
      }
    }
    return slots;
  }
  const source = colourBy === "layer" ? layer : group;
  for (let i = 0; i < slots.length; i++) slots[i] = source[i] < 0 ? SLOTS - 1 : source[i] % SLOTS;
  return slots;
}

/** Runs of the buffer, each with its own arrays. */
function readRuns({ header, arrays }) {
  return header.runs.map((run, number) => {
    const own = {};
    for (const name of Object.keys(arrays)) {
      if (name.startsWith(`${number}.`)) own[name.slice(2)] = arrays[name];
    }
    return { ...run, arrays: own, name: (header.names || "AB")[number] };
  });
}

/** Rows to draw for a run: engines, or one row an engine kind above 64 rows or when folded. */
function rowsOf(run, isFolded) {
  const overlap = {
    label: "layers overlap", kind: "overlap", ranges: run.overlap, share: coresOf(run.overlap) || 1,
    start: run.arrays.overlap_start, hold: run.arrays.overlap_hold,
  };
  const own = (row) => ({ start: run.arrays.start, hold: run.arrays.hold, ...row });
  if (!isFolded && run.rows.length <= MAX_ROWS) {
    return [overlap, ...run.rows.map((row) => own({ ...row, ranges: [row], share: row.cores }))];
  }
  const kinds = [...new Set(run.rows.map((row) => row.kind))];
  return [overlap, ...kinds.map((kind) => {
    const ranges = run.rows.filter((row) => row.kind === kind);
    return own({ label: `${kind} x${coresOf(ranges)}`, kind, ranges, share: coresOf(ranges) });
  })];
}

/** Cores that rows stand for: those of like programs are simulated once. */
function coresOf(rows) {
  return rows.reduce((sum, row) => sum + row.cores, 0);
}

/** First index in [from, to) whose end lies after `cycle`. */
function firstAfter(start, hold, from, to, cycle) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (start[middle] + hold[middle] <= cycle) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Busy share of every pixel column and slot, into `shares` (width × SLOTS). */
function accumulate(shares, row, slots, t0, perPixel, width) {
  shares.fill(0);
  const { start, hold } = row;
  const end = t0 + width * perPixel;
  for (const range of row.ranges) {
    for (let i = firstAfter(start, hold, range.from, range.to, t0); i < range.to; i++) {
      if (start[i] >= end) break;
      const slot = slots ? slots[i] : 0;
      const x0 = Math.max(0, (start[i] - t0) / perPixel);
      const x1 = Math.min(width, (start[i] + hold[i] - t0) / perPixel);
      const [first, last] = [x0 | 0, Math.min(width - 1, x1 | 0)];
      if (first === last) {
        shares[first * SLOTS + slot] += range.cores * (x1 - x0);
        continue;
      }
      shares[first * SLOTS + slot] += range.cores * (first + 1 - x0);
      for (let x = first + 1; x < last; x++) shares[x * SLOTS + slot] += range.cores;
      shares[last * SLOTS + slot] += range.cores * (x1 - last);
    }
  }
}

/** Paint the shares of one row as stacked columns from the row's foot upwards. */
function paintRow(pixels, stride, left, top, height, shares, width, share, inks) {
  for (let x = 0; x < width; x++) {
    let filled = 0;
    let painted = 0;
    for (let slot = 0; slot < SLOTS; slot++) {
      const part = shares[x * SLOTS + slot];
      if (part <= 0) continue;
      filled += part / share;
      const upto = Math.min(height, Math.max(Math.round(filled * height), painted ? 0 : 1));
      for (; painted < upto; painted++) {
        pixels[(top + height - 1 - painted) * stride + left + x] = inks[slot];
      }
    }
  }
}

/** A colour as one little-endian RGBA word. */
function word(colour) {
  const [r, g, b] = channels(colour);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}
