// The plan diff of two runs: a toggle for what changed, rows to point at and select, both sides below.

import { inNextFrame, isLate, readBuffer } from "../canvas_kit.js";
import { hueFill, htmlNode, themeOf } from "../overview/draw.js";
import { numberOf } from "../overview/rows.js";
import { readScene } from "../overview/runs.js";
import { DiffPanel } from "./diff_panel.js";
import { foldText, nextChanged } from "./diff_rows.js";
import { rowText, sidesTable } from "./sides_table.js";

const NARROWEST = 800; // pixels of the picture, below which it scrolls

class PlanDiff {
  constructor(root) {
    this.root = root;
    this.parts = Object.fromEntries([...root.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
    this.panel = new DiffPanel(this.parts.rows, this.parts.heads);
    this.state = { isOnly: false, open: new Set(), layer: null, pointed: -1 };
    /** @type {(name: string, value: unknown) => void} */
    this.trigger = () => {};
    this.bind();
    new ResizeObserver(inNextFrame(() => root.isConnected && this.scene && this.draw())).observe(root);
  }

  /** @param {any} scene */
  show(scene) {
    const isOther = this.scene?.keys !== scene.keys;
    if (isOther) Object.assign(this.state, { open: new Set(), layer: null, pointed: -1 });
    this.scene = scene;
    this.state.isOnly = scene.is_only;
    this.parts.only.checked = scene.is_only;
    this.draw();
    if (isOther) this.showFirst();
  }

  /** Bring the first row that differs in sight, below what stands before it. */
  showFirst() {
    const row = this.panel.rows.find(({ block }) => block === null);
    const { body } = this.parts;
    if (row && row.y + row.h > body.clientHeight) body.scrollTop = row.y - 4 * row.h;
  }

  draw() {
    const { root, parts, scene, state } = this;
    const begin = performance.now();
    const style = getComputedStyle(root);
    root.dataset.theme = themeOf(style);
    root.dataset.mode = scene.is_presenting ? "present" : "work";
    const k = Number.parseFloat(getComputedStyle(root).getPropertyValue("--k")) || 1;
    parts.sentence.textContent = scene.sentence;
    const width = Math.max(parts.body.clientWidth, NARROWEST * k);
    this.panel.draw(scene, { width, k, font: style.fontFamily, isFolded: (block) => state.isOnly && !state.open.has(block) });
    this.drawLegend();
    this.overlays();
    root.dataset.drawMs = (performance.now() - begin).toFixed(1);
  }

  drawLegend() {
    const { scene, parts } = this;
    const count = scene.hues.titles.length;
    const used = new Set(scene.hues.of_layer);
    const hues = scene.hues.titles.flatMap((title, hue) => (used.has(hue) ? [key(hueFill(hue, count), title)] : []));
    parts.legend.replaceChildren(
      ...hues, ...([...used].some((hue) => hue >= count) ? [key("var(--rest)", "other groups")] : []),
      key("var(--mark)", "differs: A → B"), htmlNode("span", "", "paler: the same in both"),
      htmlNode("span", "", "Point at a row for both sides; a click selects it."),
    );
  }

  /** What is pointed at, else selected, else nothing: marks in the picture, both sides below. */
  overlays() {
    const { scene, state, panel, parts } = this;
    const selected = state.layer === null ? -1 : numberOf(panel.rows, state.layer);
    panel.overlay(state.pointed, selected);
    const row = panel.rows[state.pointed] ?? panel.rows[selected] ?? panel.rows.find(({ block }) => block === null);
    if (row.isShut) {
      const hint = `${foldText(row)}: layers ${row.first + 1} to ${row.last + 1}. A click shows each.`;
      parts.sides.replaceChildren(htmlNode("p", "hint", hint));
    } else parts.sides.replaceChildren(sidesTable(scene, row.first), ...this.openButton(row.first));
    this.expose();
  }

  /** The button that opens the selected layer in Explore; only where A and B can be these runs. */
  openButton(layer) {
    if (layer !== this.state.layer) return [];
    if (!this.scene.can_open) return [htmlNode("p", "hint", this.scene.why_not)];
    const button = htmlNode("button", "small", "Open this layer in Explore");
    button.type = "button";
    button.dataset.act = "explore";
    button.addEventListener("click", () => this.trigger("explore", layer));
    return [button];
  }

  bind() {
    const { parts, root } = this;
    parts.only.addEventListener("change", () => this.setOnly(parts.only.checked));
    parts.help_button.addEventListener("click", () => this.toggleHelp());
    const at = (event) => this.panel.hit(event.clientY - parts.rows.getBoundingClientRect().top);
    parts.rows.addEventListener("pointermove", (event) => this.point(at(event)));
    parts.rows.addEventListener("pointerleave", () => this.point(-1));
    parts.rows.addEventListener("click", (event) => this.act(at(event)));
    parts.body.addEventListener("scroll", () => { parts.heads.style.marginLeft = `${-parts.body.scrollLeft}px`; });
    root.addEventListener("keydown", (event) => this.key(event));
  }

  toggleHelp() {
    const { help, help_button: button } = this.parts;
    help.hidden = !help.hidden;
    button.setAttribute("aria-expanded", String(!help.hidden));
  }

  setOnly(isOnly) {
    this.parts.only.checked = isOnly;
    Object.assign(this.state, { isOnly, open: new Set(), pointed: -1 });
    this.scene.is_only = isOnly;
    this.draw();
    this.parts.body.scrollTop = 0;
    this.trigger("only", isOnly);
  }

  point(number) {
    if (number === this.state.pointed) return;
    this.state.pointed = number;
    this.overlays();
  }

  /** A click, or Enter: unfold a line, or select a layer; the selected one is given up. */
  act(number) {
    const row = this.panel.rows[number];
    if (!row) return;
    if (row.isShut) {
      this.state.open.add(row.block);
      this.state.pointed = -1;
      this.draw();
      return;
    }
    this.state.layer = this.state.layer === row.first ? null : row.first;
    this.overlays();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.composedPath()[0] !== this.parts.rows) {
      if (event.code === "Escape") this.escape();
      return;
    }
    const { rows } = this.panel;
    const { pointed } = this.state;
    const now = pointed < 0 ? this.state.layer === null ? -1 : numberOf(rows, this.state.layer) : pointed;
    const acts = {
      ArrowDown: () => this.step(Math.min(rows.length - 1, now + 1)), ArrowUp: () => this.step(Math.max(0, now - 1)),
      PageDown: () => this.step(Math.min(rows.length - 1, now + 10)), PageUp: () => this.step(Math.max(0, now - 10)),
      Home: () => this.step(0), End: () => this.step(rows.length - 1),
      KeyN: () => this.step(nextChanged(rows, now, 1)), KeyP: () => this.step(nextChanged(rows, now < 0 ? rows.length : now, -1)),
      Enter: () => this.act(now), KeyC: () => this.setOnly(!this.state.isOnly), Escape: () => this.escape(),
    };
    if (!acts[event.code]) return;
    event.preventDefault();
    acts[event.code]();
  }

  /** Point at a row by keys, bring it in sight and read it aloud. */
  step(number) {
    const row = this.panel.rows[number];
    if (!row) return;
    this.point(number);
    const { body, said } = this.parts;
    if (row.y < body.scrollTop) body.scrollTop = row.y - 8;
    if (row.y + row.h > body.scrollTop + body.clientHeight) body.scrollTop = row.y + row.h + 8 - body.clientHeight;
    said.textContent = rowText(this.scene, row, foldText);
  }

  escape() {
    if (!this.parts.help.hidden) this.toggleHelp();
    Object.assign(this.state, { layer: null, pointed: -1 });
    this.overlays();
  }

  /** What tests and people with a console can read. */
  expose() {
    const { scene, state, panel } = this;
    this.root.dataset.scene = JSON.stringify({
      sentence: scene.sentence, isOnly: state.isOnly, layer: state.layer, pointed: state.pointed,
      rows: panel.rows.map(({ first, last, y, h, isShut }) => ({ first, last, y, h, isShut })),
      counts: scene.counts, runs: scene.runs.map(({ strategy }) => strategy),
    });
  }
}

function key(colour, words) {
  const mark = htmlNode("i");
  mark.style.background = colour;
  return htmlNode("span", "key", mark, words);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".plan-diff");
  const buffer = readBuffer(data);
  root.view ??= new PlanDiff(root);
  const { view } = root;
  view.trigger = setTriggerValue ?? view.trigger;
  if (isLate(view, buffer)) return;
  view.show(readScene(buffer));
}
