// Merge while piece counts agree: cards that snap together, and what each grouping costs.

import { between, chipsOf, grouped, kibText, phase, pileSpot, SQUARE, WIDTH } from "./kit.js";

const ASK = 0.5;
const LEFT = 8;
const APART = 26; // units between two cards of different groups
const SNAPPED = 2;
const AGAIN_COLUMNS = 11; // squares of a row

/** Left edge of every card: cards of one group lie together, the row is centred. */
export function cardPlaces(groups, width) {
  const gaps = groups.flatMap((group, at) => group.map((_, place) => (place ? SNAPPED : at ? APART : 0)));
  const whole = gaps.reduce((sum, gap) => sum + gap, 0) + gaps.length * width;
  let x = (WIDTH - whole) / 2 - width;
  return gaps.map((gap) => {
    x += gap + width;
    return x;
  });
}

function draw(sheet, data, { knob, time, isRevealed }) {
  const width = (WIDTH - 2 * LEFT - APART * (data.layers.length - 1)) / data.layers.length;
  const height = Math.max(sheet.height * 0.17, sheet.type * 2.9);
  const top = sheet.type * 1.7;
  const chosen = data.groupings.find(({ key }) => key === knob);
  const alone = data.layers.map((_, at) => [at]);
  const share = isRevealed ? phase(time, ASK, 0.7) : phase(time, 0.12, 0.3);
  const [from, to] = [cardPlaces(alone, width), cardPlaces(chosen.groups, width)];
  const places = from.map((x, at) => between(x, to[at], share));
  sheet.text("head", LEFT, sheet.type * 1.05, sheet.fitting(["On a layer: the pieces that it is cut into on its own. GB retains a group's weights while its pieces run, as far as they fit.", "On a layer: its own number of pieces. GB retains weights of a group as far as they fit.", "On a layer: its number of pieces."], WIDTH - 16), { fill: "var(--ink2)" });
  cards(sheet, data, { places, width, height, top, share });
  refusals(sheet, data, { places, width, height, top, groups: chosen.groups, share });
  names(sheet, data, { places, width, top: top + height + 6, share });
  bars(sheet, data, { top: top + height + sheet.type * 4.1, time, isRevealed, knob });
}

/** Which of the rule's groups a layer is in: its hue, here and in later steps. */
export function ruleGroup(data, layer) {
  return data.named.findIndex(({ layers }) => layers.includes(layer));
}

/** Below the layers, the names that the rule's groups have in every step. */
function names(sheet, data, { places, width, top, share }) {
  if (share < 1) return;
  data.named.forEach(({ name, layers }, at) => {
    const [left, right] = [places[layers[0]] + 3, places[layers.at(-1)] + width - 3];
    const words = [`${name}: a group by the rule`, `${name}, by the rule`, name];
    sheet.path(`named${at}`, `M${left} ${top}v5H${right}v-5`, { stroke: "var(--ink3)", "stroke-width": 1.5 });
    sheet.text(`named${at}.name`, (left + right) / 2, top + 8 + sheet.type * 0.95, at ? name : sheet.fitting(words, right - left), { anchor: "middle", weight: 650, fill: "var(--ink)" });
  });
}

function cards(sheet, data, { places, width, height, top, share }) {
  data.layers.forEach(({ name, pieces }, layer) => {
    const isOn = share >= 1;
    const hue = ruleGroup(data, layer);
    const ink = isOn ? `var(--o${hue})` : "var(--ink)";
    sheet.rect(`card${layer}`, places[layer], top, width, height, { rx: 5, layer: 1, fill: isOn ? `var(--g${hue})` : "var(--track)", stroke: isOn ? "none" : "var(--edge)" });
    const middle = places[layer] + width / 2;
    sheet.text(`card${layer}.pieces`, middle, top + height * 0.52, String(sheet.number(`pieces_${layer}`, pieces)), { size: 1.6, anchor: "middle", weight: 700, fill: ink });
    sheet.text(`card${layer}.name`, middle, top + height - sheet.type * 0.45, sheet.fitting([name, name.split(" ")[0], name.replace("conv", "c")], width - 4), { anchor: "middle", fill: ink });
  });
}

