// The critical path and the longest dependency chain, drawn over the bars of each round in sight.

import { clamp } from "./canvas_kit.js";
import { bookingOf } from "./gantt_span.js";
import { drawnRounds } from "./rounds.js";
import { GUTTER } from "./time_axis.js";

/** What is drawn of a path: instructions by place with the cycles that they have on it. */
function pathOf(run, which) {
  const { start, hold, path, path_start, path_end } = run.arrays;
  if (which === "critical") return { at: path, begin: (n) => path_start[n], end: (n) => path_end[n] };
  const at = run.chain;
  return { at, begin: (n) => start[at[n]], end: (n) => start[at[n]] + hold[at[n]] };
}

/** A line along the upper edge of what is on the chosen path, and from one to the next of it. */
export function markPath(pen, gantt, pane) {
  const { t0, t1 } = gantt.windows[pane.number];
  const path = pathOf(pane.run, gantt.options.path);
  for (const at of drawnRounds(pane.run, t0, t1, 64).found) {
    pen.fillStyle = gantt.theme.text;
    pane.rows.forEach((row, index) => {
      if (row.kind === "overlap") return;
      for (const range of row.ranges) edgePath(pen, gantt, path, range, { t0: t0 - at, t1: t1 - at, y: pane.first + index * pane.height });
    });
    if (t1 - t0 < pane.run.cycles) linkPath(pen, gantt, pane, path, at);
  }
}

/** The line of one row of a round, from left to right. */
function edgePath(pen, gantt, path, { from, to }, { t0, t1, y }) {
  const perCycle = gantt.plot / (t1 - t0);
  let drawn = -1;
  for (let n = bookingOf(path.at, from); path.at[n] < to; n++) {
    if (path.begin(n) >= t1) break;
    const right = clamp((path.end(n) - t0) * perCycle, 0, gantt.plot);
    const left = Math.max(0, (path.begin(n) - t0) * perCycle);
    if (right <= 0 || right <= drawn) continue;
    drawn = Math.max(right, left + 1.5);
    pen.fillRect(GUTTER + left, y, drawn - left, 2.5);
  }
}

/** Lines between the path's instructions, where those in sight are few enough to be told apart. */
function linkPath(pen, gantt, pane, path, at) {
  const { t0, t1 } = gantt.windows[pane.number];
  const inSight = [...path.at].map((i, n) => ({ i, begin: path.begin(n) + at, end: path.end(n) + at }))
    .filter(({ begin, end }) => begin < t1 && end > t0).sort((a, b) => a.begin - b.begin);
  if (inSight.length > 150) return;
  pen.strokeStyle = gantt.theme.text;
  pen.lineWidth = 1;
  pen.beginPath();
  let from = null;
  for (const { i } of inSight) {
    const place = gantt.place(pane, i, at);
    if (!place) continue;
    if (from && Math.max(from.w, place.w) >= 4) {
      pen.moveTo(from.x + from.w, from.y + 1);
      pen.lineTo(place.x, place.y + 1);
    }
    from = place;
  }
  pen.stroke();
}
