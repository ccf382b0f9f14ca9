// Search of the graph view: ops by name or type, as a regular expression; the same in all panes.

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
    this.fault = "";
  }

  /**
   * Look for `text` in the names and types of the ops: `flags` has one per op of each run, `hits`
   * the places in the model of the ops that any run's are, or are parts of.
   */
  set(text, runs) {
    this.clear();
    this.text = text;
    if (!text) return;
    let wanted = null;
    try {
      wanted = new RegExp(text, "i");
    } catch (error) {
      this.fault = `not a regular expression: ${String(error.message).split(": ").pop()}`;
      return;
    }
    this.flags = runs.map((run) => (
      Uint8Array.from(run.ops, (name, op) => wanted.test(name) || wanted.test(run.op_types[op]))
    ));
    const ranks = new Map();
    runs.forEach((run, pane) => run.ops.forEach((_, op) => {
      if (this.flags[pane][op]) ranks.set(run.op_origin[op], run.rank[op]);
    }));
    this.hits = [...ranks.keys()].sort((a, b) => ranks.get(a) - ranks.get(b) || a - b);
    this.counts = runs.map((run, pane) => run.members.map((ops) => ops.reduce((n, op) => n + this.flags[pane][op], 0)));
  }

  /** The next hit, or the one before; undefined where nothing is found. */
  step(by) {
    const count = this.hits.length;
    if (count) this.at = this.at < 0 ? (by > 0 ? 0 : count - 1) : (this.at + by + count) % count;
    return this.current;
  }

  /** What was found, in words. */
  said() {
    if (this.fault) return this.fault;
    if (!this.isOn) return "";
    const count = this.hits.length;
    if (this.at >= 0) return `hit ${this.at + 1} of ${count}`;
    if (!count) return "no op has this in its name or type";
    return `${count} op${count === 1 ? "" : "s"} found: Enter goes to the first`;
  }
}
