"""Schedulers in headless Chromium: all strategies drawn, cancelled, opened in Explore."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from graphturbo_core.strategies.registry import STRATEGIES
from graphturbo_core.units import format_seconds
from tests.comparison.runs import run_of
from tests.ui.app_server import AppPage
from tests.ui.axe import serious_faults
from tests.ui.contrast import faint_texts
from tests.ui.type_size import least_type

pytestmark = pytest.mark.browser

SMALL = "?model=teaching-resnet&chip=generic-4x4&batch=8&a=tvm@2&b=graphturbo@2"
LONG = "?model=conformer&chip=stcp920"
NAMES = [*(name for name, each in STRATEGIES.items() if not each.is_search), "graphturbo:plus"]


def open_page(visit: AppPage, query: str = SMALL) -> None:
    """Wait until every strategy has its time."""
    visit.page.goto(f"{visit.address}/schedulers{query}")
    expect(visit.page.locator(".side-time b")).to_have_count(len(NAMES))
    visit.rest()


@pytest.mark.parametrize("present", ["", "&present=1"])
def test_every_strategy_has_a_column(visit: AppPage, present: str) -> None:
    open_page(visit, f"{SMALL}{present}")
    assert visit.page.locator(".side-head a").all_inner_texts() == NAMES
    times = dict(zip(NAMES, visit.page.locator(".side-time b").all_inner_texts(), strict=True))
    for name in ("tvm", "xla", "graphturbo"):
        assert times[name] == format_seconds(run_of(f"{name}@2").figures.latency_s)
    expect(visit.page.get_by_role("heading", level=1)).to_contain_text("the fastest")
    plots = visit.page.locator(".side-plot")
    assert all(plots.nth(at).locator(".box").count() for at in range(len(NAMES)))
    assert least_type(visit.page, ".side-card, .side-head-line, .side-why") >= 11
    for _ in visit.in_both_themes():
        assert faint_texts(visit.page) == []
        assert serious_faults(visit) == []


def test_a_name_opens_explore_with_that_strategy_as_b(visit: AppPage) -> None:
    open_page(visit)
    visit.page.get_by_role("link", name="xla", exact=True).click()
    visit.settle()
    assert "b=xla%402" in visit.page.url
    assert "model=teaching-resnet" in visit.page.url


def test_the_menu_leads_here(visit: AppPage) -> None:
    visit.page.goto(f"{visit.address}/verification{SMALL}")
    visit.rest()
    visit.turn_to("Schedulers", "the fastest")
    visit.rest()
    assert "model=teaching-resnet" in visit.page.url


def test_runs_are_cancelled_and_go_on(visit: AppPage) -> None:
    visit.page.goto(f"{visit.address}/schedulers{LONG}")
    visit.page.get_by_role("button", name="Cancel").click()
    waiting = visit.page.locator(".st-key-schedulers_waiting")
    expect(waiting).to_contain_text("Not run: ")
    visit.rest()
    expect(visit.page.locator(".side-plot.empty").first).to_contain_text("not run")
    visit.page.get_by_role("button", name="Go on").click()
    expect(waiting).to_contain_text(re.compile(f"of {len(NAMES)}|queue"))


def test_the_search_has_a_column_once_somebody_asks(visit: AppPage) -> None:
    """The switch is the address's, as Explore's third row is; leaving it out keeps the others."""
    open_page(visit)
    heads = visit.page.locator(".side-head a")
    visit.page.get_by_role("button", name="Search a schedule").click()
    expect(heads).to_have_text([*NAMES, "best"])
    times = visit.page.locator(".side-time b")
    expect(times).to_have_count(len(NAMES) + 1)
    visit.page.mouse.move(0, 0)  # the button's help lies over the bar
    visit.await_link("&best=true")
    expect(visit.page.locator(".side-time").last).to_have_class(re.compile("best"))
    visit.page.get_by_role("button", name="Leave the search out").click()
    expect(heads).to_have_text(NAMES)
    expect(times).to_have_count(len(NAMES))
    expect(visit.page.get_by_role("button", name="Search a schedule")).to_be_visible()
