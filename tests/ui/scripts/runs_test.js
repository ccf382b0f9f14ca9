// Runs: rounds, what runs at a time, and how cycles of one round become seconds of all.

import {
  cycleAt, groupSeconds, hueSeconds, kernelAt, layersAt, matrixSeconds, readScene, samplesDone, scaleOf,
} from "../../../graphturbo_ui/components/overview/runs.js";
import { layersBegunAt } from "../../../graphturbo_ui/components/overview/play.js";
import { equal, near, outcomes } from "./check.js";
import { madeRun } from "./made.js";

const at = (run, time) => {
  const found = cycleAt(run, time);
  return found && [found.number, Math.round(found.cycle * 1000) / 1000];
};

export default function () {
  return outcomes({
    "a scene has its runs, each with its own arrays and letter": () => {
      const run = { sequence: [{ count: 1, cycles: 10, samples: 1, is_drawn: true }], seconds_per_cycle: 1, groups: [{ layers: [1, 0] }] };
      const scene = readScene({ header: { runs: [run, run], model: "m" }, arrays: { "0.start": [1], "1.start": [2], "1.a.b": [3] } });
      equal(scene.runs.map(({ name, start }) => [name, start]), [["A", [1]], ["B", [2]]]);
      equal([scene.model, scene.runs[1]["a.b"], scene.runs[0]["a.b"] ?? null], ["m", [3], null]);
      equal(readScene({ header: { runs: [run], names: "B" }, arrays: {} }).runs[0].name, "B");
    },
    "rounds follow one another": () => {
      const run = madeRun();
      near(run.rounds.map((round) => round.at), [0, 1, 2]);
      near([run.total, run.samples], [2.4, 5]);
      equal(run.groupOfLayer, [0, 0, 1]);
    },
    "a time is a cycle of its round": () => {
      const run = madeRun();
      equal([0, 0.995, 1, 1.5].map((time) => at(run, time)), [[0, 0], [0, 99.5], [1, 0], [1, 50]]);
    },
    "no cycle in a round that is not drawn, past the end, or without a time": () => {
      equal([2, 2.39, 2.4, 9, -0.1, null].map((time) => at(madeRun(), time)), [null, null, null, null, null, null]);
    },
    "the kernel at a time, in every round": () => {
      equal([0, 0.499, 0.5, 0.96, 1.3, 2.1, null].map((time) => kernelAt(madeRun(), time)), [0, 0, 1, -1, 0, -1, -1]);
    },
    "a layer has begun from its first instruction on, in all rounds": () => {
      const run = madeRun();
      const begun = (time) => [...layersBegunAt(time)(run)];
      equal([begun(0), begun(0.19), begun(0.2), begun(1.05)], [[0], [0], [0, 1], [0, 1, 2]]);
    },
    "a layer without an instruction begins with its kernel": () => {
      const run = madeRun({ header: { groups: [{ layers: [0, 1] }, { layers: [2, 3] }] } });
      equal([0.4, 0.5].map((time) => layersBegunAt(time)(run).has(3)), [false, true]);
    },
    "layers in flight compute or only move": () => {
      const run = madeRun();
      const layers = (time) => [...layersAt(run, time)];
      equal([0.05, 0.1, 0.25, 0.35, 0.5, 0.95, 1.25, 2.2].map(layers),
        [[[0, 2]], [[0, 1]], [[0, 1], [1, 1]], [[0, 1], [1, 1], [2, 1]], [], [], [[0, 1], [1, 1]], []]);
    },
    "figures of the drawn round count by samples": () => {
      const run = madeRun();
      equal(scaleOf(run), 2.5);
      // 80 cycles of 10 ms on two engines, 5 samples instead of 2.
      near(matrixSeconds(run, 0), 80 * 0.01 * 2.5 / 2);
    },
    "hues and sub-graphs share the whole time": () => {
      const run = madeRun();
      near(hueSeconds(run), [0.72, 1.2, 0, 0, 0, 0, 0.48]);
      near(hueSeconds(run).reduce((a, b) => a + b), run.total);
      near(run.groups.map((group) => groupSeconds(run, group)), [0.72 + 0.2, 0.6 + 0.4]);
    },
    "samples are done with their round": () => {
      equal([null, 0, 0.99, 1, 2, 2.3, 2.4].map((time) => samplesDone(madeRun(), time)), [0, 0, 0, 2, 4, 4, 5]);
    },
  });
}
