// Pictures of the lecture: their squares, their places, what they show and what they do not yet.

import { chipsOf, inkOn, kibText, packed, phase, SQUARE, WIDTH } from "../../../graphturbo_ui/components/learn/kit.js";
import { paceText } from "../../../graphturbo_ui/components/learn/pace.js";
import { columnsOf, crossings } from "../../../graphturbo_ui/components/learn/step1.js";
import { liveSquares } from "../../../graphturbo_ui/components/learn/step2.js";
import { cardPlaces } from "../../../graphturbo_ui/components/learn/step3.js";
import { parkedSquares } from "../../../graphturbo_ui/components/learn/step4.js";
import { imagesInLine, waitingSquares } from "../../../graphturbo_ui/components/learn/step5.js";
import { borderBands, fetched } from "../../../graphturbo_ui/components/learn/step6.js";
import { spansOf, stretchesOf } from "../../../graphturbo_ui/components/learn/step7.js";
import { STEPS } from "../../../graphturbo_ui/components/learn/steps.js";
import { equal, holds, near, outcomes } from "./check.js";
import { MADE, sheetOf } from "./learn_made.js";

const NUMBERS = Object.keys(STEPS).map(Number);
const ROOMS = [{ type: 17, least: 12, height: 560 }, { type: 35, least: 34, height: 709 }, { type: 22, least: 21, height: 660 }];
const TIMES = [0, 0.05, 0.2, 0.35, 0.5, 0.62, 0.7, 0.8, 0.93, 1];

function scenes(see) {
  for (const number of NUMBERS) {
    for (const room of ROOMS) {
      for (const time of TIMES) {
        for (const isRevealed of [false, true]) {
          const shown = isRevealed ? time : Math.min(time, STEPS[number].ask);
          see(sheetOf(number, { ...room, time: shown, isRevealed }), `step ${number} at ${time}, ${isRevealed ? "" : "not "}revealed, type ${room.type}`, room);
        }
      }
    }
  }
}

/** KiB of all squares with such an id. */
function area(sheet, start) {
  const squares = sheet.marks.filter(({ id, kind }) => kind === "rect" && id.startsWith(start));
  return squares.reduce((sum, { width, height }) => sum + (width * height) / (SQUARE - 1.5) ** 2, 0);
}

