"""What-if in headless Chromium: points come, boxes and links, a point is used, cancelled, saved."""

from __future__ import annotations

import csv
import re

import pytest
from playwright.sync_api import expect

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from tests.ui.app_server import AppPage
from tests.ui.axe import serious_faults
from tests.ui.browser.what_if.what_if_page import SMALL, THUMB, heading, open_page, settle
from tests.ui.contrast import Faint, faint_texts

pytestmark = pytest.mark.browser

HELP = "ask=What+would+help+most"
SIZES = "ask=Smallest+LB+and+GB"
TWO_MODELS = "models=teaching-resnet&models=dlrm&lb_values=128,256&gb_values=1,2"
HALVES = "over=×1/2&over=×1&over2=×1/2&over2=×1"

SLOW_RENDERING = """
const post = MessagePort.prototype.postMessage;
MessagePort.prototype.postMessage = function (...given) {
  setTimeout(() => post.apply(this, given), 60);
};"""
"""JavaScript: React begins its work through message ports, here as late as on a busy machine."""


def unreadable(visit: AppPage) -> list[Faint]:
    return [found for found in faint_texts(visit.page) if THUMB not in found.where]


def test_the_pictures_of_all_questions(visit: AppPage) -> None:
    for name, query, words in (
        ("range", "vary=LB+size&over=×1/2&over=×2", "LB size: "),
        ("map", "vary=LB+size&vary2=DRAM+bandwidth&over=×1/4&over=×1&over2=×1&over2=×2", "in all"),
        ("help", HELP, "as fast"),
        ("sizes", f"{SIZES}&lb=×1/2&lb=×2&gb=×1/2&gb=×1", "of the speed of teaching-resnet"),
        ("twice", f"{HELP}&change=twice", "as fast"),
        ("models", f"{SIZES}&{TWO_MODELS}", "all 2 models"),
        ("batch", "vary=Batch&figure=Matrix+utilisation", "^Batch: "),
        ("cluster-batch", "vary=Cluster+batch", "^Cluster batch: "),
        ("clusters", f"vary=Clock&vary2=Clusters&figure=Time&{HALVES}", "in all 9 cells"),
    ):
        open_page(visit, query)
        heading(visit, re.compile(words))
        for theme in visit.in_both_themes():
            visit.shoot(f"what-if-{name}-{theme}")
            assert unreadable(visit) == []
            assert serious_faults(visit) == []


def test_presenting_leaves_sentence_and_picture(visit: AppPage) -> None:
    open_page(visit, "vary=LB+size&present=1")
    heading(visit, re.compile("LB size: "))
    expect(visit.page.get_by_text("Strategies", exact=True)).to_be_hidden()
    sizes = visit.page.evaluate(
        """() => [...document.querySelectorAll(".js-plotly-plot text")]
          .filter((text) => text.textContent.trim())
          .map((text) => parseFloat(getComputedStyle(text).fontSize))"""
    )
    assert sizes and min(sizes) >= 18
    assert serious_faults(visit) == []


def test_a_figure_is_that_of_a_single_run_and_the_table_is_a_file(visit: AppPage) -> None:
    open_page(visit, "vary=GB+size&over=×1/2&over=×1")
    with visit.page.expect_download() as waited:
        visit.page.get_by_role("button", name="Points as CSV").click()
    rows = list(csv.DictReader(waited.value.path().read_text(encoding="utf-8").splitlines()))
    assert [row["cluster.gb_bytes"] for row in rows[::2]] == ["1048576", "1572864", "2097152"]
    request = RunRequest("teaching-resnet", "graphturbo@2", "generic-4x4", 8, has_pictures=False)
    contract = run_report(load_sample("teaching-resnet"), request).contract
    assert float(rows[-1]["latency_s"]) == contract["latency_s"]
    assert rows[-1]["program_sha256"] == contract["program_sha256"]
    expect(
        visit.page.get_by_text("--vary cluster.gb_bytes=1048576,1572864,2097152")
    ).to_be_visible()


