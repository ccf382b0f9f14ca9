// From layerwise to overlap, and A and B by the size of LB, once there are others: of any model,
// in seconds.

import { phase, WIDTH } from "./kit.js";

const ASK = 0.55;
const LEFT = 8;

function draw(sheet, data, { knob, time, isRevealed }) {
  const row = Math.max(24, sheet.type * 1.2);
  const top = sheet.type * 1.5;
  stairs(sheet, data, { row, top, time });
  const below = top + data.stairs.length * row + sheet.type * 1.4;
  if (data.points.length > 1) curves(sheet, data, { top: below, knob, time, isRevealed });
}

/** A bar per step with its time, and its DRAM bytes beside; the lower bound dashed. */
function stairs(sheet, data, { row, top, time }) {
  const most = WIDTH * 0.3;
  const names = data.stairs.map((stair) => sheet.fitting([`${stair.words}, ${stair.name}`, stair.words, stair.name], most));
  const labelled = Math.max(...names.map((name) => sheet.roomFor(name))) + 16;
  const numbered = Math.max(...data.stairs.map(({ text }) => sheet.roomFor(text))) + 12;
  const half = WIDTH * 0.7;
  const longest = Math.max(...data.stairs.map(({ seconds }) => seconds ?? 0), data.bound);
  const scale = (half - labelled - numbered) / longest;
  const right = half + 10;
  const room = Math.max(...data.stairs.map((stair) => sheet.roomFor(stair.dram_text))) + 10;
  const dramScale = (WIDTH - LEFT - right - room) / Math.max(1, ...data.stairs.map(({ dram }) => dram));
  sheet.text("stairs.time", labelled, top - sheet.type * 0.45, "time", { fill: "var(--ink3)" });
  sheet.text("stairs.dram", right, top - sheet.type * 0.45, "DRAM", { fill: "var(--ink3)" });
  data.stairs.forEach((stair, at) => {
    const from = (at / data.stairs.length) * (ASK - 0.1);
    const share = phase(time, from, from + 0.09);
    if (share <= 0) return;
    const y = top + at * row;
    const middle = y + row / 2 + sheet.type * 0.32;
    const length = (stair.seconds ?? 0) * scale;
    sheet.text(`stair${at}.name`, LEFT, middle, names[at]);
    sheet.rect(`stair${at}`, labelled, y + 2, length * share, row - 4, { fill: "var(--one)", rx: 2 });
    sheet.rect(`stair${at}.dram`, right, y + 2, stair.dram * dramScale * share, row - 4, { fill: sheet.colours.dram, rx: 2 });
    if (share < 1) return;
    if (stair.seconds !== null) sheet.number(`stair_${at}`, stair.seconds);
    sheet.text(`stair${at}.time`, labelled + length + 6, middle, stair.text, { fill: "var(--ink)" });
    if (stair.seconds !== null) sheet.text(`stair${at}.bytes`, right + stair.dram * dramScale + 6, middle, stair.dram_text);
  });
  bound(sheet, data, { x: labelled + data.bound * scale, top, bottom: top + data.stairs.length * row, half, after: labelled + sheet.roomFor("time") + 12 });
}

function bound(sheet, data, { x, top, bottom, half, after }) {
  sheet.number("bound", data.bound);
  sheet.line("bound", x, top - 4, x, bottom, { stroke: "var(--card)", "stroke-width": 3, layer: 2 });
  sheet.line("bound.dashes", x, top - 4, x, bottom, { stroke: "var(--ink)", "stroke-width": 1.5, "stroke-dasharray": "5 4", layer: 2 });
  const from = Math.max(x, after);
  sheet.text("bound.text", from, top - sheet.type * 0.45, sheet.fitting([`lower bound ${data.bound_text}`, "lower bound"], half - from), { fill: "var(--ink2)" });
}

