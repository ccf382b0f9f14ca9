"""Schedulers in headless Chromium: all strategies drawn, cancelled, opened in Explore."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from graphturbo_core.comparison.side_by_side.kept_schedules import KeptRun, kept_schedules
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
REWRITES = ["taso-like", "ios:both"]


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
    shown = ".side-card, .side-head-line, .side-why"
    below = "" if present else ", .side-table, .side-kept"
    assert least_type(visit.page, shown + below) >= 11
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


def test_the_rewrite_searches_have_columns_once_somebody_asks(visit: AppPage) -> None:
    """The address keeps the switch, so a link opens the same columns."""
    open_page(visit)
    heads, times = visit.page.locator(".side-head a"), visit.page.locator(".side-time b")
    visit.page.get_by_role("button", name="Search rewrites").click()
    expect(heads).to_have_text([*NAMES, *REWRITES])
    expect(times).to_have_count(len(NAMES) + len(REWRITES))
    visit.page.mouse.move(0, 0)  # the button's help lies over the bar
    visit.await_link("&rewrites=true")
    visit.page.goto(f"{visit.address}/schedulers{SMALL}&rewrites=true&best=true")
    expect(heads).to_have_text([*NAMES, *REWRITES, "best"])
    expect(times).to_have_count(len(NAMES) + len(REWRITES) + 1)
    for at, name in enumerate(REWRITES, len(NAMES)):
        assert times.nth(at).inner_text() == format_seconds(run_of(f"{name}@2").figures.latency_s)
    visit.page.get_by_role("button", name="Leave the rewrites out").click()
    expect(heads).to_have_text([*NAMES, "best"])
    expect(visit.page).not_to_have_url(re.compile("rewrites"))


@pytest.mark.parametrize(
    ("query", "setting", "chip", "row"),
    [
        (SMALL, "inception_v3_ts, batch 16, 4 per cluster", "generic-4x4", "layerwise"),
        ("?model=bert-base&chip=goya&batch=1&b=tvm@1", "bert-base, batch 1, 1 per cluster",
         "goya", "taso-like"),
    ],
)  # fmt: skip
def test_kept_runs_begin_near_the_bar_and_others_are_chosen(
    visit: AppPage, query: str, setting: str, chip: str, row: str
) -> None:
    visit.page.goto(f"{visit.address}/schedulers{query}")
    table = visit.page.locator(".side-table.kept")
    expect(table).to_contain_text("time of the batch, ms")
    boxes = visit.page.locator(".st-key-schedulers_kept").get_by_role("combobox")
    assert [boxes.nth(at).input_value() for at in range(2)] == [setting, chip]
    kept = {(s.setting, s.chip, s.strategy): s.run for s in kept_schedules()}
    shown = table.get_by_role("row").filter(has=visit.page.get_by_text(row, exact=True))
    expect(shown).to_contain_text(first_cell(kept.get((setting, chip, row))))
    boxes.nth(1).fill("stcp920")
    visit.page.get_by_role("option", name="stcp920").click()
    expect(shown).to_contain_text(first_cell(kept.get((setting, "stcp920", row))))


def first_cell(run: KeptRun | None) -> str:
    """The table's first figure, or why there is none."""
    if run is None or run.has_figures:
        return f"{1e3 * run.latency_s:.3g}" if run else "Not run yet"
    return "takes over" if run.over_seconds else run.refused


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