export default function () {
  return outcomes({
    "bytes are whole squares and a rest": () => {
      equal(chipsOf(2.5 * 1024), [1, 1, 0.5]);
      equal(chipsOf(0), []);
      equal(chipsOf(4096), [1, 1, 1, 1]);
    },
    "parts of squares share cells, whole ones do not": () => {
      equal(packed([1, 0.5, 0.5, 0.25]), [{ cell: 0, offset: 0 }, { cell: 1, offset: 0 }, { cell: 1, offset: 0.5 }, { cell: 2, offset: 0 }]);
    },
    "KiB: whole from 10 on, one digit below": () => {
      equal([41792, 7488, 4096, 0, 576, 184320].map(kibText), ["41 KiB", "7.3 KiB", "4 KiB", "0 KiB", "0.6 KiB", "180 KiB"]);
    },
    "a phase is 0 before, 1 after, and half way between": () => {
      near([phase(0.1, 0.2, 0.4), phase(0.3, 0.2, 0.4), phase(0.5, 0.2, 0.4), phase(0.2, 0.2, 0.2)], [0, 0.5, 1, 1]);
    },
    "light ink on dark colours": () => equal(["#334c73", "#f0b310", "#6a7ba9"].map(inkOn), ["#ffffff", "#000000", "#000000"]),
    "step 1 draws every byte that crosses, and all of them in two heaps": () => {
      near(crossings(MADE[1].data.runs.layer).reduce((sum, { share }) => sum + share, 0), 12.5);
      const [before, after] = [sheetOf(1, { time: STEPS[1].ask, isRevealed: false }), sheetOf(1)];
      near([area(before, "chip"), area(after, "chip")], [12.5, 12.5], 1e-6);
      equal(before.numbers, { crossed_bytes: 12800 });
      equal([after.numbers.needed_bytes, after.numbers.redundant_bytes], [4608, 8192]);
    },
    "step 1 gives the highest pile the next column": () => {
      // 7.5 and 5 KiB share 39 columns: three each are enough for rows of 20, four where two are.
      equal(columnsOf(MADE[1].data.runs.layer, 20).map(({ count }) => count), [3, 3]);
      equal(columnsOf(MADE[1].data.runs.layer, 2).map(({ count }) => count), [5, 5]);
      const many = { kernels: Array.from({ length: 12 }, (_, at) => ({ reads: [["input", (at === 0 ? 40 : 2) * 1024]], writes: [] })) };
      // 40 squares and a rest in 10 rows: five columns, in 9 rows as well.
      equal([columnsOf(many, 10)[0].count, columnsOf(many, 9)[0].count], [5, 5]);
      equal(columnsOf(many, 20)[1].count, 3);
    },
    "step 2 has an image's squares in its strip, and the first piece in the LBs": () => {
      equal(liveSquares(MADE[2].data).length, 48);
      const sheet = sheetOf(2, { knob: "4" });
      equal([sheet.numbers.piece_bytes, sheet.numbers.capacity_bytes], [12288, 16384]);
      const tops = sheet.marks.filter(({ id }) => /^live\d+$/.test(id)).map(({ y }) => Math.round(y));
      // Two images of six squares lie in the LBs, below all others.
      equal(tops.slice(0, 12).every((y) => y > Math.max(...tops.slice(12))), true);
      equal(sheetOf(2, { time: STEPS[2].ask, isRevealed: false }).numbers.piece_bytes, 49152);
    },
    "step 3 has the cards of one group together": () => {
      // Four cards of 100, one gap of 26 and two of 2: 430, centred.
      near(cardPlaces([[0, 1, 2], [3]], 100), [225, 327, 429, 555]);
      equal(sheetOf(3, { time: STEPS[3].ask, isRevealed: false, knob: "none" }).numbers.join_cycles, undefined);
      equal(sheetOf(3).numbers.join_cycles, 200);
      near(area(sheetOf(3), "again0"), 13.5, 1e-6);
      // g1 is conv1 and conv2, whatever is merged: its name and its hue are those of later steps.
      const named = sheetOf(3).marks.filter(({ id }) => /^named\d\.name$/.test(id)).map(({ text }) => text.slice(0, 2));
      equal(named, ["g1", "g2", "g3"]);
      const hues = sheetOf(3).marks.filter(({ id }) => /^card\d$/.test(id)).map(({ fill }) => fill);
      equal(hues, ["var(--g0)", "var(--g0)", "var(--g1)", "var(--g2)"]);
    },
    "step 4 keeps an image's bytes together": () => {
      equal(parkedSquares([{ images: [7, 8], bytes: 4096 }]).map(({ image, cell }) => [image, cell]), [[7, 0], [7, 1], [8, 2], [8, 3]]);
      equal(parkedSquares([{ images: [5, 6], bytes: 1024 }]).map(({ share, cell, offset }) => [share, cell, offset]), [[0.5, 0, 0], [0.5, 0, 0.5]]);
      const before = sheetOf(4, { time: STEPS[4].ask, isRevealed: false });
      equal([before.numbers.breadth_parked_1, before.numbers.depth_parked_1], [8192, undefined]);
      equal(sheetOf(4).numbers.depth_parked_1, 4096);
      equal(sheetOf(4).numbers.capacity_bytes, 24576);
      // 24 KiB in rows of four: six rows of 22, and 2 more at the bottom.
      const glass = sheetOf(4).marks.find(({ id }) => id === "breadth.tray0").d;
      const [bottom, top] = [/ (\S+?)V/.exec(glass)[1], /V(\S+?)H/.exec(glass)[1]].map(Number);
      near([bottom - top], [6 * SQUARE + 2], 0.01);
    },
    "step 5 slides halves to the cores that compute their images": () => {
      const run = MADE[5].data.runs.near;
      equal(waitingSquares(run).map(({ image, place, core }) => `${image} ${place} ${core}`), ["5 LB 0", "5 LB 1", "6 LB 2", "6 LB 3", "7 GB -1", "7 GB -1", "8 GB -1", "8 GB -1"]);
      const spots = (sheet) => sheet.marks.filter(({ id }) => /^part\d+$/.test(id)).map(({ x, y }) => [x, y]);
      const [before, after] = [sheetOf(5, { time: STEPS[5].ask, isRevealed: false }), sheetOf(5)];
      equal([before.numbers.GB_bytes, before.numbers.way_0_bytes], [4096, undefined]);
      // At the end the two squares of an image lie beside each other, one square apart.
      const ends = spots(after);
      near([0, 2, 4, 6].map((at) => Math.abs(ends[at + 1][0] - ends[at][0])), [SQUARE, SQUARE, SQUARE, SQUARE]);
      near(ends.map(([, y]) => y - ends[0][1]), ends.map(() => 0));
      equal([after.numbers.way_0_bytes, after.numbers.way_1_bytes], [7168, 9216]);
      equal(sheetOf(5, { knob: "dram" }).numbers.DRAM_bytes, 8192);
      // Image 6 is the second, and core 2 takes it.
      equal([imagesInLine(run, [0, 2, 1, 3]), imagesInLine(run, [0, 1, 2, 3])], ["5, 7, 6, 8", "5, 6, 7, 8"]);
      equal(["way0", "way1"].map((name) => after.marks.find(({ id }) => id === name).text), ["5, 7, 6, 8", "5, 6, 7, 8"]);
    },
    "step 6 knows which rows of its neighbours a band reads": () => {
      const own = MADE[6].data.runs.rows.kernels;
      // A band is 4 KiB. The last one reads 2 KiB above it, the first 1 KiB below it.
      equal(own.map((kernel) => Object.values(borderBands(own, kernel))), [[0.5, 0], [0.5, 0.25], [0.5, 0.25], [0, 0.25]]);
      near(own.map((kernel) => fetched(kernel).reduce((sum, { share }) => sum + share, 0)), [6, 7, 7, 5]);
      const [before, after] = [sheetOf(6, { time: STEPS[6].ask, isRevealed: false, knob: "images" }), sheetOf(6)];
      equal([before.numbers.read_bytes, before.numbers.halo_macs], [18432, undefined]);
      equal([after.numbers.read_bytes, after.numbers.halo_macs], [25600, 4000]);
      near([area(before, "chip"), area(after, "chip")], [18, 25], 1e-6);
      // Replayed with the answer, the cut by images comes first.
      equal(sheetOf(6, { time: STEPS[6].ask - 0.01 }).numbers.read_bytes, 18432);
    },
    "step 7 knows where a layer begins and ends": () => {
      equal(spansOf(MADE[7].data.lanes.free.intervals, "load"), [{ layer: "conv4", from: 0, to: 1000 }, { layer: "conv5", from: 1000, to: 2000 }, { layer: "conv6", from: 2000, to: 3000 }]);
      equal(stretchesOf([{ from: 160, to: 400 }, { from: 0, to: 10 }, { from: 100, to: 150 }]), [{ from: 0, to: 10 }, { from: 100, to: 400 }]);
      equal([sheetOf(7).numbers.free_cycles, sheetOf(7, { time: STEPS[7].ask, isRevealed: false }).numbers.free_cycles], [4200, undefined]);
      equal(sheetOf(7).marks.find(({ id }) => id === "free.after").text, "the result is stored: 200 cycles after the last compute");
    },
    "step 8 has the slow GB only once it is asked for": () => {
      const before = sheetOf(8, { time: STEPS[8].ask, isRevealed: false, knob: "4" });
      equal([before.numbers.gb_rate, before.numbers.mark_b_cycles], [8, 400]);
      const after = sheetOf(8);
      equal([after.numbers.gb_rate, after.numbers.mark_b_cycles], [2, 950]);
      holds(after.marks.some(({ text }) => /B loses/.test(text ?? "")), "nobody loses");
      // The bars have the whole height before the curves come, and no curve lies under the verdict.
      const high = (time) => sheetOf(8, { time, isRevealed: false, knob: "4" }).marks.find(({ id }) => id === "stair0.name").y;
      holds(high(0.2) > high(STEPS[8].ask), "the bars do not make room");
    },
    "a step's clock counts whole seconds beside the minutes of the plan": () => {
      equal([0, 999, 65_000, 600_000].map((ms) => paceText(ms, 5)), ["0:00 of 5 min", "0:00 of 5 min", "1:05 of 5 min", "10:00 of 5 min"]);
    },
    "ids are unique at every moment": () => scenes((sheet, at) => {
      const ids = sheet.marks.map(({ id }) => id);
      equal([at, ids.length], [at, new Set(ids).size]);
    }),
    "everything is inside the picture": () => scenes((sheet, at, { height }) => {
      for (const mark of sheet.marks.filter(({ kind }) => kind === "rect")) {
        const isInside = mark.x > -3 && mark.y > -3 && mark.x + mark.width < WIDTH + 3 && mark.y + mark.height < height + 3;
        holds(isInside, `${at}: ${mark.id} at ${mark.x}, ${mark.y}`);
      }
      for (const { id, x, y, text, anchor, size } of sheet.marks.filter(({ kind }) => kind === "text")) {
        const width = sheet.roomFor(text, size / sheet.type);
        const left = anchor === "end" ? x - width : anchor === "middle" ? x - width / 2 : x;
        holds(left > -6 && left + width < WIDTH + 6, `${at}: “${text}” (${id}) from ${left} to ${left + width}`);
        holds(y > size * 0.6 && y < height, `${at}: “${text}” (${id}) at ${y}`);
      }
    }),
    "no text is below the least type": () => scenes((sheet, at, { least }) => {
      for (const { id, size } of sheet.marks.filter(({ kind }) => kind === "text")) holds(size >= least * 0.99, `${at}: ${id} has ${size}`);
    }),
    "numbers are numbers": () => scenes((sheet, at) => {
      for (const mark of sheet.marks) {
        for (const [key, value] of Object.entries(mark)) holds(!Number.isNaN(value), `${at}: ${mark.id} has no ${key}`);
      }
    }),
  });
}
