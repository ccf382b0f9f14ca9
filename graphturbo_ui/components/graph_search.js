// Search of the graph view: ops by name or type, as a regular expression; the same in all panes.

class GraphSearch {
  constructor() {
    this.clear();
  }

  get isOn() {
    return this.flags !== null;
  }

  /** The op at which the search stands; undefined for none. */
  get current() {
    return this.hits[this.at];
  }

  clear() {
    Object.assign(this, { text: "", flags: null, counts: [], hits: [], at: -1, fault: "" });
  }

  /** Look for `text` in the names and types of the ops. */
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
    const [run] = runs;
    this.flags = Uint8Array.from(run.ops, (name, op) => wanted.test(name) || wanted.test(run.op_types[op]));
    this.hits = [...run.ops.keys()].filter((op) => this.flags[op]);
    this.hits.sort((a, b) => run.rank[a] - run.rank[b] || a - b);
    this.counts = runs.map((other) => other.members.map((ops) => ops.reduce((n, op) => n + (this.flags[op] || 0), 0)));
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
    return `${count} op${count === 1 ? "" : "s"} found${count ? ": Enter goes to the first" : ""}`;
  }
}
