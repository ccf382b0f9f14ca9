// The list of ops that the graph view's search finds, below its box.

const MOST = 200; // rows; more are counted

/** What the list says of each hit, at most MOST: {text, fact}; `fact`: attributes, where they match. */
export function hitRows(search, runs) {
  return search.hits.slice(0, MOST).map((origin) => {
    const pane = runs.findIndex((_, r) => search.opOf(r, origin) >= 0);
    const op = search.opOf(pane, origin);
    const run = runs[pane];
    const isNamed = search.isWanted(run.ops[op]) || search.isWanted(run.op_types[op]);
    return { text: `${run.op_types[op]} ${run.ops[op]}`, fact: isNamed ? "" : run.op_attributes[op] };
  });
}

/** The list in `place`, shown while it or the box has the focus; `chosen(at)`: a hit was clicked. */
export class HitList {
  constructor(place, box, chosen) {
    this.place = place;
    this.box = box;
    const region = box.parentElement;
    place.onpointerdown = (event) => event.preventDefault(); // the box keeps the focus
    place.onclick = ({ target }) => {
      const row = target.closest("[data-at]");
      if (row) chosen(Number(row.dataset.at));
    };
    box.addEventListener("focus", () => this.open(true));
    region.addEventListener("focusout", ({ relatedTarget }) => {
      if (!region.contains(relatedTarget)) this.open(false);
    });
  }

  open(isOpen) {
    this.place.hidden = !isOpen || !this.place.childElementCount;
  }

  /** Rows for what is found. */
  fill(search, runs) {
    const rows = hitRows(search, runs).map(({ text, fact }, at) => {
      const row = document.createElement("div");
      row.dataset.at = String(at);
      row.append(text);
      if (fact) row.append(Object.assign(document.createElement("small"), { textContent: fact }));
      return row;
    });
    const more = search.hits.length - rows.length;
    if (more > 0) rows.push(Object.assign(document.createElement("small"), { textContent: `${more.toLocaleString("en-US")} more` }));
    this.place.replaceChildren(...rows);
    this.mark(search.at);
    this.open(this.box.matches(":focus"));
  }

  /** Mark the hit at which the search stands, and have it in sight. */
  mark(at) {
    for (const row of this.place.querySelectorAll("[data-at]")) {
      const isCurrent = Number(row.dataset.at) === at;
      row.classList.toggle("current", isCurrent);
      if (isCurrent) row.scrollIntoView({ block: "nearest" });
    }
  }
}
