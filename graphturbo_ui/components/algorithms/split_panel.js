// Panel 1: each sub-graph as a rectangle cut in pieces, and its bytes against the LBs' capacity.

import { shorterNames } from "../group_names.js";
import { hueFill, hueInk, hueText } from "../overview/draw.js";
import { countText, piecesTexts, sizeText } from "../overview/words.js";
import { forcedBy, gridOf, rectangleOf, shownLayers, sizeTicks, slicesOf, windowAround } from "./splits.js";

const BANDS = 9; // sub-graphs at once
const LAYERS = 14; // layers at once
const HUES = 5;
const TOP = 40;
const GAP = 12;
const ROW = 17;
const BAR = 18;
const TALLEST = 48; // pixels of a rectangle
const LABELS = 170;
const BESIDE = 150; // right of the longest bar, for its bytes

export const splitPanel = {
  title: "Cut each sub-graph until one piece fits the cores",
  sub: "Fewest equal pieces whose live activations fit the LBs of a cluster together. Click a sub-graph for its layers.",

  result(run) {
    const counts = run.split.parts.flatMap((part) => part.groups.map(() => part.final_pieces));
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    return `${countText(counts.length, "sub-graph")} in ${least === most ? countText(most, "piece") : `${least} to ${most} pieces`}`;
  },

  count: (run) => run.split.parts.length,

  /** The sub-graph with the most bytes, of those that are cut. */
  first(run) {
    const sizes = run.split.parts.map((part) => (part.pieces > 1 ? part.whole_bytes : 0));
    return sizes.indexOf(Math.max(...sizes));
  },

  at: (run, step) => `Sub-graph ${namesOf(run, run.split.parts[step])}`,

  groups: (run, step) => run.split.parts[step].groups,

  draw(pen, scene, run, step, width) {
    const { parts, capacity_bytes: capacity } = run.split;
    const [first, end] = windowAround(step, parts.length, BANDS);
    const shown = parts.slice(first, end);
    const layers = shownLayers(parts[step].layers, LAYERS);
    const most = Math.max(capacity, ...parts.map((part) => part.whole_bytes));
    const rects = Math.min(250, width * 0.25);
    const x = { labels: 0, rects: LABELS, bars: LABELS + rects + 24, end: width - 8 };
    const scale = (x.end - x.bars - BESIDE) / most;
    const sizes = rectangleScale(shown, rects);
    const drawn = [];
    let y = TOP;
    shown.forEach((part, n) => {
      const isOpen = first + n === step;
      const height = bandHeight(part, sizes);
      if (isOpen) pen.rect(-4, y - 6, width + 8, height + 12 + (isOpen ? layers.length * ROW + 6 : 0), "var(--track)", { rx: 6 });
      const band = pen.group("band");
      band.parent.dataset.step = first + n;
      band.rect(0, y - 6, width, height + 12, "transparent");
      drawLabel(band, scene, run, part, y, height);
      drawRectangle(band, scene, run, part, { x: x.rects, y, sizes });
      drawn.push(drawBar(band, run, part, { x: x.bars, y: y + (height - BAR) / 2, scale, height: BAR, limit: x.bars + capacity * scale }));
      y += height + GAP;
      if (isOpen) {
        layers.forEach((layer, at) => drawLayer(pen, scene, parts[step], layer, { x, y: y - 4 + at * ROW, scale, limit: x.bars + capacity * scale }));
        y += layers.length * ROW + 8;
      }
    });
    drawAxis(pen, { x, y, most, capacity, scale });
    drawHeads(pen, scene, shown, x, end - first < parts.length ? `, ${first + 1} to ${end} of ${parts.length}` : "");
    return { height: y + 34, scene: { bars: drawn, layers: layers.map(({ layer }) => layer), capacity }, ...told(scene, run, parts[step], layers.length) };
  },
};

/** `stage 1`, or `attention (layers 4–14) and 11 equal ones`. */
function namesOf(run, part) {
  const name = nameOf(run, part);
  return part.groups.length > 1 ? `${name} and ${countText(part.groups.length - 1, "equal one")}` : name;
}

function nameOf(run, part) {
  return run.groups[part.groups[0]].name;
}

function hueOf(run, part) {
  return run.hue_of_group[part.groups[0]];
}

/** Pixels per element across and down, one scale for all that share an axis. */
function rectangleScale(parts, width) {
  const rects = parts.map(rectangleOf);
  const [across, down] = [new Map(), new Map()];
  for (const rect of rects) {
    across.set(rect.across.axis, Math.max(across.get(rect.across.axis) ?? 1, rect.across.size));
    down.set(rect.down.axis, Math.max(down.get(rect.down.axis) ?? 1, rect.down.size));
  }
  return (rect) => ({
    width: Math.max(6, (rect.across.size / across.get(rect.across.axis)) * width),
    height: rect.down.axis ? Math.max(14, (rect.down.size / down.get(rect.down.axis)) * TALLEST) : 14,
  });
}

function bandHeight(part, sizes) {
  return Math.max(36, sizes(rectangleOf(part)).height);
}

