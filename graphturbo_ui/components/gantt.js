// The Gantt chart of one or two runs: panes, axes, hover, picking (rows and pixels: gantt_rows.js).

class Gantt {
  constructor(root, canvas) {
    Object.assign(this, { root, canvas });
    this.tip = root.querySelector(".tip");
    this.stage = root.querySelector(".stage");
    this.said = root.querySelector(".said");
    this.options = { colourBy: "kind", isLocked: true, isFolded: false };
    this.windows = [];
    this.pick = null;
    this.paint = painter(canvas, () => this.draw());
    bindCanvas(canvas, this);
    bindTools(root, {
      in: () => this.zoom(0.7, null, null),
      out: () => this.zoom(1 / 0.7, null, null),
      fit: () => this.fit(),
      colour: (value) => this.set("colourBy", value),
      lock: (value) => this.set("isLocked", value),
      fold: (value) => this.set("isFolded", value),
    });
    follow("windows", canvas, (windows) => this.show(windows));
    follow("selected", canvas, () => this.mark());
    new ResizeObserver(() => this.paint()).observe(this.stage);
  }

  /** Show these windows, [[first, last], …] a run; all of the time where there are none. */
  show(windows) {
    const given = (windows || []).map(([t0, t1]) => ({ t0, t1 }));
    this.windows = this.runs.map((_, r) => ({ ...(given[r] || given[0] || { t0: 0, t1: this.longest }) }));
    this.isZoomed = this.windows.some((w) => w.t0 > 0 || w.t1 < this.longest);
    this.paint();
  }

  /** Mark what is selected now, here or in another canvas. */
  mark() {
    this.flags = selectedOps(common.selected, this.runs);
    this.paint();
  }

  set(name, value) {
    this.options[name] = value;
    this.slots = null;
    if (name === "isLocked" && value) this.windows = this.windows.map(() => ({ ...this.windows[0] }));
    this.arrange();
    this.paint();
    fillLegend(this.root, this);
  }

  /** New runs; the window stays where it was while the first run is the same. */
  load(buffer) {
    if (this.digest === buffer.header.digest) return this.paint();
    this.digest = buffer.header.digest;
    this.runs = readRuns(buffer);
    this.slots = null;
    this.pick = null;
    this.longest = Math.max(...this.runs.map((run) => run.cycles), 1);
    this.arrange();
    this.mark();
    this.show(common.windows);
  }

