// What a part or figure shows while it is pointed at or has the focus.

import { htmlNode } from "../overview/draw.js";

const GAP = 8;

export class Tip {
  constructor(root) {
    this.root = root;
    this.node = root.querySelector(".tip");
    // What is pointed at need not have the focus.
    const listen = (event) => {
      if (!root.isConnected) document.removeEventListener("keydown", listen, true);
      else if (event.key === "Escape" && !this.node.hidden) {
        event.preventDefault();
        this.hide();
      }
    };
    document.addEventListener("keydown", listen, true);
  }

  /** Have `node` show what `make()` gives. */
  attach(node, make) {
    node.addEventListener("pointerenter", () => this.show(node, make()));
    node.addEventListener("pointerleave", () => this.hide());
    node.addEventListener("focus", () => this.show(node, make()));
    node.addEventListener("blur", () => this.hide());
  }

  show(node, children) {
    this.node.replaceChildren(...children);
    this.node.hidden = false;
    const frame = this.root.getBoundingClientRect();
    const place = node.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.node;
    const below = place.bottom - frame.top + GAP;
    const room = Math.min(frame.height, window.innerHeight - frame.top);
    const isRight = place.right - frame.left + GAP + width <= frame.width;
    const isLeft = place.left - frame.left - GAP - width >= 0;
    let left = place.left - frame.left;
    let top = below;
    if (below + height > room) {
      top = place.top - frame.top - GAP - height;
      if (isRight) left = place.right - frame.left + GAP;
      else if (isLeft) left = place.left - frame.left - GAP - width;
      if (isRight || isLeft) top = place.top - frame.top;
    }
    this.node.style.left = `${Math.max(GAP, Math.min(left, frame.width - width - GAP))}px`;
    this.node.style.top = `${Math.max(GAP, Math.min(top, room - height - GAP))}px`;
  }

  hide() {
    this.node.hidden = true;
  }
}

/** What the tip of a part shows: every number with its key and source. */
export function partTip(part, otherName, notes) {
  const list = htmlNode("dl");
  for (const { key, label, text, exact, source, assumed, other } of part.rows) {
    const number = htmlNode("b", assumed ? "assumed" : "", text);
    const more = [exact === text ? "" : ` = ${exact}`, other ? `; ${otherName} ${other}` : ""].join("");
    list.append(
      htmlNode("dt", "", `${label} `, number, htmlNode("span", "", more)),
      htmlNode("dd", "", htmlNode("code", "", key), ` ${source}`),
    );
  }
  const heading = htmlNode("h3", "", part.title, htmlNode("span", "", part.count ? ` ${part.count}` : ""));
  const said = notes.map((note) => htmlNode("p", "", note));
  return part.rows.length ? [heading, ...said, list] : [heading];
}
