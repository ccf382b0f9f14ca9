"""What tests of the page Learn do: open it, press keys, and read what its picture shows."""

from __future__ import annotations

import json
from collections.abc import Callable

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


def assert_fits(
    visit: AppPage, open_step: Callable[[], Locator], answer: str, more: str, name: str
) -> Locator:
    """All of a step is on the screen at every size, no text is cut, too small or too faint.

    `answer`: the key of the right one. `more`: what the link has so that somebody presents.
    """
    fit(visit, SIZES_IN_TURN[0][0])
    found = open_step()
    side = found.locator(".side")
    for width, is_revealed in SIZES_IN_TURN:
        height = fit(visit, width)
        if is_revealed and not scene(visit)["isRevealed"]:
            press(visit, answer, "r")
            await_scene(visit, "scene.isRevealed && scene.time === 1")
        box = found.bounding_box()
        assert box["y"] + box["height"] <= height + 1
        assert side.evaluate("each => each.scrollHeight - each.clientHeight") <= 1
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        assert found.locator(".picture").bounding_box()["width"] > 0.58 * width
        assert least_type(visit.page, ".learn") >= (28 if more else 11)
        assert faint_texts(visit.page) == []
        visit.shoot(f"{name}-{width}{'-present' if more else ''}-{is_revealed:d}")
    return found
