// Of the whole page: files dropped anywhere go to the uploader of their kind, Escape ends Present,
// a popover of the bar that keys opened gets the focus, and Back undoes the last choice.

const TARGETS = {
  onnx: { box: "bar_model", input: "model_file" },
  yaml: { box: "bar_chip", input: "chip_file" },
};
TARGETS.yml = TARGETS.yaml;
const COMPARED = { box: "compare_open_box", input: "compare_file" };
const OF_PLAN = /^strategy:/m; // a chip's profile has no such key
export const OF_UPLOAD = / \([0-9a-f]{16}\)$/; // a file's name with the digest of its bytes
const HEAD_BYTES = 4096;
const PATIENCE_MS = 5000;
const NOTICE_MS = 4000;
const OPTIONAL = [
  "plan_a", "plan_b", "set_a", "set_b", "chip_base", "chip_set", "chip_right", "compare", "measured",
  "rewrites",
];
// Streamlit has these in the address at once, and those of `data.boxes`, which are What-if's.
const SEEN = ["views", "present", "row", "result", "kind", "step", "knob", "network"];
const ONCE_STREAMLIT_IS_DONE_MS = 400;
const OVERLAY_STYLE =
  "position:fixed;inset:0;z-index:2000000;display:none;align-items:center;" +
  "justify-content:center;pointer-events:none;background:rgba(12,15,19,.82);color:#fff;" +
  "border:3px dashed #fff;font:600 22px/1.4 'Source Sans', system-ui, sans-serif;" +
  "text-align:center;padding:24px;box-sizing:border-box";

const page = (window.graphturboPage ??= {});

function overlay() {
  let found = document.getElementById("graphturbo-drop");
  if (!found) {
    found = document.createElement("div");
    found.id = "graphturbo-drop";
    found.setAttribute("role", "status");
    found.style.cssText = OVERLAY_STYLE;
    document.body.append(found);
  }
  return found;
}

function say(text) {
  clearTimeout(page.notice);
  overlay().textContent = text;
  overlay().style.display = text ? "flex" : "none";
}

const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
const isOnUploader = (event) =>
  event.composedPath().some((each) => each.dataset?.testid === "stFileUploaderDropzone");

const isPresenting = () => new URLSearchParams(window.location.search).get("present") === "1";

// What is chosen in an open popover, rather than the help beside its name.
function firstControl() {
  const body = document.querySelector("[data-testid=stPopoverBody]");
  return body?.querySelector("input:not([type=file]), a") ?? body?.querySelector("button");
}

async function awaited(find) {
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const found = find();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 50));
  }
  return null;
}

const isComparing = () => document.querySelector(`.st-key-${COMPARED.box}`) !== null;

/** Where a dropped file goes: on Compare, plans and comparisons to its uploader. */
async function targetOf(file) {
  const ending = file.name.split(".").pop().toLowerCase();
  if (!isComparing()) return TARGETS[ending];
  const isPlan = TARGETS[ending] === TARGETS.yaml && OF_PLAN.test(await file.slice(0, HEAD_BYTES).text());
  return isPlan || ending === "json" ? COMPARED : TARGETS[ending];
}

