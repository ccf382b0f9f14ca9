// Layers -> rows of the left card: where each one stands, which blocks are shut. No page.

const SHUT_HEIGHTS = [[1, 2], [4, 5], [10, 8], [Infinity, 11]];
const TIGHT_HEIGHTS = [[1, 1], [4, 2], [10, 4], [Infinity, 5]];
const GAP = { hue: 7, group: 1.5, shut: 4, block: 9 };
const SAME_GAP = 0.5; // pixels by which equal gaps may differ
const MOST_GAPS = 0.25; // share of the height that gaps may take
const MOST_SHUT = 0.85; // share of the rest that rows of shut blocks may take, where one is open

/**
 * Rows from top to bottom: [{first, last, y, h, block, isShut}], a row per layer, or of a shut block
 * a row per stretch of one sub-graph. `open`: numbers of the open blocks.
 */
/** @param {Scene} scene */
export function arrangedRows(scene, open, top, height) {
  const rows = unitsOf(scene, open);
  const heights = fixedHeights(rows, height);
  const gaps = rows.map((row, n) => (n ? gapBetween(scene, rows[n - 1], row) : 0));
  const asked = gaps.reduce((a, b) => a + b, 0);
  const shrink = Math.min(1, (MOST_GAPS * height) / Math.max(1, asked));
  const fixed = heights.reduce((sum, h) => sum + (h ?? 0), 0);
  const loose = heights.filter((h) => h === null).length;
  const free = height - asked * shrink;
  const stretch = loose ? Math.min(1, (MOST_SHUT * free) / Math.max(1, fixed)) : free / Math.max(1, fixed);
  const each = loose ? (free - fixed * stretch) / loose : 0;
  let y = top;
  rows.forEach((row, n) => {
    y += gaps[n] * shrink;
    row.y = y;
    row.h = heights[n] === null ? each : heights[n] * stretch;
    y += row.h;
  });
  return rows;
}

/** @param {Scene} scene */
function unitsOf(scene, open) {
  const layers = scene.layers.length;
  const rows = [];
  const blockOf = [];
  scene.blocks.forEach(({ first, last }, block) => {
    for (let layer = first; layer <= last; layer += 1) blockOf[layer] = block;
  });
  const groupOf = scene.runs.at(-1).groupOfLayer;
  for (let layer = 0; layer < layers; layer += 1) {
    const block = blockOf[layer] ?? null;
    const isShut = block !== null && !open.has(block);
    const before = rows.at(-1);
    const joins = isShut && before && before.block === block && groupOf[before.last] === groupOf[layer];
    if (joins) before.last = layer;
    else rows.push({ first: layer, last: layer, block, isShut });
  }
  return scene.blocks.length > 60 || rows.length > 240 ? joinedByBlock(rows) : rows;
}

/** One row per shut block, where there is no room for a row per sub-graph. */
function joinedByBlock(rows) {
  const found = [];
  for (const row of rows) {
    const before = found.at(-1);
    if (row.isShut && before?.isShut && before.block === row.block) before.last = row.last;
    else found.push(row);
  }
  return found;
}

/** Pixels of rows of shut blocks, null for rows that share what is left. */
function fixedHeights(rows, height) {
  const sized = (table) => rows.map(({ first, last, isShut }) => (
    isShut ? table.find(([most]) => last - first + 1 <= most)[1] : null
  ));
  const usual = sized(SHUT_HEIGHTS);
  const loose = rows.filter(({ isShut }) => !isShut).length;
  const fixed = usual.reduce((sum, h) => sum + (h ?? 0), 0);
  return fixed + 8 * loose > MOST_SHUT * height ? sized(TIGHT_HEIGHTS) : usual;
}

/** @param {Scene} scene */
function gapBetween(scene, before, row) {
  const groups = scene.runs.at(-1).groupOfLayer;
  const hues = scene.hues.of_layer;
  if (before.block !== row.block) return before.isShut && row.isShut ? GAP.shut : GAP.block;
  if (row.isShut) return 0.75;
  if (hues[before.last] !== hues[row.first]) return GAP.hue;
  return groups[before.last] !== groups[row.first] ? GAP.group : 0;
}

