// What the pictures of all steps are made of. Pure: marks at a time, no page.

export const WIDTH = 880; // units; the height is that of the room, within these
export const HEIGHTS = [560, 720];
export const KIB = 1024;
export const SQUARE = 22; // units of a side: one square is 1 KiB in every step
const GAP = 1.5; // between two squares, inside of each

/** 0 before `from`, 1 after `to`, and smooth between them. */
export function phase(time, from, to) {
  const share = to > from ? Math.min(1, Math.max(0, (time - from) / (to - from))) : Number(time >= to);
  return share * share * (3 - 2 * share);
}

export function between(from, to, share) {
  return from + (to - from) * share;
}

/** `1,234`. */
export function grouped(value) {
  return Math.round(value).toLocaleString("en-US");
}

/** Bytes in KiB as the lecture writes them: whole from 10 on, else one digit where it is needed. */
export function kibText(bytes) {
  const kib = bytes / KIB;
  const text = kib >= 10 ? grouped(kib) : String(Math.round(kib * 10) / 10);
  return `${text} KiB`;
}

/** Bytes as all other pages write them, with three digits: `75.2 MiB`. */
export function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  while (at < units.length - 1 && threeDigits(bytes / 1024 ** at) >= 1024) at += 1;
  return `${threeDigits(bytes / 1024 ** at)} ${units[at]}`;
}

/** Three significant digits, more only where the whole part has more; a half goes to the even digit. */
function threeDigits(value) {
  const magnitude = Math.abs(Number(value.toPrecision(3)));
  const places = magnitude >= 100 || magnitude === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(magnitude)));
  const scaled = value * 10 ** places;
  const below = Math.floor(scaled);
  return scaled - below === 0.5 ? (below + (below % 2)) / 10 ** places : Number(value.toFixed(places));
}

/** Bytes as squares: whole ones and the rest. [{ share }], whose sum is the bytes in KiB. */
export function chipsOf(bytes) {
  const whole = Math.floor(bytes / KIB);
  const rest = bytes / KIB - whole;
  return [...Array(whole).fill(1), ...(rest > 1e-9 ? [rest] : [])];
}

/** Squares in cells, in order: whole ones have a cell of their own, the rest share cells. */
export function packed(shares) {
  let cell = -1;
  let filled = 1;
  return shares.map((share) => {
    if (filled + share > 1 + 1e-9) {
      cell += 1;
      filled = 0;
    }
    const offset = filled;
    filled += share;
    return { cell, offset };
  });
}

/** Place `at` in a pile of `columns` squares a row that grows upwards from `bottom`. */
export function pileSpot(left, bottom, columns, at) {
  return { x: left + (at % columns) * SQUARE, y: bottom - (Math.floor(at / columns) + 1) * SQUARE };
}

/** Place `at` in a tray of `columns` squares a row that is filled from its top. */
export function traySpot(left, top, columns, at) {
  return { x: left + (at % columns) * SQUARE, y: top + Math.floor(at / columns) * SQUARE };
}

/** Which ink is read on a colour: `light` or `dark`. */
export function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}

/** Width of a letter of the app's type, about, in ems. */
function emOf(letter) {
  if (" ".includes(letter)) return 0.21;
  if ("iljtfr.,:;/|'()".includes(letter)) return 0.33;
  if ("mwMW".includes(letter)) return 0.84;
  return /[A-Z×]/.test(letter) ? 0.6 : 0.53;
}

/**
 * Collects the marks of one moment, and the numbers that they show. `type`: units of its text.
 * `unit`: bytes of a square; sizes are given in squares of 1 KiB, whatever a square stands for.
 */
export class Sheet {
  constructor({ type, least, height, colours, unit = KIB }) {
    this.type = type;
    this.least = least;
    this.height = height;
    this.colours = colours;
    this.unit = unit;
    this.marks = [];
    this.numbers = {};
  }

  rect(id, x, y, width, height, style = {}) {
    this.marks.push({ id, kind: "rect", layer: 0, ...style, x, y, width: Math.max(0, width), height: Math.max(0, height) });
  }

  line(id, x1, y1, x2, y2, style = {}) {
    this.marks.push({ id, kind: "line", layer: 1, stroke: "var(--edge)", ...style, x1, y1, x2, y2 });
  }

  path(id, d, style = {}) {
    this.marks.push({ id, kind: "path", layer: 1, fill: "none", stroke: "var(--edge)", ...style, d });
  }

