// Numbers as text, and ticks of an axis. No state, no page: everything here can be tested alone.

const MOST_DIGITS = 7;
const MOST_TICKS = 64; // asked for where fewer give no scale

export function clamp01(value) {
  return Math.min(1, Math.max(0, value));
}

/** Three significant digits, thousands apart: `2,050`, `1.25`. */
export function digitsText(value, digits = 3) {
  const rounded = Number(value.toPrecision(digits));
  if (Math.abs(rounded) >= 1000) return Math.round(rounded).toLocaleString("en-US");
  return Math.abs(rounded) >= 10 ** (digits - 1) ? String(Math.round(rounded)) : value.toPrecision(digits);
}

/** `1.25 MiB`; `isRound`: without zeros at the end, as for a capacity. */
export function sizeText(size, isRound = false, digits = 3) {
  if (!size) return "0 B";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let scale = 0;
  while (size >= 1000 && scale < units.length - 1) {
    size /= 1024;
    scale += 1;
  }
  const text = scale ? digitsText(size, digits) : String(Math.round(size));
  return `${isRound ? text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "") : text} ${units[scale]}`;
}

/** Two sizes with as many digits as show that they differ: `6.280 MiB` and `6.283 MiB`. */
export function sizesText(one, other) {
  for (let digits = 3; digits < MOST_DIGITS; digits += 1) {
    const texts = [one, other].map((size) => sizeText(size, false, digits));
    if (texts[0] !== texts[1]) return texts;
  }
  return [one, other].map((size) => `${size.toLocaleString("en-US")} B`);
}

/** @type {[number, string][]} */
const SECONDS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]];

/** `31.2 ms`, `640 µs`; `beside`: in the unit of this time, so that the two can be compared, `0 ms` too. */
export function timeText(seconds, beside = seconds) {
  if (!beside) return "0";
  if (!seconds) return `0 ${timeText(beside).split(" ")[1]}`;
  for (const [size, unit] of SECONDS) {
    if (Math.abs(beside) >= size * 0.0999) return `${digitsText(seconds / size)} ${unit}`;
  }
  return `${digitsText(seconds / 1e-9)} ns`;
}

/** `87 %`, `9.2 %`, `0.5 %`. */
export function shareText(share) {
  if (!share) return "0 %";
  const percent = share * 100;
  const digits = percent >= 9.95 ? 0 : percent >= 0.95 ? 2 : 1;
  return `${digits ? Number(percent.toPrecision(digits)) : Math.round(percent)} %`;
}

