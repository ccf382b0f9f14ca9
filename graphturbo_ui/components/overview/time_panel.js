// The right card: both runs on one time scale for all samples, and a lens that magnifies a stretch.

import { binned, flightBinned, layerNear, rowMeans } from "./bins.js";
import { Pen } from "./draw.js";
import { lensTexts } from "./lens_words.js";
import { KINDS } from "./runs.js";
import { PAD, drawRowNames, gutterWidth, runTexts } from "./time_gutter.js";
import { drawGap, drawStrip, gapOf } from "./time_marks.js";
import { sizeText, strategyTexts, tickTexts, timeText, timeTicks, unitOf } from "./words.js";

const RIGHT = 22;
const LABEL = 11.5; // height of a row that has room for its name
const WEIGHTS = { flight: 20, matrix: 34, vector: 10, move: 10, dma: 11, link: 22 };
const LENS_WEIGHTS = { flight: 30, matrix: 52, vector: 19, move: 19, dma: 19, link: 32 };
const ALL = ["flight", "matrix", "vector", "move", "dma", "link"];
const FEW = ["flight", "matrix", "link"];
const FEWEST = ["matrix", "link"]; // while somebody presents in a low window; a line of words has the layers in flight
const REPEATED = 0.45; // of a veil over rounds that repeat the drawn one
const PALE = 0.26; // how strong the other layers stay

export class TimePanel {
  constructor(canvas, svg) {
    this.canvas = canvas;
    this.svg = svg;
    this.cache = new Map();
  }

  /** A new scene: nothing that was binned before counts. */
  forget() {
    this.cache.clear();
  }

  /** @param {Scene} scene */
  draw(scene, { width, height, k, font, lens, colours }) {
    this.scene = scene;
    this.width = width;
    this.height = height;
    this.k = k;
    this.lens = lens;
    this.colours = colours;
    this.longest = Math.max(...scene.runs.map((run) => run.total));
    const pen = new Pen(this.svg, k, font);
    this.layOut();
    this.x0 = gutterWidth(pen, [...scene.runs.map((run) => [this.blocks[run.name], run]), [this.blocks.lens, this.lensRun()]], width);
    this.x1 = width - RIGHT;
    this.plot = Math.max(40, this.x1 - this.x0);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren();
    this.gap = gapOf(scene, this.blocks, pen, (time) => this.x(time));
    this.below = pen.group("over"); // the playhead's line, which crosses no word
    this.drawRunHeads(pen.group("heads"));
    this.drawAxis(pen.group("axis"), 0, this.longest, this.axisY, (time) => this.x(time));
    drawGap(pen.group("free"), scene, this.gap);
    this.drawLens(pen.group("lens"));
    this.over = pen.group("over");
    this.paint(null);
  }

  /** Heights: a head and rows per run, the shared axis, then the lens with its own. */
  layOut() {
    const { height, k, scene } = this;
    const isLow = height < 520 * k;
    const has = (name) => scene.runs.some((run) => run.engines[name] !== 0);
    const isLowest = height < 320 * k && scene.is_presenting;
    const list = (isLowest ? FEWEST : isLow ? FEW : ALL).filter(has);
    const [head, axis, lensHead, strip] = [22 * k, 21 * k, 38 * k, 17 * k];
    const free = height - scene.runs.length * head - 2 * axis - lensHead - strip - 10;
    const each = free * (scene.runs.length === 1 ? 0.4 : isLowest ? 0.17 : 0.27);
    this.blocks = {};
    let y = 4;
    for (const run of scene.runs) {
      y += head;
      this.blocks[run.name] = stacked(list, WEIGHTS, y, each, k);
      y += each;
      if (run === scene.runs[0]) {
        this.axisY = y;
        y += axis;
      }
    }
    this.lensTop = y;
    this.stripY = y + lensHead;
    this.stripHeight = strip - 3;
    this.blocks.lens = stacked(ALL.filter(has), LENS_WEIGHTS, y + lensHead + strip + 2, Math.max(60, height - axis - 6 - (y + lensHead + strip + 2)), k);
    this.lensAxisY = height - axis - 2;
  }

