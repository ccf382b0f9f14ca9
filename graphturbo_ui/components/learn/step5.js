// The next kernel reads it: LB. A later one: GB. No room: DRAM. Cores are desks under GB.

import { between, chipsOf, KIB, kibText, phase, SQUARE, WIDTH } from "./kit.js";

const ASK = 0.45;
const LEFT = 8;
const GAP = 26; // between two desks

/** Squares of what waits: { image, share, place, core }, an image's in a row. */
export function waitingSquares(run) {
  return run.parts.flatMap(({ image, place, core, bytes }) => chipsOf(bytes).map((share) => ({ image, share, place, core })));
}

function draw(sheet, data, { knob, time, isRevealed }) {
  const run = data.runs[knob];
  const rooms = roomsOf(sheet, data);
  const arrived = phase(time, 0.05, ASK - 0.05);
  const slid = isRevealed && run.takes ? phase(time, ASK, 0.68) : 0;
  const fallen = isRevealed && run.takes ? phase(time, 0.68, 0.82) : 0;
  frame(sheet, data, rooms, run);
  squares(sheet, data, { run, rooms, arrived, slid, fallen });
  takes(sheet, { run, rooms, shown: slid });
  if (slid > 0) arrows(sheet, { run, rooms, opacity: Math.min(1, slid * 3) });
  compare(sheet, data, { run, top: rooms.below, shown: isRevealed ? phase(time, 0.84, 0.95) : 0 });
}

/** Where GB, desks and DRAM are. */
function roomsOf(sheet, { cores }) {
  const line = sheet.type * 1.35;
  const width = (WIDTH - 2 * LEFT - GAP * (cores - 1)) / cores;
  const bars = sheet.type * 1.6 + 2 * Math.max(SQUARE + 10, sheet.type * 1.25);
  const below = sheet.height - bars;
  const free = below - 2 * line - 6;
  const high = Math.max(52, Math.min(90, free * 0.22));
  const desks = Array.from({ length: cores }, (_, at) => ({ x: LEFT + at * (width + GAP), width }));
  const gb = line + 4;
  const dram = below - high * 0.8 - 12;
  return { line, high, desks, gb, dram, dramHigh: high * 0.8, desk: (gb + high + dram) / 2 - high / 2, below };
}

function frame(sheet, data, { line, high, desks, gb, dram, dramHigh, desk }, run) {
  const words = [`${data.tensor} of images ${run.images[0]} to ${run.images.at(-1)}, before conv3 reads it`, `${data.tensor}, before conv3 reads it`];
  sheet.text("head", LEFT, line * 0.8, sheet.fitting(words, WIDTH - 16), { weight: 650, fill: "var(--ink)" });
  const grounds = [["gb", gb, high, "GB"], ["dram", dram, dramHigh, "DRAM"]];
  for (const [id, y, height, name] of grounds) {
    sheet.rect(id, LEFT, y, WIDTH - 2 * LEFT, height, { rx: 5, fill: "var(--track)", stroke: "var(--edge)" });
    sheet.text(`${id}.name`, LEFT + 12, y + height / 2 + sheet.type * 0.34, name, { weight: 650 });
  }
  desks.forEach(({ x, width }, core) => {
    sheet.rect(`desk${core}`, x, desk, width, high, { rx: 5, fill: "var(--track)", stroke: "var(--edge)", "stroke-width": 1.5 });
    sheet.text(`desk${core}.name`, x + 10, desk + high / 2 + sheet.type * 0.34, sheet.fitting([`LB of core ${core}`, `LB ${core}`, String(core)], width - 2 * SQUARE - 22), { weight: 650 });
  });
}

/** Place of a square on a desk: to the right of its name. */
function onDesk({ desks, desk, high }, core, at) {
  const { x, width } = desks[core];
  return { x: x + width - 8 - (2 - (at % 2)) * SQUARE, y: desk + high / 2 + (Math.floor(at / 2) - 1) * SQUARE };
}

function squares(sheet, data, { run, rooms, arrived, slid, fallen }) {
  const seen = { LB: new Map(), GB: 0, DRAM: 0 };
  const placed = new Map();
  waitingSquares(run).forEach(({ image, share, place, core }, at) => {
    let from;
    if (place === "LB") {
      const own = seen.LB.get(core) ?? 0;
      seen.LB.set(core, own + 1);
      from = onDesk(rooms, core, own);
    } else {
      const [y, height] = place === "GB" ? [rooms.gb, rooms.high] : [rooms.dram, rooms.dramHigh];
      const total = waitingSquares(run).filter((each) => each.place === place).length;
      from = { x: WIDTH / 2 + (seen[place] - total / 2) * SQUARE, y: y + (height - SQUARE) / 2 };
      seen[place] += 1;
    }
    const target = run.takes ? run.takes[run.images.indexOf(image)] : null;
    let to = from;
    if (target !== null) {
      const own = placed.get(target) ?? 0;
      placed.set(target, own + 1);
      to = onDesk(rooms, target, own);
    }
    const moved = place === "LB" ? slid : fallen;
    const lift = place === "LB" && target !== core ? Math.sin(Math.PI * moved) * rooms.high * 0.7 : 0;
    const spot = { x: between(from.x, to.x, moved), y: between(from.y, to.y, moved) - lift };
    const start = between(rooms.desk + rooms.high / 2, spot.y, Math.min(1, arrived * 1.4));
    if (arrived > 0) sheet.block(`part${at}`, { x: spot.x, y: start }, share, 1, image);
  });
  const bytes = { LB: 0, GB: 0, DRAM: 0 };
  for (const part of run.parts) bytes[part.place] += part.bytes;
  if (arrived < 1 || fallen > 0) return;
  for (const [place, y, height] of [["GB", rooms.gb, rooms.high], ["DRAM", rooms.dram, rooms.dramHigh]]) {
    if (bytes[place]) sheet.text(`${place}.bytes`, WIDTH - LEFT - 12, y + height / 2 + sheet.type * 0.34, kibText(sheet.number(`${place}_bytes`, bytes[place])), { anchor: "end", fill: "var(--ink)" });
  }
}

