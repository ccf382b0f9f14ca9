// The result line: a sentence, both runs' time to scale in the hues, the lower bound, four figures;
// below them a searched schedule, where somebody asks for one.

import { htmlNode, hueFill, hueInk } from "./draw.js";
import { hueSeconds } from "./runs.js";
import { countText, digitsText, shareText, shorterTitles, sizeText, timeText } from "./words.js";

const SHORT = 3; // pixels below which a segment is left out
const TICK_MS = 1000;
const SMALLEST = { present: 26, work: 20 }; // pixels of the sentence, below which it wraps

let began = 0; // when this page first showed the search that is under way, in ms; 0: there is none

/**
 * Draw the sentence and the race into `host`; `on` has hover and click of a hue, and what the
 * race's buttons do (null where there is no app to hand it to).
 *
 * @param {Scene} scene
 */
export function drawRace(host, scene, on) {
  host.replaceChildren();
  const runs = scene.runs;
  began = scene.best?.is_under_way ? began || performance.now() : 0;
  const longest = Math.max(...runs.map((run) => run.total), scene.best?.latency_s ?? 0);
  const title = htmlNode("h1", "", scene.headline || scene.state || "");
  const caption = htmlNode("p", "caption", `${scene.model} on ${scene.profile}, ${countText(scene.batch, scene.noun)}`);
  const race = htmlNode("div", "race");
  race.append(searchCell(scene, on), htmlNode("div", "h", headingText(scene)));
  for (const text of [`${capital(scene.noun)}s/s`, "DRAM bytes", "Kernels", "Share of bound"]) {
    race.append(htmlNode("div", "h right", text));
  }
  race.lastChild.title = "Lower bound of the time, divided by the time: 100 % is as fast as model and chip allow";
  runs.forEach((run) => race.append(...raceRow(scene, run, longest, on), ...editedRow(scene, run, on)));
  race.append(...bestRow(scene, longest, on));
  host.append(caption, title, race);
  fitSentence(title, SMALLEST[scene.is_presenting ? "present" : "work"]);
  fitSegments(race);
  placeNotes(scene, { race, caption, words: placeBound(race, scene, longest) });
}

/** A sentence wider than its line is drawn smaller, down to `least` pixels; then it wraps. */
function fitSentence(title, least) {
  const style = getComputedStyle(title);
  if (style.whiteSpace === "normal") return;
  const share = title.clientWidth / title.scrollWidth;
  const size = Math.max(least, Math.floor(Number.parseFloat(style.fontSize) * share * 4) / 4);
  if (share >= 1) return;
  title.style.fontSize = `${size}px`;
  if (title.scrollWidth > title.clientWidth) title.style.whiteSpace = "normal";
}

