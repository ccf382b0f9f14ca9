// Fine kernels send every result to DRAM and back: each square that crosses lies in a pile.

import { between, chipsOf, KIB, packed, phase, pileSpot, SQUARE, WIDTH } from "./kit.js";

const ASK = 0.62;
const GROUND = 46; // height of DRAM
const LEFT = 8;
const NEEDED = ["input", "weight_first", "output"];
const CAUSES = {
  input: "images", weight_first: "weights", output: "result",
  activation: "intermediates", halo: "border rows", weight_again: "weights again", spill: "spilled",
};
const HEAPS = [
  { columns: 6, isNeeded: true, title: "needed" },
  { columns: 9, isNeeded: false, title: "redundant" },
];
const LEAST_COLUMNS = 3; // that the highest pile has
const WIDEST_LABEL = 150; // units; where type is larger, a part of the needed heap shows its bytes alone

function wordsFor(square, isSeveral) {
  if (isSeveral) return [`A kernel is one program that the chip launches; a box may have several. A square is ${square}.`, `A box: one kernel or several. A square: ${square}.`];
  return [`A box is a kernel: one program that the chip launches. A square is ${square}.`, `A box: a kernel, one launch. A square: ${square}.`];
}

/** Squares of a run: which kernel, which way, why; whole ones first per kernel and way. */
export function crossings(run) {
  return run.kernels.flatMap((kernel, at) => {
    const chips = ["reads", "writes"].flatMap((way) => kernel[way].flatMap(([cause, bytes]) => (
      chipsOf(bytes).map((share) => ({ kernel: at, way, cause, share }))
    )));
    return chips.sort((one, other) => Number(one.share < 1) - Number(other.share < 1));
  });
}

/** The place of each square in its kernel's pile. */
function piles(chips, columns, floor) {
  const spots = [];
  for (const [kernel, { left, width, count }] of columns.entries()) {
    const own = chips.filter((chip) => chip.kernel === kernel);
    const from = left + (width - count * SQUARE) / 2;
    spots.push(...packed(own.map(({ share }) => share)).map(({ cell, offset }) => shifted(pileSpot(from, floor, count, cell), offset)));
  }
  return spots;
}

/**
 * Columns of squares per kernel: { left, width, count }. The highest pile gets the next column, until
 * it has no more than `rows` rows.
 */
export function columnsOf(run, rows) {
  const squares = run.kernels.map(({ reads, writes }) => [...reads, ...writes].reduce((sum, [, bytes]) => sum + bytes, 0) / KIB);
  const counts = squares.map(() => 1);
  const room = Math.floor((WIDTH - 2 * LEFT) / SQUARE);
  const most = Math.max(LEAST_COLUMNS, Math.ceil((Math.max(...squares) + 1) / rows));
  while (counts.reduce((sum, count) => sum + count, 0) < room) {
    const heights = counts.map((count, at) => (count < most ? (count < 2 ? 1e6 : squares[at] / count) : 0));
    const at = heights.indexOf(Math.max(...heights));
    if (heights[at] === 0) break;
    counts[at] += 1;
  }
  const share = (WIDTH - 2 * LEFT) / counts.reduce((sum, count) => sum + count, 0);
  let left = LEFT;
  return counts.map((count) => {
    const found = { left, width: count * share, count };
    left += found.width;
    return found;
  });
}

/** The place of each square in its heap, sorted by cause; and where each cause lies, in cells. */
export function heaped(chips, heap, floor) {
  const spots = new Map();
  const causes = {};
  let first = 0;
  for (const cause of Object.keys(CAUSES)) {
    const own = chips.map((chip, at) => ({ ...chip, at })).filter((chip) => chip.cause === cause && isOf(heap, cause))
      .sort((one, other) => Number(one.share < 1) - Number(other.share < 1));
    const cells = packed(own.map(({ share }) => share));
    own.forEach(({ at }, place) => {
      const { cell, offset } = cells[place];
      spots.set(at, shifted(pileSpot(heap.x, floor, heap.columns, first + cell), offset));
    });
    const count = own.length ? cells.at(-1).cell + 1 : 0;
    if (count) causes[cause] = { first, count };
    first += count;
  }
  return { spots, causes, rows: Math.ceil(first / heap.columns) };
}

