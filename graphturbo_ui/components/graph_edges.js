// Edges of the graph view: how they run, their tensors' shapes, which one is under the pointer.

import { bytesText } from "./canvas_kit.js";
import { HEAD } from "./graph_plane.js";

export const MIN_TEXT = 11;
const EDGE_REACH = 8;
const MIN_BENT = 3;
const MIN_SHAPE_PITCH = 8;
const ARROW = 4; // pixels of an arrow's head

/** The ends of an edge and how it runs: straight down, then over; beside the boxes when long. */
function edgeEnds(plane, pane, { s, t }) {
  const from = plane.shownBox(pane, s);
  const to = plane.shownBox(pane, t);
  const [x0, x1] = [from.x + from.w / 2, to.x + to.w / 2];
  const y0 = Math.min(from.y + from.h, to.y);
  const isLong = to.y - y0 > plane.pitch * 1.2 && Math.abs(x0 - x1) < 4;
  const side = Math.max(from.x + from.w, to.x + to.w) + 8;
  return { x0, y0, x1, y1: to.y, side: isLong ? side : null };
}

/** Draw an edge into a path or pen. */
function traceEdge(path, { x0, y0, x1, y1, side }, pitch) {
  path.moveTo(x0, y0);
  if (pitch < MIN_BENT) return path.lineTo(x1, y1);
  if (side !== null) {
    const bend = Math.min(14, (y1 - y0) / 3);
    path.bezierCurveTo(x0, y0 + 4, side, y0 + 2, side, y0 + bend);
    path.lineTo(side, y1 - bend);
    path.bezierCurveTo(side, y1 - 2, x1, y1 - 4, x1, y1);
    return;
  }
  const bend = Math.min(y1 - y0, pitch * 1.5);
  const middle = y1 - bend / 2;
  path.lineTo(x0, y1 - bend);
  path.bezierCurveTo(x0, middle, x1, middle, x1, y1);
}

/** A point on the edge, near its middle. */
export function edgeMiddle({ x0, y0, x1, y1, side }, pitch) {
  if (side !== null) return { x: side, y: (y0 + y1) / 2 };
  const bend = Math.min(y1 - y0, pitch * 1.5);
  const isStraight = y1 - y0 > 2 * bend;
  return isStraight ? { x: x0, y: (y0 + y1 - bend) / 2 } : { x: (x0 + x1) / 2, y: y1 - bend / 2 };
}

/** Edges of a pane that reach into sight. */
function edgesInSight(plane, pane) {
  const [low, high] = [plane.top - 1, plane.top + plane.rows + 1];
  return plane.runs[pane].edges.filter((edge) => edge.last >= low && edge.first <= high);
}

/** Draw a pane's edges, those at marked ops stronger; gives {edge, ends} of those in sight. */
export function drawEdges(pen, plane, pane, theme, flags) {
  const found = edgesInSight(plane, pane).map((edge) => ({ edge, ends: edgeEnds(plane, pane, edge) }));
  const isMarked = ({ edge }) => flags !== null && (flags[edge.s] || flags[edge.t]);
  pen.strokeStyle = theme.text;
  for (const isStrong of [false, true]) {
    pen.globalAlpha = isStrong ? 1 : 0.5;
    pen.lineWidth = isStrong ? 1.8 : 1;
    pen.beginPath();
    const own = found.filter((item) => Boolean(isMarked(item)) === isStrong);
    for (const { ends } of own) traceEdge(pen, ends, plane.pitch);
    pen.stroke();
    if (plane.gap >= ARROW) drawArrows(pen, own, theme);
  }
  pen.globalAlpha = 1;
  return found;
}

/** A head at the end of each of these edges. */
function drawArrows(pen, found, theme) {
  pen.fillStyle = theme.text;
  pen.beginPath();
  for (const { ends: { x1, y1 } } of found) {
    pen.moveTo(x1, y1);
    pen.lineTo(x1 - ARROW * 0.7, y1 - ARROW);
    pen.lineTo(x1 + ARROW * 0.7, y1 - ARROW);
  }
  pen.fill();
}

/**
 * Tensor shapes beside the edges that leave room for a line of text, clear of each other and of
 * the `solid` boxes; gives where they stand.
 */
export function drawShapes(pen, plane, run, found, theme, solid) {
  const placed = [];
  if (plane.pitch < MIN_SHAPE_PITCH) return placed;
  pen.font = `11px ${theme.font}`;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  for (const { edge, ends } of found) {
    if (ends.y1 - ends.y0 < MIN_TEXT + 1) continue;
    const text = run.shapes[edge.e];
    const { x, y } = edgeMiddle(ends, plane.pitch);
    const spot = { x: x + 4, y: y - 6, w: pen.measureText(text).width + 4, h: 12, text };
    const isApart = (o) => spot.x > o.x + o.w || spot.x + spot.w < o.x || spot.y > o.y + o.h || spot.y + spot.h < o.y;
    if (spot.y < HEAD || !placed.every(isApart) || !solid.every(isApart)) continue;
    placed.push(spot);
    pen.fillStyle = theme.background;
    pen.fillRect(spot.x, spot.y, spot.w, spot.h);
    pen.fillStyle = theme.text;
    pen.fillText(text, spot.x + 2, y + 0.5);
  }
  return placed;
}

/** The edge under a point, null for none. */
export function edgeAt(pen, plane, x, y, ratio) {
  const pane = plane.paneAt(x);
  pen.lineWidth = EDGE_REACH;
  const hit = edgesInSight(plane, pane).find((edge) => {
    const ends = edgeEnds(plane, pane, edge);
    if (y < ends.y0 - EDGE_REACH || y > ends.y1 + EDGE_REACH) return false;
    const path = new Path2D();
    traceEdge(path, ends, plane.pitch);
    return pen.isPointInStroke(path, x * ratio, y * ratio);
  });
  return hit ? { pane, edge: hit } : null;
}

/** What is said of an edge: its tensor, shape and bytes, and the ops that it joins. */
export function describeEdge(runs, { pane, edge }) {
  const run = runs[pane];
  return [
    `${run.shapes[edge.e]} · ${bytesText(run.edge_bytes[edge.e])}`,
    `tensor ${run.tensors[edge.e]}`,
    `from ${run.op_types[edge.s]} ${run.ops[edge.s]}`,
    `to ${run.op_types[edge.t]} ${run.ops[edge.t]}`,
  ];
}
