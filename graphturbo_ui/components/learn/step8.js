// Coarse wins while its pieces fit: from run to run, and then A and B over the size of LB.

import { between, grouped, kibText, phase, WIDTH } from "./kit.js";

const ASK = 0.55;
const LEFT = 8;
const LARGE_TYPE = 26; // units
const STAIRS_UNTIL = 0.38; // then the bars make room
const CURVES_FROM = 0.45;
const HIGHEST_ROW = 90;

/** The bars have the whole height, until the curves come. */
function draw(sheet, data, { knob, time, isRevealed }) {
  const top = sheet.type * 1.5;
  const high = Math.min(HIGHEST_ROW, (sheet.height - top - 8) / data.stairs.length);
  const row = between(high, Math.max(24, sheet.type * 1.2), phase(time, STAIRS_UNTIL, CURVES_FROM));
  stairs(sheet, data, { row, top, time });
  if (time < CURVES_FROM) return;
  const below = top + data.stairs.length * row + sheet.type * 0.8;
  curves(sheet, data, { top: below, knob, time, isRevealed });
}

/** A bar per run with its cycles, and its DRAM bytes beside; the lower bound dashed. */
function stairs(sheet, data, { row, top, time }) {
  const isLarge = sheet.type > LARGE_TYPE;
  const nameOf = ({ names }) => names[Number(isLarge)];
  const labelled = LEFT + Math.max(...data.stairs.map((stair) => sheet.roomFor(nameOf(stair)))) + 14;
  const numbered = sheet.roomFor("95,061") + 10;
  const half = WIDTH * (isLarge ? 0.68 : 0.72);
  const scale = (half - labelled - numbered) / Math.max(...data.stairs.map(({ cycles }) => cycles));
  const right = half + 14;
  const kib = sheet.roomFor("348 KiB") + 10;
  const head = isLarge ? "cycles" : `cycles, LB ${data.own_lb}`;
  const dramScale = (WIDTH - LEFT - right - kib) / Math.max(...data.stairs.map(({ dram }) => dram));
  sheet.text("stairs.cycles", labelled, top - sheet.type * 0.45, head, { fill: "var(--ink3)" });
  sheet.text("stairs.dram", right, top - sheet.type * 0.45, "DRAM", { fill: "var(--ink3)" });
  data.stairs.forEach((stair, at) => {
    const { key, cycles, dram, run } = stair;
    const from = (at / data.stairs.length) * (STAIRS_UNTIL - 0.06);
    const share = phase(time, from, from + 0.06);
    if (share <= 0) return;
    const y = top + at * row;
    const thick = Math.min(row - 4, 40);
    const fill = run === "B" ? "var(--ink)" : run === "A" ? "var(--edge)" : "var(--one)";
    sheet.text(`stair${at}.name`, LEFT, y + row / 2 + sheet.type * 0.32, nameOf(stair), { weight: run ? 650 : 400, fill: run ? "var(--ink)" : "var(--ink2)" });
    sheet.rect(`stair${at}`, labelled, y + (row - thick) / 2, cycles * scale * share, thick, { fill, rx: 2 });
    sheet.rect(`stair${at}.dram`, right, y + (row - thick) / 2, dram * dramScale * share, thick, { fill: sheet.colours.dram, rx: 2 });
    if (share < 1) return;
    sheet.text(`stair${at}.cycles`, labelled + cycles * scale + 6, y + row / 2 + sheet.type * 0.32, grouped(sheet.number(`${key}_cycles`, cycles)), { weight: run ? 650 : 400, fill: "var(--ink)" });
    sheet.text(`stair${at}.bytes`, right + dram * dramScale + 6, y + row / 2 + sheet.type * 0.32, kibText(sheet.number(`${key}_dram`, dram)), { fill: "var(--ink2)" });
  });
  const bound = labelled + sheet.number("bound_cycles", data.bound) * scale;
  sheet.line("bound", bound, top - 4, bound, top + data.stairs.length * row, { stroke: "var(--card)", "stroke-width": 3, layer: 2 });
  sheet.line("bound.dashes", bound, top - 4, bound, top + data.stairs.length * row, { stroke: "var(--ink)", "stroke-width": 1.5, "stroke-dasharray": "5 4", layer: 2 });
  const words = [`lower bound ${grouped(data.bound)}`, "lower bound"];
  const after = labelled + sheet.roomFor(head) + 12;
  sheet.text("bound.text", Math.max(bound, after), top - sheet.type * 0.45, sheet.fitting(words, half - Math.max(bound, after)), { fill: "var(--ink2)" });
}

