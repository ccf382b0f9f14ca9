// Load the next layer while this one computes: the last kernel with its fence and without, on one axis.

import { grouped, phase, WIDTH } from "./kit.js";

const ASK = 0.5;
const LEFT = 8;
const SEEN_PAUSE = 60; // cycles between two intervals
const LARGE_TYPE = 26; // units
const LANES = ["fenced", "free"];
const ROWS = [["DRAM", ["load", "store"]], ["compute", ["compute"]]];

/** First and last cycle of each layer on an engine: [{ layer, from, to }] in order of time. */
export function spansOf(intervals, engine) {
  const spans = new Map();
  for (const { engine: own, layer, from, to } of intervals) {
    if (own !== engine) continue;
    const span = spans.get(layer) ?? { layer, from, to };
    spans.set(layer, { layer, from: Math.min(span.from, from), to: Math.max(span.to, to) });
  }
  return [...spans.values()].sort((one, other) => one.from - other.from);
}

/** The stretches of intervals that a pause which is seen divides: [{ from, to }] in order of time. */
export function stretchesOf(intervals) {
  const stretches = [];
  for (const { from, to } of [...intervals].sort((one, other) => one.from - other.from)) {
    const last = stretches.at(-1);
    if (last && from - last.to <= SEEN_PAUSE) last.to = Math.max(last.to, to);
    else stretches.push({ from, to });
  }
  return stretches;
}

function draw(sheet, data, { knob, time, isRevealed }) {
  const gains = Math.max(84, sheet.type * 4.2);
  const axis = sheet.type * 1.5;
  const lane = (sheet.height - gains - axis) / LANES.length;
  const longest = data.lanes.fenced.cycles;
  LANES.forEach((name, at) => {
    const isHidden = name === "free" && !isRevealed;
    const share = name === "free" ? phase(time, ASK, 0.88) : Math.min(1, time / (ASK - 0.03));
    drawLane(sheet, { run: data.lanes[name], name, titles: titlesOf(name, data.rate, knob), isHidden, cycles: share * longest, top: at * lane, lane, longest });
  });
  sheet.ticks(longest, sheet.type > LARGE_TYPE ? 4000 : 2000, { left: labelled(sheet), right: WIDTH - LEFT, y: 2 * lane });
  drawGains(sheet, data, { top: 2 * lane + axis, height: gains, knob });
}

/** The lanes are of one bandwidth, whatever is chosen: they say so where it is another one. */
function titlesOf(name, rate, knob) {
  const drawn = `drawn at ${rate} bytes per cycle`;
  const own = name === "free" ? "Without the fence" : "With a fence";
  if (knob !== String(rate)) return [`${own}, ${drawn}`, own];
  if (name === "free") return [own];
  return ["With a fence: a layer waits until the one before it has ended", "With a fence: a layer waits", "With a fence"];
}

function labelled(sheet) {
  return LEFT + sheet.roomFor("compute") + 12;
}

function drawLane(sheet, { run, name, titles, isHidden, cycles, top, lane, longest }) {
  const { cycles: total, intervals } = run;
  const left = labelled(sheet);
  const scale = (WIDTH - LEFT - left) / longest;
  const head = sheet.type * 1.6;
  const high = Math.min(78, (lane - head - sheet.type * 1.6 - 8) / 2);
  const below = top + head + 2 * high + 8;
  const title = sheet.fitting(titles, WIDTH - 2 * LEFT - sheet.roomFor(` ${grouped(total)} cycles`) * 1.1);
  sheet.text(`${name}.title`, LEFT, top + sheet.type * 1.1, title, { weight: 650, fill: "var(--ink)" });
  if (isHidden) {
    sheet.rect(`${name}.ask`, left, top + head, WIDTH - LEFT - left, 2 * high + 8, { rx: 4, fill: "var(--track)", stroke: "var(--edge)", "stroke-dasharray": "5 5" });
    sheet.text(`${name}.ask.text`, (left + WIDTH - LEFT) / 2, top + head + high + 4 + sheet.type * 0.6, "?", { anchor: "middle", weight: 700, size: 1.8, fill: "var(--ink)" });
    return;
  }
  if (cycles >= total) {
    sheet.number(`${name}_cycles`, total);
    sheet.text(`${name}.cycles`, WIDTH - LEFT, top + sheet.type * 1.1, `${grouped(total)} cycles`, { anchor: "end", weight: 650, fill: "var(--ink)" });
    ends(sheet, { run, name, left, scale, y: below + sheet.type * 1.1 });
  }
  ROWS.forEach(([label, engines], row) => {
    const y = top + head + row * (high + 8);
    sheet.text(`${name}.${label}`, left - 10, y + high / 2 + sheet.type * 0.34, label, { anchor: "end" });
    sheet.rect(`${name}.${label}.ground`, left, y, WIDTH - LEFT - left, high, { fill: "var(--track)", rx: 3 });
    intervals.forEach(({ engine, from, to }, at) => {
      if (!engines.includes(engine) || from >= cycles) return;
      sheet.rect(`${name}.i${at}`, left + from * scale, y, (Math.min(to, cycles) - from) * scale, high, { layer: 1, fill: `var(--${engine})` });
    });
    layers(sheet, { intervals, name, engine: engines[0], cycles, left, scale, y: y + high / 2 });
  });
  if (name === "fenced") fences(sheet, { intervals, cycles, left, scale, top: top + head - 4, bottom: below + 4 });
}

