// The docked line at the foot: what is pointed at or chosen, in cells of a caption and a value.

import { htmlNode } from "./draw.js";
import { bytesText } from "./labels.js";
import { cycleAt, groupSeconds, hueSeconds, kernelAt, kernelCount, kernelNumber, layersAt, matrixSeconds, samplesDone, scaleOf } from "./runs.js";
import { countText, piecesTexts, shareText, sizesText, sizeText, timeText, unitOf } from "./words.js";

/**
 * Fill the inspector for what is pointed at: {layer}, {group}, {hue} or {time}; else for the
 * sub-graph that gains most, or its kind. `on.edit(group)`: leads to where B's sub-graphs are edited, or null.
 *
 * @param {Scene} scene
 */
export function drawInspector(host, scene, pointedAt, on) {
  const focus = [pointedAt.layer, pointedAt.group, pointedAt.hue, pointedAt.time].some((own) => own !== null && own !== undefined)
    ? pointedAt : firstFocus(scene);
  const cells = cellsFor(scene, focus);
  const nodes = cells.map(({ caption, parts, hue }) => {
    const value = htmlNode("div", "value", ...parts.map((part) => (typeof part === "string" ? part : htmlNode("b", "", part.b))));
    const text = htmlNode("div", "", htmlNode("div", "caption", caption), value);
    const cell = htmlNode("div", "cell", text);
    if (hue === undefined) return cell;
    const swatch = htmlNode("div", "swatch");
    swatch.style.background = hue < 0 ? "var(--ink)" : `var(--g${hue}, var(--rest))`;
    cell.prepend(swatch);
    cell.classList.add("first");
    cell.title = `${caption}: ${value.textContent}`;
    return cell;
  });
  host.replaceChildren(...nodes);
  const edited = focus.group ?? focus.editedGroup ?? null;
  if (edited !== null && on.edit) {
    const edit = htmlNode("button", "small control", "Edit plan");
    const which = focus.group === edited ? "this sub-graph" : "the one of these that gains most";
    edit.title = `Merge, split or move ${which}, and run B again`;
    edit.onclick = () => on.edit(edited);
    host.append(edit);
  }
  fitCells(host, cells, nodes);
}

/**
 * A line of cells without one that is cut: shorter words, then fewer cells. Cells with `spare` go
 * first, the largest before others; then the last ones.
 *
 * @param {Cell[]} cells
 */
function fitCells(host, cells, nodes) {
  const { flexWrap, paddingRight } = getComputedStyle(host);
  if (flexWrap === "wrap") return;
  const right = host.getBoundingClientRect().right - Number.parseFloat(paddingRight) + 0.5;
  // A hidden button has no place: its right is 0.
  const fits = () => [...host.children].every((child) => child.getBoundingClientRect().right <= right);
  cells.forEach(({ shorter }, n) => {
    if (shorter && !fits()) nodes[n].querySelector(".value").textContent = shorter;
  });
  const order = [...cells.keys()].slice(1).sort((one, other) => (
    (cells[other].spare ?? 0) - (cells[one].spare ?? 0) || other - one
  ));
  for (const n of order) {
    if (fits()) return;
    nodes[n].remove();
  }
}

/**
 * A caption with a value: texts, or `{ b }` for bold ones. `shorter`: the value in fewer words.
 *
 * @typedef {{ caption: string, parts: (string | { b: string })[], hue?: number, shorter?: string, spare?: number }} Cell
 */

/**
 * @param {Scene} scene
 * @returns {Cell[]}
 */
function cellsFor(scene, { layer = null, group = null, hue = null, time = null }) {
  if (layer !== null) return layerCells(scene, layer);
  if (time !== null) return timeCells(scene, time);
  if (hue !== null) return hueCells(scene, hue);
  return groupCells(scene, group);
}

/**
 * What is shown while nothing is pointed at: the sub-graph that gains most, or all of its kind where
 * that has several; `editedGroup`: the one of these whose edits are a click away.
 *
 * @param {Scene} scene
 */
