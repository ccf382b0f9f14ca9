"""What-if in headless Chromium: typed values, and strategies that search."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.ui.app_server import AppPage
from tests.ui.axe import serious_faults
from tests.ui.browser.what_if.what_if_page import SMALL, THUMB, heading, open_page, settle
from tests.ui.contrast import faint_texts

pytestmark = pytest.mark.browser

VALUES = "or values (MiB)"


def type_values(visit: AppPage, text: str, label: str = VALUES) -> None:
    box = visit.page.get_by_role("textbox", name=label)
    box.fill(text)
    box.press("Enter")


def await_ticks(visit: AppPage, *texts: str) -> None:
    """Wait until the picture has these values below its axis."""
    expect(visit.page.locator(".xaxislayer-above .xtick text")).to_have_text(texts)


def test_values_are_typed_in_the_unit_of_the_page_and_taken_back(visit: AppPage) -> None:
    open_page(visit)
    await_ticks(visit, "256 KiB", "512 KiB", "1 MiB", "2 MiB", "4 MiB", "8 MiB")
    type_values(visit, "1, 3, 4")
    await_ticks(visit, "1 MiB", "3 MiB", "4 MiB")
    settle(visit)
    expect(visit.page).to_have_url(re.compile("[?&]values=1"))
    expect(
        visit.page.get_by_text("--vary cluster.gb_bytes=1048576,3145728,4194304")
    ).to_be_visible()
    with visit.box("share") as box:
        expect(box.get_by_text(re.compile("values=1")).first).to_be_visible()
    visit.page.goto(visit.page.url)
    settle(visit)
    await_ticks(visit, "1 MiB", "3 MiB", "4 MiB")
    type_values(visit, "")
    await_ticks(visit, "256 KiB", "512 KiB", "1 MiB", "2 MiB", "4 MiB", "8 MiB")
    expect(visit.page).not_to_have_url(re.compile("[?&]values="))


def test_back_undoes_each_box(visit: AppPage) -> None:
    open_page(visit)
    usual = "256 KiB", "512 KiB", "1 MiB", "2 MiB", "4 MiB", "8 MiB"
    await_ticks(visit, *usual)
    begun = visit.page.evaluate("history.length")
    for entries, text in enumerate(("1, 3, 4", "1, 2"), 1):
        type_values(visit, text)
        settle(visit)
        visit.page.wait_for_function("(count) => history.length === count", arg=begun + entries)
    await_ticks(visit, "1 MiB", "2 MiB")
    visit.page.go_back()
    await_ticks(visit, "1 MiB", "3 MiB", "4 MiB")
    settle(visit)
    visit.page.go_back()
    await_ticks(visit, *usual)
    expect(visit.page.get_by_role("textbox", name=VALUES)).to_have_value("")


def test_wrong_values_are_refused_below_the_box(visit: AppPage) -> None:
    open_page(visit, "vary2=DRAM+bandwidth&values2=9,+14,+19+GB/s&values=1")
    type_values(visit, "1, 4 GB/s, 2")
    words = "“4 GB/s” is no value of GB size; write for instance 2 MiB"
    shown = visit.page.get_by_text(words)
    expect(shown).to_be_visible()
    box = visit.page.get_by_role("textbox", name=VALUES).bounding_box()
    text = shown.bounding_box()
    assert box is not None and text is not None
    assert text["y"] >= box["y"] + box["height"] and abs(text["x"] - box["x"]) < 16
    settle(visit)
    heading(visit, re.compile("in all 6 cells"))  # two sizes and three rates; B is faster
    for _ in visit.in_both_themes():
        faint = [found for found in faint_texts(visit.page) if THUMB not in found.where]
        assert faint == []
        assert serious_faults(visit) == []
    type_values(visit, "x")
    expect(visit.page.get_by_text("the multiples are drawn")).to_be_visible()


def test_another_number_begins_with_its_multiples(visit: AppPage) -> None:
    open_page(visit, "values=1,4")
    visit.page.get_by_role("combobox", name="Vary", exact=True).click()
    visit.page.get_by_role("option", name="Cores", exact=True).click()
    heading(visit, re.compile("Cores: "))
    expect(visit.page.get_by_role("textbox", name="or values")).to_have_value("")
    expect(visit.page).not_to_have_url(re.compile("[?&]values="))


def test_sizes_of_buffers_are_typed_too(visit: AppPage) -> None:
    open_page(visit, "ask=Smallest+LB+and+GB&lb_values=128,+300&gb_values=0.5,+1")
    heading(visit, re.compile("LB 128 KiB and GB 512 KiB keep"))
    await_ticks(visit, "512 KiB", "1 MiB")


def test_the_points_of_a_search(visit: AppPage) -> None:
    open_page(visit, "values=1,2&runs=best&runs=tvm%402")
    await_ticks(visit, "1 MiB", "2 MiB")
    expect(visit.page.locator(".scatterlayer .trace").first.locator(".point")).to_have_count(2)
    expect(visit.page.get_by_text("per point, one point at a time")).to_have_count(0)


def test_a_search_of_a_side_is_left_out_and_said(visit: AppPage) -> None:
    visit.page.goto(f"{visit.address}/what-if?{SMALL.replace('graphturbo%402', 'best')}&values=1,2")
    settle(visit)
    expect(visit.page.get_by_text("B is a search (best) and is left out")).to_be_visible()
    expect(visit.page.get_by_text("2 runs, all computed")).to_be_visible()


def test_a_search_is_chosen_and_cancelled(visit: AppPage) -> None:
    """A search that takes minutes: Cancel ends the one that runs, and the page goes on."""
    visit.page.goto(f"{visit.address}/what-if?model=vit-b16&values=4,8&runs=layerwise")
    settle(visit)
    strategies = visit.page.get_by_role("combobox", name="Strategies")
    strategies.click()
    strategies.fill("best")
    visit.page.get_by_role("option", name="best", exact=True).click()
    visit.page.keyboard.press("Escape")
    expect(visit.page.get_by_text("Search (best): simulates many plans")).to_be_visible()
    expect(visit.page).to_have_url(re.compile("runs=layerwise&runs=best"))
    visit.page.get_by_role("button", name="Cancel").click()
    expect(visit.page.get_by_text("2 of 4 runs computed.")).to_be_visible()
    drawn = visit.page.locator(".scatterlayer .trace").first.locator(".point")
    expect(drawn).to_have_count(2)
    expect(visit.page.get_by_role("button", name="Go on")).to_be_visible()
    visit.rest()
    strategies.press("Backspace")  # takes the last one away
    settle(visit)
    expect(visit.page.get_by_text("Search (best)")).to_have_count(0)
