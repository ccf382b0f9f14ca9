// Views below the first screen: what leads to them.

const RESTED_MS = 4000;
const LATEST_SCROLL_MS = 60_000;

/** Scroll to a view below: to a section of a saved page, else drawn as a click on its name does. */
export function openView(name) {
  const section = document.querySelector(`section[data-view="${name}"]`);
  if (section) {
    section.scrollIntoView({ block: "start" });
    return;
  }
  const button = namesOfViews().find((own) => viewOf(own) === name);
  if (!button) return;
  if (document.querySelector(placeOf(name))) scrollWhenThere(placeOf(name));
  else button.click();
}

function namesOfViews() {
  /** @type {NodeListOf<HTMLButtonElement>} */
  const buttons = document.querySelectorAll(".st-key-views button");
  return [...buttons];
}

function viewOf(button) {
  return button.textContent.trim();
}

function placeOf(name) {
  return `.st-key-view_${name.toLowerCase().replaceAll(" ", "_")}`;
}

/** A click on the name of a view that is not shown leads to it: others may stand thousands of pixels above it. */
function followNames({ target }) {
  const button = target.closest?.(".st-key-views button");
  if (button && !document.querySelector(placeOf(viewOf(button)))) scrollWhenThere(placeOf(viewOf(button)));
}

if (!window.graphturboViews) {
  window.graphturboViews = true;
  document.addEventListener("click", followNames, true);
}

/** Scroll to what the page is about to draw, and stay there until the page has rested for a while. */
function scrollWhenThere(selector) {
  const latest = performance.now() + LATEST_SCROLL_MS;
  const left = new AbortController();
  let last = "";
  let changed = 0;
  for (const kind of ["wheel", "pointerdown", "keydown", "touchmove"]) {
    // In the capture phase: buttons of the page keep these events to themselves.
    addEventListener(kind, () => left.abort(), { signal: left.signal, passive: true, capture: true });
  }
  const step = () => {
    const now = performance.now();
    if (left.signal.aborted || now > latest) return;
    const place = document.querySelector(selector);
    place?.scrollIntoView({ block: "start" });
    const isBusy = !place || document.querySelector('[data-test-script-state="running"]');
    const page = `${place?.scrollHeight} ${document.documentElement.scrollHeight}`;
    if (isBusy || page !== last) [last, changed] = [page, now];
    if (now - changed < RESTED_MS) setTimeout(step, 200);
  };
  step();
}
