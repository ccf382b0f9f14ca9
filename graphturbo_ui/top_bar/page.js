// Of the whole page: files dropped anywhere go to the uploader of their kind, Escape ends Present,
// a popover of the bar that keys opened gets the focus, and Back undoes the last choice.

const TARGETS = {
  onnx: { box: "bar_model", input: "model_file", says: "Drop the model here" },
  yaml: { box: "bar_chip", input: "chip_file", says: "Drop the chip here" },
};
TARGETS.yml = TARGETS.yaml;
const PATIENCE_MS = 5000;
const NOTICE_MS = 4000;
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

async function hand(file) {
  const target = TARGETS[file.name.split(".").pop().toLowerCase()];
  if (!target) {
    say(`${file.name} is no .onnx and no .yaml file`);
    page.notice = setTimeout(() => say(""), NOTICE_MS);
    return;
  }
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
    say("Drop a model (.onnx) or a chip (.yaml) to use it");
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
  popstate(event) {
    const before = page.href && new URL(page.href);
    const isOther = before && before.pathname === window.location.pathname && before.search !== window.location.search;
    if (!isOther) return;
    // The session reads the address once, so the page begins again; runs are cached. Streamlit would
    // write what its widgets hold into the address.
    event.stopImmediatePropagation();
    clearTimeout(page.naming);
    window.location.reload();
  },
  keydown(event) {
    if (event.key === "Escape" && isPresenting() && !event.defaultPrevented) page.leave();
  },
  click(event) {
    const isByKeys = event.detail === 0 && event.isTrusted;
    if (!isByKeys || !event.target.closest(".st-key-top_bar [data-testid=stPopover]")) return;
    awaited(firstControl).then((first) => first?.focus());
  },
};

// Adds to the address what Streamlit left out of it, without an entry in the browser's history.
function nameChoices(address) {
  const url = new URL(window.location.href);
  for (const [key, values, isDefault] of address) {
    const named = url.searchParams.getAll(key);
    if (named.join("\n") === values.join("\n") || (isDefault && !named.length)) continue;
    url.searchParams.delete(key);
    if (!isDefault) values.forEach((value) => url.searchParams.append(key, value));
  }
  if (url.href !== window.location.href) {
    window.history.replaceState(window.history.state, "", url);
  }
}

// Gives other choices an entry of their own in the browser's history. Streamlit replaces the address
// in place where a widget is bound to it, and adds an entry where a callback writes it.
function remember(address) {
  const choices = JSON.stringify(address.map(([key, values]) => [key, values]));
  const isOther = page.choices !== undefined && page.choices !== choices;
  const isSamePage = page.href && new URL(page.href).pathname === window.location.pathname;
  if (isOther && isSamePage && window.history.length === page.entries && page.href !== window.location.href) {
    const now = window.location.href;
    window.history.replaceState(window.history.state, "", page.href);
    window.history.pushState(window.history.state, "", now);
  }
  Object.assign(page, { choices, href: window.location.href, entries: window.history.length });
}

export default function ({ data, setTriggerValue }) {
  clearTimeout(page.naming);
  page.naming = setTimeout(() => {
    nameChoices(data.address);
    remember(data.address);
  }, ONCE_STREAMLIT_IS_DONE_MS);
  page.leave = () => setTriggerValue("leave", true);
  if (page.isHeard) return;
  page.isHeard = true;
  for (const [kind, listener] of Object.entries(LISTENERS)) {
    window.addEventListener(kind, listener, kind !== "keydown");
  }
}
