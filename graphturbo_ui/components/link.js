// What the canvases of the page share, brought from Python and told to it once nothing changed for
// a quarter of a second. It draws nothing.

import { common, debounced, share } from "./canvas_kit.js";

export default function ({ data, setStateValue }) {
  common.tellPython = () => setStateValue("told", {
    serial: common.serial, selected: common.selected, windows: common.windows,
  });
  if (!common.isHeard) {
    common.isHeard = true;
    const later = debounced(() => common.tellPython());
    common.addEventListener("selected", later);
    common.addEventListener("windows", later);
  }
  if (data.serial > common.serial) {
    common.serial = data.serial;
    share("selected", data.selected, null);
    share("windows", data.windows, null);
  }
}
