// Panel 4: the tensors of a kernel, and the cores as squares with the part that each computes.

import { hueFill, hueInk } from "../overview/draw.js";
import { countText } from "../overview/words.js";
import { changedCores, divisionOf, squaresIn } from "./bindings.js";
import { kernelText, pieceOf } from "./order_steps.js";
import { windowAround } from "./splits.js";

const HUES = 5;
const KERNELS = 240; // in the row of kernels at once
const TENSORS = 14; // in the list at once
const TOP = 78;
const ROW = 24;
const ROOM = 330; // height of the cores
const MOST_SIDE = 146;
const WORDS_SIDE = 84; // least side of a core with words
const PALE = 0.26;
const NARROW = 620; // pixels below which the cores stand under the list

export const bindPanel = {
  title: "Bind parts of each tensor to cores",
  sub: "Where two tensors in a row are divided differently, data moves between cores. ↑ and ↓: kernel.",

  result: (run, scene) => `${countText(scene.cores, "core")}, ${countText(run.bind.kernels.length, "kernel")}`,

  count: (run, kernel) => sheetOf(run, kernel).length,

  first: () => 0,

  at: (run, step, kernel) => `Tensor ${step + 1} of ${sheetOf(run, kernel).length}`,

  draw(pen, scene, run, step, width, kernel) {
    const sheet = sheetOf(run, kernel);
    const row = sheet[step];
    const division = divisionFor(run, row);
    const before = step ? divisionFor(run, sheet[step - 1]) : null;
    const changed = changedCores(division, before);
    const hue = hueOf(scene, run, kernel, row);
    drawKernels(pen, run, kernel, width);
    const isNarrow = width < NARROW;
    const left = isNarrow ? 0 : Math.min(400, width * 0.4);
    const at = drawTensors(pen, scene, run, sheet, step, { width: isNarrow ? width : left - 26, hue });
    const top = isNarrow ? TOP + at + 12 : TOP;
    const cores = drawCores(pen, scene, division, { x: left, top, width: width - left - 4, hue, changed: new Set(changed), names: run.bind.axis_names[row[5]] });
    return {
      height: Math.max(top + cores.foot + 12, TOP + at),
      scene: { kernel, cores: cores.count, grid: division.grid, changed, tensor: row[0] },
      ...told(scene, run, { row, division, kernel, changed, before }),
    };
  },
};

function sheetOf(run, kernel) {
  return run.bind.sheets[run.bind.kernels[kernel].sheet];
}

/** That of the kernel's sub-graph; of one that is banded, that of the layer. */
function hueOf(scene, run, kernel, row) {
  const own = run.hue_of_group[run.bind.kernels[kernel].group];
  return own < 0 ? scene.hues.of_layer[row[6]] : own;
}

function divisionFor(run, [, , text, axes]) {
  return divisionOf(run.bind.texts[text], axes);
}

/** One box per kernel in running order. */
function drawKernels(pen, run, kernel, width) {
  const { kernels } = run.bind;
  const [first, end] = windowAround(kernel, kernels.length, KERNELS);
  const range = end - first < kernels.length ? `, ${first + 1} to ${end} of ${kernels.length.toLocaleString("en-US")}` : "";
  pen.text(0, 13, `Kernels in order of running${range}`);
  const unit = Math.min(64, (width - 8) / (end - first));
  for (let at = first; at < end; at += 1) {
    const { group } = kernels[at];
    const hue = run.hue_of_group[group];
    const x = 3 + (at - first) * unit;
    const box = pen.rect(x, 24, Math.max(0.7, unit - (unit > 4 ? 2 : 0.5)), 24, hueFill(hue, HUES), { rx: unit > 10 ? 3 : 0 });
    box.dataset.kernel = at;
    const text = [kernelText(run, kernels[at]), pieceOf(kernels[at].name)].find((own) => pen.width(own, 12, 600) < unit - 5);
    if (text) pen.text(x + (unit - 2) / 2, 40.5, text, { size: 12, weight: 600, anchor: "middle", fill: hueInk(hue, HUES), "pointer-events": "none" });
    if (at === kernel) pen.rect(x - 2.5, 21.5, unit + 3, 29, "none", { stroke: "var(--ink)", "stroke-width": 2.5, rx: 5 });
  }
}

