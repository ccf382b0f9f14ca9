// The inspector is always in sight: where its place is not, it lies at the foot of the window, in one line.

const BAR = 56; // pixels of the page's bar, which covers what is scrolled below it
const THRESHOLDS = Array.from({ length: 33 }, (_, part) => part / 32); // every two pixels of the place
const SLACK = 4; // pixels of the place that may be out of sight

/**
 * Dock `inspector` while its `place` begins above the window, or ends below it; `changed()`
 * after it moved.
 *
 * `position: sticky` cannot do it: the first screen ends where the inspector does.
 */
export function dockInspector(place, inspector, changed) {
  const own = Number.parseFloat(getComputedStyle(place).getPropertyValue("--top-bar"));
  const bar = Number.isNaN(own) ? BAR : own; // a saved page has none
  const root = place.closest(".overview");
  const put = (isDocked) => {
    if (root.dataset.printed) return; // paper has room for it
    const { left, width, height } = place.getBoundingClientRect();
    inspector.style.left = isDocked ? `${left}px` : "";
    inspector.style.width = isDocked ? `${width}px` : "";
    const isOther = inspector.classList.contains("docked") !== isDocked;
    if (isOther) place.style.minHeight = isDocked ? `${height}px` : ""; // so that nothing moves up
    inspector.classList.toggle("docked", isDocked);
    if (isOther) changed();
  };
  const watch = new IntersectionObserver(([...entries]) => {
    const { boundingClientRect: box } = entries.at(-1);
    const isBelow = box.bottom > globalThis.innerHeight + SLACK;
    put(box.height > 0 && (isBelow || box.top < bar - SLACK));
  }, { rootMargin: `-${bar}px 0px 0px 0px`, threshold: THRESHOLDS });
  watch.observe(place);
  new ResizeObserver(() => {
    if (inspector.classList.contains("docked")) put(true);
  }).observe(place);
}
