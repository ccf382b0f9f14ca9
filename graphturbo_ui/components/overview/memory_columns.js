// LB and GB to the right of the layers: bytes of each layer in both runs, against the capacity.

import { hueFill, svgNode } from "./draw.js";
import { lbPartsText, sizeText } from "./words.js";

/** Column, title, and which numbers of a run it shows; `mean`: none where only the peak is known. */
export const MEMORIES = [
  { name: "lb", title: "LB / core", capacity: "lb_bytes", peak: "layer_lb_peak_bytes", mean: "layer_lb_mean_bytes" },
  { name: "gb", title: "GB", capacity: "gb_bytes", peak: "layer_gb_peak_bytes", mean: null },
];

/**
 * Width that the badges of the runs take of a column's head.
 *
 * @param {Scene} scene
 */
export function badgeRoom(pen, scene) {
  return (scene.runs.length > 1 ? 36 : 20) * pen.k;
}

/**
 * A to the left and B to the right of a line; a run without another to the right, in all the width.
 *
 * `lines`: baselines of the two lines of heads; `title`: that of the title. Returns what draws the
 * lines of zero and of the capacity, which no veil may hide.
 *
 * @param {Scene} scene
 * @returns {((pen: any) => void) | null}
 */
export function drawMemory(pen, scene, rows, { title, capacity: key, peak, mean }, place) {
  const { x, width } = place;
  const capacity = scene.chip[key];
  if (!capacity && scene.runs.every((run) => !Math.max(...run[peak]))) {
    pen.text(x + width / 2, place.lines[0], `no ${title}`, { anchor: "middle", fill: "var(--ink3)", size: 13 });
    return null;
  }
  const isPair = scene.runs.length > 1;
  const axis = isPair ? x + width / 2 : x;
  const most = Math.max(1, capacity);
  const scale = ((isPair ? width / 2 : width) - 2) / most;
  drawHead(pen, scene, title, capacity, place);
  for (const run of scene.runs) {
    const isLeft = isPair && run.name === "A";
    for (const row of rows) {
      const layer = largest(run[peak], row);
      const fill = hueFill(scene.hues.of_layer[layer], scene.hues.titles.length);
      const inset = Math.min(row.h * 0.12, 1.2);
      const bar = (bytes, opacity) => {
        const long = Math.min(bytes, most) * scale;
        if (long > 0) pen.rect(isLeft ? axis - long : axis, row.y + inset, long, row.h - 2 * inset, fill, { opacity, "data-run": run.name, "data-bytes": bytes });
      };
      bar(run[peak][layer], mean ? 0.42 : 1);
      if (mean) bar(run[mean][layer], 1);
    }
  }
  const [top, foot] = [rows[0].y - 6 * pen.k, rows.at(-1).y + rows.at(-1).h + 3];
  return (own) => {
    own.line(axis, top, axis, foot, "var(--ink)");
    if (!capacity) return;
    for (const side of isPair ? [-1, 1] : [1]) {
      const end = axis + side * most * scale;
      own.line(end, top, end, foot, "var(--ink)", { "stroke-width": 1.2, "stroke-dasharray": "4 3" });
    }
  };
}

/**
 * Badges, title, and the capacity at the end of each side.
 *
 * @param {Scene} scene
 */
function drawHead(pen, scene, title, capacity, { x, width, lines: [first, second], title: line, isBelowTitle }) {
  const isPair = scene.runs.length > 1;
  const badge = 15 * pen.k;
  scene.runs.forEach(({ name }, n) => pen.badge(n ? x + width - badge : x, first, name));
  const room = isBelowTitle ? width : width - badgeRoom(pen, scene);
  const middle = x + width / 2 + (isPair || isBelowTitle ? 0 : badgeRoom(pen, scene) / 2);
  pen.text(middle, line, pen.fit([title, title.split(" ")[0]], room, 13, 600), { anchor: "middle", weight: 600, fill: "var(--ink)", size: 13 });
  const said = sizeText(capacity, true);
  const small = { size: 12, fill: "var(--ink3)" };
  const isTwice = isPair && 2 * pen.width(said, 12) + 6 < width;
  const own = pen.group("capacity");
  const parts = capacity === scene.chip.lb_bytes ? lbPartsText(scene.chip) : "";
  own.parent.append(svgNode("title", {}, `Capacity${parts}`));
  if (isTwice) own.text(x, second, said, small);
  if (isTwice || !isPair) own.text(x + width, second, said, { ...small, anchor: "end" });
  else own.text(x + width / 2, second, said, { ...small, anchor: "middle" });
}

/** The layer of a row with the largest value. */
function largest(values, row) {
  let best = row.first;
  for (let layer = row.first; layer <= row.last; layer += 1) if (values[layer] > values[best]) best = layer;
  return best;
}
