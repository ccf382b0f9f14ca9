// A clock per step for the teacher: the time in it beside the minutes that the plan has for it.

const TICK_MS = 250;

/** `2:05 of 5 min`. */
export function paceText(passedMs, minutes) {
  const seconds = Math.floor(passedMs / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} of ${minutes} min`;
}

export class Pace {
  /** `place` shows it from the first `toggle()` on; `stepOf()`: the step that is shown. */
  constructor(place, stepOf) {
    this.place = place;
    this.stepOf = stepOf;
    /** @type {Map<number, number>} */
    this.passed = new Map();
    this.last = 0;
    this.timer = 0;
  }

  /** Begin or go on, or pause. */
  toggle() {
    if (this.timer) {
      this.tick();
      clearInterval(this.timer);
      this.timer = 0;
    } else {
      this.last = performance.now();
      this.timer = setInterval(() => this.tick(), TICK_MS);
    }
    this.show();
  }

  tick() {
    const now = performance.now();
    const { key } = this.stepOf();
    this.passed.set(key, (this.passed.get(key) ?? 0) + now - this.last);
    this.last = now;
    if (this.place.isConnected) this.show();
    else clearInterval(this.timer);
  }

  show() {
    const { key, minutes } = this.stepOf();
    const passed = this.passed.get(key) ?? 0;
    this.place.hidden = false;
    this.place.textContent = `${paceText(passed, minutes)}${this.timer ? "" : ", paused"}`;
    this.place.dataset.state = passed > minutes * 60_000 ? "over" : this.timer ? "runs" : "paused";
  }
}
