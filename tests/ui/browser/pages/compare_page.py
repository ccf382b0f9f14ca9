"""The page Compare in a browser: opened, rows ticked, files given."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.ui.app_server import AppPage

SMALL = "?model=teaching-resnet&chip=generic-4x4&batch=8&a=tvm@2&b=graphturbo@2"
TABLE = ".st-key-compare_page [data-testid=stDataFrame]"
HEADER_PX, ROW_PX, TICK_PX = 36, 35, 17
"""Heights of the table's heading and rows; the middle of its first column and of a row."""


def open_compare(visit: AppPage, query: str = SMALL) -> None:
    """Turn from Explore to Compare, and wait for A and B."""
    visit.open(query)
    visit.turn_to("Compare", "the fastest")
    await_runs(visit, 2)


def await_runs(visit: AppPage, count: int) -> None:
    """Wait until the picture has so many rows, and no run is on its way."""
    expect(visit.page.locator(".compare-rows .who")).to_have_count(count)
    expect(visit.page.locator(".st-key-compare_waiting")).to_have_count(0)
    visit.rest()


def names(visit: AppPage) -> list[str]:
    return visit.page.locator(".compare-rows .who b").all_inner_texts()


def button(visit: AppPage, name: str) -> Locator:
    return visit.page.get_by_role("button", name=re.compile(f"^{name}"))


def press(visit: AppPage, name: str) -> None:
    button(visit, name).click()
    visit.rest()


def tick(visit: AppPage, row: int, count: int) -> None:
    """Tick a row (from 0) of the table, so that `count` are."""
    table = visit.page.locator(TABLE).last
    table.scroll_into_view_if_needed()
    place = {"x": TICK_PX, "y": HEADER_PX + ROW_PX * row + TICK_PX}
    table.click(position=place)  # type: ignore[arg-type]
    noun = "run" if count == 1 else "runs"
    expect(visit.page.get_by_text(f"{count} {noun} ticked")).to_be_visible()
    visit.rest()


def give_file(visit: AppPage, path: Path, shown: Locator) -> None:
    """Open a file by the button Open, and wait until its effect is `shown`.

    The list is closed after that: Streamlit sends a file while its uploader is drawn.
    """
    button(visit, "Open").first.click()
    visit.page.locator(".st-key-compare_file input[type=file]").set_input_files(path)
    expect(shown).to_be_visible()
    visit.page.keyboard.press("Escape")
    visit.rest()


def row(visit: AppPage, name: str) -> Locator:
    """The name of a run in the picture."""
    return visit.page.locator(".compare-rows .who b", has_text=name).first
