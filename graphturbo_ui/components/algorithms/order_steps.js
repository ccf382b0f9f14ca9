// Algorithm 3 step by step: the ready list is replayed from what enters and what runs.

/**
 * What a step (from 0) chooses from: `before`, the list with the newest last; `run`; `skipped`,
 * entries that come first by the rule but wait for a producer; `entered` by this run; `done` before.
 */
export function readyAt(order, step) {
  let before = [...order.initial];
  for (let at = 0; at < step; at += 1) before = after(before, order.steps[at]);
  const { run, entered } = order.steps[step];
  const place = before.indexOf(run);
  const skipped = order.is_breadth_first ? before.slice(0, place) : before.slice(place + 1);
  return { before, run, skipped, entered, after: after(before, order.steps[step]), done: new Set(order.steps.slice(0, step).map((own) => own.run)) };
}

function after(before, { run, entered }) {
  return [...before.filter((kernel) => kernel !== run), ...entered];
}

/** How many entries the list has before each step. */
export function listLengths(order) {
  const found = [];
  let length = order.initial.length;
  for (const { entered } of order.steps) {
    found.push(length);
    length += entered.length - 1;
  }
  return found;
}

/** Kernels of each sub-graph by piece, which the number after `/` in the name counts. */
export function kernelsByGroup(order, groups) {
  const found = Array.from({ length: groups }, () => []);
  order.kernels.forEach((kernel, at) => found[kernel.group].push(at));
  const piece = (at) => Number(order.kernels[at].name.split("/").at(-1)) || 0;
  for (const own of found) own.sort((one, other) => piece(one) - piece(other));
  return found;
}

/** `stage 1, piece 8` of the kernel `g2/8`; a kernel that is its whole sub-graph has its name. */
export function kernelText(run, { name, group }) {
  const own = run.groups[group];
  return own.pieces > 1 ? `${own.name}, piece ${pieceOf(name)}` : own.name;
}

/** `8` of `g2/8`. */
export function pieceOf(name) {
  return name.split("/").at(-1);
}
