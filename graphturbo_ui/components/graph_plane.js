// Where everything of the graph view stands: one vertical axis (topological rank) for both panes.

import { clamp } from "./canvas_kit.js";
import { isAllOpen } from "./graph_boxes.js";

export const HEAD = 26;
const FOOT = 6;
export const STRIP = 14;
const MAX_PITCH = 72;
const LEAST_SHOWN_PITCH = 12; // pixels a rank at which what is shown on request can be read
const MAX_FIRST_PITCH = 48;
const NAMED_PITCH = 34; // pixels a rank at which an op's box has room for its name
const MIN_COLUMN = 26;
const LEAST_COLUMN = 2; // pixels of a column while the whole graph is in sight
const WIDE_COLUMN = 190;
const READ_COLUMN = 120; // pixels from which most names of layers and ops can be read
const MAX_COLUMN = 220;
const TALLEST_BOX = 34;
const WIDEST_GAP = 10; // pixels between two boxes, which show the edge between them
const LEAST_GAP = 3.5; // pixels between two boxes, whose outlines take one of them
const GAP_SHARE = 0.45; // of a low box that may be the gap below it
const ROOMY_PITCH = 8; // pixels a rank from which a box has room for its label and for a gap
const LEAST_FITTED_PITCH = 1; // pixels a rank below which boxes run together
const READ_PITCH = 6; // pixels a rank at which a larger graph starts

/**
 * Ranks to pixels and columns to pixels, for all panes. `pitch`: pixels a rank; `top`: the first
 * rank in sight; `left`: each pane's shift sideways in pixels.
 */
export class GraphPlane {
  constructor() {
    this.runs = [];
    this.ranks = 1;
    this.width = 0;
    this.height = 0;
    this.pitch = 0;
    this.top = 0;
    this.left = [];
  }

  get rows() {
    return (this.height - HEAD - FOOT) / this.pitch;
  }

  /** Pixels a rank at which all ranks are in sight. */
  get fitting() {
    return (this.height - HEAD - FOOT) / this.ranks;
  }

  /** The pitch at which the whole graph is shown. */
  get wholePitch() {
    return Math.min(MAX_FIRST_PITCH, this.fitting);
  }

  /** Both panes show ops alone, so that they move sideways together too. */
  get isLocked() {
    return this.runs.length > 1 && this.runs.every(isAllOpen);
  }

  /** At first the whole graph is in sight; of one too long for that, and not too wide, its beginning. */
  begin() {
    this.reset();
    const isWide = this.runs.some((run) => this.fittingColumn(run) < MIN_COLUMN); // its beginning would be almost blank
    if (this.pitch < LEAST_FITTED_PITCH && !isWide) this.pitch = READ_PITCH;
  }

  /** The ranks of the whole graph in sight. */
  reset() {
    this.pitch = this.wholePitch;
    this.top = 0;
    this.left = this.runs.map(() => 0);
  }

  paneWidth() {
    return this.width / this.runs.length;
  }

  /** Width of the pane that boxes may take. */
  room() {
    return this.paneWidth() - STRIP;
  }

  paneAt(x) {
    return clamp(Math.floor(x / this.paneWidth()), 0, this.runs.length - 1);
  }

  /** Whether `x` lies in the strip at a pane's right edge that shows the whole graph. */
  isStrip(x) {
    return x - this.paneAt(x) * this.paneWidth() > this.room();
  }

  /** The rank of the whole graph that stands at `y` in a strip. */
  stripRank(y) {
    return ((y - HEAD) / (this.height - HEAD)) * this.ranks;
  }

  /** Measures that boxes of this frame share. */
  measure() {
    const { pitch } = this;
    const spare = Math.max(0, pitch - ROOMY_PITCH);
    this.gap = Math.max(Math.min(WIDEST_GAP, pitch * 0.2 + spare * 0.4), leastGap(pitch), pitch - TALLEST_BOX);
    this.pad = Math.min(5, pitch * 0.15);
    const units = this.runs.map((run) => this.columnWidth(run));
    this.units = this.isLocked ? units.map(() => Math.min(...units)) : units;
    this.spares = this.runs.map((run, pane) => Math.max(30, (this.room() - run.columns * this.units[pane]) / 2));
  }

  /** Pixels a column at which all columns are in sight. */
  fittingColumn(run) {
    return (this.room() - 42) / run.columns;
  }

  columnWidth(run) {
    const fitting = Math.min(WIDE_COLUMN, this.fittingColumn(run));
    if (fitting >= READ_COLUMN || this.pitch <= this.wholePitch) return Math.max(fitting, LEAST_COLUMN);
    return clamp(Math.max(fitting, Math.min(WIDE_COLUMN, this.pitch * 6)), MIN_COLUMN, MAX_COLUMN);
  }

  yOf(rank) {
    return HEAD + (rank - this.top) * this.pitch;
  }

  boxOf(pane, g) {
    const { first, last, left, right } = this.runs[pane].groups[g];
    const unit = this.units[pane];
    const x = pane * this.paneWidth() + this.spares[pane] - this.left[pane] + left * unit;
    const height = (last - first + 1) * this.pitch;
    return {
      x, y: this.yOf(first), w: (right - left) * unit - Math.min(12, unit * 0.15),
      h: height - Math.max(this.gap, leastGap(height)),
    };
  }