function drawLabel(pen, scene, run, part, y, height) {
  const hue = hueOf(run, part);
  const title = scene.hues.titles[hue] ?? "";
  const middle = y + height / 2;
  const full = nameOf(run, part);
  const count = part.groups.length > 1 ? ` ×${part.groups.length}` : "";
  const name = pen.fit(shorterNames(full).map((own) => `${own}${count}`), LABELS - 8, 14, 650);
  pen.text(0, middle - 3, name, { size: 14, weight: 650, fill: hueText(hue, HUES) });
  if (!full.startsWith(title)) {
    pen.text(pen.width(name, 14, 650) + 7, middle - 3, pen.fit([title], LABELS - 20 - pen.width(name, 14, 650), 13), { size: 13 });
  }
  pen.text(0, middle + 13, pen.fit(pieceTexts(scene, run, part), LABELS - 8, 12.5), { size: 12.5 });
}

/** From the longest to the shortest. */
function pieceTexts(scene, run, part) {
  const cuts = (part.final_cuts ?? []).map(([axis, parts]) => [part.axis_names[axis], parts]);
  if (cuts.length > 1) return piecesTexts({ pieces: part.final_pieces, cuts }, run.samples, scene.noun);
  return [piecesText(scene, run, part)];
}

function piecesText(scene, run, part) {
  if (part.final_pieces !== part.pieces) return `${part.pieces > 1 ? part.pieces : "whole"}, later ${countText(part.final_pieces, "piece")}`;
  if (part.final_pieces === 1) return part.shape.length ? `whole, ${countText(run.samples, scene.noun)}` : "whole";
  const samples = part.axis === 0 ? (part.shape[0] ?? 0) / part.final_pieces : 0;
  if (Number.isInteger(samples) && samples > 0) return `${part.final_pieces} × ${countText(samples, scene.noun)}`;
  return countText(part.final_pieces, "piece");
}

/** Images across, rows down, to scale, cut where the pieces meet, also where later rules cut further. */
function drawRectangle(pen, scene, run, part, { x, y, sizes }) {
  const rect = rectangleOf(part);
  const grid = gridOf(part);
  const { width, height } = sizes(rect);
  const hue = hueOf(run, part);
  const top = y + (bandHeight(part, sizes) - height) / 2;
  const across = slicesOf(width, rect.across.size, grid.across);
  const down = slicesOf(height, rect.down.size, grid.down);
  const boxes = down.cuts.flatMap(([y0, y1]) => across.cuts.map(([x0, x1]) => (
    [x + x0 * width, top + y0 * height, (x1 - x0) * width - across.gap, (y1 - y0) * height - down.gap])));
  const isOneAxis = grid.across === 1 || grid.down === 1;
  const hasRoom = grid.across > 1 ? width / grid.across >= 17 && height >= 13 : height / grid.down >= 15;
  const isNumbered = boxes.length > 1 && isOneAxis && across.isEvery && down.isEvery && hasRoom;
  boxes.forEach((box, n) => {
    const node = pen.rect(...box, hueFill(hue, HUES), { rx: boxes.length > 20 ? 0 : 2 });
    node.dataset.piece = n;
    if (isNumbered) {
      pen.text(box[0] + box[2] / 2, box[1] + box[3] / 2 + 4, String(n + 1), { size: 12, weight: 600, anchor: "middle", fill: hueInk(hue, HUES) });
    }
  });
}

/** The whole as a pale bar with its cuts, the first piece solid. */
function drawBar(pen, run, part, { x, y, scale, height, limit }) {
  const fill = hueFill(hueOf(run, part), HUES);
  const whole = part.whole_bytes * scale;
  pen.rect(x, y, whole, height, fill, { opacity: 0.3, rx: 1 });
  const share = whole / part.pieces;
  if (share >= 4) for (let n = 1; n < part.pieces; n += 1) pen.line(x + n * share, y, x + n * share, y + height, "var(--card)", { "stroke-width": 1.5 });
  const node = pen.rect(x, y, part.piece_bytes * scale, height, fill, { rx: 1 });
  node.dataset.bytes = part.piece_bytes;
  const isOver = part.pieces === 1 && x + whole > limit;
  const text = part.pieces > 1 ? `${sizeText(part.whole_bytes)} → ${sizeText(part.piece_bytes)}` : `${sizeText(part.whole_bytes)}${isOver ? ": no cut fits" : ""}`;
  pen.text(rightOf(pen, x, whole, limit, text, 12.5), y + height / 2 + 4.5, text, { weight: 600, fill: "var(--ink)" });
  return { group: nameOf(run, part), whole: part.whole_bytes, piece: part.piece_bytes, pieces: part.pieces };
}

/** Where a text beside a bar begins: right of the bar, and not across the line of the capacity. */
function rightOf(pen, x, width, limit, text, size) {
  const at = x + width + 8;
  return at < limit + 3 && at + pen.width(text, size, 600) > limit - 3 ? limit + 8 : at;
}

