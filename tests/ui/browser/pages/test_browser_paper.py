"""The page about the paper in headless Chromium: clicks, filters, links, Explore, axe."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from playwright.sync_api import Locator, expect

from tests.ui.app_server import AppPage
from tests.ui.axe import serious_faults
from tests.ui.contrast import faint_texts
from tests.ui.type_size import least_type

pytestmark = pytest.mark.browser


def open_page(visit: AppPage, query: str = "") -> None:
    visit.page.goto(f"{visit.address}/paper{query}")
    expect(visit.page.locator(".js-plotly-plot")).to_have_count(3)
    visit.rest()


def points(visit: AppPage, chart: int, trace: int) -> Locator:
    plot = visit.page.locator(".js-plotly-plot").nth(chart)
    return plot.locator(".scatterlayer .trace").nth(trace).locator(".points .point")


def shown_row(visit: AppPage, text: str) -> None:
    expect(visit.page.get_by_role("combobox", name="Selected row")).to_have_value(text)


def said(visit: AppPage, text: str) -> None:
    """The page says ``text`` in bold; a picture may repeat it under the mouse."""
    expect(visit.page.locator("strong", has_text=text)).to_be_visible()


def test_a_click_selects_a_row_and_the_address_names_it(visit: AppPage) -> None:
    open_page(visit)
    shown_row(visit, "A ResNet-50")
    expect(points(visit, 0, 0)).to_have_count(10)
    points(visit, 0, 1).nth(4).click(force=True)
    shown_row(visit, "E BERT, 512 tokens")
    expect(visit.page).to_have_url(re.compile(r"row=throughput\.full\.E"))
    said(visit, "Not reproduced: ours is 0.27")
    points(visit, 0, 0).nth(6).click(force=True)
    shown_row(visit, "G MobileNet-v2")
    visit.rest()
    for theme in visit.in_both_themes():
        visit.shoot(f"paper-{theme}")
        assert faint_texts(visit.page) == []


def test_back_undoes_the_last_selection(visit: AppPage) -> None:
    open_page(visit)
    points(visit, 0, 1).nth(4).click(force=True)
    shown_row(visit, "E BERT, 512 tokens")
    visit.rest()
    visit.page.wait_for_timeout(1000)  # the address is named once Streamlit is done
    points(visit, 0, 1).nth(6).click(force=True)
    shown_row(visit, "G MobileNet-v2")
    visit.rest()
    visit.page.wait_for_timeout(1000)
    visit.page.go_back()
    shown_row(visit, "E BERT, 512 tokens")
    visit.rest()


def test_a_click_on_a_step_selects_it(visit: AppPage) -> None:
    open_page(visit, "?row=throughput.full.C")
    points(visit, 1, 1).nth(0).click(force=True)
    expect(visit.page).to_have_url(re.compile(r"row=throughput\.tvm\.C"))
    shown_row(visit, "C BERT, 256 tokens")
    said(visit, "Reproduced: ours is 0.72")


def test_a_link_shows_its_row_and_share_offers_it(visit: AppPage) -> None:
    open_page(visit, "?row=gains.order.H")
    shown_row(visit, "H ViT")
    said(visit, "Not reproduced: ours is 2.95")
    assert "row=gains.order.H" in visit.link()


def test_a_wrong_link_is_said_once(visit: AppPage) -> None:
    open_page(visit, "?row=throughput.full.Q")
    expect(visit.page.get_by_text("The link names the row")).to_be_visible()
    shown_row(visit, "A ResNet-50")
    points(visit, 0, 1).nth(1).click(force=True)
    shown_row(visit, "B BERT, 128 tokens")
    expect(visit.page.get_by_text("The link names the row")).to_have_count(0)


def test_tables_steps_and_filters(visit: AppPage) -> None:
    open_page(visit, "?row=throughput.full.C")
    page = visit.page
    page.get_by_role("radio", name="Gain of a step").click()
    expect(page).to_have_url(re.compile(r"row=gains\.full\.C"))
    page.get_by_role("radio", name="ordering").click()
    expect(page).to_have_url(re.compile(r"row=gains\.order\.C"))
    expect(points(visit, 0, 0)).to_have_count(10)
    visit.rest()
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("button", name="not reproduced", exact=True).click()
    expect(points(visit, 0, 0)).to_have_count(5)
    page.get_by_role("button", name="speech", exact=True).click()
    expect(points(visit, 0, 0)).to_have_count(1)
    expect(page.get_by_role("button", name="Filter (2)")).to_be_visible()
    page.get_by_role("button", name="published above the bound").click()
    page.get_by_role("button", name="not reproduced", exact=True).click()
    expect(page.get_by_text("no row passes the filters")).to_be_visible()


def test_filters_are_in_the_link_and_outlast_another_page(visit: AppPage) -> None:
    open_page(visit, "?row=gains.order.C&result=beyond&kind=transformer")
    page = visit.page
    count = points(visit, 0, 0).count()
    assert 0 < count < 5
    expect(page.get_by_role("button", name="Filter (2)")).to_be_visible()
    link = visit.link()
    assert "result=beyond" in link and "kind=transformer" in link
    visit.turn_to("Verification", "What a replay checks")
    visit.rest()
    assert "result=" not in page.url
    visit.turn_to("Paper", "GraphTurbo is 7.74")
    expect(page.get_by_role("button", name="Filter (2)")).to_be_visible()
    expect(points(visit, 0, 0)).to_have_count(count)
    expect(page).to_have_url(re.compile(r"result=beyond"))
    assert "kind=transformer" in visit.link()
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("button", name="transformer", exact=True).click()
    expect(points(visit, 0, 0)).to_have_count(5)
    expect(page).not_to_have_url(re.compile(r"kind="))


def test_a_row_opens_in_explore_with_its_runs(visit: AppPage) -> None:
    open_page(visit, "?row=throughput.full.F")
    with visit.page.expect_popup() as waited:
        visit.page.get_by_role("link", name="Open in Explore").click()
    explore = AppPage(waited.value, visit.address)
    explore.page.set_default_timeout(120_000)
    explore.settle()
    command = explore.command()
    for words in ("compare dlrm ", "--strategies tvm@64,graphturbo@256", "--batch 1024"):
        assert words in command
    explore.page.close()


def test_a_bar_shows_its_run(visit: AppPage) -> None:
    open_page(visit, "?row=throughput.full.A")
    bars = visit.page.locator(".js-plotly-plot").nth(2).locator(".trace.bars .point path")
    bars.nth(0).click(force=True)
    expect(visit.page.get_by_text("graphturbo.binding: literal:")).to_be_visible()
    link = visit.page.get_by_role("link", name="Open this run in Explore")
    expect(link).to_have_attribute("href", re.compile("set_b=graphturbo.binding%3Dliteral"))
    visit.page.get_by_role("button", name="Filter").click()
    visit.page.get_by_role("button", name="not reproduced", exact=True).click()
    expect(points(visit, 0, 0)).to_have_count(7)
    visit.rest()
    for _ in visit.in_both_themes():
        assert faint_texts(visit.page) == []
        assert serious_faults(visit) == []


def test_the_menu_leads_there(visit: AppPage) -> None:
    visit.open("?model=teaching-resnet&batch=8")
    visit.turn_to("Paper", "GraphTurbo is 7.74")
    expect(visit.page.locator(".js-plotly-plot")).to_have_count(3)


@pytest.mark.parametrize(
    ("width", "height", "scheme"), [(1280, 720, "light"), (1920, 1080, "dark")]
)
def test_an_audience_sees_the_pictures_alone(
    visit: AppPage, width: int, height: int, scheme: Literal["light", "dark"]
) -> None:
    visit.resize(width, height, scheme)
    open_page(visit, "?row=throughput.full.E&result=beyond&present=1")
    page = visit.page
    expect(points(visit, 0, 0)).to_have_count(7)
    for hidden in ("stDataFrame", "stExpander", "stPopover", "stCode", "stSelectbox"):
        expect(page.get_by_test_id(hidden).locator("visible=true")).to_have_count(0)
    expect(page.get_by_role("radio")).to_have_count(0)
    expect(page.get_by_role("heading", name="E BERT, 512 tokens")).to_be_visible()
    assert least_type(page, ".js-plotly-plot") >= 18
    assert least_type(page, ".st-key-paper_head, .st-key-paper_row, .st-key-paper_below") >= 18
    plot = page.locator(".js-plotly-plot").first.bounding_box()
    assert plot is not None and plot["y"] + plot["height"] <= height
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert faint_texts(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Filter (1)")).to_be_visible()
    expect(points(visit, 0, 0)).to_have_count(7)


@pytest.mark.parametrize("query", ["", "?row=stages.tvm.3&present=1"])
def test_no_serious_fault(visit: AppPage, query: str) -> None:
    open_page(visit, query)
    for _ in visit.in_both_themes():
        assert serious_faults(visit) == []
