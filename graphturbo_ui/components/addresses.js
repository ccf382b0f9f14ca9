// The address map of one or two runs: occupancy over time and every buffer of GB and of one core's
// LB (rows and pixels: addresses_rows.js; texts and lines: addresses_dress.js; rounds: rounds.js). Its
// time axis is the Gantt chart's; a pick's `at` is the first cycle of its round.

import { dressPane, fillLegend, titleOf } from "./addresses_dress.js";
import {
  AXIS, bufferAt, bufferLines, coresOf, DIMMED, fullestCore, GAP, hexOf, holeAt, mixed, packed,
  paintPane, rowsOf, TITLE,
} from "./addresses_rows.js";
import {
  bindCanvas, bindTools, bytesText, channels, common, follow, isLate, painter, readBuffer,
  readTheme, secondsText, selectedOps, share, showTip, sizedPen,
} from "./canvas_kit.js";
import {
  hasRounds, localWindow, paintRounds, repeatText, roundAt, ROUNDS, withRounds,
} from "./rounds.js";
import {
  bounded, GUTTER, lastUpTo, moved, plotWidth, readRuns, windowsOf, windowsToShare, zoomed,
} from "./time_axis.js";

class Addresses {
  constructor(root, canvas) {
    this.root = root;
    this.canvas = canvas;
    this.tip = root.querySelector(".tip");
    this.stage = root.querySelector(".stage");
    this.said = root.querySelector(".said");
    this.options = { colourBy: "kind", core: null };
    this.windows = [];
    this.pick = null;
    this.layer = null;
    this.paint = painter(canvas, () => this.draw());
    bindCanvas(canvas, this);
    canvas.addEventListener("keydown", (event) => {
      if (event.code === "BracketRight") this.step(1);
      if (event.code === "BracketLeft") this.step(-1);
    });
    bindTools(root, {
      in: () => this.zoom(0.7, null),
      out: () => this.zoom(1 / 0.7, null),
      fit: () => this.fit(),
      colour: (value) => this.set("colourBy", value),
      core: (value) => this.set("core", Number(value)),
    });
    follow("windows", canvas, (windows) => this.show(windows));
    follow("selected", canvas, () => this.mark());
    new ResizeObserver(() => this.paint()).observe(this.stage);
  }

  /** New runs; core and window stay where they were where that is possible. */
  load(buffer) {
    if (this.digest === buffer.header.digest) return this.paint();
    this.digest = buffer.header.digest;
    this.hues = buffer.header.hues;
    this.runs = readRuns(buffer).map((run) => withRounds({ ...run, kinds: buffer.header.kinds }));
    this.pick = null;
    this.said.textContent = "";
    this.longest = Math.max(...this.runs.map((run) => run.total), 1);
    this.offerCores();
    this.arrange();
    this.mark();
    this.show(common.windows);
  }

  offerCores() {
    const cores = coresOf(this.runs);
    if (!cores.some(([core]) => core === this.options.core)) this.options.core = fullestCore(this.runs, cores);
    const box = this.root.querySelector("[data-act='core']");
    box.replaceChildren(...cores.map(([core, times]) => {
      const label = times > 1 ? `${core} (one of ${times} alike)` : String(core);
      return new Option(label, String(core), false, core === this.options.core);
    }));
    box.parentElement.hidden = !cores.length;
  }

  /** Show these windows, [[first, last], …] a run; all of the time where there are none. */
  show(windows) {
    this.windows = windowsOf(this.runs, windows, this.longest);
    this.leave();
    this.paint();
  }

  /** Mark what is selected now, here or in another canvas. */
  mark() {
    this.flags = selectedOps(common.selected, this.runs);
    this.paint();
  }

  set(name, value) {
    this.options[name] = value;
    if (name === "core") this.escape();
    this.arrange();
    this.paint();
    fillLegend(this.root, this);
  }

  /** Where every row of every pane lies. */
  arrange() {
    let top = 0;
    this.panes = this.runs.map((run, number) => {
      const line = top + TITLE;
      const pane = { run, number, top, line, rows: [] };
      let y = line + (hasRounds(run) ? ROUNDS : 0);
      for (const row of rowsOf(run, this.options.core)) {
        pane.rows.push({ ...row, y });
        y += row.height + GAP;
      }
      pane.foot = y - GAP + 2;
      top = pane.foot + AXIS;
      return pane;
    });
    this.height = top;
  }

  draw() {
    const sized = sizedPen(this.canvas, this.height);
    if (!sized) return false;
    const { pen, width, ratio } = sized;
    this.theme = readTheme(this.root.host || this.root);
    this.plot = plotWidth(width);
    pen.fillStyle = this.theme.background;
    pen.fillRect(0, 0, width, this.height);
    this.raster(pen, ratio);
    for (const pane of this.panes) dressPane(this, pen, pane, width);
    this.markPick(pen);
    this.expose();
    return true;
  }

