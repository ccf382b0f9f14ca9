// The Gantt chart of one or two runs: what is in sight, picked, selected and marked; hover and keys.
// Rounds: rounds.js; rows: gantt_rows.js; pixels: gantt_pixels.js; marks: gantt_draw.js and
// gantt_path.js; spans: gantt_span.js. Windows, spans and a pick's `at` (the first cycle of its round)
// are cycles of the whole run.

import {
  bindCanvas, bindTools, clamp, common, follow, isLate, painter, readBuffer, readTheme,
  selectedOps, share, showTip, sizedPen,
} from "./canvas_kit.js";
import { dress, factsOf, fillLegend, markPick, markSpan, rasterOf, titleOf } from "./gantt_draw.js";
import { markPath } from "./gantt_path.js";
import { firstAfter, integralOf, mixed } from "./gantt_pixels.js";
import { arranged, AXIS, coresOf, FLIGHT, slotsOf, spelled, STRIP } from "./gantt_rows.js";
import { bindSpan, fillPanel } from "./gantt_span.js";
import { steppedOf, toldAt, toldOf } from "./gantt_told.js";
import { localWindow, nearestRound, roundAt, withRounds } from "./rounds.js";
import {
  bounded, GUTTER, moved, plotWidth, readRuns, windowsOf, windowsToShare, zoomed,
} from "./time_axis.js";

class Gantt {
  constructor(root, canvas) {
    this.root = root;
    this.canvas = canvas;
    this.windows = [];
    this.pick = null;
    this.span = null;
    this.flags = null;
    this.version = 0;
    this.tip = root.querySelector(".tip");
    this.stage = root.querySelector(".stage");
    this.said = root.querySelector(".said");
    this.panel = document.createElement("section");
    this.panel.className = "span";
    this.panel.setAttribute("aria-label", "marked span of time");
    this.said.after(this.panel);
    this.options = { colourBy: "layer", rows: "auto", isLocked: true, path: "none" };
    this.turned = [new Set(), new Set()];
    this.paint = painter(canvas, () => this.draw());
    this.bind();
    follow("windows", canvas, (windows) => this.show(windows));
    follow("selected", canvas, () => this.mark());
    new ResizeObserver(() => this.paint()).observe(this.stage);
  }

  bind() {
    const { canvas, root } = this;
    bindSpan(canvas, (x0, x1, y, isDone) => this.drag(x0, x1, y, isDone));
    bindCanvas(canvas, this);
    const keys = {
      KeyM: () => this.markWindow(), KeyN: () => this.step(1), KeyP: () => this.step(-1),
      Enter: () => this.selectPicked(), KeyC: () => this.turnPicked(), KeyK: () => this.set("path", nextPath(this.options.path)),
    };
    canvas.addEventListener("keydown", (event) => {
      if (!keys[event.code] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.code]();
    });
    bindTools(root, {
      in: () => this.zoom(0.7, null, null),
      out: () => this.zoom(1 / 0.7, null, null),
      fit: () => this.fit(),
      colour: (value) => this.set("colourBy", value),
      rows: (value) => this.set("rows", value),
      lock: (value) => this.set("isLocked", value),
      path: (value) => this.set("path", value),
      measure: () => this.markWindow(),
      previous: () => this.step(-1),
      next: () => this.step(1),
    });
  }

  /** Show these windows, [[first, last], …] a run; all of the time where there are none. */
  show(windows) {
    this.windows = windowsOf(this.runs, windows, this.longest);
    this.paint();
  }

  /** Mark what is selected now, here or in another canvas. */
  mark() {
    this.flags = selectedOps(common.selected, this.runs);
    this.counts = this.runs.map(({ arrays: { op } }, r) => (
      this.flags ? op.reduce((sum, own) => sum + (own >= 0 && this.flags[r][own]), 0) : 0
    ));
    this.order = null;
    this.restyle();
  }

  /** Colours and rows anew. */
  restyle() {
    this.slots = this.runs.map((run, r) => slotsOf(run, this.options.colourBy, this.flags && this.flags[r]));
    const { panes, height } = arranged(this.runs, this.options.rows, this.turned);
    this.panes = panes;
    this.height = height;
    this.version += 1;
    this.theme = readTheme(this.root.host || this.root);
    fillLegend(this.root, this);
    this.paint();
  }

  set(name, value) {
    this.options[name] = value;
    if (name === "isLocked" && value) this.windows = this.windows.map(() => ({ ...this.windows[0] }));
    if (name === "rows") this.turned.forEach((cores) => cores.clear());
    if (name === "path") this.root.querySelector("[data-act='path']").value = value;
    this.restyle();
  }

