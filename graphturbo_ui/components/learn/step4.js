// Depth first eats what it has just cooked: the same kernels in two orders, and what waits in GB.

import { between, grouped, kibText, KIB, packed, phase, pileSpot, SQUARE, WIDTH } from "./kit.js";

const ASK = 0.6;
const LEFT = 8;
const COLUMNS = 4; // of a tray
const LANES = [["breadth", "Breadth first"], ["depth", "Depth first"]];

/** Squares of what is parked after a kernel: { image, share, cell, offset }, an image's together. */
export function parkedSquares(parked) {
  const shares = parked.flatMap(({ images, bytes }) => images.flatMap((image) => {
    const each = bytes / images.length / KIB;
    return Array.from({ length: Math.ceil(each) }, (_, at) => ({ image, share: Math.min(1, each - at) }));
  }));
  const cells = packed(shares.map(({ share }) => share));
  return shares.map((square, at) => ({ ...square, ...cells[at] }));
}

/** What the names of kernels and the trays mean: by one kernel, as an example. */
function words({ name }, capacity, weights) {
  const [group, piece] = name.split("/");
  return [
    `${name}: piece ${piece} of group ${group}. Above a kernel: what waits in GB (${kibText(capacity)}) when it ends; grey: ${kibText(weights)} for weights.`,
    `${name}: piece ${piece} of group ${group}. Above a kernel: GB (${kibText(capacity)}) when it ends, and what waits.`,
    `${name}: piece ${piece} of ${group}. Above: GB, ${kibText(capacity)}.`,
  ];
}

function draw(sheet, data, { knob, time, isRevealed }) {
  const pair = data.runs[knob];
  const longest = Math.max(...LANES.map(([name]) => pair[name].cycles));
  const axis = sheet.type * 1.5;
  const worded = sheet.type * 1.35;
  const lane = (sheet.height - axis - worded) / LANES.length;
  const capacity = sheet.number("capacity_bytes", pair.capacity);
  const example = pair.breadth.kernels.find(({ name }) => !name.endsWith("/1")) ?? pair.breadth.kernels[0];
  sheet.text("words", LEFT, sheet.type * 1.05, sheet.fitting(words(example, capacity, data.for_weights), WIDTH - 2 * LEFT), { fill: "var(--ink2)" });
  const first = Math.min(1, time / (ASK - 0.02)) * longest;
  const second = phase(time, ASK, 0.97) * longest;
  LANES.forEach(([name, title], at) => {
    const isHidden = name === "depth" && !isRevealed;
    const cycles = name === "depth" && isRevealed && time > ASK ? second : first;
    drawLane(sheet, { run: pair[name], name, title, isHidden, cycles, capacity, weights: data.for_weights, top: worded + at * lane, lane, longest });
  });
  sheet.ticks(longest, sheet.type > 26 ? 10_000 : 5_000, { left: LEFT, right: WIDTH - LEFT, y: sheet.height - axis });
}

function drawLane(sheet, { run, name, title, isHidden, cycles, capacity, weights, top, lane, longest }) {
  const boxHeight = Math.max(32, sheet.type * 1.2);
  const boxTop = top + lane - boxHeight - sheet.type * 0.45;
  const floor = boxTop - 7;
  const scale = (WIDTH - 2 * LEFT) / longest;
  const peak = sheet.number(`${name}_peak_bytes`, Math.max(...run.kernels.map(({ parked_bytes: bytes }) => bytes)));
  sheet.number(`${name}_cycles`, run.cycles);
  const isDone = cycles >= longest && !isHidden;
  head(sheet, { name, title, run, peak, isDone, y: top + sheet.type * 1.05 });
  run.kernels.forEach((kernel, at) => {
    if (kernel.from > cycles) return;
    const [x0, x1] = [LEFT + kernel.from * scale, LEFT + kernel.to * scale];
    const shown = Math.min(x1, LEFT + cycles * scale);
    sheet.box(`${name}.kernel${at}`, x0, boxTop, shown - x0, boxHeight, {
      fill: `var(--g${kernel.group})`, ink: `var(--o${kernel.group})`, text: kernel.name, size: 0.95,
    });
    if (kernel.to > cycles) return;
    const left = Math.min(WIDTH - LEFT - COLUMNS * SQUARE, (x0 + x1) / 2 - (COLUMNS * SQUARE) / 2);
    const rise = phase(cycles, kernel.to, kernel.to + longest * 0.035);
    const brim = floor - Math.ceil(capacity / KIB / COLUMNS) * SQUARE;
    glass(sheet, `${name}.tray${at}`, left, floor, { squares: capacity / KIB, weights: weights / KIB });
    if (at === 0 && brim - 8 > top + sheet.type * 2) {
      sheet.text(`${name}.brim`, left, brim - 8, `GB ${kibText(capacity)}`, { fill: "var(--ink2)" });
    }
    const bytes = isHidden ? null : sheet.number(`${name}_parked_${at}`, kernel.parked_bytes);
    const isPeak = bytes === peak;
    const filled = isHidden ? 0 : rowsOf(kernel.parked);
    sheet.text(`${name}.count${at}`, left + (COLUMNS * SQUARE) / 2, floor - filled * SQUARE - 6, isHidden ? "?" : kibText(bytes).replace(" KiB", ""), {
      anchor: "middle", weight: isPeak ? 700 : 400, fill: isPeak ? "var(--ink)" : "var(--ink2)",
    });
    if (!isHidden) park(sheet, { id: `${name}.${at}`, kernel, left, bottom: floor, boxTop, rise });
  });
}