/** Time of A and B over the size of LB; a size that gives the answer away comes with it. */
function curves(sheet, data, { top, knob, time, isRevealed }) {
  const bottom = sheet.height - sheet.type * 2.5;
  const shown = data.points.filter(({ key }) => isRevealed || !data.hidden.includes(key));
  const times = data.points.flatMap(({ a, b }) => [a, b]).filter((each) => each !== null);
  const most = Math.max(...times);
  const left = LEFT + sheet.roomFor("time") + 10;
  const names = Object.values(data.names);
  const right = WIDTH - LEFT - Math.min(WIDTH * 0.22, Math.max(...names.map((name) => sheet.roomFor(name)))) - 10;
  const [first, last] = [data.points[0].factor, data.points.at(-1).factor].map(Math.log2);
  const span = last - first || 1;
  const x = (factor) => left + ((Math.log2(factor) - first) / span) * (right - left);
  const y = (seconds) => bottom - (seconds / most) * (bottom - top - sheet.type * 1.6);
  sheet.line("axis.x", left, bottom, right, bottom);
  sheet.text("axis.y.name", left - 6, bottom - sheet.type * 1.1, "time", { anchor: "end", fill: "var(--ink3)", size: 0.9 });
  sheet.text("axis.y.zero", left - 6, bottom + sheet.type * 0.32, "0", { anchor: "end", fill: "var(--ink3)", size: 0.9 });
  for (const { factor, label } of data.points) {
    sheet.line(`tick${factor}`, x(factor), bottom, x(factor), bottom + 5);
    sheet.text(`tick${factor}.text`, x(factor), bottom + sheet.type * 1.15, label, { anchor: "middle", fill: "var(--ink3)", size: 0.9 });
  }
  sheet.text("axis.x.name", (left + right) / 2, bottom + sheet.type * 2.2, "LB per core, data and weights", { anchor: "middle", fill: "var(--ink2)" });
  const drawn = phase(time, ASK - 0.14, ASK - 0.02);
  if (drawn <= 0) return;
  drawLines(sheet, { data, shown, x, y, right, drawn });
  const point = shown.find(({ key }) => key === knob) ?? shown.at(-1);
  if (drawn >= 1) mark(sheet, point, { x, y, right });
}

function drawLines(sheet, { data, shown, x, y, right, drawn }) {
  const places = [];
  for (const [name, stroke, weight] of [["a", "var(--edge)", 400], ["b", "var(--ink)", 650]]) {
    const spots = shown.filter((point) => point[name] !== null).map((point) => [x(point.factor), y(point[name])]);
    if (!spots.length) continue;
    sheet.path(name, `M${spots.map(([across, down]) => `${across.toFixed(1)} ${down.toFixed(1)}`).join("L")}`, { stroke, "stroke-width": 2.5, layer: 2, "stroke-linejoin": "round", opacity: drawn });
    spots.forEach(([across, down], at) => dot(sheet, `${name}.dot${at}`, across, down, stroke, 3.5));
    places.push({ name, weight, y: spots.at(-1)[1] });
  }
  const least = sheet.type * 1.1;
  if (places.length > 1 && Math.abs(places[0].y - places[1].y) < least) {
    const middle = (places[0].y + places[1].y) / 2;
    const [upper, lower] = places[0].y <= places[1].y ? places : places.toReversed();
    upper.y = middle - least / 2;
    lower.y = middle + least / 2;
  }
  for (const { name, weight, y: at } of places) {
    const words = sheet.fitting([data.names[name], data.names[name].slice(0, 1)], WIDTH - right - 12);
    sheet.text(`${name}.name`, right + 10, at + sheet.type * 0.32, words, { weight, fill: name === "b" ? "var(--ink)" : "var(--ink2)" });
  }
}

function dot(sheet, id, x, y, fill, radius) {
  sheet.rect(id, x - radius, y - radius, 2 * radius, 2 * radius, { rx: radius, fill, stroke: "var(--card)", "stroke-width": 1, layer: 2 });
}

/** The control's size of LB with both times. */
function mark(sheet, { factor, a, b, a_text: aText, b_text: bText }, { x, y, right }) {
  const at = x(factor);
  if (a !== null) sheet.number("mark_a", a);
  if (b !== null) sheet.number("mark_b", b);
  const highest = Math.min(...[a, b].filter((each) => each !== null).map(y));
  if (!Number.isFinite(highest)) return;
  sheet.line("mark", at, highest, at, y(0), { stroke: "var(--ink3)", "stroke-dasharray": "3 4", layer: 1 });
  if (a !== null) dot(sheet, "mark.a", at, y(a), "var(--edge)", 5.5);
  if (b !== null) dot(sheet, "mark.b", at, y(b), "var(--ink)", 5.5);
  const words = `A ${aText}, B ${bText}`;
  const half = sheet.roomFor(words) / 2;
  const middle = Math.min(right - half, Math.max(LEFT + half, at));
  sheet.text("mark.text", middle, highest - sheet.type * 0.7, words, { anchor: "middle", weight: 700, fill: "var(--ink)", stroke: "var(--card)", "stroke-width": 6, "paint-order": "stroke" });
}

export const yourStep8 = { ask: ASK, draw };
