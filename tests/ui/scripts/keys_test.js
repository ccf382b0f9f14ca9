// Which keys of the page are free for the first screen.

import { isFree, keyName } from "../../../graphturbo_ui/components/overview/keys.js";
import { equal, outcomes } from "./check.js";

/** An element of this HTML, and the path of a key pressed in it, from it outwards. */
function pressedIn(html) {
  const host = document.createElement("div");
  host.innerHTML = html;
  document.body.append(host);
  const path = [];
  for (let at = host.querySelector("[data-at]") ?? host.firstElementChild; at; at = at.parentElement) path.push(at);
  host.remove();
  return path;
}

const ROOT = document.createElement("section");
const free = (html, code = "ArrowRight") => isFree(pressedIn(html), ROOT, code);

export default function () {
  return outcomes({
    "where nothing has the focus all keys are free": () => {
      equal(["Space", "ArrowLeft", "KeyP"].map((code) => isFree([document.body, document], ROOT, code)), [true, true, true]);
    },
    "where a blank place was clicked they are free as well": () => {
      equal(["Space", "ArrowLeft", "KeyP"].map((code) => free('<main data-testid="stMain" tabindex="0"></main>', code)), [true, true, true]);
    },
    "fields have all keys": () => {
      equal(["<input>", "<textarea></textarea>", "<select></select>", "<p contenteditable='true'></p>"].map((html) => free(html, "KeyP")), [false, false, false, false]);
    },
    "a button has Space and Enter alone": () => {
      equal(["Space", "Enter", "ArrowRight", "KeyP"].map((code) => free("<button></button>", code)), [false, false, true, true]);
    },
    "menus, dialogs and open popovers have all keys": () => {
      equal(["menu", "dialog", "listbox", "radiogroup"].map((role) => free(`<div role="${role}"><button data-at></button></div>`)), [false, false, false, false]);
      equal(free('<button aria-expanded="true"></button>'), false);
      equal(free('<button aria-expanded="false"></button>'), true);
    },
    "a canvas of another view keeps its keys": () => {
      equal(free('<canvas tabindex="0"></canvas>', "KeyP"), false);
      equal(free('<svg tabindex="0"></svg>', "Space"), false);
    },
    "inside the first screen all but a button's and a field's keys are free": () => {
      const [canvas] = pressedIn('<canvas tabindex="0"></canvas>');
      const [button] = pressedIn("<button></button>");
      equal(isFree([...pressedIn("<input>").slice(0, 1), ROOT], ROOT, "KeyW"), false);
      equal(isFree([canvas, ROOT], ROOT, "Space"), true);
      equal(["Space", "KeyW"].map((code) => isFree([button, ROOT], ROOT, code)), [false, true]);
    },
    "letters go by their place on the keyboard, ? by its sign": () => {
      equal(keyName({ key: "z", code: "KeyW" }), "KeyW");
      equal(keyName({ key: "?", code: "Minus" }), "?");
    },
  });
}
