// Layers from top to bottom, cut into kernels by each run: boxes, and between them the graph. What
// draws it has `scene`, `rows` (as rows.js has them), `columns` and `above`.

import { hueFill, hueInk, svgNode } from "./draw.js";
import { kernelBoxes, stretchesOf } from "./rows.js";
import { kernelNumber } from "./runs.js";

const LINE_PITCH = 3; // pixels per line where pieces are too narrow for boxes
const NARROW = 4;
const STEP = 60; // pixels from one layer's number to the next

export class GroupingsPanel {
  constructor(svg) {
    this.svg = svg;
    /** @type {Scene} */
    this.scene = null;
    this.rows = [];
    this.columns = {};
    this.boxes = {};
    this.above = []; // what no veil may hide: numbers and lines
  }

  /** Whether the boxes of a run have numbers: those of B. */
  hasNumbers(run) {
    return run === this.scene.runs.at(-1);
  }

  /** A run's kernels as boxes: down its layers, across its samples. */
  drawRun(pen, run) {
    const { scene, rows } = this;
    const column = this.columns[run.name.toLowerCase()];
    const isB = run === scene.runs.at(-1);
    const byGroup = run.groups.map(() => []);
    for (const box of kernelBoxes(run)) byGroup[box.group].push(box);
    const placed = [];
    const shut = new Map();
    run.groups.forEach(({ layers }, group) => {
      for (const [first, last] of stretchesOf(rows, layers)) {
        if (first === last && rows[first].last > rows[first].first) {
          shut.set(first, [...(shut.get(first) ?? []), group]);
          continue;
        }
        placed.push(...this.drawGroup(pen, run, { column, isB, boxes: byGroup[group], group, first, last, among: sharersOf(run, layers, group) }));
      }
    });
    for (const [row, groups] of shut) {
      const place = { column, isB, first: row, last: row };
      if (groups.length === 1) placed.push(...this.drawGroup(pen, run, { ...place, boxes: byGroup[groups[0]], group: groups[0], among: [0, 1] }));
      else placed.push(...this.drawShut(pen, run, { ...place, groups, byGroup }));
    }
    this.boxes[run.name] = placed;
  }

  /** Several sub-graphs of one shut block: a line each, or as many as there is room for. */
  drawShut(pen, run, { column, first: row, groups, byGroup }) {
    const { scene, rows } = this;
    const { y, h, first, last } = rows[row];
    const count = Math.min(groups.length, Math.max(1, Math.floor((h + 1) / 3)));
    const fill = (group) => hueFill(scene.hues.of_layer[run.groups[group].layers[0]], scene.hues.titles.length);
    for (let line = 0; line < count; line += 1) {
      const group = groups[Math.floor((line * groups.length) / count)];
      const top = y + (line * h) / count;
      pen.rect(column.x + 0.6, top, column.width - 1.2, Math.max(1, h / count - 1), fill(group));
    }
    return groups.flatMap((group, place) => byGroup[group].map((box) => ({
      ...box, top: y + (place * h) / groups.length, foot: y + ((place + 1) * h) / groups.length, first, last,
    })));
  }

  drawGroup(pen, run, { column, isB, boxes, group, first, last, among }) {
    const { rows, scene } = this;
    const hues = scene.hues.titles.length;
    const [place, count] = among;
    const whole = { top: rows[first].y, foot: rows[last].y + rows[last].h };
    const slice = (whole.foot - whole.top) / count;
    const [top, foot] = [whole.top + place * slice, whole.top + (place + 1) * slice];
    const height = foot - top;
    const bands = this.bandsOf(first, last, isB ? scene.hues.of_group[group] : null);
    const narrow = boxes.length > 1 && Math.min(...boxes.map((box) => (box.x1 - box.x0) * column.width)) < NARROW;
    const line = Math.min(0.5, height * 0.15);
    for (const band of bands) {
      const [y0, y1] = [Math.max(top, band.top), Math.min(foot, band.foot)];
      if (narrow) {
        this.drawLines(pen, column, y0 + line, y1 - line, hueFill(band.hue, hues));
        continue;
      }
      for (const box of boxes) {
        const [x0, x1] = [column.x + box.x0 * column.width, column.x + box.x1 * column.width];
        const [b0, b1] = [top + box.y0 * height, top + box.y1 * height];
        const [from, to] = [Math.max(y0, b0), Math.min(y1, b1)];
        if (to <= from) continue;
        const inset = x1 - x0 > 4 ? 0.6 : 0.3;
        pen.rect(x0 + inset, from + line, x1 - x0 - 2 * inset, to - from - 2 * line, hueFill(band.hue, hues), { rx: bands.length === 1 ? Math.min(2, height / 5, (x1 - x0) / 8) : 0 });
      }
    }
    if (this.hasNumbers(run) && !narrow) this.numberBoxes(column, run, boxes, { top, height, bands, hues });
    return boxes.map((box) => ({ ...box, top, foot, first: rows[first].first, last: rows[last].last }));
  }