  x(time) {
    return this.x0 + (time / this.longest) * this.plot;
  }

  lensX(time) {
    return this.x0 + ((time - this.lens.t0) / (this.lens.t1 - this.lens.t0)) * this.plot;
  }

  lensRun() {
    return this.scene.runs.find((run) => run.name === this.lens.run);
  }

  drawRunHeads(pen) {
    for (const run of this.scene.runs) {
      const block = this.blocks[run.name];
      const y = block.top - 8 * this.k;
      pen.badge(PAD, y, run.name);
      const said = runTexts(run, this.gap?.run === run ? this.gap.outside : "");
      const room = this.x1 - PAD - 30 * this.k - pen.width(run.strategy, 13.5, 600);
      const text = pen.fit(said, Math.max(room, (this.x1 - PAD) / 2), 13);
      pen.text(PAD + 21 * this.k, y, pen.fit(strategyTexts(run.strategy), this.x1 - pen.width(text, 13) - PAD - 30 * this.k, 13.5, 600), { weight: 600, fill: "var(--ink)", size: 13.5 });
      pen.text(this.x1, y, text, { anchor: "end", fill: "var(--ink)", size: 13 });
      drawRowNames(pen, block, run, null, this.x0);
    }
  }

  drawAxis(pen, t0, t1, y, place) {
    const right = this.x0 + this.plot;
    let before = -Infinity;
    const ticks = timeTicks(t0, t1, this.plot / (95 * this.k));
    const texts = tickTexts(ticks);
    for (const [n, time] of ticks.entries()) {
      const x = place(time);
      pen.line(x, y + 2, x, y + 6, "var(--edge)");
      const text = texts[n];
      const half = pen.width(text, 12) / 2;
      if (x - half < before + 6) continue;
      before = x + half;
      const anchor = x - half < this.x0 - 4 ? "start" : x + half > right + RIGHT - 4 ? "end" : "middle";
      pen.text(anchor === "start" ? this.x0 : anchor === "end" ? right : x, y + 18 * this.k, text, { size: 12, anchor, fill: "var(--ink3)", class: "tick" });
    }
  }

  drawLens(pen) {
    const { lens, k, scene } = this;
    const run = this.lensRun();
    const block = this.blocks[lens.run];
    const [from, to] = [this.x(lens.t0), this.x(lens.t1)];
    const last = scene.runs.length > 1 ? this.blocks[scene.runs.at(-1).name].foot : this.axisY + 20 * k;
    const [top, foot] = [this.lensTop + 12 * k, this.stripY - 3];
    pen.path(`M${from} ${last + 2}L${to} ${last + 2}L${this.x1} ${top}V${foot}H${this.x0}V${top}z`, "none", { fill: "var(--track)" });
    pen.path(`M${from} ${last + 2}L${this.x0} ${top}M${to} ${last + 2}L${this.x1} ${top}`, "var(--edge)");
    if (block.foot < last) pen.path(`M${from} ${block.foot + 2}V${last + 2}M${to} ${block.foot + 2}V${last + 2}`, "var(--edge)", { "stroke-dasharray": "3 3" });
    pen.rect(from, block.top - 2, to - from, block.foot - block.top + 4, "none", { stroke: "var(--ink)", "stroke-width": 1.4, rx: 1, class: "lens-frame" });
    const y = this.stripY - 9 * k;
    pen.badge(PAD, y, lens.run);
    const zoom = this.longest / (lens.t1 - lens.t0);
    const magnified = `magnified ${Number(zoom.toPrecision(2)).toLocaleString("en-US")}×`;
    pen.text(PAD + 21 * k, y, magnified, { weight: 600, fill: "var(--ink)", size: 13.5 });
    drawStrip(pen, scene, run, lens, {
      x0: this.x0, x1: this.x1, y: this.stripY, height: this.stripHeight, left: PAD, placeOf: (time) => this.lensX(time),
    });
    const isPart = lens.t0 > 0 || lens.t1 < run.total * 0.9999;
    drawRowNames(pen, this.blocks.lens, run, isPart ? this.lensMeans() : null, this.x0);
    this.drawAxis(pen, lens.t0, lens.t1, this.lensAxisY, (time) => this.lensX(time));
    this.drawCallout(pen, run, y, Math.max(this.x0 + 4, PAD + 31 * k + pen.width(magnified, 13.5, 600)));
  }