/** GB with all its room: whole rows, and a last one that may be part of a row; its top is for weights. */
function glass(sheet, id, left, floor, { squares, weights }) {
  for (let at = squares - weights; at < squares; at += 1) {
    const spot = { x: left + (at % COLUMNS) * SQUARE, y: floor - (Math.floor(at / COLUMNS) + 1) * SQUARE };
    sheet.rect(`${id}.weights${at}`, spot.x, spot.y, SQUARE, SQUARE, { layer: 1, fill: "var(--edge)", opacity: 0.5 });
  }
  const [rows, rest] = [Math.floor(squares / COLUMNS), squares % COLUMNS];
  const [top, right, step] = [floor - rows * SQUARE, left + COLUMNS * SQUARE, left + rest * SQUARE];
  const up = rest ? `V${top - SQUARE}H${step}V${top}` : `V${top}`;
  sheet.path(id, `M${left - 2} ${floor + 2}${up}H${right + 2}V${floor + 2}Z`, { layer: 0, fill: "var(--track)", stroke: "var(--edge)", "stroke-width": 1.5 });
}

function rowsOf(parked) {
  const squares = parkedSquares(parked);
  return squares.length ? Math.ceil((squares.at(-1).cell + 1) / COLUMNS) : 0;
}

/** What a kernel leaves rises into its tray. An image of two squares is one block with its digit. */
function park(sheet, { id, kernel, left, bottom, boxTop, rise }) {
  const squares = parkedSquares(kernel.parked);
  const place = ({ cell, offset }) => {
    const { x, y } = pileSpot(left, bottom, COLUMNS, cell);
    return { x: x + offset * SQUARE, y: between(boxTop, y, rise) };
  };
  for (let at = 0; at < squares.length; at += 1) {
    const square = squares[at];
    const isPair = square.share === 1 && squares[at + 1]?.image === square.image && (square.cell % COLUMNS) + 1 < COLUMNS;
    if (isPair) {
      sheet.block(`${id}.block${at}`, place(square), 2, 1, square.image);
      at += 1;
    } else sheet.chip(`${id}.chip${at}`, place(square), square.share, sheet.imageColour(square.image));
  }
}

function head(sheet, { name, title, run, peak, isDone, y }) {
  sheet.text(`${name}.title`, LEFT, y, title, { weight: 650, fill: "var(--ink)" });
  if (!isDone) return;
  const room = WIDTH - 2 * LEFT - sheet.roomFor(title) * 1.1 - sheet.type;
  const spilled = run.spill ? `, ${kibText(sheet.number(`${name}_spill`, run.spill))} via DRAM` : "";
  const texts = [`at most ${kibText(peak)} wait in GB${spilled}, ${grouped(run.cycles)} cycles`, `at most ${kibText(peak)} wait in GB`, `at most ${kibText(peak)}`];
  sheet.text(`${name}.end`, WIDTH - LEFT, y, sheet.fitting(texts, room), { anchor: "end" });
}

export const step4 = { ask: ASK, draw };