/** Between two groups: equal counts or not. */
function refusals(sheet, data, { places, width, height, top, groups, share }) {
  if (share < 1) return;
  for (const group of groups.slice(1)) {
    const [before, after] = [group[0] - 1, group[0]];
    const sign = data.layers[before].pieces === data.layers[after].pieces ? "=" : "≠";
    const x = (places[before] + width + places[after]) / 2;
    sheet.text(`border${after}`, x, top + height / 2 + sheet.type * 0.34, sign, { anchor: "middle", weight: 700, fill: "var(--ink)", size: 1.15 });
  }
}

/** Cycles of every grouping; the one that is asked for, only once it is revealed. */
function bars(sheet, data, { top, time, isRevealed, knob }) {
  const rows = data.groupings;
  const labelled = Math.max(...rows.map(({ label }) => sheet.roomFor(label))) + 18;
  const row = Math.min(2 * SQUARE + 24, (sheet.height - top - 6) / rows.length);
  const most = Math.max(...rows.map(({ cycles }) => cycles));
  const ends = sheet.roomFor("23,392") + 14;
  const noted = Math.max(AGAIN_COLUMNS * SQUARE, sheet.roomFor("weights again, KiB")) + 12;
  const scale = (WIDTH - LEFT - labelled - ends - noted) / most;
  sheet.text("bars.cycles", labelled, top - sheet.type * 0.5, "cycles", { fill: "var(--ink3)" });
  const right = WIDTH - LEFT - noted + 12;
  sheet.text("bars.again", right, top - sheet.type * 0.5, "weights again, KiB", { fill: "var(--ink3)" });
  rows.forEach((each, at) => {
    const y = top + at * row;
    const isChosen = each.key === knob;
    const weight = isChosen ? 700 : 400;
    const middle = y + row / 2 + sheet.type * 0.34;
    sheet.text(`bar${at}.name`, LEFT, middle, each.label, { weight, fill: isChosen ? "var(--ink)" : "var(--ink2)" });
    const isKnown = isRevealed || data.shown.includes(each.key);
    if (!isKnown) {
      sheet.text(`bar${at}.ask`, labelled, middle, "?", { weight: 700, fill: "var(--ink)" });
      return;
    }
    const share = data.shown.includes(each.key) ? phase(time, 0.3 + at * 0.03, 0.4 + at * 0.03) : phase(time, 0.7, 0.9);
    sheet.rect(`bar${at}`, labelled, y + row / 2 - SQUARE / 2, each.cycles * scale * share, SQUARE, { rx: 2, fill: isChosen ? "var(--ink)" : "var(--edge)" });
    if (share < 1) return;
    sheet.text(`bar${at}.cycles`, labelled + each.cycles * scale + 8, middle, grouped(sheet.number(`${each.key}_cycles`, each.cycles)), { weight, fill: "var(--ink)" });
    sheet.number(`${each.key}_again`, each.again);
    refetched(sheet, { id: `again${at}`, x: right, y: y + row / 2, bytes: each.again, middle });
  });
}

/** Weights that are fetched once more, as squares; a word where there are none. */
function refetched(sheet, { id, x, y, bytes, middle }) {
  const chips = chipsOf(bytes);
  const rows = Math.ceil(chips.length / AGAIN_COLUMNS);
  chips.forEach((share, at) => {
    const spot = pileSpot(x, y + (rows * SQUARE) / 2, AGAIN_COLUMNS, at);
    sheet.chip(`${id}.${at}`, spot, share, sheet.colours.causes.weight_again);
  });
  if (!chips.length) sheet.text(id, x, middle, "none", { weight: 650, fill: "var(--ink)" });
  else if (chips.length <= AGAIN_COLUMNS / 2) sheet.text(id, x + (chips.length + 0.5) * SQUARE, middle, kibText(bytes), { fill: "var(--ink2)" });
}

export const step3 = { ask: ASK, draw };
