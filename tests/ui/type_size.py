"""Sizes of the text that a page shows."""

from __future__ import annotations

from playwright.sync_api import Page

SIZES = """([selector, without]) => {
  const all = (root) => [...root.querySelectorAll("*")].flatMap(
    (each) => [each, ...(each.shadowRoot ? all(each.shadowRoot) : [])]);
  const isWithin = (each) => each.closest(selector)
    || (each.getRootNode().host && isWithin(each.getRootNode().host));
  const hasText = (each) => [...each.childNodes].some(
    (node) => node.nodeType === 3 && node.textContent.trim());
  const scale = (matrix) => Math.hypot(matrix.a, matrix.b);
  return all(document).filter((each) => isWithin(each) && hasText(each))
    .filter((each) => each.getClientRects().length && !(without && each.closest(without)))
    .map((each) => parseFloat(getComputedStyle(each).fontSize)
      * (each.ownerSVGElement ? scale(each.getScreenCTM()) : 1));
}"""


def least_type(page: Page, selector: str, without: str = "") -> float:
    """The smallest text (px) in the parts of `selector`; those of `without` are left out."""
    sizes = page.evaluate(SIZES, [selector, without])
    assert sizes, f"{selector} shows no text"
    return min(sizes)