  /** New runs; the window stays where it was while the first run is the same. */
  load(buffer) {
    if (this.digest === buffer.header.digest) {
      this.theme = readTheme(this.root.host || this.root);
      fillLegend(this.root, this);
      return this.paint();
    }
    this.digest = buffer.header.digest;
    this.runs = readRuns(buffer).map(withRounds);
    this.hues = buffer.header.hues;
    for (const run of this.runs) {
      const shared = run.overlap.reduce((sum, { cores, from, to }) => (
        sum + cores * run.arrays.overlap_hold.subarray(from, to).reduce((a, b) => a + b, 0)
      ), 0);
      run.overlapShare = shared / Math.max(1, run.cycles * coresOf(run.overlap));
      run.rows = run.rows.map((row) => ({ ...row, label: spelled(row.label) }));
      run.chain = run.arrays.chain.slice().sort();
      const { under_start: start, under_hold: hold, flight_cycle: cycle, flight_layers: layers } = run.arrays;
      run.under = { start, hold, ranges: [{ from: 0, to: start.length, cores: 1 }] };
      run.flightSum = integralOf(cycle, layers);
      run.mostInFlight = layers.reduce((most, count) => Math.max(most, count), 0);
    }
    this.turned.forEach((cores) => cores.clear());
    this.pick = null;
    this.longest = Math.max(...this.runs.map((run) => run.total), 1);
    this.clearSpan();
    this.mark();
    this.show(common.windows);
  }

  draw() {
    const sized = sizedPen(this.canvas, this.height);
    if (!sized) return false;
    const { pen, width, ratio } = sized;
    this.theme = readTheme(this.root.host || this.root);
    this.plot = plotWidth(width);
    pen.fillStyle = this.theme.background;
    pen.fillRect(0, 0, width, this.height);
    markSpan(pen, this, true);
    const layer = rasterOf(this, ratio);
    pen.drawImage(layer, 0, 0, layer.width, layer.height, GUTTER, 0, layer.width / ratio, layer.height / ratio);
    for (const pane of this.panes) {
      dress(pen, this, pane, width);
      if (this.options.path !== "none") markPath(pen, this, pane);
    }
    markSpan(pen, this, false);
    markPick(pen, this);
    this.expose();
    return true;
  }

  /** The colour of each slot. */
  colours() {
    const { colourBy } = this.options;
    const { hues, text, background, lit } = this.theme;
    const own = ({ kind: PALETTE.kinds, wait: PALETTE.waits }[colourBy] || []).map(lit);
    const tones = hues.flatMap((hue) => [hue, mixed(hue, background, 0.5)]);
    return [...own, ...tones.slice(own.length), mixed(text, background, 0.28)];
  }

  /** Box of an instruction of the round that begins at `at` in pixels, clipped to the window; null outside it. */
  place(pane, index, at) {
    const [t0, t1] = [this.windows[pane.number].t0 - at, this.windows[pane.number].t1 - at];
    const { start, hold } = pane.run.arrays;
    const line = pane.rows.findIndex(
      (row) => row.kind !== "overlap" && row.ranges.some((r) => index >= r.from && index < r.to),
    );
    const left = (Math.max(start[index], t0) - t0) / (t1 - t0) * this.plot;
    const right = (Math.min(start[index] + hold[index], t1) - t0) / (t1 - t0) * this.plot;
    if (line < 0 || right < 0 || left > this.plot) return null;
    return { x: GUTTER + left, y: pane.first + line * pane.height, w: right - left };
  }

  paneAt(y) {
    return this.panes.find((pane) => y === null || (y >= pane.top && y < pane.foot + AXIS));
  }

  /** Pane, row, time and round under a point (`local`: since the round began); null between rows. */
  under(x, y) {
    const pane = this.paneAt(y);
    const row = pane && y >= pane.first ? pane.rows[Math.floor((y - pane.first) / pane.height)] : undefined;
    const strip = pane?.strips.find((other) => y >= other.top && y < other.top + STRIP);
    const isFlight = pane && y >= pane.flight && y < pane.flight + FLIGHT;
    if (!row && !strip && !isFlight) return null;
    const { t0, t1 } = this.windows[pane.number];
    const perPixel = (t1 - t0) / this.plot;
    const cycle = t0 + (x - GUTTER) * perPixel;
    const round = roundAt(pane.run, cycle);
    return { pane, row, strip, isFlight, perPixel, cycle, round, local: cycle - (round?.at ?? 0) };
  }