  /** Where every row of every pane lies. */
  arrange() {
    let top = 0;
    this.panes = this.runs.map((run, number) => {
      const rows = rowsOf(run, this.options.isFolded);
      const height = rows.length > 12 ? ROW : ROW * 1.8;
      const pane = { run, number, rows, top, height: Math.round(height), first: top + TITLE };
      pane.foot = pane.first + rows.length * pane.height;
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
    this.plot = Math.max(50, width - GUTTER - 8);
    this.slots ||= this.runs.map((run) => slotsOf(run, this.options.colourBy));
    pen.fillStyle = this.theme.background;
    pen.fillRect(0, 0, width, this.height);
    this.raster(pen, ratio);
    for (const pane of this.panes) this.dress(pen, pane, width);
    this.markPick(pen);
    this.expose();
    return true;
  }

  /** All bars of all panes, as one image. */
  raster(pen, ratio) {
    const [w, h] = [Math.floor(this.plot * ratio), Math.round(this.height * ratio)];
    this.layer ||= document.createElement("canvas");
    Object.assign(this.layer, { width: w, height: h });
    const image = new ImageData(w, h);
    const pixels = new Uint32Array(image.data.buffer);
    const shares = new Float32Array(w * SLOTS);
    const inks = this.colours().map(word);
    const overlap = new Array(SLOTS).fill(word(PALETTE.overlap));
    for (const pane of this.panes) {
      const { t0, t1 } = this.windows[pane.number];
      pane.rows.forEach((row, index) => {
        const slots = row.kind === "overlap" ? null : this.slots[pane.number];
        accumulate(shares, row, slots, t0, (t1 - t0) / w, w);
        const top = Math.round((pane.first + index * pane.height + 1) * ratio);
        const height = Math.max(1, Math.round((pane.height - 2) * ratio));
        paintRow(pixels, w, 0, top, height, shares, w, row.share, row.kind === "overlap" ? overlap : inks);
      });
    }
    this.layer.getContext("2d").putImageData(image, 0, 0);
    pen.drawImage(this.layer, 0, 0, w, h, GUTTER, 0, w / ratio, h / ratio);
  }

  colours() {
    if (this.options.colourBy !== "kind") return PALETTE.groups;
    return [...PALETTE.kinds, ...PALETTE.groups].slice(0, SLOTS);
  }

  /** Title, labels, row lines, numbers in wide bars and the time axis of a pane. */
  dress(pen, pane, width) {
    const { text, border, font } = this.theme;
    const { run, number } = pane;
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    pen.fillStyle = text;
    pen.font = `600 13px ${font}`;
    const name = this.runs.length > 1 ? `${run.name} · ${run.title}` : run.title;
    const length = secondsText(run.cycles * run.seconds_per_cycle);
    const said = run.rounds > 1 ? `the first of ${run.rounds} rounds, ${length}` : `the whole batch, ${length}`;
    pen.fillText(fitted(pen, `${name} — ${said}`, width - 16), 8, pane.top + TITLE / 2 + 1);
    pen.font = `11px ${font}`;
    pane.rows.forEach((row, index) => {
      const y = pane.first + index * pane.height;
      pen.fillStyle = text;
      pen.fillText(fitted(pen, row.label, GUTTER - 14), 8, y + pane.height / 2 + 0.5);
      pen.fillStyle = border;
      pen.fillRect(0, y, width, row.core !== pane.rows[index - 1]?.core ? 1 : 0.3);
    });
    if (this.options.colourBy !== "kind") this.number(pen, pane);
    this.axis(pen, pane);
  }

  /** Layer or group numbers in bars wide enough to hold them: ten colours repeat, numbers do not. */
  number(pen, pane) {
    const { t0, t1 } = this.windows[pane.number];
    const perCycle = this.plot / (t1 - t0);
    const { start, hold, layer, group } = pane.run.arrays;
    const named = this.options.colourBy === "layer" ? layer : group;
    pen.textAlign = "center";
    pen.font = `10px ${this.theme.font}`;
    pane.rows.forEach((row, index) => {
      if (row.share !== 1 || row.kind === "overlap") return;
      const [range] = row.ranges;
      const y = pane.first + (index + 0.5) * pane.height + 0.5;
      for (let i = firstAfter(start, hold, range.from, range.to, t0), n = 0; i < range.to && n < 400; i++) {
        if (start[i] >= t1) break;
        if (hold[i] * perCycle < 22 || named[i] < 0) continue;
        const x = GUTTER + (Math.max(start[i], t0) + Math.min(start[i] + hold[i], t1) - 2 * t0) / 2 * perCycle;
        pen.fillStyle = inkOn(PALETTE.groups[named[i] % SLOTS]);
        pen.fillText(String(named[i] + 1), x, y);
        n += 1;
      }
    });
    pen.textAlign = "left";
  }

  axis(pen, pane) {
    const { t0, t1 } = this.windows[pane.number];
    const scale = pane.run.seconds_per_cycle || 1;
    const step = tickStep((t1 - t0) * scale, this.plot / 110);
    pen.font = `11px ${this.theme.font}`;
    pen.textAlign = "center";
    pen.fillStyle = this.theme.text;
    for (let tick = Math.ceil((t0 * scale) / step); tick * step <= t1 * scale; tick++) {
      const x = GUTTER + ((tick * step) / scale - t0) / (t1 - t0) * this.plot;
      pen.fillRect(x, pane.foot, 1, 4);
      pen.fillText(secondsText(tick * step), clamp(x, GUTTER + 8, GUTTER + this.plot - 24), pane.foot + 13);
    }
    pen.textAlign = "left";
    pen.fillText("time", 8, pane.foot + 13);
  }

  /** Outline of the picked instruction, and a line to the one it waited for. */
  markPick(pen) {
    if (!this.pick) return;
    const pane = this.panes[this.pick.pane];
    const at = this.place(pane, this.pick.index);
    if (!at) return;
    pen.strokeStyle = this.theme.text;
    pen.lineWidth = 2;
    pen.strokeRect(at.x, at.y, Math.max(3, at.w), pane.height);
    const other = pane.run.arrays.wait_on[this.pick.index];
    const from = other < 0 ? null : this.place(pane, other);
    if (!from) return;
    pen.setLineDash([4, 3]);
    pen.strokeRect(from.x, from.y, Math.max(3, from.w), pane.height);
    pen.beginPath();
    pen.moveTo(from.x + from.w, from.y + pane.height / 2);
    pen.lineTo(at.x, at.y + pane.height / 2);
    pen.stroke();
    pen.setLineDash([]);
  }

  /** Box of an instruction in pixels, clipped to the window; null outside it. */
  place(pane, index) {
    const { t0, t1 } = this.windows[pane.number];
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

  /** The instruction under a point, or null. */
  find(x, y) {
    const pane = this.paneAt(y);
    const row = pane?.rows[Math.floor((y - pane.first) / pane.height)];
    if (!row || y < pane.first || x < GUTTER || row.share !== 1 || row.kind === "overlap") return null;
    const { t0, t1 } = this.windows[pane.number];
    const slack = (t1 - t0) / this.plot;
    const cycle = t0 + (x - GUTTER) * slack;
    const [range] = row.ranges;
    const index = firstAfter(row.start, row.hold, range.from, range.to, cycle - slack);
    if (index >= range.to || row.start[index] > cycle + slack) return null;
    return { pane: pane.number, index, row };
  }

  /** What is said of an instruction: op, kind, tile, bytes, times, and what it waited for. */
  describe({ pane, index, row }) {
    const { run } = this.panes[pane];
    const { op, kind, tile, layer, group, size_bytes, start, hold, wait, wait_on } = run.arrays;
    const named = (i) => (op[i] < 0 ? KINDS[kind[i]] : `${run.ops[op[i]]} (${KINDS[kind[i]]})`);
    const lines = [named(index), `${row.label} · tile ${tile[index] + 1}`];
    if (layer[index] >= 0) lines.push(`layer ${layer[index] + 1}: ${run.layers[layer[index]]}`);
    if (group[index] >= 0) lines.push(`sub-graph ${run.groups[group[index]]}`);
    if (size_bytes[index]) lines.push(`${bytesText(size_bytes[index])} moved`);
    const scale = run.seconds_per_cycle;
    lines.push(`starts ${secondsText(start[index] * scale)}, takes ${secondsText(hold[index] * scale)} (${hold[index]} cycles)`);
    const other = wait_on[index];
    lines.push(`waited for ${WAITS[wait[index]]}${other < 0 ? "" : `: ${named(other)}`}`);
    return lines;
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
    this.pick = this.find(x, y);
    this.said.textContent = this.pick ? this.describe(this.pick).join(" · ") : "";
    this.paint();
  }

  escape() {
    const had = this.pick !== null;
    this.pick = null;
    this.said.textContent = "";
    this.leave();
    this.paint();
    return had;
  }

  zoom(factor, x, y) {
    this.change(y, (w) => {
      const at = w.t0 + (w.t1 - w.t0) * (x === null ? 0.5 : clamp((x - GUTTER) / this.plot, 0, 1));
      return { t0: at - (at - w.t0) * factor, t1: at + (w.t1 - at) * factor };
    });
  }

  pan(dx, dy, x, y) {
    this.change(y ?? null, (w) => {
      const shift = dx / this.plot * (w.t1 - w.t0);
      return { t0: w.t0 + shift, t1: w.t1 + shift };
    });
  }

  fit() {
    this.change(null, () => ({ t0: 0, t1: this.longest }));
  }

  /** Apply a change to the window under `y`, or to all when they are locked or there is no point. */
  change(y, next) {
    const pane = this.paneAt(y);
    this.windows = this.windows.map((window, r) => {
      if (!this.options.isLocked && y !== null && r !== pane?.number) return window;
      const { t0, t1 } = next(window);
      const span = clamp(t1 - t0, 20, this.longest);
      const low = clamp(t0, 0, this.longest - span);
      return { t0: low, t1: low + span };
    });
    this.isZoomed = this.windows.some((w) => w.t0 > 0 || w.t1 < this.longest);
    this.leave();
    this.paint();
    share("windows", this.isZoomed ? this.windows.map((w) => [w.t0, w.t1]) : null, this.canvas);
  }

  /** The scene, for tests: windows, panes, rows, and the picked instruction. */
  expose() {
    const { dataset } = this.canvas;
    dataset.scene = JSON.stringify({
      windows: this.windows, longest: this.longest, plot: this.plot, gutter: GUTTER,
      panes: this.panes.map(({ run, rows, top, first, height, foot }) => ({
        title: run.title, rows: rows.map((row) => row.label), top, first, height, foot,
        instructions: run.arrays.start.length,
      })),
      options: this.options, pick: this.pick && { pane: this.pick.pane, index: this.pick.index },
    });
  }
}

function fillLegend(root, gantt) {
  const legend = root.querySelector(".legend");
  const entries = gantt.options.colourBy === "kind"
    ? PALETTE.kindNames.map((name, i) => [name, PALETTE.kinds[i]])
    : [["ten colours in turn; the number in a bar tells which", PALETTE.groups[0]]];
  entries.push(["two or more layers at once on a core", PALETTE.overlap]);
  legend.replaceChildren(...entries.map(([name, colour]) => {
    const entry = document.createElement("span");
    const swatch = document.createElement("i");
    swatch.style.background = colour;
    entry.append(swatch, name);
    return entry;
  }));
}

export default function ({ data, parentElement }) {
  const canvas = parentElement.querySelector("canvas");
  const gantt = (canvas.gantt ||= new Gantt(parentElement, canvas));
  const buffer = readBuffer(data);
  if (isLate(gantt, buffer)) return;
  canvas.setAttribute("aria-label", buffer.header.label || "Gantt chart");
  gantt.load(buffer);
  fillLegend(parentElement, gantt);
  parentElement.querySelector(".lock").hidden = gantt.runs.length < 2;
}
