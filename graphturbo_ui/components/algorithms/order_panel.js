// Panel 3: pieces of each sub-graph by state, the ready list as a stack, the bytes in GB below.

import { shorterNames } from "../group_names.js";
import { hueFill, hueInk, hueText } from "../overview/draw.js";
import { countText, sizeText } from "../overview/words.js";
import { drawGbCurve } from "./gb_curve.js";
import { kernelsByGroup, kernelText, listLengths, pieceOf, readyAt } from "./order_steps.js";
import { windowAround } from "./splits.js";

const HUES = 5;
const ROWS = 9; // sub-graphs at once
const ENTRIES = 11; // of the ready list at once
const ENTRY = 172; // pixels of an entry of the list
const TOP = 30;
const ROW = 34;
const CHIP = 24;
const LABELS = 140;
const PALE = 0.26;

export const orderPanel = {
  title: "Run the piece that became ready last",
  sub: "So its input is still in the LBs, and few results wait in GB. Strong: runs. Outlined: in the list. Pale: done.",

  result(run) {
    return `${countText(run.order.steps.length, "piece")}, ${run.order.is_breadth_first ? "breadth" : "depth"} first`;
  },

  count: (run) => run.order.steps.length,

  /** Where the list is longest. */
  first(run) {
    const lengths = listLengths(run.order);
    return lengths.indexOf(Math.max(...lengths));
  },

  at: (run, step) => `Step ${step + 1} of ${run.order.steps.length}`,

  draw(pen, scene, run, step, width) {
    const { order } = run;
    const now = readyAt(order, step);
    const list = { x: width - 282, width: 282 };
    const own = order.kernels[now.run].group;
    const [first, end] = windowAround(own, run.groups.length, ROWS);
    drawGrid(pen, scene, run, now, { first, end, width: list.x - 26 });
    drawList(pen, run, now, list);
    const longest = Math.min(ENTRIES + 1, Math.max(...listLengths(order)));
    const top = TOP + Math.max((end - first) * ROW, longest * CHIP) + 40;
    const height = drawGbCurve(pen, run, now.run, { left: 66, top, width });
    const { before, skipped, entered } = now;
    return { height: top + height, scene: { runs: now.run, before, skipped, entered, done: now.done.size }, ...told(run, now, step) };
  },
};

function drawGrid(pen, scene, run, now, { first, end, width }) {
  const { order } = run;
  const range = end - first < run.groups.length ? `, ${first + 1} to ${end} of ${run.groups.length}` : "";
  pen.text(0, 13, `Sub-graphs in order, a box per piece${range}`);
  const byGroup = kernelsByGroup(order, run.groups.length);
  const ready = new Set(now.before);
  for (let group = first; group < end; group += 1) {
    const y = TOP + (group - first) * ROW;
    const hue = run.hue_of_group[group];
    const full = run.groups[group].name;
    const name = pen.fit(shorterNames(full), LABELS - 8, 14, 650);
    pen.text(0, y + 19, name, { size: 14, weight: 650, fill: hueText(hue, HUES) });
    const used = pen.width(name, 14, 650) + 7;
    const title = scene.hues.titles[hue] ?? "";
    if (!full.startsWith(title)) pen.text(used, y + 19, pen.fit([title], LABELS - used - 8, 13), { size: 13 });
    const cells = byGroup[group];
    const unit = Math.min(62, (width - LABELS) / Math.max(1, cells.length));
    cells.forEach((kernel, n) => {
      const state = kernel === now.run ? "run" : now.done.has(kernel) ? "done" : ready.has(kernel) ? "ready" : "waits";
      const step = order.steps.findIndex((own) => own.run === kernel);
      drawCell(pen, { x: LABELS + n * unit, y, width: unit }, state, { hue, text: pieceOf(order.kernels[kernel].name), kernel, step });
    });
  }
}

function drawCell(pen, { x, y, width }, state, { hue, text, kernel, step }) {
  const gap = width > 8 ? 3 : width > 3 ? 1 : 0;
  const fill = hueFill(hue, HUES);
  const box = [x, y + 2, Math.max(0.5, width - gap), ROW - 8];
  const round = width > 10 ? 4 : 0;
  const looks = {
    run: [fill, {}],
    done: [fill, { opacity: PALE }],
    ready: ["var(--card)", { stroke: fill, "stroke-width": width > 8 ? 2.5 : 1 }],
    waits: ["var(--track)", {}],
  };
  const [ground, more] = looks[state];
  const inner = state === "ready" && width > 8 ? [box[0] + 1.25, box[1] + 1.25, box[2] - 2.5, box[3] - 2.5] : box;
  const node = pen.rect(...inner, ground, { rx: round, ...more });
  node.dataset.state = state;
  node.dataset.kernelAt = kernel;
  node.dataset.step = step;
  if (state === "run") pen.rect(box[0] - 3, box[1] - 3, box[2] + 6, box[3] + 6, "none", { stroke: "var(--ink)", "stroke-width": 2.5, rx: round + 3 });
  if (pen.width(text, 12.5, 600) > width - gap - 3) return;
  const ink = { run: hueInk(hue, HUES), done: "var(--ink)", ready: "var(--ink)", waits: "var(--ink2)" }[state];
  pen.text(box[0] + box[2] / 2, y + 2 + box[3] / 2 + 4.5, text, { size: 12.5, weight: state === "waits" ? 400 : 600, anchor: "middle", fill: ink, "pointer-events": "none" });
}

