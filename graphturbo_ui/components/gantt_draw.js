// What is drawn over the Gantt chart's pixels: titles, labels, axes, numbers and marks; the legend.

import { bytesText, clamp, fitted, hueEntries, inkOn, secondsText } from "./canvas_kit.js";
import {
  accumulate, firstAfter, paintFlight, paintRow, paintSteps, paintUnder, scaleOf, word,
} from "./gantt_pixels.js";
import { DIM, FLIGHT, SLOTS, STRIP, WAITS } from "./gantt_rows.js";
import { shareText } from "./gantt_span.js";
import { drawnRounds, dressEnd, dressRounds, paintRounds, wholeText } from "./rounds.js";
import { drawTimeAxis, GUTTER } from "./time_axis.js";

/** All bars and strips of all panes as one image, made anew where something of it changed. */
export function rasterOf(gantt, ratio) {
  const [w, h] = [Math.floor(gantt.plot * ratio), Math.round(gantt.height * ratio)];
  const made = JSON.stringify([w, h, ratio, gantt.windows, gantt.version, gantt.theme.background]);
  if (gantt.layer?.made === made) return gantt.layer;
  gantt.layer ||= document.createElement("canvas");
  Object.assign(gantt.layer, { width: w, height: h, made });
  const image = new ImageData(w, h);
  const target = { words: new Uint32Array(image.data.buffer), width: w, height: h };
  for (const pane of gantt.panes) {
    const lines = { top: Math.round(pane.flight * ratio), foot: Math.round(pane.foot * ratio) };
    paintRounds(target, lines, pane.run, gantt.windows[pane.number], (tile, t0, t1) => (
      paintPane(gantt, pane, tile, t0, (t1 - t0) / tile.width, ratio)
    ));
  }
  gantt.layer.getContext("2d").putImageData(image, 0, 0);
  return gantt.layer;
}

/** Rows and strips of a pane from `t0` of a round on, into a tile of so many cycles a pixel. */
function paintPane(gantt, pane, tile, t0, perPixel, ratio) {
  const { run } = pane;
  const inks = gantt.colours().map(word);
  const overlap = Array.from({ length: SLOTS }, () => word(PALETTE.overlap));
  const shares = new Float32Array(tile.width * SLOTS);
  const lines = (y, high) => [Math.round(y * ratio), Math.max(1, Math.round(high * ratio))];
  accumulate(shares, run.under, null, undefined, t0, perPixel, tile.width);
  paintUnder(tile, ...lines(pane.first, pane.end - pane.first), shares, word(PALETTE.under) & 0xffffff);
  paintFlight(tile, ...lines(pane.flight + 2, FLIGHT - 4), run, t0, perPixel, flightScale(run), {
    one: word(PALETTE.memory), more: word(PALETTE.overlap), most: ((90 << 24) | (word(PALETTE.overlap) & 0xffffff)) >>> 0,
  });
  pane.rows.forEach((row, index) => {
    const isOverlap = row.kind === "overlap";
    const part = isOverlap ? undefined : run.arrays.busy_share;
    accumulate(shares, row, isOverlap ? null : gantt.slots[pane.number], part, t0, perPixel, tile.width);
    const [top, height] = lines(pane.first + index * pane.height + 1, pane.height - 2);
    paintRow(tile.words, tile.width, top, height, shares, tile.width, row.share, isOverlap ? overlap : inks);
  });
  for (const strip of pane.strips) {
    paintSteps(tile.words, tile.width, ...lines(strip.top, STRIP), strip, t0, perPixel, word(PALETTE.memory));
  }
}

/** Layers at the upper edge of the chart of layers in flight: two at least. */
function flightScale(run) {
  return Math.max(2, run.mostInFlight);
}

/** Title, labels, row lines, numbers in wide bars, strips and the time axis of a pane. */
export function dress(pen, gantt, pane, width) {
  const { text, border, font } = gantt.theme;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.fillStyle = text;
  pen.font = `600 13px ${font}`;
  pen.fillText(fitted(pen, titleOf(gantt, pane), width - 16), 8, pane.top + 12);
  pen.font = `12px ${font}`;
  factsOf(gantt, pane).forEach((line, index) => pen.fillText(fitted(pen, line, width - 16), 8, pane.top + 29 + 17 * index));
  dressFlight(pen, gantt, pane, width);
  pen.font = `11px ${font}`;
  pane.rows.forEach((row, index) => {
    const y = pane.first + index * pane.height;
    pen.fillStyle = text;
    pen.fillText(fitted(pen, row.label, GUTTER - 12), 8, y + pane.height / 2 + 0.5);
    pen.fillStyle = border;
    pen.fillRect(0, y, width, row.core !== pane.rows[index - 1]?.core ? 1 : 0.3);
  });
  for (const strip of pane.strips) dressStrip(pen, gantt, strip, width);
  if (gantt.options.colourBy === "layer" || gantt.options.colourBy === "group") numberBars(pen, gantt, pane);
  dressRounds(pen, gantt, pane, pane.line);
  dressEnd(pen, gantt, pane, pane.flight + FLIGHT / 2);
  drawTimeAxis(pen, gantt, pane);
}

