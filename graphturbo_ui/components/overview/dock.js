// The inspector stays in sight while the views below are read: at the foot of the window, in one line.

const BAR = 56; // pixels of the page's bar, which covers what is scrolled below it

/**
 * Dock `inspector` while its `place` is scrolled away above; `changed()` after it moved.
 *
 * `position: sticky` cannot do it: the first screen ends where the inspector does.
 */
export function dockInspector(place, inspector, changed) {
  const own = Number.parseFloat(getComputedStyle(place).getPropertyValue("--top-bar"));
  const bar = Number.isNaN(own) ? BAR : own; // a saved page has none
  const put = (isDocked) => {
    const { left, width } = place.getBoundingClientRect();
    inspector.style.left = isDocked ? `${left}px` : "";
    inspector.style.width = isDocked ? `${width}px` : "";
    const isOther = inspector.classList.contains("docked") !== isDocked;
    inspector.classList.toggle("docked", isDocked);
    if (isOther) changed();
  };
  const watch = new IntersectionObserver(([...entries]) => {
    const { isIntersecting, boundingClientRect: box } = entries.at(-1);
    put(!isIntersecting && box.height > 0 && box.bottom <= bar + 1);
  }, { rootMargin: `-${bar}px 0px 0px 0px` });
  watch.observe(place);
  new ResizeObserver(() => {
    if (inspector.classList.contains("docked")) put(true);
  }).observe(place);
}