export function firstFocus(scene) {
  const group = mostGained(scene);
  const { meaning, titles, of_group: ofGroup } = scene.hues;
  const hue = ofGroup[group];
  const hasSeveral = meaning === "kind" && titles[hue] && ofGroup.filter((own) => own === hue).length > 1;
  return hasSeveral ? { hue, editedGroup: group } : { group };
}

/**
 * The sub-graph of B whose layers gain most against A; of a run alone the longest.
 *
 * @param {Scene} scene
 */
export function mostGained(scene) {
  const [a, b] = [scene.runs[0], scene.runs.at(-1)];
  const gains = b.groups.map((group) => groupSeconds(a, group) - (a === b ? 0 : groupSeconds(b, group)));
  return gains.indexOf(Math.max(...gains));
}

/** @param {Scene} scene */
function both(scene, text) {
  const [a, b] = [scene.runs[0], scene.runs.at(-1)];
  if (a === b) return [`${a.name} `, { b: text(a) }];
  return [`A ${text(a)}   B `, { b: text(b) }];
}

/**
 * Times of both runs in one unit, that of the shorter; where neither has one, in that of the runs.
 *
 * @param {Scene} scene
 */
export function bothTimes(scene, seconds) {
  const runs = [scene.runs[0], scene.runs.at(-1)];
  const times = runs.map(seconds).filter((own) => own > 0);
  const unit = Math.min(...(times.length ? times : runs.map(({ total }) => total)));
  return both(scene, (run) => timeText(seconds(run), unit));
}

/** @param {Scene} scene */
function layerCells(scene, layer) {
  const { name, ops } = scene.layers[layer];
  const b = scene.runs.at(-1);
  const hue = scene.hues.of_layer[layer];
  const group = b.groups[b.groupOfLayer[layer]];
  return [
    { caption: `Layer ${(layer + 1).toLocaleString("en-US")} of ${scene.layers.length.toLocaleString("en-US")}, ${ops.replaceAll("+", " + ")}`, parts: [{ b: name }], hue },
    { caption: `${b.name}'s sub-graph`, parts: [{ b: group.title }, `, ${countText(group.layers.length, "layer")}, ${countText(group.pieces, "piece")}`] },
    { caption: "Time", parts: bothTimes(scene, (run) => groupSeconds(run, { layers: [layer], shares: [1] })) },
    { caption: "DRAM bytes per cluster", parts: both(scene, (run) => sizeOrNone(run.layer_dram_bytes[layer] * scaleOf(run))) },
    { caption: "LB, fullest core", parts: both(scene, (run) => sizeOrNone(run.layer_lb_peak_bytes[layer])) },
    { caption: "GB", parts: both(scene, (run) => sizeOrNone(run.layer_gb_peak_bytes[layer])) },
    ...matrixCells(scene, layer),
  ];
}

/** The work of a layer's matrix engines, where it has any. */
function matrixCells(scene, layer) {
  const hasWork = scene.runs.some((run) => run.layer_matrix_cycles[layer] > 0);
  return hasWork ? [{ caption: "Matrix engines work", parts: bothTimes(scene, (run) => matrixSeconds(run, layer)) }] : [];
}

/** Bytes; `none` of nothing: `B 0 B` would name a run and a unit by one letter. */
function sizeOrNone(bytes) {
  return bytes ? sizeText(bytes) : "none";
}

