// Marks -> SVG: a node per mark, kept from one moment to the next by the mark's id.

import { svgNode } from "../overview/draw.js";

const LAYERS = 4;
const NAMES = { anchor: "text-anchor", weight: "font-weight", size: "font-size" };
const NO_ATTRIBUTES = new Set(["id", "kind", "layer", "text"]);

export class Painter {
  constructor(svg) {
    this.svg = svg;
    this.layers = Array.from({ length: LAYERS }, () => svgNode("g"));
    svg.append(...this.layers);
    /** @type {Map<string, { node: SVGElement, shown: Record<string, unknown> }>} */
    this.nodes = new Map();
  }

  draw(marks) {
    const gone = new Set(this.nodes.keys());
    for (const mark of marks) {
      gone.delete(mark.id);
      this.set(this.nodeOf(mark), mark);
    }
    for (const id of gone) {
      this.nodes.get(id).node.remove();
      this.nodes.delete(id);
    }
  }

  nodeOf({ id, kind, layer }) {
    let found = this.nodes.get(id);
    if (!found) {
      found = { node: svgNode(kind), shown: {} };
      this.layers[layer].append(found.node);
      this.nodes.set(id, found);
    }
    return found;
  }

  set({ node, shown }, mark) {
    if (shown.text !== mark.text) {
      node.textContent = mark.text ?? "";
      shown.text = mark.text;
    }
    for (const key of new Set([...Object.keys(shown), ...Object.keys(mark)])) {
      if (NO_ATTRIBUTES.has(key)) continue;
      const given = mark[key];
      const value = typeof given === "number" ? Math.round(given * 100) / 100 : given;
      if (shown[key] === value) continue;
      shown[key] = value;
      if (value === undefined) node.removeAttribute(NAMES[key] ?? key);
      else node.setAttribute(NAMES[key] ?? key, String(value));
    }
  }

  clear() {
    this.draw([]);
  }
}
