// What is drawn for the paper: one pair of listeners per script, however many elements it draws.

/** @type {Map<Element, { before(): void, after(): void }>} */
const drawn = new Map();

/**
 * Call `before` and `after` around each printing, as long as `element` is in the page. One that is
 * gone is let go, with all that the two refer to, at the next printing or the next element.
 *
 * @param {Element} element
 * @param {{ before(): void, after(): void }} acts
 */
export function whenPrinted(element, acts) {
  dropGone();
  if (drawn.size === 0) hear();
  drawn.set(element, acts);
}

/** The same function each time: the window has each listener once. */
function hear() {
  globalThis.addEventListener("beforeprint", begin);
  globalThis.addEventListener("afterprint", end);
}

function begin() {
  dropGone();
  drawn.forEach((acts) => acts.before());
}

/** What began for an element ends, even where the element went meanwhile. */
function end() {
  drawn.forEach((acts) => acts.after());
  dropGone();
}

function dropGone() {
  for (const element of drawn.keys()) {
    if (!element.isConnected) drawn.delete(element);
  }
}
