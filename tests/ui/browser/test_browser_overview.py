"""The first screen in headless Chromium: places, texts, numbers, pointer, keys, Play, blocks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.ui.app_server import POLL_MS, AppPage

pytestmark = pytest.mark.browser

BERT = "?model=bert-base&a=tvm@8&b=graphturbo@8&batch=32"
SIZES = ((1440, 900), (1280, 720), (1920, 1080), (390, 844))
FIND = """const all = (root) => [...root.querySelectorAll('*')].flatMap(
  (e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);
const root = all(document).find((e) => e.classList?.contains('overview'));
const view = root?.view;"""
"""JavaScript: the first screen's root and its view."""
AT_REST = """new Promise((done) => requestAnimationFrame(
  () => requestAnimationFrame(() => setTimeout(done, 60))))"""
TEXTS = """
  const cards = [...root.querySelectorAll('.card')].map((card) => card.getBoundingClientRect());
  return [...root.querySelectorAll('svg')].map((svg, card) => ({
    card: cards[card].toJSON(),
    texts: [...svg.querySelectorAll('text')].filter((t) => t.textContent).map((t) => ({
      text: t.textContent, size: Number(t.getAttribute('font-size')),
      box: t.getBoundingClientRect().toJSON(),
    })),
  }));"""


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


@pytest.fixture(scope="module")
def opened(browser: Browser, address: str) -> Iterator[Callable[[str], Overview]]:
    """The first screen of a query, one page each for all tests of the file; no error meanwhile."""
    visits: dict[str, AppPage] = {}
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")

    def open_once(query: str) -> Overview:
        if query not in visits:
            visits[query] = AppPage.of(context, address)
            Overview(visits[query]).open(query)
        return Overview(visits[query])

    yield open_once
    errors = [error for visit in visits.values() for error in visit.errors]
    context.close()
    assert errors == []
