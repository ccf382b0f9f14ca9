// Runs of the graph view's buffer, what of them is marked and coloured, which edges are in sight.

const MOST_LETTERS = 160; // of attributes in a tip

/** Runs of the buffer with their own arrays, and the ops of every sub-graph. */
export function readGraphs({ header, arrays }) {
  return header.runs.map((run, number) => {
    const own = {};
    for (const name of ["rank", "op_group", "op_layer", "op_origin", "x", "source", "target", "edge_bytes"]) {
      own[name] = arrays[`${number}.${name}`];
    }
    const named = header.group_names?.[number];
    const groups = run.groups.map((box, g) => ({ ...box, name: named?.[g] ?? box.name }));
    const members = groups.map(() => []);
    own.op_group.forEach((group, op) => members[group]?.push(op));
    members.forEach((ops) => ops.sort((a, b) => own.rank[a] - own.rank[b] || own.x[a] - own.x[b] || a - b));
    const group = own.op_group;
    return {
      ...run, ...own, group, groups, arrays: own, members,
      hues: { layers: header.hues.of_layer, groups: header.hues.of_group[number] },
      name: (header.names || "AB")[number],
      identity: `${run.title}|${run.ops.length}|${run.groups.length}`,
      columns: run.groups.reduce((most, box) => Math.max(most, box.right), 1),
      opened: new Set(), marks: run.groups.map(() => ""), edges: [],
    };
  });
}

/** Whether every sub-graph that has ops is opened. */
export function isAllOpen(run) {
  return run.members.every((ops, g) => !ops.length || run.opened.has(g));
}

/** Edges between what is visible, each once: {s, t, e} with the ranks between which it is drawn. */
export function visibleEdges(run) {
  const seen = new Set();
  const edges = [];
  for (let e = 0; e < run.source.length; e++) {
    const [s, t] = [run.source[e], run.target[e]];
    const [gs, gt] = [run.group[s], run.group[t]];
    const [isOpenS, isOpenT] = [run.opened.has(gs), run.opened.has(gt)];
    if (gs === gt && !isOpenS) continue;
    const key = `${isOpenS ? `o${s}` : gs}>${isOpenT ? `o${t}` : gt}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const first = isOpenS ? run.rank[s] : run.groups[gs].last;
    const last = isOpenT ? run.rank[t] : run.groups[gt].first;
    edges.push({ s, t, e, first: Math.min(first, last), last });
  }
  return edges;
}

/** `all`, `part` or none of each sub-graph's ops are flagged. */
export function marksOf(run, flags) {
  return run.members.map((ops) => {
    const hit = flags ? ops.reduce((count, op) => count + flags[op], 0) : 0;
    return hit ? (hit === ops.length ? "all" : "part") : "";
  });
}

/** The ops of a run that are, or are parts of, the model's op of this place. */
export function opsFrom(run, origin) {
  return [...run.op_origin.keys()].filter((op) => run.op_origin[op] === origin);
}

/** Attributes of an op that have room in a line or two. */
export function brief(attributes) {
  return attributes.length <= MOST_LETTERS ? attributes : `${attributes.slice(0, MOST_LETTERS)} …`;
}

/** What is said of a sub-graph or op: the first line is its title. */
export function describeGraph(runs, { pane, group, op }) {
  const run = runs[pane];
  const { name, pieces } = run.groups[group];
  const ops = run.members[group];
  const home = (other) => {
    const own = other === run ? [op] : opsFrom(other, run.op_origin[op]);
    const homes = [...new Set(own.map((o) => other.group[o]))];
    return `${other.name}: ${homes.map((g) => other.groups[g].name).join("; ")}`;
  };
  if (op !== undefined) {
    const homes = runs.filter((other) => other === run || opsFrom(other, run.op_origin[op]).length).map(home);
    return [
      `${run.op_types[op]} ${run.ops[op]}`, run.op_shapes[op], brief(run.op_attributes[op]), `layer ${run.layers[run.op_layer[op]]}`, ...homes,
    ].filter(Boolean);
  }
  const types = ops.slice(0, 8).map((o) => run.op_types[o]).join(", ");
  return [
    `${run.name}: ${name}, sub-graph ${group + 1} of ${run.groups.length}`,
    `${ops.length} op${ops.length === 1 ? "" : "s"} in ${pieces} piece${pieces === 1 ? "" : "s"}`,
    types + (ops.length > 8 ? " …" : ""),
  ];
}