def test_boxes_change_the_picture_and_the_link(visit: AppPage) -> None:
    open_page(visit)
    heading(visit, re.compile("GB size: "))
    visit.page.get_by_role("combobox", name="Draw").click()
    visit.page.get_by_role("option", name="DRAM traffic").click()
    expect(visit.page.get_by_text("DRAM traffic (MiB/sample)").first).to_be_visible()
    visit.page.get_by_role("combobox", name="Vary", exact=True).click()
    visit.page.get_by_role("option", name="Cores", exact=True).click()
    settle(visit)
    heading(visit, re.compile("Cores: "))
    expect(visit.page).to_have_url(re.compile(r"figure=DRAM\+traffic"))
    expect(visit.page).to_have_url(re.compile(r"vary=Cores"))
    with visit.box("share") as box:
        expect(box.get_by_text(re.compile("vary=Cores")).first).to_be_visible()
    visit.page.goto(visit.page.url)
    settle(visit)
    heading(visit, re.compile("Cores: "))
    expect(visit.page.get_by_text("DRAM traffic (MiB/sample)").first).to_be_visible()


def test_the_link_has_a_box_whose_value_came_with_the_address_before(visit: AppPage) -> None:
    """Streamlit's page sends a value at once, with the address that it rendered last."""
    visit.page.add_init_script(SLOW_RENDERING)
    open_page(visit)
    for figure in ("DRAM traffic", "Matrix utilisation"):
        visit.page.get_by_role("combobox", name="Draw").click()
        visit.page.get_by_role("option", name=figure).click()
        visit.await_link(f"figure={figure.replace(' ', '+')}&version=")


def test_a_wrong_link_is_said(visit: AppPage) -> None:
    open_page(visit, "vary=Everything&change=thrice")
    expect(visit.page.get_by_text("“Everything” is not a choice.")).to_be_visible()
    expect(visit.page.get_by_text("“thrice” is not a choice.")).to_be_visible()
    heading(visit, re.compile("GB size: "))


def test_a_point_is_picked_and_its_chip_used(visit: AppPage) -> None:
    open_page(visit, "vary=GB+size&over=×1/2&over=×1")
    point = visit.page.locator(".scatterlayer .trace").nth(1).locator(".point").nth(0)
    point.click(force=True)
    picked = visit.page.locator(".st-key-what_if_picked")  # a label on the point has it too
    expect(picked.get_by_text("GB size 1 MiB")).to_be_visible()
    visit.rest()
    for _ in visit.in_both_themes():
        assert unreadable(visit) == []
        assert serious_faults(visit) == []
    visit.page.get_by_role("button", name="Use this chip and batch").click()
    settle(visit)
    expect(visit.page.locator(".bar-facts")).to_contain_text("GB 1 MiB")


def test_a_row_of_the_table_is_picked(visit: AppPage) -> None:
    open_page(visit, HELP)
    visit.page.get_by_text("Table of points").click()
    table = visit.page.get_by_test_id("stDataFrame")
    expect(table).to_be_visible()
    box = table.bounding_box()
    assert box is not None
    visit.page.mouse.click(box["x"] + 15, box["y"] + 52)
    expect(visit.page.get_by_text("the chip as it is").first).to_be_visible()
    expect(visit.page.get_by_role("button", name="Use this chip and batch")).to_be_visible()


def test_points_are_cancelled_and_taken_up_again(visit: AppPage) -> None:
    many = "vary=Launch&over=×1/32&over=×32&vary2=Barrier&over2=×1/32&over2=×32"
    visit.page.goto(f"{visit.address}/what-if?{SMALL}&{many}")
    visit.page.get_by_role("button", name="Cancel").click()
    expect(visit.page.get_by_text(re.compile(r"\d+ of 242 runs computed\."))).to_be_visible()
    visit.rest()
    visit.page.get_by_role("button", name="Go on").click()
    expect(visit.page.get_by_text(re.compile("Simulating"))).to_be_visible()
    visit.page.get_by_role("button", name="Cancel").click()
    expect(visit.page.get_by_role("button", name="Go on")).to_be_visible()


def test_too_many_points_are_refused(visit: AppPage) -> None:
    many = "vary=Launch&over=×1/32&over=×32&vary2=Barrier&over2=×1/32&over2=×32"
    runs = "".join(
        f"&runs={name}" for name in ("tvm", "astitch", "layerwise", "graphturbo", "tvm%402")
    )
    visit.page.goto(f"{visit.address}/what-if?{SMALL}&{many}{runs}")
    expect(visit.page.get_by_text("605 runs are more than the 600 of one picture")).to_be_visible()


def test_the_menu_lists_the_page(visit: AppPage) -> None:
    visit.open(f"?{SMALL}")
    visit.turn_to("What-if", re.compile("GB size"))  # type: ignore[arg-type]
    settle(visit)
    expect(visit.page).to_have_url(re.compile("/what-if.*model=teaching-resnet"))
