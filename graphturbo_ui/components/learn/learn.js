// The lecture: one step at a time, with its picture, its control and its question.

import { isLate } from "../canvas_kit.js";
import { themeOf } from "../overview/draw.js";
import { Clock } from "./clock.js";
import { HEIGHTS, Sheet, WIDTH } from "./kit.js";
import { Pace } from "./pace.js";
import { Painter } from "./paint.js";
import { Side } from "./side.js";
import { STEPS } from "./steps.js";
import { YOURS } from "./yours.js";

const LEAST_PX = { "": 11.1, present: 28.1 }; // a text of a picture is never below 11 and 28, after rounding
const TYPE_PX = { "": 15.5, present: 28.5 };
const WIDE_PX = 1100; // a picture this wide has larger type, by this, when nobody presents
const WIDE = 1.2;
const NAMING_MS = 250;
const IN_PART = " in part"; // of the place of a step whose other runs are to come
const REDUCED = "(prefers-reduced-motion: reduce)";

export class Learn {
  constructor(root) {
    this.root = root;
    this.svg = root.querySelector(".picture svg");
    this.painter = new Painter(this.svg);
    this.clock = new Clock(() => this.draw(), () => this.draw());
    this.side = new Side(root, this);
    this.pace = new Pace(root.querySelector(".pace"), () => this.step);
    /** @type {Map<string, { knob: string, chosen: number, isRevealed: boolean }>} */
    this.kept = new Map();
    this.areNotesOpen = false;
    this.at = -1;
    this.isYours = false;
    this.played = "";
    /** @type {(name: string, value: unknown) => void} */
    this.trigger = () => {};
    root.querySelector("[data-act=play]").addEventListener("click", () => this.togglePlay());
    root.querySelector("[data-act=notes]").addEventListener("click", () => this.toggleNotes());
    for (const button of root.querySelectorAll("[data-network]")) {
      button.addEventListener("click", () => this.showOn(button.dataset.network === "yours"));
    }
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  /** Keys reach the lecture wherever the focus is, as long as it is on the page. */
  listen() {
    const heard = (event) => {
      if (!this.root.isConnected) window.removeEventListener("keydown", heard);
      else this.key(event);
    };
    window.addEventListener("keydown", heard);
  }

  show(lesson) {
    const isNew = this.at < 0;
    this.lesson = lesson;
    this.steps = lesson.steps;
    this.root.dataset.theme = themeOf(getComputedStyle(this.root));
    this.root.dataset.mode = lesson.mode;
    this.root.querySelector(".steps").replaceChildren(...this.steps.map((step, at) => this.link(step, at)));
    if (isNew) {
      this.at = Math.max(0, this.steps.findIndex(({ key }) => key === lesson.start.step));
      this.isYours = lesson.start.isYours;
    }
    this.showStep();
    if (this.played === this.place) this.draw();
    else this.begin();
  }

  /** Play a step that was not shown before, with its control as the address has it. */
  begin() {
    const isDrawnInPart = this.played === `${this.place}${IN_PART}`;
    this.painter.clear();
    this.played = this.isBlocked ? "" : this.place;
    const { start } = this.lesson;
    const isNamed = !this.isBlocked && start.step === this.step.key && start.isYours === this.isYours;
    if (isNamed && this.step.knob.values.some(({ key, is_hidden: isHidden }) => key === start.knob && !isHidden)) {
      this.now.knob = start.knob;
      this.side.show();
    }
    this.play(isDrawnInPart ? this.end() : 0);
  }

  /** Which of Explore's model and chip the step is shown on: its part of the lesson, or null. */
  get yours() {
    return this.isYours && this.isPossible ? this.lesson.yours.steps[this.steps[this.at].key] ?? { why: "", is_waiting: true } : null;
  }

  get isPossible() {
    return this.lesson.yours.possible.includes(this.steps[this.at].key);
  }

  /** Whether there is no picture: its runs are awaited, or it does not fit. */
  get isBlocked() {
    return this.yours !== null && this.yours.why !== undefined;
  }

  get step() {
    const own = this.steps[this.at];
    return this.yours && !this.isBlocked ? { ...own, ...this.yours, explore: this.lesson.yours.explore } : own;
  }

  /** Names what is drawn; what is chosen while runs are awaited is not of the step that comes. */
  get place() {
    const network = this.yours ? this.lesson.yours.key : "";
    const part = this.yours?.is_partial ? IN_PART : "";
    return `${this.isBlocked ? "blocked" : network} ${this.steps[this.at].key}${part}`;
  }

  /** What is chosen in the step. */
  get now() {
    const { knob, question } = this.step;
    if (!this.kept.has(this.place)) this.kept.set(this.place, { knob: knob.first, chosen: -1, isRevealed: question === null });
    return this.kept.get(this.place);
  }

  /** Show steps on the lesson's network or on Explore's. */
  showOn(isYours) {
    if (isYours === this.isYours) return;
    this.isYours = isYours;
    this.showStep();
    this.name();
    this.begin();
  }

  link(step, at) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: String(step.key), title: step.claim });
    button.setAttribute("aria-label", `Step ${step.key}: ${step.claim}`);
    button.addEventListener("click", () => this.goTo(at));
    return button;
  }

  goTo(at) {
    if (at < 0 || at >= this.steps.length || at === this.at) return;
    this.at = at;
    this.showStep();
    this.name();
    this.begin();
  }

  /** The address names the step and its control, once nothing changed for a moment. */
  name() {
    clearTimeout(this.naming);
    this.naming = setTimeout(() => this.trigger("place", {
      step: this.step.key, knob: this.isBlocked ? "" : this.now.knob, isYours: this.isYours,
    }), NAMING_MS);
  }

  showStep() {
    const { root, step } = this;
    root.querySelector("h1").textContent = step.claim;
    root.querySelector(".count").textContent = `${step.key}`;
    for (const [at, button] of [...root.querySelectorAll(".steps button")].entries()) {
      if (at === this.at) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
    root.querySelector(".explore").href = step.explore;
    this.showNetwork();
    this.side.show();
    this.showPlaying();
  }

  /** On which network the step is shown, and why it is not where it cannot be. */
  showNetwork() {
    const { root, isYours, lesson: { own, yours } } = this;
    const isShown = isYours && this.isPossible;
    root.querySelector(".own").textContent = isShown ? yours.sentence : own;
    const steps = yours.possible.join(", ");
    for (const button of root.querySelectorAll("[data-network]")) {
      const isOfYours = button.dataset.network === "yours";
      if (isOfYours) button.textContent = yours.name;
      button.title = isOfYours ? `Steps ${steps} on Explore's model and chip (Y)` : "The lesson's own network and chip (Y)";
      button.setAttribute("aria-pressed", String(isOfYours === isShown));
      button.disabled = isOfYours && !this.isPossible;
    }
    if (isYours && !isShown) root.querySelector(".own").textContent = `${own} Only steps ${steps} can be shown on ${yours.name}.`;
    const why = this.isBlocked ? this.yours.why || "The runs are being simulated." : "";
    root.dataset.blocked = why ? (this.yours.is_waiting ? "waiting" : "unfit") : "";
    root.querySelector(".blocked").textContent = why;
  }

  turn(key) {
    const value = this.step.knob.values.find((each) => each.key === key);
    if (!value || (value.is_hidden && !this.now.isRevealed)) return;
    this.now.knob = key;
    this.side.show();
    this.name();
    this.clock.set(this.end());
  }

  /** The next value of the control that can be chosen; none beyond its ends. */
  turnBy(by) {
    if (this.isBlocked) return;
    const values = this.step.knob.values.filter((each) => !each.is_hidden || this.now.isRevealed);
    const at = values.findIndex(({ key }) => key === this.now.knob) + by;
    if (values[at]) this.turn(values[at].key);
  }

  choose(at) {
    if (this.isBlocked || this.now.isRevealed || at >= this.step.question.choices.length) return;
    this.now.chosen = at;
    this.side.show();
  }

  reveal() {
    if (this.isBlocked || this.now.chosen < 0 || this.now.isRevealed) return;
    this.now.isRevealed = true;
    const { revealed } = this.step.knob;
    if (revealed && revealed !== this.now.knob) {
      this.now.knob = revealed;
      this.name();
    }
    this.side.show();
    this.side.say();
    this.play(this.module.ask);
  }

  get module() {
    return (this.yours ? YOURS : STEPS)[this.step.key];
  }

  /** Where the picture ends: before the answer, until it is revealed. */
  end() {
    return this.now.isRevealed ? 1 : this.module.ask;
  }

  play(time) {
    if (this.isBlocked) {
      this.clock.set(0);
      return;
    }
    this.clock.play(time, this.end(), window.matchMedia(REDUCED).matches);
  }

  togglePlay() {
    if (this.clock.isPlaying) this.clock.stop();
    else this.play(this.clock.time >= this.end() ? 0 : this.clock.time);
  }

  showPlaying() {
    const isOver = this.clock.time >= this.end();
    this.root.querySelector("[data-act=play]").textContent = this.clock.isPlaying ? "Pause" : isOver ? "Replay" : "Play";
  }

  toggleNotes() {
    if (this.lesson.mode === "present") return;
    this.areNotesOpen = !this.areNotesOpen;
    this.side.show();
    if (this.areNotesOpen) this.root.querySelector(".notes").scrollIntoView({ block: "nearest" });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.composedPath()[0];
    if (target instanceof Element && target.closest("input, textarea, select, [role=combobox], [role=dialog], [data-testid=stPopoverBody]")) return;
    const isOnButton = target instanceof Element && target.closest("button, a") !== null;
    if (isOnButton && ["Space", "Enter"].includes(event.code)) return;
    const acts = {
      ArrowRight: () => this.goTo(this.at + 1), ArrowLeft: () => this.goTo(this.at - 1),
      ArrowDown: () => this.turnBy(1), ArrowUp: () => this.turnBy(-1),
      Space: () => this.togglePlay(), KeyR: () => this.reveal(), KeyN: () => this.toggleNotes(),
      KeyP: () => this.pace.toggle(),
      KeyY: () => this.showOn(!this.isYours),
    };
    const digit = /^(?:Digit|Numpad)([1-5])$/.exec(event.code);
    const act = acts[event.code] ?? (digit ? () => this.choose(Number(digit[1]) - 1) : null);
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** The picture at the clock's time. */
  draw() {
    if (this.at < 0) return;
    if (this.isBlocked) {
      this.painter.clear();
      this.svg.querySelector("title").textContent = this.yours.why || "The picture is being made.";
      this.root.dataset.scene = JSON.stringify({ step: this.steps[this.at].key, isYours: true, isBlocked: true, why: this.yours.why });
      return;
    }
    const { mode } = this.lesson;
    const { width, height } = this.svg.getBoundingClientRect();
    const tall = Math.min(HEIGHTS[1], Math.max(HEIGHTS[0], (WIDTH * height) / (width || 1)));
    const scale = Math.min(width / WIDTH, height / tall) || 1;
    this.svg.setAttribute("viewBox", `0 0 ${WIDTH} ${tall.toFixed(1)}`);
    const isWide = !mode && width > WIDE_PX;
    const sheet = new Sheet({
      type: (TYPE_PX[mode] * (isWide ? WIDE : 1)) / scale, least: LEAST_PX[mode] / scale, height: tall, colours: this.lesson.colours, unit: this.step.data.unit,
    });
    const { knob, isRevealed } = this.now;
    const time = Math.min(this.clock.time, this.end());
    this.module.draw(sheet, this.step.data, { knob, time, isRevealed });
    this.painter.draw(sheet.marks);
    this.svg.querySelector("title").textContent = this.step.described;
    this.showPlaying();
    this.expose(sheet, time);
  }

  /** What tests and people with a console can read. */
  expose(sheet, time) {
    this.root.dataset.scene = JSON.stringify({
      step: this.step.key, isYours: this.yours !== null, isPartial: Boolean(this.step.is_partial), ...this.now, time: Math.round(time * 1000) / 1000, end: this.end(),
      isPlaying: this.clock.isPlaying, numbers: sheet.numbers, marks: sheet.marks.length,
    });
  }
}

/** JSON, and since when it is shown, as `sources.stamped` puts them together. */
function readLesson(data) {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  const end = bytes.byteLength - 8;
  const sent = new DataView(bytes.buffer, bytes.byteOffset + end, 8).getFloat64(0, true);
  return { lesson: JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))), sent };
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".learn");
  const found = readLesson(data);
  root.view ??= new Learn(root);
  const { view } = root;
  view.trigger = setTriggerValue;
  if (isLate(view, found)) return;
  view.show(found.lesson);
}
