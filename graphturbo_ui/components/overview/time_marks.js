// What stands between and above the bars of time: the gap behind the shorter run, the strip of kernels.

import { hueFill, hueInk } from "./draw.js";
import { kernelBars, kernelCount, kernelNumber } from "./runs.js";
import { countText, timeText } from "./words.js";

const LEAST_GAP = 26; // pixels below which a gap has no arrow
const STACK = 48; // height of two lines of words above an arrow
const SIDE = 60; // pixels that an arrow takes beside words on its line
const SMALLEST_LATE = 0.001; // share of the longer run below which nobody is sooner

/**
 * Where the shorter run has ended, and what stands there: {run, from, to, top, foot, form, lines}.
 * `form`: "line" (words within the arrow), "stack" (above it), "none"; `outside`: words for the
 * run's head where the gap has none. Null for one run, or two that end together.
 *
 * @param {Scene} scene
 */
export function gapOf(scene, blocks, pen, placeOf) {
  const [a, b] = scene.runs;
  if (!b || Math.abs(a.total - b.total) < SMALLEST_LATE * Math.max(a.total, b.total)) return null;
  const [short, long] = a.total < b.total ? [a, b] : [b, a];
  const [from, to] = [placeOf(short.total), placeOf(long.total)];
  const { top, foot } = blocks[short.name];
  const word = short === b ? "sooner" : "later";
  const apart = long.total - short.total;
  const late = timeText(apart, Math.min(apart, short.total));
  const room = to - from;
  const gap = { run: short, from, to, top, foot, text: `${late} ${word}`, lines: [late, word], form: "none", size: 0, outside: "" };
  if (room > pen.width(gap.text, 18, 650) + 18 * pen.k + SIDE) return { ...gap, form: "line" };
  const size = [14, 12.5, 11].find((own) => gap.lines.every((part) => pen.width(part, own, 650) < room - 4));
  if (room > LEAST_GAP * pen.k && size && foot - top >= STACK * pen.k) return { ...gap, form: "stack", size };
  const other = word === "sooner" ? `${short.name} ends ${late} sooner` : `${long.name} ends ${late} later`;
  return { ...gap, outside: other };
}

/** The end of the shorter run, that of the longer one, an arrow between, words. */
export function drawGap(pen, scene, gap) {
  if (!gap) return;
  const { k } = pen;
  const { run, from, to, top, foot, form, text, lines, size } = gap;
  pen.line(from, top - 2, from, foot + 2, "var(--ink)", { "stroke-width": 1.4 });
  const room = to - from;
  if (room < LEAST_GAP * k) return;
  pen.line(to, top, to, foot, "var(--edge)", { "stroke-dasharray": "3 3" });
  const [middle, centre] = [(top + foot) / 2, (from + to) / 2];
  const ink = { anchor: "middle", weight: 650, fill: "var(--ink)" };
  if (form === "line") {
    const half = pen.width(text, 18, 650) / 2 + 9 * k;
    drawArrow(pen, from, to, middle, [centre - half, centre + half]);
    pen.text(centre, middle + 6 * k, text, { ...ink, size: 18 });
    const end = `${run.name} ends at ${timeText(run.total)}`;
    const hasLine = foot - top > 52 * k;
    if (hasLine && pen.width(end, 13) < room - 20) pen.text(from + 9 * k, top + 12 * k, end, { size: 13 });
    return;
  }
  if (form === "stack") lines.forEach((part, n) => pen.text(centre, middle + (17 * n - 11) * k, part, { ...ink, size }));
  drawArrow(pen, from, to, form === "stack" ? middle + 16 * k : middle, [centre, centre]);
}

/** A line with two heads, without the stretch between `hole`. */
function drawArrow(pen, from, to, y, hole) {
  const head = Math.min(8, (to - from) / 5);
  const d = `M${from + 8} ${y}H${hole[0]}M${hole[1]} ${y}H${to - 2}M${from + 7 + head} ${y - head * 0.6}L${from + 7} ${y}L${from + 7 + head} ${y + head * 0.6}M${to - 1 - head} ${y - head * 0.6}L${to - 1} ${y}L${to - 1 - head} ${y + head * 0.6}`;
  pen.path(d, "var(--ink)", { "stroke-width": 1.5, class: "arrow" });
}

/**
 * The kernels in the lens, in the order in which they run; `place`: x0, x1, y, height of the strip,
 * left edge of its words, and where a time is.
 *
 * @param {Scene} scene
 * @param {Run} run
 */
export function drawStrip(pen, scene, run, lens, place) {
  const { x0, x1, y, height, left } = place;
  let [shown, before] = [0, null];
  const bars = kernelBars(run);
  for (const [number, round] of run.rounds.entries()) {
    if (!round.isDrawn) continue;
    for (const bar of bars) {
      const [t0, t1] = [bar.from, bar.to].map((cycle) => round.at + cycle * run.seconds_per_cycle);
      if (t1 <= lens.t0 || t0 >= lens.t1) continue;
      shown += bar.last - bar.first + 1;
      const [from, to] = [Math.max(x0, place.placeOf(t0)), Math.min(x1, place.placeOf(t1))];
      before = drawBar(pen, scene, run, { before, from, to, y, height, group: bar.group, text: barText(run, number, bar) });
    }
  }
  const all = kernelCount(run);
  const said = shown < all ? `${shown.toLocaleString("en-US")} of ${countText(all, "kernel")}` : countText(all, "kernel");
  pen.text(left, y + height - 4 * pen.k, pen.fit([said, countText(shown, "kernel"), shown.toLocaleString("en-US")], x0 - left - 6, 13), { size: 13 });
}

/** `4`; `2–5` of kernels that run at once. */
function barText(run, round, { first, last }) {
  const [one, other] = [first, last].map((kernel) => kernelNumber(run, round, kernel));
  return one === other ? String(one) : `${one}–${other}`;
}

/**
 * One bar with its number where there is room, joined with the one before where both are thin.
 *
 * @param {Scene} scene
 * @param {Run} run
 */
function drawBar(pen, scene, run, { before, from, to, y, height, group, text }) {
  const hues = scene.hues.titles.length;
  const isB = run === scene.runs.at(-1);
  const hue = isB ? scene.hues.of_group[group] : scene.hues.of_layer[run.groups[group].layers[0]];
  const isThin = to - from < 3;
  if (isThin && before && before.hue === hue && from - before.to < 1.5) {
    before.node.setAttribute("width", (to - before.from).toFixed(2));
    return { ...before, to };
  }
  const node = pen.rect(from, y, Math.max(0.5, to - from - (isThin ? 0 : 1)), height, hueFill(hue, hues), { rx: isThin ? 0 : 2, class: "kernel" });
  const least = scene.is_presenting ? 18 : 11;
  const size = [12, 11].find((own) => own * pen.k >= least && pen.width(text, own, 600) + 2 < to - from);
  if (size) pen.text((from + to) / 2, y + height - 4 * pen.k, text, { anchor: "middle", size, weight: 600, fill: hueInk(hue, hues), class: "kernel-number" });
  return { hue, from, to, node };
}
