// Over the left card: what is in focus, framed; what is not, or has not started yet, paler.

import { framedStretches, rowAt, rowOf } from "./rows.js";

const COLUMNS = ["a", "b", "lb", "gb"];
const OTHERS = 0.66; // how much of the card lies over what is not in focus
const LATER = 0.78; // over what has not started yet
const LINES = { pointed: 1.4, chosen: 2.6 }; // pixels of a frame's line
const MOST_FRAMES = 6; // lines of more would cross labels and rows of 2 to 5 pixels

/** Others than these layers paler. */
export function veilOthers(pen, { rows, columns }, layers) {
  for (const name of COLUMNS) {
    const { x, width } = columns[name];
    if (!width) continue;
    for (const [top, foot] of withoutFocus(rows, layers)) pen.rect(x - 1, top, width + 2, foot - top, "var(--card)", { opacity: OTHERS });
  }
}

/** Boxes and memory of a run that it comes to later are paler: both fill as the time goes on. */
export function veilLater(pen, { scene, rows, columns, boxes }, run, { started, begun }) {
  const { x, width } = columns[run.name.toLowerCase()];
  for (const box of boxes[run.name]) {
    if (started(run, box)) continue;
    pen.rect(x + box.x0 * width, box.top + box.y0 * (box.foot - box.top), (box.x1 - box.x0) * width, (box.y1 - box.y0) * (box.foot - box.top), "var(--card)", { opacity: LATER });
  }
  const parts = scene.runs.length > 1 ? 2 : 1;
  const side = run === scene.runs[0] ? 0 : parts - 1;
  const later = withoutFocus(rows, begun(run));
  for (const own of [columns.lb, columns.gb]) {
    for (const [top, foot] of later) pen.rect(own.x + (side * own.width) / parts, top, own.width / parts, foot - top, "var(--card)", { opacity: LATER, "data-memory": run.name });
  }
}

/** The running box framed, and in it the layers in flight: solid ones compute, hollow ones move data. */
export function markRunning(pen, { rows, columns, boxes }, run, layers) {
  const { x, width } = columns[run.name.toLowerCase()];
  const own = boxes[run.name].filter(({ kernel, round }) => kernel === layers.kernel && round === layers.round);
  const line = { stroke: "var(--ink)", rx: 2 };
  for (const { x0, x1, top, foot, y0, y1 } of own) {
    pen.rect(x + x0 * width - 1, top + y0 * (foot - top) - 1, (x1 - x0) * width + 2, (y1 - y0) * (foot - top) + 2, "none", { ...line, "stroke-width": 2 });
  }
  for (const [layer, how] of layers) {
    const row = rowOf(rows, layer);
    const box = own.find(({ first, last }) => first <= layer && layer <= last);
    const [left, room] = box ? [x + box.x0 * width, (box.x1 - box.x0) * width] : [x, width];
    const inset = Math.min(2, room / 6);
    pen.rect(left + inset, row.y + 0.6, room - 2 * inset, Math.max(2, row.h - 1.2), how === 1 ? "var(--ink)" : "none", { ...line, "stroke-width": 1.2, class: "mark" });
  }
}

/**
 * Frames around the rows of these layers, from the numbers to the memory; other rows within a frame
 * are paler. They lie below all words. `is`: "pointed" or "chosen", which has the stronger line.
 */
export function frameRows(pen, { rows, columns }, layers, is) {
  const { numbers, gb } = columns;
  const [left, right] = [numbers.x - 4, gb.x + gb.width + 4];
  for (const [first, last] of framedStretches(rows, layers, MOST_FRAMES)) {
    const [top, foot] = [rows[first].y - 1.5, rows[last].y + rows[last].h + 1.5];
    pen.rect(left, top, right - left, foot - top, "none", { stroke: "var(--ink)", "stroke-width": LINES[is], rx: 3, class: `frame ${is}` });
  }
}

/** Lines of frames are interrupted where words stand beside the boxes. */
export function clearFrames(pen, svg) {
  const lines = frameLines(svg);
  pen.clear(svg.querySelectorAll(".labels text, .numbers text"), (box) => lines.some((y) => box.y - 1 < y && y < box.y + box.height + 1));
}

/** Heights of the lines of all frames. */
function frameLines(svg) {
  return [...svg.querySelectorAll(".frame")].flatMap((frame) => {
    const { y, height } = frame.getBBox();
    return [y, y + height];
  });
}

/** The number of each choice that is one layer, on a tag; numbers of rows that a tag would cover in part are hidden. */
export function tagLayers(pen, { svg, rows, columns }, choices) {
  const { numbers } = columns;
  const middles = choices.flatMap((layers) => {
    if (layers?.length !== 1) return [];
    const { y, h } = rowOf(rows, layers[0]);
    const text = String(layers[0] + 1);
    const room = Math.max(numbers.width + 4, pen.width(text, 12, 650) + 8);
    const edge = numbers.x + numbers.width + 2;
    pen.rect(edge - room, y + h / 2 - 8 * pen.k, room, 16 * pen.k, "var(--ink)", { rx: 3 });
    pen.text(edge - room / 2, y + h / 2 + 4.3 * pen.k, text, { size: 12, weight: 650, anchor: "middle", fill: "var(--card)", class: "tag" });
    return [y + h / 2];
  });
  for (const node of svg.querySelectorAll(".row-number")) {
    const own = Number(node.getAttribute("y")) - 4 * pen.k;
    node.classList.toggle("covered", middles.some((middle) => Math.abs(middle - own) < 14 * pen.k));
  }
}

/**
 * Numbers on boxes that are paler than their hue are dark; one that a mark or a frame's line lies below has a rim.
 * `layers`: a set in focus, or null; `at`: what has started and what runs, or null; `run`: theirs.
 */
export function tintNumbers(svg, rows, { layers, at, run }) {
  const marks = [...svg.querySelectorAll(".mark")].map((mark) => mark.getBBox());
  const lines = frameLines(svg);
  for (const node of svg.querySelectorAll(".number")) {
    const middle = Number(node.getAttribute("y")) - Number(node.getAttribute("font-size")) * 0.36;
    const row = rowAt(rows, middle);
    const box = { kernel: Number(node.dataset.kernel), round: Number(node.dataset.round) };
    const isOther = layers !== null && row !== null && !spanHas(row, layers);
    node.classList.toggle("veiled", isOther || (at !== null && !at.started(run, box)));
    const x = Number(node.getAttribute("x"));
    const half = Number(node.getAttribute("font-size")) / 2;
    node.classList.toggle("marked", lines.some((y) => Math.abs(y - middle) < half + 1) || marks.some((mark) => (
      mark.x <= x && x <= mark.x + mark.width && mark.y < middle + half && middle - half < mark.y + mark.height
    )));
  }
}

function spanHas(row, layers) {
  for (let layer = row.first; layer <= row.last; layer += 1) if (layers.has(layer)) return true;
  return false;
}

/** [top, foot] of each stretch of rows without one of these layers. */
function withoutFocus(rows, layers) {
  const found = [];
  let isOpen = false;
  for (const row of rows) {
    const isOut = !spanHas(row, layers);
    if (isOut && isOpen) found.at(-1)[1] = row.y + row.h + 0.5;
    else if (isOut) found.push([row.y - 0.5, row.y + row.h + 0.5]);
    isOpen = isOut;
  }
  return found;
}