/** @param {Scene} scene */
function timeCells(scene, time) {
  /** @type {Cell[]} */
  const cells = [{ caption: "Playhead", parts: [{ b: timeText(time, unitOf(Math.max(...scene.runs.map(({ total }) => total)))[0]) }], hue: -1 }];
  for (const run of scene.runs) {
    if (time >= run.total) {
      cells.push({ caption: `${run.name} is done since`, parts: [timeText(run.total, Math.min(...scene.runs.map(({ total }) => total)))] });
      continue;
    }
    const kernel = kernelAt(run, time);
    const layers = [...layersAt(run, time)].sort(([one], [other]) => one - other);
    const named = (how) => layers.filter(([, own]) => own === how).map(([layer]) => layer + 1);
    const [compute, move] = [named(1), named(2)];
    const said = [
      compute.length ? `layer${compute.length > 1 ? "s" : ""} ${short(compute)} compute${compute.length > 1 ? "" : "s"}` : "",
      move.length ? `${compute.length ? "" : "layer "}${short(move)} load${move.length > 1 ? "" : "s"} or store${move.length > 1 ? "" : "s"}` : "",
    ].filter(Boolean).join(", ");
    const place = kernel < 0 ? "launch" : `kernel ${kernelNumber(run, cycleAt(run, time).number, kernel).toLocaleString("en-US")} of ${kernelCount(run).toLocaleString("en-US")}`;
    const title = kernel < 0 ? "" : run.groups[run.kernel_group[kernel]].title;
    cells.push({ caption: `${run.name}: ${[place, title].filter(Boolean).join(", ")}`, parts: [said || "no instruction"] });
  }
  const done = (run) => samplesDone(run, time).toLocaleString("en-US");
  cells.push({ caption: `${scene.noun[0].toUpperCase()}${scene.noun.slice(1)}s done per cluster, of ${scene.runs[0].samples}`, parts: both(scene, done) });
  return cells;
}

function short(layers) {
  return layers.length > 4 ? `${layers.slice(0, 3).join(", ")} and ${layers.length - 3} more` : layers.join(", ");
}

/** @param {Scene} scene */
function groupCells(scene, number) {
  const b = scene.runs.at(-1);
  const group = b.groups[number];
  const hue = scene.hues.of_group[number];
  const [first, last] = [group.layers[0] + 1, group.layers.at(-1) + 1];
  const layers = first === last ? `layer ${first}` : `layers ${first} to ${last}`;
  const samples = b.rounds[0].samples;
  const a = scene.runs[0];
  const isWhole = group.layers.length === scene.layers.length; // with the launches of all
  const seconds = (run) => (isWhole ? run.total : groupSeconds(run, group));
  const rest = restText(scene, b, number);
  const isShared = a !== b && group.shares.some((share) => share < 1);
  const cells = [
    { caption: `${b.name}'s sub-graph ${number + 1}, ${layers}`, parts: [{ b: group.title }, `, ${countText(group.ops, "op")}`], hue: hue < 0 ? -1 : hue },
    { caption: "Pieces", parts: [piecesText(scene, group, samples)] },
    { caption: `Live bytes${roomText(scene)}`, parts: [{ b: bytesText(group) }, perPieceText(group), rest], shorter: rest && bytesText(group) + perPieceText(group) },
    { caption: isShared ? "Time (A: its share of the layer)" : "Time", parts: bothTimes(scene, seconds) },
  ];
  return [...cells, ...raisedCells(scene, b, number), ...reasonCells(scene, b, number), ...nextBestCells(scene, b, number)];
}

/** What the second of two sizes is of; where the split leaves the peak as it is, those words. */
function perPieceText({ pieces, piece_bytes: piece, whole_bytes: whole, cuts }) {
  if (pieces < 2 || !piece) return "";
  if (piece === whole) return ", and as much in a piece: the split leaves its largest tensors whole";
  return cuts.length > 1 ? ` per part of the ${cuts[0][0]}` : " per piece";
}

/**
 * Why a sub-graph has more pieces than Algorithm 1 needs, where the LB of one core is the reason.
 *
 * @param {Scene} scene
 * @param {Run} run
 */
export function raisedCells({ chip }, run, number) {
  const found = run.raised.find(({ group }) => group === number);
  if (!found?.core_bytes_before) return [];
  const [before, after] = sizesText(found.core_bytes_before, found.core_bytes);
  const room = chip.lb_data_bytes ? `, its LB holds ${sizeText(chip.lb_data_bytes, true)}` : "";
  return [{
    caption: `Why not ${countText(found.pieces_before, "piece")}`,
    parts: [`a core would need ${before}${room}; ${after} in ${run.groups[number].pieces}`], shorter: `a core would need ${before}${room}`, spare: 1,
  }];
}

