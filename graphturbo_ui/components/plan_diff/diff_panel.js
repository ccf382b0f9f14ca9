// The picture of the plan diff: A's kernels, the graph, B's kernels, and a column per aspect.

import { Pen } from "../overview/draw.js";
import { GroupingsPanel } from "../overview/groupings_panel.js";
import { countText } from "../overview/words.js";
import { diffRows, foldText, heightOf } from "./diff_rows.js";

const WIDTHS = { numbers: 30, a: 108, graph: 52, b: 108, name: 172, groups: 124, pieces: 84, cores: 150, output: 116, order: 104 };
const GAPS = { numbers: 8, a: 8, graph: 8, b: 14, name: 12, groups: 8, pieces: 8, cores: 8, output: 8, order: 0 };
const ASPECTS = ["groups", "pieces", "cores", "output", "order"];
const PAD = 14;
const PITCH = 20;
const HEAD = 40;
const FOOT = 4;
const DIM = 0.62; // how much of what is the same in both is hidden
const TEXT = 12.5;
const WIDEST = 0.75; // width of a sign over the size of its type, at most on average

export class DiffPanel extends GroupingsPanel {
  constructor(svg, heads) {
    super(svg);
    this.heads = heads;
  }

  hasNumbers() {
    return true;
  }

  /** Draw all but what is pointed at. `isFolded(block)`: whether a stretch is one line. */
  draw(scene, { width, k, font, isFolded }) {
    this.scene = scene;
    /** @type {any} */
    this.diff = scene;
    this.width = width;
    this.columns = this.columnsFor(width);
    const [a, b] = scene.runs.map((run) => run.groupOfLayer);
    this.rows = diffRows({
      layers: scene.layers.length, folds: scene.folds, isFolded, pitch: PITCH * k,
      ends: (layer) => a[layer] !== a[layer + 1] || b[layer] !== b[layer + 1],
    });
    this.height = heightOf(this.rows) + FOOT;
    size(this.svg, width, this.height);
    this.svg.replaceChildren();
    const pen = new Pen(this.svg, k, font);
    this.k = k;
    this.fits = new Map();
    this.above = [];
    this.ground = pen.group("ground");
    for (const run of scene.runs) this.drawRun(pen.group("boxes"), run);
    this.drawGraph(pen.group("graph"));
    this.drawNumbers(pen.group("numbers"));
    this.drawVeil(pen.group("veil"));
    for (const draw of this.above) draw(pen.group("above"));
    this.veilNumbers();
    this.drawTexts(pen.group("texts"));
    this.over = pen.group("over");
    this.drawHeads(k, font);
  }

  columnsFor(width) {
    const whole = [...Object.values(WIDTHS), ...Object.values(GAPS)].reduce((a, b) => a + b, 0);
    const unit = (width - 2 * PAD) / whole;
    const found = {};
    let x = PAD;
    for (const name of Object.keys(WIDTHS)) {
      found[name] = { x, width: WIDTHS[name] * unit };
      x += (WIDTHS[name] + GAPS[name]) * unit;
    }
    return found;
  }

  drawHeads(k, font) {
    const { diff: scene, columns } = this;
    size(this.heads, this.width, HEAD * k);
    this.heads.replaceChildren();
    const pen = new Pen(this.heads, k, font);
    const [first, second] = [15 * k, 32 * k];
    const strong = { weight: 600, fill: "var(--ink)", size: 13 };
    const faint = { size: 12, fill: "var(--ink3)" };
    for (const run of scene.runs) {
      const { x, width } = columns[run.name.toLowerCase()];
      pen.badge(x, first, run.name);
      pen.text(x + 20 * k, first, pen.fit([countText(run.kernels, "kernel"), run.kernels.toLocaleString("en-US")], width - 20 * k, 13, 600), strong);
      pen.text(x, second, pen.fit([run.strategy], width, 12), faint);
    }
    const middle = columns.graph.x + columns.graph.width / 2;
    pen.text(middle, first, "Graph", { ...strong, anchor: "middle" });
    pen.text(columns.name.x, first, "Layer", strong);
    pen.text(columns.name.x, second, `${scene.layers.length.toLocaleString("en-US")} in all`, faint);
    ASPECTS.forEach((name, at) => {
      const { x, width } = columns[name];
      const count = scene.counts[at];
      pen.text(x, first, pen.fit([scene.aspects[at]], width, 13, 600), strong);
      pen.text(x, second, count ? pen.fit([`${countText(count, "layer")} differ${count === 1 ? "s" : ""}`, countText(count, "layer"), String(count)], width, 12) : "same", faint);
    });
  }

