// Numbers as text, and ticks.

import { shorterNames, titleOf } from "../../../graphturbo_ui/components/group_names.js";
import { bytesText } from "../../../graphturbo_ui/components/overview/labels.js";
import {
  barestTitles, clamp01, countText, digitsText, firstWords, shareText, shorterTitles, sizesText, sizeText, strategyTexts, tickTexts, timeText, timeTicks,
} from "../../../graphturbo_ui/components/overview/words.js";
import { equal, holds, near, outcomes } from "./check.js";

export default function () {
  return outcomes({
    "three significant digits, thousands apart": () => {
      equal([1.254, 12.34, 99.95, 999.6, 2047, 1234567, 0.00123].map((value) => digitsText(value)),
        ["1.25", "12.3", "100", "1,000", "2,050", "1,230,000", "0.00123"]);
      equal([digitsText(1234.5, 4), digitsText(158486.8, 4)], ["1,235", "158,500"]);
    },
    "bytes in powers of 1024": () => {
      equal([0, 512, 999, 1000, 1024, 1310720, 8388608, 2 ** 40].map((size) => sizeText(size)),
        ["0 B", "512 B", "999 B", "0.977 KiB", "1.00 KiB", "1.25 MiB", "8.00 MiB", "1.00 TiB"]);
      equal([1310720, 8388608, 1536, 104857600].map((size) => sizeText(size, true)), ["1.25 MiB", "8 MiB", "1.5 KiB", "100 MiB"]);
    },
    "names of sub-graphs in less room": () => {
      equal(shorterNames("attention (layers 4–14)"), ["attention (layers 4–14)", "attention 4–14", "4–14"]);
      equal(shorterNames("norm (layer 3), part 2"), ["norm (layer 3), part 2", "norm 3, part 2", "3, part 2"]);
      equal(["layer 20", "layers 5 to 8", "stage 1"].map((name) => shorterNames(name).at(-1)), ["20", "5–8", "stage 1"]);
      equal([titleOf("attention (layers 4–14)"), titleOf("stage 1 (2)")], ["attention", "stage 1 (2)"]);
    },
    "times in the unit that leaves them above a tenth": () => {
      equal([0, 1.5, 0.0312, 0.00064, 3.4e-5, 2e-8].map((seconds) => timeText(seconds)), ["0", "1.50 s", "31.2 ms", "0.640 ms", "34.0 µs", "20.0 ns"]);
      equal([timeText(0.13, 0.0875), timeText(0.0312, 0.00492)], ["130 ms", "31.2 ms"]);
    },
    "shares in per cent": () => {
      equal([0, 0.868, 0.0996, 0.0923, 0.0095, 0.0049, 1].map(shareText), ["0 %", "87 %", "10 %", "9.2 %", "0.95 %", "0.5 %", "100 %"]);
    },
    "titles in less room": () => {
      const titles = [
        "layer 4 – layer 11", "stem – layer 3", "stage 4 + head", "stage 3 + stage 4", "stage 1", "stem + stage 1",
        "Mixed_5b + Mixed_5c", "Mixed_6e – head", "down_a + down_b", "blocks.1 – blocks.3", "stage 28 × 28 + stage 14 × 14",
      ];
      equal(titles.map(shorterTitles),
        [["layer 4 – 11"], [], [], ["stage 3 + 4"], [], [], ["Mixed_5b + 5c"], [], [], ["blocks.1 – 3"], []]);
      equal(titles.map(barestTitles),
        [["4 – 11"], ["to layer 3"], ["4 + head"], ["3 + 4"], [], [], ["5b + 5c"], ["to head"], [], ["1 – 3"], []]);
    },
    "a title's first words, whole ones, and none of a range": () => {
      equal(["second matmul", "attention query key", "ffn", "attention: query – value", "stage 3 + stage 4", "norm: scores"].map(firstWords),
        [["second"], ["attention query", "attention"], [], ["attention"], [], ["norm"]]);
    },
    "a strategy in less room": () => {
      equal(["graphturbo:order@16", "tvm@16", "graphturbo:gb", "xla"].map(strategyTexts),
        [["graphturbo:order@16", "graphturbo@16", "graphturbo"], ["tvm@16", "tvm"], ["graphturbo:gb", "graphturbo"], ["xla"]]);
    },
    "one image, two images": () => {
      equal([countText(1, "image"), countText(0, "image"), countText(1024, "sample")], ["1 image", "0 images", "1,024 samples"]);
    },
    "live bytes, whole and per piece": () => {
      equal(bytesText({ whole_bytes: 55.1 * 2 ** 20, piece_bytes: 6.89 * 2 ** 20, pieces: 8 }), "55.1 → 6.89 MiB");
      equal(bytesText({ whole_bytes: 2 ** 20, piece_bytes: 2 ** 17, pieces: 8 }), "1.00 MiB → 128 KiB");
      equal(bytesText({ whole_bytes: 900, piece_bytes: 1200, pieces: 2 }), "900 B → 1.17 KiB");
      equal(bytesText({ whole_bytes: 2 ** 20, piece_bytes: 2 ** 20, pieces: 1 }), "1.00 MiB");
      equal(bytesText({ whole_bytes: 2 ** 20, piece_bytes: 0, pieces: 4 }), "1.00 MiB");
      equal(bytesText({ whole_bytes: 2 ** 20, piece_bytes: 2 ** 20, pieces: 4 }), "1.00 MiB");
      equal(bytesText({ whole_bytes: 6_588_000, piece_bytes: 6_584_000, pieces: 4 }), "6.283 → 6.279 MiB");
      equal(sizesText(2 ** 30, 2 ** 30 - 1), ["1,073,741,824 B", "1,073,741,823 B"]);
    },
    "ticks are round, inside, and about as many as asked for": () => {
      near(timeTicks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
      near(timeTicks(0.0003, 0.00052, 4), [0.0003, 0.0004, 0.0005]);
      equal(timeTicks(1, 1, 5), []);
      for (const [from, to] of [[0, 0.0312], [1e-5, 3e-5], [0.5, 7], [2, 2.000001]]) {
        for (const count of [1, 3, 8, 20]) {
          const found = timeTicks(from, to, count);
          holds(found.every((time) => time >= from - 1e-12 && time <= to + 1e-9), `${found} leaves ${from} to ${to}`);
          holds(found.length <= Math.max(count, 3) + 1, `${found.length} ticks, not ${count}`);
          holds(found.length >= 2, `${found.length} ticks from ${from} to ${to} are no scale`);
          const steps = found.slice(1).map((time, at) => time - found[at]);
          near(steps, steps.map(() => steps[0]), 1e-9);
        }
      }
    },
    "ticks have one unit, that of the largest, and no digits that the step does not need": () => {
      equal(tickTexts([0, 0.04, 0.08, 0.12]), ["0", "40 ms", "80 ms", "120 ms"]);
      equal(tickTexts([0, 5e-5, 1e-4, 1.5e-4]), ["0", "50 µs", "100 µs", "150 µs"]);
      equal(tickTexts([0, 0.5, 1, 1.5]), ["0", "0.5 s", "1 s", "1.5 s"]);
      equal(tickTexts([0.03001, 0.030015, 0.03002]), ["30.01 ms", "30.015 ms", "30.02 ms"]);
      equal([tickTexts([3e-8, 6e-8]), tickTexts([0.005]), tickTexts([])], [["30 ns", "60 ns"], ["5 ms"], []]);
    },
    "no time has the unit of what it is compared with": () => {
      equal([timeText(0), timeText(0, 0.02), timeText(0, 2e-5)], ["0", "0 ms", "0 µs"]);
    },
    "clamp01 keeps within 0 and 1": () => equal([-1, 0.5, 2].map(clamp01), [0, 0.5, 1]),
  });
}
