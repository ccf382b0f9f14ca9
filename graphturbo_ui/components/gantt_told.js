// What the Gantt chart says of an instruction, of a folded row and of a memory; stepping order.

import { boxText, bytesText, secondsText } from "./canvas_kit.js";
import { accumulate, flightIn } from "./gantt_pixels.js";
import { HELD_UP, KINDS, SLOTS, WAITS } from "./gantt_rows.js";
import { book, bookingOf, named, shareText } from "./gantt_span.js";
import { hasRounds, isRepeat, repeatText, roundAt } from "./rounds.js";
import { GUTTER, lastUpTo } from "./time_axis.js";

/** Op, kind, tile, bytes and times of an instruction, and what it waited for and how long. */
export function toldOf(run, { index, at }) {
  const { tile, layer, group, start, hold, busy_share: part } = run.arrays;
  const row = run.rows.find(({ from, to }) => index >= from && index < to);
  const scale = run.seconds_per_cycle;
  const lines = [nameOf(run, index), `${row.label} · tile ${tile[index] + 1}`, madeBy(run, index)];
  if (layer[index] >= 0) lines.push(`layer ${layer[index] + 1}: ${run.layers[layer[index]]}`);
  if (group[index] >= 0) lines.push(`sub-graph ${run.groups[group[index]]}`);
  lines.push(...bytesOf(run, index));
  const begun = secondsText((at + start[index]) * scale);
  lines.push(`starts ${begun}, takes ${secondsText(hold[index] * scale)} (${hold[index]} cycles)`);
  if (part && part[index] < 1) lines.push(`the cores it stands for are busy ${shareText(part[index])} of that`);
  lines.push(waitOf(run, index, row), ...pathLines(run, index));
  if (hasRounds(run)) lines.push(`round ${roundAt(run, at).number} of ${run.rounds}${isRepeat(run, at) ? ", a repeat of the first" : ""}`);
  return lines;
}

/** What an instruction has on the critical path: how long, and why the next one waits for it. */
function pathLines(run, index) {
  const { path, path_start, path_end, path_resource, path_holds_up } = run.arrays;
  const lines = [];
  for (let n = bookingOf(path, index); path[n] === index; n++) {
    const length = secondsText((path_end[n] - path_start[n]) * run.seconds_per_cycle);
    lines.push(`critical path: ${length} of ${run.resources[path_resource[n]]}; the next one waits for ${HELD_UP[path_holds_up[n]]}`);
  }
  return lines;
}

/** `makes [0:2, 0:64]` of a compute's result, or `moves weight [0:64]`. */
function madeBy(run, index) {
  const { moved, axes, cut, cut_lo, cut_hi } = run.arrays;
  const cutOf = (axis) => cut[index * run.columns + axis];
  const box = boxText(axes[index], (axis) => [cut_lo[cutOf(axis)], cut_hi[cutOf(axis)]]);
  return moved[index] < 0 ? `makes ${box}` : `moves ${run.tensors[moved[index]]} ${box}`;
}

function nameOf(run, index) {
  const { op, kind } = run.arrays;
  return op[index] < 0 ? KINDS[kind[index]] : `${run.ops[op[index]]} (${KINDS[kind[index]]})`;
}

/** Bytes moved, and those that cross DRAM or GB by cause. */
function bytesOf(run, index) {
  const { size_bytes, booked_at } = run.arrays;
  const ways = new Float64Array(2 * run.causes.length);
  book(run.arrays, ways, bookingOf(booked_at, index), index, 1);
  const parts = Object.entries(named(run.causes, ways)).map(([way, size]) => `${way} ${bytesText(size)}`);
  if (!size_bytes[index] && !parts.length) return [];
  return [`${bytesText(size_bytes[index])} moved${parts.length ? `: ${parts.join(", ")}` : ""}`];
}

/** The gap before an instruction on its engine, and the last reason for it. */
function waitOf(run, index, row) {
  const { start, hold, wait, wait_on } = run.arrays;
  const free = index > row.from ? start[index - 1] + hold[index - 1] : 0;
  const gap = start[index] - free;
  if (!wait[index] || gap <= 0) return "waited for nothing";
  const other = wait_on[index] < 0 ? "" : `: ${nameOf(run, wait_on[index])}`;
  return `waited ${secondsText(gap * run.seconds_per_cycle)} (${gap.toLocaleString("en")} cycles), at last for ${WAITS[wait[index]]}${other}`;
}

/** What is told where no single instruction is: the share of a column, or bytes of a memory. */
export function toldAt(at, x) {
  if (!at || x < GUTTER) return at?.row?.core >= 0 ? ["click folds or opens this core"] : [];
  const { pane: { run }, row, strip, isFlight, round, cycle, local, perPixel } = at;
  const time = secondsText(cycle * run.seconds_per_cycle);
  if (round && !round.part.isDrawn) return [repeatText(round.part, 0)];
  if (!round) return [`${run.name} has ended`];
  if (isFlight) {
    const { mean, most } = flightIn(run, local, Math.min(run.cycles, local + perPixel));
    return ["layers in flight", `${mean.toFixed(2)} on average, ${most} at most in this column, at ${time}`];
  }
  if (strip) {
    const held = strip.bytes[lastUpTo(strip.cycle, local)] || 0;
    return [strip.label, `${bytesText(held)} of ${bytesText(strip.capacity)} at ${time}`, `at most ${bytesText(strip.peak)} in this round`];
  }
  const slice = new Float32Array(SLOTS);
  const part = row.kind === "overlap" ? undefined : run.arrays.busy_share;
  accumulate(slice, row, null, part, local - perPixel / 2, perPixel, 1);
  const share = shareText(slice[0] / row.share);
  return row.ranges.length > 1 || row.kind === "overlap" ? [row.label, `${share} of this column's time, at ${time}`] : [];
}

/** Selected instructions by start; of the picked one's engine where nothing is selected. */
export function steppedOf(run, flags, pick) {
  const { op, start } = run.arrays;
  const list = [];
  if (flags) {
    op.forEach((own, i) => own >= 0 && flags[own] && list.push(i));
    return list.sort((a, b) => start[a] - start[b] || a - b);
  }
  const row = run.rows.find(({ from, to }) => pick.index >= from && pick.index < to);
  for (let i = row.from; i < row.to; i++) list.push(i);
  return list;
}