/**
 * `, of 8 MiB for data in 8 LBs`: the room that a piece's live bytes have to fit into. The capacity in
 * the columns of memory includes what an LB has for weights alone.
 *
 * @param {{ chip: Partial<Scene["chip"]> }} scene
 */
export function roomText({ chip: { cores, lb_bytes: whole, lb_data_bytes: bytes } }) {
  if (!bytes) return "";
  return `, of ${sizeText(cores * bytes, true)} ${bytes < whole ? "for data " : ""}in ${countText(cores, "LB")}`;
}

/**
 * Where live bytes lie that the LBs have no room for; empty where they have it.
 *
 * @param {{ chip: Partial<Scene["chip"]> }} scene
 * @param {Pick<Run, "groups" | "layer_gb_peak_bytes">} run
 */
export function restText({ chip: { cores, lb_data_bytes: bytes } }, run, number) {
  const { layers, pieces, piece_bytes: piece, whole_bytes: whole, is_via_dram: isViaDram } = run.groups[number];
  if (!bytes || (pieces > 1 ? piece : whole) <= cores * bytes) return "";
  const inGb = Math.max(...layers.map((layer) => run.layer_gb_peak_bytes[layer]));
  const places = [inGb > 0 ? `GB holds up to ${sizeText(inGb)} with weights` : "", isViaDram ? "the rest goes via DRAM" : ""].filter(Boolean);
  return places.length ? `; ${places.join(", ")}` : "";
}

/** `8 × 2 images`; `16 × 7 pieces (images × rows)`; `1 piece of 16 images`. */
function piecesText(scene, group, samples) {
  const [text] = piecesTexts(group, samples, scene.noun);
  return text.replace(" pieces × ", " × ");
}

/**
 * What the next best decision would have cost, where a search says so: part of the run's time.
 *
 * @param {Scene} scene
 * @param {Run} run
 */
export function nextBestCells(scene, run, number) {
  const found = run.next_best.find(({ group }) => group === number);
  if (!found) return [];
  const { how, groups, more_cycles: more } = found;
  const what = { split: piecesText(scene, found, run.rounds[0].samples), divided: `as ${groups} sub-graphs`, joined: "one with its neighbour" }[how];
  const cost = more > 0 ? `the run takes ${shareText(more / run.cycles)} longer` : "no slower";
  return [{ caption: "Next best, by an estimate", parts: [`${what}: `, { b: cost }], spare: 1 }];
}

/**
 * What is known of a merged sub-graph whose strategy records no reason: its layers and its neighbours' pieces.
 *
 * @param {Pick<Scene, "layers">} scene
 * @param {Pick<Run, "groups" | "groupOfLayer">} run
 * @returns {Cell[]}
 */
export function unexplainedCells(scene, run, number) {
  const { layers } = run.groups[number];
  if (layers.length < 2) return [];
  const all = scene.layers.length;
  if (layers.length === all) return [{ caption: "Grouping", parts: ["all layers are one sub-graph"], spare: 2 }];
  const beside = [layers[0] - 1, layers.at(-1) + 1].filter((layer) => layer >= 0 && layer < all);
  const said = beside.map((layer) => `${layerTitle(run, layer)} in ${countText(run.groups[run.groupOfLayer[layer]].pieces, "piece")}`);
  return [
    { caption: "Grouping", parts: [`${layers.length} of ${all} layers; its strategy records no reason`], shorter: `${layers.length} of ${all} layers`, spare: 2 },
    { caption: said.length > 1 ? "Neighbours" : "Neighbour", parts: [said.join("; ")], shorter: said[0], spare: 1 },
  ];
}

/**
 * Why a sub-graph was merged, and why it was not merged further.
 *
 * @param {Scene} scene
 * @param {Run} run
 */
