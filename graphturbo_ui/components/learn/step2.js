// Cut the stage, not the layer, until it fits: what is live at once, poured into the LBs.

import { between, KIB, kibText, phase, pileSpot, SQUARE, traySpot, WIDTH } from "./kit.js";

const ASK = 0.5;
const STRIP = 2; // squares of a row of an image's strip
const LB_COLUMNS = 2;
const NOTHING_CUT = 1;
const STRIPS_AT = 0.16; // of the height
const BELOW_LBS = 0.06;

/** The live squares, image by image: { image, tensor, row, column } in the image's strip. */
export function liveSquares(data) {
  const squares = [];
  for (let image = 1; image <= data.images; image += 1) {
    let at = 0;
    data.tensors.forEach(({ bytes }, tensor) => {
      for (let each = 0; each < bytes / data.images / KIB; each += 1, at += 1) {
        squares.push({ image, tensor, row: Math.floor(at / STRIP), column: at % STRIP });
      }
    });
  }
  return squares;
}

function draw(sheet, data, { knob, time, isRevealed }) {
  const pieces = isRevealed ? Number(knob) : NOTHING_CUT;
  const poured = isRevealed ? phase(time, 0.66, 0.95) : phase(time, 0.08, ASK - 0.04);
  const strips = stripPlaces(sheet, data);
  const foot = sheet.height - Math.max(58, sheet.type * 3.1);
  const lbs = lbPlaces(data, foot, sheet);
  head(sheet, data, { ...strips, pieces });
  knives(sheet, data, strips, { pieces, isShown: isRevealed ? phase(time, ASK, 0.62) : 0 });
  lbs.forEach(({ x, y }, at) => sheet.tray(`lb${at}`, x, y, LB_COLUMNS, data.capacity / KIB / lbs.length / LB_COLUMNS));
  pour(sheet, data, { strips, lbs, pieces, poured });
  words(sheet, data, { lbs, pieces, poured });
  candidates(sheet, data, { isRevealed, time, pieces, top: foot + 6 });
}

function peakOf(data, pieces) {
  return data.candidates.find((each) => each.pieces === pieces)?.peak ?? data.whole;
}

function stripPlaces(sheet, { images }) {
  const label = sheet.roomFor("image") + 16;
  const pitch = Math.min(86, (WIDTH - label - 12) / images);
  const left = label + (WIDTH - label - pitch * images) / 2;
  return { pitch, left, top: Math.max(sheet.type * 2.75, sheet.height * STRIPS_AT), labelled: left - 12 };
}

function lbPlaces(data, foot, sheet) {
  const pitch = LB_COLUMNS * SQUARE + 56;
  const left = (WIDTH - pitch * data.cores + 56) / 2;
  return Array.from({ length: data.cores }, (_, at) => ({ x: left + at * pitch, y: foot - sheet.type * 1.9 - 2 * SQUARE - sheet.height * BELOW_LBS }));
}

function head(sheet, data, { left, pitch, top, labelled, pieces }) {
  const whole = sheet.number("whole_bytes", data.whole);
  const live = kibText(pieces === NOTHING_CUT ? whole : peakOf(data, pieces));
  const runs = pieces === NOTHING_CUT ? `${data.layer} runs` : `${data.layer} runs on one of ${pieces} pieces`;
  sheet.text("head", 8, sheet.type * 1.1, sheet.fitting([
    `${runs}: ${live} are live, that is needed at the same time`,
    `${data.layer}: ${live} are live, needed at once`,
  ], WIDTH - 16), { weight: 650, fill: "var(--ink)" });
  for (let image = 1; image <= data.images; image += 1) {
    sheet.text(`strip${image}`, left + (image - 0.5) * pitch, top - 8, String(image), { anchor: "middle", fill: "var(--ink2)" });
  }
  let row = 0;
  for (const { name, bytes } of data.tensors) {
    const rows = bytes / data.images / KIB / STRIP;
    sheet.text(`tensor.${name}`, labelled, top + (row + rows / 2) * SQUARE + sheet.type * 0.34, name, { anchor: "end" });
    row += rows;
  }
}

/** Lines between the pieces. */
function knives(sheet, data, { left, pitch, top }, { pieces, isShown }) {
  const rows = data.whole / data.images / KIB / STRIP;
  for (let piece = 1; piece < pieces; piece += 1) {
    const x = left + (piece * data.images * pitch) / pieces;
    const height = (rows * SQUARE + 24) * isShown;
    sheet.line(`knife${piece}`, x, top - 12, x, top - 12 + height, { stroke: "var(--ink)", "stroke-width": 2, layer: 2 });
  }
}

