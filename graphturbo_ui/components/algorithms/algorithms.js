// Algorithms 1 to 4: four panels, each played step by step. One state; the panels only draw.

import { common, follow, inNextFrame, isLate, readBuffer, readSelected, share } from "../canvas_kit.js";
import { htmlNode, Pen, themeOf } from "../overview/draw.js";
import { bindPanel } from "./bind_panel.js";
import { Clock } from "./clock.js";
import { mergePanel } from "./merge_panel.js";
import { orderPanel } from "./order_panel.js";
import { splitPanel } from "./split_panel.js";

const PANELS = { split: splitPanel, merge: mergePanel, order: orderPanel, bind: bindPanel };
const NAMES = Object.keys(PANELS);

class Algorithms {
  constructor(root) {
    this.root = root;
    this.parts = Object.fromEntries([...root.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
    this.tabs = [...root.querySelectorAll("[data-tab]")];
    this.state = { tab: "split", runs: {}, steps: {}, kernel: {} };
    this.clock = new Clock(() => ({ step: this.step, count: this.count }), (step) => this.go(step), () => this.showPlay());
    this.bind();
    new ResizeObserver(inNextFrame(() => root.isConnected && this.scene && this.draw())).observe(root);
  }

  show(scene) {
    if (!this.scene || this.scene.keys !== scene.keys) {
      this.clock.stop();
      Object.assign(this.state, { runs: {}, steps: {}, kernel: {} });
    }
    this.scene = scene;
    this.readSelection();
    this.draw();
  }

  get panel() {
    return PANELS[this.state.tab];
  }

  /** Runs that have the picture of a panel; the last one is shown at first. */
  having(tab = this.state.tab) {
    return this.scene.runs.filter((run) => run[tab]);
  }

  runOf(tab = this.state.tab) {
    const found = this.having(tab);
    return found.find(({ name }) => name === this.state.runs[tab]) ?? found.at(-1);
  }

  get run() {
    return this.runOf();
  }

  get kernel() {
    return this.state.kernel[this.run?.name] ?? 0;
  }

  get count() {
    return this.run ? this.panel.count(this.run, this.kernel) : 0;
  }

  get step() {
    const key = `${this.state.tab}${this.run?.name}`;
    const step = this.state.steps[key] ?? (this.run ? this.panel.first(this.run) : 0);
    return Math.max(0, Math.min(this.count - 1, step));
  }

  /** Show a step, counted from 0. */
  go(step) {
    this.state.steps[`${this.state.tab}${this.run?.name}`] = Math.max(0, Math.min(this.count - 1, step));
    this.draw();
  }

  open(tab) {
    this.clock.stop();
    this.state.tab = tab;
    this.draw();
  }

  choose(name) {
    this.clock.stop();
    this.state.runs[this.state.tab] = name;
    this.draw();
  }

  /** Another kernel of panel 4, from its first tensor. */
  openKernel(kernel) {
    if (this.state.tab !== "bind" || !this.run) return;
    this.clock.stop();
    this.state.kernel[this.run.name] = Math.max(0, Math.min(this.run.bind.kernels.length - 1, kernel));
    this.go(0);
  }

  draw() {
    const { root, parts, scene, run } = this;
    root.dataset.theme = themeOf(getComputedStyle(root));
    this.drawTabs();
    parts.title.textContent = this.panel.title;
    parts.sub.textContent = run ? this.panel.sub : "";
    this.drawRuns();
    for (const part of [parts.body, parts.transport]) part.hidden = !run;
    if (!run) {
      parts.said.textContent = parts.missing.textContent;
      this.expose({});
      return;
    }
    const { svg } = parts;
    const width = parts.picture.clientWidth;
    const pen = new Pen(document.createElementNS(svg.namespaceURI, "g"), 1, getComputedStyle(root).fontFamily);
    const drawn = this.panel.draw(pen, scene, run, this.step, width, this.kernel);
    svg.replaceChildren(pen.parent);
    svg.setAttribute("height", Math.ceil(drawn.height));
    svg.setAttribute("aria-label", `${this.panel.title}. ${drawn.said}`);
    parts.facts.replaceChildren(...drawn.facts.map(([label, text, className]) => (
      htmlNode("div", "", htmlNode("dt", "", label), htmlNode("dd", className ?? "", text)))));
    parts.said.textContent = this.clock.isPlaying ? "" : drawn.said;
    this.drawTransport();
    this.expose(drawn.scene);
  }

  drawTabs() {
    for (const tab of this.tabs) {
      const own = tab.dataset.tab;
      const run = this.runOf(own);
      tab.setAttribute("aria-selected", String(own === this.state.tab));
      tab.tabIndex = own === this.state.tab ? 0 : -1;
      tab.querySelector("span").textContent = run ? PANELS[own].result(run, this.scene) : "not part of these runs";
    }
  }

  /** A button per run that has the picture, a sentence for each that has not. */
  drawRuns() {
    const { parts, scene } = this;
    const having = this.having();
    parts.runs.replaceChildren(...(having.length > 1 ? having : []).map((run) => {
      const button = htmlNode("button", "", htmlNode("span", `badge ${run.name.toLowerCase()}`, run.name), run.strategy);
      button.setAttribute("aria-pressed", String(run === this.run));
      button.onclick = () => this.choose(run.name);
      return button;
    }));
    const lacking = scene.runs.filter((run) => !having.includes(run));
    const alone = having.length === 1 ? [`Drawn: ${having[0].name}, ${having[0].strategy}.`] : [];
    const texts = [...alone, ...lacking.map((run) => `${run.name}: ${run.missing[this.state.tab]}`)];
    parts.missing.textContent = texts.join(" ");
    parts.missing.hidden = !texts.length;
  }

  drawTransport() {
    const { parts, step, count } = this;
    parts.at.textContent = this.panel.at(this.run, step, this.kernel);
    parts.slider.max = String(Math.max(1, count));
    parts.slider.value = String(step + 1);
    parts.slider.setAttribute("aria-valuetext", parts.at.textContent);
    parts.transport.hidden = count < 2;
    parts.back.disabled = step <= 0;
    parts.next.disabled = step >= count - 1;
  }

  showPlay() {
    this.parts.play.textContent = this.clock.isPlaying ? "❚❚ Pause" : "▶ Play";
    this.parts.play.setAttribute("aria-pressed", String(this.clock.isPlaying));
    if (this.scene) this.draw();
  }

  togglePlay() {
    if (this.run && this.count > 1) this.clock.toggle(matchMedia("(prefers-reduced-motion: reduce)").matches);
  }

  bind() {
    const { parts, root } = this;
    for (const tab of this.tabs) {
      tab.onclick = ({ detail }) => {
        this.open(tab.dataset.tab);
        if (detail) parts.svg.focus({ preventScroll: true }); // a pointer's: keys step, as the hint says
      };
    }
    parts.back.onclick = () => this.by(-1);
    parts.next.onclick = () => this.by(1);
    parts.play.onclick = () => this.togglePlay();
    parts.slider.oninput = () => {
      this.clock.stop();
      this.go(Number(parts.slider.value) - 1);
    };
    parts.svg.onclick = (event) => this.click(event);
    root.onkeydown = (event) => this.key(event);
    follow("selected", root, () => {
      if (!this.scene) return;
      this.readSelection();
      this.draw();
    });
  }

  by(steps) {
    this.clock.stop();
    this.go(this.step + steps);
  }

  click(event) {
    const found = (name) => event.target.closest(`[data-${name}]`)?.dataset[name];
    if (found("kernel") !== undefined) this.openKernel(Number(found("kernel")));
    else if (found("strip") !== undefined) {
      const box = event.target.getBoundingClientRect();
      this.clock.stop();
      this.go(1 + Math.floor(((event.clientX - box.left) / box.width) * Number(found("strip"))));
    } else if (found("step") !== undefined && Number(found("step")) >= 0) {
      this.clock.stop();
      this.go(Number(found("step")));
      this.tellSelection();
    }
  }

  /** The sub-graph of panel 1 that is open is selected in all views. */
  tellSelection() {
    const groups = this.panel.groups?.(this.run, this.step);
    if (groups) share("selected", `${this.run.name.toLowerCase()}-group-${groups[0]}`, this.root);
  }

  /** A sub-graph that another view has selected is the open one of panel 1. */
  readSelection() {
    const found = readSelected(common.selected);
    const run = found?.kind === "group" && this.scene.runs.find(({ name }) => name === found.run);
    if (!run?.split) return;
    const part = run.split.parts.findIndex(({ groups }) => groups.includes(found.index));
    if (part >= 0) this.state.steps[`split${run.name}`] = part;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.scene) return;
    const target = event.composedPath()[0];
    if (target.getAttribute?.("role") === "tab" && ["ArrowLeft", "ArrowRight"].includes(event.code)) {
      const at = NAMES.indexOf(this.state.tab) + (event.code === "ArrowRight" ? 1 : -1);
      this.open(NAMES[(at + NAMES.length) % NAMES.length]);
      this.tabs.find(({ tabIndex }) => tabIndex === 0).focus();
      event.preventDefault();
      return;
    }
    const acts = {
      ArrowRight: () => this.by(1), ArrowLeft: () => this.by(-1), Space: () => this.togglePlay(),
      Home: () => this.by(-this.count), End: () => this.by(this.count),
      ArrowDown: () => this.openKernel(this.kernel + 1), ArrowUp: () => this.openKernel(this.kernel - 1),
    };
    const digit = /^Digit([1-4])$/.exec(event.code);
    const act = digit ? () => this.open(NAMES[Number(digit[1]) - 1]) : acts[event.code];
    const isOwn = (target.tagName === "INPUT" && event.code !== "Space") || (target.tagName === "BUTTON" && event.code === "Space");
    const hasRows = this.state.tab === "bind" || !["ArrowDown", "ArrowUp"].includes(event.code);
    if (!act || isOwn || !hasRows) return;
    event.preventDefault();
    act();
  }

  /** What tests and people with a console can read. */
  expose(drawn) {
    const { scene, state, step, count } = this;
    this.root.dataset.scene = JSON.stringify({
      digest: scene.digest, tab: state.tab, run: this.run?.name ?? "", step, count, isPlaying: this.clock.isPlaying, ...drawn,
    });
  }
}

/** Header and arrays -> the scene: {…header, runs}, each run with its name and its curve. */
function readScene({ header, arrays }) {
  const runs = header.runs.map((run, number) => ({
    ...run, name: (header.names || "AB")[number],
    gb_cycle: arrays[`${number}.gb_cycle`] ?? [], gb_bytes: arrays[`${number}.gb_bytes`] ?? [],
  }));
  return { ...header, runs };
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".algorithms");
  const buffer = readBuffer(data);
  root.view ??= new Algorithms(root);
  const { view } = root;
  if (isLate(view, buffer)) return;
  view.show(readScene(buffer));
}
