// Figures of the whole chip: a bar per chip, the longer one of each pair as long as there is room.

import { htmlNode } from "../overview/draw.js";

/** An element per figure; `onTip(node, figure)` makes its tip. */
export function figureNodes({ figures, names }, onTip) {
  return figures.map((figure) => {
    const node = htmlNode("div", "figure", htmlNode("div", "h", figure.label));
    node.append(...figure.values.map((value, place) => (
      value ? valueNode(value, names[place], place ? figure.ratio : "") : noneNode(names[place]))));
    node.tabIndex = 0;
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", labelOf(figure, names));
    node.dataset.figure = figure.name;
    onTip(node, figure);
    return node;
  });
}

function labelOf(figure, names) {
  const values = figure.values.map((value, place) => (
    value ? `${names[place]} ${value.text} (${value.arithmetic})` : `${names[place]} none`));
  return `${figure.label}: ${values.join("; ")}${figure.ratio ? `; ratio ${figure.ratio}` : ""}`;
}

function valueNode({ text, share, assumed }, name, ratio) {
  const bar = htmlNode("i");
  bar.style.width = `${100 * share}%`;
  const number = htmlNode("b", assumed ? "assumed" : "", text);
  const figure = htmlNode("span", "", number, ...(ratio ? [" ", htmlNode("em", "", ratio)] : []));
  return htmlNode("div", "value", htmlNode("span", "who", name), htmlNode("span", "track", bar), figure);
}

function noneNode(name) {
  return htmlNode("div", "value", htmlNode("span", "who", name), htmlNode("span"), htmlNode("span", "", "none"));
}

/** What the tip of a figure shows: per chip the arithmetic and the keys that it reads. */
export function figureTip(figure, names) {
  const list = htmlNode("dl");
  figure.values.forEach((value, place) => {
    if (!value) return;
    const { text, arithmetic, keys, assumed } = value;
    list.append(
      htmlNode("dt", "", `${names[place]} `, htmlNode("b", assumed ? "assumed" : "", text)),
      htmlNode("dd", "", arithmetic),
      htmlNode("dd", "", htmlNode("code", "", keys.join(", "))),
    );
  });
  return [htmlNode("h3", "", figure.label), list];
}