/** The kernel's tensors in order of production; foot of the list. */
function drawTensors(pen, scene, run, sheet, step, { width, hue }) {
  const [first, end] = windowAround(step, sheet.length, TENSORS);
  const range = end - first < sheet.length ? `, ${first + 1} to ${end} of ${sheet.length}` : "";
  pen.text(0, TOP, `Tensors in order of production${range}`);
  const memory = 16 + Math.max(pen.width("memory"), ...sheet.map((own) => pen.width(own[4] || "loop nest", 12.5, 600)));
  sheet.slice(first, end).forEach(([tensor, op, text, axes, scope, named], n) => {
    const y = TOP + 10 + n * ROW;
    const isOwn = first + n === step;
    const group = pen.group("tensor");
    group.parent.dataset.step = first + n;
    group.rect(0, y, width, ROW - 2, isOwn ? "var(--track)" : "transparent", { rx: 4 });
    if (isOwn) group.rect(0, y, 4, ROW - 2, hueFill(hue, HUES), { rx: 2 });
    const cuts = cutsText(divisionOf(run.bind.texts[text], axes), run.bind.axis_names[named], "short");
    const used = Math.max(94, pen.width(cuts, 12.5) + 8) + memory;
    group.text(width - memory, y + 15.5, cuts, { anchor: "end" });
    group.text(width - 6, y + 15.5, scope || "loop nest", { anchor: "end", fill: "var(--ink)", weight: scope ? 600 : 400 });
    const names = [op || tensor, (op || tensor).split(/[/.]/).slice(-2).join("/"), (op || tensor).split(/[/.]/).at(-1)];
    group.text(12, y + 15.5, pen.fit(names, width - used - 18, 13, isOwn ? 650 : 400), { size: 13, fill: "var(--ink)", weight: isOwn ? 650 : 400 });
  });
  pen.text(width - 6, TOP, "memory", { anchor: "end" });
  return 26 + (end - first) * ROW;
}

/** Of an axis of a result; tensors within a loop nest may have more axes than it. */
function nameOf(names, axis) {
  return names[axis] ?? `axis ${axis}`;
}

/** `images × 8`, `rows × 2, columns × 4`; `whole` where nothing is cut. */
function cutsText({ cuts, isShared }, names, length) {
  if (isShared) return length === "short" ? "shared engine" : "computed by an engine that the cores share";
  if (!cuts.length) return length === "short" ? "one core" : "not divided: one core";
  const most = length === "short" && cuts.length > 1 ? 7 : Infinity;
  return cuts.map(({ axis, parts }) => `${nameOf(names, axis).slice(0, most)} × ${parts}`).join(", ");
}

/** Cores as squares; the number of those that compute a part, and the foot of all. */
function drawCores(pen, scene, division, { x, top, width, hue, changed, names }) {
  const count = scene.cores;
  pen.text(x, top, "Cores, each with its part of the tensor (not to scale)");
  const { columns, side } = squaresIn(count, width, ROOM, MOST_SIDE);
  const of = new Map();
  for (const cell of division.cells) of.set(cell.core, [...(of.get(cell.core) ?? []), cell]);
  const gap = side > 40 ? 8 : side > 12 ? 2 : 1;
  for (let core = 0; core < count; core += 1) {
    const at = { x: x + (core % columns) * side, y: top + 12 + Math.floor(core / columns) * side, side: side - gap };
    drawCore(pen, scene, division, { core, at, cells: of.get(core) ?? [], hue, isChanged: changed.has(core), names });
  }
  if (division.isShared) pen.text(x, top + 30 + Math.ceil(count / columns) * side, "No core: an engine that the cores share computes it.", { fill: "var(--ink)", weight: 600 });
  return { count: [...of.keys()].filter((core) => core >= 0).length, foot: Math.ceil(count / columns) * side + (division.isShared ? 34 : 12) };
}

