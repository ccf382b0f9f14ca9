// A marked span of time: how it is marked (Shift + drag, M), what is measured of it, the panel.

import { bytesText, clamp, secondsText } from "./canvas_kit.js";
import { firstAfter } from "./gantt_pixels.js";
import { spelled } from "./gantt_rows.js";

/**
 * What a run does in [t0, t1) of its cycles, all drawn rounds counted; an instruction counts by its
 * share of time inside. `left`: cycles of rounds that are not drawn.
 */
function measured(run, t0, t1) {
  const found = { cycles: {}, engines: {}, layers: new Set(), ways: new Float64Array(2 * run.causes.length) };
  for (const { kind, cores } of run.rows) {
    found.engines[kind] = (found.engines[kind] || 0) + cores;
    found.cycles[kind] = 0;
  }
  for (const [from, to, times] of localSpans(run, t0, t1)) measureRound(run, from, to, times, found);
  const busy = Object.fromEntries(Object.entries(found.cycles).map(([kind, cycles]) => [kind, cycles / (found.engines[kind] * (t1 - t0))]));
  return { busy, bytes: named(run.causes, found.ways), layers: [...found.layers].sort((a, b) => a - b), left: undrawn(run, t0, t1) };
}

/** [from, to, how often] of the drawn round's cycles in [t0, t1): parts of it, and whole rounds. */
function localSpans(run, t0, t1) {
  const spans = [];
  for (const { at, cycles, count, isDrawn } of run.parts) {
    if (!isDrawn || !cycles) continue;
    const [first, last] = [t0, t1].map((cycle) => clamp(cycle - at, 0, cycles * count));
    if (last <= first) continue;
    const [n, m] = [Math.min(count - 1, Math.floor(first / cycles)), Math.min(count - 1, Math.floor(last / cycles))];
    if (n === m) {
      spans.push([first - n * cycles, last - n * cycles, 1]);
      continue;
    }
    spans.push([first - n * cycles, cycles, 1]);
    if (m - n > 1) spans.push([0, cycles, m - n - 1]);
    if (last > m * cycles) spans.push([0, last - m * cycles, 1]);
  }
  return spans;
}

/** Cycles of [t0, t1) in rounds that are not drawn. */
function undrawn(run, t0, t1) {
  return run.parts.filter(({ isDrawn }) => !isDrawn).reduce((sum, { at, cycles, count }) => (
    sum + Math.max(0, Math.min(t1, at + cycles * count) - Math.max(t0, at))
  ), 0);
}

/** Add what one round does in [t0, t1), so many times, to `found`. */
function measureRound(run, t0, t1, times, { cycles, layers, ways }) {
  const { start, hold, layer, busy_share: part } = run.arrays;
  for (const { kind, cores, from, to } of run.rows) {
    const first = firstAfter(start, hold, from, to, t0 - 0.5);
    let booking = bookingOf(run.arrays.booked_at, first);
    for (let i = first; i < to && start[i] < t1; i++) {
      const inside = Math.min(start[i] + hold[i], t1) - Math.max(start[i], t0);
      const share = hold[i] ? Math.max(0, inside) / hold[i] : Number(start[i] >= t0);
      if (share > 0 && layer[i] >= 0) layers.add(layer[i]);
      cycles[kind] += times * share * hold[i] * cores * (part ? part[i] : 1);
      booking = book(run.arrays, ways, booking, i, times * share);
    }
  }
}

