// Play: one step after the other, at most some seconds for all of them.

const SECONDS = 14; // in which all steps are played
const SLOWEST_MS = 900;
const FASTEST_MS = 60;

/** Milliseconds between two steps, and how many steps each goes on. */
export function paceOf(count) {
  const ms = Math.max(FASTEST_MS, Math.min(SLOWEST_MS, (SECONDS * 1000) / Math.max(1, count)));
  return { ms, by: Math.max(1, Math.ceil((count * ms) / (SECONDS * 1000 + 1))) };
}

export class Clock {
  /** `place()` gives {step, count}; `go(step)` shows one; `changed()` when it starts or stops. */
  constructor(place, go, changed) {
    this.place = place;
    this.go = go;
    this.changed = changed;
    this.timer = null;
  }

  get isPlaying() {
    return this.timer !== null;
  }

  /** Start, from the first step where the last is shown, or stop. `isReduced`: a tenth further. */
  toggle(isReduced) {
    if (this.isPlaying) {
      this.stop();
      return;
    }
    const { step, count } = this.place();
    const isAtEnd = step >= count - 1;
    if (isReduced) {
      this.go(isAtEnd ? 0 : Math.min(count - 1, step + Math.max(1, Math.round(count / 10))));
      return;
    }
    if (isAtEnd) this.go(0);
    const { ms, by } = paceOf(count);
    this.timer = setInterval(() => this.tick(by), ms);
    this.changed();
  }

  tick(by) {
    const { step, count } = this.place();
    const next = Math.min(count - 1, step + by);
    this.go(next);
    if (next >= count - 1) this.stop();
  }

  stop() {
    if (!this.isPlaying) return;
    clearInterval(this.timer);
    this.timer = null;
    this.changed();
  }
}