/** The row that shows a layer. */
export function rowOf(rows, layer) {
  return rows.find((row) => row.first <= layer && layer <= row.last);
}

/** The row at a height; the nearest one where a gap is hit; null outside. */
export function rowAt(rows, y) {
  if (!rows.length || y < rows[0].y - 4 || y > rows.at(-1).y + rows.at(-1).h + 4) return null;
  return rows.reduce((best, row) => (
    Math.abs(row.y + row.h / 2 - y) - row.h / 2 < Math.abs(best.y + best.h / 2 - y) - best.h / 2 ? row : best
  ));
}

/** Stretches of rows [first row, last row] that hold these layers without another one between. */
export function stretchesOf(rows, layers) {
  const found = [];
  for (const n of new Set([...layers].sort((one, other) => one - other).map((layer) => numberOf(rows, layer)))) {
    const before = found.at(-1);
    if (before && before[1] === n - 1) before[1] = n;
    else if (n >= 0) found.push([n, n]);
  }
  return found;
}

/**
 * Stretches of rows to frame, `most` of them or fewer. Where these layers have more, a shut block is
 * framed whole; then frames across the smallest gaps are joined, and all across equal gaps together,
 * so that blocks that look the same are framed the same.
 */
export function framedStretches(rows, layers, most) {
  const own = stretchesOf(rows, layers);
  if (own.length <= most) return own;
  const whole = withWholeBlocks(rows, own);
  return whole.length <= most ? whole : joinedStretches(rows, whole, most);
}

function withWholeBlocks(rows, stretches) {
  const isOfSame = (one, other) => rows[one].isShut && rows[other]?.isShut && rows[one].block === rows[other].block;
  const found = [];
  for (let [first, last] of stretches) {
    while (isOfSame(first, first - 1)) first -= 1;
    while (isOfSame(last, last + 1)) last += 1;
    const before = found.at(-1);
    if (before && before[1] >= first) before[1] = last;
    else found.push([first, last]);
  }
  return found;
}

function joinedStretches(rows, stretches, most) {
  const gaps = stretches.slice(1).map(([next], n) => {
    const before = rows[stretches[n][1]];
    return rows[next].y - before.y - before.h;
  });
  const closed = gaps.toSorted((one, other) => other - one)[most - 1] + SAME_GAP;
  const found = [stretches[0]];
  gaps.forEach((gap, n) => {
    if (gap <= closed) found.at(-1)[1] = stretches[n + 1][1];
    else found.push(stretches[n + 1]);
  });
  return found;
}

/** The number of the row that shows a layer, by halving; -1 for none. */
export function numberOf(rows, layer) {
  let [low, high] = [0, rows.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (rows[middle].first <= layer) low = middle;
    else high = middle - 1;
  }
  const row = rows[low];
  return row && row.first <= layer && layer <= row.last ? low : -1;
}

/**
 * Boxes of a run on the sample axis: [{kernel, group, x0, x1, y0, y1}] with 0..1 each: x along the
 * first axis of the split (rounds side by side), y along the second one.
 */
/** @param {Run} run */
export function kernelBoxes(run) {
  const boxes = [];
  let at = 0;
  run.rounds.forEach((round, number) => {
    const [left, width] = [at / run.samples, round.samples / run.samples];
    at += round.samples;
    for (let k = 0; k < run.kernel_from.length; k += 1) {
      const [extent, second] = [run.piece_extent[k], run.second_extent[k]];
      boxes.push({
        kernel: k, round: number, group: run.kernel_group[k],
        x0: left + (width * run.piece_first[k]) / extent, x1: left + (width * run.piece_end[k]) / extent,
        y0: run.second_first[k] / second, y1: run.second_end[k] / second,
      });
    }
  });
  return boxes;
}
