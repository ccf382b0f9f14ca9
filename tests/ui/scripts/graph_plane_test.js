// The graph view's boxes at its start, and the heads of the edges between them.

import { drawEdges } from "../../../graphturbo_ui/components/graph_edges.js";
import { GraphPlane } from "../../../graphturbo_ui/components/graph_plane.js";
import { equal, holds, near, outcomes } from "./check.js";

const THEME = { text: "#101010" };
const VISIBLE = 2; // pixels of a gap without the outlines on its two sides

/** A plane with a chain of sub-graphs of so many ranks each, one op per rank, as it begins. */
function begun(sizes, height = 730) {
  let next = 0;
  const groups = sizes.map((size) => ({ first: next, last: (next += size) - 1, left: 0, right: 1 }));
  const ops = Array.from({ length: next }, (_, rank) => rank);
  const group = ops.map((rank) => groups.findIndex(({ first, last }) => first <= rank && rank <= last));
  const edges = groups.slice(1).map(({ first }) => ({ s: first - 1, t: first, first: first - 1, last: first }));
  const run = { groups, group, rank: ops, x: ops.map(() => 0), columns: 1, members: groups.map(() => []), opened: new Set(), edges };
  const plane = Object.assign(new GraphPlane(), { runs: [run], ranks: next, width: 700, height });
  plane.begin();
  plane.measure();
  return plane;
}

/** Pixels between each box and the next one, outlines taken off. */
function gaps(plane) {
  const boxes = plane.runs[0].groups.map((_, g) => plane.boxOf(0, g));
  return boxes.slice(1).map((box, at) => box.y - boxes[at].y - boxes[at].h - 1);
}

/** What a pen was asked to draw: the points of filled shapes, three each. */
function noting() {
  const found = { heads: [], strokes: 0 };
  let points = [];
  return {
    found,
    beginPath() { points = []; },
    moveTo(x, y) { points.push([x, y]); },
    lineTo(x, y) { points.push([x, y]); },
    bezierCurveTo() {},
    stroke() { found.strokes += 1; },
    fill() { for (let at = 0; at < points.length; at += 3) found.heads.push(points.slice(at, at + 3)); },
  };
}

export default function () {
  return outcomes({
    "boxes of several ranks have a gap that is seen, also where a rank has a pixel": () => {
      for (const ranks of [20, 60, 125, 600]) {
        const plane = begun([ranks / 2 - 10, 10, ranks / 2].filter(Boolean));
        holds(plane.pitch >= 1, `${plane.pitch} pixels per rank`);
        holds(gaps(plane).every((gap) => gap >= VISIBLE), `${ranks} ranks: gaps of ${gaps(plane)}`);
      }
    },
    "boxes of one rank have a gap of two fifths of it at least": () => {
      for (const count of [10, 60, 125, 300]) {
        const plane = begun(Array(count).fill(1));
        holds(gaps(plane).every((gap) => gap + 1 >= Math.min(3.5, plane.pitch * 0.4)), `${count} boxes: gaps of ${gaps(plane)[0]}`);
        holds(plane.boxOf(0, 0).h >= plane.pitch * 0.15, `${count} boxes of ${plane.boxOf(0, 0).h}`);
      }
    },
    "a graph of more columns than a pane has room for starts whole, also sideways": () => {
      const plane = begun([1, 1, 1]);
      const [run] = plane.runs;
      Object.assign(run, { columns: 200, x: [0, 100, 199], ranks: 3 });
      run.groups.forEach((box, g) => Object.assign(box, { left: run.x[g], right: run.x[g] + 1 }));
      plane.begin();
      plane.measure();
      const boxes = run.groups.map((_, g) => plane.boxOf(0, g));
      holds(boxes.every(({ x, w }) => x >= 0 && x + w <= plane.room()), boxes.map(({ x }) => x).join());
      const inMiddle = () => (plane.left[0] + plane.room() / 2 - plane.spares[0]) / plane.units[0];
      const before = inMiddle();
      plane.zoom(0.5, 300);
      plane.measure();
      holds(plane.units[0] > 100, `${plane.units[0]} pixels a column`);
      near(inMiddle(), before, 1e-6);
    },
    "an edge ends in a head that touches the next box from above": () => {
      const plane = begun([1, 2, 3]);
      const pen = noting();
      drawEdges(pen, plane, 0, THEME, null);
      const boxes = [1, 2].map((g) => plane.boxOf(0, g));
      near(pen.found.heads.map(([[, y]]) => y), boxes.map(({ y }) => y));
      for (const [tip, left, right] of pen.found.heads) {
        holds(left[1] < tip[1] && left[1] === right[1], `${left} and ${right} over ${tip}`);
        near(tip[0] - left[0], right[0] - tip[0]);
      }
    },
    "heads of edges at what is selected are drawn with them": () => {
      const plane = begun([1, 1, 1]);
      const pen = noting();
      const found = drawEdges(pen, plane, 0, THEME, Uint8Array.from([0, 0, 1]));
      equal([found.length, pen.found.heads.length, pen.found.strokes], [2, 2, 2]);
    },
    "without room between the boxes there are no heads": () => {
      const plane = begun(Array(300).fill(1));
      const pen = noting();
      equal(drawEdges(pen, plane, 0, THEME, null).length, 299);
      equal(pen.found.heads.length, 0);
    },
  });
}
