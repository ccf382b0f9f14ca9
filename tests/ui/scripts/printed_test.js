// What is drawn for the paper, and who is let go.

import { painter } from "../../../graphturbo_ui/components/canvas_kit.js";
import { whenPrinted } from "../../../graphturbo_ui/components/printed.js";
import { equal, outcomes } from "./check.js";

/** An element of the page that notes in `calls` what it is drawn for. */
function noting(calls, name) {
  const element = document.createElement("div");
  document.body.append(element);
  whenPrinted(element, { before: () => calls.push(`${name} before`), after: () => calls.push(`${name} after`) });
  return element;
}

function print() {
  dispatchEvent(new Event("beforeprint"));
  dispatchEvent(new Event("afterprint"));
}

/** Names of the listeners that the window gets while `act` runs. */
function added(act) {
  const own = globalThis.addEventListener;
  const names = [];
  globalThis.addEventListener = (name, ...rest) => {
    names.push(name);
    return own.call(globalThis, name, ...rest);
  };
  try {
    act();
  } finally {
    globalThis.addEventListener = own;
  }
  return names;
}

/** A canvas that has painted once, and how often it was drawn since. */
function painted() {
  const canvas = document.createElement("canvas");
  document.body.append(canvas);
  const count = { draws: 0 };
  painter(canvas, () => {
    count.draws += 1;
    return true;
  });
  canvas.dataset.ready = "1";
  return { canvas, count };
}

export default function () {
  return outcomes({
    "all in the page are drawn before and after": () => {
      const calls = [];
      const elements = ["one", "two"].map((name) => noting(calls, name));
      print();
      elements.forEach((element) => element.remove());
      equal(calls, ["one before", "two before", "one after", "two after"]);
    },
    "an element that is gone is let go at a printing": () => {
      const calls = [];
      const element = noting(calls, "gone");
      element.remove();
      print();
      document.body.append(element);
      print();
      element.remove();
      equal(calls, []);
    },
    "and when another element comes": () => {
      const calls = [];
      const [first, second] = ["first", "second"].map((name) => {
        const element = noting(calls, name);
        element.remove();
        return element;
      });
      const other = noting([], "other");
      document.body.append(first, second);
      print();
      [first, second, other].forEach((element) => element.remove());
      equal(calls, []);
    },
    "what began ends where the element goes meanwhile": () => {
      const calls = [];
      const element = noting(calls, "one");
      dispatchEvent(new Event("beforeprint"));
      element.remove();
      dispatchEvent(new Event("afterprint"));
      equal(calls, ["one before", "one after"]);
    },
    "any number of canvases has one pair of listeners": () => {
      const first = painted();
      const found = { canvases: [] };
      equal(added(() => found.canvases.push(...[1, 2, 3].map(painted))), []);
      print();
      const all = [first, ...found.canvases];
      equal(all.map(({ count }) => count.draws), [2, 2, 2, 2]);
      all.forEach(({ canvas }) => canvas.remove());
    },
    "a canvas that is gone is not painted": () => {
      const { canvas, count } = painted();
      canvas.remove();
      print();
      equal(count.draws, 0);
    },
  });
}
