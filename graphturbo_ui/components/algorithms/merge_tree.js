// Algorithm 2 as a tree: a leaf per layer, a node per merge. No drawing: all of it can be tested.

/** Stretches [first, last] that cover the same layers, sorted, neighbours joined. */
export function joined(runs) {
  const found = [];
  for (const [first, last] of runs.toSorted((one, other) => one[0] - other[0])) {
    const before = found.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else found.push([first, last]);
  }
  return found;
}

/** Stretches of layers cut where their hue changes: [first, last, hue]. */
export function bandsOf(runs, hueOf) {
  const found = [];
  for (const [first, last] of runs) {
    for (let layer = first; layer <= last; layer += 1) {
      const before = found.at(-1);
      if (before && layer > first && before[2] === hueOf[layer]) before[1] = layer;
      else found.push([layer, layer, hueOf[layer]]);
    }
  }
  return found;
}

/**
 * Leaves and merges of `merge` (report/algorithms/merges.py) as nodes {runs, children, depth,
 * pieces, born, dies}: there from step `born` on, until step `dies` puts it into another. `of[s]`:
 * the nodes that step s is about, and the one that it makes, or -1.
 */
export function treeOf(merge) {
  const { steps, counts } = merge;
  const nodes = counts.map((pieces, layer) => (
    { runs: [[layer, layer]], children: [], depth: 0, pieces, born: -1, dies: Infinity, inside: -1 }));
  const alive = new Map(nodes.map((_, layer) => [layer, layer]));
  const of = steps.map((step, at) => {
    const parts = step.parts.map((first) => alive.get(first) ?? holderOf(nodes, first));
    if (!step.is_taken) return { parts, made: -1 };
    const made = nodes.length;
    const children = parts.map((part) => nodes[part]);
    nodes.push({
      runs: joined(children.flatMap(({ runs }) => runs.map((run) => [...run]))),
      children: parts, depth: 1 + Math.max(...children.map(({ depth }) => depth)),
      pieces: step.pieces, born: at, dies: Infinity, inside: -1,
    });
    for (const part of parts) {
      nodes[part].dies = at;
      nodes[part].inside = made;
      alive.delete(nodes[part].runs[0][0]);
    }
    alive.set(nodes[made].runs[0][0], made);
    return { parts, made };
  });
  return { nodes, of };
}

/** The node that has a layer by now. */
function holderOf(nodes, layer) {
  let at = layer;
  while (nodes[at].inside >= 0) at = nodes[at].inside;
  return at;
}

/** Nodes after a step (-1: before the first); `isTop`: in no other yet. */
export function nodesAt({ nodes }, step) {
  return nodes.flatMap((node, id) => (node.born <= step ? [{ id, isTop: node.dies > step, ...node }] : []));
}

/** How many parts there are after a step. */
export function partsAt({ nodes }, step) {
  return nodes.filter(({ born, dies }) => born <= step && dies > step).length;
}

/**
 * At most `most` layers [first, end) that hold what a step is about, page by page.
 *
 * @returns {[number, number]}
 */
export function layersInSight(tree, step, most) {
  const count = tree.nodes.filter(({ born }) => born < 0).length;
  if (count <= most) return [0, count];
  const { parts } = tree.of[Math.max(0, step)] ?? { parts: [0] };
  const ends = parts.map((part) => tree.nodes[part].runs);
  const first = Math.min(...ends.map((runs) => runs[0][0]));
  const last = Math.max(...ends.map((runs) => runs.at(-1)[1]));
  // What is joined lies at the border of two parts: that of the last part is in sight.
  const at = last - first < most ? first : Math.max(...ends.map((runs) => runs[0][0]));
  const from = Math.min(count - most, Math.max(0, Math.floor(at / (most / 2)) * (most / 2) - most / 4));
  return [Math.round(from), Math.round(from) + most];
}

/** The height of each depth that occurs among nodes in sight: 0 for leaves, then one by one. */
export function levelsOf({ nodes }, [first, end]) {
  const depths = new Set([0]);
  for (const { runs, depth } of nodes) if (runs.some(([from, to]) => from < end && to >= first)) depths.add(depth);
  return new Map([...depths].toSorted((one, other) => one - other).map((depth, level) => [depth, level]));
}

/** Earlier refusals whose parts are still apart after a step: [{step, parts}], the latest per pair. */
export function refusedBefore(tree, steps, step) {
  const found = new Map();
  for (let at = 0; at < step; at += 1) {
    const { parts } = tree.of[at];
    const isApart = parts.length > 1 && new Set(parts).size === parts.length && parts.every((part) => tree.nodes[part].dies > step);
    if (!steps[at].is_taken && isApart) found.set(parts.join(), { step: at, parts });
  }
  return [...found.values()];
}