  /** The prefetch that runs furthest ahead, boxed where it is and said above; else what the lens shows. `left`: where words may begin. */
  drawCallout(pen, run, y, left) {
    const { scene, k, lens } = this;
    const found = scene.callout[0];
    const round = run.rounds.find(({ isDrawn }) => isDrawn);
    const said = scene.runs.length > 1 && run === scene.runs.at(-1) && found && round;
    const [t0, t1] = said ? [found.from_cycle, found.to_cycle].map((cycle) => round.at + cycle * run.seconds_per_cycle) : [0, 0];
    const isInside = said && t0 >= lens.t0 && t1 <= lens.t1 && this.lensX(t1) - this.lensX(t0) >= 4;
    const room = this.x1 - left - 4;
    if (!isInside) {
      pen.text(this.x1, y, pen.fit(lensTexts(scene, lens), room, 13.5, 600), { anchor: "end", size: 13.5, weight: 600, fill: "var(--ink)", class: "lens-words" });
      return;
    }
    const [x0, x1] = [this.lensX(t0), this.lensX(t1)];
    const middle = (x0 + x1) / 2;
    const { matrix, link, dma = link } = this.blocks.lens.rows;
    for (const row of [matrix, dma]) pen.rect(x0 - 1.5, row.y - 1.5, x1 - x0 + 3, row.h + 3, "none", { rx: 2, stroke: "var(--ink)", "stroke-width": 1.8 });
    const [above, below] = [this.stripY - 1.5, this.stripY + this.stripHeight + 1.5];
    pen.path(`M${middle} ${y + 5 * k}V${above}M${middle} ${below}V${matrix.y - 1.5}M${middle} ${matrix.y + matrix.h + 1.5}V${dma.y - 1.5}`, "var(--ink)", { "stroke-width": 1.4 });
    const layer = found.layer + 1;
    const text = pen.fit([
      `Weights of layer ${layer} (${sizeText(found.bytes)}) arrive while layer ${found.computes + 1} computes`,
      `Weights of layer ${layer} arrive while ${found.computes + 1} computes`,
      `Weights of layer ${layer} arrive early`, `Layer ${layer} arrives early`,
    ], room, 13.5, 600);
    const width = pen.width(text, 13.5, 600);
    pen.text(Math.max(left, Math.min(this.x1 - width - 4, middle - 5 * k)), y, text, { size: 13.5, weight: 600, fill: "var(--ink)" });
  }

  /** Bins of a block; `only`: of a set of layers. */
  bins(run, t0, t1, only = null) {
    const width = Math.max(1, Math.round(this.plot * (t1 - t0 === this.lensSpan() && run === this.lensRun() ? 1 : run.total / this.longest) * this.ratio()));
    const key = [run.name, t0, t1, width, only && [...only].join()].join(" ");
    const known = this.cache.get(key);
    if (known) return known;
    const { hues } = this.scene;
    const rows = binned(run, { t0, t1, width, hueOf: hues.of_layer, hues: 7, only });
    const flight = only === null ? flightBinned(run, { t0, t1, width }) : null;
    if (this.cache.size > 80) this.cache.clear();
    const found = { rows, flight, width };
    this.cache.set(key, found);
    return found;
  }

  lensSpan() {
    return this.lens.t1 - this.lens.t0;
  }

  ratio() {
    return Math.min(2, window.devicePixelRatio || 1);
  }

  lensMeans() {
    const run = this.lensRun();
    const { rows, flight } = this.bins(run, this.lens.t0, this.lens.t1);
    const means = rowMeans(rows);
    const found = Object.fromEntries(KINDS.map((kind, n) => [kind, means[n]]));
    return { ...found, link: means[KINDS.length], flight: flight.mean.reduce((a, b) => a + b, 0) / Math.max(1, flight.mean.length) };
  }

