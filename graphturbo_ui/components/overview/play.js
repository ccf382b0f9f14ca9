// Play: one clock for both runs, so that the shorter one is done first. And what it shows at a time.

import { NO_LAYER, cycleAt, kernelAt, layersAt } from "./runs.js";

const SECONDS = 8; // in which the longer run is played

export class Player {
  /** `longest()` seconds of the longer run; `show(time)` per frame; `changed()` when it starts or stops. */
  constructor(longest, show, changed) {
    this.longest = longest;
    this.show = show;
    this.changed = changed;
    this.isPlaying = false;
    this.time = 0;
  }

  toggle(time, isReduced) {
    if (this.isPlaying) {
      this.stop();
      return;
    }
    this.time = time === null || time >= this.longest() ? 0 : time;
    if (isReduced) {
      this.show(Math.min(this.longest(), this.time + this.longest() / 10));
      return;
    }
    this.isPlaying = true;
    this.last = null;
    this.changed();
    requestAnimationFrame((now) => this.step(now));
  }

  stop() {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    this.changed();
  }

  step(now) {
    if (!this.isPlaying) return;
    const passed = this.last === null ? 0 : (now - this.last) / 1000;
    this.last = now;
    this.time = Math.min(this.longest(), this.time + (passed / SECONDS) * this.longest());
    this.show(this.time);
    if (this.time >= this.longest()) this.stop();
    else requestAnimationFrame((next) => this.step(next));
  }
}

/** Whether a box (of a kernel, in a round) has started at a time. */
export function startedAt(time) {
  return (run, box) => {
    const round = run.rounds[box.round];
    return round.at + run.kernel_from[box.kernel] * run.seconds_per_cycle <= time;
  };
}

/** Layers of a run that have had an instruction by a time. */
export function layersBegunAt(time) {
  return (run) => {
    run.layer_from ??= firstStarts(run);
    return new Set(run.layer_from.flatMap((at, layer) => (at <= time ? [layer] : [])));
  };
}

/**
 * Seconds at which the first instruction of each layer starts; of a layer without one, its first kernel.
 *
 * @param {Run} run
 */
function firstStarts(run) {
  const at = run.rounds.find(({ isDrawn }) => isDrawn)?.at ?? 0;
  const found = [];
  run.layer.forEach((layer, i) => {
    if (layer !== NO_LAYER) found[layer] ??= at + run.start[i] * run.seconds_per_cycle;
  });
  run.kernel_group.forEach((group, kernel) => {
    for (const layer of run.groups[group].layers) found[layer] ??= at + run.kernel_from[kernel] * run.seconds_per_cycle;
  });
  return found;
}

/** Layers in flight of a run at a time, with the kernel that runs. */
export function runningAt(time) {
  const known = new Map();
  return (run) => {
    if (!known.has(run)) {
      /** @type {Map<number, number> & { kernel?: number, round?: number }} */
      const found = time !== null && cycleAt(run, time) ? layersAt(run, time) : new Map();
      found.round = cycleAt(run, time)?.number ?? -1;
      found.kernel = time === null ? -1 : kernelAt(run, time);
      known.set(run, found);
    }
    return known.get(run);
  };
}