  /**
   * A text with its baseline at y, of `size` times the sheet's type.
   * @param {Record<string, any>} style
   */
  text(id, x, y, text, style = {}) {
    const { size = 1, anchor = "start", fill = "var(--ink2)", weight = 400, ...more } = style;
    this.marks.push({ id, kind: "text", layer: 3, ...more, x, y, text, anchor, fill, weight, size: Math.max(this.least, this.type * size) });
  }

  /** A number that is shown, by its name: what tests compare with the kept results. */
  number(name, value) {
    this.numbers[name] = value;
    return value;
  }

  /** Bytes of so many squares of 1 KiB, in what a square stands for. */
  bytes(size) {
    return this.unit === KIB ? kibText(size) : bytesText((size * this.unit) / KIB);
  }

  /** A square of 1 KiB, or a share of it, whose area is its bytes. */
  chip(id, { x, y }, share, fill, style = {}) {
    this.rect(id, x + GAP / 2, y + GAP / 2, SQUARE * share - GAP * share, SQUARE - GAP, { layer: 2, fill, ...style });
  }

  /** The outline of a memory of so many squares, with its name above. */
  tray(id, x, y, columns, rows, name = "") {
    this.rect(id, x - 2, y - 2, columns * SQUARE + 4, rows * SQUARE + 4, { fill: "var(--track)", stroke: "var(--edge)", "stroke-width": 1.5, rx: 3 });
    if (name) this.text(`${id}.name`, x, y - 8, name, { fill: "var(--ink2)" });
  }

  /** The colour that an image, from 1, keeps in every step. */
  imageColour(image) {
    return this.colours.images[(image - 1) % this.colours.images.length];
  }

  /** An image's block of squares with its digit; one too small for its number drops it. */
  block(id, { x, y }, columns, rows, image, style = {}) {
    const fill = this.imageColour(image);
    const [width, height] = [columns * SQUARE, rows * SQUARE];
    this.rect(id, x + GAP / 2, y + GAP / 2, width - GAP, height - GAP, { layer: 2, fill, ...style });
    for (let at = 1; at < columns; at += 1) this.seam(`${id}.v${at}`, x + at * SQUARE, y, 0, height, style);
    for (let at = 1; at < rows; at += 1) this.seam(`${id}.h${at}`, x, y + at * SQUARE, width, 0, style);
    const size = Math.min(this.type, height * 0.98, width * 1.6);
    if (size < this.least || (style.opacity ?? 1) < 0.5) return;
    this.marks.push({
      id: `${id}.digit`, kind: "text", layer: 3, x: x + width / 2, y: y + height / 2 + size * 0.34, text: String(image),
      anchor: "middle", fill: inkOn(fill), weight: 650, size, opacity: style.opacity,
    });
  }

  /** A thin line between two squares of one block. */
  seam(id, x, y, dx, dy, style) {
    this.line(id, x, y, x + dx, y + dy, { layer: 2, stroke: "var(--card)", "stroke-width": 0.75, opacity: (style.opacity ?? 1) * 0.55 });
  }

  /** A box with a text in its middle; the text is dropped where it does not fit. */
  box(id, x, y, width, height, { fill, ink, text = "", weight = 650, size = 1, ...style }) {
    this.rect(id, x, y, width, height, { layer: 1, rx: 4, fill, ...style });
    if (!text || this.roomFor(text, size) > width - 4) return;
    this.text(`${id}.text`, x + width / 2, y + height / 2 + this.type * size * 0.34, text, { size, anchor: "middle", fill: ink, weight, opacity: style.opacity });
  }

  /** An axis of cycles from `left` to `right`, with a tick per `step`. */
  ticks(longest, step, { left, right, y }) {
    this.line("axis", left, y, right, y);
    for (let cycle = 0; cycle <= longest; cycle += step) {
      const x = left + ((right - left) * cycle) / longest;
      const text = cycle ? grouped(cycle) : "0 cycles";
      const isLast = x + this.roomFor(text) / 2 > right;
      this.line(`tick${cycle}`, x, y, x, y + 5);
      this.text(`tick${cycle}.text`, isLast ? right : x, y + this.type * 1.15, text, {
        anchor: cycle ? (isLast ? "end" : "middle") : "start", fill: "var(--ink3)", size: 0.9,
      });
    }
  }

  /** Units that a text takes, about: measured on the app's type. */
  roomFor(text, size = 1) {
    return [...text].reduce((sum, letter) => sum + emOf(letter), 0) * this.type * size;
  }

  /** The first of `texts` that fits; empty where none does. */
  fitting(texts, room, size = 1) {
    return texts.find((text) => this.roomFor(text, size) <= room) ?? "";
  }
}