  /** The instruction under a point, or null. */
  find(x, y) {
    const at = this.under(x, y);
    if (!at?.row || x < GUTTER || at.row.ranges.length !== 1 || at.row.kind === "overlap") return null;
    if (!at.round?.part.isDrawn) return null;
    const { row, local, perPixel } = at;
    const [range] = row.ranges;
    const index = firstAfter(row.start, row.hold, range.from, range.to, local - perPixel);
    if (index >= range.to || row.start[index] > local + perPixel) return null;
    return { pane: at.pane.number, index, at: at.round.at };
  }

  hover(x, y) {
    const found = this.find(x, y);
    const lines = found ? toldOf(this.runs[found.pane], found) : toldAt(this.under(x, y), x);
    this.canvas.style.cursor = x < GUTTER && this.under(x, y)?.row?.core >= 0 ? "pointer" : "";
    this.canvas.dataset.hover = lines.join(" | ");
    if (lines.length) showTip(this.tip, this.stage, lines, x, y);
    else this.leave();
  }

  leave() {
    this.tip.hidden = true;
  }

  /** Pick an instruction and select its op everywhere; a core's label folds or opens the core. */
  click(x, y) {
    const at = this.under(x, y);
    if (x < GUTTER && at?.row?.core >= 0) return this.turn(at.pane.number, at.row.core);
    this.order = null;
    this.choose(this.find(x, y));
    this.selectPicked();
  }

  /** Select the op of the picked instruction in every view; nothing where none is picked. */
  selectPicked() {
    const run = this.pick ? this.runs[this.pick.pane] : null;
    const op = run ? run.arrays.op[this.pick.index] : -1;
    this.select(op >= 0 ? `${run.name.toLowerCase()}-op-${op}` : "");
  }

  select(text) {
    if (text === common.selected) return;
    share("selected", text, this.canvas);
    this.mark();
  }

  choose(pick) {
    this.pick = pick;
    this.said.textContent = pick ? toldOf(this.runs[pick.pane], pick).join(" · ") : "";
    this.paint();
  }

  /**
   * To the next or previous selected instruction by start; where nothing is selected, of the picked
   * one's engine, and where nothing is picked either, to the first of the first engine in sight.
   */
  step(by) {
    const pane = this.pick?.pane ?? Math.max(0, this.counts.findIndex((count) => count > 0));
    const first = this.roundOf(pane);
    if (!this.pick && !this.flags) return this.goTo({ pane, at: first }, 0, this.windows[pane].t0 - first);
    if (this.order?.pane !== pane) this.order = { pane, list: steppedOf(this.runs[pane], this.flags && this.flags[pane], this.pick) };
    const { list } = this.order;
    const at = this.pick ? list.indexOf(this.pick.index) : by > 0 ? -1 : 0;
    if (!list.length) return;
    const index = list[(at + by + list.length) % list.length];
    this.reveal({ pane, index, at: this.pick?.at ?? this.roundOf(pane) });
  }

  /** First cycle of the drawn round that is in sight of a pane, or nearest to it. */
  roundOf(pane) {
    return localWindow(this.runs[pane], this.windows[pane]).at;
  }

  /** Pick what runs at `cycle` of a round, or next after it, on the first engine from `engine` on with any. */
  goTo({ pane, at: round }, engine, cycle, by = 1) {
    const { rows, arrays: { start, hold } } = this.runs[pane];
    for (let at = engine; at >= 0 && at < rows.length; at += by) {
      const { from, to } = rows[at];
      if (from === to) continue;
      const index = Math.min(firstAfter(start, hold, from, to, cycle), to - 1);
      this.order = null;
      return this.reveal({ pane, index, at: round });
    }
    const next = pane + by;
    if (!(next in this.runs)) return;
    const at = nearestRound(this.runs[next], round + cycle);
    this.goTo({ pane: next, at }, by > 0 ? 0 : this.runs[next].rows.length - 1, round + cycle - at, by);
  }

  /** Pick what runs at the same time on the next engine, or the one before. */
  stepEngine(by) {
    if (!this.pick) return this.step(1);
    const { pane, index } = this.pick;
    const { rows, arrays: { start } } = this.runs[pane];
    const engine = rows.findIndex(({ from, to }) => index >= from && index < to);
    this.goTo(this.pick, engine + by, start[index], by);
  }

  /** Pick an instruction and bring it into the window. */
  reveal(pick) {
    this.choose(pick);
    const { pane, index, at } = pick;
    const { start, hold } = this.runs[pane].arrays;
    const { t0, t1 } = this.windows[pane];
    const middle = at + start[index] + hold[index] / 2;
    if (middle > t0 && middle < t1) return;
    this.change(this.panes[pane].first, ({ t0: a, t1: b }) => ({ t0: middle - (b - a) / 2, t1: middle + (b - a) / 2 }));
  }

