// On paper the first screen has one size and light colours. It is laid out for them before the
// browser lays out the paper: what is drawn to measure would stand elsewhere otherwise.

import { whenPrinted } from "../printed.js";

const PAPER = { width: 1280, height: 860 }; // pixels; overview.css scales them to the paper
const PAGE = 985; // pixels of a page across: Letter or A4, landscape
const LARGEST = 1.6; // times that views of a narrow window are enlarged
/** @type {WeakMap<CSSMediaRule, string>} */
const asWritten = new WeakMap(); // what a rule is for

/**
 * Draw `view` for the paper while the page is printed.
 *
 * @param {{ root: HTMLElement, scene: object, isPrinted: boolean, draw(): void }} view
 * @param {HTMLElement} inspector
 */
export function bindPrinting(view, inspector) {
  const { root } = view;
  const place = inspector.parentElement;
  let before = null;
  whenPrinted(root, {
    before() {
      if (!view.scene) return;
      markPage(root.dataset.theme);
      setScreenRules(root, "not all");
      before = { isDocked: inspector.classList.contains("docked"), own: inspector.style.cssText, place: place.style.cssText };
      inspector.classList.remove("docked");
      inspector.style.cssText = place.style.cssText = "";
      Object.assign(root.style, { width: `${PAPER.width}px`, height: `${PAPER.height}px` });
      view.isPrinted = true;
      root.dataset.printed = "yes";
      view.draw();
    },
    after() {
      if (!view.isPrinted) return;
      markPage(null);
      setScreenRules(root, "");
      inspector.classList.toggle("docked", before.isDocked);
      inspector.style.cssText = before.own;
      place.style.cssText = before.place;
      Object.assign(root.style, { width: "", height: "" });
      view.isPrinted = false;
      delete root.dataset.printed;
      view.draw();
    },
  });
}

/** What page.css asks of the page: the theme that is printed, and how much smaller it is on paper. */
function markPage(theme) {
  const page = document.documentElement;
  if (theme) page.dataset.printed = theme;
  else delete page.dataset.printed;
  page.style.setProperty("--on-paper", theme ? String(Math.min(LARGEST, PAGE / globalThis.innerWidth)) : "");
}

/** Switch the rules for windows of other sizes off, or, by an empty text, on again. */
function setScreenRules(root, text) {
  const from = root.getRootNode();
  for (const sheet of [...from.styleSheets, ...(from.adoptedStyleSheets ?? [])]) {
    for (const rule of sheet.cssRules) {
      if (!(rule instanceof CSSMediaRule)) continue;
      const own = asWritten.get(rule) ?? rule.media.mediaText;
      asWritten.set(rule, own);
      if (own.startsWith("screen")) rule.media.mediaText = text || own;
    }
  }
}
