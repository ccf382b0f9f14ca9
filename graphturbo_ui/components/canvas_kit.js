// What all canvases share: reading the buffer, theme, frame loop, keys, wheel, pointer, hover.

import { whenPrinted } from "./printed.js";

/** Header and typed arrays (laid out in report/canvases/canvas.py) and the time that sources.stamped added. */
export function readBuffer(data) {
  let bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  if (bytes.byteOffset % 8) bytes = bytes.slice();
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const types = {
    "<f8": Float64Array, "<i4": Int32Array, "<i2": Int16Array, "<u4": Uint32Array, "|u1": Uint8Array,
    "<u2": Uint16Array, "<f4": Float32Array,
  };
  const base = bytes.byteOffset + 4 + length;
  const arrays = {};
  for (const [name, type, offset, count] of header.arrays) {
    arrays[name] = new types[type](bytes.buffer, base + offset, count);
  }
  const sent = new DataView(bytes.buffer, bytes.byteOffset + bytes.byteLength - 8).getFloat64(0, true);
  return { header, arrays, sent };
}

/** Whether `view` shows something newer: calls that waited for this script come in any order. */
export function isLate(view, buffer) {
  if (buffer.sent < view.sent) return true;
  view.sent = buffer.sent;
  return false;
}

/**
 * What all canvases of the page share. `selected`: "b-group-3" as in selection.py, empty for none;
 * `windows`: [[first, last], …] in cycles, a run each, or null for all of the time. `serial`: of
 * what Python gave last (components/link.py).
 */
export const common = (window.graphturboCommon ||= Object.assign(new EventTarget(), {
  selected: "", windows: null, serial: 0,
}));

/** Tell the other canvases: `name` is `selected` or `windows`, `owner` the canvas that changed it. */
export function share(name, value, owner) {
  if (JSON.stringify(common[name]) === JSON.stringify(value)) return;
  common[name] = value;
  common.dispatchEvent(new CustomEvent(name, { detail: owner }));
}

/** Call `heard(value)` whenever another canvas changes `name`, as long as `canvas` is shown. */
export function follow(name, canvas, heard) {
  const listen = ({ detail }) => {
    if (!canvas.isConnected) common.removeEventListener(name, listen);
    else if (detail !== canvas) heard(common[name]);
  };
  common.addEventListener(name, listen);
}

/** {run, kind, index} of "b-group-3"; null for none. */
export function readSelected(text) {
  const parts = /^([ab])-(group|layer|op)-(\d+)$/.exec(text || "");
  return parts && { run: parts[1].toUpperCase(), kind: parts[2], index: Number(parts[3]) };
}

/**
 * Of each run a flag per op that is selected, or null where nothing is. A run of `runs` has its
 * `name`, and in `arrays` the `op_group`, `op_layer` and `op_origin` of every op. Runs share the
 * origins, not always the ops: in other runs than its own, what comes from the same is selected.
 */
export function selectedOps(text, runs) {
  const found = readSelected(text);
  const run = found && runs.find((other) => other.name === found.run);
  if (!run) return null;
  const { op_group, op_layer, op_origin } = run.arrays;
  const owners = { group: op_group, layer: op_layer }[found.kind];
  const own = Uint8Array.from(op_group, (_, op) => Number((owners ? owners[op] : op) === found.index));
  const origins = new Set(op_origin.filter((_, op) => own[op]));
  return runs.map((other) => (
    other === run ? own : Uint8Array.from(other.arrays.op_origin, (origin) => Number(origins.has(origin)))
  ));
}

/** Colours and font of Streamlit's present theme. */
export function readTheme(host) {
  const style = getComputedStyle(host);
  const read = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
  const text = read("--st-text-color", "#31333f");
  const isDark = inkOn(text) !== "#ffffff";
  return {
    text,
    hues: PALETTE.hues[isDark ? "dark" : "light"],
    /** A muted colour as it is seen on the theme's ground. */
    lit: (colour) => (isDark && PALETTE.lit[colour]) || colour,
    background: read("--st-background-color", "#ffffff"),
    panel: read("--st-secondary-background-color", "#f0f2f6"),
    border: read("--st-border-color", "#d0d2d8"),
    primary: read("--st-primary-color", "#0072b2"),
    font: read("--st-font", "sans-serif"),
  };
}