  /** Fold a core to one row, or open it. */
  turn(pane, core) {
    const turned = this.turned[pane];
    if (!turned.delete(core)) turned.add(core);
    this.restyle();
  }

  /** The same of the core that holds the picked instruction. */
  turnPicked() {
    const rows = this.pick ? this.runs[this.pick.pane].rows : [];
    const row = rows.find(({ from, to }) => this.pick.index >= from && this.pick.index < to);
    if (row?.core >= 0) this.turn(this.pick.pane, row.core);
    else this.said.textContent = "C folds or opens the core of the picked instruction: none is picked.";
  }

  /** Mark a span by two places on the axis of the pane at `y`. */
  drag(x0, x1, y, isDone) {
    const { t0, t1 } = this.windows[this.paneAt(y)?.number ?? 0];
    const cycles = [x0, x1].map((x) => t0 + clamp((x - GUTTER) / this.plot, 0, 1) * (t1 - t0));
    const [first, last] = [Math.floor(Math.min(...cycles)), Math.ceil(Math.max(...cycles))];
    this.span = last > first ? { t0: first, t1: last } : null;
    if (isDone) this.measure();
    else this.paint();
  }

  /** Mark what is in sight of the first run, or of the one picked from. */
  markWindow() {
    const { t0, t1 } = this.windows[this.pick?.pane ?? 0];
    this.span = { t0: Math.floor(t0), t1: Math.ceil(t1) };
    this.measure();
  }

  /** Say what the marked span holds. */
  measure() {
    fillPanel(this.panel, this);
    this.said.textContent = this.panel.querySelector("h4")?.textContent ?? "";
    this.paint();
  }

  clearSpan() {
    this.span = null;
    delete this.canvas.dataset.span;
    fillPanel(this.panel, this);
  }

  escape() {
    const had = this.pick !== null || this.span !== null || Boolean(common.selected);
    this.clearSpan();
    this.choose(null);
    this.select("");
    this.leave();
    return had;
  }

  zoom(factor, x, y) {
    this.change(y, (w) => zoomed(w, factor, x, this.plot));
  }

  /** By drags and keys; upwards and downwards there is nothing but the next engine. */
  pan(dx, dy, x, y) {
    if (!dx && y === null) return this.stepEngine(Math.sign(dy));
    this.change(y ?? null, (w) => moved(w, dx, this.plot));
  }

  fit() {
    this.change(null, () => ({ t0: 0, t1: this.longest }));
  }

  /** Apply a change to the window under `y`, or to all when they are locked or there is no point. */
  change(y, next) {
    const pane = this.paneAt(y);
    this.windows = this.windows.map((window, r) => {
      if (!this.options.isLocked && y !== null && r !== pane?.number) return window;
      return bounded(next(window), this.longest);
    });
    this.leave();
    this.paint();
    share("windows", windowsToShare(this.windows, this.longest), this.canvas);
  }

  /** The scene, for tests. */
  expose() {
    const { windows, longest, plot, options, pick, span, counts, flags } = this;
    this.canvas.dataset.scene = JSON.stringify({
      windows, longest, plot, gutter: GUTTER, options, span, colours: this.colours(),
      panes: this.panes.map(({ run, rows, strips, top, line, flight, first, height, end, foot }, r) => ({
        title: run.title, rows: rows.map((row) => row.label), top, line, flight, first, height, end, foot,
        total: run.total, parts: run.parts, said: titleOf(this, this.panes[r]),
        instructions: run.arrays.start.length, facts: factsOf(this, this.panes[r]).filter(Boolean).join(" · "),
        strips: strips.map(({ key, top: y }) => ({ key, y, height: STRIP })),
      })),
      pick: pick && { pane: pick.pane, index: pick.index, at: pick.at }, selected: flags ? counts : null,
    });
  }
}

/** No path, the critical path, the longest dependency chain, and none again. */
function nextPath(path) {
  const all = ["none", "critical", "chain"];
  return all[(all.indexOf(path) + 1) % all.length];
}

export default function ({ data, parentElement }) {
  const canvas = parentElement.querySelector("canvas");
  const gantt = (canvas.gantt ||= new Gantt(parentElement, canvas));
  const buffer = readBuffer(data);
  if (isLate(gantt, buffer)) return;
  canvas.setAttribute("aria-label", buffer.header.label || "Gantt chart");
  gantt.load(buffer);
  parentElement.querySelector(".lock").hidden = gantt.runs.length < 2;
}
