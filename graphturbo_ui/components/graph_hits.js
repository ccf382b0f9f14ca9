// The list of ops that the graph view's search finds, below its box.

import { brief } from "./graph_boxes.js";

const MOST = 200; // rows; more are counted
const OPENING = new Set(["ArrowDown", "ArrowUp"]);

/** What the list says of each hit, at most MOST: {text, fact}; `fact`: attributes, where they match. */
export function hitRows(search, runs) {
  return search.hits.slice(0, MOST).map((origin) => {
    const pane = runs.findIndex((_, r) => search.opOf(r, origin) >= 0);
    const op = search.opOf(pane, origin);
    const run = runs[pane];
    const isNamed = search.matches(run.ops[op]) || search.matches(run.op_types[op]);
    return { text: `${run.op_types[op]} ${run.ops[op]}`, fact: isNamed ? "" : brief(run.op_attributes[op]) };
  });
}

/**
 * The list in `place` under `box`: open from what is typed to the hit that is gone to, and from a
 * click on the box or an arrow key on; `chosen(at)`: a hit was clicked.
 */
export class HitList {
  constructor(place, box, chosen) {
    this.place = place;
    this.box = box;
    place.onpointerdown = (event) => event.preventDefault(); // the box keeps the focus
    place.onclick = ({ target }) => {
      const row = target.closest("[data-at]");
      if (row) chosen(Number(row.dataset.at));
    };
    for (const kind of ["focus", "click"]) box.addEventListener(kind, () => this.open());
    box.addEventListener("keydown", (event) => {
      if (!OPENING.has(event.key)) return;
      event.preventDefault();
      this.open();
    });
    box.addEventListener("blur", () => this.show(false));
  }

  show(isShown) {
    this.place.hidden = !isShown;
    this.box.ariaExpanded = String(isShown);
  }

  /** With the hit at which the search stands in sight. */
  open() {
    this.show(this.place.childElementCount > 0);
    const row = this.place.querySelector(".current");
    if (row) this.place.scrollTop = row.offsetTop - this.place.clientHeight / 2;
  }

  /** The search goes to the hit `at`, which the list may cover. */
  close(at) {
    this.show(false);
    for (const row of this.place.querySelectorAll("[data-at]")) {
      const isCurrent = Number(row.dataset.at) === at;
      row.classList.toggle("current", isCurrent);
      row.ariaSelected = String(isCurrent);
    }
  }

  /** Rows for what is found; open while somebody types. */
  fill(search, runs, isTyped) {
    const rows = hitRows(search, runs).map(({ text, fact }, at) => {
      const row = document.createElement("div");
      row.role = "option";
      row.dataset.at = String(at);
      row.append(text);
      if (fact) row.append(Object.assign(document.createElement("small"), { textContent: fact }));
      return row;
    });
    const more = search.hits.length - rows.length;
    if (more > 0) rows.push(Object.assign(document.createElement("small"), { textContent: `${more.toLocaleString("en-US")} more` }));
    this.place.replaceChildren(...rows);
    this.close(search.at);
    if (isTyped) this.open();
  }
}
