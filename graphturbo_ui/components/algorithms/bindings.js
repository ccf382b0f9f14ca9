// Algorithm 4 as boxes: a nested list of cores -> which part of a tensor each core computes.

/** [{core, at: [part along each axis, from 0]}] of `[[0,1],[2,3]]`. */
export function cellsOf(text) {
  const found = [];
  const walk = (nested, at) => {
    if (Array.isArray(nested)) nested.forEach((part, n) => walk(part, [...at, n]));
    else found.push({ core: nested, at });
  };
  walk(JSON.parse(text), []);
  return found;
}

/** Into how many parts each axis is cut. */
export function gridOf(cells) {
  return (cells[0]?.at ?? []).map((_, axis) => 1 + Math.max(...cells.map(({ at }) => at[axis])));
}

/** The cell as a share of a rectangle: axes that are cut go across, down, across again, … */
export function shareOf(at, grid) {
  let [x0, y0, width, height] = [0, 0, 1, 1];
  let cut = 0;
  grid.forEach((parts, axis) => {
    if (parts < 2) return;
    if (cut % 2) {
      height /= parts;
      y0 += at[axis] * height;
    } else {
      width /= parts;
      x0 += at[axis] * width;
    }
    cut += 1;
  });
  return { x0, y0, width, height };
}

/** Everything about one division: cells with their shares, cores, and the axes that are cut. */
export function divisionOf(text, axesText) {
  const cells = cellsOf(text);
  const grid = gridOf(cells);
  const axes = axesText.split(", ").filter(Boolean).map(Number);
  return {
    grid,
    cells: cells.map((cell) => ({ ...cell, ...shareOf(cell.at, grid) })),
    isShared: cells.some(({ core }) => core < 0),
    cuts: axes.map((axis, n) => ({ axis, parts: grid[n] ?? 1 })).filter(({ parts }) => parts > 1),
  };
}

/** Cores that compute another part than of the division before. */
export function changedCores(division, before) {
  if (!before || division.isShared || before.isShared) return [];
  const key = ({ cuts }, at, grid) => cuts.map(({ axis }) => axis).join() + ":" + at.filter((_, axis) => grid[axis] > 1).join();
  const old = new Map(before.cells.map(({ core, at }) => [core, key(before, at, before.grid)]));
  return division.cells.filter(({ core, at }) => old.get(core) !== key(division, at, division.grid)).map(({ core }) => core);
}

/** Columns of `count` squares in a room, and the side of one. */
export function squaresIn(count, width, height, most) {
  let best = { columns: 1, side: 0 };
  for (let columns = 1; columns <= count; columns += 1) {
    const side = Math.min(most, width / columns, height / Math.ceil(count / columns));
    if (side >= best.side - 1e-9) best = { columns, side };
  }
  return best;
}