/** @param {Scene} scene */
function headingText(scene) {
  const groups = `${scene.runs.at(-1).name}'s sub-graphs`;
  const by = { group: `by ${groups}`, stage: "by stages", kind: `by kinds of ${groups}` }[scene.hues.meaning];
  return `Time of ${countText(scene.batch, scene.noun)}, ${by}`;
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

/**
 * @param {Scene} scene
 * @param {Run} run
 */
function raceRow(scene, run, longest, on) {
  const is = run.name === "B" ? "b" : "a";
  const count = scene.hues.titles.length;
  const who = htmlNode("div", "who", htmlNode("span", `badge ${is}`, run.name), htmlNode("b", "", run.strategy));
  if (run.asked !== run.strategy) /** @type {HTMLElement} */ (who.lastChild).title = `${run.asked} was asked`;
  const segments = htmlNode("div", "segments");
  const share = run.total / longest;
  const unit = Math.min(...scene.runs.map((each) => each.total));
  segments.style.width = `calc((100% - var(--total-room)) * ${share})`;
  hueSeconds(run).forEach((seconds, hue) => {
    if (!seconds) return;
    const isRest = hue >= count;
    const name = isRest ? (hue === 5 ? "other" : "launches") : scene.hues.titles[hue];
    const part = htmlNode("div", "", htmlNode("span", "", name));
    part.style.cssText = `flex: ${(1000 * seconds) / run.total} 0 0; background: ${isRest && hue > 5 ? "var(--line)" : hueFill(hue, count)}; color: ${hue > 5 ? "var(--ink2)" : hueInk(hue, count)}`;
    part.title = `${name}: ${timeText(seconds, unit)}`;
    Object.assign(part.dataset, { hue, seconds, texts: JSON.stringify([`${name}\u00a0\u00a0${timeText(seconds, unit)}`, name, ...(isRest ? [] : shorterTitles(name)), ""]) });
    if (!isRest) {
      part.onmouseenter = () => on.hover(hue);
      part.onmouseleave = () => on.hover(null);
      part.onclick = () => on.pick(hue);
    }
    segments.append(part);
  });
  const total = htmlNode("div", "total", timeText(run.total, unit));
  total.style.left = segments.style.width;
  const track = htmlNode("div", "track", segments, total);
  track.dataset.run = run.name;
  return [who, track, ...figureCells(run, is)];
}

function figureCells(row, is) {
  const figures = [digitsText(row.per_s, row.per_s >= 1000 ? 4 : 3), sizeText(row.dram_bytes), row.kernels.toLocaleString("en-US"), shareText(row.bound_share)];
  return figures.map((text) => htmlNode("div", `figure ${is}`, text));
}

/**
 * The cell above the strategies: a button that has a schedule searched, where there is none.
 *
 * @param {Scene} scene
 */
function searchCell(scene, on) {
  const cell = htmlNode("div", "h");
  if (!on.search || !scene.can_search || scene.best?.strategy || scene.best?.state) return cell;
  const button = htmlNode("button", "control", "+ Search a schedule");
  button.title = "A third row: the fastest schedule that the strategy best finds for this model and chip; takes seconds to minutes";
  button.onclick = on.search;
  cell.append(button);
  return cell;
}

/**
 * The row of the searched schedule: its time and figures, or how the search stands.
 *
 * @param {Scene} scene
 */
function bestRow(scene, longest, on) {
  const { best } = scene;
  if (best?.state) {
    const row = htmlNode("div", "edited", `best ${best.state}`);
    if (best.is_under_way) row.append(secondsSince(began));
    if (on.leaveBest) row.append(htmlNode("span", "control", " · "), rowButton("leave out", "Show A and B alone", on.leaveBest));
    return [row];
  }
  if (!best?.strategy) return [];
  const who = htmlNode("div", "who", htmlNode("span", "badge"), htmlNode("b", "", best.strategy));
  if (on.takeBest) {
    who.append(
      rowButton("as B", "B becomes this schedule: its sub-graphs, memory and instructions are shown", on.takeBest),
      rowButton("×", "Show A and B alone", on.leaveBest),
    );
  }
  const bar = htmlNode("div", "segments");
  bar.style.width = `calc((100% - var(--total-room)) * ${best.latency_s / longest})`;
  bar.title = `${best.strategy}: ${timeText(best.latency_s)}`;
  const total = htmlNode("div", "total", timeText(best.latency_s, Math.min(best.latency_s, ...scene.runs.map((run) => run.total))));
  total.style.left = bar.style.width;
  return [who, htmlNode("div", "track searched", bar, total), ...figureCells(best, "a")];
}

/** Seconds since `start` (ms), counted while they are shown. */
function secondsSince(start) {
  const text = htmlNode("span", "elapsed");
  const show = () => {
    text.textContent = ` … ${Math.floor((performance.now() - start) / 1000)} s`;
  };
  show();
  const timer = setInterval(() => (text.isConnected ? show() : clearInterval(timer)), TICK_MS);
  return text;
}

function rowButton(text, title, act) {
  const button = htmlNode("button", "control row-button", text);
  button.title = title;
  button.onclick = act;
  return button;
}

/**
 * Below a run that holds to a plan: how many edits that has, and a button that discards them.
 *
 * @param {Scene} scene
 * @param {Run} run
 */
function editedRow(scene, run, on) {
  const text = scene[`edited_${run.name}`];
  if (!text) return [];
  const row = htmlNode("div", "edited", text);
  if (on.discard) {
    const button = htmlNode("button", "control", "discard");
    button.title = `Run ${run.name} from its strategy alone`;
    button.onclick = () => on.discard(run.name);
    const separator = htmlNode("span", "control", " · ");
    row.append(separator, button);
  }
  return [row];
}

/** Labels where they fit: name and time, the name, the time, or none. */
function fitSegments(race) {
  for (const part of race.querySelectorAll(".segments > div")) {
    const label = part.firstChild;
    const width = part.clientWidth;
    if (width < SHORT) part.classList.add("thin");
    for (const text of JSON.parse(part.dataset.texts)) {
      label.textContent = text;
      label.hidden = !text;
      if (!text || label.offsetWidth <= width) break;
    }
  }
}

/**
 * The lower bound as a dashed line in the tracks of the last run and the search; the place of words behind that run.
 *
 * @param {Scene} scene
 */
function placeBound(race, scene, longest) {
  const run = scene.runs.at(-1);
  const track = race.querySelector(`.track[data-run="${run.name}"]`);
  const total = track.querySelector(".total");
  const plot = track.querySelector(".segments").clientWidth / (run.total / longest);
  const at = (scene.bound_s / longest) * plot;
  for (const own of [track, ...race.querySelectorAll(".track.searched")]) {
    const line = htmlNode("div", "bound");
    line.style.left = `${at}px`;
    line.title = `Lower bound of model and chip: ${timeText(scene.bound_s)}`;
    own.append(line);
  }
  moveLabels(track, at);
  const words = htmlNode("div", "bound-words");
  words.style.left = `${total.offsetLeft + total.offsetWidth + 14}px`;
  track.append(words);
  return words;
}

/**
 * Each note where it has room: behind B's time, else in the heading. The bound's words and the
 * change of the chip are left out without room, as is a cluster batch that is not run: hovering over the
 * strategy has it. In what A and B differ has a line of its own then, as has the change of the chip
 * where one run is drawn; while somebody presents it follows the names of model and chip.
 *
 * @param {Scene} scene
 */
function placeNotes(scene, { race, caption, words }) {
  const heading = race.children[1];
  const fits = (node) => getComputedStyle(node).whiteSpace === "normal" || node.scrollWidth <= node.clientWidth;
  const put = (node, text) => {
    const before = node.textContent;
    node.textContent = before ? `${before}; ${text.replace(/^The /, "the ")}` : text;
    if (fits(node)) return true;
    node.textContent = before;
    return false;
  };
  if (scene.beside && !put(heading, scene.beside)) {
    heading.style.whiteSpace = "normal";
    put(heading, scene.beside);
  }
  const bound = timeText(scene.bound_s);
  const [long, short] = [`dashed: lower bound of model and chip, ${bound}`, `dashed: lower bound, ${bound}`];
  const isSaid = put(words, long) || put(heading, long) || put(words, short);
  if (!isSaid) put(heading, short);
  if (scene.asked && !put(heading, scene.asked)) put(words, scene.asked);
  const said = (text) => put(words, text) || put(heading, text);
  if (!scene.helps || said(scene.helps)) return;
  if (scene.is_presenting && put(caption, scene.helps)) return;
  if (scene.runs.length === 1) {
    race.append(htmlNode("div", "helps", scene.helps));
    return;
  }
  const before = [words, heading].map((node) => node.textContent);
  for (const node of [words, heading]) node.textContent = node.textContent.replace(long, short);
  if (shorterHelps(scene.helps).some(said)) return;
  [words, heading].forEach((node, n) => { node.textContent = before[n]; });
}

/**
 * What binds a run and what helps, in ever less room: all of it; the same in fewer words; with the last of
 * the changes alone, which helps where one does; the changes; the last of them; and what binds the run.
 */
export function shorterHelps(helps) {
  const [binding, ...rest] = helps.split(/: |, but /); // "B is matrix-bound", "25 % more matrix columns make B 1.1× as fast"
  const effects = rest.join(": ").replace(/make(s?) [A-Z] (\S+×) as fast/g, (_, s, gain) => `give${s} ${gain}`);
  const last = effects.split("; ").at(-1);
  return [helps, ...(effects ? [`${binding}: ${effects}`, `${binding}: ${last}`, effects] : []), last, binding].filter(Boolean);
}

/** A label that the bound's line would cross stands beside it: the longest text that has room, or none. */
function moveLabels(track, at) {
  for (const part of track.querySelectorAll(".segments > div")) {
    const label = part.firstChild;
    const [left, right] = [part.offsetLeft, part.offsetLeft + part.clientWidth];
    if (at < left || at > right) continue;
    const texts = JSON.parse(part.dataset.texts).filter(Boolean);
    label.hidden = false;
    const widths = texts.map((text) => {
      label.textContent = text;
      return label.offsetWidth;
    });
    const found = besideLine(widths, { left, right, at });
    label.hidden = !found;
    label.textContent = found ? texts[found.text] : "";
    label.style.marginLeft = `${found?.shift ?? 0}px`;
  }
}

/** Which of these widths stands left of the line, else right of it: {text, shift}; null for none. */
export function besideLine(widths, { left, right, at }) {
  for (const [text, width] of widths.entries()) {
    if (width <= at - left) return { text, shift: 0 };
    if (width <= right - at) return { text, shift: at - left };
  }
  return null;
}