/** The first piece's squares fall into the LBs; what does not fit lies on top of them. */
function pour(sheet, data, { strips, lbs, pieces, poured }) {
  const squares = liveSquares(data);
  const taken = squares.filter(({ image }) => image <= data.images / pieces).length;
  const perLb = data.capacity / KIB / lbs.length;
  squares.forEach((square, at) => {
    const from = {
      x: strips.left + (square.image - 0.5) * strips.pitch + (square.column - STRIP / 2) * SQUARE,
      y: strips.top + square.row * SQUARE,
    };
    if (at >= taken) {
      sheet.chip(`live${at}`, from, 1, sheet.imageColour(square.image));
      return;
    }
    const share = Math.min(1, Math.max(0, poured * (1 + taken / 16) - at / 16));
    const to = spotOf(lbs, at, taken / lbs.length, perLb);
    const spot = { x: between(from.x, to.x, share), y: between(from.y, to.y, share ** 2) };
    if (share > 0) sheet.rect(`hole${at}`, from.x + 1, from.y + 1, SQUARE - 2, SQUARE - 2, { fill: "none", stroke: "var(--line)", layer: 1 });
    const isOver = share >= 1 && at % (taken / lbs.length) >= perLb;
    sheet.block(`live${at}`, spot, 1, 1, square.image, isOver ? { stroke: sheet.colours.capacity, "stroke-width": 2.5 } : {});
  });
}

/** The place of a square: every LB gets `each` of them, `room` of these inside, the rest on top. */
function spotOf(lbs, at, each, room) {
  const lb = lbs[Math.floor(at / each)];
  const own = at % each;
  if (own < room) return traySpot(lb.x, lb.y, LB_COLUMNS, own);
  return pileSpot(lb.x, lb.y - 8, LB_COLUMNS, Math.floor(own - room));
}

function words(sheet, data, { lbs, pieces, poured }) {
  const y = lbs[0].y + 2 * SQUARE + sheet.type * 1.25;
  sheet.text("lbs", WIDTH / 2, y, sheet.fitting([
    `the LBs of ${data.cores} cores hold ${kibText(sheet.number("capacity_bytes", data.capacity))}`, `${data.cores} LBs hold ${kibText(data.capacity)}`,
  ], WIDTH), { anchor: "middle" });
  if (poured < 1) return;
  const bytes = peakOf(data, pieces);
  sheet.number("piece_bytes", bytes);
  const over = bytes - data.capacity;
  const x = lbs.at(-1).x + LB_COLUMNS * SQUARE + 16;
  const lines = over > 0 ? [kibText(over), "do not fit"] : [kibText(bytes), "fit"];
  lines.forEach((line, at) => sheet.text(`verdict${at}`, x, lbs[0].y - 10 + at * sheet.type * 1.15, line, { weight: 650, fill: "var(--ink)" }));
}

/** The counts that are tried, in order, until one fits. */
export function candidates(sheet, data, { isRevealed, time, pieces, top, text = kibText }) {
  const { candidates: tried } = data;
  const gap = 10;
  const width = (WIDTH - 16 - gap * (tried.length - 1)) / tried.length;
  const height = sheet.height - top - 4;
  tried.forEach((each, at) => {
    const share = isRevealed ? phase(time, ASK + at * 0.05, ASK + 0.04 + at * 0.05) : Number(at === 0) * phase(time, ASK - 0.05, ASK);
    const x = 8 + at * (width + gap);
    const isChosen = each.pieces === pieces && (isRevealed || share > 0);
    sheet.rect(`try${at}`, x, top, width, height, {
      rx: 6, fill: isChosen ? "var(--track)" : "none", stroke: isChosen ? "var(--ink)" : "var(--line)", "stroke-width": isChosen ? 2 : 1,
    });
    const name = `${each.pieces} ${each.pieces === 1 ? "piece" : "pieces"}`;
    sheet.text(`try${at}.name`, x + 12, top + height / 2 - sheet.type * 0.2, name, { weight: 650, fill: "var(--ink)" });
    if (share < 1) return;
    sheet.number(`peak_${each.pieces}`, each.peak);
    sheet.text(`try${at}.peak`, x + 12, top + height / 2 + sheet.type * 1.02, text(each.peak), { fill: "var(--ink2)" });
    sheet.text(`try${at}.mark`, x + width - 12, top + height / 2 + sheet.type * 1.02, each.fits ? "✓" : "✗", { anchor: "end", weight: 700, fill: "var(--ink)", size: 1.1 });
  });
}

export const step2 = { ask: ASK, draw };
