// The left card: layers from top to bottom, cut by A and by B into kernels, with the memory of each.

import { Pen } from "./draw.js";
import { GroupingsPanel } from "./groupings_panel.js";
import { bytesText, drawFolded, drawLabels, foldedBlocks } from "./labels.js";
import { frameRows, markRunning, tintNumbers, veilLater, veilOthers } from "./layers_overlay.js";
import { MEMORIES, badgeRoom, drawMemory } from "./memory_columns.js";
import { arrangedRows, rowAt } from "./rows.js";
import { countText, sizeText } from "./words.js";

const WIDTHS = { numbers: 22, a: 86, graph: 56, b: 116, lb: 104, gb: 86 };
const GAPS = { numbers: 6, a: 9, graph: 9, b: 10, labels: 14, lb: 16, gb: 0 };
const PAD = 16;
const FOOT = 10;
const HEAD = 47;
const TITLE_LINE = 16;
const PHONE = 420; // pixels of the card below which labels have a larger share
const BRACKET = 20; // room for a bracket with words along it

export class LayersPanel extends GroupingsPanel {
  /**
   * Draw everything but what hover and playhead change.
   *
   * @param {Scene} scene
   */
  draw(scene, { width, height, k, font, open }) {
    this.scene = scene;
    this.size = { width, height };
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren();
    const pen = new Pen(this.svg, k, font);
    this.folded = foldedBlocks(scene, open);
    this.columns = this.columnsFor(pen, width);
    this.lift = this.hasRoomForTitles(pen) ? 0 : TITLE_LINE * k;
    const top = HEAD * k + this.lift;
    this.rows = arrangedRows(scene, open, top, height - top - FOOT);
    this.drawHeads(pen);
    this.boxes = {};
    this.above = [];
    for (const run of scene.runs) this.drawRun(pen.group("boxes"), run);
    this.drawGraph(pen.group("graph"), open);
    const { x, width: room } = this.columns.labels;
    const bracket = this.folded ? BRACKET * k : 0;
    drawLabels(pen.group("labels"), scene, this.rows, { x, width: room - bracket }, open, height - FOOT);
    if (this.folded) drawFolded(pen.group("folded"), this.folded, this.rows, x + room);
    for (const kind of MEMORIES) {
      const place = { ...this.columns[kind.name], lines: this.headLines(pen), title: 15 * k, isBelowTitle: this.lift > 0 };
      const drawLines = drawMemory(pen.group("memory"), scene, this.rows, kind, place);
      if (drawLines) this.above.push(drawLines);
    }
    this.veil = pen.group("veil");
    this.marks = pen.group("over");
    for (const draw of this.above) draw(pen.group("above"));
    this.over = pen.group("over");
  }

  /** A run that is not drawn has no column. */
  columnsFor(pen, width) {
    const inner = width - 2 * PAD;
    const drawn = this.scene.runs.map((run) => run.name.toLowerCase());
    const absent = Object.fromEntries(["a", "b"].filter((name) => !drawn.includes(name)).map((name) => [name, 0]));
    const [widths, gaps] = [{ ...WIDTHS, ...absent }, { ...GAPS, ...absent }];
    const fixed = [...Object.values(widths), ...Object.values(gaps)].reduce((a, b) => a + b, 0);
    const labels = Math.min(inner * (inner < PHONE ? 0.32 : 0.28), Math.max(88 * pen.k, labelRoom(pen, this.scene)) + (this.folded ? BRACKET * pen.k : 0));
    const unit = Math.max(0.3, (inner - labels) / fixed);
    const found = {};
    let x = PAD;
    for (const name of ["numbers", "a", "graph", "b", "labels", "lb", "gb"]) {
      const own = name === "labels" ? labels : widths[name] * unit;
      found[name] = { x, width: own };
      x += own + gaps[name] * unit;
    }
    return found;
  }

  /** Whether `LB` and `GB` stand beside the badges of the runs; else they have a line above. */
  hasRoomForTitles(pen) {
    const { lb, gb } = this.columns;
    const badges = badgeRoom(pen, this.scene);
    return ["LB", "GB"].every((title, n) => pen.width(title, 13, 600) <= [lb, gb][n].width - badges);
  }

  /** Baselines of the two lines of heads. */
  headLines(pen) {
    return [15 * pen.k + this.lift, 31 * pen.k + this.lift];
  }

