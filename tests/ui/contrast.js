// Every visible text of a page, open shadow roots included, with its WCAG 2 contrast; those
// below what is asked are given back. Backgrounds are those of the ancestors in the drawn tree:
// one colour over the other, each with its opacity; of a text in an SVG also those of the shapes
// that are drawn before it, below its middle. Images behind a text are not looked at.
() => {
  const TEXT = 4.5;
  const LARGE = 3.0;
  const LARGE_PX = 24;
  const LARGE_BOLD_PX = 18.66;
  const paper = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();

  // Any CSS colour as [red, green, blue, alpha], all 0..1: the browser reads it for us.
  const colour = (css) => {
    if (!known.has(css)) {
      paper.clearRect(0, 0, 1, 1);
      paper.fillStyle = "rgba(0, 0, 0, 0)";
      paper.fillStyle = css;
      paper.fillRect(0, 0, 1, 1);
      known.set(css, [...paper.getImageData(0, 0, 1, 1).data].map((part) => part / 255));
    }
    return known.get(css);
  };
  const over = (top, below) => {
    const alpha = top[3] + below[3] * (1 - top[3]);
    const part = (i) => (top[i] * top[3] + below[i] * below[3] * (1 - top[3])) / (alpha || 1);
    return [part(0), part(1), part(2), alpha];
  };
  const faded = (shown, opacity) => [...shown.slice(0, 3), shown[3] * opacity];
  const luminance = (shown) => {
    const [red, green, blue] = shown
      .slice(0, 3)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ratio = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const above = (node) =>
    node.assignedSlot || node.parentElement || (node.getRootNode().host ?? null);

  // What is behind the whole page: white or, where the colour scheme is dark, nearly black.
  const probe = document.documentElement.appendChild(document.createElement("div"));
  probe.style.color = "Canvas";
  const canvas = colour(getComputedStyle(probe).color);
  probe.remove();

  // What the shapes of an SVG show at a place of the window, those drawn before an element.
  const SHAPES = "rect, path, circle, ellipse, polygon";
  const isBelow = (shape, element, middle) => {
    if (!(shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)) return false;
    if (shape.closest("defs, clipPath, mask, pattern, symbol")) return false;
    if (!shape.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    const toOwn = shape.getScreenCTM()?.inverse();
    return Boolean(toOwn) && shape.isPointInFill(middle.matrixTransform(toOwn));
  };
  const drawnBelow = (svg, element, middle) => {
    let ground = [0, 0, 0, 0];
    for (const shape of svg.querySelectorAll(SHAPES)) {
      if (!isBelow(shape, element, middle)) continue;
      const style = getComputedStyle(shape);
      if (style.fill === "none" || style.fill.startsWith("url")) continue;
      let fill = faded(colour(style.fill), Number(style.fillOpacity));
      for (let at = shape; at !== svg; at = at.parentElement) {
        fill = faded(fill, Number(getComputedStyle(at).opacity));
      }
      ground = over(fill, ground);
    }
    return ground;
  };

  // The text's colour and what is behind it, as they reach the screen.
  const seen = (element, css, box) => {
    let ink = colour(css);
    let ground = [0, 0, 0, 0];
    const svg = element instanceof SVGElement ? element.ownerSVGElement : null;
    for (let at = element; at; at = above(at)) {
      if (svg && at === svg) {
        const middle = new DOMPoint(box.left + box.width / 2, box.top + box.height / 2);
        ground = drawnBelow(svg, element, middle);
        ink = over(ink, ground);
      }
      const style = getComputedStyle(at);
      const own = colour(style.backgroundColor);
      const opacity = Number(style.opacity);
      ink = faded(over(ink, own), opacity);
      ground = faded(over(ground, own), opacity);
    }
    return [over(ink, canvas), over(ground, canvas)];
  };
  // What is left of a box within the ancestors that cut off what leaves them.
  const uncut = (element, box) => {
    let [left, top, right, bottom] = [box.left, box.top, box.right, box.bottom];
    for (let at = element; at; at = above(at)) {
      if (getComputedStyle(at).overflow === "visible") continue;
      const edge = at.getBoundingClientRect();
      [left, top] = [Math.max(left, edge.left), Math.max(top, edge.top)];
      [right, bottom] = [Math.min(right, edge.right), Math.min(bottom, edge.bottom)];
    }
    return [right - left, bottom - top];
  };
  const isShown = (element, box) =>
    uncut(element, box).every((size) => size > 2) &&
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    !element.closest(":disabled, [aria-disabled='true']");
  const needed = (style) => {
    const px = parseFloat(style.fontSize);
    const isBold = Number(style.fontWeight) >= 700;
    const isIcon = /material|icon/i.test(style.fontFamily);
    return isIcon || px >= LARGE_PX || (isBold && px >= LARGE_BOLD_PX) ? LARGE : TEXT;
  };
  const place = (element) => {
    const names = [];
    for (let at = element; at && names.length < 4; at = above(at)) {
      const id = at.dataset?.testid ?? at.getAttribute("class")?.split(" ")[0] ?? "";
      names.unshift(at.tagName.toLowerCase() + (id ? `.${id}` : ""));
    }
    return names.join(" > ");
  };

  const found = new Map();
  const judge = (element, text, css, box) => {
    if (!text.trim() || !isShown(element, box)) return;
    const [ink, ground] = seen(element, css, box);
    const style = getComputedStyle(element);
    const got = ratio(ink, ground);
    const least = needed(style);
    if (got >= least) return;
    const rgb = (shown) => shown.slice(0, 3).map((part) => Math.round(part * 255));
    const where = place(element);
    const entry = { text: text.trim().slice(0, 60), ratio: Math.round(got * 100) / 100 };
    const said = { ...entry, needed: least, ink: rgb(ink), ground: rgb(ground), where };
    found.set(`${entry.text} ${where}`, said);
  };
  const ink = (element) => {
    const style = getComputedStyle(element);
    return element instanceof SVGElement ? style.fill : style.color;
  };
  const inField = (element) => {
    const box = element.getBoundingClientRect();
    if (element.matches("[type=checkbox], [type=radio], [type=range]")) return; // their value is not shown
    if (element.value) judge(element, element.value, ink(element), box);
    else if (element.placeholder) {
      judge(element, element.placeholder, getComputedStyle(element, "::placeholder").color, box);
    }
  };
  const walk = (root) => {
    for (const node of root.childNodes) {
      if (node.nodeType === Node.TEXT_NODE && node.parentElement) {
        const range = document.createRange();
        range.selectNodeContents(node);
        const element = node.parentElement;
        if (node.data.trim()) judge(element, node.data, ink(element), range.getBoundingClientRect());
      }
      if (node.nodeType !== Node.ELEMENT_NODE) continue;
      if (["SCRIPT", "STYLE", "NOSCRIPT", "TITLE", "DESC"].includes(node.tagName.toUpperCase())) {
        continue;
      }
      if (["INPUT", "TEXTAREA"].includes(node.tagName)) inField(node);
      if (node.shadowRoot) walk(node.shadowRoot);
      walk(node);
    }
  };
  walk(document.body);
  return [...found.values()];
}
