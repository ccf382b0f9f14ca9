// The left card: layers from top to bottom, cut by A and by B into kernels, with the memory of each.

import { Pen, svgNode } from "./draw.js";
import { GroupingsPanel } from "./groupings_panel.js";
import { bytesText, drawFolded, drawLabels, foldedBlocks } from "./labels.js";
import { clearFrames, frameRows, markRunning, tagLayers, tintNumbers, veilLater, veilOthers } from "./layers_overlay.js";
import { MEMORIES, badgeRoom, drawMemory } from "./memory_columns.js";
import { arrangedRows, rowAt, stretchesOf } from "./rows.js";
import { axesText, countText, sizeText } from "./words.js";

const WIDTHS = { numbers: 22, a: 86, graph: 56, b: 116, lb: 104, gb: 86 };
const GAPS = { numbers: 6, a: 9, graph: 9, b: 10, labels: 14, lb: 16, gb: 0 };
const PAD = 16;
const FOOT = 10;
const HEAD = 47;
const TITLE_LINE = 16;
const PHONE = 420; // pixels of the card below which labels have a larger share
const BRACKET = 20; // room for a bracket with words along it
const HEAD_GAP = 6; // between the heads of two columns
const SIZES = [13, 12, 11]; // of the heads, from the largest

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
    this.isCounted = scene.runs.every((run) => this.countSize(pen, run));
    this.lift = this.hasRoomForTitles(pen) ? 0 : TITLE_LINE * k;
    const top = HEAD * k + this.lift;
    this.rows = arrangedRows(scene, open, top, height - top - FOOT);
    this.drawHeads(pen);
    this.boxes = {};
    this.above = [];
    for (const run of scene.runs) this.drawRun(pen.group("boxes"), run);
    this.drawGraph(pen.group("graph"));
    const { x, width: room } = this.columns.labels;
    const bracket = this.folded ? BRACKET * k : 0;
    for (const kind of MEMORIES.filter(({ name }) => this.columns[name].width)) {
      const place = { ...this.columns[kind.name], lines: this.headLines(pen), title: 15 * k, isBelowTitle: this.lift > 0 };
      const drawLines = drawMemory(pen.group("memory"), scene, this.rows, kind, place);
      if (drawLines) this.above.push(drawLines);
    }
    this.veil = pen.group("veil");
    this.marks = pen.group("over");
    this.drawNumbers(pen.group("numbers"), open);
    const { b } = this.columns;
    const edge = secondNames(scene).length ? x - 9 : b.x + b.width; // a leader crosses no bracket
    drawLabels(pen.group("labels"), scene, this.rows, { x, edge, width: room - bracket }, open, height - FOOT);
    if (this.folded) drawFolded(pen.group("folded"), this.folded, this.rows, x + room);
    this.drawSecond(pen.group("second"));
    for (const draw of this.above) draw(pen.group("above"));
    this.over = pen.group("over");
  }

  /**
   * A run that is not drawn has no column. Where the two badges of memory would touch, the brackets of
   * a second axis have no room, and if that is not enough, memory has none.
   */
  columnsFor(pen, width) {
    const drawn = this.scene.runs.map((run) => run.name.toLowerCase());
    const absent = ["a", "b"].filter((name) => !drawn.includes(name));
    const least = badgeRoom(pen, this.scene);
    const memory = [...absent, "lb", "gb"];
    const tries = [absent, [...absent, "second"], memory].map((without) => this.columnsBut(pen, width, without));
    return tries.find(({ gb }) => gb.width >= least) ?? tries.at(-1);
  }

  columnsBut(pen, width, absent) {
    const inner = width - 2 * PAD;
    const none = Object.fromEntries(absent.map((name) => [name, 0]));
    const [widths, gaps] = [{ ...WIDTHS, ...none }, { ...GAPS, ...none, b: GAPS.b }]; // the graph's marks end before the labels
    const fixed = [...Object.values(widths), ...Object.values(gaps)].reduce((a, b) => a + b, 0);
    const second = secondNames(this.scene).length && !absent.includes("second") ? BRACKET * pen.k : 0;
    const labels = Math.min(inner * (inner < PHONE ? 0.32 : 0.28), Math.max(88 * pen.k, labelRoom(pen, this.scene)) + (this.folded ? BRACKET * pen.k : 0));
    const unit = Math.max(0.3, (inner - labels - second) / fixed);
    const found = { second };
    let x = PAD;
    for (const name of ["numbers", "a", "graph", "b", "labels", "lb", "gb"]) {
      const own = name === "labels" ? labels : widths[name] * unit;
      found[name] = { x, width: own };
      x += own + gaps[name] * unit + (name === "b" ? second : 0);
    }
    return found;
  }

  /** Whether `LB` and `GB` stand beside the badges of the runs; else they have a line above. */
  hasRoomForTitles(pen) {
    const { lb, gb } = this.columns;
    const badges = badgeRoom(pen, this.scene);
    return ["LB", "GB"].every((title, n) => {
      const { width } = [lb, gb][n];
      return !width || pen.width(title, 13, 600) <= width - badges;
    });
  }

  /** The type in which `60 kernels` stands beside the badge of a run; none where it has no room. */
  countSize(pen, run) {
    const { width } = this.columns[run.name.toLowerCase()];
    const room = width + (run.name === "A" ? 4 : 0);
    return this.sizesOf(pen).find((size) => (size < SIZES[0] ? 18 : 20) * pen.k + pen.width(countText(run.kernels, "kernel"), size, 600) <= room);
  }

  sizesOf(pen) {
    return SIZES.filter((size) => size * pen.k >= (this.scene.is_presenting ? 18 : 11));
  }

  /** Baselines of the two lines of heads. */
  headLines(pen) {
    return [15 * pen.k + this.lift, 31 * pen.k + this.lift];
  }

  drawHeads(pen) {
    const { scene, columns } = this;
    const [first, second] = this.headLines(pen);
    const ink = { weight: 600, fill: "var(--ink)", size: 13 };
    for (const run of scene.runs) this.drawCount(pen.group("count"), run, first, ink);
    const hasLayers = this.drawOps(pen, [first, second], ink);
    for (const run of scene.runs) {
      const { x, width } = columns[run.name.toLowerCase()];
      // Without words over the graph A's bracket has its room, and that of the numbers.
      const more = hasLayers || run.name !== "A" ? 6 : 2 * Math.min(x - 2, columns.graph.x + columns.graph.width - x - width);
      this.drawBracket(pen, { x, width, more }, second, run);
    }
    const groups = scene.runs.at(-1).groups.length;
    pen.text(columns.labels.x, first, pen.fit([countText(groups, "sub-graph")], columns.labels.width, 13, 600), ink);
    pen.text(columns.labels.x, second, pen.fit(columnTexts(scene), columns.labels.width, 12), { size: 12, fill: "var(--ink3)" });
  }

  /** The badge of a run with its kernels; both runs without, on hover, where one of them has no room. */
  drawCount(pen, run, y, ink) {
    const { x } = this.columns[run.name.toLowerCase()];
    const text = countText(run.kernels, "kernel");
    const size = this.countSize(pen, run);
    pen.parent.append(svgNode("title", {}, text));
    pen.badge(x, y, run.name);
    if (this.isCounted) pen.text(x + (size < SIZES[0] ? 18 : 20) * pen.k, y, text, { ...ink, size });
  }

  /**
   * Ops and layers over the graph; in less room ops alone, between the heads of A and B; whether the
   * layers are said. Where A and B have no counts, those of the graph are quieter: they are no run's.
   */
  drawOps(pen, [first, second], counted) {
    const { ops, layers } = this.scene;
    const ink = this.isCounted ? counted : { size: 13, weight: 400, fill: "var(--ink3)" };
    const gap = HEAD_GAP * pen.k * (this.isCounted ? 1 : 2);
    const { graph } = this.columns;
    const middle = graph.x + graph.width / 2;
    const [above, below] = [countText(ops.length, "op"), countText(layers.length, "layer")];
    const room = graph.width + 2 * (this.besideGraph(pen) - gap);
    const isRoomy = (own) => pen.width(above, own, 600) <= room && pen.width(below, Math.min(own, 12)) <= graph.width + 6;
    const both = this.sizesOf(pen).find(isRoomy);
    if (both) {
      pen.text(middle, first, above, { ...ink, size: both, anchor: "middle" });
      pen.text(middle, second, below, { size: Math.min(both, 12), fill: "var(--ink3)", anchor: "middle" });
      return true;
    }
    const [left, right] = this.aroundGraph(pen).map((at, n) => at + (n ? -1 : 1) * gap);
    const size = this.sizesOf(pen).find((own) => pen.width(above, own, ink.weight) <= right - left);
    if (!size) return false;
    const half = pen.width(above, size, ink.weight) / 2;
    pen.text(Math.max(left + half, Math.min(right - half, middle)), first, above, { ...ink, size, anchor: "middle" });
    return false;
  }

  /** Pixels on each side of the graph's column that heads of A's and B's leave free. */
  besideGraph(pen) {
    const { graph } = this.columns;
    const [left, right] = this.aroundGraph(pen);
    return Math.min(graph.x - left, right - graph.x - graph.width);
  }

  /** Where A's head ends, and where B's begins; without one, as far away on its side as the other is, up to the labels. */
  aroundGraph(pen) {
    const { a, b, graph, labels } = this.columns;
    const left = this.scene.runs.length > 1 || a.width ? this.headEnd(pen, this.scene.runs[0]) : 0;
    return [left, b.width ? b.x : Math.min(labels.x, 2 * graph.x + graph.width - left)];
  }

  /** Where the words of a run's heads above its bracket end. */
  headEnd(pen, run) {
    const { x } = this.columns[run.name.toLowerCase()];
    if (!this.isCounted) return x + 15 * pen.k;
    const size = this.countSize(pen, run);
    return x + (size < SIZES[0] ? 18 : 20) * pen.k + pen.width(countText(run.kernels, "kernel"), size, 600);
  }

  /** What the horizontal axis of a run's boxes is: within a bracket, or instead of it, where it may take `more` pixels; no bare number. */
  drawBracket(pen, { x, width, more }, y, run) {
    const names = run.groups.flatMap(({ pieces, cuts }) => (pieces > 1 && cuts.length ? [cuts[0][0]] : []));
    const sizes = this.sizesOf(pen).filter((size) => size <= 12);
    const all = axesText(names, run.samples, this.scene.noun);
    const text = new Set(names).size > 1 && pen.width(all, sizes.at(-1)) > width - 4 ? "split axis" : all;
    const size = sizes.find((own) => pen.width(text, own) < width - 16);
    const words = size ?? (pen.width(text, sizes.at(-1)) < width + more ? sizes.at(-1) : null);
    const half = size ? pen.width(text, size) / 2 + 3 : 0;
    const middle = x + width / 2;
    const level = y - 4 * pen.k;
    if (words) pen.text(middle, y, text, { anchor: "middle", size: words, fill: "var(--ink3)" });
    if (words && !size) return;
    for (const [from, to] of [[x + 0.5, middle - half], [middle + half, x + width - 0.5]]) pen.line(from, level, to, level, "var(--edge)");
    for (const end of [x + 0.5, x + width - 0.5]) pen.line(end, y - 8 * pen.k, end, y, "var(--edge)");
  }

  /** Beside B's boxes that are cut both ways: what they are cut along from top to bottom. */
  drawSecond(pen) {
    const { scene, rows, columns: { b, second } } = this;
    if (!second) return;
    const { groups } = scene.runs.at(-1);
    const x = b.x + b.width + 6 * pen.k;
    for (const name of secondNames(scene)) {
      const layers = groups.flatMap((group) => (group.cuts[1]?.[0] === name ? group.layers : []));
      for (const [first, last] of stretchesOf(rows, layers)) {
        const [top, foot] = [rows[first].y, rows[last].y + rows[last].h];
        if (pen.width(name, 12) > foot - top) continue;
        const middle = (top + foot) / 2;
        pen.path(`M${x - 4} ${top + 0.5}H${x}V${foot - 0.5}H${x - 4}`, "var(--edge)");
        const at = x + 12 * pen.k;
        pen.text(at, middle, name, { size: 12, anchor: "middle", fill: "var(--ink3)", transform: `rotate(-90 ${at} ${middle})` });
      }
    }
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
    if (chosen) frameRows(this.marks, this, chosen, "chosen");
    if (pointed && pointed.join() !== chosen?.join()) frameRows(this.marks, this, pointed, "pointed");
    clearFrames(this.marks, this.svg);
    tintNumbers(this.svg, this.rows, { layers: has, at, run: this.scene.runs.at(-1) });
    tagLayers(this.over, this, [chosen, pointed]);
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
 * Names of the second axes that B's boxes are cut along.
 *
 * @param {Scene} scene
 */
function secondNames(scene) {
  return [...new Set(scene.runs.at(-1).groups.flatMap(({ cuts }) => (cuts[1] ? [cuts[1][0]] : [])))];
}

/**
 * Room that the longest label needs.
 *
 * @param {Scene} scene
 */
function labelRoom(pen, scene) {
  const texts = scene.runs.at(-1).groups.slice(0, 12).map((group) => `${sizeText(group.whole_bytes)} → ${sizeText(group.piece_bytes)}`);
  const { titles, of_group: hues, of_layer: own } = scene.hues;
  const { groups } = scene.runs.at(-1);
  const share = 6 + pen.width("9.9 % of B's time", 12);
  // Rows of one or two layers have one line: the title with what it is of the time.
  const isLow = (hue) => (hues.includes(hue)
    ? groups.every(({ layers }, group) => hues[group] !== hue || layers.length <= 2)
    : own.filter((each) => each === hue).length <= 2);
  return Math.max(pen.width("99 % of B's time"), ...titles.map((title, hue) => pen.width(title, 14, 650) + (isLow(hue) ? share : 24)), ...texts.map((text) => pen.width(text.replace(/ [KMG]iB →/, " →")))) + 4;
}

/**
 * What stands below the count of sub-graphs: kinds, or which bytes stand beside the boxes.
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
