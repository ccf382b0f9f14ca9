// The op graph with each run's sub-graphs, A left and B right: one vertical axis (topological rank)
// for both, horizontal places each pane's own. Collapsed at first; a double click or Enter opens.

import {
  bindCanvas, bindTools, common, follow, isLate, painter, readBuffer, readSelected, readTheme,
  selectedOps, share, showTip, sizedPen,
} from "./canvas_kit.js";
import {
  describeGraph, marksOf, opsFrom, readGraphs, visibleEdges,
} from "./graph_boxes.js";
import { describeEdge, edgeAt, edgeMiddle } from "./graph_edges.js";
import { GraphPainter, MAX_TOLD, showGraphLegend } from "./graph_paint.js";
import { HitList } from "./graph_hits.js";
import { GraphPlane, HEAD } from "./graph_plane.js";
import { GraphSearch } from "./graph_search.js";

const HEIGHT = 720;
const MAX_OPEN_NODES = 2000;
const HELP =
  "Click: select. Double click or Enter: open or close. [ and ]: sub-graph before and after. " +
  "N and P: its next and previous op. X: the same place in the other run. F: show what is selected. " +
  "W, S, + and -: zoom. A, D and arrows: move. 0: everything. /: search; there Enter and Shift+Enter " +
  "go from hit to hit. Esc: give up op, then sub-graph, then the canvas.";

class GraphView {
  constructor(root, canvas) {
    this.root = root;
    this.canvas = canvas;
    this.plane = new GraphPlane();
    this.search = new GraphSearch();
    this.flags = null;
    this.hasShapes = true;
    this.note = "";
    this.painter = new GraphPainter(this);
    this.tip = root.querySelector(".tip");
    this.stage = root.querySelector(".stage");
    this.said = root.querySelector(".said");
    this.hits = root.querySelector(".hits");
    this.searchBox = root.querySelector("[data-act=search]");
    this.hitList = new HitList(root.querySelector(".found"), this.searchBox, (at) => this.goTo(at));
    this.paint = painter(canvas, () => this.draw());
    this.bind();
    follow("selected", canvas, () => this.mark());
    new ResizeObserver(() => this.paint()).observe(this.stage);
  }

  bind() {
    const { canvas, root } = this;
    bindCanvas(canvas, this);
    canvas.addEventListener("pointerdown", ({ offsetX, offsetY }) => {
      this.isJumping = offsetY >= HEAD && this.plane.isStrip(offsetX);
    });
    canvas.ondblclick = (event) => this.toggle(this.plane.find(event.offsetX, event.offsetY));
    canvas.addEventListener("keydown", (event) => this.key(event));
    this.searchBox.onkeydown = (event) => this.searchKey(event);
    bindTools(root, {
      in: () => this.zoom(0.7, null, null),
      out: () => this.zoom(1 / 0.7, null, null),
      fit: () => this.fit(),
      expand: () => this.setAll(true),
      collapse: () => this.setAll(false),
      open: () => this.toggle(this.place),
      show: () => this.show(),
      shapes: (isOn) => this.setShapes(isOn),
      search: (value) => this.find(value),
      next: () => this.hit(1),
      previous: () => this.hit(-1),
      keys: () => this.help(),
    });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const acts = {
      Enter: () => this.toggle(this.place), KeyF: () => this.show(), KeyX: () => this.cross(),
      KeyN: () => this.stepOp(1), KeyP: () => this.stepOp(-1),
      BracketRight: () => this.step(1), BracketLeft: () => this.step(-1),
    };
    const act = event.key === "/" ? () => this.searchBox.focus() : acts[event.code];
    if (!act) return;
    event.preventDefault();
    act();
  }

