// Keys of the first screen, from wherever on the page no other part wants them.

const FIELDS = "input, textarea, select, [contenteditable=''], [contenteditable=true]";
const PRESSED = "button, a[href], summary, [role=button]"; // Space and Enter are theirs
const WIDGETS = "dialog, [role=dialog], [role=menu], [role=listbox], [role=radiogroup], [role=tablist], [role=grid], [data-testid=stPopoverBody], [aria-expanded=true]";
const GROUND = "html, body, [data-testid=stMain]"; // what has the focus after a click on a blank place
const OF_THE_PAGE = ["KeyP", "?"]; // also while the first screen is scrolled away

/**
 * Whether a key is free for the first screen; `path`: from where it was pressed outwards. Outside of
 * `root` a part that can have the focus may have keys of its own: only buttons and links have none.
 *
 * @param {any[]} path
 */
export function isFree(path, root, code) {
  const [at] = path;
  if (!(at instanceof Element)) return true;
  if (at.matches(FIELDS) || (["Space", "Enter"].includes(code) && at.matches(PRESSED))) return false;
  if (path.includes(root) || at.matches(GROUND)) return true;
  return at.matches(PRESSED) && !path.some((each) => each instanceof Element && each.matches(WIDGETS));
}

/** The name of a key in the table of what keys do: its place on the keyboard, but `?` by its sign. */
export function keyName({ key, code }) {
  return key === "?" ? "?" : code;
}

/**
 * Hear the keys of the whole page until `root` is gone. `act(name, event)`: does what the key is
 * for; false where it is for nothing, and the page has it.
 */
export function bindKeys(root, act) {
  const hear = (event) => {
    if (!root.isConnected) {
      document.removeEventListener("keydown", hear);
      return;
    }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const path = event.composedPath();
    const name = keyName(event);
    if (!isFree(path, root, event.code)) return;
    if (!path.includes(root) && !OF_THE_PAGE.includes(name) && !isInSight(root)) return;
    if (act(name, event) !== false) event.preventDefault();
  };
  document.addEventListener("keydown", hear);
}

/** Whether the first screen has the upper half of the window; else arrows and Space scroll the page. */
function isInSight(root) {
  return root.getBoundingClientRect().bottom > innerHeight / 2;
}

/** Begin to present, or end it, as the bar does; false in a saved page, which has no bar. */
export function togglePresent(isPresenting) {
  /** @type {HTMLButtonElement | null} */
  const button = document.querySelector(".st-key-bar_present button");
  if (isPresenting && window.graphturboPage?.leave) window.graphturboPage.leave();
  else if (!isPresenting && button) button.click();
  else return false;
  return true;
}
