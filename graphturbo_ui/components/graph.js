// The op graph with each run's sub-graphs, A left and B right: one vertical axis (topological rank)
// for both, horizontal places each pane's own. Collapsed at first; a double click or Enter opens.

const HEAD = 26;
const FOOT = 6;
const HEIGHT = 720;
const MAX_FIRST_PITCH = 48;
const MAX_OPEN_NODES = 2000;
const MIN_TEXT = 11;

class GraphView {
  constructor(root, canvas) {
    Object.assign(this, { root, canvas, query: null });
    this.tip = root.querySelector(".tip");
    this.stage = root.querySelector(".stage");
    this.said = root.querySelector(".said");
    this.flags = null;
    this.paint = painter(canvas, () => this.draw());
    bindCanvas(canvas, this);
    canvas.ondblclick = (event) => this.toggle(this.find(event.offsetX, event.offsetY));
    canvas.addEventListener("keydown", (event) => {
      if (event.code === "Enter" && this.selected) this.toggle(this.selected);
      if (event.code === "BracketRight" || event.code === "BracketLeft") this.step(event.code === "BracketRight" ? 1 : -1);
    });
    bindTools(root, {
      in: () => this.zoom(0.7, null, null),
      out: () => this.zoom(1 / 0.7, null, null),
      fit: () => this.fit(),
      expand: () => this.setAll(true),
      collapse: () => this.setAll(false),
      search: (value) => this.search(value),
    });
    follow("selected", canvas, () => this.mark());
    new ResizeObserver(() => this.paint()).observe(this.stage);
  }

  /** The selected sub-graph, {pane, group}, where one of these is selected as a whole. */
  get selected() {
    const found = readSelected(common.selected);
    const pane = found?.kind === "group" ? this.runs.findIndex((run) => run.name === found.run) : -1;
    return pane >= 0 && found.index < this.runs[pane].groups.length ? { pane, group: found.index } : null;
  }

  /** Mark the ops that are selected now, here or in another canvas. */
  mark() {
    this.flags = selectedOps(common.selected, this.runs);
    this.said.textContent = this.selected ? this.describe(this.selected).join(" · ") : "";
    this.paint();
  }

  load(buffer, height) {
    if (this.digest === buffer.header.digest) return this.paint();
    this.digest = buffer.header.digest;
    const known = this.runs;
    this.runs = readGraphs(buffer);
    const ranks = Math.max(1, ...this.runs.map((run) => 1 + run.rank.reduce((a, b) => Math.max(a, b), 0)));
    if (!known || this.ranks !== ranks) {
      this.view = null;
    } else {
      this.runs.forEach((run, r) => known[r]?.digestOf === run.title && (run.opened = known[r].opened));
    }
    this.runs.forEach((run) => (run.digestOf = run.title));
    Object.assign(this, { ranks, height });
    this.arrange();
    this.mark();
  }

  arrange() {
    this.runs.forEach((run) => (run.edges = visibleEdges(run)));
  }

  /** Pixels a rank, first rank shown, and each pane's shift sideways. */
  start() {
    this.view ||= { pitch: Math.min(MAX_FIRST_PITCH, (this.height - HEAD - FOOT) / this.ranks), top: 0, left: this.runs.map(() => 0) };
    while (this.view.left.length < this.runs.length) this.view.left.push(0);
  }

  paneWidth() {
    return this.width / this.runs.length;
  }

  columnWidth(run) {
    const room = (this.paneWidth() - 24) / run.columns;
    const fitting = this.view.pitch * this.ranks <= this.height ? Math.min(150, room) : 150;
    return Math.max(26, Math.min(Math.max(fitting, Math.min(150, this.view.pitch * 6)), 220));
  }

  boxOf(run, pane, g) {
    const { pitch, top, left } = this.view;
    const { first, last, left: from, right } = run.groups[g];
    const unit = this.columnWidth(run);
    const spare = Math.max(12, (this.paneWidth() - run.columns * unit) / 2);
    const x = pane * this.paneWidth() + spare - left[pane] + from * unit;
    const y = HEAD + (first - top) * pitch;
    return { x, y, w: (right - from) * unit - Math.min(12, unit * 0.15), h: (last - first + 1) * pitch - Math.min(5, pitch * 0.2) };
  }