/** What a colour of the hues stands for, without those that no layer has: [[title, colour], …]. */
export function hueEntries({ titles, of_layer }, colours) {
  const used = new Set(of_layer);
  return colours.map((colour, hue) => [titles[hue] ?? "other", colour]).filter((_, hue) => used.has(hue));
}

/**
 * [r, g, b] of `#rrggbb`.
 *
 * @returns {[number, number, number]}
 */
export function channels(colour) {
  const value = parseInt(colour.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** Black or white, whichever reads better on `colour` (WCAG relative luminance). */
export function inkOn(colour) {
  const linear = channels(colour).map((c) => {
    const part = c / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? "#000000" : "#ffffff";
}

export function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

/** `text` shortened to fit `width` pixels in the canvas' present font. */
export function fitted(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? text.slice(0, low) + "…" : "";
}

/** `[0:2, 0:64]`: a box of so many axes; `endsOf(axis)` gives its first and end index. */
export function boxText(axes, endsOf) {
  return `[${Array.from({ length: axes }, (_, axis) => endsOf(axis).join(":")).join(", ")}]`;
}

/** `head` and the end of `name`, where names of ops differ, within `width` pixels. */
export function fittedTail(pen, head, name, width) {
  if (pen.measureText(head + name).width <= width) return head + name;
  let low = 0;
  let high = name.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`${head}…${name.slice(-middle)}`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? `${head}…${name.slice(-low)}` : fitted(pen, head, width);
}

export function bytesText(size) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let scale = 0;
  while (size >= 1024 && scale < units.length - 1) {
    size /= 1024;
    scale += 1;
  }
  return `${scale ? size.toPrecision(3) : size} ${units[scale]}`;
}

/** @type {[number, string][]} */
const SECONDS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]];

export function secondsText(seconds) {
  for (const [size, unit] of SECONDS) {
    if (Math.abs(seconds) >= size) return `${Number((seconds / size).toPrecision(4))} ${unit}`;
  }
  return seconds ? `${Number((seconds / 1e-9).toPrecision(3))} ns` : "0";
}

/** Round steps for about `count` ticks over `span`. */
export function tickStep(span, count) {
  const raw = span / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= raw);
}

/** Fill the hover box by `textContent` alone and keep it inside the stage. */
export function showTip(tip, stage, lines, x, y) {
  tip.replaceChildren(
    ...lines.map((line, index) => {
      const row = document.createElement(index ? "div" : "strong");
      row.textContent = line;
      return row;
    }),
  );
  tip.hidden = false;
  const left = clamp(x + 14, 0, Math.max(0, stage.clientWidth - tip.offsetWidth - 4));
  const above = y + 18 + tip.offsetHeight > stage.clientHeight;
  tip.style.left = `${left}px`;
  tip.style.top = `${Math.max(0, above ? y - tip.offsetHeight - 10 : y + 18)}px`;
}

/** Buttons of the toolbar: `data-act` names an entry of `acts`, a select's value is its argument. */
export function bindTools(root, acts) {
  for (const tool of root.querySelectorAll("[data-act]")) {
    const act = acts[tool.dataset.act];
    if (tool.tagName === "BUTTON") tool.onclick = () => act(tool);
    else if (tool.type === "checkbox") tool.onchange = () => act(tool.checked);
    else tool.oninput = () => act(tool.value);
  }
}

