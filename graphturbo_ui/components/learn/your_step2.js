// Cut the whole group, until a piece fits: of any model, without its samples' colours.

import { between, bytesText, phase, SQUARE, WIDTH } from "./kit.js";
import { candidates } from "./step2.js";

const ASK = 0.5;
const NOTHING_CUT = 1;
const LEAST_ROWS = 2;

/** How the whole group lies: columns of the piece that is poured, rows, and the side of a square. */
export function layout(data, { width, height }) {
  const squares = Math.ceil(data.whole / data.unit);
  let side = SQUARE;
  while (side > 4 && Math.ceil(squares / Math.floor(width / side)) * side > height) side -= 1;
  const columns = Math.min(squares, Math.floor(width / side));
  return { squares, side, columns, rows: Math.max(LEAST_ROWS, Math.ceil(squares / columns)) };
}

function draw(sheet, data, { knob, time, isRevealed }) {
  const pieces = isRevealed ? Number(knob) : NOTHING_CUT;
  const poured = isRevealed ? phase(time, 0.66, 0.95) : phase(time, 0.08, ASK - 0.04);
  const foot = sheet.height - Math.max(58, sheet.type * 3.1);
  const top = sheet.type * 1.8;
  const middle = top + (foot - top) * 0.42;
  const grid = layout(data, { width: WIDTH - 16, height: middle - top - sheet.type });
  const tray = trayOf(sheet, data, grid, { top, foot });
  sheet.text("head", 8, sheet.type * 1.1, sheet.fitting([
    `${data.group}: ${bytesText(sheet.number("whole_bytes", data.whole))} are live at once; a square is ${bytesText(data.unit)}`,
    `${data.group}: ${bytesText(data.whole)} live at once`,
  ], WIDTH - 16), { weight: 650, fill: "var(--ink)" });
  outline(sheet, tray, grid.side);
  pour(sheet, data, { grid, tray, top, pieces, poured });
  words(sheet, data, { tray, grid, pieces, poured });
  candidates(sheet, data, { isRevealed, time, pieces, top: foot + 6, text: bytesText });
}

/** The LBs of all cores as one tray, of as many squares as they have room for. */
function trayOf(sheet, data, { side, squares: whole }, { top, foot }) {
  const squares = Math.max(1, Math.round(data.capacity / data.unit));
  const high = Math.floor((foot - top - sheet.type * 2.2) / side) - 1; // rows above the foot, one of them in part
  const columns = Math.max(Math.min(16, squares), Math.ceil(whole / high));
  const rows = Math.ceil(squares / columns);
  return { columns, rows, squares, x: (WIDTH - columns * side) / 2, y: foot - sheet.type * 1.9 - rows * side };
}

/** All the room of the tray: whole rows, and a last one that may be part of a row. */
function outline(sheet, { x, y, columns, rows, squares }, side) {
  const rest = squares % columns || columns;
  const [left, right, step] = [x - 3, x + columns * side + 3, x + rest * side + 3];
  const [top, bottom] = [y - 3, y + rows * side + 3];
  const up = rest < columns ? `H${step}V${top + side}H${right}` : `H${right}`;
  sheet.path("tray", `M${left} ${top}${up}V${bottom}H${left}Z`, { layer: 0, fill: "var(--track)", stroke: "var(--edge)", "stroke-width": 1.5 });
}

/** The squares of the first piece go into the tray; what has no room lies on top of it. */
function pour(sheet, data, { grid, tray, top, pieces, poured }) {
  const { squares, side, columns } = grid;
  const taken = Math.min(squares, Math.ceil(squares / pieces));
  const isCut = pieces > 1;
  for (let at = 0; at < squares; at += 1) {
    const piece = Math.min(pieces - 1, Math.floor((at * pieces) / squares));
    const from = { x: 8 + (at % columns) * side, y: top + Math.floor(at / columns) * side };
    const share = at < taken ? Math.min(1, Math.max(0, poured * (1 + taken / 32) - at / 32)) : 0;
    const to = spotOf(tray, side, at);
    const isOver = share >= 1 && at >= tray.squares;
    if (share > 0) sheet.rect(`hole${at}`, from.x + 1, from.y + 1, side - 2, side - 2, { fill: "none", stroke: "var(--line)", layer: 1 });
    sheet.rect(`live${at}`, between(from.x, to.x, share) + 0.75, between(from.y, to.y, share ** 2) + 0.75, side - 1.5, side - 1.5, {
      layer: 2, fill: isCut && piece % 2 ? "var(--one)" : sheet.colours.neutral,
      ...(isOver ? { stroke: sheet.colours.capacity, "stroke-width": 2 } : {}),
    });
  }
}

/** The place of a square: in the tray, from its bottom row, and then above all of it. */
function spotOf({ x, y, columns, rows, squares }, side, at) {
  const isIn = at < squares;
  const place = isIn ? at : at - squares;
  const row = Math.floor(place / columns) + (isIn ? 0 : rows);
  return { x: x + (place % columns) * side, y: y + (rows - 1 - row) * side - (isIn ? 0 : 8) };
}

function words(sheet, data, { tray, grid, pieces, poured }) {
  const y = tray.y + tray.rows * grid.side + sheet.type * 1.25;
  sheet.text("lbs", WIDTH / 2, y, sheet.fitting([
    `the LBs of ${data.cores} cores have room for ${bytesText(sheet.number("capacity_bytes", data.capacity))}`, `${data.cores} LBs: ${bytesText(data.capacity)}`,
  ], WIDTH), { anchor: "middle" });
  if (poured < 1) return;
  const bytes = data.candidates.find((each) => each.pieces === pieces)?.peak ?? data.whole;
  sheet.number("piece_bytes", bytes);
  const x = tray.x + tray.columns * grid.side + 16;
  const over = bytes - data.capacity;
  const lines = over > 0 ? [bytesText(over), "do not fit"] : [bytesText(bytes), "fit"];
  lines.forEach((line, at) => sheet.text(`verdict${at}`, x, tray.y + at * sheet.type * 1.15, line, { weight: 650, fill: "var(--ink)" }));
}

export const yourStep2 = { ask: ASK, draw };
