// The first screen: result line, groupings and memory, instructions over time, inspector. One state,
// one playhead, one selection through all of them; link.js tells Python what is selected.

import { common, follow, inNextFrame, isLate, readBuffer, readSelected, share } from "../canvas_kit.js";
import { dockInspector } from "./dock.js";
import { themeOf } from "./draw.js";
import { drawInspector } from "./inspector.js";
import { bindKeys, togglePresent } from "./keys.js";
import { firstChoice, firstLens, firstOpen } from "./lens_words.js";
import { LayersPanel } from "./layers_panel.js";
import { drawRace } from "./race.js";
import { readScene } from "./runs.js";
import { bindPrinting } from "./printing.js";
import { Player, layersBegunAt, startedAt, runningAt } from "./play.js";
import { TimePanel } from "./time_panel.js";
import { bindTimePointer } from "./time_pointer.js";
import { openView } from "./views_below.js";
import { clusterText, countText, lbPartsText } from "./words.js";

const HUES = 5;
const SHORTEST_LENS = 2e-6; // seconds

class Overview {
  constructor(root) {
    this.root = root;
    this.parts = Object.fromEntries([...root.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
    this.layers = new LayersPanel(this.parts.layers);
    this.time = new TimePanel(this.parts.bars, this.parts.time);
    this.state = { layer: null, group: null, hue: null, pin: {}, time: null, lens: null, open: new Set([0]) };
    this.isPrinted = false;
    this.trigger = null; // hands a button to the app; a saved page has none
    this.player = new Player(() => this.longest(), (time) => this.playTo(time), () => this.showPlay());
    this.bind();
    const redraw = inNextFrame(() => root.isConnected && this.scene && this.draw());
    const sizes = new ResizeObserver(redraw);
    for (const part of [root, root.querySelector(".stage")]) sizes.observe(part); // the foot may change alone
    document.fonts.addEventListener("loadingdone", redraw); // rooms are measured in the font that is there
  }

  show(scene) {
    const isOther = !this.scene || scene.keys !== this.scene.keys;
    this.scene = scene;
    if (isOther) {
      Object.assign(this.state, { layer: null, group: null, hue: null, pin: {}, time: null, lens: null, open: new Set([0]) });
      this.time.forget();
      this.player.stop();
      if (scene.blocks.length) this.state.open = new Set([firstOpen(scene)]);
    }
    this.readSelection();
    this.draw();
  }

  /** What a button does that the app answers; null in a saved page. */
  acts(name) {
    return this.trigger ? () => this.trigger(name, true) : null;
  }

  longest() {
    return Math.max(...this.scene.runs.map((run) => run.total));
  }

  lens() {
    if (this.state.lens) return this.state.lens;
    return firstLens(this.scene, this.state.open);
  }

  /** Presenting begins at the top of the page, however far that was scrolled. */
  setMode(mode) {
    const { dataset } = this.root;
    if (mode === "present" && dataset.mode !== mode) document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
    dataset.mode = mode;
  }

  draw() {
    const { root, parts, scene, state } = this;
    const style = getComputedStyle(root);
    root.dataset.theme = this.isPrinted ? "light" : themeOf(style);
    this.setMode(scene.is_presenting ? "present" : "work");
    const k = Number.parseFloat(getComputedStyle(root).getPropertyValue("--k")) || 1;
    const font = getComputedStyle(root).fontFamily;
    drawRace(parts.result, scene, {
      hover: (hue) => this.set({ hue, layer: null, group: null }),
      pick: (hue) => this.pin({ hue }),
      search: this.acts("search"),
      leaveBest: this.acts("leave_best"),
      takeBest: this.acts("take_best"),
      discard: this.trigger ? (name) => this.trigger(`discard_${name.toLowerCase()}`, true) : null,
    });
    const left = parts.layers.parentElement;
    this.layers.draw(scene, { width: left.clientWidth, height: left.clientHeight, k, font, open: state.open });
    this.drawTime(k, font);
    parts.lb_parts.textContent = lbPartsText(scene.chip);
    const row = scene.blocks.length ? "one row per layer of the open block" : "one row per layer";
    sayInRoom(parts.layers_sub, [`${row}, one box per kernel`, row, ""]);
    const cluster = clusterText(scene);
    const samples = `${scene.batch > 1 ? "all " : ""}${countText(scene.batch, scene.noun)}`;
    parts.cores.hidden = !this.canOpen("Every core");
    sayInRoom(parts.time_sub, [`${cluster}, one time scale, ${samples}`, `${cluster}, ${samples}`, cluster, ""]);
    this.overlays();
    this.expose();
  }

  drawTime(k = this.k, font = this.font) {
    this.k = k;
    this.font = font;
    const right = this.parts.time.parentElement;
    this.time.draw(this.scene, { width: right.clientWidth, height: right.clientHeight, k, font, lens: this.lens(), colours: this.colours() });
    this.painted = null;
  }

  colours() {
    const style = getComputedStyle(this.root);
    const read = (name) => style.getPropertyValue(name).trim();
    return {
      hues: [...Array.from({ length: HUES }, (_, hue) => read(`--g${hue}`)), read("--rest"), read("--rest")],
      rest: read("--rest"), track: read("--track"), card: read("--card"), ink: read("--ink"), one: read("--one"), edge: read("--edge"),
    };
  }

  /** Layers of a choice {layer}, {group} or {hue}; null for none. */
  layersOf({ layer = null, group = null, hue = null }) {
    if (layer !== null) return [layer];
    if (group !== null) return this.scene.runs.at(-1).groups[group].layers;
    if (hue !== null) return this.scene.hues.of_layer.flatMap((own, at) => (own === hue ? [at] : []));
    return null;
  }

  /** Layers that are in focus, or null: those of what is pointed at, else of what is chosen. */
  focusLayers() {
    const { layer, group, hue, pin, time } = this.state;
    return this.layersOf({ layer, group, hue }) ?? (time === null ? this.layersOf(pin) : null);
  }

  overlays() {
    const { scene, state } = this;
    const { layer, group, hue, time, pin } = state;
    const layers = this.focusLayers();
    const painted = layers && layers.join();
    if (painted !== this.painted) {
      this.painted = painted;
      this.time.paint(layers && new Set(layers));
    }
    const hasOwn = layer !== null || group !== null || hue !== null;
    this.layers.overlay({
      layers: time === null ? layers : null,
      pointed: hasOwn ? this.layersOf({ layer, group, hue }) : null,
      chosen: this.layersOf(pin),
      at: time === null ? null : { started: startedAt(time), running: runningAt(time), begun: layersBegunAt(time) },
    });
    this.time.overlay(time);
    const chosen = Object.keys(pin).length ? pin : firstChoice(scene) ?? {};
    const focus = hasOwn ? { layer, group, hue } : time !== null ? { time } : chosen;
    drawInspector(this.parts.inspector, scene, focus, { edit: this.canOpen("Plan edits") ? (own) => this.editPlan(own) : null });
  }

  /** The view that edits B's plan, at a sub-graph. */
  editPlan(group) {
    if (this.state.pin.group !== group) this.pin({ group });
    openView("Plan edits");
  }

  /** Change what is pointed at. */
  set(change) {
    const before = this.state;
    if (Object.entries(change).every(([name, value]) => before[name] === value)) return;
    Object.assign(before, change);
    this.frameOverlay ??= requestAnimationFrame(() => {
      this.frameOverlay = null;
      if (this.root.isConnected) this.overlays();
    });
  }

  /** Choose a layer, sub-graph or hue, or give the choice up; the other views follow. */
  pin(choice) {
    const isSame = JSON.stringify(choice) === JSON.stringify(this.state.pin);
    this.state.pin = isSame ? {} : choice;
    const { layer, group } = this.state.pin;
    const run = this.scene.runs.at(-1).name.toLowerCase();
    const text = layer !== undefined ? `${run}-layer-${layer}` : group !== undefined ? `${run}-group-${group}` : "";
    share("selected", text, this.root);
    this.overlays();
    this.expose();
  }

  /** What another view has selected. */
  readSelection() {
    const found = readSelected(common.selected);
    const run = found && this.scene.runs.find((own) => own.name === found.run);
    if (!run) {
      if (!found) this.state.pin = this.state.pin.hue === undefined ? {} : this.state.pin;
      return;
    }
    // A link may name what these runs do not have.
    if (found.kind === "layer") this.state.pin = this.scene.layers[found.index] ? { layer: found.index } : {};
    else if (found.kind === "op") this.state.pin = { layer: run.op_layer[found.index] ?? 0 }; // a run may have ops of its own
    else if (run === this.scene.runs.at(-1)) this.state.pin = run.groups[found.index] ? { group: found.index } : {};
    else this.state.pin = { layer: run.groups[found.index]?.layers[0] ?? 0 };
  }

  setLens(lens) {
    if (lens) {
      const run = this.scene.runs.find((own) => own.name === lens.run);
      const span = Math.min(run.total, Math.max(SHORTEST_LENS, lens.t1 - lens.t0));
      const t0 = Math.min(Math.max(0, lens.t0), run.total - span);
      lens = { run: lens.run, t0, t1: t0 + span };
    }
    this.state.lens = lens;
    this.drawTime();
    this.overlays();
    this.expose();
  }

  /** Zoom the lens by a factor; `at` (0..1 of it) stays. */
  zoom(factor, at = 0.5) {
    const { run, t0, t1 } = this.lens();
    const fixed = t0 + (t1 - t0) * at;
    this.setLens({ run, t0: fixed - (fixed - t0) * factor, t1: fixed + (t1 - fixed) * factor });
  }

  pan(part) {
    const { run, t0, t1 } = this.lens();
    this.setLens({ run, t0: t0 + (t1 - t0) * part, t1: t1 + (t1 - t0) * part });
  }

  playTo(time) {
    Object.assign(this.state, { time, layer: null, group: null, hue: null });
    this.overlays();
  }

  showPlay() {
    this.parts.play.textContent = this.player.isPlaying ? "❚❚ Pause" : "▶ Play";
    this.parts.play.setAttribute("aria-pressed", String(this.player.isPlaying));
  }

  togglePlay() {
    const isReduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.player.toggle(this.state.time, isReduced);
  }

  /** The lens in cycles for the views below, which show every core. */
  openCores() {
    const { run, t0, t1 } = this.lens();
    const own = this.scene.runs.find(({ name }) => name === run);
    const window = [t0 / own.seconds_per_cycle, t1 / own.seconds_per_cycle];
    share("windows", this.scene.runs.map(() => window), this.root);
    openView("Every core");
  }

  /** Whether the page has a view below; a saved page has a part of the app's. */
  canOpen(name) {
    return this.scene.views?.includes(name) ?? true;
  }

  bind() {
    const { parts, root } = this;
    /** @returns {[number, number]} */
    const point = (event, host) => {
      const box = host.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    parts.layers.addEventListener("pointermove", (event) => {
      const found = this.layers.hit(...point(event, parts.layers));
      this.set({ layer: found?.layer ?? null, group: found?.group ?? null, hue: null, time: this.player.isPlaying ? this.state.time : null });
    });
    parts.layers.addEventListener("pointerleave", () => this.set({ layer: null, group: null, hue: null }));
    parts.layers.addEventListener("click", (event) => this.clickLayers(event, point(event, parts.layers)));
    bindTimePointer(this, point);
    parts.play.onclick = () => this.togglePlay();
    parts.fit.onclick = () => this.setLens(null);
    parts.cores.onclick = () => this.openCores();
    for (const button of root.querySelectorAll("[data-help]")) {
      const box = root.querySelector(`#${button.dataset.help}`);
      button.onclick = () => this.toggleHelp(button, box);
    }
    parts.all_keys.onclick = () => this.showKeys();
    parts.shortcuts.onclick = (event) => {
      const isOutside = event.target === parts.shortcuts; // what surrounds its words
      if (isOutside || event.target.closest("button")) parts.shortcuts.close();
    };
    bindKeys(root, (name, event) => this.key(name, event));
    dockInspector(parts.inspector.parentElement, parts.inspector, () => this.scene && this.overlays());
    bindPrinting(this, parts.inspector);
    follow("selected", root, () => {
      if (!this.scene) return;
      this.readSelection();
      this.overlays();
    });
  }

  toggleHelp(button, box) {
    box.hidden = !box.hidden;
    button.setAttribute("aria-expanded", String(!box.hidden));
  }

  clickLayers(event, [x, y]) {
    const label = event.target.closest?.("[data-block]");
    const found = this.layers.hit(x, y);
    const block = label ? Number(label.dataset.block) : this.state.open.has(found?.block) ? null : found?.block ?? null;
    if (block !== null && this.scene.blocks.length) {
      this.state.open = this.state.open.has(block) ? new Set() : new Set([block]);
      this.draw();
      return;
    }
    if (!found) return;
    this.pin(found.group !== null ? { group: found.group } : { layer: found.layer });
  }

  /** What a key does; false where it does nothing here. */
  key(name, event) {
    const shortcuts = this.parts.shortcuts;
    if (shortcuts.open) {
      if (name !== "?" && name !== "Escape") return false;
      shortcuts.close();
      return true;
    }
    const by = event.shiftKey ? 10 : 1;
    const acts = {
      Space: () => this.togglePlay(), ArrowDown: () => this.stepLayer(1), ArrowUp: () => this.stepLayer(-1),
      ArrowRight: () => this.stepTime(by), ArrowLeft: () => this.stepTime(-by),
      KeyW: () => this.zoom(0.8), KeyS: () => this.zoom(1.25), KeyA: () => this.pan(-0.15), KeyD: () => this.pan(0.15),
      KeyF: () => this.setLens(null), KeyP: () => !event.repeat && togglePresent(this.scene.is_presenting),
      Escape: () => this.escape(event), Enter: () => this.state.layer !== null && this.pin({ layer: this.state.layer }),
      "?": () => this.showKeys(),
    };
    const digit = /^Digit([1-9])$/.exec(name);
    const act = acts[name] ?? (digit ? () => this.pickHue(this.shownHues()[Number(digit[1]) - 1]) : () => false);
    return this.scene ? act() : false;
  }

  showKeys() {
    const { shortcuts } = this.parts;
    for (const node of shortcuts.querySelectorAll(".of-app")) node.hidden = !this.trigger;
    shortcuts.showModal();
  }

  /** Hues that layers have, in order: a sub-graph of several stages leaves the others' without. */
  shownHues() {
    const { titles, of_layer: own } = this.scene.hues;
    return titles.map((_, hue) => hue).filter((hue) => own.includes(hue));
  }

  pickHue(hue) {
    if (hue === undefined) return;
    Object.assign(this.state, { layer: null, group: null, hue: null }); // the last input wins
    if (!this.player.isPlaying) this.state.time = null;
    const group = this.scene.hues.of_group.indexOf(hue);
    this.pin(this.scene.hues.meaning === "group" ? { group } : { hue });
  }

  stepLayer(by) {
    const layer = Math.min(this.scene.layers.length - 1, Math.max(0, (this.state.layer ?? this.state.pin.layer ?? -1) + by));
    this.set({ layer, group: null, hue: null, time: null });
  }

  stepTime(by) {
    const { t0, t1 } = this.lens();
    const time = (this.state.time ?? t0) + (by * (t1 - t0)) / 200;
    this.set({ time: Math.min(this.longest(), Math.max(0, time)), layer: null, group: null, hue: null });
  }

  /** Give up what is chosen; where the first screen has no focus, Escape ends Present. */
  escape(event) {
    if (this.scene.is_presenting && !event.composedPath().includes(this.root)) return false;
    for (const box of this.root.querySelectorAll(".help:not([hidden])")) box.hidden = true;
    this.player.stop();
    Object.assign(this.state, { layer: null, group: null, hue: null, time: null, lens: null });
    if (Object.keys(this.state.pin).length) this.pin(this.state.pin);
    this.setLens(null);
    return true;
  }

  /** What tests and people with a console can read. */
  expose() {
    const { scene, state } = this;
    this.root.dataset.scene = JSON.stringify({
      digest: scene.digest, rows: this.layers.rows, lens: this.lens(), pin: state.pin,
      hues: scene.hues, totals: scene.runs.map((run) => run.total), open: [...state.open],
    });
  }
}

/** The first of these texts that is not cut. */
function sayInRoom(host, texts) {
  for (const text of texts) {
    host.textContent = text;
    if (host.scrollWidth <= host.clientWidth) return;
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".overview");
  const buffer = readBuffer(data);
  root.view ??= new Overview(root);
  const view = root.view;
  view.trigger = setTriggerValue ?? null;
  if (isLate(view, buffer)) return;
  view.show(readScene(buffer));
}
