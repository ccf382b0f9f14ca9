// Texts and lines of the address map: titles, labels, capacities, time axis, legend.

import { STRIP, TITLE } from "./addresses_rows.js";
import { bytesText, fitted, hueEntries } from "./canvas_kit.js";
import { dressEnd, dressRounds, wholeText } from "./rounds.js";
import { drawTimeAxis, GUTTER } from "./time_axis.js";

/** Title, labels with capacities, and the time axis of a pane. */
export function dressPane(map, pen, pane, width) {
  const { text, border, font } = map.theme;
  const { run } = pane;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.fillStyle = text;
  pen.font = `600 13px ${font}`;
  pen.fillText(fitted(pen, titleOf(map, run), width - 16), 8, pane.top + TITLE / 2);
  for (const row of pane.rows) {
    pen.font = `11px ${font}`;
    pen.fillStyle = text;
    pen.fillText(fitted(pen, row.label, GUTTER - 14), 8, row.y + 7);
    pen.fillText(bytesText(row.capacity), 8, row.y + 21);
    if (row.isMap) pen.fillText("0", 8, row.y + row.height - 6);
    if (row.isMap && row.space.listed < row.space.buffers) sayCut(pen, row);
    pen.fillStyle = border;
    pen.fillRect(GUTTER, row.y + row.height, map.plot, 1);
    capacityLine(map, pen, row);
  }
  dressRounds(pen, map, pane, pane.line);
  if (pane.rows.length) dressEnd(pen, map, pane, pane.rows[0].y + STRIP / 2);
  drawTimeAxis(pen, map, pane);
}

export function titleOf(map, run) {
  const name = map.runs.length > 1 ? `${run.name} · ${run.title}` : run.title;
  return `${name}: ${wholeText(run)}`;
}

/** What fits ends at this line. */
function capacityLine(map, pen, row) {
  pen.strokeStyle = PALETTE.capacity;
  pen.lineWidth = 1.5;
  pen.setLineDash([6, 4]);
  pen.beginPath();
  pen.moveTo(GUTTER, row.y);
  pen.lineTo(GUTTER + map.plot, row.y);
  pen.stroke();
  pen.setLineDash([]);
}

function sayCut(pen, { space, y }) {
  const said = `${space.listed.toLocaleString("en")} of ${space.buffers.toLocaleString("en")} buffers are listed`;
  pen.fillText(said, GUTTER + 6, y + 12);
}

export function fillLegend(root, map) {
  const entries = map.options.colourBy === "kind"
    ? Object.entries(PALETTE.tensors).map(([name, colour]) => [name, map.theme.lit(colour)])
    : hueEntries(map.hues, map.theme.hues);
  entries.push(["bytes in use", map.theme.lit(PALETTE.memory)], ["capacity", PALETTE.capacity]);
  root.querySelector(".legend").replaceChildren(...entries.map(([name, colour]) => {
    const entry = document.createElement("span");
    const swatch = document.createElement("i");
    swatch.style.background = colour;
    entry.append(swatch, name);
    return entry;
  }));
}