export const KEYS = {
  KeyW: ["zoom", 0.8],
  KeyS: ["zoom", 1.25],
  KeyA: ["pan", -1, 0],
  KeyD: ["pan", 1, 0],
  ArrowLeft: ["pan", -1, 0],
  ArrowRight: ["pan", 1, 0],
  ArrowUp: ["pan", 0, -1],
  ArrowDown: ["pan", 0, 1],
  Equal: ["zoom", 0.8],
  NumpadAdd: ["zoom", 0.8],
  Minus: ["zoom", 1.25],
  NumpadSubtract: ["zoom", 1.25],
  Digit0: ["fit"],
  Home: ["fit"],
};

/**
 * Wheel, drag, keys and hover of one canvas. The wheel scrolls the page unless Ctrl/⌘ is held or
 * the canvas was clicked into; keys go by their position on the keyboard; Esc leaves.
 * `on`: zoom(factor, x, y), pan(dx, dy) in pixels, fit(), hover(x, y), leave(), click(x, y),
 * escape() → true when there was something to give up first.
 */
export function bindCanvas(canvas, on) {
  let isEntered = false;
  let drag = null;
  canvas.onwheel = (event) => {
    if (!(event.ctrlKey || event.metaKey || isEntered)) return;
    event.preventDefault();
    on.zoom(Math.exp(clamp(event.deltaY, -200, 200) * 0.002), event.offsetX, event.offsetY);
  };
  canvas.onpointerdown = (event) => {
    isEntered = true;
    drag = { x: event.clientX, y: event.clientY, moved: 0 };
    try {
      canvas.setPointerCapture(event.pointerId);
    } catch {
      drag.moved = 0; // a pointer that is gone already cannot be captured; dragging still works
    }
  };
  canvas.onpointermove = (event) => {
    if (!drag) return on.hover(event.offsetX, event.offsetY);
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    drag = { x: event.clientX, y: event.clientY, moved: drag.moved + Math.abs(dx) + Math.abs(dy) };
    if (drag.moved >= 4) on.pan(-dx, -dy, event.offsetX, event.offsetY);
  };
  canvas.onpointerup = (event) => {
    const wasClick = drag && drag.moved < 4;
    drag = null;
    if (wasClick) on.click(event.offsetX, event.offsetY);
  };
  canvas.onpointerleave = () => on.leave();
  canvas.onblur = () => {
    isEntered = false;
  };
  canvas.onkeydown = (event) => {
    if (event.code === "Escape") {
      isEntered = false;
      if (!on.escape()) canvas.blur();
      return;
    }
    const order = KEYS[event.code];
    if (!order || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const [name, ...rest] = order;
    if (name === "zoom") on.zoom(rest[0], null, null);
    else if (name === "pan") on.pan(rest[0] * 60, rest[1] * 60, null, null);
    else on.fit();
  };
}

/** Size the canvas' pixels to its box; gives its pen in CSS pixels, or null while it is hidden. */
export function sizedPen(canvas, heightPx) {
  const ratio = window.devicePixelRatio || 1;
  canvas.style.height = `${heightPx}px`;
  const width = canvas.clientWidth;
  if (!width) return null;
  const [w, h] = [Math.round(width * ratio), Math.round(heightPx * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { pen, width, height: heightPx, ratio };
}

/** `draw` at most once a frame; its time and count stand in `canvas.dataset`. */
export function painter(canvas, draw) {
  let frames = 0;
  const paint = () => {
    const begin = performance.now();
    if (!draw()) return;
    frames += 1;
    canvas.dataset.drawMs = (performance.now() - begin).toFixed(1);
    canvas.dataset.frames = String(frames);
    canvas.dataset.ready = "1";
  };
  // No frame comes before the paper, which may have other colours.
  const again = () => {
    if (canvas.dataset.ready) paint();
  };
  whenPrinted(canvas, { before: again, after: again });
  return inNextFrame(paint);
}

/** `act` once in the next frame, however often it is asked for. */
export function inNextFrame(act) {
  let pending = 0;
  return () => {
    pending ||= requestAnimationFrame(() => {
      pending = 0;
      act();
    });
  };
}

/** `call` once nothing happened for a quarter of a second. */
export function debounced(call) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), 250);
  };
}