function shifted({ x, y }, offset) {
  return { x: x + offset * SQUARE, y };
}

function isOf(heap, cause) {
  return NEEDED.includes(cause) === heap.isNeeded;
}

/** Heaps that fit below their headings: wider ones where they would be too high; centred. */
function heapsFor(sheet, run, chips, floor) {
  const most = Math.floor((floor - sheet.type * 2.9) / SQUARE);
  const labels = NEEDED.filter((cause) => run.causes[cause]).map((cause) => sheet.roomFor(`${wordOf(run, cause)} ${sheet.bytes(run.causes[cause])}`));
  const labelled = Math.min(WIDEST_LABEL, Math.max(0, ...labels)) + 40;
  const last = Math.max(sheet.roomFor(`intermediates ${sheet.bytes(run.dram)}`) + 20, WIDEST_LABEL);
  const widths = HEAPS.map((heap) => {
    const squares = chips.filter(({ cause }) => isOf(heap, cause)).reduce((sum, { share }) => sum + share, 0);
    return Math.max(heap.columns, Math.ceil((squares + 4) / most));
  });
  const whole = widths.reduce((sum, columns) => sum + columns * SQUARE, 0) + labelled + last;
  let x = Math.max(16, (WIDTH - whole) / 2);
  return HEAPS.map((heap, at) => {
    const columns = widths[at];
    const right = heap.isNeeded ? x + columns * SQUARE + labelled : WIDTH;
    const placed = { ...heap, x, columns, right };
    x = right;
    return { ...placed, ...heaped(chips, placed, floor) };
  });
}

function draw(sheet, data, { knob, time, isRevealed }) {
  const run = data.runs[knob];
  const floor = sheet.height - GROUND - 8;
  const top = sheet.type * 1.6;
  const boxHeight = Math.max(40, sheet.type * 1.5);
  const columns = columnsOf(run, Math.floor((floor - top - boxHeight - 6) / SQUARE));
  const chips = crossings(run);
  const pile = piles(chips, columns, floor);
  const heaps = heapsFor(sheet, run, chips, floor);
  const sorted = isRevealed ? phase(time, ASK, 0.85) : 0;
  const spread = Math.max(3, chips.length / 40);
  const flown = Math.min(1, time / (ASK - 0.04)) * (chips.length + spread);
  const active = flown < chips.length ? chips[Math.floor(flown)].kernel : -1;
  ground(sheet, floor);
  if (sorted < 1) sheet.text("words", LEFT, sheet.type * 1.05, sheet.fitting(wordsFor(sheet.bytes(KIB), run.has_several), WIDTH - 2 * LEFT), { fill: "var(--ink2)", opacity: 1 - sorted });
  run.kernels.forEach((kernel, at) => {
    const { left, width } = columns[at];
    sheet.box(`kernel${at}`, left + 2, top, width - 4, boxHeight, {
      fill: at === active ? "var(--ink)" : "var(--track)", ink: at === active ? "var(--card)" : "var(--ink2)",
      text: sheet.fitting(kernel.names, width - 8), stroke: "var(--edge)", opacity: 1 - sorted,
    });
  });
  let crossed = 0;
  chips.forEach((chip, at) => {
    const share = Math.min(1, Math.max(0, (flown - at) / spread));
    if (share <= 0) return;
    crossed += chip.share;
    const from = chip.way === "reads" ? floor + 8 : top + boxHeight;
    const target = heaps[isOf(HEAPS[0], chip.cause) ? 0 : 1].spots.get(at);
    const x = between(pile[at].x, target.x, sorted);
    const y = between(between(from, pile[at].y, share), target.y, sorted);
    if (sorted > 0) sheet.chip(`chip${at}`, { x, y }, chip.share, sheet.colours.causes[chip.cause]);
    else wayChip(sheet, `chip${at}`, { x, y }, chip);
  });
  const isAll = flown >= chips.length;
  sheet.number("crossed_bytes", isAll ? run.dram : Math.round(crossed * KIB));
  if (sorted === 0) counter(sheet, isAll ? run.dram : crossed * KIB, top + boxHeight);
  else heaps.forEach((heap, at) => drawHeap(sheet, run, { ...heap, at, opacity: sorted }, floor));
}