  drawHeads(pen) {
    const { scene, columns } = this;
    const [first, second] = this.headLines(pen);
    const ink = { weight: 600, fill: "var(--ink)", size: 13 };
    for (const run of scene.runs) {
      const { x, width } = columns[run.name.toLowerCase()];
      pen.badge(x, first, run.name);
      const room = width - 20 * pen.k + (run.name === "A" ? 4 : 0);
      pen.text(x + 20 * pen.k, first, pen.fit([countText(run.kernels, "kernel"), run.kernels.toLocaleString("en-US")], room, 13, 600), ink);
      this.drawBracket(pen, x, width, second, run);
    }
    const graph = columns.graph;
    const middle = graph.x + graph.width / 2;
    if (pen.width(`${scene.ops.length} ops`, 13, 600) < graph.width + 6) {
      pen.text(middle, first, countText(scene.ops.length, "op"), { ...ink, anchor: "middle" });
      pen.text(middle, second, countText(scene.layers.length, "layer"), { size: 12, fill: "var(--ink3)", anchor: "middle" });
    }
    const groups = scene.runs.at(-1).groups.length;
    pen.text(columns.labels.x, first, countText(groups, "group"), ink);
    pen.text(columns.labels.x, second, pen.fit(columnTexts(scene), columns.labels.width, 12), { size: 12, fill: "var(--ink3)" });
  }

  /** What the horizontal axis of a run's boxes is. */
  drawBracket(pen, x, width, y, run) {
    const axes = new Set([...run.piece_axis].filter((axis) => axis >= 0));
    const samples = countText(run.samples, this.scene.noun);
    const text = axes.size === 0 || (axes.size === 1 && axes.has(0)) ? samples : axes.size === 1 ? `axis ${[...axes][0]}` : "along any axis";
    const said = pen.fit([text, String(run.samples)], width - 12, 12);
    const gap = pen.width(said, 12) / 2 + 3;
    const middle = x + width / 2;
    const level = y - 4 * pen.k;
    for (const [from, to] of [[x + 0.5, middle - gap], [middle + gap, x + width - 0.5]]) {
      if (to > from) pen.line(from, level, to, level, "var(--edge)");
    }
    for (const end of [x + 0.5, x + width - 0.5]) pen.line(end, y - 8 * pen.k, end, y, "var(--edge)");
    pen.text(middle, y, said, { anchor: "middle", size: 12, fill: "var(--ink3)" });
  }

  /**
   * What hover, selection and playhead change. `layers`: those that others are paler than; `pointed`,
   * `chosen`: those that are framed; `at`: what has started, runs and has begun at the playhead.
   */
  overlay({ layers, pointed, chosen, at }) {
    for (const pen of [this.veil, this.marks, this.over]) pen.parent.replaceChildren();
    const has = layers && new Set(layers);
    if (has) veilOthers(this.veil, this, has);
    for (const run of at ? this.scene.runs : []) {
      veilLater(this.veil, this, run, at);
      markRunning(this.marks, this, run, at.running(run));
    }
    tintNumbers(this.svg, this.rows, { layers: has, at, run: this.scene.runs.at(-1) });
    if (chosen) frameRows(this.over, this, chosen, "chosen");
    if (pointed && pointed.join() !== chosen?.join()) frameRows(this.over, this, pointed, "pointed");
  }

  /** What stands at a point: a layer, or a sub-graph of B. */
  hit(x, y) {
    const row = rowAt(this.rows, y);
    if (!row) return null;
    const { b, lb } = this.columns;
    const isB = x >= b.x - 4 && x < lb.x - 6;
    const group = this.scene.runs.at(-1).groupOfLayer[row.first];
    if (row.isShut) return { block: row.block, group: isB ? group : null, layer: isB ? null : row.first };
    return isB ? { group, layer: null, block: row.block } : { layer: row.first, group: null, block: row.block };
  }
}

/**
 * Room that the longest label needs.
 *
 * @param {Scene} scene
 */
function labelRoom(pen, scene) {
  const texts = scene.runs.at(-1).groups.slice(0, 12).map((group) => `${sizeText(group.whole_bytes)} → ${sizeText(group.piece_bytes)}`);
  return Math.max(...scene.hues.titles.map((title) => pen.width(title, 14, 650) + 24), ...texts.map((text) => pen.width(text.replace(/ [KMG]iB →/, " →")))) + 4;
}

/**
 * What stands below the count of groups: kinds, or which bytes stand beside the boxes.
 *
 * @param {Scene} scene
 */
function columnTexts(scene) {
  const { groups } = scene.runs.at(-1);
  if (scene.hues.meaning === "kind") return [countText(scene.hues.titles.length, "kind")];
  if (groups.length > 1) return ["live bytes → per piece", "bytes → per piece", "live bytes"];
  const [{ is_via_dram: isViaDram, pieces }] = groups;
  const live = bytesText(groups[0]);
  return isViaDram ? [`${live} live, via DRAM`, `${live} via DRAM`, live] : pieces > 1 ? [`${live} per piece`, live] : [`${live} live`, live];
}
