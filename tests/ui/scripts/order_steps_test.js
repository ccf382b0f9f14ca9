// The ready list step by step, the bytes in GB, and Play's pace.

import { Clock, paceOf } from "../../../graphturbo_ui/components/algorithms/clock.js";
import { stepPath } from "../../../graphturbo_ui/components/algorithms/gb_curve.js";
import { kernelsByGroup, listLengths, pieceOf, readyAt } from "../../../graphturbo_ui/components/algorithms/order_steps.js";
import { equal, holds, outcomes } from "./check.js";

// Sub-graph a in two pieces (kernels 1 and 0), b in one (2), which needs both.
const ORDER = {
  initial: [1, 0], is_breadth_first: false,
  kernels: [{ name: "a/2", group: 0, gb_peak_bytes: 3 }, { name: "a/1", group: 0, gb_peak_bytes: 9 }, { name: "b/1", group: 1, gb_peak_bytes: 5 }],
  steps: [{ run: 0, entered: [2] }, { run: 1, entered: [] }, { run: 2, entered: [] }],
};

export default function () {
  return outcomes({
    "the newest runs; a newer one that waits is skipped": () => {
      const [first, second, third] = [0, 1, 2].map((step) => readyAt(ORDER, step));
      equal([first.before, first.run, first.skipped, first.entered, first.after], [[1, 0], 0, [], [2], [1, 2]]);
      equal([second.before, second.run, second.skipped, second.after], [[1, 2], 1, [2], [2]]);
      equal([third.before, third.run, third.after, [...third.done]], [[2], 2, [], [0, 1]]);
    },
    "breadth first the oldest runs": () => {
      equal(readyAt({ ...ORDER, is_breadth_first: true }, 1).skipped, []);
      equal(readyAt({ ...ORDER, is_breadth_first: true, steps: [{ run: 0, entered: [] }] }, 0).skipped, [1]);
    },
    "entries before each step": () => equal(listLengths(ORDER), [0, 1, 2].map((step) => readyAt(ORDER, step).before.length)),
    "pieces of a sub-graph are in order": () => {
      equal(kernelsByGroup(ORDER, 2), [[1, 0], [2]]);
      equal([pieceOf("g2/8"), pieceOf("whole")], ["8", "whole"]);
    },
    "a step curve holds each value until the next cycle": () => {
      equal(stepPath([0, 10], [1, 3], 20, (cycle) => cycle, (size) => -size), "M0 0H0.0V-1.0H10.0V-3.0H20.0V0Z");
    },
    "Play takes some seconds, however many steps there are": () => {
      for (const count of [2, 19, 200, 5000]) {
        const { ms, by } = paceOf(count);
        holds(ms >= 60 && ms <= 900 && by >= 1, `${ms} ms`);
        holds((count / by) * ms <= 15000, `${count} steps take ${(count / by) * ms} ms`);
      }
    },
    "Play starts anew from the last step; reduced motion goes a tenth further": () => {
      let step = 39;
      const clock = new Clock(() => ({ step, count: 40 }), (next) => { step = next; }, () => {});
      clock.toggle(true);
      equal([step, clock.isPlaying], [0, false]);
      clock.toggle(true);
      equal(step, 4);
      clock.toggle(false);
      equal([step, clock.isPlaying], [4, true]);
      clock.toggle(false);
      equal(clock.isPlaying, false);
    },
  });
}
