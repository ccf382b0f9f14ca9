// The pointer in the right card: points at a time, marks a stretch that the lens shows, zooms.

import { clamp01 } from "./words.js";

const STILL = 4; // pixels that a click may move

/** Hear the pointer in the right card of the first screen; `point(event, host)`: where it is there. */
export function bindTimePointer(view, point) {
  const host = view.parts.time;
  let drag = null;
  host.addEventListener("pointermove", (event) => {
    const [x, y] = point(event, host);
    if (drag) {
      drag.x1 = x;
      return;
    }
    if (view.player.isPlaying) return;
    const found = view.time.hit(x, y);
    view.set({ time: found ? found.time : null, layer: found?.layer ?? null, group: null, hue: null });
  });
  host.addEventListener("pointerleave", () => {
    if (!view.player.isPlaying) view.set({ time: null, layer: null });
  });
  host.addEventListener("pointerdown", (event) => {
    const [x, y] = point(event, host);
    const found = view.time.hit(x, y, false);
    drag = found ? { name: found.name, run: found.run, x0: x, x1: x } : null;
    if (drag) host.setPointerCapture(event.pointerId);
  });
  host.addEventListener("pointerup", (event) => {
    const own = drag;
    drag = null;
    if (!own) return;
    if (Math.abs(own.x1 - own.x0) > STILL) dragged(view, own);
    else clicked(view, point(event, host));
  });
  host.addEventListener("wheel", (event) => {
    const [x, y] = point(event, host);
    const found = view.time.hit(x, y, false);
    const hasFocus = view.root.contains(view.root.getRootNode().activeElement);
    if (found?.name !== "lens" || !(event.ctrlKey || event.metaKey || hasFocus)) return;
    event.preventDefault();
    view.zoom(Math.exp(event.deltaY * 0.0015), clamp01((x - view.time.x0) / view.time.plot));
  }, { passive: false });
}

/** A stretch marked with the pointer becomes the lens. */
function dragged(view, { name, run, x0, x1 }) {
  const at = (x) => clamp01((x - view.time.x0) / view.time.plot);
  const [from, to] = [at(Math.min(x0, x1)), at(Math.max(x0, x1))];
  const { t0, t1 } = name === "lens" ? view.lens() : { t0: 0, t1: view.longest() };
  view.setLens({ run: run.name, t0: t0 + from * (t1 - t0), t1: t0 + to * (t1 - t0) });
}

function clicked(view, [x, y]) {
  const found = view.time.hit(x, y);
  if (found?.layer !== null && found?.layer !== undefined) view.pin({ layer: found.layer });
}
