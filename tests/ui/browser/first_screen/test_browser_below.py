"""Below the first screen: what a click leads to is in sight, and a refusal leaves the pictures."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui.app_server import AppPage
from tests.ui.overview_page import Overview

pytestmark = pytest.mark.browser

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
    screen = Overview(visit)
    screen.open("?model=bert-large&chip=generic-4x4&batch=64&views=", runs=1)
    for width, height in ((1440, 900), (1280, 720)):
        screen.size(width, height)
        assert visit.page.locator(".st-key-refusal_b").bounding_box()["height"] < 60
        foot = screen.run("return root.querySelector('.stage').getBoundingClientRect().bottom")
        assert foot <= height
    visit.page.get_by_role("button", name="Details").click()
    expect(visit.page.get_by_text("Code TOO_MANY_INSTRUCTIONS")).to_be_visible()
