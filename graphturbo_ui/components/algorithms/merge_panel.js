// Panel 2: layers at the foot, a box per merge on top of its parts; a refused merge is dashed.

import { hueFill, hueInk } from "../overview/draw.js";
import { countText, sizeText } from "../overview/words.js";
import { bandsOf, layersInSight, levelsOf, nodesAt, partsAt, refusedBefore, treeOf } from "./merge_tree.js";
import { countsText, reasonText, shortReason, stepText } from "./merge_words.js";

const HUES = 5;
const MOST_LAYERS = 64; // at once
const TOP = 84;
const HEIGHT = 330; // of the tree
const TALLEST = 44; // of a level
const PALE = 0.26;
const STRIP = 20; // height of the row of all decisions
const LEFT = 66;

const trees = new WeakMap();

/** The tree of a run, made once. */
function treeFor(merge) {
  if (!trees.has(merge)) trees.set(merge, treeOf(merge));
  return trees.get(merge);
}

export const mergePanel = {
  title: "Merge layers while no weight is fetched more often",
  sub: "Each box is a sub-graph on top of its parts; the number in it is its pieces. Strong: not merged yet. Dashed: refused.",

  result(run) {
    const taken = run.merge.steps.filter(({ is_taken: isTaken }) => isTaken).length;
    const tree = treeFor(run.merge);
    return `${countText(run.merge.counts.length, "layer")} → ${countText(partsAt(tree, run.merge.steps.length - 1), "sub-graph")} by ${countText(taken, "merge")}`;
  },

  count: (run) => run.merge.steps.length + 1,

  /** The whole tree. */
  first: (run) => run.merge.steps.length,

  at: (run, step) => (step ? `Decision ${step} of ${run.merge.steps.length}` : "Before the first decision"),

  draw(pen, scene, run, shownStep, width) {
    const { merge } = run;
    const tree = treeFor(merge);
    const step = shownStep - 1;
    const sight = layersInSight(tree, step, MOST_LAYERS);
    const levels = levelsOf(tree, sight);
    const level = Math.min(TALLEST, HEIGHT / levels.size);
    const x = { from: LEFT, unit: (width - LEFT - 6) / (sight[1] - sight[0]), sight };
    const foot = TOP + level * levels.size;
    const place = { x, foot, level, levels };
    const nodes = nodesAt(tree, step).filter(({ runs }) => runs.some(([from, to]) => from < sight[1] && to >= sight[0]));
    const own = step >= 0 ? tree.of[step] : { parts: [], made: -1 };
    for (const node of nodes) drawStems(pen, place, node, tree);
    for (const node of nodes) drawNode(pen, place, scene, node, node.id === own.made);
    for (const refused of refusedBefore(tree, merge.steps, step)) drawCross(pen, place, tree, refused.parts);
    if (step >= 0 && own.made < 0) drawRefusal(pen, place, tree, own.parts, merge.steps[step], width);
    if (step >= 0) drawMeter(pen, merge.steps[step], merge.capacity_bytes);
    drawFoot(pen, place, scene, merge, foot);
    drawStrip(pen, merge.steps, step, foot + 52, width);
    const top = nodes.filter(({ isTop }) => isTop);
    return {
      height: foot + 52 + STRIP + 6,
      scene: { parts: partsAt(tree, step), made: own.made, refused: step >= 0 && own.made < 0, sight, pieces: top.map(({ pieces }) => pieces) },
      ...told(run, tree, step, sight),
    };
  },
};

/** Pixels of a node's stretches in sight, and its top. */
function boxesOf({ x, foot, level, levels }, { runs, depth }) {
  const [first, end] = x.sight;
  const y = foot - (levels.get(depth) + 1) * level;
  return runs.filter(([from, to]) => from < end && to >= first).map(([from, to]) => {
    const seen = [Math.max(from, first), Math.min(to, end - 1)];
    return { seen, x: x.from + (seen[0] - first) * x.unit, y, width: (seen[1] + 1 - seen[0]) * x.unit, height: level };
  });
}

/** Lines from a part up to what it was merged into, where a level lies between. */
function drawStems(pen, place, node, tree) {
  const [own] = boxesOf(place, node);
  for (const child of node.children) {
    const part = tree.nodes[child];
    const boxes = boxesOf(place, part);
    const [box] = boxes;
    if (!box || !own || box.y - own.y <= place.level + 0.5) continue;
    const middle = box.x + box.width / 2;
    pen.line(middle, own.y + place.level - 2, middle, box.y, "var(--edge)", { "stroke-width": 1.5 });
  }
}

