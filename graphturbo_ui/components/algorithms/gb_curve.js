// The bytes in GB over one round: a step curve under its capacity, and the kernels below it.

import { hueFill } from "../overview/draw.js";
import { sizeText, tickTexts, timeTicks } from "../overview/words.js";

const HUES = 5;
const HEIGHT = 120;
const STRIP = 16;

/** SVG path of a step function: values hold from their cycle to the next one. */
export function stepPath(cycles, values, end, toX, toY) {
  let path = `M${toX(0)} ${toY(0)}`;
  for (let n = 0; n < cycles.length; n += 1) {
    const x = toX(cycles[n]).toFixed(1);
    path += `H${x}V${toY(values[n]).toFixed(1)}`;
  }
  return `${path}H${toX(end).toFixed(1)}V${toY(0)}Z`;
}

/** Draw it into the room right of `left`, from `top`; its height. */
export function drawGbCurve(pen, run, kernel, { left, top, width }) {
  const { order } = run;
  const capacity = order.capacity_bytes;
  const toX = (cycle) => left + (cycle / Math.max(1, order.cycles)) * (width - left - 10);
  const toY = (size) => top + HEIGHT * (1 - size / capacity);
  const own = order.kernels[kernel];
  if (!capacity) {
    pen.text(0, top - 14, "This chip has no GB: results wait in LB or DRAM.");
    return 0;
  }
  pen.rect(left, top, width - left - 10, HEIGHT, "var(--track)");
  const hue = run.hue_of_group[own.group];
  const [from, to] = [toX(own.start), Math.max(toX(own.start) + 2, toX(own.end))];
  pen.rect(from, top, to - from, HEIGHT, hueFill(hue, HUES), { opacity: 0.3 });
  const path = stepPath(run.gb_cycle, run.gb_bytes, order.cycles, toX, toY);
  pen.add("path", { d: path, fill: "var(--edge)", opacity: 0.45, "data-curve": "gb" });
  const id = `gb-until-${run.name}`;
  const clip = pen.add("clipPath", { id });
  const box = document.createElementNS(clip.namespaceURI, "rect");
  for (const [name, value] of Object.entries({ x: 0, y: top - 2, width: Math.max(0, toX(own.end)), height: HEIGHT + 4 })) box.setAttribute(name, String(value));
  clip.append(box);
  pen.add("path", { d: path, fill: "var(--ink2)", "clip-path": `url(#${id})` });
  pen.line(left, toY(capacity), width - 10, toY(capacity), "var(--ink)", { "stroke-width": 1.5, "stroke-dasharray": "5 4" });
  for (const size of [0, capacity / 2, capacity]) pen.text(left - 7, toY(size) + 4, sizeText(size, true), { size: 12, anchor: "end" });
  const foot = top + HEIGHT + 4;
  order.kernels.forEach(({ start, end, group }, at) => {
    const room = toX(end) - toX(start);
    const node = pen.rect(toX(start), foot, Math.max(0.5, room - (room > 3 ? 1 : 0)), STRIP, hueFill(run.hue_of_group[group], HUES), { rx: room > 6 ? 2 : 0 });
    node.dataset.run = at;
  });
  pen.rect(from - 1, top - 5, to - from + 2, HEIGHT + STRIP + 11, "none", { stroke: "var(--ink)", "stroke-width": 2, rx: 3 });
  const seconds = run.seconds_per_cycle;
  const ticks = timeTicks(0, order.cycles * seconds, 6);
  tickTexts(ticks).forEach((text, n) => {
    pen.text(toX(ticks[n] / seconds), foot + STRIP + 15, text, { size: 12, anchor: ticks[n] ? "middle" : "start" });
  });
  pen.text(0, foot + STRIP - 4, "kernels", { size: 12.5 });
  pen.text(0, top - 14, "Bytes in GB over one round, dashed: its capacity", { size: 12.5 });
  pen.text(0, foot + STRIP + 15, "time", { size: 12.5 });
  return HEIGHT + STRIP + 28;
}