/** Label and scale of the chart of layers in flight, and a bracket at the longest stretch. */
function dressFlight(pen, gantt, { run, number, flight }, width) {
  const { text, border, font } = gantt.theme;
  pen.font = `11px ${font}`;
  pen.fillStyle = text;
  pen.fillText(fitted(pen, "layers in flight", GUTTER - 12), 8, flight + 10);
  pen.fillText(fitted(pen, `0 to ${flightScale(run)}`, GUTTER - 12), 8, flight + 24);
  pen.fillStyle = border;
  pen.fillRect(0, flight, width, 1);
  pen.fillRect(GUTTER, flight + FLIGHT - 2 - (FLIGHT - 4) / flightScale(run), gantt.plot, 0.5);
  const { t0, t1 } = gantt.windows[number];
  for (const at of drawnRounds(run, t0, t1, 1).found) {
    for (const { start_cycle, end_cycle } of run.stretches) {
      const [left, right] = [start_cycle, end_cycle].map((cycle) => (at + cycle - t0) / (t1 - t0) * gantt.plot);
      if (right < 0 || left > gantt.plot) continue;
      pen.fillStyle = text;
      const [x, end] = [clamp(left, 0, gantt.plot), clamp(right, 0, gantt.plot)];
      pen.fillRect(GUTTER + x, flight + 2, Math.max(2, end - x), 1.5);
      for (const side of [left, right]) {
        if (side >= 0 && side <= gantt.plot) pen.fillRect(GUTTER + side - 0.75, flight + 2, 1.5, 5);
      }
    }
  }
}

export function titleOf(gantt, { run }) {
  const name = gantt.runs.length > 1 ? `${run.name} · ${run.title}` : run.title;
  return `${name}: ${wholeText(run)}`;
}

/** What is marked in a pane, in numbers: two lines. */
export function factsOf(gantt, { run, number }) {
  const facts = [`layers in flight: two or more for ${shareText(run.in_flight_share)} of a round`,
    `memory works under another layer's compute for ${shareText(run.under_share)}`,
    `within one core: two or more layers for ${shareText(run.overlapShare)}`];
  const more = run.stretches.map(({ start_cycle, end_cycle, moved, memory_layers, compute_layers }) => {
    const length = secondsText((end_cycle - start_cycle) * run.seconds_per_cycle);
    return `longest stretch, ${length}: ${moved.replace(" ", ` of ${layersWord(memory_layers)} `)} while ${layersWord(compute_layers)} ${/[-,]/.test(compute_layers) ? "compute" : "computes"}`;
  });
  if (gantt.options.path === "critical") {
    const shares = run.path_shares.slice(0, 4).map(([name, share]) => `${name} ${shareText(share)}`);
    more.push(`critical path: ${shares.join(", ")}`);
  }
  if (gantt.options.path === "chain") {
    const length = secondsText(run.chain_cycles * run.seconds_per_cycle);
    more.push(`longest dependency chain ${length} (${shareText(run.chain_cycles / run.cycles)} of a round): `
      + `${run.arrays.chain.length.toLocaleString("en")} instructions, launches and barriers`);
  }
  if (gantt.flags) more.push(`selected: ${gantt.counts[number].toLocaleString("en")} instructions`);
  return [facts.join(" · "), more.join(" · ")];
}

/** `layer 46`, `layers 37–39`. */
function layersWord(text) {
  return `${/[-,]/.test(text) ? "layers" : "layer"} ${text}`;
}

/** Label, frame and capacity line of an occupancy strip. */
function dressStrip(pen, gantt, strip, width) {
  pen.fillStyle = gantt.theme.text;
  pen.font = `11px ${gantt.theme.font}`;
  pen.fillText(fitted(pen, strip.label, GUTTER - 12), 8, strip.top + 9);
  pen.fillText(fitted(pen, `of ${bytesText(strip.capacity)}`, GUTTER - 12), 8, strip.top + 23);
  pen.fillStyle = gantt.theme.border;
  pen.fillRect(0, strip.top - 2, width, 1);
  const y = strip.top + STRIP * (1 - strip.capacity / scaleOf(strip));
  pen.fillStyle = PALETTE.capacity;
  for (let x = GUTTER; x < GUTTER + gantt.plot; x += 9) pen.fillRect(x, y - 0.75, 6, 1.5);
}

/** Layer or group numbers in bars wide enough to hold them: hues repeat, numbers do not. */
function numberBars(pen, gantt, pane) {
  const { t0, t1 } = gantt.windows[pane.number];
  const perCycle = gantt.plot / (t1 - t0);
  const inks = gantt.colours().map(inkOn);
  pen.textAlign = "center";
  pen.font = `11px ${gantt.theme.font}`;
  for (const at of drawnRounds(pane.run, t0, t1, 4).found) {
    pane.rows.forEach((row, index) => {
      if (row.ranges.length !== 1 || row.kind === "overlap") return;
      const y = pane.first + (index + 0.5) * pane.height + 0.5;
      numberRow(pen, gantt, pane, row.ranges[0], { y, t0: t0 - at, t1: t1 - at, perCycle, inks });
    });
  }
  pen.textAlign = "left";
}

