// What the lens shows before anybody chooses, and the words above it. No page.

import { NO_LAYER } from "./runs.js";
import { countText, timeText } from "./words.js";

/**
 * The lens before anybody chooses: the open block where blocks repeat, else the window that the
 * report names. `is`: "block", "whole" or "focus".
 *
 * @param {Scene} scene
 */
export function firstLens(scene, open) {
  const run = scene.runs.at(-1);
  const at = run.rounds.find(({ isDrawn }) => isDrawn)?.at ?? 0;
  const [block] = open;
  const own = isByBlock(scene) ? blockWindow(scene, block) : null;
  if (own) return { run: run.name, t0: at + own[0], t1: at + own[1], is: "block", block };
  const [from, to] = scene.window.map((cycle) => cycle * run.seconds_per_cycle);
  const isWhole = from === 0 && to >= run.cycles * run.seconds_per_cycle;
  if (isWhole) return { run: run.name, t0: 0, t1: run.total, is: "whole" };
  return { run: run.name, t0: at + from, t1: at + to, is: "focus" };
}

/** Blocks that repeat are magnified one at a time, but not where the loss of a slower B is. */
function isByBlock({ hues, focus }) {
  return hues.meaning === "kind" && !focus.loses_s;
}

/**
 * The block that is open before anybody chooses: that of the loss, else the first that is repeated.
 *
 * @param {Scene} scene
 */
export function firstOpen(scene) {
  const { group, loses_s: loses } = scene.focus;
  const layer = loses && group >= 0 ? scene.runs.at(-1).groups[group].layers[0] : -1;
  const own = scene.blocks.findIndex(({ first, last }) => first <= layer && layer <= last);
  return own >= 0 ? own : firstRepeated(scene);
}

/**
 * What is chosen before anybody chooses: where a slower B loses most; null where B is not slower.
 *
 * @param {Scene} scene
 */
export function firstChoice({ focus }) {
  if (!focus.loses_s) return null;
  return focus.group >= 0 ? { group: focus.group } : { hue: focus.hue };
}

/**
 * The words above the lens, from the longest to the shortest.
 *
 * @param {Scene} scene
 */
export function lensTexts(scene, lens) {
  const run = scene.runs.find(({ name }) => name === lens.run);
  if (lens.is === "whole") return [`all of ${run.name}, ${timeText(run.total)}`, `all of ${run.name}`];
  if (lens.is === "block") {
    const { title } = scene.blocks[lens.block];
    const alike = alikeBlocks(scene, lens.block).length;
    return alike > 1 ? [`${title}, one of ${alike} equal blocks`, `${title}, one of ${alike}`, title] : [title];
  }
  if (lens.is === "focus") return focusTexts(scene);
  return layerTexts(run, lens);
}

/** @param {Scene} scene */
function focusTexts({ focus, hues, runs }) {
  const title = focus.group >= 0 ? runs.at(-1).groups[focus.group].called : hues.titles[focus.hue];
  if (!focus.loses_s) return [`where ${title} begins, which takes longest`, `${title}, which takes longest`, title];
  const lost = timeText(focus.loses_s);
  return [`where ${title} begins, which loses ${lost}`, `${title}, which loses ${lost}`, `${title} loses ${lost}`];
}

/**
 * The layers in flight in a stretch that somebody has chosen.
 *
 * @param {Run} run
 */
function layerTexts(run, { t0, t1 }) {
  let [first, last] = [Infinity, -1];
  for (const { at, length, isDrawn } of run.rounds) {
    if (!isDrawn || at >= t1 || at + length <= t0) continue;
    const [from, to] = [(t0 - at) / run.seconds_per_cycle, (t1 - at) / run.seconds_per_cycle];
    for (let i = 0; i < run.start.length && run.start[i] < to; i += 1) {
      if (run.layer[i] === NO_LAYER || run.start[i] + run.hold[i] <= from) continue;
      first = Math.min(first, run.layer[i]);
      last = Math.max(last, run.layer[i]);
    }
  }
  if (last < 0) return ["no layer in flight"];
  return [first === last ? `layer ${first + 1}` : `layers ${first + 1} to ${last + 1}, ${countText(last - first + 1, "layer")}`, `layers ${first + 1} to ${last + 1}`];
}

/**
 * Seconds of the drawn round in which B's kernels of a block run; null where it has none alone.
 *
 * @param {Scene} scene
 */
function blockWindow(scene, block) {
  const own = scene.blocks[block];
  const run = scene.runs.at(-1);
  if (!own) return null;
  const isInside = run.groups.map(({ layers }) => layers[0] >= own.first && layers.at(-1) <= own.last);
  const kernels = [...run.kernel_group.keys()].filter((k) => isInside[run.kernel_group[k]]);
  if (!kernels.length) return null;
  const [from, to] = [Math.min(...kernels.map((k) => run.kernel_from[k])), Math.max(...kernels.map((k) => run.kernel_to[k]))];
  return [from * run.seconds_per_cycle, to * run.seconds_per_cycle];
}

/**
 * Numbers of the blocks with the same ops per layer as this one, itself included.
 *
 * @param {Scene} scene
 */
export function alikeBlocks(scene, block) {
  const shape = ({ first, last }) => scene.layers.slice(first, last + 1).map(({ ops }) => ops).join();
  const own = shape(scene.blocks[block]);
  return scene.blocks.flatMap((other, number) => (shape(other) === own ? [number] : []));
}

/**
 * The first block that looks like another one; block 0 where none does.
 *
 * @param {Scene} scene
 */
function firstRepeated(scene) {
  const found = scene.blocks.findIndex(({ first, last }, number) => last > first && alikeBlocks(scene, number).length > 1);
  return Math.max(0, found);
}
