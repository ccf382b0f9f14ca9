// Two chips side by side, or one chip and the editor of its numbers.

import { isLate } from "../canvas_kit.js";
import { htmlNode, themeOf } from "../overview/draw.js";
import { Editor } from "./editor.js";
import { figureNodes, figureTip } from "./strip.js";
import { partTip, Tip } from "./tip.js";

class Chips {
  constructor(root) {
    this.root = root;
    this.cards = [...root.querySelectorAll(".card")];
    this.tip = new Tip(root);
    /** @type {(name: string, value: unknown) => void} */
    this.trigger = () => {};
    this.editor = new Editor((value) => this.trigger("edits", value));
    this.wanted = "";
  }

  show(scene) {
    const { root } = this;
    this.scene = scene;
    root.dataset.theme = themeOf(getComputedStyle(root));
    root.dataset.mode = scene.mode;
    root.dataset.pane = scene.editor ? "editor" : "pair";
    root.querySelector("h1").textContent = scene.sentence;
    root.querySelector(".marks").textContent = scene.legend;
    root.querySelector(".scales").textContent = scene.scales;
    this.tip.hide();
    root.querySelector(".strip").replaceChildren(...figureNodes(scene, (node, figure) => (
      this.tip.attach(node, () => figureTip(figure, scene.names)))));
    this.drawHead(0, this.leftHead());
    this.drawHead(1, scene.editor ? this.editorHead() : this.rightHead());
    this.drawPicture(0);
    if (scene.editor) this.drawEditor();
    else this.drawPicture(1);
    this.say();
    this.expose();
  }

  /** Put controls into a card's head; the one that has the focus keeps it. */
  drawHead(side, children) {
    const head = this.cards[side].querySelector(".head");
    const focused = head.getRootNode().activeElement;
    const act = head.contains(focused) ? focused.dataset.act : "";
    head.replaceChildren(...children);
    if (act) head.querySelector(`[data-act="${act}"]:not(:disabled)`)?.focus();
  }

  leftHead() {
    const { scene } = this;
    const [chip] = scene.chips;
    const isNew = scene.changes > 0;
    return [
      htmlNode("span", "badge a", "A"),
      ...this.chooser("left", "Chip on the left", scene.left),
      htmlNode("span", "title", isNew ? this.changed() : chip.title),
      this.button("editor", "Edit", () => this.trigger("right", "edit"), Boolean(scene.editor)),
      this.button("download", "Download YAML", () => this.download()),
      this.useButton(),
    ];
  }

  /** `2 changed, 1 refused`; empty where nothing is typed. */
  changed() {
    const { changes, refused } = this.scene;
    return [changes ? `${changes} changed` : "", refused ? `${refused} refused` : ""].filter(Boolean).join(", ");
  }

  useButton() {
    const { is_used: isUsed } = this.scene;
    const button = this.button("use", isUsed ? "In use" : "Use this chip", () => this.use(), isUsed);
    button.classList.add("main");
    button.title = isUsed ? "Explore runs on this chip" : "Explore then runs on this chip";
    return button;
  }

  rightHead() {
    const { scene } = this;
    return [
      htmlNode("span", "badge b", "B"),
      ...this.chooser("right", "Chip on the right", scene.right),
      htmlNode("span", "title", scene.chips[1].title),
    ];
  }

  editorHead() {
    const { scene } = this;
    const reset = this.button("reset", "Reset all", () => this.editor.resetAll(), !Object.keys(scene.typed).length);
    return [
      htmlNode("h2", "", `Numbers of ${scene.base}`),
      htmlNode("span", "title", this.changed() || "type a number, such as 384 KiB or 64 GB/s"),
      reset,
      this.button("close", "Compare", () => this.trigger("right", "")),
    ];
  }

  chooser(name, label, value) {
    const select = document.createElement("select");
    for (const [option, text] of this.scene.options) select.append(new Option(text, option));
    select.className = "control";
    select.dataset.act = name;
    select.value = value;
    select.setAttribute("aria-label", label);
    select.addEventListener("change", () => this.trigger(name, select.value));
    const isPresenting = this.scene.mode === "present";
    return isPresenting ? [htmlNode("h2", "", this.scene.chips[name === "left" ? 0 : 1].name)] : [select];
  }

  button(act, text, onClick, isDisabled = false) {
    const button = htmlNode("button", "small control", text);
    Object.assign(button, { type: "button", disabled: isDisabled });
    button.dataset.act = act;
    button.addEventListener("click", onClick);
    return button;
  }

  drawPicture(side) {
    const body = this.cards[side].querySelector(".body");
    const { svg, parts, notes } = this.scene.chips[side];
    const otherName = this.scene.editor ? this.scene.names[0] : this.scene.names[1 - side];
    const focused = body.getRootNode().activeElement;
    const part = body.contains(focused) ? focused.dataset.part : "";
    body.innerHTML = svg;
    for (const node of body.querySelectorAll(".part")) {
      const { part: name } = node.dataset;
      const title = node.querySelector("title");
      const said = title.textContent;
      title.remove();
      node.setAttribute("aria-label", `${node.textContent.replaceAll(/\s+/g, " ").trim()}. ${said}`);
      this.tip.attach(node, () => partTip(parts[name], otherName, name === "chip" ? notes : []));
      if (side === 0 && this.scene.mode !== "present") this.openOnClick(node, name);
    }
    if (part) body.querySelector(`[data-part="${part}"]`)?.focus();
  }

  /** A click on a part of the left chip goes to its numbers in the editor. */
  openOnClick(node, name) {
    node.setAttribute("role", "button");
    const open = () => {
      this.tip.hide();
      if (this.scene.editor) this.editor.goTo(name);
      else {
        this.wanted = name;
        this.trigger("right", "edit");
      }
    };
    node.addEventListener("click", open);
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      open();
    });
  }

  drawEditor() {
    const body = this.cards[1].querySelector(".body");
    if (!body.contains(this.editor.node)) body.replaceChildren(this.editor.node);
    this.editor.show(this.scene);
    if (this.wanted) this.editor.goTo(this.wanted);
    this.wanted = "";
  }

  use() {
    if (this.editor.isWaiting) this.editor.flush();
    this.trigger("use", true);
  }

  download() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([this.scene.yaml], { type: "application/yaml" }));
    link.download = `${this.scene.chips[0].name}.yaml`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  /** Faults are read aloud, once each. */
  say() {
    const fields = (this.scene.editor ?? []).flatMap((group) => group.fields);
    const text = fields.map(({ fault }) => fault).filter(Boolean).join(". ");
    const said = this.root.querySelector(".said");
    if (said.textContent !== text) said.textContent = text;
  }

  /** What tests and people with a console can read. */
  expose() {
    const { scene } = this;
    this.root.dataset.scene = JSON.stringify({
      names: scene.chips.map(({ name }) => name), left: scene.left, right: scene.right,
      changes: scene.changes, typed: scene.typed, isUsed: scene.is_used, isEditing: Boolean(scene.editor),
    });
  }
}

/** JSON, and since when it is shown, as `sources.stamped` puts them together. */
function readScene(data) {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  const end = bytes.byteLength - 8;
  const sent = new DataView(bytes.buffer, bytes.byteOffset + end, 8).getFloat64(0, true);
  return { scene: JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))), sent };
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".chips");
  const found = readScene(data);
  root.view ??= new Chips(root);
  const { view } = root;
  view.trigger = setTriggerValue;
  if (isLate(view, found)) return;
  view.show(found.scene);
}