/** A box per stretch of layers, banded where they have several hues; the pieces in the widest. */
function drawNode(parent, place, scene, node, isNew) {
  const pen = isNew ? parent.group("new") : parent;
  const boxes = boxesOf(place, node);
  const height = place.level - (place.level > 12 ? 3 : 1);
  const side = boxes[0].width > 6 ? 1.25 : 0.25;
  const opacity = node.isTop ? 1 : PALE;
  let widest = { width: 0 };
  boxes.forEach((box, n) => {
    const bands = bandsOf([box.seen], scene.hues.of_layer);
    const rx = bands.length === 1 && box.width > 8 && place.level > 10 ? 3 : 0;
    for (const [from, to, hue] of bands) {
      const [x, end] = [box.x + (from - box.seen[0]) * place.x.unit, box.x + (to + 1 - box.seen[0]) * place.x.unit];
      const [left, right] = [from === box.seen[0] ? side : 0, to === box.seen[1] ? side : 0];
      const rect = pen.rect(x + left, box.y, end - x - left - right, height, hueFill(hue, HUES), { rx, opacity });
      if (n === 0 && from === box.seen[0]) rect.dataset.node = node.id;
      if (end - x > widest.width) widest = { x, width: end - x, hue, y: box.y };
    }
    if (isNew) pen.rect(box.x, box.y - 1.25, box.width, height + 2.5, "none", { stroke: "var(--ink)", "stroke-width": 2.5, rx: 4 });
    const before = boxes[n - 1];
    if (before) pen.line(before.x + before.width - side, box.y + height / 2, box.x + side, box.y + height / 2, hueFill(scene.hues.of_layer[box.seen[0]], HUES), { "stroke-width": 2, opacity });
  });
  const text = node.pieces ? String(node.pieces) : "–";
  if (place.level < 14 || pen.width(text, 12, 600) > widest.width - 2) return;
  pen.text(widest.x + widest.width / 2, widest.y + height / 2 + 4.2, text, {
    size: 12, weight: node.isTop ? 650 : 500, anchor: "middle", fill: node.isTop ? hueInk(widest.hue, HUES) : "var(--ink)",
  });
}

/** Where the tops of parts are: left to right. */
function topsOf(place, tree, parts) {
  return parts.flatMap((part) => {
    const boxes = boxesOf(place, tree.nodes[part]);
    return boxes.length ? [{ ...boxes[0], middle: boxes[0].x + boxes[0].width / 2 }] : [];
  }).toSorted((one, other) => one.middle - other.middle);
}

/** A small cross between two neighbours that stay apart. */
function drawCross(pen, place, tree, parts) {
  if (parts.length !== 2) return;
  const [one, other] = topsOf(place, tree, parts);
  if (!other || other.x - one.x - one.width > place.x.unit * 0.5) return;
  const y = Math.min(one.y, other.y) - 9;
  pen.path(`M${one.middle} ${one.y - 2}V${y}H${other.middle}V${other.y - 2}`, "var(--ink3)", { "stroke-dasharray": "2 4", "stroke-width": 1.2 });
  cross(pen, (one.x + one.width + other.x) / 2, y, 3, "var(--ink2)");
}

function cross(pen, x, y, size, stroke) {
  pen.rect(x - size - 3, y - size - 2, 2 * size + 6, 2 * size + 4, "var(--card)");
  pen.path(`M${x - size} ${y - size}L${x + size} ${y + size}M${x - size} ${y + size}L${x + size} ${y - size}`, stroke, { "stroke-width": 1.8 });
}

/** The refused merge that a step is about: a dashed join over its parts, with the reason. */
function drawRefusal(pen, place, tree, parts, step, width) {
  const tops = topsOf(place, tree, parts);
  if (!tops.length) return;
  const y = Math.max(62, Math.min(...tops.map((top) => top.y)) - 18);
  for (const part of parts) {
    for (const box of boxesOf(place, tree.nodes[part])) {
      pen.rect(box.x, box.y - 1.5, box.width, place.level, "none", { stroke: "var(--ink)", "stroke-width": 2, "stroke-dasharray": "5 3", rx: 4 });
    }
  }
  const [first, last] = [tops[0], tops.at(-1)];
  const legs = tops.map((top) => `M${top.middle} ${top.y - 3}V${y}`).join("");
  const join = pen.path(`${legs}M${first.middle} ${y}H${last.middle}`, "var(--ink)", { "stroke-dasharray": "5 3", "stroke-width": 2 });
  join.dataset.refused = parts.join(",");
  const middle = (first.middle + last.middle) / 2;
  cross(pen, middle, y, 5, "var(--ink)");
  const words = pen.fit([shortReason(step)], width - 20, 13, 600);
  const half = pen.width(words, 13, 600) / 2;
  const at = Math.max(half + 4, Math.min(width - half - 4, middle));
  pen.rect(at - half - 5, y - 27, 2 * half + 10, 18, "var(--card)", { rx: 3 });
  pen.text(at, y - 13, words, { size: 13, weight: 600, fill: "var(--ink)", anchor: "middle" });
}

/** Bytes of one piece of the whole against what the LBs hold, where they were computed. */
function drawMeter(pen, { peak, peak_bytes: size, is_taken: isTaken }, capacity) {
  if (!size || !capacity) return;
  const unit = 180 / Math.max(capacity, size);
  pen.text(0, 12, "One piece of the whole");
  pen.rect(0, 20, 180, 12, "var(--track)");
  const bar = pen.rect(0, 20, size * unit, 12, isTaken ? "var(--ink2)" : "var(--edge)");
  bar.dataset.peak = size;
  pen.line(capacity * unit, 16, capacity * unit, 36, "var(--ink)", { "stroke-width": 1.5, "stroke-dasharray": "4 3" });
  pen.text(190, 30.5, `${peak} of ${sizeText(capacity, true)} in the LBs of a cluster`, { weight: 600, fill: "var(--ink)" });
}