/** The layer's name on what it loads or computes. */
function layers(sheet, { intervals, name, engine, cycles, left, scale, y }) {
  for (const { layer } of spansOf(intervals, engine)) {
    const names = [layer, layer.replace("conv", "")];
    stretchesOf(intervals.filter((each) => each.engine === engine && each.layer === layer)).forEach(({ from, to }, at) => {
      if (to > cycles) return;
      const text = sheet.fitting(engine === "load" ? [`load ${layer}`, ...names] : names, (to - from) * scale - 10);
      if (text) labelOn(sheet, { id: `${name}.${engine}.${layer}.${at}`, x: left + ((from + to) / 2) * scale, y, text, ink: `var(--on-${engine})`, ground: `var(--${engine})` });
    });
  }
}

/** Below a lane: what the cycles before the first load and after the last compute are for. */
function ends(sheet, { run, name, left, scale, y }) {
  const isLarge = sheet.type > LARGE_TYPE;
  const right = left + run.cycles * scale;
  const after = grouped(sheet.number(`${name}_after`, run.after));
  const stored = isLarge ? `stores: last ${after}` : `the result is stored: ${after} cycles after the last compute`;
  const x = right - sheet.roomFor(stored) - sheet.type;
  sheet.text(`${name}.after`, x + sheet.type, y, stored);
  sheet.rect(`${name}.after.key`, x, y - sheet.type * 0.68, sheet.type * 0.68, sheet.type * 0.68, { fill: "var(--store)" });
  if (isLarge || run.before === 0) return;
  sheet.text(`${name}.before`, left, y, `first ${grouped(sheet.number(`${name}_before`, run.before))}: inputs arrive`);
}

/** A label on bars with gaps between them: on a ground of their colour. */
function labelOn(sheet, { id, x, y, text, ink, ground }) {
  const width = sheet.roomFor(text) + 8;
  sheet.rect(`${id}.ground`, x - width / 2, y - sheet.type * 0.62, width, sheet.type * 1.24, { layer: 2, fill: ground, rx: 3 });
  sheet.text(id, x, y + sheet.type * 0.34, text, { anchor: "middle", weight: 650, fill: ink });
}

/** Where a layer has to wait until the one before it has ended. */
function fences(sheet, { intervals, cycles, left, scale, top, bottom }) {
  const spans = spansOf(intervals, "load");
  for (const { layer, from } of spans.slice(1)) {
    if (from > cycles) continue;
    if (layer === spans[1].layer) sheet.text("fence.name", left + from * scale, bottom + sheet.type * 0.92, "fence", { anchor: "middle", weight: 650, fill: "var(--ink)" });
    sheet.line(`fence.${layer}`, left + from * scale, top, left + from * scale, bottom, { layer: 2, stroke: "var(--ink)", "stroke-width": 2, "stroke-dasharray": "4 4" });
  }
}

/** Gain of the whole run per bandwidth of DRAM. */
function drawGains(sheet, data, { top, height, knob }) {
  const { gains } = data;
  const words = ["gain of the whole run, by DRAM bytes per cycle", "gain by DRAM bytes per cycle"];
  sheet.text("gains.name", LEFT, top + sheet.type * 1.05, sheet.fitting(words, WIDTH - 16), { fill: "var(--ink2)" });
  const width = (WIDTH - 2 * LEFT) / gains.length;
  const bottom = top + height - 4;
  gains.forEach((each, at) => {
    const isChosen = each.key === knob;
    const x = LEFT + at * width;
    const fill = isChosen ? "var(--ink)" : "var(--ink2)";
    const y = top + sheet.type * 1.55;
    sheet.rect(`gain${at}`, x + 2, y, width - 4, bottom - y, { rx: 5, fill: isChosen ? "var(--track)" : "none", stroke: isChosen ? "var(--ink)" : "var(--line)", "stroke-width": isChosen ? 2 : 1 });
    sheet.text(`gain${at}.rate`, x + width / 2, y + sheet.type * 1.05, each.key, { anchor: "middle", fill });
    const gain = sheet.number(`gain_${each.key}`, each.fenced / each.free);
    sheet.text(`gain${at}.text`, x + width / 2, y + sheet.type * 2.2, `${gain.toFixed(2)}×`, { anchor: "middle", weight: isChosen ? 700 : 400, fill });
  });
}

export const step7 = { ask: ASK, draw };