/** `1 image`, `64 images`. */
export function countText(count, noun) {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * The pieces of a sub-graph, from the longest text to the shortest: `8 pieces × 2 images`,
 * `16 × 7 pieces (images × rows)`, `1 piece of 16 images`. `cuts`: name and parts of each axis.
 *
 * @param {{ pieces: number, cuts: [string, number][] }} group
 */
export function piecesTexts({ pieces, cuts }, samples, noun) {
  const count = countText(pieces, "piece");
  if (pieces === 1) return samples === 1 ? [count] : [`1 piece of ${countText(samples, noun)}`, count];
  if (cuts.length === 1 && cuts[0][0] === `${noun}s`) {
    const each = countText(samples / pieces, noun);
    return [`${count} × ${each}`, `${pieces} × ${each}`, count];
  }
  if (!cuts.length) return [count];
  const parts = `${cuts.map(([, number]) => number.toLocaleString("en-US")).join(" × ")} pieces`;
  return [`${parts} (${cuts.map(([name]) => name).join(" × ")})`, ...(cuts.length > 1 ? [parts] : []), count];
}

/** What boxes are cut along: `16 images`, `rows`, `images or rows`; `several axes` of more. */
export function axesText(names, samples, noun) {
  const found = [...new Set(names)];
  if (!found.length || (found.length === 1 && found[0] === `${noun}s`)) return countText(samples, noun);
  return found.length > 2 ? "several axes" : found.join(" or ");
}

/** Titles that say the same in less room: `layer 4 – 11`, `stage 3 + 4`, `Mixed_5b + 5c`. */
export function shorterTitles(title) {
  const { names, sign, from, to } = endsOf(title);
  return from && to ? [`${names[0]} ${sign} ${to}`] : [];
}

/** In even less room, beside their own boxes, which say of what: `4 – 11`, `to layer 3`, `4 + head`. */
export function barestTitles(title) {
  const { names, sign, from, to } = endsOf(title);
  if (!names) return [];
  if (from && to) return [`${from} ${sign} ${to}`];
  if (sign === "–") return [`to ${names[1]}`];
  return from ? [`${from} + ${names[1]}`] : [];
}

/** The two ends of a title, and their numbers: both where the ends are of one name, else that of the first. */
function endsOf(title) {
  const ends = title.split(" – ");
  const names = ends.length === 2 ? ends : title.split(" + ");
  if (names.length !== 2) return {};
  const [[one, from], [other, to]] = names.map(numbered);
  const sign = ends.length === 2 ? "–" : "+";
  return { names, sign, from, to: one && one === other ? to : undefined };
}

/**
 * What a title begins with, in whole words, where all that say the same have no room: `second` of
 * `second matmul`, `attention` of `attention: query – value`; nothing of a range, whose first end
 * would be another stage.
 */
export function firstWords(title) {
  if (/ [–+] /.test(title)) return title.includes(": ") ? [title.split(": ")[0]] : [];
  const words = title.split(" ");
  return words.slice(1).map((_, n) => words.slice(0, words.length - 1 - n).join(" ").replace(/[:,]$/, ""));
}

/** A strategy whole, then in less room: `graphturbo:order@16`, `graphturbo@16`, `graphturbo`. */
export function strategyTexts(strategy) {
  const [head, batch] = strategy.split("@");
  const [name] = head.split(":");
  return [...new Set([strategy, batch ? `${name}@${batch}` : name, name])];
}

/** `layer 4` as `layer` and `4`, `Mixed_5b` as `Mixed` and `5b`; nothing of a name that does not end so, nor of `14 × 14`. */
function numbered(name) {
  return /^(.*[^\s_.×])[\s_.](\d\w*)$/.exec(name)?.slice(1) ?? [];
}

/** Round times (seconds) between two ends, about `count` of them; two at least, which make a scale. */
export function timeTicks(from, to, count) {
  const raw = (to - from) / Math.max(1, count);
  if (!(raw > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const found = [];
  for (let n = Math.ceil(from / step - 1e-9); n * step <= to * (1 + 1e-12); n += 1) found.push(n * step);
  return found.length < 2 && count < MOST_TICKS ? timeTicks(from, to, Math.max(1, count) + 1) : found;
}

/** Ticks as texts in one unit, that of the largest; no digits but those that the step needs: `5 ms`. */
export function tickTexts(ticks) {
  const [size, unit] = unitOf(Math.max(...ticks.map(Math.abs)));
  const step = (ticks[1] - ticks[0] || ticks[0]) / size;
  const digits = Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return ticks.map((tick) => (tick ? `${Number((tick / size).toFixed(digits))} ${unit}` : "0"));
}

/**
 * The largest unit that a time has one of: [seconds, name].
 *
 * @returns {[number, string]}
 */
export function unitOf(seconds) {
  return SECONDS.find(([size]) => seconds >= size * 0.999) ?? [1e-9, "ns"];
}

/**
 * What the time panel shows the engines of: `one cluster`, or how many each run uses where they differ.
 *
 * @param {Scene} scene
 */
export function clusterText({ runs, chip }) {
  const [own, ...others] = runs.map((run) => chip.clusters - run.idle_clusters);
  if (others.some((other) => other !== own)) return `A: ${own} of ${countText(chip.clusters, "cluster")}, B: ${others.at(-1)} of ${chip.clusters}`;
  const idle = chip.clusters - own;
  return idle ? `one cluster (${idle} of ${chip.clusters} idle)` : "one cluster";
}

/** What a core's capacity holds, where data and weights have parts of their own; else nothing. */
export function lbPartsText({ lb_bytes: whole, lb_data_bytes: data }) {
  if (!data || data >= whole) return "";
  return `: ${sizeText(whole, true)} per core, ${sizeText(data, true)} for data and ${sizeText(whole - data, true)} for weights`;
}
