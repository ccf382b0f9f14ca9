"""What tests of the page Learn do: open it, press keys, and read what its picture shows."""

from __future__ import annotations

import json

from playwright.sync_api import Locator

from tests.ui.app_server import AppPage

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
