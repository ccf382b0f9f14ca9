// Runs of the graph view's buffer, and which edges are in sight.

/** Runs of the buffer with their own arrays, and the ops of every sub-graph. */
function readGraphs({ header, arrays }) {
  return header.runs.map((run, number) => {
    const own = {};
    for (const name of ["rank", "op_group", "op_layer", "x", "source", "target"]) own[name] = arrays[`${number}.${name}`];
    const members = run.groups.map(() => []);
    own.op_group.forEach((group, op) => members[group]?.push(op));
    const columns = Math.max(1, ...run.groups.map((group) => group.right));
    return {
      ...run, ...own, group: own.op_group, arrays: own, name: (header.names || "AB")[number], members, columns,
      opened: new Set(),
    };
  });
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
