// What is drawn over the Gantt chart's pixels: titles, labels, axes, numbers and marks; the legend.

/** All bars and strips of all panes as one image, made anew where something of it changed. */
function rasterOf(gantt, ratio) {
  const [w, h] = [Math.floor(gantt.plot * ratio), Math.round(gantt.height * ratio)];
  const made = JSON.stringify([w, h, ratio, gantt.windows, gantt.version, gantt.theme.background]);
  if (gantt.layer?.made === made) return gantt.layer;
  gantt.layer ||= document.createElement("canvas");
  Object.assign(gantt.layer, { width: w, height: h, made });
  const image = new ImageData(w, h);
  const pixels = new Uint32Array(image.data.buffer);
  const shares = new Float32Array(w * SLOTS);
  const inks = gantt.colours().map(word);
  const overlap = new Array(SLOTS).fill(word(PALETTE.overlap));
  for (const pane of gantt.panes) {
    const { t0, t1 } = gantt.windows[pane.number];
    const perPixel = (t1 - t0) / w;
    pane.rows.forEach((row, index) => {
      const isOverlap = row.kind === "overlap";
      const part = isOverlap ? undefined : pane.run.arrays.busy_share;
      accumulate(shares, row, isOverlap ? null : gantt.slots[pane.number], part, t0, perPixel, w);
      const top = Math.round((pane.first + index * pane.height + 1) * ratio);
      const height = Math.max(1, Math.round((pane.height - 2) * ratio));
      paintRow(pixels, w, top, height, shares, w, row.share, isOverlap ? overlap : inks);
    });
    for (const strip of pane.strips) {
      const [top, height] = [Math.round(strip.top * ratio), Math.round(STRIP * ratio)];
      paintSteps(pixels, w, top, height, strip, t0, perPixel, word(PALETTE.memory));
    }
  }
  gantt.layer.getContext("2d").putImageData(image, 0, 0);
  return gantt.layer;
}

/** Title, labels, row lines, numbers in wide bars, strips and the time axis of a pane. */
function dress(pen, gantt, pane, width) {
  const { text, border, font } = gantt.theme;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.fillStyle = text;
  pen.font = `600 13px ${font}`;
  pen.fillText(fitted(pen, titleOf(gantt, pane), width - 16), 8, pane.top + 12);
  pen.font = `12px ${font}`;
  pen.fillText(fitted(pen, factsOf(gantt, pane), width - 16), 8, pane.top + 29);
  pen.font = `11px ${font}`;
  pane.rows.forEach((row, index) => {
    const y = pane.first + index * pane.height;
    pen.fillStyle = text;
    pen.fillText(fitted(pen, row.label, GUTTER - 12), 8, y + pane.height / 2 + 0.5);
    pen.fillStyle = border;
    pen.fillRect(0, y, width, row.core !== pane.rows[index - 1]?.core ? 1 : 0.3);
  });
  for (const strip of pane.strips) dressStrip(pen, gantt, strip, width);
  if (gantt.options.colourBy === "layer" || gantt.options.colourBy === "group") numberBars(pen, gantt, pane);
  drawTimeAxis(pen, gantt, pane);
}

function titleOf(gantt, { run }) {
  const name = gantt.runs.length > 1 ? `${run.name} · ${run.title}` : run.title;
  const length = secondsText(run.cycles * run.seconds_per_cycle);
  const whole = run.rounds > 1 ? `the first of ${run.rounds} rounds, ${length}` : `the whole batch, ${length}`;
  return `${name} — ${whole}`;
}

/** What is marked in a pane, in numbers. */
function factsOf(gantt, { run, number }) {
  const shown = shareText(run.overlapShare);
  const facts = [`layers overlap ${shown} of the cores' time, the sum of the marked stretches`];
  if (Math.abs(run.overlapShare - run.overlap_share) > 1e-6) {
    facts[0] += ` (${shareText(run.overlap_share)} over all rounds and clusters)`;
  }
  if (gantt.options.isCritical) {
    const length = secondsText(run.critical_cycles * run.seconds_per_cycle);
    facts.push(`critical path ${length} (${shareText(run.critical_cycles / run.cycles)}): `
      + `${run.arrays.critical.length.toLocaleString("en")} instructions, launches and barriers`);
  }
  if (gantt.flags) facts.push(`selected: ${gantt.counts[number].toLocaleString("en")} instructions`);
  return facts.join(" · ");
}

