// A run is drawn over its whole batch: rounds one after the other, of which those that repeat the
// drawn one are paler. Times of a canvas are cycles of the whole run, times of the report's arrays
// are cycles of one round.

import { clamp, fitted, secondsText } from "./canvas_kit.js";
import { GUTTER } from "./time_axis.js";

const REPEATED = 0x78; // how opaque a repeated round is, of 255
export const ROUNDS = 16; // height of the line that names the rounds

/** Run with `parts`: [{at, cycles, count, samples, number, isDrawn}] and `total` cycles of them all. */
export function withRounds(run) {
  let [at, number] = [0, 1];
  const parts = run.sequence.map(({ cycles, count, samples, is_drawn: isDrawn }) => {
    const part = { at, cycles, count, samples, number, isDrawn };
    at += cycles * count;
    number += count;
    return part;
  });
  return { ...run, parts, total: at, rounds: number - 1 };
}

/** The round at a cycle: its number from 1, its first cycle, its part; null past the last one. */
export function roundAt(run, cycle) {
  const part = run.parts.find(({ at, cycles, count }) => cycle >= at && cycle < at + cycles * count);
  if (!part || cycle < 0) return null;
  const before = Math.min(part.count - 1, Math.floor((cycle - part.at) / part.cycles));
  return { part, number: part.number + before, at: part.at + before * part.cycles };
}

/** First cycles of the drawn rounds in [t0, t1), `most` at most, and whether that is all of them. */
export function drawnRounds(run, t0, t1, most) {
  const found = [];
  for (const { at, cycles, count, isDrawn } of run.parts) {
    if (!isDrawn || !cycles) continue;
    const first = clamp(Math.floor((t0 - at) / cycles), 0, count);
    const last = clamp(Math.ceil((t1 - at) / cycles), 0, count);
    for (let n = first; n < last; n++) {
      if (found.length === most) return { found, isAll: false };
      found.push(at + n * cycles);
    }
  }
  return { found, isAll: true };
}

/** Whether a round that begins at this cycle is a repeat of the drawn one. */
export function isRepeat(run, at) {
  return at !== run.parts.find(({ isDrawn }) => isDrawn)?.at;
}

/** The window of a run as times of the round in its middle, or of the drawn one nearest to it. */
export function localWindow(run, { t0, t1 }) {
  const at = nearestRound(run, (t0 + t1) / 2);
  return { t0: t0 - at, t1: t1 - at, at };
}

/** First cycle of the drawn round that holds `cycle`, else of the one nearest to it. */
export function nearestRound(run, cycle) {
  const part = run.parts.find(({ isDrawn }) => isDrawn);
  if (!part?.cycles) return 0;
  const before = clamp(Math.floor((cycle - part.at) / part.cycles), 0, part.count - 1);
  return part.at + before * part.cycles;
}

/**
 * Copy a run's rounds into the lines [top, foot) of `image` {words, width, height}, from tiles that
 * `paint(tile, t0, t1)` fills with the round's times [t0, t1); a tile is an image of the same height.
 * Up to two rounds in sight are painted by themselves, of more one is painted and copied.
 */
export function paintRounds(image, lines, run, { t0, t1 }, paint) {
  const { width, height } = image;
  const perPixel = (t1 - t0) / width;
  const made = (from, to, columns) => {
    const tile = { words: new Uint32Array(columns * height), width: columns, height };
    paint(tile, from, to);
    return tile;
  };
  const few = drawnRounds(run, t0, t1, 2);
  if (few.isAll) {
    for (const at of few.found) {
      const first = clamp(Math.round((at - t0) / perPixel), 0, width);
      const last = clamp(Math.round((at + run.cycles - t0) / perPixel), 0, width);
      if (last <= first) continue;
      const tile = made(t0 + first * perPixel - at, t0 + last * perPixel - at, last - first);
      const columns = Int32Array.from({ length: last - first }, (_, x) => x);
      copyColumns(image, lines, first, tile, columns, isRepeat(run, at));
    }
    return;
  }
  const tile = made(0, run.cycles, clamp(Math.ceil(run.cycles / perPixel), 1, width));
  for (let x = 0; x < width; x++) {
    const cycle = t0 + (x + 0.5) * perPixel;
    const round = roundAt(run, cycle);
    if (!round?.part.isDrawn) continue;
    const column = Math.min(tile.width - 1, Math.floor((cycle - round.at) / run.cycles * tile.width));
    copyColumns(image, lines, x, tile, [column], isRepeat(run, round.at));
  }
}

/** Copy `columns` of a tile beside each other, from column `left` of the image on. */
function copyColumns(image, { top, foot }, left, tile, columns, isPale) {
  const mask = isPale ? ((REPEATED << 24) | 0xffffff) >>> 0 : 0xffffffff;
  for (let y = top; y < Math.min(foot, image.height); y++) {
    const [to, from] = [y * image.width + left, y * tile.width];
    for (let x = 0; x < columns.length; x++) {
      const word = tile.words[from + columns[x]];
      if (word) image.words[to + x] = (word & mask) >>> 0;
    }
  }
}

