// Left of the bars of time: names of rows, how many engines each is and how busy. Its width is that of
// the words in the font that is there: a saved page has not the app's.

import { shareText } from "./words.js";

export const PAD = 16;
const LEAST = 112;
const MOST = 0.36; // share of the card
const SPACE = { before: 6, after: 9 }; // pixels before a value and behind it
const WIDEST = "100 %"; // of the values
/** @type {Record<string, string[]>} */
const NAMES = {
  flight: ["Layers in flight", "In flight"], matrix: ["Matrix"], vector: ["Vector"], move: ["Move"], dma: ["DMA"], link: ["DRAM link", "DRAM"],
};

/**
 * Names of a row, from the longest to the shortest; `count`: of its engines, none for what is no engine.
 *
 * @param {number | undefined} count
 */
export function rowTexts(name, count) {
  const names = NAMES[name];
  return count === undefined ? names : [`${names[0]} ×${count.toLocaleString("en-US")}`, ...names];
}

function sizeOf(h) {
  return Math.max(11, Math.min(13, h + 2));
}

/**
 * Pixels from the card's edge to the bars: room for each row's longest name and its value, at most
 * a part of the card. `blocks`: [[block, run], …].
 */
export function gutterWidth(pen, blocks, width) {
  const needed = blocks.flatMap(([block, run]) => block.list.map((name) => {
    const size = sizeOf(block.rows[name].h);
    return pen.width(rowTexts(name, run.engines[name])[0], size) + pen.width(WIDEST, size, 600) + (SPACE.before + SPACE.after) * pen.k;
  }));
  // Whole pixels: a bar between two of them is painted paler.
  return Math.round(PAD + Math.max(LEAST * pen.k, Math.min(Math.max(...needed), MOST * width - PAD)));
}

/** Names of a block's rows with how many engines they are, and how busy; `x0`: where its bars begin. */
export function drawRowNames(pen, block, run, means, x0) {
  for (const name of block.list) {
    const { y, h } = block.rows[name];
    const size = sizeOf(h);
    const baseline = y + h / 2 + size * pen.k * 0.35;
    const value = rowValue(run, name, means);
    const room = x0 - PAD - pen.width(value, size, 600) - (SPACE.before + SPACE.after) * pen.k;
    pen.text(PAD, baseline, pen.fit(rowTexts(name, run.engines[name]), room, size), { size });
    pen.text(x0 - SPACE.after * pen.k, baseline, value, { size, anchor: "end", weight: 600, fill: "var(--ink)" });
  }
}

/** @param {Run} run */
function rowValue(run, name, means) {
  if (name === "flight") return (means ? means.flight : run.in_flight.mean).toFixed(1);
  const share = means ? means[name] : name === "link" ? run.link_busy : run.busy[name];
  return shareText(share);
}

/**
 * The line above a run's rows, from the longest words to none; `ends`: when it ends against the other
 * one, where the gap has no room.
 *
 * @param {Run} run
 */
export function runTexts(run, ends) {
  const share = shareText(run.in_flight.share);
  const [layers, fewer] = run.in_flight.share < 0.0005
    ? ["one layer in flight at a time", "one layer in flight"]
    : [`two layers or more in flight ${share} of the time`, `2+ layers in flight ${share}`];
  const rounds = run.rounds.length > 1 ? `; ${run.rounds.length} rounds, the pale ones repeat the first` : "";
  const link = `DRAM link ${shareText(run.link_busy)} busy`;
  const count = run.rounds.length > 1 ? `; ${run.rounds.length} rounds` : "";
  const short = [`${fewer}, ${link}${count}`, `${fewer}, ${link}`, `${link}${count}`];
  if (ends) return [`${ends}; ${layers}, ${link}${rounds}`, ...short.map((own) => `${ends}; ${own}`), ends];
  return [`${layers}, ${link}${rounds}`, ...short, link, ""];
}
