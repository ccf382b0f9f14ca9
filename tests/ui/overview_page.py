"""The first screen of a visitor's page: its root carries `data-scene` and the property `view`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from playwright.sync_api import Browser

from tests.ui.app_server import POLL_MS, AppPage
from tests.ui.canvas_page import contrast

FIND = """const all = (root) => [...root.querySelectorAll('*')].flatMap(
  (e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);
const root = all(document).find((e) => e.classList?.contains('overview'));
const view = root?.view;"""
"""JavaScript: the first screen's root and its view."""
AT_REST = """new Promise((done) => requestAnimationFrame(
  () => requestAnimationFrame(() => setTimeout(done, 60))))"""
TEXTS = """
  const opaque = [...root.querySelectorAll('svg rect')].filter((rect) => (
    !rect.closest('.veil') && getComputedStyle(rect).fill.startsWith('rgb(')
    && Number(rect.getAttribute('opacity') ?? 1) === 1
  )).map((rect) => ({ rect, box: rect.getBoundingClientRect() }));
  const below = (text, x, y) => opaque.filter(({ rect, box }) => (
    box.left <= x && x <= box.right && box.top <= y && y <= box.bottom
    && rect.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)).at(-1)?.rect;
  return [...root.querySelectorAll('.card')].flatMap((card, number) => (
    [...card.querySelectorAll('svg text')].filter((text) => text.textContent).map((text) => {
      const box = text.getBoundingClientRect();
      const frame = card.getBoundingClientRect();
      const size = parseFloat(getComputedStyle(text).fontSize);
      const rect = below(text, box.left + box.width / 2, box.top + box.height / 2);
      return {
        card: number, text: text.textContent, size, ink: getComputedStyle(text).fill,
        ground: rect ? getComputedStyle(rect).fill : getComputedStyle(card).backgroundColor,
        x0: box.left, x1: box.right, y0: box.top + 0.25 * size, y1: box.bottom - 0.06 * size,
        isInside: box.left >= frame.left && box.right <= frame.right
          && box.top >= frame.top && box.bottom <= frame.bottom,
      };
    })));"""
"""JavaScript: every drawn text with its colours; its box without the room around its letters."""


@dataclass(frozen=True)
class Drawn:
    """A text of one of the two cards; `ink` and `ground` as CSS writes them."""

    card: int
    text: str
    size: float
    ink: str
    ground: str
    x0: float
    x1: float
    y0: float
    y1: float
    isInside: bool  # noqa: N815  # as the script names it

    def covers(self, other: Drawn) -> bool:
        """Whether letters of the two lie over one another."""
        across = min(self.x1, other.x1) - max(self.x0, other.x0)
        down = min(self.y1, other.y1) - max(self.y0, other.y0)
        return self.card == other.card and across > 0.5 and down > 0.5

    @property
    def ratio(self) -> float:
        """WCAG 2.2's contrast."""
        return contrast(_hex(self.ink), _hex(self.ground))


def _hex(css: str) -> str:
    """`rgb(1, 2, 3)` as `#010203`."""
    parts = css.removeprefix("rgb(").removesuffix(")").split(",")
    return "#" + "".join(f"{int(part):02x}" for part in parts)


class Overview:
    """A visitor's page, as far as the first screen is concerned."""

    def __init__(self, visit: AppPage) -> None:
        self.visit, self.page = visit, visit.page

    def open(self, query: str, runs: int = 2) -> None:
        self.page.goto(f"{self.visit.address}/{query}")
        self.wait(f"root.dataset.scene && view.scene.runs.length === {runs}")
        self.visit.rest()
        self.rest()

    def run(self, script: str, arg: Any = None) -> Any:
        """What JavaScript on `root`, `view` and `arg` gives back."""
        return self.page.evaluate(f"async (arg) => {{ {FIND} {script} }}", arg)

    def wait(self, test: str, arg: Any = None) -> None:
        """Until a test on `root`, `view` and `arg` holds."""
        script = f"(arg) => {{ {FIND} return Boolean(root && view?.scene && ({test})); }}"
        self.page.wait_for_function(script, arg=arg, polling=POLL_MS)

    def rest(self) -> None:
        """Until what was asked for is drawn."""
        self.page.evaluate(AT_REST)

    @property
    def scene(self) -> dict[str, Any]:
        return json.loads(self.run("return root.dataset.scene"))

    def size(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})
        self.wait("view.layers.size.width === view.layers.svg.parentElement.clientWidth")
        self.rest()
        self.wait("view.time.width === view.time.svg.parentElement.clientWidth")

    def texts(self) -> list[Drawn]:
        """What both cards say in their pictures."""
        return [Drawn(**found) for found in self.run(TEXTS)]

    @property
    def cut(self) -> list[str]:
        """Texts beside the pictures that are cut; those of a layer's own name may be."""
        return self.run("""return [...root.querySelectorAll('.result *, .head *, .inspector *')]
          .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
          .filter((e) => e.checkVisibility() && !e.closest('.first, .who'))
          .filter((e) => {
            const box = e.getBoundingClientRect();
            const frame = e.closest('.segments > div, .inspector, .result, .head')
              .getBoundingClientRect();
            return e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline'
              || box.right > frame.right + 1;
          }).map((e) => e.textContent);""")

    @property
    def smallest(self) -> float:
        """Pixels of the smallest text."""
        return self.run("""return Math.min(...[...root.querySelectorAll('*')]
          .filter((e) => e.checkVisibility())
          .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
          .map((e) => parseFloat(getComputedStyle(e).fontSize)));""")

    @property
    def said(self) -> str:
        """The line at the foot."""
        return self.page.locator(".overview .inspector").inner_text()

    @property
    def selected(self) -> str:
        """What all canvases of the page share as selected."""
        return self.page.evaluate("window.graphturboCommon.selected")

    def point(self, script: str) -> tuple[float, float]:
        """Where on the page a point is; `script` gives the SVG and [x, y] in it."""
        x, y = self.run(f"""const [svg, [x, y]] = {script}; const box = svg.getBoundingClientRect();
          return [box.left + x, box.top + y];""")
        return x, y

    def layer_at(self, layer: int, column: str) -> tuple[float, float]:
        """The middle of a layer's row in a column of the left card."""
        return self.point(f"""(() => {{
          const row = view.layers.rows.find((r) => r.first <= {layer} && {layer} <= r.last);
          const {{ x, width }} = view.layers.columns.{column};
          return [view.layers.svg, [x + width / 2, row.y + row.h / 2]]; }})()""")

    def time_at(self, block: str, share: float, row: str = "matrix") -> tuple[float, float]:
        """A point of a row of the right card, at this share of its width."""
        return self.point(f"""(() => {{
          const {{ y, h }} = view.time.blocks.{block}.rows.{row};
          return [view.time.svg, [view.time.x0 + {share} * view.time.plot, y + h / 2]]; }})()""")

    def move(self, point: tuple[float, float]) -> None:
        """Point there."""
        self.page.mouse.move(*point)
        self.rest()

    def press(self, *keys: str) -> None:
        """Press keys in the right card, one after the other."""
        self.run("view.time.svg.focus();")
        for key in keys:
            self.page.keyboard.press(key)
        self.rest()

    def clear(self) -> None:
        """Give up what is pointed at, chosen and magnified; nothing plays."""
        self.page.mouse.move(2, 2)
        self.press("Escape")


@contextmanager
def default_pair(
    browser: Browser, address: str, theme: Literal["light", "dark"]
) -> Iterator[Overview]:
    """The default pair at 1440 x 900 in one page of a theme, which ends without an error."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme=theme)
    found = Overview(AppPage.of(context, address))
    found.open("")
    yield found
    errors = [*found.visit.errors]
    context.close()
    assert errors == []
