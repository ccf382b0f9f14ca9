// Algorithm 1 as numbers: cuts of a rectangle, the layer that needs most pieces.

/**
 * The two axes of a sub-graph's rectangle. Down: the split axis, else one that later rules cut, else the
 * rows. Across: samples, unless they are whole and a second axis is cut, as rows and columns are.
 * `final_cuts`: [axis, parts] of all axes that are cut in the end.
 */
export function rectangleOf({ shape, axis, final_cuts: cuts = [] }) {
  const last = shape.length - 1;
  const later = cuts.map(([own]) => own).filter((own) => own > 0 && own !== axis);
  const down = axis > 0 ? axis : later[0] ?? (last >= 3 ? 2 : last === 2 ? 1 : 0);
  const hasSamples = axis === 0 || cuts.some(([own]) => own === 0);
  const across = hasSamples ? 0 : later.find((own) => own !== down) ?? 0;
  return {
    across: { axis: across, size: shape[across] ?? 1, isCut: axis === across },
    down: { axis: down, size: down > 0 ? shape[down] : 1, isCut: axis > 0 && axis === down },
  };
}

/** Parts across and down a rectangle: by Algorithm 1 along its axis, by later rules along the other. */
export function gridOf(part) {
  const parts = new Map(part.final_cuts ?? []);
  if (part.axis >= 0) parts.set(part.axis, part.pieces);
  const { across, down } = rectangleOf(part);
  return { across: parts.get(across.axis) ?? 1, down: down.axis > 0 ? parts.get(down.axis) ?? 1 : 1 };
}

/**
 * Slices of a length in pixels: {cuts: [from, to] as shares, gap, isEvery}; fewer than there are parts
 * where a part has less than three pixels.
 */
export function slicesOf(length, size, parts) {
  const count = Math.min(parts, Math.max(1, Math.floor(length / 3)));
  const cuts = cutsOf(count === parts ? Math.max(size, count) : count, count);
  return { cuts, gap: count > 1 ? Math.min(2, length / count / 2) : 0, isEvery: count === parts };
}

/** Pieces of a length: [from, to] as shares, whole elements, the first ones longer by one. */
export function cutsOf(size, pieces) {
  return Array.from({ length: pieces }, (_, n) => (
    [Math.round((n * size) / pieces) / size, Math.round(((n + 1) * size) / pieces) / size]));
}

/**
 * Which layer forces the count: {layers: those that alone need it, most: the count that one needs
 * alone}. None where only tensors of several layers together do.
 */
export function forcedBy({ layers, pieces }) {
  const most = Math.max(0, ...layers.map((layer) => layer.pieces));
  const found = pieces > 1 ? layers.filter((layer) => layer.pieces === pieces) : [];
  const largest = found.toSorted((one, other) => other.whole_bytes - one.whole_bytes);
  return { layers: largest.map(({ layer }) => layer), most };
}

/** At most so many layers, those with the most bytes, in their order. */
export function shownLayers(layers, most) {
  if (layers.length <= most) return layers;
  const sizes = layers.map((layer) => layer.whole_bytes).toSorted((one, other) => other - one);
  const least = sizes[most - 1];
  const above = layers.filter((layer) => layer.whole_bytes > least).length;
  let room = most - above;
  return layers.filter((layer) => {
    if (layer.whole_bytes !== least) return layer.whole_bytes > least;
    room -= 1;
    return room >= 0;
  });
}

/** Round byte values from 0 up to `most`, about `count` of them. */
export function sizeTicks(most, count) {
  const raw = Math.max(1, most / Math.max(1, count));
  const power = 2 ** Math.ceil(Math.log2(raw));
  return Array.from({ length: Math.floor(most / power) + 1 }, (_, n) => n * power);
}

/** `size` consecutive places that hold `at`: [first, end]. */
export function windowAround(at, count, size) {
  if (count <= size) return [0, count];
  const first = Math.min(count - size, Math.floor(at / size) * size);
  return [first, first + size];
}