/** First booking of instruction `index` or one after it. */
export function bookingOf(bookedAt, index) {
  let [low, high] = [0, bookedAt.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bookedAt[middle] < index) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Add `share` of the bytes of instruction `index` to `ways`; gives the booking after its last. */
export function book({ booked_at, booked_way, booked_bytes }, ways, booking, index, share) {
  while (booking < booked_at.length && booked_at[booking] <= index) {
    ways[booked_way[booking]] += share * booked_bytes[booking];
    booking += 1;
  }
  return booking;
}

/** {"DRAM input": bytes, …} of the causes that occur. */
export function named(causes, ways) {
  const bytes = {};
  ways.forEach((size, way) => {
    const memory = way < causes.length ? "DRAM" : "GB";
    if (size > 0) bytes[`${memory} ${causes[way % causes.length]}`] = size;
  });
  return bytes;
}

/** Shift + drag over `canvas`: `drag(x0, x1, y, isDone)`. Before bindCanvas, whose drag pans. */
export function bindSpan(canvas, drag) {
  let begin = null;
  const on = (name, hear) => canvas.addEventListener(name, hear);
  on("pointerdown", (event) => {
    if (!event.shiftKey) return;
    begin = { x: event.offsetX, y: event.offsetY };
    canvas.focus();
    event.preventDefault();
    event.stopImmediatePropagation();
  });
  on("pointermove", (event) => {
    if (!begin) return;
    event.stopImmediatePropagation();
    drag(begin.x, event.offsetX, begin.y, false);
  });
  on("pointerup", (event) => {
    if (!begin) return;
    event.stopImmediatePropagation();
    drag(begin.x, event.offsetX, begin.y, true);
    begin = null;
  });
}

/** The table of a marked span: a column a run. */
export function fillPanel(panel, gantt) {
  const { span, runs } = gantt;
  panel.hidden = !span;
  if (!span) return panel.replaceChildren();
  const found = runs.map((run) => measured(run, span.t0, span.t1));
  gantt.canvas.dataset.span = JSON.stringify({ ...span, runs: found });
  const scale = runs[0].seconds_per_cycle;
  const cycles = span.t1 - span.t0;
  const title = element("h4", `Marked: ${secondsText(cycles * scale)} (${cycles.toLocaleString("en")} cycles), `
    + `from ${secondsText(span.t0 * scale)} to ${secondsText(span.t1 * scale)}`);
  const table = element("table", "");
  table.append(tableRow("th", ["", ...runs.map((run) => (runs.length > 1 ? `${run.name} · ${run.title}` : run.title))]));
  for (const line of panelLines(runs, found)) table.append(tableRow("td", line));
  panel.replaceChildren(title, table, element("p", "An instruction that lies partly in the span "
    + "counts by its share of time, its bytes too. Busy: mean over the cluster's engines of a kind."
    + `${leftText(runs, found)} Esc clears.`));
}

/** Says which time of the span lies in rounds that are not drawn. */
function leftText(runs, found) {
  return runs.map((run, r) => (
    found[r].left ? ` ${run.name}: ${secondsText(found[r].left * run.seconds_per_cycle)} lie in a round that is not drawn and are left out.` : ""
  )).join("");
}

/** Texts of every line: its name, and what each run did. */
function panelLines(runs, found) {
  const kinds = [...new Set(found.flatMap(({ busy }) => Object.keys(busy)))].map((kind) => [
    `${spelled(kind)} busy`, ...found.map(({ busy }) => (kind in busy ? shareText(busy[kind]) : "–")),
  ]);
  const bytes = runs[0].causes.filter((cause) => (
    found.some((one) => one.bytes[`DRAM ${cause}`] || one.bytes[`GB ${cause}`])
  )).map((cause) => [`bytes: ${cause}`, ...found.map((one) => (
    ["DRAM", "GB"].map((memory) => [memory, one.bytes[`${memory} ${cause}`]]).filter(([, size]) => size)
      .map(([memory, size]) => `${memory} ${bytesText(Math.round(size))}`).join(", ") || "none"
  ))]);
  const layers = found.map((one, r) => layersText(one.layers, runs[r].layers));
  return [...kinds, ...bytes, ["layers in flight", ...layers]];
}

function layersText(indices, names) {
  const shown = indices.slice(0, 6).map((index) => `${index + 1} ${names[index]}`).join(", ");
  const more = indices.length > 6 ? ` and ${indices.length - 6} more` : "";
  return indices.length ? `${indices.length}: ${shown}${more}` : "none";
}

export function shareText(share) {
  return `${(share * 100).toFixed(1)} %`;
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function tableRow(cell, texts) {
  const row = document.createElement("tr");
  row.append(...texts.map((text, i) => {
    const made = element(i ? cell : "th", text);
    if (made.tagName === "TH") made.scope = cell === "th" ? "col" : "row";
    return made;
  }));
  return row;
}