  opBox(run, pane, op) {
    const box = this.boxOf(run, pane, run.group[op]);
    const unit = this.columnWidth(run);
    const y = HEAD + (run.rank[op] - this.view.top) * this.view.pitch;
    const pad = Math.min(5, this.view.pitch * 0.15);
    return { x: box.x + (run.x[op] - run.groups[run.group[op]].left) * unit + 3, y: y + pad, w: unit - 6 - Math.min(12, unit * 0.15), h: this.view.pitch - 2 * pad - Math.min(5, this.view.pitch * 0.2) };
  }

  draw() {
    const sized = sizedPen(this.canvas, this.height);
    if (!sized) return false;
    this.width = sized.width;
    this.start();
    this.theme = readTheme(this.root.host || this.root);
    const { pen } = sized;
    pen.fillStyle = this.theme.background;
    pen.fillRect(0, 0, this.width, this.height);
    this.runs.forEach((run, pane) => this.drawPane(pen, run, pane));
    this.expose();
    return true;
  }

  drawPane(pen, run, pane) {
    const x = pane * this.paneWidth();
    pen.save();
    pen.beginPath();
    pen.rect(x, HEAD, this.paneWidth(), this.height - HEAD);
    pen.clip();
    this.drawEdges(pen, run, pane);
    run.members.forEach((ops, g) => ops.length && this.drawGroup(pen, run, pane, g));
    pen.restore();
    pen.fillStyle = this.theme.text;
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    pen.font = `600 13px ${this.theme.font}`;
    const name = this.runs.length > 1 ? `${run.name} · ${run.title}` : run.title;
    const count = run.members.filter((ops) => ops.length).length;
    pen.fillText(fitted(pen, `${name} — ${count} sub-graph${count === 1 ? "" : "s"}`, this.paneWidth() - 20), x + 12, HEAD / 2);
    pen.fillStyle = this.theme.border;
    if (pane) pen.fillRect(x, 0, 1, this.height);
  }

  drawEdges(pen, run, pane) {
    pen.strokeStyle = this.theme.text;
    pen.globalAlpha = 0.55;
    pen.lineWidth = 1;
    const shapes = [];
    for (const [s, t, e] of run.edges) {
      const from = run.opened.has(run.group[s]) ? this.opBox(run, pane, s) : this.boxOf(run, pane, run.group[s]);
      const to = run.opened.has(run.group[t]) ? this.opBox(run, pane, t) : this.boxOf(run, pane, run.group[t]);
      const y0 = Math.min(from.y + from.h, to.y);
      if (Math.max(y0, to.y) < HEAD - 40 || Math.min(from.y, to.y) > this.height) continue;
      const [x0, x1] = [from.x + from.w / 2, to.x + to.w / 2];
      const isLong = to.y - y0 > this.view.pitch * 1.2 && Math.abs(x0 - x1) < 4;
      pen.beginPath();
      pen.moveTo(x0, y0);
      if (isLong) {
        const side = Math.max(from.x + from.w, to.x + to.w) + 8;
        const bend = Math.min(14, (to.y - y0) / 3);
        pen.bezierCurveTo(x0, y0 + 4, side, y0 + 2, side, y0 + bend);
        pen.lineTo(side, to.y - bend);
        pen.bezierCurveTo(side, to.y - 2, x1, to.y - 4, x1, to.y);
      } else {
        const bend = Math.min(to.y - y0, this.view.pitch * 1.5); // straight down, then over
        const middle = to.y - bend / 2;
        pen.lineTo(x0, to.y - bend);
        pen.bezierCurveTo(x0, middle, x1, middle, x1, to.y);
      }
      pen.stroke();
      if (to.y - y0 >= MIN_TEXT + 1 || isLong) shapes.push([e, (x0 + x1) / 2, (y0 + to.y) / 2, to.y - y0]);
    }
    pen.globalAlpha = 1;
    this.drawShapes(pen, run, shapes);
  }

  /** Tensor shapes beside edges that leave room for a line of text. */
  drawShapes(pen, run, shapes) {
    if (this.view.pitch < 3 * MIN_TEXT) return;
    pen.font = `10px ${this.theme.font}`;
    pen.fillStyle = this.theme.text;
    pen.textAlign = "left";
    for (const [e, x, y, gap] of shapes) if (gap >= MIN_TEXT) pen.fillText(run.shapes[e], x + 5, y);
  }