  /** Paint all bars; with a set of `layers` those of the others paler. */
  paint(layers) {
    const ratio = this.ratio();
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const run of this.scene.runs) this.paintBlock(pen, this.blocks[run.name], run, 0, run.total, this.x0, this.x(run.total), layers);
    this.paintBlock(pen, this.blocks.lens, this.lensRun(), this.lens.t0, this.lens.t1, this.x0, this.x1, layers);
  }

  paintBlock(pen, block, run, t0, t1, left, right, layers) {
    const { colours } = this;
    pen.fillStyle = colours.track;
    for (const name of block.list) pen.fillRect(left, block.rows[name].y, right - left, block.rows[name].h);
    const { rows, flight, width } = this.bins(run, t0, t1);
    const step = (right - left) / width;
    pen.globalAlpha = layers === null ? 1 : PALE;
    if (block.rows.flight) this.paintFlight(pen, block.rows.flight, flight, left, step);
    this.paintRows(pen, block, rows, left, step);
    pen.globalAlpha = 1;
    if (layers !== null) this.paintRows(pen, block, this.bins(run, t0, t1, layers).rows, left, step);
    this.veilRepeats(pen, block, run, t0, t1, left, right);
  }

  paintRows(pen, block, rows, left, step) {
    const order = [...KINDS, "link"];
    for (const name of block.list) {
      const at = order.indexOf(name);
      if (at < 0) continue;
      const { y, h } = block.rows[name];
      const width = rows[at][0].length;
      const base = new Float32Array(width);
      rows[at].forEach((shares, hue) => {
        pen.fillStyle = this.colours.hues[hue] ?? this.colours.rest;
        for (let x = 0; x < width; x += 1) {
          if (!shares[x]) continue;
          const high = Math.min(1 - base[x], shares[x]) * h;
          pen.fillRect(left + x * step, y + h - base[x] * h - high, step + 0.15, high);
          base[x] += shares[x];
        }
      });
    }
  }

  /** Layers in flight: grey up to one, solid for the mean beyond it, pale for peaks. */
  paintFlight(pen, row, { mean, most }, left, step) {
    const top = Math.max(2, ...Object.values(this.scene.runs).map((run) => run.flight_most ??= run.flight_layers.reduce((a, b) => Math.max(a, b), 1)));
    const unit = row.h / Math.min(top, 6);
    const alpha = pen.globalAlpha;
    for (let x = 0; x < mean.length; x += 1) {
      const at = left + x * step;
      const bar = (from, to) => pen.fillRect(at, row.y + row.h - Math.min(row.h, to * unit), step + 0.15, Math.max(0, (Math.min(to * unit, row.h) - from * unit)));
      pen.fillStyle = this.colours.one;
      bar(0, Math.min(1, mean[x]));
      if (most[x] < 2) continue;
      pen.fillStyle = this.colours.ink;
      pen.globalAlpha = alpha * 0.3;
      bar(1, most[x]);
      pen.globalAlpha = alpha;
      if (mean[x] > 1) bar(1, mean[x]);
    }
  }

  /** Rounds that repeat the drawn one are paler, with slanted lines. */
  veilRepeats(pen, block, run, t0, t1, left, right) {
    const first = run.rounds.findIndex(({ isDrawn }) => isDrawn);
    const scale = (right - left) / (t1 - t0);
    run.rounds.forEach(({ at, length }, number) => {
      if (number === first || at >= t1 || at + length <= t0) return;
      const [x0, x1] = [Math.max(left, left + (at - t0) * scale), Math.min(right, left + (at + length - t0) * scale)];
      pen.save();
      pen.beginPath();
      pen.rect(x0, block.top, x1 - x0, block.foot - block.top);
      pen.clip();
      pen.globalAlpha = REPEATED;
      pen.fillStyle = this.colours.card;
      pen.fillRect(x0, block.top, x1 - x0, block.foot - block.top);
      pen.globalAlpha = 0.5;
      pen.strokeStyle = this.colours.edge;
      pen.lineWidth = 0.7;
      pen.beginPath();
      for (let x = x0 - (block.foot - block.top); x < x1; x += 7) {
        pen.moveTo(x, block.foot);
        pen.lineTo(x + block.foot - block.top, block.top);
      }
      pen.stroke();
      pen.globalAlpha = 1;
      pen.fillStyle = this.colours.edge;
      pen.fillRect(x0, block.top, 1, block.foot - block.top);
      pen.restore();
    });
  }

  /** The playhead through all panels. */
  overlay(time) {
    for (const pen of [this.below, this.over]) pen.parent.replaceChildren();
    const ticks = [...this.svg.querySelectorAll(".axis .tick")];
    for (const tick of ticks) tick.classList.remove("covered");
    if (time === null) return;
    const { k, below, over, scene } = this;
    const x = this.x(Math.min(time, this.longest));
    const [top, foot] = [this.blocks[scene.runs[0].name].top - 3, this.blocks[scene.runs.at(-1).name].foot + 3];
    below.line(x, top, x, foot, "var(--ink)", { "stroke-width": 1.6, class: "playhead" });
    below.clear(this.svg.querySelectorAll(".heads text, .free text"), (box) => box.x < x && x < box.x + box.width);
    const text = timeText(time, unitOf(this.longest)[0]);
    const width = over.width(text, 12.5, 600) + 10 * k;
    const centre = Math.min(Math.max(x, this.x0 + width / 2), this.x1 - width / 2);
    over.rect(centre - width / 2, this.axisY + 1, width, 17 * k, "var(--ink)", { rx: 4 });
    over.text(centre, this.axisY + 14 * k, text, { anchor: "middle", weight: 600, fill: "var(--card)" });
    for (const tick of ticks) {
      const box = tick.getBBox();
      tick.classList.toggle("covered", box.x < centre + width / 2 + 3 && centre - width / 2 - 3 < box.x + box.width);
    }
    if (time < this.lens.t0 || time > this.lens.t1) return;
    const at = this.lensX(time);
    const isOnNumber = [...this.svg.querySelectorAll(".kernel-number")].some((number) => {
      const box = number.getBBox();
      return box.x - 1 <= at && at <= box.x + box.width + 1;
    });
    over.line(at, this.stripY + (isOnNumber ? this.stripHeight : -2), at, this.blocks.lens.foot + 3, "var(--ink)", { "stroke-width": 1.6 });
  }

  /** What stands at a point: block, run, time, row and the layer nearest there; null outside. */
  hit(x, y, needsLayer = true) {
    if (x < this.x0 - 2 || x > this.x1 + 2) return null;
    for (const [name, block] of Object.entries(this.blocks)) {
      if (y < block.top - 3 || y > block.foot + 3) continue;
      const isLens = name === "lens";
      const run = isLens ? this.lensRun() : this.scene.runs.find((own) => own.name === name);
      const share = (x - this.x0) / this.plot;
      const time = isLens ? this.lens.t0 + share * this.lensSpan() : share * this.longest;
      const row = block.list.find((own) => y >= block.rows[own].y - 2 && y <= block.rows[own].y + block.rows[own].h + 2);
      const number = [...KINDS, "link"].indexOf(row);
      const reach = (isLens ? this.lensSpan() : this.longest) / this.plot;
      const layer = needsLayer && number >= 0 && time < run.total ? layerNear(run, time, number, reach * 1.5) : null;
      return { name, run, time: Math.max(0, Math.min(time, this.longest)), row: row ?? null, layer };
    }
    return null;
  }
}

/** Rows by weight between `top` and `top + height`, with small gaps. */
function stacked(list, weights, top, height, k) {
  const gap = Math.min(3, height / 60);
  const total = list.reduce((sum, name) => sum + weights[name], 0);
  const free = height - gap * (list.length - 1);
  const least = Math.min(LABEL * k, free / list.length);
  const loose = list.filter((name) => (weights[name] / total) * free >= least);
  const fixed = (list.length - loose.length) * least;
  const shared = loose.reduce((sum, name) => sum + weights[name], 0);
  const rows = {};
  let y = top;
  for (const name of list) {
    const h = loose.includes(name) ? (weights[name] / shared) * (free - fixed) : least;
    rows[name] = { y, h };
    y += h + gap;
  }
  return { list, rows, top, foot: top + height };
}
