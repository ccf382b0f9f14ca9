// Made data of the lecture's pictures, and a moment of one of them.

import { Sheet } from "../../../graphturbo_ui/components/learn/kit.js";
import { STEPS } from "../../../graphturbo_ui/components/learn/steps.js";

const KIB = 1024;
const IMAGES = ["#6a7ba9", "#cdac99", "#3c6c78", "#a99663", "#a6b1e0", "#795e2e", "#7e9bb1", "#8c7b55"];
const CAUSES = Object.fromEntries(["input", "output", "weight_first", "weight_again", "activation", "halo", "spill"].map((cause) => [cause, "#3c6c78"]));
const COLOURS = { images: IMAGES, causes: CAUSES, neutral: "#7e9bb1", dram: "#7e9bb1", capacity: "#d55e00" };

/** Two kernels: the second reads what the first wrote. 2 + 1.5 + 4 and 4 + 1 KiB. */
const FINE = {
  dram: 12.5 * KIB,
  causes: { input: 2 * KIB, weight_first: 1.5 * KIB, activation: 8 * KIB, output: KIB },
  kernels: [
    { names: ["conv1", "1"], reads: [["input", 2 * KIB], ["weight_first", 1.5 * KIB]], writes: [["activation", 4 * KIB]] },
    { names: ["conv2", "2"], reads: [["activation", 4 * KIB]], writes: [["output", KIB]] },
  ],
};
const COARSE = {
  dram: 4.5 * KIB,
  causes: { input: 2 * KIB, weight_first: 1.5 * KIB, output: KIB },
  kernels: [{ names: ["g1/1"], reads: [["input", 2 * KIB], ["weight_first", 1.5 * KIB]], writes: [["output", KIB]] }],
};

function lane(cycles, parked, spill = 0) {
  const each = cycles / parked.length;
  return {
    cycles, spill,
    kernels: parked.map((images, at) => ({
      name: `g1/${at + 1}`, group: at % 3, from: at * each + 10, to: (at + 1) * each, parked_bytes: images.length * 2 * KIB,
      parked: images.length ? [{ images, bytes: images.length * 2 * KIB }] : [],
    })),
  };
}

const INTERVALS = (shift) => [
  ...["conv4", "conv5", "conv6"].flatMap((layer, at) => [
    { engine: "load", layer, from: at * shift, to: at * shift + 1000 },
    { engine: "compute", layer, from: at * shift + 1000, to: at * shift + 2000 },
  ]),
  { engine: "store", layer: "conv6", from: 2 * shift + 2000, to: 2 * shift + 2200 },
];