  drawGroup(pen, run, pane, g) {
    const box = this.boxOf(run, pane, g);
    if (box.y > this.height || box.y + box.h < HEAD) return;
    const colour = PALETTE.groups[g % PALETTE.groups.length];
    const isOpen = run.opened.has(g);
    const mark = this.markOf(run, g) || "";
    pen.globalAlpha = isOpen ? 0.18 : this.dims(run, g) ? 0.25 : 1;
    pen.fillStyle = colour;
    pen.fillRect(box.x, box.y, box.w, Math.max(1, box.h));
    pen.globalAlpha = 1;
    pen.lineWidth = mark ? 3 : 1;
    pen.setLineDash(mark === "part" ? [5, 3] : []);
    pen.strokeStyle = mark ? this.theme.text : colour;
    pen.strokeRect(box.x, box.y, box.w, Math.max(1, box.h));
    pen.setLineDash([]);
    if (isOpen) return run.members[g].forEach((op) => this.drawOp(pen, run, pane, op, colour));
    const label = this.labelOf(run, g);
    this.write(pen, label, box, this.dims(run, g) ? this.theme.text : inkOn(colour));
  }

  labelOf(run, g) {
    const group = run.groups[g];
    const pieces = group.pieces > 1 ? ` ×${group.pieces}` : "";
    const ops = run.members[g];
    const types = ops.length <= 4 ? ops.map((op) => run.op_types[op]).join(" + ") : `${ops.length} ops`;
    return `${group.name}${pieces} · ${types}`;
  }

  drawOp(pen, run, pane, op, colour) {
    const box = this.opBox(run, pane, op);
    if (box.y > this.height || box.y + box.h < HEAD) return;
    const isHit = this.query ? this.matches(run, op) : true;
    pen.globalAlpha = isHit ? 1 : 0.25;
    pen.fillStyle = colour;
    pen.fillRect(box.x, box.y, box.w, Math.max(1, box.h));
    pen.globalAlpha = 1;
    const ink = isHit ? inkOn(colour) : this.theme.text;
    this.write(pen, run.ops[op], box, ink, `${run.op_types[op]} `);
  }

  /** A line of text in the part of a box that is in sight. */
  write(pen, text, box, ink, head = "") {
    const top = Math.max(box.y, HEAD);
    const height = Math.min(box.y + box.h, this.height) - top;
    if (height < MIN_TEXT - 1 || box.w < 24) return;
    pen.font = `${height < 13 ? 10 : 12}px ${this.theme.font}`;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillStyle = ink;
    const shown = head ? fittedTail(pen, head, text, box.w - 8) : fitted(pen, text, box.w - 8);
    pen.fillText(shown, box.x + 5, top + height / 2 + 0.5);
  }

  /** `all` or `part` of a sub-graph's ops are selected, in this canvas or in another. */
  markOf(run, g) {
    const ops = run.members[g];
    const hit = this.flags ? ops.filter((op) => this.flags[op]).length : 0;
    return hit && (hit === ops.length ? "all" : "part");
  }

  dims(run, g) {
    return this.query !== null && !run.members[g].some((op) => this.matches(run, op));
  }

  matches(run, op) {
    return this.query.test(run.ops[op]) || this.query.test(run.op_types[op]);
  }

  search(value) {
    try {
      this.query = value ? new RegExp(value, "i") : null;
      const hits = value ? this.runs[0].ops.filter((_, op) => this.matches(this.runs[0], op)).length : 0;
      this.said.textContent = value ? `${hits} op${hits === 1 ? "" : "s"} found` : "";
    } catch {
      this.query = null;
      this.said.textContent = "not a regular expression";
    }
    this.paint();
  }

  find(x, y) {
    const pane = clamp(Math.floor(x / this.paneWidth()), 0, this.runs.length - 1);
    const run = this.runs[pane];
    if (y < HEAD) return null;
    const inside = (b) => x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + Math.max(b.h, 2);
    const group = run.members.findIndex((ops, g) => ops.length && inside(this.boxOf(run, pane, g)));
    if (group < 0) return null;
    const op = run.opened.has(group) ? run.members[group].find((o) => inside(this.opBox(run, pane, o))) : undefined;
    return { pane, group, op };
  }

