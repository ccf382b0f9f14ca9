// Search of the graph view: ops by name, type or attributes, as a regular expression; the same in all panes.

export class GraphSearch {
  constructor() {
    this.clear();
  }

  get isOn() {
    return this.flags !== null;
  }

  /** The place in the model of the op at which the search stands; undefined for none. */
  get current() {
    return this.hits[this.at];
  }

  clear() {
    this.text = "";
    this.flags = null;
    this.counts = [];
    this.hits = [];
    this.at = -1;
    this.firstOps = [];
    this.pattern = null;
    this.fault = "";
  }

  /**
   * Look for `text` in the names, types and attributes of the ops: `flags` has one per op of each run, `hits`
   * the places in the model of the ops that any run's are, or are parts of.
   */
  set(text, runs) {
    this.clear();
    this.text = text;
    if (!text) return;
    try {
      this.pattern = new RegExp(text, "i");
    } catch (error) {
      this.fault = `not a regular expression: ${String(error.message).split(": ").pop()}`;
      return;
    }
    this.flags = runs.map((run) => (
      Uint8Array.from(run.ops, (name, op) => Number([name, run.op_types[op], run.op_attributes[op]].some((own) => this.matches(own))))
    ));
    const ranks = new Map();
    this.firstOps = runs.map(() => new Map());
    runs.forEach((run, pane) => run.ops.forEach((_, op) => {
      const origin = run.op_origin[op];
      if (!this.flags[pane][op]) return;
      ranks.set(origin, run.rank[op]);
      if (!this.firstOps[pane].has(origin)) this.firstOps[pane].set(origin, op);
    }));
    this.hits = [...ranks.keys()].sort((a, b) => ranks.get(a) - ranks.get(b) || a - b);
    this.counts = runs.map((run, pane) => run.members.map((ops) => ops.reduce((n, op) => n + this.flags[pane][op], 0)));
  }

  matches(text) {
    return this.pattern.test(text);
  }

  /** A found op of a pane that is, or is a part of, the model's op of this place; -1 for none. */
  opOf(pane, origin) {
    return this.firstOps[pane].get(origin) ?? -1;
  }

  /** The place among the hits of the next one, or the one before; -1 where nothing is found. */
  next(by) {
    const count = this.hits.length;
    if (!count) return -1;
    return this.at < 0 ? (by > 0 ? 0 : count - 1) : (this.at + by + count) % count;
  }

  /** Stand at the hit of this place; the place in the model of its op, undefined for none. */
  go(at) {
    this.at = at;
    return this.current;
  }

  /** What was found, in two or three words. */
  inBrief() {
    if (this.fault) return "not an expression";
    if (!this.isOn) return "";
    const count = this.hits.length.toLocaleString("en-US");
    return this.at < 0 ? `${count} found` : `hit ${(this.at + 1).toLocaleString("en-US")} of ${count}`;
  }

  /** What was found, in words. */
  said() {
    if (this.fault) return this.fault;
    if (!this.isOn) return "";
    const count = this.hits.length;
    if (this.at >= 0) return this.inBrief();
    if (!count) return "no op has this in its name, type or attributes";
    return `${count} op${count === 1 ? "" : "s"} found: Enter goes to the first`;
  }
}