/** Names of the levels, and layer numbers below the leaves. */
function drawFoot(pen, { x, level, levels }, scene, merge, foot) {
  pen.text(0, foot - level / 2 + 4, "layers", { size: 12.5 });
  if (levels.size > 1) pen.text(0, Math.min(foot - level * 1.5, foot - level / 2 - 15) + 4, "merges ▲", { size: 12.5 });
  const [first, end] = x.sight;
  const room = pen.width(String(end), 12) + 10;
  const every = [1, 2, 5, 10, 20].find((step) => step * x.unit >= room) ?? 20;
  for (let layer = first; layer < end; layer += 1) {
    const next = Math.ceil((layer + 1) / every) * every - layer - 1; // layers up to the next number
    if (next && (layer !== first || next * x.unit < room)) continue;
    pen.text(x.from + (layer - first + 0.5) * x.unit, foot + 13, String(layer + 1), { size: 12, anchor: "middle" });
  }
  const of = scene.layers.length > end - first ? `: ${first + 1} to ${end} of ${scene.layers.length.toLocaleString("en-US")}, where the decision is` : ", in order";
  pen.text(x.from, foot + 29, `layers${of}`, { size: 12 });
  pen.text(x.from + (end - first) * x.unit, foot + 44, "decisions in order: tall merged, low refused", { size: 12, anchor: "end" });
}

/** All decisions in order: tall and dark a merge, low and pale a refusal. */
function drawStrip(pen, steps, step, y, width) {
  const unit = (width - LEFT - 6) / Math.max(1, steps.length);
  pen.text(0, y + 14, "decisions", { size: 12.5 });
  const strip = pen.rect(LEFT, y, width - LEFT - 6, STRIP, "var(--track)", { rx: 3 });
  strip.dataset.strip = steps.length;
  const bin = Math.max(1, Math.ceil(1.5 / unit));
  for (let at = 0; at < steps.length; at += bin) {
    const isTaken = steps.slice(at, at + bin).some((own) => own.is_taken);
    const tick = pen.rect(LEFT + at * unit + (unit > 4 ? 1 : 0), isTaken ? y + 2 : y + 11, Math.max(1, bin * unit - (unit > 4 ? 2 : 0.5)), isTaken ? STRIP - 4 : STRIP - 13, isTaken ? "var(--ink2)" : "var(--edge)");
    tick.setAttribute("pointer-events", "none");
  }
  if (step >= 0) pen.rect(LEFT + step * unit - 1, y - 3, Math.max(3, unit + 2), STRIP + 6, "none", { stroke: "var(--ink)", "stroke-width": 2, rx: 2, "pointer-events": "none" });
}

function told(run, tree, step, sight) {
  const { merge } = run;
  const parts = partsAt(tree, step);
  const facts = [["Sub-graphs so far", `${parts.toLocaleString("en-US")}`, "strong"]];
  let said = `${parts} sub-graphs.`;
  if (step >= 0) {
    const own = merge.steps[step];
    const capacity = merge.capacity_bytes ? sizeText(merge.capacity_bytes, true) : "the LBs";
    const names = tree.of[step].parts.map((part) => layersText(tree.nodes[part].runs)).join(" + ");
    const reason = reasonText(own, capacity);
    facts.push(["This decision", `${own.is_taken ? "merged" : "refused"}, ${stepText(own.step)}`]);
    facts.push(["Layers", names.length > 120 ? `${names.slice(0, 117)}…` : names, "plain"]);
    if (own.counts.length) facts.push(["Pieces", `${countsText(own)}${own.pieces ? ` → ${own.pieces}` : ""}`]);
    facts.push(["One piece of the whole", own.peak ? `${own.peak} of ${capacity}` : "not computed: the rule needs no bytes", own.peak ? "" : "plain"]);
    facts.push(["Why", reason, "plain"]);
    said = `Decision ${step + 1}: ${own.is_taken ? "merged" : "refused"}. ${reason} ${parts} sub-graphs.`;
  } else facts.push(["Start", "Each layer is a sub-graph of its own.", "plain"]);
  if (sight[1] - sight[0] < merge.counts.length) facts.push(["In sight", `${sight[1] - sight[0]} of ${merge.counts.length.toLocaleString("en-US")} layers, around the decision.`, "plain"]);
  if (merge.left_out) facts.push(["Not drawn", `${countText(merge.left_out, "decision")} of other steps; the table of merges has all.`, "plain"]);
  if (!merge.is_final) facts.push(["Afterwards", "Later rules changed these sub-graphs.", "plain"]);
  return { facts, said };
}

/** `3–12`, `3–5, 9`: layers counted from 1. */
function layersText(runs) {
  return runs.map(([first, last]) => (first === last ? `${first + 1}` : `${first + 1}–${last + 1}`)).join(", ");
}