/** What a pane's title says of the whole run: `8 rounds of 2 samples per cluster, 46.4 ms`. */
export function wholeText(run) {
  const length = secondsText(run.total * run.seconds_per_cycle);
  const samples = (count) => `${count.toLocaleString("en")} ${count === 1 ? "sample" : "samples"}`;
  const said = run.parts.map(({ count, samples: size }) => (
    `${count === 1 ? "one round" : `${count.toLocaleString("en")} rounds`} of ${samples(size)}`
  ));
  return `${said.join(" and ")} per cluster, ${length}`;
}

/** Whether a run has rounds to name. */
export function hasRounds(run) {
  return run.rounds > 1;
}

/** Says where a run ends, if that is in sight and leaves room for it; `y`: of the text's middle. */
export function dressEnd(pen, view, { run, number }, y) {
  const { t0, t1 } = view.windows[number];
  const x = GUTTER + (run.total - t0) / (t1 - t0) * view.plot;
  const text = `ends after ${secondsText(run.total * run.seconds_per_cycle)}`;
  pen.font = `11px ${view.theme.font}`;
  pen.fillStyle = view.theme.text;
  if (x >= GUTTER && x + 8 + pen.measureText(text).width < GUTTER + view.plot) pen.fillText(text, x + 6, y);
}

/** Names and borders of the rounds in sight, down to `pane.foot`; `line`: the y of their names. */
export function dressRounds(pen, view, pane, line) {
  const { run } = pane;
  if (!hasRounds(run)) return;
  const { t0, t1 } = view.windows[pane.number];
  const xOf = (cycle) => GUTTER + clamp((cycle - t0) / (t1 - t0), 0, 1) * view.plot;
  pen.font = `11px ${view.theme.font}`;
  pen.textBaseline = "middle";
  pen.fillStyle = view.theme.text;
  pen.fillText("rounds", 8, line + ROUNDS / 2);
  for (const part of run.parts) {
    const width = (part.cycles / (t1 - t0)) * view.plot;
    const first = part.isDrawn ? 1 : 0;
    const end = part.at + part.cycles * part.count;
    if (part.isDrawn) nameStretch(pen, view, [xOf(part.at), xOf(part.at + part.cycles)], line, `round ${part.number}`);
    else hatch(pen, view, [xOf(part.at), xOf(end)], [line + ROUNDS, pane.foot]);
    const said = repeatText(part, first);
    if (said) nameStretch(pen, view, [xOf(part.at + first * part.cycles), xOf(end)], line, said);
    if (width < 3) continue;
    const { found } = drawnBorders(part, t0, t1);
    for (const at of found) {
      pen.fillStyle = view.theme.text;
      pen.globalAlpha = 0.5;
      pen.fillRect(xOf(at), line + ROUNDS, 1, pane.foot - line - ROUNDS);
      pen.globalAlpha = 1;
    }
  }
}

/** Ends of a part's rounds in sight. */
function drawnBorders({ at, cycles, count }, t0, t1) {
  const found = [];
  for (let n = clamp(Math.floor((t0 - at) / cycles), 0, count); n <= count; n++) {
    const border = at + n * cycles;
    if (border > t1) break;
    if (border > t0) found.push(border);
  }
  return { found };
}

/** `rounds 2 … 8, same program`; of a part that is not drawn what it is. */
export function repeatText({ number, count, samples, isDrawn }, first) {
  const [from, to] = [number + first, number + count - 1];
  if (from > to) return "";
  const which = from === to ? `round ${from}` : `rounds ${from} … ${to}`;
  return isDrawn ? `${which}, same program` : `${which}: ${samples} per cluster, a program of its own, not drawn`;
}

/** A text in the middle of a stretch of the rounds' line, over a rule from end to end. */
function nameStretch(pen, view, [left, right], line, text) {
  if (right - left < 14) return;
  pen.fillStyle = view.theme.border;
  pen.fillRect(left + 1, line + ROUNDS - 2, right - left - 2, 1.5);
  pen.fillStyle = view.theme.text;
  const said = fitted(pen, text, right - left - 6);
  pen.textAlign = "center";
  pen.fillText(said, (left + right) / 2, line + ROUNDS / 2 - 1);
  pen.textAlign = "left";
}

/** Slanted lines over a round that is not drawn. */
function hatch(pen, view, [left, right], [top, foot]) {
  if (right <= left) return;
  pen.save();
  pen.beginPath();
  pen.rect(left, top, right - left, foot - top);
  pen.clip();
  pen.strokeStyle = view.theme.border;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let x = left - (foot - top); x < right; x += 8) {
    pen.moveTo(x, foot);
    pen.lineTo(x + foot - top, top);
  }
  pen.stroke();
  pen.restore();
}
