// Words beside B's boxes: what each hue stands for, its pieces, its bytes, its share of the time.

import { hueText, svgNode } from "./draw.js";
import { alikeBlocks } from "./lens_words.js";
import { stretchesOf } from "./rows.js";
import { hueSeconds } from "./runs.js";
import { barestTitles, countText, firstWords, piecesTexts, shareText, shorterTitles, sizesText, sizeText } from "./words.js";

const LINE = 15.5;
const BESIDE = 0.25; // lines that a title may lie above or below its rows
const BELOW = 6; // pixels that the last one may reach below the rows
const FARTHEST = 4; // lines from its rows at which a label is left out
const BESIDE_LEADERS = 4;
const SMALLEST = 11; // pixels of a name that no words make shorter
const TITLE = { size: 14, weight: 650 };

/**
 * Draw the labels into the column, from the top row to `foot`, without one over another.
 *
 * @param {Scene} scene
 */
export function drawLabels(pen, scene, rows, column, open, foot) {
  const hasKinds = scene.hues.meaning === "kind";
  const items = [...hueItems(scene, rows), ...(hasKinds ? blockItems(scene, rows, open) : [])];
  const least = (scene.is_presenting ? 18 : 11) / pen.k;
  for (const { item, top, count } of placedLabels(items, LINE * pen.k, { top: rows[0].y - 14 * pen.k, foot })) {
    drawItem(pen, { ...column, least }, item, top, count);
    const from = leaderFrom(item, top, LINE * pen.k);
    if (from === null) continue;
    const y = top + (LINE * pen.k) / 2;
    pen.path(`M${column.edge + 1} ${from}H${column.edge + 3}L${column.x - 5} ${y}H${column.x - 2}`, item.lines[0].fill, { class: "leader" });
  }
}

/**
 * The height in its own rows from which a line leads to a label whose title is not beside them; null
 * where it is.
 *
 * @param {Item} item
 */
export function leaderFrom({ middle, height }, top, line) {
  const [from, to] = [middle - height / 2, middle + height / 2];
  const y = top + line / 2;
  if (from - BESIDE * line <= y && y <= to + BESIDE * line) return null;
  return y < from ? Math.min(from + 2, middle) : Math.max(to - 2, middle);
}

/**
 * Where labels stand: [{item, top, count}], `count`: of their lines. Names of shut blocks are left
 * out where their own place is taken; all others move down, and are left out far from their rows.
 *
 * @typedef {{ middle: number, height: number, isOptional?: boolean, lines: object[] }} Item
 * @param {Item[]} items
 */
export function placedLabels(items, line, { top: first, foot }) {
  const sorted = items.toSorted((one, other) => one.middle - other.middle);
  const wanted = sorted.filter(({ isOptional }) => !isOptional);
  /** @type {{ item: any, top: number, count: number }[]} */
  const placed = [];
  let below = first;
  wanted.forEach((item, n) => {
    const room = Math.max(item.height, 0) + 4;
    const next = n + 1 < wanted.length ? wanted[n + 1].middle - line / 2 : foot;
    const count = Math.max(1, Math.min(item.lines.length, Math.floor(room / line), Math.floor((next - below) / line)));
    const top = Math.max(below, Math.min(item.middle - (count * line) / 2, foot + BELOW - count * line));
    if (top + line > foot + BELOW || top - item.middle - item.height / 2 > FARTHEST * line) return;
    below = top + count * line;
    placed.push({ item, top, count });
  });
  for (const item of sorted.filter(({ isOptional }) => isOptional)) {
    const top = item.middle - line / 2;
    const isFree = placed.every((other) => top >= other.top + other.count * line || top + line <= other.top);
    if (isFree && top >= first && top + line <= foot + BELOW) placed.push({ item, top, count: 1 });
  }
  return placed;
}

function drawItem(pen, column, item, top, count) {
  const line = LINE * pen.k;
  const left = column.x + (item.block === undefined ? 0 : BESIDE_LEADERS); // leaders to other labels pass it
  const textOf = (own) => pen.fit([own.text, ...(own.shorter ?? [])], column.width, sizeOf(pen, column, own), own.weight ?? 400);
  const used = pen.width(textOf(item.lines[0]), sizeOf(pen, column, item.lines[0]), item.lines[0].weight ?? 400);
  const isCut = count < item.lines.length && item.short;
  const after = isCut ? pen.fit([...item.short, ""], column.width - used - 6, 12) : "";
  linesInRoom(item.lines, count, after).forEach((own, at) => {
    const text = textOf(own);
    const node = pen.text(left, top + at * line + line * 0.78, text, { ...own, size: sizeOf(pen, column, own) });
    if (text !== own.text) node.append(svgNode("title", {}, own.text));
    if (item.block !== undefined) node.dataset.block = item.block;
  });
  if (after) pen.text(column.x + used + 6, top + line * 0.78, after, { size: 12 });
}

