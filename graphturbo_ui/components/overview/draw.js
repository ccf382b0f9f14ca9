// SVG and HTML by hand: elements with attributes, text only as text content.

const SVG = "http://www.w3.org/2000/svg";
const measuring = typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");

/** An SVG element; `text`: its content. */
export function svgNode(name, attributes = {}, text = null) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  if (text !== null) node.textContent = text;
  return node;
}

/** An HTML element of a class with children: nodes or texts. */
export function htmlNode(name, className = "", ...children) {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
}

/** What draws into an SVG group at scale `k`: rect, line, path, text, badge. */
export class Pen {
  constructor(parent, k, font) {
    this.parent = parent;
    this.k = k;
    this.font = font;
  }

  /** The same, into a new group of this class. */
  group(className) {
    const group = svgNode("g", { class: className });
    this.parent.append(group);
    return new Pen(group, this.k, this.font);
  }

  add(name, attributes, text = null) {
    const node = svgNode(name, attributes, text);
    this.parent.append(node);
    return node;
  }

  rect(x, y, width, height, fill, more = {}) {
    return this.add("rect", { x: round(x), y: round(y), width: round(Math.max(0, width)), height: round(Math.max(0, height)), fill, ...more });
  }

  line(x1, y1, x2, y2, stroke, more = {}) {
    return this.add("line", { x1: round(x1), y1: round(y1), x2: round(x2), y2: round(y2), stroke, ...more });
  }

  path(d, stroke, more = {}) {
    return this.add("path", { d, stroke, fill: "none", ...more });
  }

  /** Text with its baseline at y; `size` in pixels before scaling. */
  text(x, y, text, { size = 12.5, fill = "var(--ink2)", weight = 400, anchor = "start", ...more } = {}) {
    return this.add("text", {
      x: round(x), y: round(y), "font-size": round(size * this.k), fill, "font-weight": weight,
      "text-anchor": anchor, ...more,
    }, text);
  }

  /** Interrupts lines where words stand that are drawn later; `isCrossed(box)`: whether a line crosses that place. */
  clear(texts, isCrossed) {
    for (const text of texts) {
      const { x, width } = text.getBBox();
      const [y, size] = ["y", "font-size"].map((name) => Number(text.getAttribute(name)));
      const box = { x: x - 3, y: y - 0.82 * size, width: width + 6, height: 1.06 * size };
      if (isCrossed(box)) this.rect(box.x, box.y, box.width, box.height, "var(--card)", { class: "clear" });
    }
  }

  /** The letter of a run: A outlined, B filled. */
  badge(x, y, name) {
    const size = 15 * this.k;
    const isB = name === "B";
    this.rect(x + (isB ? 0 : 0.75), y - size * 0.78 + (isB ? 0 : 0.75), size - (isB ? 0 : 1.5), size - (isB ? 0 : 1.5),
      isB ? "var(--ink)" : "none", { rx: 4, ...(isB ? {} : { stroke: "var(--ink)", "stroke-width": 1.5 }) });
    this.text(x + size / 2, y - size * 0.78 + size * 0.76, name, {
      size: 12, weight: 700, anchor: "middle", fill: isB ? "var(--card)" : "var(--ink)",
    });
  }

  /** Width of a text in pixels. */
  width(text, size = 12.5, weight = 400) {
    measuring.font = `${weight} ${size * this.k}px ${this.font}`;
    return measuring.measureText(text).width;
  }

  /** The first of `texts` that fits; nothing where none does: no text is cut. */
  fit(texts, room, size = 12.5, weight = 400) {
    return texts.find((text) => this.width(text, size, weight) <= room) ?? "";
  }
}

function round(value) {
  return Math.round(value * 100) / 100;
}

/** The fill of a hue, and of text upon it. */
export function hueFill(hue, hues) {
  return hue >= 0 && hue < hues ? `var(--g${hue})` : "var(--rest)";
}

export function hueInk(hue, hues) {
  return hue >= 0 && hue < hues ? `var(--o${hue})` : "var(--on-rest)";
}

export function hueText(hue, hues) {
  return hue >= 0 && hue < hues ? `var(--t${hue})` : "var(--ink2)";
}

/** `dark` or `light`: the app's theme, by the ground that Streamlit gives its components. */
export function themeOf(style) {
  const parts = /^#?([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i.exec(style.getPropertyValue("--st-background-color").trim());
  if (!parts) return "light";
  const [r, g, b] = parts.slice(1).map((part) => Number.parseInt(part, 16));
  return 0.299 * r + 0.587 * g + 0.114 * b < 128 ? "dark" : "light";
}