async function hand(file) {
  const target = await targetOf(file);
  if (!target) {
    say(`${file.name} is no .onnx and no .yaml${isComparing() ? " and no .json" : ""} file`);
    page.notice = setTimeout(() => say(""), NOTICE_MS);
    return;
  }
  /** @type {HTMLButtonElement | null} */
  const button = document.querySelector(`.st-key-${target.box} button`);
  if (button?.getAttribute("aria-expanded") !== "true") button?.click();
  const input = await awaited(() =>
    document.querySelector(`.st-key-${target.input} input[type=file]`));
  if (!input) return;
  const files = new DataTransfer();
  files.items.add(file);
  input.files = files.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

const LISTENERS = {
  dragover(event) {
    if (!hasFiles(event)) return;
    event.preventDefault();
    const more = isComparing() ? ", a plan or a comparison (.json)" : "";
    say(`Drop a model (.onnx) or a chip (.yaml)${more} to use it`);
  },
  dragleave(event) {
    if (event.relatedTarget === null) say("");
  },
  drop(event) {
    if (!hasFiles(event)) return;
    say("");
    if (isOnUploader(event)) return;
    event.preventDefault();
    event.stopPropagation();
    hand(event.dataTransfer.files[0]);
  },
  keydown(event) {
    if (event.key === "Escape" && isPresenting() && !event.defaultPrevented) page.leave();
  },
  // Streamlit keeps what its widgets hold and would write it over the address.
  popstate(event) {
    const own = page.entry && new URL(page.entry.href);
    if (!own || (own.pathname + own.search === window.location.pathname + window.location.search)) return;
    clearTimeout(page.naming);
    event.stopImmediatePropagation();
    window.location.reload();
  },
  click(event) {
    const isByKeys = event.detail === 0 && event.isTrusted;
    if (!isByKeys || !event.target.closest(".st-key-top_bar [data-testid=stPopover]")) return;
    awaited(firstControl).then((first) => first?.focus());
  },
};

/** The browser's address as it names these choices, which Streamlit has in part or is ahead of. */
function addressOf(choices, optional) {
  const url = new URL(window.location.href);
  const named = new Set(choices.map(([key]) => key));
  for (const key of optional) if (!named.has(key)) url.searchParams.delete(key);
  for (const [key, values, isDefault] of choices) {
    const present = url.searchParams.getAll(key);
    if (present.join("\n") === values.join("\n") || (isDefault && !present.length)) continue;
    url.searchParams.delete(key);
    if (!isDefault) values.forEach((value) => url.searchParams.append(key, value));
  }
  return url.href;
}

/** Whether the address leaves out a choice of the latest run that is no default. */
function lacksChoices() {
  const named = new URLSearchParams(window.location.search);
  return page.choices.some(([key, , isDefault]) => !isDefault && !named.has(key));
}

/** Name what the latest run says is chosen, once Streamlit is done with the address. */
function nameSoon() {
  clearTimeout(page.naming);
  page.naming = setTimeout(name, ONCE_STREAMLIT_IS_DONE_MS, ...page.latest);
}

/**
 * Streamlit adds entries to the history as it writes the address of one page: these replace it. At
 * the end of a run it takes out the names of boxes that are others now, however long the run was.
 */
function addOwnEntriesAlone() {
  page.push = window.history.pushState.bind(window.history);
  window.history.pushState = (state, unused, url) => {
    const isSamePage = new URL(url ?? "", window.location.href).pathname === window.location.pathname;
    if (isSamePage) {
      window.history.replaceState(state, unused, url);
      if (lacksChoices()) nameSoon();
      return;
    }
    // Of the page that is left it has kept the path, or little more.
    const left = addressOf(page.choices, [...OPTIONAL, ...page.seen]);
    window.history.replaceState(window.history.state, "", left);
    page.push(state, unused, url);
  };
}

/** Have the address name what is chosen, which is an entry of the browser's history. */
function enter(choices) {
  const before = page.entry;
  const { pathname } = window.location;
  const entry = JSON.stringify(choices);
  const href = addressOf(choices, [...OPTIONAL, ...page.seen]);
  const now = addressOf(choices.filter(([key]) => !page.seen.includes(key)), OPTIONAL);
  if (before?.pathname === pathname && before.entry !== entry) {
    // Streamlit has written the new address over that of the entry before.
    window.history.replaceState(window.history.state, "", before.href);
    page.push(window.history.state, "", now);
  } else if (now !== window.location.href) {
    window.history.replaceState(window.history.state, "", now);
  }
  page.entry = { entry, pathname, href };
}

/** Values of a run's choices as texts, by key. */
const valuesOf = (choices) => new Map(choices.map(([key, values]) => [key, values.join("\n")]));

/** Whether the run knew another address: Streamlit sends what a box has before the address of it. */
function isBehind(choices, boxes) {
  const named = new URLSearchParams(window.location.search);
  const known = valuesOf(choices);
  return boxes.some((key) => named.getAll(key).join("\n") !== (known.get(key) ?? ""));
}

/** Name what is chosen; a run that is behind is followed by one more, not for ever. */
function name({ choices, boxes }, setTriggerValue) {
  enter(choices);
  const before = page.behind;
  page.behind = isBehind(choices, boxes) ? window.location.href : "";
  if (page.behind && page.behind !== before) setTriggerValue("behind", true);
}

/** Whether the address names another value of a choice, or a choice that is not made. */
function isNamedOtherwise(choices) {
  const named = new URLSearchParams(window.location.search);
  const made = valuesOf(choices);
  const isOther = (key) => named.has(key) && named.getAll(key).join("\n") !== made.get(key);
  return [...made.keys(), ...OPTIONAL].some(isOther);
}

/** Whether Back or Forward came before this script: the run has the choices of the entry left. */
function hasMovedSinceLoad(choices) {
  const { activation, currentEntry } = window.navigation ?? {}; // not in every browser
  if (!activation?.entry || !currentEntry) return false;
  const step = currentEntry.index - activation.entry.index;
  if (step <= 0) return step < 0;
  // Streamlit adds entries too, and a page that came as a new entry had none to go forward to.
  const hadEntriesAhead = ["reload", "traverse"].includes(activation.navigationType);
  return hadEntriesAhead && isNamedOtherwise(choices);
}

/** Shut the popover of a file that has become the choice: it would cover what is said of the run. */
function shutAfterUpload(before, now) {
  const [old, own] = [valuesOf(before), valuesOf(now)];
  for (const key of ["model", "chip"]) {
    if (!old.has(key) || old.get(key) === own.get(key) || !OF_UPLOAD.test(own.get(key))) continue;
    /** @type {HTMLButtonElement | null} */
    const button = document.querySelector(`.st-key-bar_${key} button[aria-expanded=true]`);
    button?.click();
  }
}

export default function ({ data, setTriggerValue }) {
  page.seen = [...SEEN, ...data.boxes];
  if (page.choices) shutAfterUpload(page.choices, data.choices);
  page.choices = data.choices;
  page.latest = [data, setTriggerValue];
  const isOtherPage = page.entry && page.entry.pathname !== window.location.pathname;
  if (isOtherPage) enter(data.choices); // a choice may come before the address is named
  nameSoon();
  // What scrolls is a stop that shows nothing: keys reach it from everything within it.
  document.querySelector("[data-testid=stMain]")?.setAttribute("tabindex", "-1");
  page.leave = () => setTriggerValue("leave", true);
  if (page.isHeard) return;
  page.isHeard = true;
  if (hasMovedSinceLoad(data.choices)) {
    clearTimeout(page.naming);
    window.location.reload();
    return;
  }
  enter(data.choices); // Back may come before the address is named
  addOwnEntriesAlone();
  for (const [kind, listener] of Object.entries(LISTENERS)) {
    window.addEventListener(kind, listener, kind !== "keydown");
  }
}