/** The type of a line: smaller where its words have no room otherwise; a name may be smaller than `least`. */
function sizeOf(pen, { width, least }, own) {
  const texts = [own.text, ...(own.shorter ?? [])];
  const usual = own.size ?? 12.5;
  const smaller = [13, 12, 11].filter((size) => size < usual && size >= least);
  const sizes = [usual, ...smaller, ...(own.isName ? [12, 11, SMALLEST / pen.k].filter((size) => size < least) : [])];
  return sizes.find((size) => texts.some((text) => pen.width(text, size, own.weight ?? 400) <= width)) ?? usual;
}

/** The first `count` lines; where nothing stands after the title, without those that the boxes show too. */
export function linesInRoom(lines, count, after) {
  if (after || count >= lines.length) return lines.slice(0, count);
  const spare = lines.filter(({ isDrawn }) => isDrawn).slice(0, lines.length - count);
  return lines.filter((line) => !spare.includes(line)).slice(0, count);
}

/**
 * The label of each hue, at its stretch with the most room.
 *
 * @param {Scene} scene
 */
function hueItems(scene, rows) {
  const run = scene.runs.at(-1);
  const seconds = hueSeconds(run);
  const isKind = scene.hues.meaning === "kind";
  return scene.hues.titles.map((title, hue) => {
    const groups = run.groups.map((group, number) => ({ ...group, number })).filter(({ number, layers }) => (
      scene.hues.of_group[number] === hue || (scene.hues.of_group[number] < 0 && layers.some((layer) => scene.hues.of_layer[layer] === hue))
    ));
    const layers = scene.hues.of_layer.flatMap((own, layer) => (own === hue ? [layer] : []));
    const stretch = tallest(rows, isKind ? openLayers(groups, rows) : layers, isKind);
    if (!stretch) return null;
    const share = `${shareText(seconds[hue] / run.total)} of ${run.name}'s time`;
    const count = isKind && groups.length > 1 ? countText(groups.length, "sub-graph") : "";
    const isBanded = scene.hues.of_group[groups[0]?.number] < 0;
    const lines = [
      { text: title, shorter: [...shorterTitles(title), ...barestTitles(title), ...firstWords(title)], isName: true, ...TITLE, fill: hueText(hue, scene.hues.titles.length) },
      ...(count ? [{ text: count }] : []),
      ...(isBanded ? [] : piecesLines(scene, run, groups)),
      { text: share, shorter: [share.replace(` ${run.name}'s time`, " time")] },
    ];
    // Beside the title, where the lines below have no room.
    return { ...stretch, lines, short: count ? [`${count}, ${share}`, share, count] : [share] };
  }).filter(Boolean);
}

/**
 * Pieces and bytes of one sub-graph, or their ranges over several.
 *
 * @param {Scene} scene
 * @param {Run} run
 */
function piecesLines(scene, run, groups) {
  const [least, most] = ends(groups.map(({ pieces }) => pieces));
  const isOne = least === most && new Set(groups.map(({ along }) => along)).size === 1;
  const samples = run.rounds[0].samples;
  const first = groups[0];
  const lines = [];
  if (groups.length > 1 && scene.hues.meaning !== "kind") lines.push({ text: countText(groups.length, "sub-graph") });
  if (isOne) {
    const [text, ...shorter] = piecesTexts(first, samples, scene.noun);
    lines.push({ text, shorter, isDrawn: true });
  } else lines.push({ text: least === most ? `${countText(most, "piece")} each` : `${least} to ${countText(most, "piece")}` });
  const bytes = groups.map((group) => group.whole_bytes);
  if (groups.length === 1 || scene.hues.meaning === "kind") {
    const isPerPiece = first.cuts.length < 2; // else the second size is of a part along one axis
    lines.push({ text: isPerPiece ? bytesText(first) : sizeText(first.whole_bytes), shorter: isPerPiece && first.piece_bytes ? [`→ ${sizeText(first.piece_bytes)}`] : [] });
  } else {
    const largest = sizeText(Math.max(...bytes));
    lines.push({ text: `up to ${largest}`, shorter: [`≤ ${largest}`] });
  }
  const uncut = groups.filter(({ is_via_dram: isViaDram }) => isViaDram).length;
  const said = groups.length > 1 ? [`${countText(uncut, "sub-graph")} uncut, via DRAM`, `${countText(uncut, "sub-graph")} via DRAM`, "some via DRAM"] : ["uncut, via DRAM", "via DRAM"];
  if (uncut) lines.push({ text: said[0], shorter: said.slice(1) });
  return lines;
}

