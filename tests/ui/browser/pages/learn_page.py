"""What tests of the page Learn do: open it, press keys, and read what its picture shows."""

from __future__ import annotations

import json

from playwright.sync_api import Locator

from tests.ui.app_server import AppPage
from tests.ui.contrast import faint_texts
from tests.ui.type_size import least_type

SIZES_IN_TURN = ((1280, False), (1920, False), (1920, True), (1280, True))
"""Widths of the window, and whether the answer is revealed: each pair once in one visit."""
NAMED_MS = 600
"""In which the address names the step that somebody went to."""


def open_page(visit: AppPage, query: str = "") -> Locator:
    visit.page.goto(f"{visit.address}/learn{query}")
    found = visit.page.locator(".learn[data-scene]")
    found.wait_for()
    visit.rest()
    return found


def scene(visit: AppPage) -> dict:
    return json.loads(visit.page.locator(".learn").get_attribute("data-scene") or "{}")


def await_scene(visit: AppPage, test: str) -> dict:
    """Wait until `test`, JavaScript on `scene`, holds."""
    visit.page.wait_for_function(
        f"""() => {{
          const all = (root) => [...root.querySelectorAll("*")].flatMap(
            (e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);
          const found = all(document).find((e) => e.matches(".learn[data-scene]"));
          const scene = found && JSON.parse(found.dataset.scene);
          return scene && {test};
        }}"""
    )
    return scene(visit)


def settle(visit: AppPage) -> None:
    """Wait until the address is named and the script has run: Streamlit pales the bar meanwhile."""
    visit.page.wait_for_timeout(NAMED_MS)
    visit.rest()


def press(visit: AppPage, *keys: str) -> None:
    for key in keys:
        visit.page.keyboard.press(key)


def fit(visit: AppPage, width: int) -> int:
    """Give the window this width at 16:9, and wait until the picture is drawn; gives the height."""
    height = width * 9 // 16
    visit.resize(width, height)
    visit.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => "
                        "requestAnimationFrame(done)))")  # fmt: skip
    return height


def assert_fits(visit: AppPage, found: Locator, height: int, least: int) -> None:
    """All of the step is on the screen, no text is cut, too small or too faint."""
    box = found.bounding_box()
    assert box["y"] + box["height"] <= height + 1
    side = found.locator(".side")
    assert side.evaluate("each => each.scrollHeight - each.clientHeight") <= 1
    shown = "document.documentElement.scrollWidth <= window.innerWidth"
    assert visit.page.evaluate(shown)
    assert least_type(visit.page, ".learn") >= least
    assert faint_texts(visit.page) == []