/** Label, frame and capacity line of an occupancy strip. */
function dressStrip(pen, gantt, strip, width) {
  pen.fillStyle = gantt.theme.text;
  pen.font = `11px ${gantt.theme.font}`;
  pen.fillText(fitted(pen, strip.label, GUTTER - 12), 8, strip.top + 9);
  pen.fillText(fitted(pen, `of ${bytesText(strip.capacity)}`, GUTTER - 12), 8, strip.top + 23);
  pen.fillStyle = gantt.theme.border;
  pen.fillRect(0, strip.top - 2, width, 1);
  const y = strip.top + STRIP * (1 - strip.capacity / scaleOf(strip));
  pen.fillStyle = PALETTE.capacity;
  for (let x = GUTTER; x < GUTTER + gantt.plot; x += 9) pen.fillRect(x, y - 0.75, 6, 1.5);
}

/** Layer or group numbers in bars wide enough to hold them: ten colours repeat, numbers do not. */
function numberBars(pen, gantt, pane) {
  const { t0, t1 } = gantt.windows[pane.number];
  const perCycle = gantt.plot / (t1 - t0);
  const { start, hold, layer, group } = pane.run.arrays;
  const [named, slots] = [gantt.options.colourBy === "layer" ? layer : group, gantt.slots[pane.number]];
  const inks = gantt.colours().map(inkOn);
  pen.textAlign = "center";
  pen.font = `10px ${gantt.theme.font}`;
  pane.rows.forEach((row, index) => {
    if (row.ranges.length !== 1 || row.kind === "overlap") return;
    const [{ from, to }] = row.ranges;
    const y = pane.first + (index + 0.5) * pane.height + 0.5;
    for (let i = firstAfter(start, hold, from, to, t0), n = 0; i < to && n < 400; i++) {
      if (start[i] >= t1) break;
      if (hold[i] * perCycle < 10 || named[i] < 0) continue;
      const label = String(named[i] + 1);
      if (hold[i] * perCycle < 6 * label.length + 4) continue;
      const x = GUTTER + (Math.max(start[i], t0) + Math.min(start[i] + hold[i], t1) - 2 * t0) / 2 * perCycle;
      pen.fillStyle = inks[slots[i]];
      pen.fillText(label, x, y);
      n += 1;
    }
  });
  pen.textAlign = "left";
}

/** A line along the upper edge of what is on the longest path, and from one to the next of it. */
function markCritical(pen, gantt, pane) {
  const { t0, t1 } = gantt.windows[pane.number];
  const { start, hold } = pane.run.arrays;
  const perCycle = gantt.plot / (t1 - t0);
  pen.fillStyle = gantt.theme.text;
  pane.rows.forEach((row, index) => {
    if (row.kind === "overlap") return;
    let drawn = -1;
    for (const { from, to } of row.ranges) {
      for (let at = bookingOf(pane.run.path, from); pane.run.path[at] < to; at++) {
        const i = pane.run.path[at];
        if (start[i] >= t1) break;
        const right = clamp((start[i] + hold[i] - t0) * perCycle, 0, gantt.plot);
        const left = Math.max(0, (start[i] - t0) * perCycle);
        if (right <= 0 || right <= drawn) continue;
        drawn = Math.max(right, left + 1.5);
        pen.fillRect(GUTTER + left, pane.first + index * pane.height, drawn - left, 2.5);
      }
    }
  });
  linkCritical(pen, gantt, pane);
}

/** Lines between the path's instructions, where those in sight are few enough to be told apart. */
function linkCritical(pen, gantt, pane) {
  const { t0, t1 } = gantt.windows[pane.number];
  const { start, hold, critical } = pane.run.arrays;
  const inSight = critical.filter((i) => start[i] < t1 && start[i] + hold[i] > t0);
  if (inSight.length > 150) return;
  pen.strokeStyle = gantt.theme.text;
  pen.lineWidth = 1;
  pen.beginPath();
  let from = null;
  for (const i of inSight) {
    const at = gantt.place(pane, i);
    if (!at) continue;
    if (from && Math.max(from.w, at.w) >= 4) {
      pen.moveTo(from.x + from.w, from.y + 1);
      pen.lineTo(at.x, at.y + 1);
    }
    from = at;
  }
  pen.stroke();
}