function drawLayer(pen, scene, part, layer, { x, y, scale, limit }) {
  const forced = forcedBy(part).layers;
  const isFirst = forced[0] === layer.layer;
  const fill = hueFill(scene.hues.of_layer[layer.layer], HUES);
  const alone = layer.pieces ? (countText(layer.pieces, "piece")) : "no split";
  pen.text(0, y + 11, String(layer.layer + 1), { size: 12, fill: "var(--ink2)" });
  pen.text(28, y + 11, pen.fit([layer.name, layer.name.split(/[/.]/).slice(-2).join("/")], x.bars - 130, 12), { size: 12, fill: "var(--ink)", weight: isFirst ? 650 : 400 });
  pen.text(x.bars - 18, y + 11, alone, { size: 12, anchor: "end", fill: isFirst ? "var(--ink)" : "var(--ink2)", weight: isFirst ? 650 : 400 });
  const whole = layer.whole_bytes * scale;
  pen.rect(x.bars, y + 2, whole, 10, fill, { opacity: 0.3 });
  pen.rect(x.bars, y + 2, layer.piece_bytes * scale, 10, fill);
  if (!isFirst) return;
  pen.rect(x.bars - 1.5, y + 0.5, whole + 3, 13, "none", { stroke: "var(--ink)", "stroke-width": 1.5, rx: 2 });
  const words = `◀ needs ${countText(layer.pieces, "piece")} alone`;
  pen.text(rightOf(pen, x.bars, whole, limit, words, 12), y + 11, words, { size: 12, weight: 650, fill: "var(--ink)" });
}

function drawAxis(pen, { x, y, most, capacity, scale }) {
  pen.line(x.bars, TOP - 8, x.bars, y, "var(--edge)");
  for (const size of sizeTicks(most, 6)) {
    const at = x.bars + size * scale;
    pen.line(at, y, at, y + 4, "var(--edge)");
    pen.text(at, y + 17, sizeText(size, true), { size: 12, anchor: size ? "middle" : "start" });
  }
  pen.text(x.end, y + 31, "live activations, bytes", { size: 12, anchor: "end" });
  const at = x.bars + capacity * scale;
  pen.line(at, TOP - 12, at, y, "var(--ink)", { "stroke-width": 1.5, "stroke-dasharray": "5 4" });
  const words = `${sizeText(capacity, true)}: the LBs of a cluster`;
  const isRight = at + pen.width(words, 12.5, 600) < x.end;
  pen.text(isRight ? at - 2 : at + 2, TOP - 17, words, { weight: 600, fill: "var(--ink)", anchor: isRight ? "start" : "end" });
}

function drawHeads(pen, scene, parts, x, range) {
  const named = (part) => {
    const { axis, size } = rectangleOf(part).down;
    return size > 1 ? part.axis_names[axis] : "";
  };
  const down = [...new Set(parts.map(named).filter(Boolean))];
  const across = [...new Set(parts.map((part) => part.axis_names[rectangleOf(part).across.axis] ?? `${scene.noun}s`))];
  const words = [across, down].flatMap((names) => (names.length > 1 ? ["split axis"] : names));
  pen.text(0, TOP - 17, pen.fit([`Sub-graphs${range}`], LABELS - 6));
  pen.text(x.rects, TOP - 17, `Result: ${words.join(" × ")}`);
}

function told(scene, run, part, shown) {
  const { layers, most } = forcedBy(part);
  const axis = part.axis_names[part.axis];
  const forced = layers.length
    ? `Layer ${layers[0] + 1} needs ${countText(part.pieces, "piece")} alone${layers.length > 1 ? `; so ${layers.length > 2 ? "do" : "does"} ${countText(layers.length - 1, "other")}` : ""}.`
    : part.pieces > 1
      ? `No layer alone: each needs ${most > 1 ? `${most} pieces at most` : "one piece"}. Tensors of several layers that live at once do.`
      : part.whole_bytes <= run.split.capacity_bytes
        ? "It fits whole."
        : "No axis goes through all of it in pieces that fit. It runs whole, and tensors that find no room go to GB or DRAM.";
  const facts = [
    ["Sub-graph", namesOf(run, part), "strong"],
    ["Pieces by Algorithm 1", part.pieces > 1 ? `${part.pieces} along ${axis}` : "1, it runs whole"],
    ["Live activations", part.pieces > 1 ? `${sizeText(part.whole_bytes)} whole, ${sizeText(part.piece_bytes)} a piece` : sizeText(part.whole_bytes)],
    ["Capacity", `${sizeText(run.split.capacity_bytes, true)} in the LBs of a cluster together`],
    ["What forces the count", forced, "plain"],
  ];
  if (part.final_pieces !== part.pieces) {
    facts.push(["Afterwards", `It runs in ${countText(part.final_pieces, "piece")}${part.along ? ` along ${part.along}` : ""}: later rules cut it further.`, "plain"]);
  }
  if (part.layers.length > shown) facts.push(["Layers", `The ${shown} of ${part.layers.length} with most bytes are drawn.`, "plain"]);
  const said = `${namesOf(run, part)}: ${countText(part.pieces, "piece")}, ${sizeText(part.whole_bytes)} whole, ${sizeText(part.piece_bytes)} a piece. ${forced}`;
  return { facts, said };
}
