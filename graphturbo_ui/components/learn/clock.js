// Play: the picture's time goes from where it is to an end, the whole of it in six seconds.

const SECONDS = 6;

export class Clock {
  /** `show()` per frame; `changed()` when it starts or stops. Time is 0 to 1. */
  constructor(show, changed) {
    this.show = show;
    this.changed = changed;
    this.time = 0;
    this.end = 1;
    this.isPlaying = false;
    this.run = 0;
  }

  /** Go to a time without playing. */
  set(time) {
    this.stop();
    this.time = time;
    this.show();
  }

  /** Play from `time` to `end`; at the end at once for those who asked for less motion. */
  play(time, end, isReduced) {
    this.stop();
    this.end = end;
    if (isReduced) {
      this.set(end);
      return;
    }
    this.time = time;
    this.isPlaying = true;
    this.run += 1;
    this.changed();
    this.show();
    const run = this.run;
    let last = null;
    const step = (now) => {
      if (!this.isPlaying || run !== this.run) return;
      const passed = last === null ? 0 : (now - last) / 1000;
      last = now;
      this.time = Math.min(this.end, this.time + passed / SECONDS);
      this.show();
      if (this.time >= this.end) this.stop();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  stop() {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    this.changed();
  }
}