  searchKey(event) {
    if (event.key === "Enter") this.hit(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") this.canvas.focus({ preventScroll: true });
  }

  get runs() {
    return this.plane.runs;
  }

  /** Where what is selected stands: {pane, group, op}; null for nothing or nothing here. */
  get place() {
    const found = readSelected(common.selected);
    const pane = found ? this.runs.findIndex((run) => run.name === found.run) : -1;
    const op = pane < 0 || !this.flags ? -1 : this.flags[pane].indexOf(1);
    if (op < 0) return null;
    return { pane, group: this.runs[pane].group[op], op: found.kind === "op" ? op : undefined };
  }

  load(buffer) {
    if (this.digest === buffer.header.digest) return this.paint();
    this.digest = buffer.header.digest;
    clearTimeout(this.exposing); // it would tell of these runs what was drawn of those before
    const before = this.runs;
    this.plane.runs = readGraphs(buffer);
    this.runs.forEach((run, r) => before[r]?.identity === run.identity && (run.opened = before[r].opened));
    const ranks = this.runs.reduce((most, run) => run.rank.reduce((a, b) => Math.max(a, b + 1), most), 1);
    const isSame = before.length === this.runs.length && this.plane.ranks === ranks;
    Object.assign(this.plane, { ranks, height: HEIGHT, pitch: isSame ? this.plane.pitch : 0 });
    this.search.set(this.searchBox.value, this.runs);
    this.hitList.fill(this.search, this.runs, false);
    this.arrange();
    this.mark();
  }

  arrange() {
    this.leave();
    this.runs.forEach((run) => (run.edges = visibleEdges(run)));
    this.paint();
  }

  /** Mark the ops that are selected now, here or in another canvas. */
  mark() {
    this.flags = selectedOps(common.selected, this.runs);
    this.runs.forEach((run, pane) => {
      run.marks = marksOf(run, this.flags && this.flags[pane]);
    });
    this.tell();
    this.paint();
  }

  /** Say which keys there are, over the canvas too; a second time takes that away. */
  help() {
    if (!this.tip.hidden && this.note === HELP) return this.tell();
    this.tell(HELP);
    showTip(this.tip, this.stage, HELP.split(". "), 12, HEAD);
  }

  /** Say `note`, or else what the search stands at and what is selected. */
  tell(note = "") {
    this.note = note;
    this.leave();
    const found = readSelected(common.selected);
    const lines = this.place && found.kind !== "layer" ? describeGraph(this.runs, this.place) : [];
    if (this.place && found.kind === "layer") lines.push(`layer ${this.runs[this.place.pane].layers[found.index]}`);
    if (lines.length) lines[0] = `selected: ${lines[0]}`;
    this.hits.textContent = this.search.inBrief(); // `said` is below the canvas, and for screen readers
    this.said.textContent = note || [this.search.said(), ...lines].filter(Boolean).join(" · ");
  }

  draw() {
    const sized = sizedPen(this.canvas, HEIGHT);
    if (!sized) return false;
    Object.assign(this.plane, { width: sized.width, height: sized.height });
    if (!this.plane.pitch) this.plane.begin();
    this.theme = readTheme(this.root.host || this.root);
    this.painter.draw(sized.pen, this.theme);
    if (this.canvas.dataset.scene) {
      clearTimeout(this.exposing);
      this.exposing = setTimeout(() => this.expose(), 50);
    } else this.expose();
    return true;
  }

  hover(x, y) {
    const lines = this.lines(x, y);
    this.canvas.dataset.hover = lines ? lines.join(" | ") : "";
    if (lines) showTip(this.tip, this.stage, lines, x, y);
    else this.leave();
  }

  /** What is under a point, in words: an op, an edge, or a sub-graph. */
  lines(x, y) {
    if (y < HEAD || this.plane.isStrip(x)) return null;
    const found = this.plane.find(x, y);
    if (found && found.op !== undefined) return describeGraph(this.runs, found);
    const isInside = found && !this.runs[found.pane].opened.has(found.group);
    const edge = isInside ? null : edgeAt(this.canvas.getContext("2d"), this.plane, x, y, window.devicePixelRatio || 1);
    if (edge) return describeEdge(this.runs, edge);
    return found && describeGraph(this.runs, found);
  }

  leave() {
    this.tip.hidden = true;
  }

  click(x, y) {
    if (y >= HEAD && this.plane.isStrip(x)) return this.jump(y);
    this.select(this.plane.find(x, y));
  }

  /** Have the rank at `y` of a strip in the middle. */
  jump(y) {
    this.plane.moveTo(this.plane.stripRank(y) - this.plane.rows / 2);
    this.paint();
  }

  select(found) {
    const run = found && this.runs[found.pane].name.toLowerCase();
    const what = found && (found.op === undefined ? `group-${found.group}` : `op-${found.op}`);
    share("selected", found ? `${run}-${what}` : "", this.canvas);
    this.mark();
  }

  /** Bring what is selected in sight, in both panes. */
  show() {
    if (!this.flags) return this.tell("nothing is selected: click a sub-graph, or step through them with [ and ]");
    this.plane.reveal(this.flags);
    this.leave();
    this.paint();
  }

  /** The next sub-graph in order, for the keyboard ([ and ]). */
  step(by) {
    const pane = this.place?.pane ?? 0;
    const count = this.runs[pane].groups.length;
    this.select({ pane, group: this.place ? (this.place.group + by + count) % count : 0 });
    this.show();
  }

  /** The next op of the selected sub-graph, which is opened (N and P). */
  stepOp(by) {
    const { place } = this;
    if (!place) return this.show();
    const ops = this.runs[place.pane].members[place.group];
    const at = place.op === undefined ? (by > 0 ? -1 : ops.length) : ops.indexOf(place.op);
    this.open(place.pane, place.group);
    const op = ops[(at + by + ops.length) % ops.length];
    this.plane.nameOps(this.runs[place.pane].rank[op]);
    this.select({ ...place, op });
    this.show();
  }

  /** What the other run makes of the selected place (X). */
  cross() {
    const { place } = this;
    if (!place || this.runs.length < 2) return this.show();
    const pane = 1 - place.pane;
    const op = this.flags[pane].indexOf(1);
    if (op < 0) return this.show();
    this.select({ pane, group: this.runs[pane].group[op], op: place.op === undefined ? undefined : op });
    this.show();
  }

  escape() {
    const { place } = this;
    this.leave();
    if (!place) return false;
    this.select(place.op === undefined ? null : { pane: place.pane, group: place.group });
    return true;
  }

  open(pane, group) {
    this.runs[pane].opened.add(group);
    this.arrange();
  }

  toggle(found) {
    if (!found) return this.tell("nothing is selected: click a sub-graph, or step through them with [ and ]");
    const run = this.runs[found.pane];
    if (!run.opened.delete(found.group)) {
      run.opened.add(found.group);
      this.plane.nameOps(run.groups[found.group].first);
      this.plane.revealSideways(found.pane, run.members[found.group][0]);
    }
    this.arrange();
  }

  setAll(isOpen) {
    const tooMany = this.runs.find((run) => run.ops.length > MAX_OPEN_NODES);
    if (isOpen && tooMany) {
      return this.tell(
        `not expanded: ${tooMany.ops.length} ops would be drawn in a pane, at most ${MAX_OPEN_NODES} can be read. ` +
        "Open single sub-graphs (double click or Enter), or search for an op: Enter opens its sub-graph.",
      );
    }
    for (const run of this.runs) {
      run.opened = new Set(isOpen ? [...run.groups.keys()].filter((g) => run.members[g].length) : []);
    }
    this.arrange();
  }

  setShapes(isOn) {
    this.hasShapes = isOn;
    this.paint();
  }

  find(value) {
    this.search.set(value, this.runs);
    this.hitList.fill(this.search, this.runs, true);
    this.tell();
    this.paint();
  }

  hit(by) {
    this.goTo(this.search.next(by));
  }

  /** Go to a hit: its sub-graphs are opened, it is selected and brought in sight. */
  goTo(at) {
    const origin = this.search.go(at);
    this.hitList.close(at); // it may cover the hit
    if (origin === undefined) return this.tell(this.search.text ? "" : "write part of an op's name, type or attributes first");
    const found = this.runs.map((run) => opsFrom(run, origin));
    found.forEach((ops, pane) => ops.forEach((op) => this.open(pane, this.runs[pane].group[op])));
    const wanted = this.place?.pane ?? 0;
    const pane = found[wanted].length ? wanted : found.findIndex((ops) => ops.length);
    const op = found[pane].find((own) => this.search.flags[pane][own]) ?? found[pane][0];
    this.select({ pane, group: this.runs[pane].group[op], op });
    this.plane.nameOps(this.runs[pane].rank[op]);
    this.show();
  }

  zoom(factor, x, y) {
    this.plane.zoom(factor, y ?? this.middle());
    this.leave();
    this.paint();
  }

  pan(dx, dy, x, y) {
    this.leave();
    if (Number.isFinite(x) && this.isJumping) return this.jump(y);
    if (dx) this.plane.shift(dx, Number.isFinite(x) ? this.plane.paneAt(x) : null);
    this.plane.moveTo(this.plane.top + dy / this.plane.pitch);
    this.paint();
  }

  /** Where keys zoom: at what is selected where that is in sight, else in the middle (null). */
  middle() {
    const op = this.flags ? this.flags[0].indexOf(1) : -1;
    const y = op < 0 ? -1 : this.plane.yOf(this.runs[0].rank[op]);
    return y > HEAD && y < this.plane.height ? y : null;
  }

  fit() {
    this.leave();
    this.plane.reset();
    this.paint();
  }

  /** What is shown, for tests and tools: what is in sight, at most MAX_TOLD boxes of a kind. */
  expose() {
    const { plane, search, painter: drawn } = this;
    this.canvas.dataset.scene = JSON.stringify({
      view: { pitch: plane.pitch, top: plane.top, left: plane.left, rows: plane.rows },
      ranks: plane.ranks, isLocked: plane.isLocked, selected: readSelected(common.selected),
      hasShapes: this.hasShapes, inks: [...drawn.inks],
      search: { text: search.text, hits: search.hits.length, at: search.at, current: search.current ?? null },
      panes: this.runs.map((run, pane) => ({
        title: run.title, groups: run.groups.length, opened: [...run.opened], marks: run.marks,
        boxes: drawn.told[pane].boxes, ops: drawn.told[pane].ops, shapes: drawn.told[pane].shapes,
        edges: drawn.told[pane].edges.slice(0, MAX_TOLD).map(({ edge, ends }) => (
          { s: edge.s, t: edge.t, ...edgeMiddle(ends, plane.pitch) })),
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
  graph.load(buffer);
  const legend = parentElement.querySelector(".legend");
  showGraphLegend(legend, buffer.header.hues, readTheme(parentElement.host || parentElement));
}
