// Layers -> rows of the plan diff: where each one stands, which stretches are folded. No page.

const GAP = 3; // pixels between rows at which a group of either run ends
const BREAK = 7; // pixels before and after a folded line

/**
 * Rows from top to bottom: [{first, last, y, h, block, isShut}], one per layer, or one per folded
 * stretch of layers that are the same in both. `folds`: [first, last] of each stretch; `block` is
 * its number. `isFolded(block)`: whether it is one line. `ends(layer)`: whether a group of either
 * run ends between a layer and the next one.
 */
export function diffRows({ layers, folds, isFolded, ends, pitch }) {
  const blockOf = [];
  folds.forEach(([first, last], block) => {
    for (let layer = first; layer <= last; layer += 1) blockOf[layer] = block;
  });
  const rows = [];
  let [y, layer] = [0, 0];
  while (layer < layers) {
    const block = blockOf[layer] ?? null;
    const isShut = block !== null && isFolded(block);
    const last = isShut ? folds[block][1] : layer;
    const before = rows.at(-1);
    if (before) y += isShut || before.isShut ? BREAK : ends(before.last) ? GAP : 0;
    rows.push({ first: layer, last, y, h: pitch, block, isShut });
    y += pitch;
    layer = last + 1;
  }
  return rows;
}

/** Pixels from the first row's top to the last one's foot. */
export function heightOf(rows) {
  const last = rows.at(-1);
  return last ? last.y + last.h : 0;
}

/** The next row that differs, from row `at` on, by 1 or -1; -1 where there is none. */
export function nextChanged(rows, at, by) {
  for (let n = at + by; n >= 0 && n < rows.length; n += by) if (rows[n].block === null) return n;
  return -1;
}

/** `1 layer the same in both`, `12 layers the same in both`. */
export function foldText({ first, last }) {
  const count = last - first + 1;
  return `${count.toLocaleString("en-US")} layer${count === 1 ? "" : "s"} the same in both`;
}
