// Depth first eats what it has just cooked: of any model, as bars of what waits in GB.

import { bytesText, grouped, phase, WIDTH } from "./kit.js";

const ASK = 0.6;
const LEFT = 8;
const LANES = [["breadth", "Breadth first"], ["depth", "Depth first"]];
const TICKS = 5;

/** A step of 1, 2 or 5 times a power of ten, so that `longest` has at most so many. */
export function niceStep(longest, most) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, longest / most)));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => longest / each <= most);
}

function draw(sheet, data, { time, isRevealed }) {
  const lanes = LANES.map(([name, title]) => ({ name, title, run: data.lanes[name] }));
  const longest = Math.max(...lanes.map(({ run }) => run.cycles));
  const most = Math.max(...lanes.map(({ run }) => run.peak));
  const axis = sheet.type * 1.5;
  const lane = (sheet.height - axis) / lanes.length;
  const first = Math.min(1, time / (ASK - 0.02)) * longest;
  const second = phase(time, ASK, 0.97) * longest;
  lanes.forEach(({ name, title, run }, at) => {
    const isHidden = name === "depth" && !isRevealed;
    const cycles = name === "depth" && isRevealed && time > ASK ? second : first;
    drawLane(sheet, { run, name, title, isHidden, cycles, top: at * lane, lane, longest, most, capacity: data.capacity });
  });
  sheet.ticks(longest, niceStep(longest, sheet.type > 26 ? 3 : TICKS), { left: LEFT, right: WIDTH - LEFT, y: sheet.height - axis });
}

function drawLane(sheet, { run, name, title, isHidden, cycles, top, lane, longest, most, capacity }) {
  const boxHeight = Math.max(26, sheet.type * 1.1);
  const boxTop = top + lane - boxHeight - sheet.type * 0.5;
  const floor = boxTop - 4;
  const ceiling = top + sheet.type * 2.9;
  const shownMost = capacity <= most * 2 ? Math.max(most, capacity) : most;
  const height = (bytes) => ((floor - ceiling) * bytes) / shownMost;
  const scale = (WIDTH - 2 * LEFT) / longest;
  sheet.number(`${name}_peak_bytes`, run.peak);
  sheet.number(`${name}_cycles`, run.cycles);
  head(sheet, { name, title, run, isDone: cycles >= longest && !isHidden, y: top + sheet.type * 1.2 });
  limit(sheet, { name, capacity, isInside: capacity <= shownMost, y: floor - height(capacity), ceiling });
  let isNamed = false;
  run.kernels.forEach((kernel, at) => {
    if (kernel.from > cycles) return;
    const [x0, x1] = [LEFT + kernel.from * scale, LEFT + kernel.to * scale];
    const shown = Math.min(x1, LEFT + cycles * scale);
    const hue = kernel.hue < 0 ? ["var(--rest)", "var(--on-rest)"] : [`var(--g${kernel.hue})`, `var(--o${kernel.hue})`];
    sheet.box(`${name}.kernel${at}`, x0 + 0.5, boxTop, Math.max(0.5, shown - x0 - 1), boxHeight, { fill: hue[0], ink: hue[1], text: kernel.name, size: 0.85 });
    if (kernel.to > cycles || isHidden) return;
    const bytes = sheet.number(`${name}_waiting_${at}`, kernel.waiting);
    const next = run.kernels[at + 1];
    const end = next ? LEFT + next.to * scale : WIDTH - LEFT;
    sheet.rect(`${name}.bar${at}`, x1, floor - height(bytes), Math.max(1, Math.min(end, LEFT + cycles * scale) - x1), height(bytes), { fill: sheet.colours.neutral, layer: 1 });
    if (bytes !== run.peak || isNamed) return;
    isNamed = true;
    const text = bytesText(bytes);
    const half = sheet.roomFor(text) / 2;
    const x = Math.min(WIDTH - LEFT - half, Math.max(LEFT + half, x1 + (Math.min(end, WIDTH - LEFT) - x1) / 2));
    sheet.text(`${name}.peak`, x, floor - height(bytes) - 5, text, { anchor: "middle", weight: 700, fill: "var(--ink)", stroke: "var(--card)", "stroke-width": 4, "paint-order": "stroke" });
  });
  if (isHidden) sheet.text(`${name}.hidden`, WIDTH / 2, (ceiling + floor) / 2, "?", { anchor: "middle", size: 2, weight: 650, fill: "var(--ink3)" });
}

/** GB's capacity as a line; above the picture where it is more than twice of all that waits. */
function limit(sheet, { name, capacity, isInside, y, ceiling }) {
  const words = `GB has ${bytesText(capacity)}`;
  if (!isInside) {
    sheet.text(`${name}.gb`, WIDTH - LEFT, ceiling - sheet.type * 0.4, `${words}, above this picture`, { anchor: "end", fill: "var(--ink3)", size: 0.9 });
    return;
  }
  sheet.line(`${name}.gb.line`, LEFT, y, WIDTH - LEFT, y, { stroke: sheet.colours.capacity, "stroke-width": 2, layer: 2 });
  sheet.text(`${name}.gb`, WIDTH - LEFT, y - 4, words, { anchor: "end", fill: "var(--ink2)", size: 0.9 });
}

function head(sheet, { name, title, run, isDone, y }) {
  sheet.text(`${name}.title`, LEFT, y, title, { weight: 650, fill: "var(--ink)" });
  if (!isDone) return;
  const room = WIDTH - 2 * LEFT - sheet.roomFor(title) * 1.1 - sheet.type;
  const texts = [`at most ${bytesText(run.peak)} wait in GB, ${grouped(run.cycles)} cycles`, `at most ${bytesText(run.peak)} wait in GB`, `at most ${bytesText(run.peak)}`];
  sheet.text(`${name}.end`, WIDTH - LEFT, y, sheet.fitting(texts, room), { anchor: "end" });
}

export const yourStep4 = { ask: ASK, draw };