  describe({ pane, group, op }) {
    const run = this.runs[pane];
    const { name, pieces } = run.groups[group];
    const ops = run.members[group];
    const lines = op === undefined ? [] : [`${run.op_types[op]} ${run.ops[op]}`];
    lines.push(`sub-graph ${name}: ${ops.length} op${ops.length === 1 ? "" : "s"} in ${pieces} piece${pieces === 1 ? "" : "s"}`);
    if (op === undefined) lines.push(ops.slice(0, 8).map((o) => run.op_types[o]).join(", ") + (ops.length > 8 ? " …" : ""));
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
    this.select(this.find(x, y));
  }

  select(found) {
    share("selected", found ? `${this.runs[found.pane].name.toLowerCase()}-group-${found.group}` : "", this.canvas);
    this.mark();
  }

  /** The next sub-graph in order, for the keyboard ([ and ]). */
  step(by) {
    const pane = this.selected?.pane ?? 0;
    const count = this.runs[pane].groups.length;
    const group = this.selected ? (this.selected.group + by + count) % count : 0;
    const { first } = this.runs[pane].groups[group];
    const rows = (this.height - HEAD) / this.view.pitch;
    if (first < this.view.top || first > this.view.top + rows) this.view.top = first;
    this.select({ pane, group });
  }

  escape() {
    const had = this.selected !== null;
    this.leave();
    if (had) this.select(null);
    return had;
  }

  toggle(found) {
    if (!found) return;
    const { opened } = this.runs[found.pane];
    if (!opened.delete(found.group)) opened.add(found.group);
    this.arrange();
    this.paint();
  }

  setAll(isOpen) {
    const tooMany = this.runs.find((run) => run.ops.length > MAX_OPEN_NODES);
    if (isOpen && tooMany) {
      this.said.textContent = `${tooMany.ops.length} ops would be drawn: open the sub-graphs you want by double click, or search`;
      return;
    }
    this.runs.forEach((run) => (run.opened = new Set(isOpen ? run.groups.keys() : [])));
    this.arrange();
    this.paint();
  }

  zoom(factor, x, y) {
    const { pitch, top } = this.view;
    const fit = (this.height - HEAD - FOOT) / this.ranks;
    const next = clamp(pitch / factor, Math.min(fit, 60), 60);
    const at = y === null ? (this.height - HEAD) / 2 : Math.max(0, y - HEAD);
    this.view.pitch = next;
    this.moveTo(top + at / pitch - at / next);
  }

  pan(dx, dy, x) {
    const pane = x === null || x === undefined ? 0 : clamp(Math.floor(x / this.paneWidth()), 0, this.runs.length - 1);
    const shifted = x === null || x === undefined ? this.runs.map((_, r) => r) : [pane];
    for (const r of shifted) {
      const most = Math.max(0, this.runs[r].columns * this.columnWidth(this.runs[r]) + 24 - this.paneWidth());
      this.view.left[r] = clamp(this.view.left[r] + dx, 0, most);
    }
    this.moveTo(this.view.top + dy / this.view.pitch);
  }

  moveTo(top) {
    const rows = (this.height - HEAD - FOOT) / this.view.pitch;
    this.view.top = clamp(top, 0, Math.max(0, this.ranks - rows));
    this.leave();
    this.paint();
  }

  fit() {
    this.view = null;
    this.paint();
  }

  expose() {
    this.canvas.dataset.scene = JSON.stringify({
      view: this.view, ranks: this.ranks, selected: this.selected,
      panes: this.runs.map((run, pane) => ({
        title: run.title, opened: [...run.opened],
        boxes: run.groups.map((group, g) => run.members[g].length && {
          name: group.name, mark: this.markOf(run, g) || "", ...this.boxOf(run, pane, g),
        }),
      })),
    });
  }
}

export default function ({ data, parentElement }) {
  const canvas = parentElement.querySelector("canvas");
  const graph = (canvas.graph ||= new GraphView(parentElement, canvas));
  const buffer = readBuffer(data);
  if (isLate(graph, buffer)) return;
  canvas.setAttribute("aria-label", buffer.header.label || "Sub-graph groupings");
  graph.load(buffer, HEIGHT);
}