  /** Stretches of one hue within rows `first` to `last`; one where the sub-graph has a hue. */
  bandsOf(first, last, hue) {
    const { rows, scene } = this;
    const found = [];
    for (let n = first; n <= last; n += 1) {
      const own = hue === null || hue < 0 ? scene.hues.of_layer[rows[n].first] : hue;
      const before = found.at(-1);
      if (before && before.hue === own) before.foot = rows[n].y + rows[n].h;
      else found.push({ hue: own, top: before ? before.foot : rows[n].y, foot: rows[n].y + rows[n].h });
    }
    return found;
  }

  /** Pieces too narrow for boxes: lines, which say `many` and not how many. */
  drawLines(pen, column, top, foot, fill) {
    let d = "";
    for (let x = column.x + 1; x < column.x + column.width; x += LINE_PITCH) d += `M${x.toFixed(1)} ${top.toFixed(1)}V${foot.toFixed(1)}`;
    pen.path(d, fill, { "stroke-width": 2 });
  }

  /** The order in which kernels run, where a box has room for its number. */
  numberBoxes(column, run, boxes, place) {
    this.above.push((pen) => numbers(pen, column, run, boxes, { ...place, least: this.scene.is_presenting ? 18 : 11 }));
  }

  /** Ops of each layer, and which layer hands on to which. */
  drawGraph(pen) {
    const { scene, rows, columns: { graph } } = this;
    const centre = graph.x + graph.width * 0.42;
    const thick = Math.min(...rows.filter((row) => !row.isShut).map((row) => row.h), 20);
    const size = Math.max(2, Math.min(6.5 * pen.k, thick * 0.66));
    const rowOf = [];
    rows.forEach((row, n) => { for (let layer = row.first; layer <= row.last; layer += 1) rowOf[layer] = n; });
    const shutMiddle = new Map();
    for (const row of rows.filter(({ isShut }) => isShut)) {
      const found = shutMiddle.get(row.block) ?? { top: row.y, foot: row.y + row.h };
      found.foot = row.y + row.h;
      shutMiddle.set(row.block, found);
    }
    const heightOf = (layer) => {
      const row = rows[rowOf[layer]];
      if (!row.isShut) return row.y + row.h / 2;
      const { top, foot } = shutMiddle.get(row.block);
      return (top + foot) / 2;
    };
    const next = new Set(scene.edges.filter(([from, to]) => to === from + 1).map(([from]) => from));
    const isSide = (layer) => layer < scene.layers.length - 1 && !next.has(layer) && !rows[rowOf[layer]].isShut;
    const xOf = (layer) => centre - (isSide(layer) ? size * 1.9 : 0);
    let d = "";
    const seen = new Set();
    for (const [from, to] of scene.edges) {
      const [y0, y1] = [heightOf(from), heightOf(to)];
      if (isFar(rows[rowOf[from]], rows[rowOf[to]])) continue;
      const key = `${y0.toFixed(0)} ${y1.toFixed(0)}`;
      if (y1 - y0 < 0.5 || (seen.has(key) && !isSide(from) && !isSide(to))) continue;
      seen.add(key);
      d += edgePath(xOf(from), y0, xOf(to), y1, { isNext: to === from + 1, isBent: isSide(from) || isSide(to), reach: graph.width * 0.4, size });
    }
    pen.path(d, "var(--edge)", { "stroke-width": 1.1 });
    this.drawMarks(pen, { size, rowOf, xOf, heightOf });
    for (const { top, foot } of shutMiddle.values()) {
      const side = Math.min(9 * pen.k, Math.max(4, foot - top));
      pen.rect(centre - side / 2, (top + foot) / 2 - side / 2, side, side, "var(--card)", { stroke: "var(--ink)", "stroke-width": 1.3, rx: 2 });
    }
  }

  /** The number of every tenth layer, of more where rows are high, and of the first of each block, with a mark that opens it. */
  drawNumbers(pen, open) {
    const { scene, rows, columns } = this;
    const step = numberStep(rows, pen.k);
    let below = -Infinity;
    for (const row of rows) {
      const block = row.block === null ? null : scene.blocks[row.block];
      const isFirst = block?.first === row.first;
      const isTenth = !row.isShut && (row.first === 0 || (row.first + 1) % step === 0);
      const y = row.y + Math.min(row.h, 12) / 2 + 4 * pen.k;
      if (!(isFirst || isTenth) || y - below < 13 * pen.k) continue;
      below = y;
      const mark = isFirst && scene.hues.meaning !== "kind" ? (open.has(row.block) ? "▾" : "▸") : "";
      const node = pen.text(columns.numbers.x + columns.numbers.width, y, `${mark}${row.first + 1}`, { size: 12, anchor: "end", fill: "var(--ink3)", class: "row-number" });
      if (!mark) continue;
      node.dataset.block = row.block;
      node.append(svgNode("title", {}, block.title));
    }
  }

