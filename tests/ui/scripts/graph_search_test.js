// The graph view's search: what it finds in which run, and what its list says.

import { hitRows } from "../../../graphturbo_ui/components/graph_hits.js";
import { GraphSearch } from "../../../graphturbo_ui/components/graph_search.js";
import { equal, outcomes } from "./check.js";

/** A run of ops [name, type, attributes, place in the model], in one sub-graph. */
function run(...ops) {
  const column = (at) => ops.map((op) => op[at]);
  return {
    ops: column(0), op_types: column(1), op_attributes: column(2), op_origin: column(3),
    rank: ops.map((_, rank) => rank), members: [[...ops.keys()]],
  };
}

const A = run(["norm/mean", "ReduceMean", "axes -1", 0], ["norm/sub", "Sub", "", 0], ["out", "Relu", "", 2]);
const B = run(["norm", "LayerNormalization", "axis -1", 0], ["gate", "Conv", "strides 2, 2", 1], ["out", "Relu", "", 2]);

function searched(text) {
  const search = new GraphSearch();
  search.set(text, [A, B]);
  return search;
}

const rows = (text) => hitRows(searched(text), [A, B]);

export default function () {
  return outcomes({
    "an op of B alone is found": () => {
      equal([searched("gate").hits, rows("gate")], [[1], [{ text: "Conv gate", fact: "" }]]);
    },
    "parts of one op of the model are one hit, named as the first run's first part": () => {
      equal([searched("norm").hits, rows("norm")], [[0], [{ text: "ReduceMean norm/mean", fact: "" }]]);
    },
    "attributes are said where neither name nor type matches": () => {
      equal(rows("strides 2"), [{ text: "Conv gate", fact: "strides 2, 2" }]);
      equal(rows("conv"), [{ text: "Conv gate", fact: "" }]);
      equal(rows("ax(is|es) -1"), [{ text: "ReduceMean norm/mean", fact: "axes -1" }]);
    },
    "what is no expression finds nothing and says so": () => {
      const search = searched("conv(");
      equal([search.hits, search.isOn, search.inBrief()], [[], false, "not an expression"]);
      equal(search.next(1), -1);
    },
    "one steps from hit to hit, around the ends": () => {
      const search = searched(".");
      equal([search.hits, search.inBrief()], [[0, 1, 2], "3 found"]);
      equal([search.next(1), search.next(-1)], [0, 2]);
      search.go(2);
      equal([search.current, search.next(1), search.inBrief()], [2, 0, "hit 3 of 3"]);
    },
  });
}
