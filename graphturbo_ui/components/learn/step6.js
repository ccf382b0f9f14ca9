// Rows have borders, images have none: what each kernel reads of images and of border rows.

import { chipsOf, grouped, KIB, kibText, packed, pileSpot, SQUARE, WIDTH } from "./kit.js";

const ASK = 0.5;
const END = 0.95;
const LEFT = 8;
const COLUMNS = 3; // of a kernel's pile
const PILE_ROWS = 3;
const ROWS = 16; // of an image
const LARGE_TYPE = 26; // units
const SIDES = [285, 235]; // of a magnified image; where type is large
const KINDS = [["input", "images", "images"], ["halo", "border rows", "borders"]];

/** Squares of a kernel, of each kind in turn; whole ones first. */
export function fetched(kernel) {
  const shares = KINDS.flatMap(([kind]) => chipsOf(kernel[kind]).map((share) => ({ kind, share })));
  const sorted = shares.sort((one, other) => rankOf(one.kind) - rankOf(other.kind) || Number(one.share < 1) - Number(other.share < 1));
  const cells = packed(sorted.map(({ share }) => share));
  return sorted.map((square, at) => ({ ...square, ...cells[at] }));
}

function rankOf(kind) {
  return KINDS.findIndex(([name]) => name === kind);
}

/** With the answer, the cut that was seen before plays first, then the one that was asked for. */
function draw(sheet, data, { knob, time, isRevealed }) {
  const isFirst = !isRevealed || time < ASK;
  const run = data.runs[isRevealed && isFirst ? data.first : knob];
  const own = run.kernels;
  const share = Math.min(1, isFirst ? time / (ASK - 0.04) : (time - ASK) / (END - ASK));
  const now = Math.min(own.length - 1, Math.floor(share * own.length));
  const top = sheet.type * 1.7;
  const floor = sheet.height - sheet.type * 1.6;
  const isDone = share >= 1;
  strip(sheet, data, { own, kernel: own[now], isDone, top });
  const room = { top: top + 2 * SQUARE + sheet.type * 1.3, bottom: floor - PILE_ROWS * SQUARE - 12 - sheet.type };
  const x = magnified(sheet, data, { own, kernel: own[now], isDone, share, ...room });
  const ended = isDone ? own.length : now;
  piles(sheet, { own, floor, ended });
  sums(sheet, data, { run, ended, x, top: room.top, isDone });
}

/** All images by the ruler, with the cuts of the first group; what the kernel takes is framed. */
function strip(sheet, data, { own, kernel, isDone, top }) {
  const pitch = (WIDTH - 2 * LEFT) / data.images;
  const isByImages = own[0].axis === 0;
  const words = isByImages
    ? [`${own.length} pieces, cut between images: a 3×3 window never crosses a cut`, `${own.length} pieces, cut between images`]
    : [`${own.length} pieces, bands of rows of all images: a window crosses the cuts`, `${own.length} pieces, cut into bands of rows`];
  sheet.text("head", LEFT, sheet.type * 1.05, sheet.fitting(words, WIDTH - 16), { weight: 650, fill: "var(--ink)" });
  for (let image = 1; image <= data.images; image += 1) {
    const x = LEFT + (image - 0.5) * pitch - SQUARE / 2;
    sheet.block(`image${image}`, { x, y: top }, 1, data.image_bytes / KIB, image);
    const isCut = isByImages && image > 1 && own.some(({ low }) => low === image - 1);
    if (isCut) sheet.line(`cut${image}`, x + (SQUARE - pitch) / 2, top - 6, x + (SQUARE - pitch) / 2, top + 2 * SQUARE + 6, { stroke: "var(--ink)", "stroke-width": 2.5, layer: 2 });
  }
  if (isDone) return;
  const [from, to, high] = isByImages ? [kernel.low, kernel.high, [0, 1]] : [0, data.images, [kernel.low / kernel.extent, kernel.high / kernel.extent]];
  sheet.rect("taken", LEFT + from * pitch + 3, top - 4 + high[0] * 2 * SQUARE, (to - from) * pitch - 6, (high[1] - high[0]) * 2 * SQUARE + 8, { layer: 2, fill: "none", stroke: "var(--ink)", "stroke-width": 2, rx: 4 });
}

/** Border rows of a kernel's band above and below it, in bands: those at the ends have one side. */
export function borderBands(own, kernel) {
  const [first, last] = [own.find(({ low }) => low === 0), own.find(({ high, extent }) => high === extent)];
  return {
    above: kernel.low === 0 ? 0 : last.halo / last.input,
    below: kernel.high === kernel.extent ? 0 : first.halo / first.input,
  };
}

/** Two images, magnified, with the window of a convolution; gives where they end. */
function magnified(sheet, data, { own, kernel, isDone, share, top, bottom }) {
  const side = Math.min(bottom - top - sheet.type * 1.5, SIDES[Number(sheet.type > LARGE_TYPE)]);
  const isByImages = own[0].axis === 0;
  const cell = side / ROWS;
  const pair = isByImages ? [own[0].low, own[0].low + 1] : [1, 2];
  pair.forEach((image, at) => {
    const x = LEFT + 4 + at * (side + 18);
    sheet.rect(`big${at}`, x, top, side, side, { fill: sheet.imageColour(image), opacity: isByImages ? 1 : 0.4 });
    if (!isByImages) bands(sheet, { own, kernel, isDone, id: `big${at}`, colour: sheet.imageColour(image), x, top, side });
    // It ends at the border of the image, or across that of two bands.
    const [end, middle] = [isByImages ? side - 3 * cell : side / 2 - 1.5 * cell, side / 2 - 1.5 * cell];
    const [right, down] = isByImages ? [at ? end * (1 - share) : end * share, middle] : [middle, end * share];
    sheet.rect(`window${at}`, x + right, top + down, 3 * cell, 3 * cell, { layer: 2, fill: "none", stroke: "var(--ink)", "stroke-width": 2.5 });
  });
  if (isByImages) sheet.line("bigcut", LEFT + 4 + side + 9, top - 6, LEFT + 4 + side + 9, top + side + 4, { stroke: "var(--ink)", "stroke-width": 2.5, layer: 2 });
  const right = LEFT + 4 + 2 * side + 18;
  sheet.text("big.name", LEFT + 4, top + side + sheet.type * 1.3, sheet.fitting(["two images, magnified, and a 3×3 window", "two images, magnified"], right), { fill: "var(--ink2)" });
  return right + 28;
}