  opBox(pane, op) {
    const run = this.runs[pane];
    const unit = this.units[pane];
    const x = pane * this.paneWidth() + this.spares[pane] - this.left[pane] + run.x[op] * unit;
    return {
      x: x + 3, y: this.yOf(run.rank[op]) + this.pad, w: unit - 6 - Math.min(12, unit * 0.15),
      h: this.pitch - 2 * this.pad - this.gap,
    };
  }

  /** The box of an op where it is drawn, else that of its sub-graph. */
  shownBox(pane, op) {
    const g = this.runs[pane].group[op];
    return this.runs[pane].opened.has(g) ? this.opBox(pane, op) : this.boxOf(pane, g);
  }

  isInSight(box) {
    return box.y <= this.height && box.y + box.h >= HEAD;
  }

  /** {pane, group, op} at a point; op undefined beside the ops, null for nothing. */
  find(x, y) {
    if (y < HEAD || this.isStrip(x)) return null;
    const pane = this.paneAt(x);
    const run = this.runs[pane];
    const inside = (b) => x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + Math.max(b.h, 2);
    const group = run.members.findIndex((ops, g) => ops.length && inside(this.boxOf(pane, g)));
    if (group < 0) return null;
    const op = run.opened.has(group) ? run.members[group].find((o) => inside(this.opBox(pane, o))) : undefined;
    return { pane, group, op };
  }

  zoom(factor, y) {
    const next = clamp(this.pitch / factor, this.wholePitch, MAX_PITCH);
    const at = y === null ? (this.height - HEAD) / 2 : Math.max(0, y - HEAD);
    const top = this.top + at / this.pitch - at / next;
    this.scale(next);
    this.moveTo(top);
  }

  /** Another pitch; what stands in the middle of each pane's width stays there. */
  scale(pitch) {
    this.measure();
    const [units, spares, middle] = [this.units, this.spares, this.room() / 2];
    this.pitch = pitch;
    this.measure();
    this.left = this.left.map((left, pane) => {
      const place = (left + middle - spares[pane]) / units[pane];
      return clamp(place * this.units[pane] + this.spares[pane] - middle, 0, this.reach(pane));
    });
  }

  /** At least so near that ops can be named; what stands at `rank` does not move, if it is in sight. */
  nameOps(rank) {
    if (this.pitch >= NAMED_PITCH) return;
    const isShown = rank >= this.top && rank < this.top + this.rows;
    const above = isShown ? (rank - this.top) * this.pitch : 0;
    this.scale(NAMED_PITCH);
    this.moveTo(rank - above / this.pitch);
  }

  moveTo(top) {
    this.top = clamp(top, 0, Math.max(0, this.ranks - this.rows));
  }

  /** Shift `pane` sideways; where none is named, all; locked ones together, as far as any can. */
  shift(dx, pane) {
    this.measure();
    const panes = pane === null || this.isLocked ? this.runs.map((_, r) => r) : [pane];
    const moves = panes.map((r) => clamp(this.left[r] + dx, 0, this.reach(r)) - this.left[r]);
    const furthest = moves.reduce((most, move) => (Math.abs(move) > Math.abs(most) ? move : most), 0);
    panes.forEach((r, place) => (this.left[r] += this.isLocked ? furthest : moves[place]));
  }

  /** How far a pane can be shifted, in pixels. */
  reach(pane) {
    return Math.max(0, this.runs[pane].columns * this.units[pane] + 42 - this.room());
  }

  /** Bring the ops of each pane's `flags` in sight, their boxes of every pane sideways too. */
  reveal(flags) {
    const found = this.runs.map(({ rank }, pane) => [...rank.keys()].filter((op) => flags[pane][op]));
    const ranks = found.flatMap((ops, pane) => ops.map((op) => this.runs[pane].rank[op]));
    if (!ranks.length) return;
    const first = ranks.reduce((least, rank) => Math.min(least, rank), Infinity);
    const last = ranks.reduce((most, rank) => Math.max(most, rank), 0);
    const span = last - first + 1;
    if (this.pitch < LEAST_SHOWN_PITCH + 2 || span > this.rows) {
      this.scale(clamp((this.height - HEAD) / (span + 4), this.wholePitch, MAX_FIRST_PITCH));
    }
    if (first < this.top || last + 1 > this.top + this.rows) this.moveTo((first + last + 1 - this.rows) / 2);
    found.forEach((ops, pane) => ops.length && this.revealSideways(pane, ops[0]));
  }

  revealSideways(pane, op) {
    this.measure();
    const box = this.shownBox(pane, op);
    const [low, high] = [pane * this.paneWidth() + 30, pane * this.paneWidth() + this.room() - 8];
    const isLeft = box.x < low || box.x > high - MIN_COLUMN;
    const over = Math.max(0, Math.min(box.x - low, box.x + box.w - high));
    this.left[pane] = clamp(this.left[pane] + (isLeft ? box.x - low : over), 0, this.reach(pane));
  }
}

/** The gap below a box that has `height` pixels with it. */
function leastGap(height) {
  return Math.min(LEAST_GAP, height * GAP_SHARE);
}