function reasonCells(scene, run, number) {
  const own = run.reasons.filter(({ group }) => group === number);
  if (!own.length) return unexplainedCells(scene, run, number);
  const merged = own.find(({ is_merged: isMerged }) => isMerged);
  /** @type {Cell[]} */
  const cells = [];
  if (merged) cells.push({ caption: `Why merged, ${countText(merged.times, "time")}`, parts: [mergedText(merged)], spare: 2 });
  const refused = own.filter(({ is_merged: isMerged }) => !isMerged);
  if (refused.length) {
    const isCut = refused.every(({ cause, fewest_pieces: fewest, other_parts: parts }) => cause === "refetch" && fewest && parts === 1);
    const caption = isCut ? "Not further: it would cut" : "Not merged further";
    const said = refusedTexts(run, number, refused, isCut);
    cells.push({ caption, parts: [said.slice(0, 2).join("; ")], shorter: said[0], spare: 1 });
  }
  return cells;
}

function mergedText({ cause, rule, fewest_pieces: fewest, most_pieces: most }) {
  const counts = fewest === most ? `${most} each` : `${fewest} to ${most}`;
  return {
    other: rule,
    pieces: `the parts agree on the pieces: ${counts}`,
    block: "a fork and its join share one split",
    split: "one axis can split all of it",
    user: "the plan asks for it",
  }[cause] ?? "by the strategy's rule";
}

/**
 * `stage 2 into 8, not 4`: one phrase per neighbour; `isCut`: the caption says that it is cut.
 *
 * @param {Run} run
 */
export function refusedTexts(run, number, refused, isCut) {
  const own = run.groups[number];
  const said = refused.map(({ cause, rule, fewest_pieces: fewest, most_pieces: most, other_layer: layer, other_parts: parts }) => {
    const next = layer >= 0 ? layerTitle(run, layer) : "a neighbour";
    const other = parts > 1 ? `${next} and ${parts - 1} more` : next;
    if (cause === "refetch" && !fewest) return `with ${other}: one of ${parts > 1 ? "them" : "the two"} has no split that fits`;
    const cut = parts > 1 ? "one of them" : own.pieces >= most ? other : layerTitle(run, own.layers[0]);
    const counts = `into ${most}, not ${fewest}`;
    const recut = cut === other ? `${other} would be cut ${counts}` : `with ${other}: it would cut ${cut} ${counts}`;
    return {
      refetch: isCut ? `${cut} ${counts}` : recut,
      grows: `with ${other}: the whole would need more pieces`,
      split: `with ${other}: no axis splits ${parts > 1 ? "all" : "both"}`,
      cycle: `with ${other}: it would close a cycle`,
      taken: `with ${other}: it belongs to another block`,
      user: `with ${other}: edits of the plan do not allow it`,
      other: `with ${other}: ${rule}`,
    }[cause] ?? `with ${other}: a rule forbids it`;
  });
  return [...new Set(said)];
}

/**
 * The sub-graph of a layer by its name, which no other one has.
 *
 * @param {Pick<Run, "groups" | "groupOfLayer">} run
 */
export function layerTitle(run, layer) {
  return run.groups[run.groupOfLayer[layer]]?.called ?? `layer ${layer + 1}`;
}

/** @param {Scene} scene */
function hueCells(scene, hue) {
  const b = scene.runs.at(-1);
  const groups = b.groups.filter((_, number) => scene.hues.of_group[number] === hue);
  const layers = scene.hues.of_layer.filter((own) => own === hue).length;
  const seconds = (run) => hueSeconds(run)[hue];
  const ofGroups = groups.length ? [
    { caption: "Pieces", parts: [rangeText(groups.map(({ pieces }) => pieces))] },
    { caption: "Largest live bytes", parts: [{ b: sizeText(Math.max(...groups.map((group) => group.whole_bytes))) }] },
  ] : [];
  return [
    { caption: groups.length ? `${groups.length} of ${b.name}'s ${countText(b.groups.length, "sub-graph")}` : `Part of a larger sub-graph of ${b.name}`, parts: [{ b: scene.hues.titles[hue] }, `, ${countText(layers, "layer")}`], hue },
    ...ofGroups,
    { caption: "Time", parts: bothTimes(scene, seconds) },
    { caption: "Share of the run's time", parts: both(scene, (run) => shareText(hueSeconds(run)[hue] / run.total)) },
  ];
}

function rangeText(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? String(least) : `${least} to ${most}`;
}
