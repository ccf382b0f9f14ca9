// Drawing of the graph view: panes, sub-graphs, ops, marks, and the strip that shows it whole.

import { fitted, fittedTail, hueEntries, inkOn } from "./canvas_kit.js";
import { drawEdges, drawShapes, MIN_TEXT } from "./graph_edges.js";
import { HEAD, STRIP } from "./graph_plane.js";
import { shorterNames } from "./group_names.js";

export const MAX_TOLD = 300;
const NAME_ROOM = 60;
const LETTER = 6; // pixels, of a letter as wide as most
const BAND = 12; // width of the hues at the edge of a sub-graph that has several

/** Draws one frame of a GraphView; `told` is what the frame shows, for the scene. */
export class GraphPainter {
  constructor(view) {
    this.view = view;
    this.fits = new Map();
  }

  draw(pen, theme) {
    const { plane, runs } = this.view;
    this.pen = pen;
    this.theme = theme;
    this.plane = plane;
    this.inks = new Set();
    this.told = runs.map(() => ({ boxes: [], ops: [], edges: [], shapes: [] }));
    if (this.fits.size > 20000) this.fits.clear();
    pen.fillStyle = theme.background;
    pen.fillRect(0, 0, plane.width, plane.height);
    plane.measure();
    runs.forEach((run, pane) => this.drawPane(run, pane));
  }

  drawPane(run, pane) {
    const { pen, plane, theme, view } = this;
    const x = pane * plane.paneWidth();
    pen.save();
    pen.beginPath();
    pen.rect(x, HEAD, plane.room(), plane.height - HEAD);
    pen.clip();
    const edges = drawEdges(pen, plane, pane, theme, view.flags && view.flags[pane]);
    run.members.forEach((ops, g) => ops.length && this.drawGroup(run, pane, g));
    this.told[pane].edges = edges;
    if (view.hasShapes) {
      const solid = [...this.told[pane].boxes.filter(({ group }) => !run.opened.has(group)), ...this.told[pane].ops];
      this.told[pane].shapes = drawShapes(pen, plane, run, edges, theme, solid);
    }
    if (this.told[pane].shapes.length) this.inks.add(`${theme.text} on ${theme.background}`);
    pen.restore();
    this.drawHead(run, x, pane);
    this.drawStrip(run, pane, x + plane.room());
  }

  drawHead(run, x, pane) {
    const { pen, plane, theme } = this;
    pen.fillStyle = theme.text;
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    pen.font = `600 13px ${theme.font}`;
    const count = run.members.filter((ops) => ops.length).length;
    const opened = run.opened.size ? `, ${run.opened.size} opened` : "";
    const named = this.view.runs.length > 1 ? `${run.name} · ${run.title}` : run.title;
    const said = `${count.toLocaleString("en-US")} sub-graph${count === 1 ? "" : "s"}`;
    const texts = [`${named} — ${said}${opened}`, `${named} — ${said}`, `${run.name} — ${said}`, run.name];
    const room = plane.paneWidth() - 24;
    pen.fillText(texts.find((own) => pen.measureText(own).width <= room) ?? run.name, x + 12, HEAD / 2);
    pen.fillStyle = theme.border;
    if (pane) pen.fillRect(x, 0, 1, plane.height);
  }

  /** The hue of a sub-graph; null for one whose layers have several. */
  colourOf(run, g) {
    return this.theme.hues[run.hues.groups[g]] ?? null;
  }

  colourOfOp(run, op) {
    return this.theme.hues[run.hues.layers[run.op_layer[op]]];
  }

  /** The hues of a shut sub-graph's layers, at its left edge. */
  drawBands(run, g, box, h) {
    const ops = run.members[g];
    ops.forEach((op, place) => {
      this.pen.fillStyle = this.colourOfOp(run, op);
      this.pen.fillRect(box.x, box.y + (place / ops.length) * h, Math.min(BAND, box.w / 3), h / ops.length + 0.5);
    });
  }

  drawGroup(run, pane, g) {
    const { pen, plane, theme, view } = this;
    const { first, last } = run.groups[g];
    if (last < plane.top - 1 || first > plane.top + plane.rows + 1) return;
    const box = plane.boxOf(pane, g);
    if (!plane.isInSight(box)) return;
    const colour = this.colourOf(run, g);
    const isOpen = run.opened.has(g);
    const isDim = view.search.isOn && !view.search.counts[pane][g];
    const h = Math.max(1, box.h);
    pen.globalAlpha = isOpen ? 0.18 : isDim ? 0.25 : 1;
    pen.fillStyle = colour || theme.panel;
    pen.fillRect(box.x, box.y, box.w, h);
    pen.globalAlpha = 1;
    if (!colour && !isOpen) this.drawBands(run, g, box, h);
    this.outline(box, h, run, g, colour);
    if (isOpen) run.members[g].forEach((op) => this.drawOp(run, pane, op, this.colourOfOp(run, op)));
    else this.label(run, pane, g, box, isDim ? null : colour);
    if (isOpen) this.drawName(run.groups[g].name, pane, box);
    else this.drawTicks(run, pane, g, box);
    this.tell(pane, "boxes", { group: g, name: run.groups[g].name, mark: run.marks[g], colour: colour || "", ...box });
  }