  /** Rows whose layers are the same in both are paler. */
  drawVeil(pen) {
    const { columns } = this;
    const [left, right] = [columns.a.x - 1, columns.b.x + columns.b.width + 1];
    for (const row of this.rows) {
      if (row.block !== null) pen.rect(left, row.y - 0.5, right - left, row.h + 1, "var(--card)", { opacity: DIM });
    }
  }

  /** Numbers on paler boxes are dark. */
  veilNumbers() {
    if (!this.diff.folds.length) return;
    for (const node of this.svg.querySelectorAll(".number")) {
      const row = this.rows[this.hit(Number(node.getAttribute("y")) - 5 * this.k)];
      node.classList.toggle("veiled", row !== undefined && row.block !== null);
    }
  }

  /** Names of layers and what differs; folded stretches as one line. */
  drawTexts(pen) {
    for (const row of this.rows) {
      const y = row.y + row.h / 2 + TEXT * 0.36 * this.k;
      if (row.isShut) this.drawFold(pen, row, y);
      else this.drawLayer(pen, row, y);
    }
  }

  drawFold(pen, row, y) {
    const { name, order } = this.columns;
    const text = foldText(row);
    const middle = row.y + row.h / 2;
    pen.text(name.x, y, `▸ ${text}`, { size: TEXT, fill: "var(--ink2)" });
    const from = name.x + pen.width(`▸ ${text}`, TEXT) + 10;
    pen.line(from, middle, order.x + order.width, middle, "var(--line)", { "stroke-dasharray": "2 4" });
  }

  drawLayer(pen, row, y) {
    const { diff, columns } = this;
    const { name, sides } = diff.layers[row.first];
    const isSame = row.block !== null;
    const shorter = [name, tail(name, 2), tail(name, 1)];
    pen.text(columns.name.x, y, this.fitted(pen, shorter, columns.name.width), { size: TEXT, fill: isSame ? "var(--ink3)" : "var(--ink)" });
    sides.forEach(([, , short], at) => {
      if (!short) return;
      const { x, width } = columns[ASPECTS[at]];
      pen.rect(x - 4, row.y + 1.5, width + 4, row.h - 3, "var(--mark)", { rx: 4 });
      pen.text(x + 2, y, this.fitted(pen, [short], width - 6, 550), { size: TEXT, weight: 550, fill: "var(--ink)" });
    });
  }

  /** The number of every row; of a fold the first and the last. */
  drawNumbers(pen) {
    const { numbers } = this.columns;
    for (const row of this.rows) {
      const y = row.y + row.h / 2 + 12 * 0.36 * this.k;
      const texts = [`${row.first + 1}–${row.last + 1}`, `${row.first + 1}…`];
      const text = row.last > row.first ? pen.fit(texts, numbers.width + PAD - 4, 12) : String(row.first + 1);
      pen.text(numbers.x + numbers.width, y, text, { size: 12, anchor: "end", fill: "var(--ink3)" });
    }
  }

  /** The row that is pointed at, and the selected one. */
  overlay(pointed, selected) {
    this.ground.parent.replaceChildren();
    this.over.parent.replaceChildren();
    const width = this.width - 4;
    const row = this.rows[pointed];
    if (row) this.ground.rect(2, row.y - 0.5, width, row.h + 1, "var(--track)", { rx: 4 });
    const chosen = this.rows[selected];
    if (chosen) this.over.rect(2.75, chosen.y - 0.25, width - 1.5, chosen.h + 0.5, "none", { rx: 4, stroke: "var(--focus)", "stroke-width": 1.5 });
  }

  /** The number of the row at a height, or above the gap there; -1 for none. */
  hit(y) {
    let [low, high] = [0, this.rows.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.rows[middle].y <= y) low = middle;
      else high = middle - 1;
    }
    const row = this.rows[low];
    return row && y >= row.y && y < row.y + row.h + FOOT ? low : -1;
  }

  /** The first of `texts` that fits; texts that surely fit, and those known, are not measured. */
  fitted(pen, texts, room, weight = 400) {
    if (texts[0].length * WIDEST * TEXT * this.k <= room) return texts[0];
    const known = `${weight} ${room} ${texts[0]}`;
    if (!this.fits.has(known)) this.fits.set(known, pen.fit(texts, room, TEXT, weight));
    return this.fits.get(known);
  }
}

function size(svg, width, height) {
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
}

/** The last parts of a path: `…/block1/conv2`. */
function tail(name, parts) {
  const found = name.split("/");
  return found.length > parts ? `…/${found.slice(-parts).join("/")}` : name;
}
