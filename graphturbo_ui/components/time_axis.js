// What canvases with a time axis have in common: their runs, the windows of time in sight, and the
// axis itself. A window is {t0, t1} in cycles, one a run.

import { clamp, tickStep } from "./canvas_kit.js";
import { tickTexts } from "./overview/words.js";

export const GUTTER = 132; // pixels left of the plot, the same everywhere: times stand above each other
const RIGHT = 8;

/** Runs of the buffer, each with its own arrays and name. */
export function readRuns({ header, arrays }) {
  return header.runs.map((run, number) => {
    const own = {};
    for (const name of Object.keys(arrays)) {
      if (name.startsWith(`${number}.`)) own[name.slice(2)] = arrays[name];
    }
    const hues = { layers: header.hues.of_layer, groups: header.hues.of_group[number] };
    return { ...run, groups: header.group_names?.[number] ?? run.groups, arrays: own, hues, name: (header.names || "AB")[number] };
  });
}

/** Pixels of the plot in a canvas of this width. */
export function plotWidth(width) {
  return Math.max(50, width - GUTTER - RIGHT);
}

/** The windows of `common.windows`, [[first, last], …] a run; all of the time where there are none. */
export function windowsOf(runs, given, longest) {
  const read = (given || []).map(([t0, t1]) => ({ t0, t1 }));
  return runs.map((_, r) => ({ ...(read[r] || read[0] || { t0: 0, t1: longest }) }));
}

/** What `common.windows` is for these windows: null where all of the time is in sight. */
export function windowsToShare(windows, longest) {
  const isZoomed = windows.some((w) => w.t0 > 0 || w.t1 < longest);
  return isZoomed ? windows.map((w) => [w.t0, w.t1]) : null;
}

/** A window within all of the time, of 20 cycles at least. */
export function bounded({ t0, t1 }, longest) {
  const span = clamp(t1 - t0, 20, longest);
  const low = clamp(t0, 0, longest - span);
  return { t0: low, t1: low + span };
}

/** The window `factor` times as long; what lies at pixel `x` (null: the middle) stays there. */
export function zoomed(w, factor, x, plot) {
  const at = w.t0 + (w.t1 - w.t0) * (x === null ? 0.5 : clamp((x - GUTTER) / plot, 0, 1));
  return { t0: at - (at - w.t0) * factor, t1: at + (w.t1 - at) * factor };
}

/** The window moved by `dx` pixels. */
export function moved(w, dx, plot) {
  const shift = dx / plot * (w.t1 - w.t0);
  return { t0: w.t0 + shift, t1: w.t1 + shift };
}

/** Last index of rising `values` that is not above `value`; -1 where all are. */
export function lastUpTo(values, value) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Ticks with their times along the foot of a run's pane; `view`: the canvas' theme, plot, windows. */
export function drawTimeAxis(pen, view, pane) {
  const { t0, t1 } = view.windows[pane.number];
  const scale = pane.run.seconds_per_cycle || 1;
  const step = tickStep((t1 - t0) * scale, view.plot / 110);
  pen.font = `11px ${view.theme.font}`;
  pen.textAlign = "center";
  pen.fillStyle = view.theme.text;
  const ticks = [];
  for (let tick = Math.ceil((t0 * scale) / step); tick * step <= t1 * scale; tick++) ticks.push(tick * step);
  const texts = tickTexts(ticks);
  for (const [n, time] of ticks.entries()) {
    const x = GUTTER + (time / scale - t0) / (t1 - t0) * view.plot;
    pen.fillRect(x, pane.foot, 1, 4);
    pen.fillText(texts[n], clamp(x, GUTTER + 8, GUTTER + view.plot - 24), pane.foot + 13);
  }
  pen.textAlign = "left";
  pen.fillText("time", 8, pane.foot + 13);
}