/** Cycles of A and B over LB's data bytes per core; with the answer, on the chip that is asked for. */
function curves(sheet, data, { top, knob, time, isRevealed }) {
  const bottom = sheet.height - sheet.type * 2.5;
  const left = sheet.roomFor("200,000") + 10;
  const right = WIDTH - LEFT - sheet.roomFor("B coarse") - 6;
  const { points } = data;
  const most = Math.max(...points.flatMap((point) => [point.a, point.b, point.slow_a, point.slow_b]));
  const [first, last] = [points[0].kib, points.at(-1).kib].map(Math.log2);
  const x = (kib) => left + ((Math.log2(kib) - first) / (last - first)) * (right - left);
  const y = (cycles) => bottom - (cycles / most) * (bottom - top);
  axes(sheet, { x, y, left, right, bottom, points, most });
  const setting = data.settings.find(({ key }) => key === knob);
  const slowed = isRevealed ? phase(time, 0.62, 0.88) : 0;
  const drawn = phase(time, CURVES_FROM, ASK - 0.02);
  const lines = [["a", "A fine", "var(--edge)", 400], ["b", "B coarse", "var(--ink)", 650]];
  for (const [name, title, stroke, weight] of lines) {
    const spots = points.map((point) => [x(point.kib), y(between(point[name], point[`slow_${name}`], slowed))]);
    line(sheet, name, spots, stroke, drawn);
    if (drawn > 0) sheet.text(`${name}.name`, right + 8, spots.at(-1)[1] + sheet.type * 0.32, title, { fill: name === "b" ? "var(--ink)" : "var(--ink2)", weight });
  }
  if (drawn < 1) return;
  const rate = sheet.number("gb_rate", slowed >= 1 ? data.slow_rate : data.rate);
  const words = slowed >= 1
    ? [`GB moves ${rate} bytes per cycle, and not ${data.rate} as before`, `GB ${rate} bytes per cycle, not ${data.rate}`, `GB ${rate} bytes per cycle`]
    : [`GB moves ${rate} bytes per cycle`, `GB ${rate} bytes per cycle`];
  if (slowed > 0 && slowed < 1) return;
  sheet.text("rate", WIDTH - LEFT, top + sheet.type * 0.9, sheet.fitting(words, (right - left) * 0.75), { anchor: "end", fill: "var(--ink2)" });
  const { kib, a, b, slow_a: slowA, slow_b: slowB } = setting;
  mark(sheet, slowed ? { kib, a: slowA, b: slowB } : { kib, a, b }, { x, y, top });
}

function axes(sheet, { x, y, left, right, bottom, points, most }) {
  sheet.line("axis.x", left, bottom, right, bottom);
  for (let cycles = 0; cycles <= most; cycles += 100_000) {
    sheet.line(`grid${cycles}`, left, y(cycles), right, y(cycles), { stroke: "var(--line)", layer: 0 });
    sheet.text(`grid${cycles}.text`, left - 6, y(cycles) + sheet.type * 0.32, grouped(cycles), { anchor: "end", fill: "var(--ink3)", size: 0.9 });
  }
  sheet.text("axis.y.name", left - 6, bottom - sheet.type * 1.1, "cycles", { anchor: "end", fill: "var(--ink3)", size: 0.9 });
  for (const kib of [1, 2, 4, 8].filter((each) => each >= points[0].kib && each <= points.at(-1).kib)) {
    sheet.line(`tick${kib}`, x(kib), bottom, x(kib), bottom + 5);
    sheet.text(`tick${kib}.text`, x(kib), bottom + sheet.type * 1.15, String(kib), { anchor: "middle", fill: "var(--ink3)", size: 0.9 });
  }
  sheet.text("axis.x.name", (left + right) / 2, bottom + sheet.type * 2.2, sheet.fitting(["LB data per core, KiB; a tick is twice the one before", "LB data per core, KiB", "LB per core, KiB"], right - left), { anchor: "middle", fill: "var(--ink2)" });
}

/** A line from the right, where LB is large, to the left. */
function line(sheet, id, spots, stroke, share) {
  if (share <= 0) return;
  const until = between(spots.at(-1)[0], spots[0][0], share);
  const shown = spots.filter(([x]) => x >= until - 1e-9);
  sheet.path(id, `M${shown.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`, { stroke, "stroke-width": 2.5, layer: 2, "stroke-linejoin": "round" });
}

function dot(sheet, id, x, y, fill) {
  sheet.rect(id, x - 5.5, y - 5.5, 11, 11, { rx: 5.5, fill, stroke: "var(--card)", "stroke-width": 1.5, layer: 2 });
}

/** The control's size of LB: both values; and who wins, at the right above the curves. */
function mark(sheet, { kib, a, b }, { x, y, top }) {
  sheet.number("mark_a_cycles", a);
  sheet.number("mark_b_cycles", b);
  const verdict = `LB ${kib} KiB: ${b > a ? "B loses" : "B wins"}`;
  const texts = [`${verdict}, ${grouped(b)} against ${grouped(a)} cycles`, `${verdict}, ${grouped(b)} to ${grouped(a)}`, verdict];
  const at = x(kib);
  sheet.text("mark.text", WIDTH - LEFT, top + sheet.type * 2.15, sheet.fitting(texts, WIDTH * 0.68), { anchor: "end", weight: 700, fill: "var(--ink)" });
  sheet.line("mark", at, y(Math.max(a, b)), at, y(0), { stroke: "var(--ink3)", "stroke-dasharray": "3 4", layer: 1 });
  dot(sheet, "mark.a", at, y(a), "var(--edge)");
  dot(sheet, "mark.b", at, y(b), "var(--ink)");
}

export const step8 = { ask: ASK, draw };
