"""Verification in headless Chromium: kept replays on one scale, a replay of one's own, states."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from graphturbo_core.report.verdict.kept_replays import kept_replays
from tests.ui.app_server import AppPage
from tests.ui.axe import serious_faults
from tests.ui.contrast import faint_texts
from tests.ui.type_size import least_type

pytestmark = pytest.mark.browser

NEVER_REPLAYED = "?model=teaching-resnet&batch=8&a=tvm@2&b=graphturbo@2"


def open_page(visit: AppPage, query: str) -> None:
    visit.page.goto(f"{visit.address}/verification{query}")
    expect(visit.page.locator(".replay-card")).to_have_count(2)
    visit.rest()


def headline(visit: AppPage, sentence: str) -> None:
    expect(visit.page.get_by_role("heading", level=1)).to_have_text(sentence)


def places(visit: AppPage) -> list[float]:
    """Centres of the dots as shares of their scales."""
    return visit.page.locator(".replay-scale").evaluate_all(
        """(scales) => scales.map((scale) => {
          const all = scale.getBoundingClientRect();
          const dot = scale.querySelector(".found").getBoundingClientRect();
          return (dot.left + dot.width / 2 - all.left) / all.width;
        })"""
    )


@pytest.mark.parametrize("present", ["", "?present=1"])
def test_the_default_runs_have_kept_replays(visit: AppPage, present: str) -> None:
    """From 1e-9 to 1, a dot at 1e-6 is a third of the way."""
    visit.resize(1440, 900)
    open_page(visit, present)
    headline(visit, "A and B compute what the model computes")
    kept = {
        each["strategy"]: each["largest_difference"]
        for each in kept_replays().values()
        if (each["model"], each["batch"]) == ("resnet50-slim", 64)
    }
    found = places(visit)
    for strategy, place in zip(("tvm@16", "graphturbo@16"), found, strict=True):
        assert 1e-9 * 10 ** (9 * place) == pytest.approx(kept[strategy], rel=0.1)
    for theme in visit.in_both_themes():
        assert faint_texts(visit.page) == []
        visit.shoot(f"verification{'-present' if present else ''}-{theme}")
    assert least_type(visit.page, "[data-testid=stMain]") >= (18 if present else 11)
    assert serious_faults(visit) == []
    foot = visit.page.locator(".replay-more").bounding_box()
    assert foot["y"] + foot["height"] <= visit.page.viewport_size["height"]


def test_a_replay_is_asked_for_and_draws_its_own_outputs(visit: AppPage) -> None:
    open_page(visit, NEVER_REPLAYED)
    headline(visit, "A and B have not been replayed")
    assert places(visit) == []
    button = visit.page.get_by_role("button", name="Verify A and B")
    button.click()
    expect(button).to_have_count(0)
    headline(visit, "A and B compute what the model computes")
    expect(visit.page.locator(".replay-name").first).to_contain_text("scores")
    expect(visit.page.get_by_text("Outputs of B, graphturbo@2")).to_be_visible()
    found = places(visit)
    assert len(found) == 2 and all(0.1 < place < 0.6 for place in found)
    visit.page.goto(f"{visit.page.url}&present=1")
    expect(visit.page.locator(".replay-scale")).to_have_count(2)
    visit.rest()
    assert least_type(visit.page, "[data-testid=stMain]") >= 18


def test_a_narrow_page_stacks_its_cards(visit: AppPage) -> None:
    visit.resize(390, 844)
    open_page(visit, "")
    first, second = (visit.page.locator(".replay-card").nth(place) for place in (0, 1))
    assert second.bounding_box()["y"] > first.bounding_box()["y"] + 100
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