function drawCore(pen, scene, division, { core, at, cells, hue, isChanged, names }) {
  const { x, y, side } = at;
  const fill = hueFill(hue, HUES);
  const hasWords = side >= WORDS_SIDE;
  const square = pen.rect(x, y, side, side, cells.length && side < 24 ? fill : "var(--track)", { rx: side > 24 ? 6 : 1, ...(isChanged ? { stroke: "var(--ink)", "stroke-width": side > 24 ? 2 : 1 } : {}) });
  square.dataset.core = core;
  square.dataset.parts = cells.length;
  if (side < 24) return;
  const head = side >= 44 ? 19 : 4;
  const foot = hasWords ? 8 + 15 * Math.max(1, Math.min(2, division.cuts.length)) : 4;
  if (side >= 44) pen.text(x + 8, y + 15, hasWords ? `core ${core}` : String(core), { size: 12.5, weight: 600, fill: "var(--ink)" });
  const box = { x: x + 8, y: y + head + 2, width: side - 16, height: side - head - foot - 4 };
  pen.rect(box.x, box.y, box.width, box.height, fill, { opacity: cells.length ? PALE : 0.1 });
  for (const cell of cells) {
    pen.rect(box.x + cell.x0 * box.width, box.y + cell.y0 * box.height, Math.max(1, cell.width * box.width), Math.max(1, cell.height * box.height), fill);
  }
  if (!hasWords) return;
  const words = cells.length
    ? division.cuts.length ? division.cuts.slice(0, 2).map(({ axis, parts }) => partText(division, cells[0], axis, parts, names)) : ["all of it"]
    : ["no part"];
  words.forEach((text, n) => pen.text(x + 8, y + side - 7 - 15 * (words.length - 1 - n), pen.fit([text], side - 12, 12), { size: 12 }));
}

/** `images 3 of 8`. */
function partText(division, cell, axis, parts, names) {
  const place = division.grid.flatMap((count, at) => (count > 1 ? [at] : []))[division.cuts.findIndex((cut) => cut.axis === axis)];
  return `${nameOf(names, axis)} ${cell.at[place] + 1} of ${parts}`;
}

function told(scene, run, { row, division, kernel, changed, before }) {
  const [tensor, op, text, , scope, named] = row;
  const divided = cutsText(division, run.bind.axis_names[named], "long");
  const cores = new Set(division.cells.map(({ core }) => core).filter((core) => core >= 0)).size;
  const moved = !before
    ? "The first tensor of the kernel."
    : division.isShared ? "An engine that the cores share computes it."
      : changed.length ? `${countText(changed.length, "core")} ${changed.length > 1 ? "compute" : "computes"} another part than of the tensor before (framed).` : "Every core keeps its part of the tensor before.";
  const list = run.bind.texts[text];
  const facts = [
    ["Kernel", kernelText(run, run.bind.kernels[kernel]), "strong"],
    ["Op", op],
    ["Tensor", tensor, "plain"],
    ["Divided along", divided],
    ["Cores", `${cores.toLocaleString("en-US")} of ${scene.cores.toLocaleString("en-US")}`],
    ["Memory", scope || "nothing: used up inside its loop nest", scope ? "" : "plain"],
    ["Against the tensor before", moved, "plain"],
    ["As a nested list", list.length > 90 ? `${list.slice(0, 88)}…` : list, "plain"],
  ];
  if (run.bind.left_out) facts.push(["Not drawn", `${countText(run.bind.left_out, "kernel")} after these; the table has more.`, "plain"]);
  return { facts, said: `${op}: ${divided}, ${cores} cores. ${moved}` };
}