/** `55.1 → 6.89 MiB`: live bytes of all samples, and of one piece; two sizes never print equal. */
export function bytesText({ whole_bytes: whole, piece_bytes: piece, pieces }) {
  if (pieces < 2 || !piece || piece === whole) return sizeText(whole);
  const [before, after] = sizesText(whole, piece);
  const [value, unit] = before.split(" ");
  return after.endsWith(` ${unit}`) ? `${value} → ${after}` : `${before} → ${after}`;
}

/** Layers of the first of these sub-graphs that has an open row. */
function openLayers(groups, rows) {
  const open = rows.filter(({ isShut }) => !isShut);
  const isOpen = (layer) => open.some(({ first, last }) => first <= layer && layer <= last);
  return groups.map(({ layers }) => layers.filter(isOpen)).find((layers) => layers.length) ?? [];
}

/**
 * Shut blocks in a row that are equal to the open one: [first, last] and its title; null below two.
 *
 * @param {Scene} scene
 */
export function foldedBlocks(scene, open) {
  const [shown] = open;
  if (open.size !== 1 || !scene.blocks[shown]) return null;
  const runs = [];
  for (const block of alikeBlocks(scene, shown).filter((own) => own !== shown)) {
    if (runs.at(-1)?.[1] === block - 1) runs.at(-1)[1] = block;
    else runs.push([block, block]);
  }
  const longest = runs.reduce((best, run) => (run[1] - run[0] > best[1] - best[0] ? run : best), [0, 0]);
  return longest[1] > longest[0] ? { first: longest[0], last: longest[1], title: scene.blocks[shown].title } : null;
}

/** A bracket beside the rows of folded blocks with words along it, where there is room; `x`: its line. */
export function drawFolded(pen, { first, last, title }, rows, x) {
  const own = rows.filter(({ block }) => block >= first && block <= last);
  const [top, foot] = [own[0].y, own.at(-1).y + own.at(-1).h];
  const count = last - first + 1;
  const texts = [`${count} blocks as ${title}`, `${count} equal blocks`];
  const text = texts.find((said) => pen.width(said, 12) + 8 < foot - top);
  if (!text) return;
  const middle = (top + foot) / 2;
  pen.path(`M${x - 4} ${top + 0.5}H${x}V${foot - 0.5}H${x - 4}`, "var(--edge)");
  const left = x - 7 * pen.k;
  pen.text(left, middle, text, { size: 12, anchor: "middle", fill: "var(--ink3)", transform: `rotate(-90 ${left} ${middle})` });
}

function ends(values) {
  return [Math.min(...values), Math.max(...values)];
}

/** Middle and height of the tallest stretch of rows; of kinds, which repeat, of open rows alone. */
function tallest(rows, layers, isKind) {
  const found = stretchesOf(rows, layers).map(([first, last]) => {
    const [top, foot] = [rows[first].y, rows[last].y + rows[last].h];
    return { middle: (top + foot) / 2, height: foot - top, isShut: rows[first].isShut };
  });
  const best = (some) => some.reduce((one, other) => (!one || other.height > one.height ? other : one), null);
  return best(isKind ? found.filter(({ isShut }) => !isShut) : found);
}

/**
 * The name of each block: a triangle that opens or shuts it.
 *
 * @param {Scene} scene
 */
function blockItems(scene, rows, open) {
  return scene.blocks.map(({ title }, block) => {
    const own = rows.filter((row) => row.block === block);
    const isOpen = open.has(block);
    const [top, foot] = [own[0].y, own.at(-1).y + own.at(-1).h];
    const text = `${isOpen ? "▾" : "▸"} ${title}`;
    return {
      middle: isOpen ? top + 4 : (top + foot) / 2, height: foot - top, block, isOptional: !isOpen,
      lines: [{ text, size: 12.5, weight: isOpen ? 600 : 400, fill: isOpen ? "var(--ink)" : "var(--ink2)" }],
    };
  });
}