/** The same of one row, in the window of one round. */
function numberRow(pen, gantt, { run, number }, { from, to }, { y, t0, t1, perCycle, inks }) {
  const { start, hold, layer, group } = run.arrays;
  const [named, slots] = [gantt.options.colourBy === "layer" ? layer : group, gantt.slots[number]];
  for (let i = firstAfter(start, hold, from, to, t0), n = 0; i < to && n < 400; i++) {
    if (start[i] >= t1) break;
    if (hold[i] * perCycle < 10 || named[i] < 0) continue;
    const label = String(named[i] + 1);
    if (hold[i] * perCycle < 6 * label.length + 4) continue;
    pen.fillStyle = inks[slots[i]];
    pen.fillText(label, GUTTER + (Math.max(start[i], t0) + Math.min(start[i] + hold[i], t1) - 2 * t0) / 2 * perCycle, y);
    n += 1;
  }
}

/** Outline of the picked instruction, and a line to the one it waited for. */
export function markPick(pen, gantt) {
  if (!gantt.pick) return;
  const pane = gantt.panes[gantt.pick.pane];
  const at = gantt.place(pane, gantt.pick.index, gantt.pick.at);
  if (!at) return;
  pen.strokeStyle = gantt.theme.text;
  pen.lineWidth = 2;
  pen.strokeRect(at.x, at.y, Math.max(3, at.w), pane.height);
  const other = pane.run.arrays.wait_on[gantt.pick.index];
  const from = other < 0 ? null : gantt.place(pane, other, gantt.pick.at);
  if (!from) return;
  pen.setLineDash([4, 3]);
  pen.strokeRect(from.x, from.y, Math.max(3, from.w), pane.height);
  pen.beginPath();
  pen.moveTo(from.x + from.w, from.y + pane.height / 2);
  pen.lineTo(at.x, at.y + pane.height / 2);
  pen.stroke();
  pen.setLineDash([]);
}

/** The marked span over all panes, each at its own window: its ground behind the bars, or its ends. */
export function markSpan(pen, gantt, isGround) {
  if (!gantt.span) return;
  pen.fillStyle = gantt.theme.text;
  for (const pane of gantt.panes) {
    const { t0, t1 } = gantt.windows[pane.number];
    const [left, right] = [gantt.span.t0, gantt.span.t1].map(
      (cycle) => GUTTER + clamp((cycle - t0) / (t1 - t0), 0, 1) * gantt.plot,
    );
    const height = pane.foot - pane.first;
    if (isGround) {
      pen.globalAlpha = 0.14;
      pen.fillRect(left, pane.first, right - left, height);
      pen.globalAlpha = 1;
    } else {
      pen.fillRect(left, pane.first, 1.5, height);
      pen.fillRect(right - 1.5, pane.first, 1.5, height);
    }
  }
}

/** [name, colour] of every colour in the chart, by how it is coloured and what is selected. */
function legendOf(gantt) {
  const { colourBy } = gantt.options;
  const colours = gantt.colours();
  const entries = [];
  if (colourBy === "kind") PALETTE.kindNames.forEach((name, i) => entries.push([name, colours[i]]));
  else if (colourBy === "wait") WAITS.forEach((name, i) => entries.push([`waited for ${name}`, colours[i]]));
  else entries.push(...ownerEntries(gantt, colours));
  if (gantt.flags && (colourBy === "kind" || colourBy === "wait")) entries.push(["not selected", colours[DIM]]);
  entries.push(["layers in flight beyond one (mean, paler: most); within one core", PALETTE.overlap]);
  entries.push(["ground: memory works for one layer while another computes", PALETTE.under]);
  entries.push(["bytes in use (most in the column's time)", PALETTE.memory], ["its capacity", PALETTE.capacity]);
  return entries;
}

/** Entries by layer or sub-graph: what the hues stand for; the numbers in the bars tell them apart. */
function ownerEntries(gantt, colours) {
  const what = gantt.options.colourBy === "layer" ? "layer" : "sub-graph";
  const entries = hueEntries(gantt.hues, gantt.theme.hues);
  if (gantt.flags) {
    entries.push([`selected: in full; up to four ${what}s before and after: pale`, null], ["further away", colours[DIM]]);
  } else if (what === "layer") entries.push(["every second layer is pale", null]);
  entries.push([`numbers: the ${what}`, null]);
  return entries;
}

export function fillLegend(root, gantt) {
  root.querySelector(".legend").replaceChildren(...legendOf(gantt).map(([name, colour]) => {
    const entry = document.createElement("span");
    const swatch = document.createElement("i");
    swatch.style.background = colour || "none";
    entry.append(...(colour ? [swatch, name] : [name]));
    return entry;
  }));
}
