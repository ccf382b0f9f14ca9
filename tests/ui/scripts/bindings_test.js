// Bindings as boxes: parts of a nested list, their shares, what changes from tensor to tensor.

import { cellsOf, changedCores, divisionOf, gridOf, shareOf, squaresIn } from "../../../graphturbo_ui/components/algorithms/bindings.js";
import { equal, holds, near, outcomes } from "./check.js";

export default function () {
  return outcomes({
    "a nested list is a part per core": () => {
      equal(cellsOf("[[4,1],[6,0]]"), [{ core: 4, at: [0, 0] }, { core: 1, at: [0, 1] }, { core: 6, at: [1, 0] }, { core: 0, at: [1, 1] }]);
      equal(gridOf(cellsOf("[[4,1],[6,0]]")), [2, 2]);
      equal([cellsOf("7"), gridOf(cellsOf("7"))], [[{ core: 7, at: [] }], []]);
    },
    "shares tile the tensor": () => {
      for (const text of ["[0,1,2]", "[[0,1],[2,3]]", "[[[0,1],[2,3]],[[4,5],[6,7]]]", "[[0,1,2]]", "5"]) {
        const { cells } = divisionOf(text, "");
        near(cells.reduce((sum, { width, height }) => sum + width * height, 0), 1);
        const corners = new Set(cells.map(({ x0, y0 }) => `${x0.toFixed(6)} ${y0.toFixed(6)}`));
        equal(corners.size, cells.length);
      }
      equal(shareOf([1, 0], [2, 2]), { x0: 0.5, y0: 0, width: 0.5, height: 0.5 });
    },
    "axes that are not cut are left out": () => {
      equal(divisionOf("[[0,1]]", "0, 2").cuts, [{ axis: 2, parts: 2 }]);
      equal(divisionOf("[[0,1],[2,3]]", "0, 2").cuts, [{ axis: 0, parts: 2 }, { axis: 2, parts: 2 }]);
      equal([divisionOf("-1", "").isShared, divisionOf("0", "").isShared], [true, false]);
    },
    "cores that compute another part than before": () => {
      const rows = divisionOf("[0,1,2,3]", "2");
      equal(changedCores(rows, divisionOf("[[0,1,2,3]]", "0, 2")), []);
      equal(changedCores(divisionOf("[0,2,1,3]", "2"), rows), [2, 1]);
      equal(changedCores(divisionOf("[0,1,2,3]", "3"), rows), [0, 1, 2, 3]);
      equal([changedCores(rows, null), changedCores(divisionOf("-1", ""), rows)], [[], []]);
    },
    "squares fill their room": () => {
      for (const count of [1, 4, 8, 32, 1216]) {
        const { columns, side } = squaresIn(count, 600, 330, 132);
        holds(columns * side <= 600.001 && Math.ceil(count / columns) * side <= 330.001 && side > 0, `${count}: ${columns} of ${side}`);
      }
      holds(squaresIn(1216, 600, 330, 132).side > 11, "of 1,216 cores each can be seen");
    },
  });
}