/** Where type is too large for digits on squares: which image the core has a part of. */
function inLbOf({ parts }, core) {
  const own = parts.find((part) => part.core === core);
  return own ? `part of ${own.image}` : "image ?";
}

/** Which image conv3 computes on a core. */
function takes(sheet, { run, rooms, shown }) {
  if (!run.takes) return;
  run.takes.forEach((core, at) => {
    const { x, width } = rooms.desks[core];
    const words = shown > 0 ? [`conv3 of image ${run.images[at]}`, `image ${run.images[at]}`] : ["conv3 of image ?", inLbOf(run, core)];
    const text = sheet.fitting(words, width + GAP - 4);
    sheet.text(`takes${core}`, x + width / 2, rooms.desk + rooms.high + sheet.type * 1.15, text, { anchor: "middle", fill: "var(--ink)" });
  });
}

/** What slides between cores, with its bytes. */
function arrows(sheet, { run, rooms, opacity }) {
  run.moves.forEach(({ from, to, bytes }, at) => {
    const [x0, x1] = [from, to].map((core) => rooms.desks[core].x + rooms.desks[core].width / 2);
    const y = rooms.desk - 8;
    const top = y - Math.min(34, (rooms.desk - rooms.gb - rooms.high) * 0.6);
    sheet.path(`move${at}`, `M${x0} ${y}C${x0} ${top} ${x1} ${top} ${x1} ${y}`, { stroke: "var(--ink)", "stroke-width": 2, opacity });
    sheet.path(`move${at}.tip`, `M${x1 - 5} ${y - 9}L${x1} ${y}L${x1 + 5} ${y - 9}`, { stroke: "var(--ink)", "stroke-width": 2, opacity });
    sheet.text(`move${at}.bytes`, (x0 + x1) / 2, y - 0.75 * (y - top) - 7, kibText(sheet.number(`move_${at}_bytes`, bytes)), { anchor: "middle", fill: "var(--ink)", weight: 650, opacity });
  });
}

/** Images by the number of the core that computes each. */
export function imagesInLine({ images }, cores) {
  return cores.map((_, core) => images[cores.indexOf(core)]).join(", ");
}

/** Bytes between cores of the whole run, for two ways to hand out the images. */
function compare(sheet, data, { run, top, shown }) {
  if (shown <= 0) return;
  const y0 = top + sheet.type * 1.15;
  const cores = `cores 0 to ${data.cores - 1}`;
  const words = run.takes
    ? [`bytes between cores in the whole run, if ${cores} compute these images`, `between cores, by images of ${cores}`]
    : ["bytes between cores in the whole run", "between cores"];
  sheet.text("compared", LEFT, y0, sheet.fitting(words, WIDTH - 16), { fill: "var(--ink2)", opacity: shown });
  const rows = (run.takes ? data.compared : [{ takes: null, bytes: run.between_cores }]).map((way) => ({ ...way, name: way.takes ? imagesInLine(run, way.takes) : "" }));
  const row = Math.max(SQUARE + 10, sheet.type * 1.25);
  const labelled = run.takes ? Math.max(...rows.map(({ name }) => sheet.roomFor(name))) + 16 : 0;
  rows.forEach(({ name, bytes }, at) => {
    const middle = y0 + sheet.type * 0.4 + row * (at + 0.5);
    if (name) sheet.text(`way${at}`, LEFT, middle + sheet.type * 0.34, name, { weight: at ? 400 : 650, fill: "var(--ink)", opacity: shown });
    const chips = chipsOf(bytes);
    chips.forEach((share, place) => {
      sheet.chip(`way${at}.${place}`, { x: LEFT + labelled + place * SQUARE, y: middle - SQUARE / 2 }, share, sheet.colours.neutral, { opacity: shown });
    });
    sheet.number(`way_${at}_bytes`, bytes);
    sheet.text(`way${at}.bytes`, LEFT + labelled + (bytes / KIB) * SQUARE + 12, middle + sheet.type * 0.34, kibText(bytes), { fill: "var(--ink)", weight: at ? 400 : 650, opacity: shown });
  });
}

export const step5 = { ask: ASK, draw };