  /** Solid where all is selected, dashed where a part is. */
  outline(box, h, run, g, colour) {
    const { pen, theme } = this;
    const mark = run.marks[g];
    if (h >= 3 || mark) {
      pen.lineWidth = mark ? 3 : 1;
      pen.setLineDash(mark === "part" ? [5, 3] : []);
      pen.strokeStyle = mark ? theme.text : colour || theme.border;
      pen.strokeRect(box.x, box.y, box.w, h);
    }
    pen.setLineDash([]);
  }

  label(run, pane, g, box, colour) {
    const group = run.groups[g];
    const pieces = group.pieces > 1 ? ` ×${group.pieces}` : "";
    const ops = run.members[g];
    const types = ops.length <= 4 ? ops.map((op) => run.op_types[op]).join(" + ") : `${ops.length.toLocaleString("en-US")} ops`;
    const shorter = shorterNames(group.name);
    const names = [...shorter.map((name) => `${name}${pieces}`), shorter.at(-1), shorter.at(-1).split(", part")[0]];
    const left = colour ? 5 : BAND + 4;
    this.write([`${names[0]} · ${types}`, ...names, ""], "", { ...box, x: box.x + left, w: box.w - left - 5 }, colour);
  }

  /** The name of an opened sub-graph, left of its box, and within the pane. */
  drawName(name, pane, box) {
    const { pen, plane, theme } = this;
    const top = Math.max(box.y, HEAD);
    const height = Math.min(box.y + box.h, plane.height) - top;
    const edge = pane * plane.paneWidth();
    if (height < MIN_TEXT - 2 || box.x + box.w < edge) return;
    pen.font = `600 11px ${theme.font}`;
    const text = this.fit(firstThatFits(shorterNames(name), NAME_ROOM), "", NAME_ROOM);
    const width = pen.measureText(text).width;
    const y = top + Math.min(7, height / 2);
    pen.fillStyle = theme.background;
    const left = Math.max(edge + 2, box.x - width - 7);
    pen.fillRect(left, y - 6, width + 4, 12);
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillStyle = theme.text;
    pen.fillText(text, left + 2, y + 0.5);
  }

  /** In a closed box: where its selected ops are, at the left, and its hits, at the right. */
  drawTicks(run, pane, g, box) {
    const { plane, theme, view } = this;
    const { search, flags } = view;
    const h = Math.max(2, plane.pitch - plane.gap);
    const isPart = run.marks[g] === "part";
    if (!isPart && !search.isOn) return;
    const chosen = (wanted) => this.apart(run.members[g].filter((op) => wanted[op]).map((op) => plane.yOf(run.rank[op])));
    if (isPart) this.ticks(box.x + 2, chosen(flags[pane]), h, theme.text);
    if (search.isOn) this.ticks(box.x + box.w - 7, chosen(search.flags[pane]), h, PALETTE.hit);
  }

  /** Of rising places in sight, those that a pixel tells apart. */
  apart(places) {
    let last = -Infinity;
    return places.filter((y) => {
      const isNew = y - last >= 1 && y > 0 && y < this.plane.height;
      if (isNew) last = y;
      return isNew;
    });
  }

  ticks(x, places, h, colour) {
    const { pen, theme } = this;
    pen.fillStyle = theme.background;
    for (const y of places) pen.fillRect(x - 1, y - 1, 7, h + 2);
    pen.fillStyle = colour;
    for (const y of places) pen.fillRect(x, y, 5, h);
  }

  drawOp(run, pane, op, colour) {
    const { pen, plane, theme, view } = this;
    const box = plane.opBox(pane, op);
    if (!plane.isInSight(box)) return;
    const { search, flags } = view;
    const isHit = search.isOn && Boolean(search.flags[pane][op]);
    const isDim = search.isOn && !isHit;
    const isMarked = flags !== null && Boolean(flags[pane][op]) && run.marks[run.group[op]] === "part";
    const h = Math.max(1, box.h);
    pen.globalAlpha = isDim ? 0.25 : 1;
    pen.fillStyle = colour || theme.panel;
    pen.fillRect(box.x, box.y, box.w, h);
    pen.globalAlpha = 1;
    if (isMarked || (!colour && h >= 4)) this.ring(box, h, isMarked ? theme.text : theme.border, isMarked ? 3 : 1);
    if (isHit) this.ring({ x: box.x - 3, y: box.y - 3, w: box.w + 6 }, h + 6, PALETTE.hit, search.current === run.op_origin[op] ? 4 : 2);
    this.write(run.ops[op], `${run.op_types[op]} `, { ...box, x: box.x + 5, w: box.w - 8 }, isDim ? null : colour);
    this.tell(pane, "ops", { op, isMarked, isHit, ...box });
  }