  /** All steps and buffers of all panes, as one image. */
  raster(pen, ratio) {
    const [w, h] = [Math.floor(this.plot * ratio), Math.round(this.height * ratio)];
    this.layer ||= document.createElement("canvas");
    if (this.layer.width !== w || this.layer.height !== h) Object.assign(this.layer, { width: w, height: h });
    const data = new ImageData(w, h);
    const image = { words: new Uint32Array(data.data.buffer), width: w, height: h };
    this.ground = hexOf(this.theme.background, pen);
    const free = packed(channels(hexOf(this.theme.panel, pen)));
    this.drawn = 0;
    for (const pane of this.panes) {
      const lines = { top: Math.round(pane.line * ratio), foot: Math.round(pane.foot * ratio) };
      const ink = this.inkOf(pane.run);
      paintRounds(image, lines, pane.run, this.windows[pane.number], (tile, t0, t1) => {
        this.drawn += paintPane(pane, tile, { t0, t1 }, { ratio, ink, free, ground: this.ground, lit: this.theme.lit });
      });
    }
    this.layer.getContext("2d").putImageData(data, 0, 0);
    pen.drawImage(this.layer, 0, 0, w, h, GUTTER, 0, w / ratio, h / ratio);
  }

  /** The colour of a run's buffer by its number: dimmed where others are selected. */
  inkOf(run) {
    const { tensor, op, kind, op_layer, op_group } = run.arrays;
    const by = this.options.colourBy;
    const colours = by === "kind" ? run.kinds.map((name) => this.theme.lit(PALETTE.tensors[name])) : this.theme.hues;
    const full = colours.map(channels);
    const dimmed = colours.map((colour) => mixed(colour, this.ground, DIMMED));
    const hueOf = (own) => {
      const hue = by === "layer" ? -1 : run.hues.groups[op_group[own]];
      return hue < 0 ? run.hues.layers[op_layer[own]] : hue;
    };
    const flags = this.flags && this.flags[this.runs.indexOf(run)];
    return (i) => {
      const isDimmed = flags && !(op[i] >= 0 && flags[op[i]]);
      const slot = by === "kind" ? kind[tensor[i]] : op[i] < 0 ? full.length - 1 : hueOf(op[i]);
      return (isDimmed ? dimmed : full)[slot];
    };
  }

  /** Outlines: the picked buffer, and dashed whose bytes it took and who takes them. */
  markPick(pen) {
    if (!this.pick) return;
    const pane = this.panes[this.pick.pane];
    const { before, after } = pane.run.arrays;
    pen.lineWidth = 2;
    pen.strokeStyle = this.theme.text;
    pen.setLineDash([4, 3]);
    for (const other of [before[this.pick.index], after[this.pick.index]]) this.outline(pen, pane, other);
    pen.setLineDash([]);
    this.outline(pen, pane, this.pick.index);
  }

  outline(pen, pane, index) {
    const at = index < 0 ? null : this.place(pane, index, this.pick.at);
    if (at) pen.strokeRect(at.x, at.y, Math.max(2, at.w), Math.max(2, at.h));
  }

  /** Box of a buffer of the round that begins at `at` in CSS pixels, clipped to the window; null outside it or its core. */
  place(pane, index, at) {
    const [t0, t1] = [this.windows[pane.number].t0 - at, this.windows[pane.number].t1 - at];
    const { from, to, offset, size_bytes } = pane.run.arrays;
    const row = pane.rows.find((other) => other.isMap && index >= other.space.from && index < other.space.to);
    if (!row || to[index] <= t0 || from[index] >= t1) return null;
    const perCycle = this.plot / (t1 - t0);
    const perByte = row.height / row.capacity;
    const x = GUTTER + Math.max(0, from[index] - t0) * perCycle;
    const right = GUTTER + (Math.min(to[index], t1) - t0) * perCycle;
    const h = size_bytes[index] * perByte;
    return { x, y: row.y + row.height - offset[index] * perByte - h, w: right - x, h };
  }

  paneAt(y) {
    return this.panes.find((pane) => y >= pane.top && y < pane.foot + AXIS);
  }

  /** What lies under a point: run, row, cycle, value or address and buffer; null outside rows. */
  find(x, y) {
    const pane = this.paneAt(y);
    const row = pane?.rows.find((other) => y >= other.y && y < other.y + other.height);
    if (!row || x < GUTTER || x >= GUTTER + this.plot) return null;
    const { t0, t1 } = this.windows[pane.number];
    const round = roundAt(pane.run, t0 + (x - GUTTER) / this.plot * (t1 - t0));
    if (!round) return null;
    const cycle = t0 + (x - GUTTER) / this.plot * (t1 - t0) - round.at;
    const found = { pane: pane.number, run: pane.run, row, cycle, round, at: round.at, index: -1, address: -1 };
    if (!row.isMap || !round.part.isDrawn) return found;
    found.address = Math.floor((1 - (y - row.y) / row.height) * row.capacity);
    found.index = bufferAt(pane.run, row.space, cycle, found.address);
    return found;
  }