/** The list before the step, newest on top; what is chosen stands out. */
function drawList(pen, run, now, { x, width }) {
  const { order } = run;
  const stack = order.is_breadth_first ? now.before : now.before.toReversed();
  pen.text(x, 13, `Ready list, ${order.is_breadth_first ? "oldest" : "newest"} on top`, { fill: "var(--ink2)" });
  const skipped = new Set(now.skipped);
  const chosen = stack.indexOf(now.run);
  const from = Math.max(0, Math.min(chosen - ENTRIES + 3, stack.length - ENTRIES));
  const shown = stack.slice(from, from + ENTRIES);
  const texts = shown.map((kernel) => entryTexts(run, order.kernels[kernel]));
  const level = [0, 1, 2].find((own) => texts.every((each) => pen.width(at(each, own), 12.5, 600) <= ENTRY - 16)) ?? 2;
  shown.forEach((kernel, n) => {
    const y = TOP + n * CHIP;
    const hue = run.hue_of_group[order.kernels[kernel].group];
    const isChosen = kernel === now.run;
    pen.rect(x, y, ENTRY, CHIP - 4, isChosen ? hueFill(hue, HUES) : "var(--track)", { rx: 4 });
    if (!isChosen) pen.rect(x, y, 5, CHIP - 4, hueFill(hue, HUES), { rx: 2 });
    else pen.rect(x - 3, y - 3, ENTRY + 6, CHIP + 2, "none", { stroke: "var(--ink)", "stroke-width": 2.5, rx: 6 });
    pen.text(x + 13, y + 14.5, pen.fit([at(texts[n], level)], ENTRY - 16, 12.5, 600), { weight: 600, fill: isChosen ? hueInk(hue, HUES) : "var(--ink)" });
    const words = isChosen ? ["▸ runs: first with all inputs", "▸ runs"] : skipped.has(kernel) ? ["waits for a producer", "waits"] : null;
    if (words) pen.text(x + ENTRY + 12, y + 14.5, pen.fit(words, width - ENTRY - 14, 12.5, isChosen ? 650 : 400), { weight: isChosen ? 650 : 400, fill: isChosen ? "var(--ink)" : "var(--ink2)" });
  });
  const more = stack.length - from - ENTRIES;
  const text = [from ? `${from} above` : "", more > 0 ? `${more} more below` : ""].filter(Boolean).join(", ");
  if (text) pen.text(x, TOP + ENTRIES * CHIP + 12, text);
}

/** The text of a level of shortness; the shortest of fewer texts. All entries have one level. */
function at(texts, level) {
  return texts[Math.min(level, texts.length - 1)];
}

/** A kernel in the list, from the longest text to the shortest. */
function entryTexts(run, kernel) {
  const { name, pieces } = run.groups[kernel.group];
  const piece = pieces > 1 ? `, piece ${pieceOf(kernel.name)}` : "";
  return shorterNames(name).map((own) => `${own}${piece}`);
}

function told(run, now, step) {
  const { order } = run;
  const name = (kernel) => kernelText(run, order.kernels[kernel]);
  const own = order.kernels[now.run];
  const gb = order.capacity_bytes ? [
    ["Bytes in GB while it runs", `at most ${sizeText(own.gb_peak_bytes)} of ${sizeText(order.capacity_bytes, true)}`],
    ["Bytes in GB at its end", sizeText(own.gb_end_bytes)],
  ] : [];
  const which = order.is_breadth_first ? "oldest" : "newest";
  const why = now.skipped.length
    ? `The ${which} entry whose producers are all done. ${countText(now.skipped.length, "entry").replace("entrys", "entries")} above it ${now.skipped.length > 1 ? "wait" : "waits"} for a producer.`
    : `The ${which} entry, and its producers are all done.`;
  const facts = [
    ["Runs", name(now.run), "strong"],
    ["Why", why, "plain"],
    ["Enters the list", namesText(now.entered.map(name)) || "nothing", now.entered.length ? "" : "plain"],
    ...gb,
    ["Done before", `${now.done.size} of ${order.steps.length}`],
  ];
  const said = `Step ${step + 1}: ${name(now.run)} runs. ${why} ${gb.map(([label, text]) => `${label}: ${text}.`).join(" ")}`;
  return { facts, said };
}

function namesText(names) {
  return names.length > 8 ? `${names.slice(0, 8).join(", ")} and ${names.length - 8} more` : names.join(", ");
}
