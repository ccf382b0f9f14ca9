"""Below the first screen: what a click leads to is in sight, and a refusal leaves the pictures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
from playwright.sync_api import expect

from tests.ui.app_server import PATIENCE_MS, AppPage
from tests.ui.overview_page import Overview

pytestmark = pytest.mark.browser

PATIENCE_OF_LONG_MS = 3 * PATIENCE_MS
"""For a run of `bert-large`: 40 s on an idle core, and two tests may have it run at once."""
IS_AT_THE_TOP = """(place) => {
  const box = document.querySelector(place)?.getBoundingClientRect();
  return box && box.top >= 40 && box.top < 200;
}"""


def test_the_name_of_a_view_leads_to_it_and_closing_it_moves_nothing(visit: AppPage) -> None:
    screen = Overview(visit)
    screen.open("?views=Why")
    screen.size(1440, 900)
    name = visit.page.locator(".st-key-views button", has_text="Every core")
    name.click()
    visit.page.wait_for_function(IS_AT_THE_TOP, arg=".st-key-view_every_core")
    name.click()
    expect(visit.page.locator(".st-key-view_every_core")).to_have_count(0)
    expect(name).to_be_in_viewport()


def test_an_edit_is_listed_in_sight_of_the_button_that_made_it(visit: AppPage) -> None:
    screen = Overview(visit)
    screen.open("?views=Why")
    screen.size(1280, 720)
    visit.page.get_by_role("button", name="Edit plan").click()
    visit.page.wait_for_function(IS_AT_THE_TOP, arg=".st-key-view_plan_edits")
    visit.page.get_by_role("button", name="Forbid this merge").click()
    for label in ("Undo", "Run B again"):
        found = visit.page.get_by_role("button", name=label, exact=True)
        expect(found).to_be_in_viewport(ratio=1)


def test_a_refused_run_leaves_the_pictures_of_the_other_in_sight(visit: AppPage) -> None:
    """One row says it; the details are in a popover."""
    visit.page.set_default_timeout(PATIENCE_OF_LONG_MS)
    screen = Overview(visit)
    screen.open("?model=bert-large&chip=generic-4x4&batch=64&views=", runs=1)
    for width, height in ((1440, 900), (1280, 720)):
        screen.size(width, height)
        assert visit.page.locator(".st-key-refusal_b").bounding_box()["height"] < 60
        # As tall as the window below the row, once it is drawn for this size.
        screen.wait("Math.abs(root.getBoundingClientRect().bottom - arg) <= 2", height)
        foot = screen.run("return root.querySelector('.stage').getBoundingClientRect().bottom")
        assert 0 < foot <= height
    visit.page.get_by_role("button", name="Details").click()
    expect(visit.page.get_by_text("Code TOO_MANY_INSTRUCTIONS")).to_be_visible()


def test_presenting_a_refused_run_is_said_on_the_ground_of_the_pictures(visit: AppPage) -> None:
    visit.page.set_default_timeout(PATIENCE_OF_LONG_MS)
    screen = Overview(visit)
    screen.open("?model=bert-large&chip=generic-4x4&batch=64&views=&present=1", runs=1)
    for width, height in ((1440, 900), (1280, 720)):
        screen.size(width, height)
        screen.wait("Math.abs(root.getBoundingClientRect().bottom - arg) <= 2", height)
    row = visit.page.locator(".st-key-refusal_b")
    expect(row.get_by_role("button")).to_have_count(0)
    for _ in visit.in_both_themes():
        behind = row.evaluate("(row) => getComputedStyle(row, '::before').backgroundColor")
        assert behind == screen.run("return getComputedStyle(root).backgroundColor")


TEXTS_OF_CHARTS = """() => [...document.querySelectorAll(".js-plotly-plot")].map((plot) => [
  [...plot.querySelectorAll("[class$=tick] text, text[class$=title], .annotation-text")]
    .map((e) => [e.getBoundingClientRect(), e.textContent])
    .map(([{ left, right, top, bottom }, text]) => [left, right, top, bottom, text]),
  plot.data.some((trace) => trace.orientation === "h")
    ? [...plot.querySelectorAll(".trace.bars .point path")]
      .map((e) => e.getBoundingClientRect()).filter(({ width }) => width > 1)
      .map(({ height }) => height)
    : [],
])"""


def is_over(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two boxes, left, right, top and bottom, lie over one another."""
    across = min(one[1], other[1]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[2], other[2])
    return across > 1 and down > 3  # boxes of texts have room above and below the letters


def test_on_a_phone_charts_have_their_texts_apart_and_their_bars_thick(visit: AppPage) -> None:
    visit.resize(390, 844)
    screen = Overview(visit)
    screen.open("?views=Why&views=Memory")
    expect(visit.page.locator(".js-plotly-plot")).to_have_count(7)
    found = visit.page.evaluate(TEXTS_OF_CHARTS)
    assert len(found) == 7
    for texts, bars in found:
        over = [(one[4], other[4]) for one, other in combinations(texts, 2) if is_over(one, other)]
        assert over == []
        assert [text[4] for text in texts if text[1] > 390 + 1] == []
        assert all(height >= 10 for height in bars), "bars that lie are as thick as a line of text"
