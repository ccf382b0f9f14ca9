// A field per number of the profile: what is typed goes to Python, which says what is wrong with it.

import { htmlNode } from "../overview/draw.js";

const PAUSE_MS = 250;
const MAX_TEXT = 60;
const GROUP_PX = 31; // the heading of a group, fixed at the top while its fields scroll

export class Editor {
  constructor(send) {
    this.send = send;
    this.node = htmlNode("div", "editor");
    this.node.tabIndex = -1;
    this.fields = new Map();
    this.texts = {};
    this.built = "";
    this.base = "";
    this.sent = "";
    this.timer = 0;
  }

  get isWaiting() {
    return this.timer !== 0;
  }

  /** Show these groups of fields, typed texts as Python has them. */
  show(scene) {
    const built = JSON.stringify([scene.left, scene.editor.map(({ fields }) => fields.map(({ key }) => key))]);
    const isBuilt = this.built === built;
    if (!isBuilt) this.build(scene);
    this.built = built;
    const isNewer = this.isWaiting || (this.sent && this.sent !== JSON.stringify(scene.typed));
    if (!isNewer) {
      this.texts = { ...scene.typed };
      this.sent = "";
    }
    for (const { fields } of scene.editor) for (const field of fields) this.update(field, isNewer);
    if (!isBuilt) this.goToChange();
  }

  build(scene) {
    clearTimeout(this.timer);
    Object.assign(this, { timer: 0, sent: "", base: scene.left });
    this.fields.clear();
    this.node.replaceChildren(...scene.editor.flatMap(({ part, title, fields }) => {
      const heading = htmlNode("h3", "", title);
      heading.dataset.group = part;
      return [heading, ...fields.map((field) => this.fieldNode(field))];
    }));
  }

  fieldNode(field) {
    const input = field.choices.length ? choiceNode(field.choices) : textNode();
    const id = `chip-${field.key.replaceAll(".", "-")}`;
    const label = /** @type {HTMLLabelElement} */ (htmlNode("label", "", field.label, htmlNode("code", "", field.key)));
    const was = htmlNode("span");
    const reset = htmlNode("button", "", "Reset");
    const fault = htmlNode("p", "fault");
    Object.assign(input, { id, title: field.range });
    Object.assign(fault, { id: `${id}-fault`, hidden: true });
    label.htmlFor = id;
    reset.type = "button";
    reset.setAttribute("aria-label", `Reset ${field.label}`);
    input.setAttribute("aria-describedby", fault.id);
    const node = htmlNode("div", "field", label, input, htmlNode("div", "was", was, reset), fault);
    node.dataset.key = field.key;
    input.addEventListener("input", () => this.type(field.key, input.value));
    reset.addEventListener("click", () => {
      input.value = this.fields.get(field.key).original;
      this.type(field.key, input.value);
      input.focus();
    });
    this.fields.set(field.key, { node, input, was, reset, fault, original: field.original });
    return node;
  }

  update({ key, text, was, original, fault, changed }, isNewer) {
    const found = this.fields.get(key);
    const hasFocus = found.input.getRootNode().activeElement === found.input;
    if (!isNewer && !hasFocus && found.input.value !== text) found.input.value = text;
    found.original = original;
    const isTouched = found.input.value !== original;
    found.node.dataset.state = fault ? "fault" : changed ? "changed" : "";
    found.input.setAttribute("aria-invalid", String(Boolean(fault)));
    found.fault.textContent = fault;
    found.fault.hidden = !fault;
    found.was.textContent = isTouched ? `was ${was}` : "";
    found.reset.hidden = !isTouched;
  }

  type(key, text) {
    if (text === this.fields.get(key).original) delete this.texts[key];
    else this.texts = { ...this.texts, [key]: text };
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.flush(), PAUSE_MS);
  }

  resetAll() {
    this.texts = {};
    for (const { input, original } of this.fields.values()) input.value = original;
    this.flush();
  }

  /** Send what is typed now. */
  flush() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.sent = JSON.stringify(this.texts);
    this.send({ base: this.base, texts: this.texts });
  }

  /** Have the first changed or refused field in sight. */
  goToChange() {
    const found = this.node.querySelector('[data-state="changed"], [data-state="fault"]');
    if (found) this.node.scrollTop = found.offsetTop - GROUP_PX;
  }

  /** Go to the first field of a part. */
  goTo(part) {
    const heading = this.node.querySelector(`[data-group="${part}"]`);
    const next = heading?.nextElementSibling;
    next?.querySelector("input, select")?.focus({ preventScroll: true });
    if (heading) this.node.scrollTop = next.offsetTop - heading.offsetHeight;
  }
}

function textNode() {
  const input = document.createElement("input");
  Object.assign(input, { type: "text", autocomplete: "off", spellcheck: false, maxLength: MAX_TEXT });
  return input;
}

function choiceNode(choices) {
  const select = document.createElement("select");
  for (const choice of choices) select.append(new Option(choice || "not given", choice));
  return select;
}