/** Outline of the picked instruction, and a line to the one it waited for. */
function markPick(pen, gantt) {
  if (!gantt.pick) return;
  const pane = gantt.panes[gantt.pick.pane];
  const at = gantt.place(pane, gantt.pick.index);
  if (!at) return;
  pen.strokeStyle = gantt.theme.text;
  pen.lineWidth = 2;
  pen.strokeRect(at.x, at.y, Math.max(3, at.w), pane.height);
  const other = pane.run.arrays.wait_on[gantt.pick.index];
  const from = other < 0 ? null : gantt.place(pane, other);
  if (!from) return;
  pen.setLineDash([4, 3]);
  pen.strokeRect(from.x, from.y, Math.max(3, from.w), pane.height);
  pen.beginPath();
  pen.moveTo(from.x + from.w, from.y + pane.height / 2);
  pen.lineTo(at.x, at.y + pane.height / 2);
  pen.stroke();
  pen.setLineDash([]);
}

/** The marked span over all panes, each at its own window: its ground behind the bars, or its ends. */
function markSpan(pen, gantt, isGround) {
  if (!gantt.span) return;
  pen.fillStyle = gantt.theme.text;
  for (const pane of gantt.panes) {
    const { t0, t1 } = gantt.windows[pane.number];
    const [left, right] = [gantt.span.t0, gantt.span.t1].map(
      (cycle) => GUTTER + clamp((cycle - t0) / (t1 - t0), 0, 1) * gantt.plot,
    );
    const height = pane.foot - pane.first;
    if (isGround) {
      pen.globalAlpha = 0.14;
      pen.fillRect(left, pane.first, right - left, height);
      pen.globalAlpha = 1;
    } else {
      pen.fillRect(left, pane.first, 1.5, height);
      pen.fillRect(right - 1.5, pane.first, 1.5, height);
    }
  }
}

/** [name, colour] of every colour in the chart, by how it is coloured and what is selected. */
function legendOf(gantt) {
  const { colourBy } = gantt.options;
  const colours = gantt.colours();
  const entries = [];
  if (colourBy === "kind") PALETTE.kindNames.forEach((name, i) => entries.push([name, colours[i]]));
  else if (colourBy === "wait") WAITS.forEach((name, i) => entries.push([`waited for ${name}`, colours[i]]));
  else entries.push(...ownerEntries(gantt, colours));
  if (gantt.flags && (colourBy === "kind" || colourBy === "wait")) entries.push(["not selected", colours[DIM]]);
  entries.push(["two or more layers at once on a core", PALETTE.overlap]);
  entries.push(["held of a memory (most in the column's time)", PALETTE.memory], ["its capacity", PALETTE.capacity]);
  return entries;
}

/** Entries by layer or sub-graph: names where they are few, places around what is selected. */
function ownerEntries(gantt, colours) {
  const what = gantt.options.colourBy === "layer" ? "layer" : "sub-graph";
  const names = gantt.runs.map((run) => (what === "layer" ? run.layers : run.groups));
  if (gantt.flags) {
    return [
      ["selected", colours[0]],
      ...[1, 2, 3, 4].map((n) => [`${n} ${what}${n > 1 ? "s" : ""} before`, colours[n]]),
      ...[1, 2, 3, 4].map((n) => [`${n} after`, colours[NEAR + n]]),
      ["around the selected", colours[9]], ["further away: the number tells", colours[DIM]],
    ];
  }
  const isSame = names.every((own) => own.join("\n") === names[0].join("\n"));
  if (isSame && names[0].length <= DIM) return names[0].map((name, i) => [`${i + 1} ${name}`, colours[i]]);
  const inTurn = colours.slice(0, DIM).map((colour, i) => [i < DIM - 1 ? `${i + 1},` : `${i + 1}, and so on in turn`, colour]);
  return [[`${what} number:`, null], ...inTurn, [`of no ${what}`, colours[DIM]]];
}

function fillLegend(root, gantt) {
  root.querySelector(".legend").replaceChildren(...legendOf(gantt).map(([name, colour]) => {
    const entry = document.createElement("span");
    const swatch = document.createElement("i");
    swatch.style.background = colour || "none";
    entry.append(...(colour ? [swatch, name] : [name]));
    return entry;
  }));
}
