"""Measured times in headless Chromium: a file, its dots, a click, a refusal, the template."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.ui.app_server import AppPage
from tests.ui.axe import serious_faults
from tests.ui.contrast import faint_texts

pytestmark = pytest.mark.browser

SMALL = "?model=teaching-resnet&batch=8&views=Memory&views=Why"
SIZE = {"width": 1400, "height": 2600}
MAP = "Address map"
CHART = ".st-key-view_why [data-testid=stExpander] .js-plotly-plot"


def give(visit: AppPage, text: str) -> None:
    """Hand a file to the uploader."""
    file = {"name": "times.csv", "mimeType": "text/csv", "buffer": text.encode()}
    visit.page.locator(".st-key-measured_times input[type=file]").set_input_files([file])


def open_box(visit: AppPage) -> None:
    visit.open(SMALL)
    visit.page.get_by_text("Measured times", exact=True).click()
    expect(visit.page.get_by_text("No times yet.")).to_be_visible()


def filled(visit: AppPage) -> list[str]:
    """The template's lines, each with a time."""
    with visit.page.expect_download() as waited:
        visit.page.get_by_role("button", name="Template with the run's layers").click()
    lines = waited.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0] == "layer,milliseconds" and len(lines) == 14
    return [lines[0], *(f"{line}{place}" for place, line in enumerate(lines[1:], 1))]


def test_a_filled_template_is_drawn_and_a_dot_selects(visit: AppPage) -> None:
    open_box(visit)
    give(visit, "\n".join(filled(visit)))
    expect(visit.page.locator(CHART)).to_have_count(1)
    expect(visit.page.get_by_text("A: Spearman's rank correlation").first).to_be_visible()
    dots = visit.page.locator(CHART).locator(".subplot.x2y2 .scatterlayer .point")
    expect(dots).to_have_count(13)
    visit.rest()
    for theme in visit.in_both_themes():
        visit.shoot(f"measured-{theme}")
        assert faint_texts(visit.page) == []
        assert serious_faults(visit) == []
    dots.nth(2).click(force=True)
    selected = visit.await_scene(MAP, "scene.selected.startsWith('b-layer-')")["selected"]
    assert selected == "b-layer-2"
    expect(visit.page.locator(CHART)).to_have_count(1)
    visit.page.get_by_role("button", name="Forget the times").click()
    expect(visit.page.get_by_text("No times yet.")).to_be_visible()


def test_a_refused_file_leaves_the_times_before(visit: AppPage) -> None:
    open_box(visit)
    give(visit, "layer,seconds\nstem/conv,1\n")
    expect(
        visit.page.get_by_text("Begin with the line", exact=False).or_(
            visit.page.get_by_text("begin with the line", exact=False)
        )
    ).to_be_visible()
    expect(visit.page.get_by_text("No times yet.")).to_be_visible()
    give(visit, "layer,ms\nstem/conv,1\nnothing,2\n")
    expect(visit.page.get_by_text("1 row without a layer")).to_be_visible()
    expect(visit.page.get_by_text("1 layer matched, 3 are needed").first).to_be_visible()
    give(visit, "layer,milliseconds\nstem/conv,fast\n")
    expect(visit.page.get_by_text("Below are still the times")).to_be_visible()
    expect(visit.page.get_by_text("1 row without a layer")).to_be_visible()


def test_back_reload_and_share_restore_the_times_and_forgetting_them_is_undone(
    visit: AppPage, browser: Browser, address: str
) -> None:
    open_box(visit)
    give(visit, "\n".join(filled(visit)))
    expect(visit.page.locator(CHART)).to_have_count(1)
    visit.page.wait_for_url(lambda url: "measured=" in url)
    link = visit.link()
    visit.page.reload()
    visit.settle()
    expect(visit.page.locator(CHART)).to_have_count(1)  # and the box is open
    with browser.new_context(viewport=SIZE, reduced_motion="reduce") as context:
        other = AppPage.of(context, address)
        other.page.goto(f"{address}/{link}")
        expect(other.page.locator(CHART)).to_have_count(1)
        assert other.errors == []
    visit.page.get_by_role("button", name="Forget the times").click()
    visit.page.wait_for_url(lambda url: "measured=" not in url)
    visit.page.go_back()
    expect(visit.page.locator(CHART)).to_have_count(1)
    visit.settle()


def test_times_that_are_gone_are_said_in_words(visit: AppPage) -> None:
    visit.open(f"{SMALL}&measured={'0' * 16}")
    words = "The measured times of this link are not on this server: give their CSV file again."
    expect(visit.page.get_by_text(words)).to_have_count(1)
    visit.page.wait_for_url(lambda url: "measured=" not in url)
