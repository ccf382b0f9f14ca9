// Boxes and edges of the graph view: which columns a sub-graph takes, which edges are in sight.

/** Runs of the buffer with their own arrays, and the ops of every sub-graph. */
function readGraphs({ header, arrays }) {
  return header.runs.map((run, number) => {
    const own = {};
    for (const name of ["rank", "group", "column", "source", "target"]) own[name] = arrays[`${number}.${name}`];
    const members = run.groups.map(() => []);
    own.group.forEach((group, op) => members[group]?.push(op));
    return { ...run, ...own, members, opened: new Set() };
  });
}

/** Columns of every box: the leftmost run of columns free at all its ranks, in order of rank. */
function placeBoxes(run) {
  const order = run.groups.map((_, g) => g).filter((g) => run.members[g].length);
  order.sort((a, b) => run.groups[a].first - run.groups[b].first || a - b);
  const busyTo = [];
  run.lanes = [];
  for (const g of order) {
    const { first, last, columns } = run.groups[g];
    const width = run.opened.has(g) ? columns : 1;
    let at = 0;
    for (let c = 0; c < at + width; c++) if ((busyTo[c] ?? -1) >= first) at = c + 1;
    for (let c = at; c < at + width; c++) busyTo[c] = last;
    run.lanes[g] = { at, width };
  }
  run.columns = Math.max(1, busyTo.length);
}

/** Edges between what is visible, each once: [from op, to op, edge index, from box, to box]. */
function visibleEdges(run) {
  const seen = new Set();
  const edges = [];
  for (let e = 0; e < run.source.length; e++) {
    const [s, t] = [run.source[e], run.target[e]];
    const [gs, gt] = [run.group[s], run.group[t]];
    const isOpenS = run.opened.has(gs);
    const isOpenT = run.opened.has(gt);
    if (gs === gt && !isOpenS) continue;
    const key = `${isOpenS ? `o${s}` : `g${gs}`}>${isOpenT ? `o${t}` : `g${gt}`}`;
    if (seen.has(key)) continue;
    seen.add(key);
    edges.push([s, t, e]);
  }
  return edges;
}