  ring(box, h, colour, width) {
    this.pen.lineWidth = width;
    this.pen.strokeStyle = colour;
    this.pen.strokeRect(box.x, box.y, box.w, h);
  }

  /**
   * A line of text in the part of a box that is in sight; `ground` null is the theme's own. Of several
   * texts the first that is not cut.
   */
  write(text, head, box, ground) {
    const { pen, plane, theme } = this;
    const top = Math.max(box.y, HEAD);
    const height = Math.min(box.y + box.h, plane.height) - top;
    if (height < MIN_TEXT - 1 || box.w < 20) return;
    pen.font = `${height < 13 ? 11 : 12}px ${theme.font}`;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillStyle = ground ? inkOn(ground) : theme.text;
    this.inks.add(`${pen.fillStyle} on ${ground || theme.panel}`);
    const whole = Array.isArray(text) ? text.find((own) => this.fit(own, head, box.w) === own) ?? "" : text;
    pen.fillText(this.fit(whole, head, box.w), box.x, top + height / 2 + 0.5);
  }

  /** The part of a text that fits, looked up where it was asked for before. */
  fit(text, head, width) {
    const room = Math.floor(width);
    const key = `${this.pen.font}|${room}|${head}|${text}`;
    let found = this.fits.get(key);
    if (found === undefined) {
      found = head ? fittedTail(this.pen, head, text, room) : fitted(this.pen, text, room);
      this.fits.set(key, found);
    }
    return found;
  }

  /** The whole graph at a pane's right edge: what is in sight, selected and found. */
  drawStrip(run, pane, x) {
    const { pen, plane, theme, view } = this;
    const scale = (plane.height - HEAD) / plane.ranks;
    const place = (rank) => HEAD + rank * scale;
    pen.fillStyle = theme.panel;
    pen.fillRect(x, HEAD, STRIP, plane.height - HEAD);
    let drawn = -1;
    run.groups.forEach(({ first, last }, g) => {
      const [y, h] = [place(first), (last - first + 1) * scale];
      if (h <= 0 || (h < 0.5 && Math.abs(y - drawn) < 0.5)) return; // nothing, or within a pixel
      drawn = y;
      pen.fillStyle = this.colourOf(run, g) || theme.border;
      pen.fillRect(x + 4, y, STRIP - 8, Math.max(0.5, h - 0.5));
    });
    const mark = (flags, at, colour) => {
      const places = Float64Array.from(run.rank, (rank, op) => (flags[op] ? place(rank) : -1)).sort();
      pen.fillStyle = colour;
      for (const y of this.apart(places)) pen.fillRect(at, y, 3, Math.max(2, scale));
    };
    if (view.flags) mark(view.flags[pane], x, theme.text);
    if (view.search.isOn) mark(view.search.flags[pane], x + STRIP - 3, PALETTE.hit);
    pen.strokeStyle = theme.text;
    pen.lineWidth = 1.5;
    const rows = Math.min(plane.rows, plane.ranks);
    pen.strokeRect(x + 1, place(plane.top) + 1, STRIP - 2, Math.max(3, rows * scale - 2));
  }

  tell(pane, kind, item) {
    if (this.told[pane][kind].length < MAX_TOLD) this.told[pane][kind].push(item);
  }
}

/** What outlines and colours mean, under the canvas. */
export function showGraphLegend(place, hues, theme) {
  const entries = [
    ...hueEntries(hues, theme.hues).map(([title, colour]) => [`0.4rem solid ${colour}`, title]),
    ["2px solid currentColor", "selected"],
    ["2px dashed currentColor", "selected in part: ticks mark its ops"],
    [`2px solid ${PALETTE.hit}`, "found"],
    [null, "strip at the right: the whole graph; click or drag to go there"],
  ];
  place.replaceChildren(...entries.map(([border, text]) => {
    const entry = document.createElement("span");
    const swatch = document.createElement("i");
    if (border) {
      Object.assign(swatch.style, { border, boxSizing: "border-box" });
      entry.append(swatch);
    }
    entry.append(text);
    return entry;
  }));
}

/** The first of some texts that fits by its letters, or the last. */
function firstThatFits(texts, room) {
  return texts.find((text) => text.length * LETTER <= room) ?? texts.at(-1);
}