/** By step: what its picture is given, and a value of its control. */
export const MADE = {
  1: { knob: "layer", data: { runs: { layer: FINE, stage: COARSE } } },
  2: {
    knob: "4",
    data: {
      layer: "conv1", images: 8, cores: 4, capacity: 16 * KIB, whole: 48 * KIB,
      tensors: [{ name: "image", bytes: 16 * KIB }, { name: "relu1", bytes: 32 * KIB }],
      candidates: [1, 2, 4, 8].map((pieces) => ({ pieces, peak: (48 / pieces) * KIB, fits: pieces > 2 })),
    },
  },
  3: {
    knob: "join",
    data: {
      layers: [4, 4, 2, 1].map((pieces, at) => ({ name: `conv${at + 1}`, pieces })), shown: ["none"],
      named: [{ name: "g1", layers: [0, 1] }, { name: "g2", layers: [2] }, { name: "g3", layers: [3] }],
      groupings: [
        { key: "none", label: "none", groups: [[0], [1], [2], [3]], cycles: 300, again: 13.5 * KIB },
        { key: "join", label: "join g1 g2", groups: [[0, 1, 2], [3]], cycles: 200, again: 0 },
      ],
    },
  },
  4: { knob: "24", data: { for_weights: 8 * KIB, runs: { 24: { capacity: 24 * KIB, breadth: lane(4000, [[1, 2], [1, 2, 3, 4], [1, 2], []]), depth: lane(3800, [[1, 2], [1, 2], [1], []], 3 * KIB) } } } },
  5: {
    knob: "near",
    data: {
      tensor: "relu2", cores: 4, compared: [{ takes: [0, 2, 1, 3], bytes: 7 * KIB }, { takes: [0, 1, 2, 3], bytes: 9 * KIB }],
      runs: {
        near: {
          cycles: 200, between_cores: 7 * KIB, images: [5, 6, 7, 8], takes: [0, 2, 1, 3],
          parts: [...[5, 5, 6, 6].map((image, core) => ({ image, place: "LB", core, bytes: KIB })), ...[7, 8].map((image) => ({ image, place: "GB", core: -1, bytes: 2 * KIB }))],
          moves: [{ image: 5, from: 1, to: 0, bytes: KIB }, { image: 6, from: 3, to: 2, bytes: KIB }],
        },
        dram: { cycles: 300, between_cores: 2 * KIB, images: [5, 6, 7, 8], takes: null, parts: [5, 6, 7, 8].map((image) => ({ image, place: "DRAM", core: -1, bytes: 2 * KIB })), moves: [] },
      },
    },
  },
  6: {
    knob: "rows",
    data: {
      images: 8, image_bytes: 2 * KIB, whole: 16 * KIB, first: "images",
      runs: {
        rows: {
          halo_macs: 4000, read: 25 * KIB,
          kernels: [3, 2, 1, 0].map((low) => ({
            name: `g1/${low + 1}`, axis: 2, low, high: low + 1, extent: 4, input: 4 * KIB, halo: [KIB, 3 * KIB, 3 * KIB, 2 * KIB][low],
          })),
        },
        images: {
          halo_macs: 0, read: 18 * KIB,
          kernels: [6, 4, 2, 0].map((low) => ({ name: `g1/${low / 2 + 1}`, axis: 0, low, high: low + 2, extent: 8, input: 4 * KIB, halo: 0.5 * KIB })),
        },
      },
    },
  },
  7: {
    knob: "4",
    data: {
      rate: "4",
      lanes: {
        fenced: { cycles: 6200, before: 0, after: 200, intervals: INTERVALS(2000) },
        free: { cycles: 4200, before: 0, after: 200, intervals: INTERVALS(1000) },
      },
      gains: [{ key: "4", fenced: 1500, free: 1000 }, { key: "8", fenced: 1200, free: 1000 }],
    },
  },
  8: {
    knob: "1.5",
    data: {
      bound: 100, rate: 8, slow_rate: 2,
      stairs: [{ key: "layerwise", names: ["one kernel per op", "per op"], run: "", cycles: 900, dram: 300 * KIB }, { key: "tvm", names: ["A: one kernel per layer", "A: per layer"], run: "A", cycles: 600, dram: 200 * KIB }, { key: "full", names: ["B: + layers overlap", "B: + overlap"], run: "B", cycles: 200, dram: 50 * KIB }],
      points: [1, 1.5, 4, 12].map((kib, at) => ({ kib, a: 900 - 100 * at, b: 800 - 200 * at, slow_a: 1000 - 100 * at, slow_b: 1200 - 300 * at })),
      settings: [{ key: "1.5", kib: 1.5, a: 800, b: 600, slow_a: 900, slow_b: 950 }, { key: "4", kib: 4, a: 700, b: 400, slow_a: 800, slow_b: 600 }],
    },
  },
};

/** A step's picture at a time: its sheet. `type`: units of its text; `height` of the picture. */
export function sheetOf(number, { time = 1, isRevealed = true, knob = MADE[number].knob, type = 17, least = 12, height = 560, data = MADE[number].data } = {}) {
  const sheet = new Sheet({ type, least, height, colours: COLOURS });
  STEPS[number].draw(sheet, data, { knob, time, isRevealed });
  return sheet;
}