/** Lines between bands; the taken one in full, the rows of its neighbours that it reads too. */
function bands(sheet, { own, kernel, isDone, id, colour, x, top, side }) {
  const { extent } = own[0];
  const y = (row) => top + (row / extent) * side;
  const shown = isDone ? own[Math.floor(own.length / 2)] : kernel;
  const { above, below } = borderBands(own, shown);
  const [low, high] = [shown.low - above, shown.high + below];
  sheet.rect(`${id}.border`, x, y(low), side, y(high) - y(low), { layer: 1, fill: sheet.colours.causes.halo });
  sheet.rect(`${id}.band`, x, y(shown.low), side, y(shown.high) - y(shown.low), { layer: 1, fill: colour, stroke: "var(--ink)", "stroke-width": 1.5 });
  for (let band = 1; band < own.length; band += 1) {
    const at = y((band * extent) / own.length);
    sheet.line(`${id}.cut${band}`, x - 4, at, x + side + 4, at, { stroke: "var(--ink)", "stroke-width": 1.5, layer: 2 });
  }
}

function colourOf(sheet, kind) {
  return sheet.colours.causes[kind];
}

/** What each kernel has read, as a pile. */
function piles(sheet, { own, floor, ended }) {
  const pitch = (WIDTH - 2 * LEFT) / own.length;
  own.forEach((kernel, at) => {
    const left = LEFT + at * pitch + (pitch - COLUMNS * SQUARE) / 2;
    sheet.text(`kernel${at}`, LEFT + (at + 0.5) * pitch, floor + sheet.type * 1.15, sheet.fitting([kernel.name, kernel.name.replace("/", "")], pitch), { anchor: "middle", fill: "var(--ink)" });
    if (at >= ended) return;
    sheet.number(`input_${at}`, kernel.input);
    sheet.number(`halo_${at}`, kernel.halo);
    fetched(kernel).forEach(({ kind, share, cell, offset }, place) => {
      const spot = pileSpot(left, floor, COLUMNS, cell);
      sheet.chip(`chip${at}.${place}`, { x: spot.x + offset * SQUARE, y: spot.y }, share, colourOf(sheet, kind));
    });
  });
  sheet.text("piles.name", LEFT, floor - PILE_ROWS * SQUARE - sheet.type * 0.5, sheet.fitting(["what each piece reads, in the order they run", "read per piece, in order"], WIDTH - 16), { fill: "var(--ink2)" });
  sheet.line("floor", LEFT, floor + 1, WIDTH - LEFT, floor + 1);
}

/** What DRAM has read so far, by kind: the key to the colours; and the work that is repeated. */
function sums(sheet, data, { run, ended, x, top, isDone }) {
  const sum = (kind) => run.kernels.slice(0, ended).reduce((total, kernel) => total + kernel[kind], 0);
  const read = KINDS.reduce((total, [kind]) => total + sum(kind), 0);
  let y = top + sheet.type * 1.3;
  sheet.text("read", x, y, kibText(isDone ? sheet.number("read_bytes", run.read) : read), { size: 2, weight: 650, fill: "var(--ink)" });
  y += sheet.type * 1.2;
  const room = WIDTH - LEFT - x;
  const words = [`read from DRAM, of ${kibText(sheet.number("whole_bytes", data.whole))} of images`, `read, of ${kibText(data.whole)} of images`, `read of ${kibText(data.whole)}`];
  sheet.text("read.of", x, y, sheet.fitting(words, room));
  y += sheet.type * 0.5;
  for (const [kind, name, short] of KINDS) {
    y += sheet.type * 1.5;
    sheet.rect(`key.${kind}`, x, y - sheet.type * 0.7, sheet.type * 0.7, sheet.type * 0.7, { fill: colourOf(sheet, kind) });
    const bytes = kibText(sum(kind));
    sheet.text(`key.${kind}.name`, x + sheet.type, y, sheet.fitting([`${name} ${bytes}`, `${short} ${bytes}`], room - sheet.type), { fill: "var(--ink2)" });
  }
  if (run.kernels[0].axis === 0) {
    const why = sheet.fitting(["within a piece, cores divide images by rows", "cores divide images by rows", "between cores"], room - sheet.type);
    sheet.text("halo.why", x + sheet.type, y + sheet.type * 1.2, why, { fill: "var(--ink2)" });
  }
  if (!isDone || !run.halo_macs) return;
  const macs = grouped(sheet.number("halo_macs", run.halo_macs));
  sheet.text("macs", x, y + sheet.type * 2, sheet.fitting([`${macs} multiply-adds (MACs) are repeated`, `${macs} MACs are repeated`, `${macs} MACs again`], room), { weight: 650, fill: "var(--ink)" });
}

export const step6 = { ask: ASK, draw };