/** What a cause is called; other models have inputs that are no images. */
function wordOf(run, cause) {
  return run.words?.[cause] ?? CAUSES[cause];
}

function ground(sheet, floor) {
  sheet.rect("dram", LEFT, floor + 4, WIDTH - 2 * LEFT, GROUND, { fill: "var(--track)", stroke: "var(--edge)", rx: 4 });
  sheet.text("dram.name", WIDTH / 2, floor + 4 + GROUND / 2 + sheet.type * 0.34, "DRAM", { anchor: "middle", weight: 650 });
}

/** Full where it was read from DRAM, hollow where it was written. */
function wayChip(sheet, id, spot, { share, way }) {
  const { neutral } = sheet.colours;
  sheet.chip(id, spot, share, way === "reads" ? neutral : "var(--card)", way === "reads" ? {} : { stroke: neutral, "stroke-width": 1.5 });
}

/** Bytes so far, and which squares were read and which written. */
function counter(sheet, bytes, top) {
  const right = WIDTH - LEFT - 4;
  sheet.text("count", right, top + sheet.type * 2.3, sheet.bytes(bytes), { size: 2, anchor: "end", weight: 650, fill: "var(--ink)" });
  sheet.text("count.of", right, top + sheet.type * 3.5, "crossed to or from DRAM", { anchor: "end" });
  const left = right - sheet.roomFor("climbs: read from DRAM") - SQUARE - 10;
  [["reads", "climbs: read from DRAM"], ["writes", "falls: written to DRAM"]].forEach(([way, words], at) => {
    const y = top + sheet.type * (5.2 + at * 1.6);
    wayChip(sheet, `way.${way}`, { x: left, y: y - sheet.type * 0.34 - SQUARE / 2 }, { share: 1, way });
    sheet.text(`way.${way}.words`, left + SQUARE + 10, y, words);
  });
}

/** A heap with its bytes; each cause beside its part. */
function drawHeap(sheet, run, { at, x, right: end, columns, isNeeded, title, causes, rows, opacity }, floor) {
  const own = Object.keys(causes).map((cause) => [cause, run.causes[cause]]);
  const sum = sheet.number(isNeeded ? "needed_bytes" : "redundant_bytes", own.reduce((total, [, bytes]) => total + bytes, 0));
  const top = floor - rows * SQUARE;
  sheet.text(`heap${at}`, x, top - sheet.type * 1.4, sheet.bytes(sum), { size: 1.8, weight: 650, fill: "var(--ink)", opacity });
  sheet.text(`heap${at}.name`, x, top - sheet.type * 0.35, title, { opacity, weight: 650 });
  const right = x + columns * SQUARE + 12;
  const room = end - right - 4;
  let last = floor - sheet.type * 0.1;
  for (const [cause, bytes] of own) {
    const { first, count } = causes[cause];
    const middle = floor - ((first + count / 2) / columns) * SQUARE;
    const word = wordOf(run, cause);
    const line = `${word} ${sheet.bytes(sheet.number(`${cause}_bytes`, bytes))}`;
    const split = isNeeded ? [sheet.bytes(bytes)] : [word, sheet.bytes(bytes)];
    const lines = sheet.roomFor(line) <= room ? [line] : split;
    const y = Math.min(middle + sheet.type * (0.34 + (lines.length - 1) * 0.5), last - sheet.type * 0.15);
    lines.toReversed().forEach((text, up) => {
      sheet.text(`label.${cause}.${up}`, right, y - up * sheet.type * 1.05, text, { opacity });
    });
    last = y - lines.length * sheet.type * 1.05;
    sheet.rect(`key.${cause}`, right - 9, middle - 6, 5, 12, { layer: 2, fill: sheet.colours.causes[cause], opacity });
  }
}

export const step1 = { ask: ASK, draw };