  drawMarks(pen, { size, rowOf, xOf, heightOf }) {
    const { rows, scene, columns: { graph } } = this;
    const places = [];
    for (const [mark, layer] of scene.ops) {
      if (rows[rowOf[layer]].isShut) continue;
      const place = (places[layer] = (places[layer] ?? -1) + 1);
      const [x, y] = [xOf(layer) + place * size * 1.55, heightOf(layer)];
      if (x > graph.x + graph.width) continue;
      if (mark === "square") pen.rect(x - size / 2, y - size / 2, size, size, "var(--ink)", { rx: 1 });
      else if (mark === "diamond") pen.path(`M${x} ${y - size * 0.62}l${size * 0.62} ${size * 0.62}l${-size * 0.62} ${size * 0.62}l${-size * 0.62} ${-size * 0.62}z`, "var(--ink)", { fill: "var(--card)", "stroke-width": 1.2 });
      else if (mark === "plus") pen.path(`M${x - size * 0.48} ${y}h${size * 0.96}M${x} ${y - size * 0.48}v${size * 0.96}`, "var(--ink)", { "stroke-width": 1.5 });
      else pen.add("circle", { cx: x, cy: y, r: Math.max(0.8, size * 0.2), fill: "var(--ink2)" });
    }
  }
}

/**
 * Which place of how many a sub-graph has in the row of its only layer, where several share it.
 *
 * @param {Run} run
 */
function sharersOf(run, layers, group) {
  if (layers.length !== 1) return [0, 1];
  run.sharers ??= sharers(run);
  const all = run.sharers[layers[0]];
  return [all.indexOf(group), all.length];
}

/** @param {Run} run */
function sharers(run) {
  const found = [];
  run.groups.forEach(({ layers }, group) => {
    if (layers.length === 1) (found[layers[0]] ??= []).push(group);
  });
  return found;
}

/**
 * The order in which kernels run, where all boxes of a sub-graph have room for their numbers; where
 * those of later rounds have none, those of the first. `least`: pixels of the smallest type.
 *
 * @param {Run} run
 */
function numbers(pen, column, run, boxes, { top, height, bands, hues, least }) {
  const textOf = ({ round, kernel }) => String(kernelNumber(run, round, kernel));
  const fits = (own, some) => some.every((box) => pen.width(textOf(box), own, 600) + 1.5 <= (box.x1 - box.x0) * column.width);
  const sizeOf = (some) => [13, 12, 11].find((own) => own * pen.k >= least && fits(own, some));
  const first = boxes.filter(({ round }) => !round);
  const ofAll = sizeOf(boxes);
  const [drawn, size] = ofAll ? [boxes, ofAll] : [first, sizeOf(first)];
  if (!size) return;
  for (const box of drawn) {
    const text = textOf(box);
    if ((box.y1 - box.y0) * height < Math.max(11, 0.9 * size * pen.k)) continue;
    const x = column.x + ((box.x0 + box.x1) / 2) * column.width;
    const { middle, hue } = bandOfNumber(bands, top + box.y0 * height, top + box.y1 * height, size * pen.k);
    pen.text(x, middle + size * pen.k * 0.36, text, { size, weight: 600, anchor: "middle", fill: hueInk(hue, hues), class: "number", "data-kernel": box.kernel, "data-round": box.round });
  }
}

/** Where a number stands in a box of several hues: in its middle, unless a seam would run through it. */
export function bandOfNumber(bands, from, to, size) {
  const inside = bands.map(({ top, foot, hue }) => ({ from: Math.max(top, from), to: Math.min(foot, to), hue }));
  const middle = (from + to) / 2;
  const own = inside.find((band) => band.from <= middle - size / 2 && middle + size / 2 <= band.to);
  if (own) return { middle, hue: own.hue };
  const tallest = inside.reduce((one, other) => (other.to - other.from > one.to - one.from ? other : one));
  return { middle: (tallest.from + tallest.to) / 2, hue: tallest.hue };
}

/** Every how many layers have a number: all where rows are high, else each fifth or tenth. */
export function numberStep(rows, k) {
  const heights = rows.filter(({ isShut }) => !isShut).map(({ h }) => h);
  const least = Math.min(...heights);
  return [1, 5].find((step) => step * least >= STEP * k) ?? 10;
}

/** Whether an edge leads into or out of a shut block that is no neighbour: too many to be read. */
function isFar(from, to) {
  if (!from.isShut && !to.isShut) return false;
  return to.block === null || from.block === null ? to.first - from.last > 1 : to.block - from.block > 1;
}

/** A straight edge to the next layer, an arc past others, a bend to a side branch. */
function edgePath(x0, y0, x1, y1, { isNext, isBent, reach, size }) {
  const at = (value) => value.toFixed(1);
  if (isNext && !isBent) return `M${at(x0)} ${at(y0)}L${at(x1)} ${at(y1)}`;
  const bend = Math.min(reach, size * 1.2 + (y1 - y0) * 0.42);
  const [c0, c1] = isBent ? [Math.min(x0, x1), Math.min(x0, x1)] : [x0 - bend * 1.15, x1 - bend * 1.15];
  const third = (y1 - y0) * 0.25;
  return `M${at(x0)} ${at(y0)}C${at(c0)} ${at(y0 + third)} ${at(c1)} ${at(y1 - third)} ${at(x1)} ${at(y1)}`;
}

