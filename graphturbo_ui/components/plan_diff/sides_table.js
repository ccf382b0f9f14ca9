// Both sides of one layer as a table: what each plan decides of it, and figures with units.

import { htmlNode } from "../overview/draw.js";

/** A table of the layer `number` of `scene`; changed entries are marked. */
export function sidesTable(scene, number) {
  const layer = scene.layers[number];
  const table = htmlNode("table");
  const titles = [...scene.aspects, ...scene.figures];
  table.append(htmlNode("caption", "", `Layer ${number + 1}: ${layer.name}`, htmlNode("span", "", ` ${layer.ops}`)));
  table.append(tableRow("th", ["Run", ...titles], layer));
  scene.runs.forEach((run, side) => {
    const texts = [...layer.sides.map((pair) => pair[side]), ...layer.figures.map((pair) => pair[side])];
    table.append(tableRow("td", [`${run.name} ${run.strategy}`, ...texts], layer));
  });
  return table;
}

function tableRow(kind, texts, layer) {
  const found = htmlNode("tr");
  texts.forEach((text, at) => {
    const isChanged = Boolean(layer.sides[at - 1]?.[2]);
    const cell = htmlNode(at ? kind : "th", isChanged ? "changed" : "", text);
    cell.setAttribute("scope", kind === "th" ? "col" : "row");
    if (kind === "td" && at) cell.removeAttribute("scope");
    found.append(cell);
  });
  return found;
}

/** What a screen reader is given of a row. */
export function rowText(scene, row, foldText) {
  if (row.isShut) return `${foldText(row)}: layers ${row.first + 1} to ${row.last + 1}`;
  const { name, sides } = scene.layers[row.first];
  const changes = sides.flatMap(([, , short], at) => (short ? [`${scene.aspects[at]}: ${short}`] : []));
  return `layer ${row.first + 1} ${name}: ${changes.join("; ") || "the same in both"}`;
}