  describe({ run, row, cycle, address, index, round, at }) {
    if (!round.part.isDrawn) return [repeatText(round.part, 0)];
    if (index >= 0) return bufferLines(run, index, at);
    const when = `at ${secondsText((at + cycle) * run.seconds_per_cycle)}`;
    if (!row.isMap) {
      const held = row.bytes[lastUpTo(row.cycle, cycle)] || 0;
      return [`${row.label}: ${bytesText(held)}`, `${Math.round(held / row.capacity * 100)} % of ${bytesText(row.capacity)}, ${when}`];
    }
    const { low, high, free } = holeAt(run, row.space, cycle, address);
    return [`free: ${bytesText(high - low)}`, `bytes ${low} to ${high} of ${row.label}, ${when}`, `free in all: ${bytesText(free)}`];
  }

  hover(x, y) {
    const found = this.find(x, y);
    this.canvas.dataset.hover = found ? this.describe(found).join(" | ") : "";
    if (found) showTip(this.tip, this.stage, this.describe(found), x, y);
    else this.leave();
  }

  leave() {
    this.tip.hidden = true;
  }

  click(x, y) {
    const found = this.find(x, y);
    this.choose(found && found.index >= 0 ? { pane: found.pane, index: found.index, at: found.at } : null);
  }

  /** Pick a buffer: its op is selected in all views. */
  choose(pick) {
    this.pick = pick;
    const run = pick && this.panes[pick.pane].run;
    this.said.textContent = pick ? bufferLines(run, pick.index, pick.at).join(" · ") : "";
    const op = pick ? run.arrays.op[pick.index] : -1;
    share("selected", op < 0 ? "" : `${run.name.toLowerCase()}-op-${op}`, this.canvas);
    this.mark();
  }

  /** The next buffer in order of time, space by space; the window follows it. */
  step(way) {
    const pane = this.panes[this.pick?.pane ?? 0];
    const spaces = pane.rows.filter((row) => row.isMap).map((row) => row.space).filter((s) => s.to > s.from);
    if (!spaces.length) return;
    const at = spaces.findIndex((s) => this.pick && this.pick.index >= s.from && this.pick.index < s.to);
    const round = this.pick?.at ?? localWindow(pane.run, this.windows[pane.number]).at;
    let index = this.pick ? this.pick.index + way : this.firstInSight(pane, spaces[0], round);
    if (at >= 0 && index >= spaces[at].to) index = spaces[(at + 1) % spaces.length].from;
    else if (at >= 0 && index < spaces[at].from) index = spaces[(at + spaces.length - 1) % spaces.length].to - 1;
    this.bringInSight(pane, index, round);
    this.choose({ pane: pane.number, index, at: round });
  }

  firstInSight(pane, space, round) {
    const { to } = pane.run.arrays;
    let index = space.from;
    while (index < space.to - 1 && round + to[index] <= this.windows[pane.number].t0) index += 1;
    return index;
  }

  bringInSight(pane, index, round) {
    const { from, to } = pane.run.arrays;
    const [t0, t1] = [this.windows[pane.number].t0 - round, this.windows[pane.number].t1 - round];
    if (from[index] < t1 && to[index] > t0) return;
    const shift = (from[index] + to[index]) / 2 - (t0 + t1) / 2;
    this.change((w) => ({ t0: w.t0 + shift, t1: w.t1 + shift }));
  }

  escape() {
    const had = this.pick !== null;
    this.leave();
    if (had) this.choose(null);
    return had;
  }

  zoom(factor, x) {
    this.change((w) => zoomed(w, factor, x, this.plot));
  }

  pan(dx) {
    this.change((w) => moved(w, dx, this.plot));
  }

  fit() {
    this.change(() => ({ t0: 0, t1: this.longest }));
  }

  /** Apply a change to the windows of all runs, here and in the other canvases. */
  change(next) {
    this.windows = this.windows.map((window) => bounded(next(window), this.longest));
    this.leave();
    this.paint();
    share("windows", windowsToShare(this.windows, this.longest), this.canvas);
  }

  /** The scene, for tests: windows, rows, what is picked and selected. */
  expose() {
    this.canvas.dataset.scene = JSON.stringify({
      windows: this.windows, longest: this.longest, plot: this.plot, gutter: GUTTER, drawn: this.drawn,
      panes: this.panes.map(({ run, rows, top, line, foot }) => ({
        title: run.title, top, line, foot, total: run.total, parts: run.parts, said: titleOf(this, run),
        rows: rows.map(({ label, y, height, capacity, space }) => ({ label, y, height, capacity, from: space?.from, to: space?.to })),
      })),
      options: this.options, pick: this.pick && { ...this.pick, place: this.place(this.panes[this.pick.pane], this.pick.index, this.pick.at) },
      selected: common.selected,
    });
  }
}

export default function ({ data, parentElement }) {
  const canvas = parentElement.querySelector("canvas");
  const map = (canvas.addresses ||= new Addresses(parentElement, canvas));
  const buffer = readBuffer(data);
  if (isLate(map, buffer)) return;
  canvas.setAttribute("aria-label", buffer.header.label || "Address map");
  map.load(buffer);
  map.theme = readTheme(parentElement.host || parentElement);
  fillLegend(parentElement, map);
}
