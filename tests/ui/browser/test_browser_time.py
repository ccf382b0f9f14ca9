"""Where the time goes in headless Chromium: a dot, a bar and a row select, and texts are read."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui.app_server import POLL_MS, AppPage
from tests.ui.contrast import faint_texts

pytestmark = pytest.mark.browser

MAP = "Address map"
SMALL = "?model=teaching-resnet&batch=8&views=Memory&views=Why"


def settle(visit: AppPage, query: str) -> None:
    """The address map and all charts are on the page."""
    visit.open(query)
    expect(visit.page.locator(".js-plotly-plot")).to_have_count(7)


def test_a_dot_and_a_row_select_their_layer_in_all_views(visit: AppPage):
    settle(visit, SMALL)
    roofline = visit.page.locator(".js-plotly-plot").nth(0)
    dot = roofline.locator(".scatterlayer .trace").nth(1).locator(".point").nth(2)
    dot.click(force=True)
    selected = visit.await_scene(MAP, "scene.selected.startsWith('b-layer-')")["selected"]
    layer = int(selected.rsplit("-", 1)[1])
    visit.page.wait_for_function(
        """(layer) => {
          const chart = document.querySelectorAll(".js-plotly-plot")[5];
          const bars = [...(chart?.querySelectorAll(".trace.bars") ?? [])];
          return bars.length === 8 && bars.every((trace) =>
            [...trace.querySelectorAll(".point path")].every(
              (bar, index) => (getComputedStyle(bar).opacity === "1") === (index === layer)));
        }""",
        arg=layer,
        polling=POLL_MS,
    )
    visit.page.get_by_text("Table of layers").click()
    expect(visit.page.get_by_text("Tick a row to select it in all views.")).to_be_visible()


@pytest.mark.parametrize("visit", ["light"], indirect=True)
def test_charts_are_readable_and_the_layers_are_a_file(visit: AppPage, request):
    settle(visit, SMALL)
    visit.page.wait_for_timeout(500)
    visit.shoot(f"time-{request.node.callspec.params['visit']}")
    faint = [
        found for found in faint_texts(visit.page) if "svg" in found.where or "g." in found.where
    ]
    assert faint == []
    with visit.page.expect_download() as waited:
        visit.page.get_by_role("button", name="Layers as CSV").click()
    lines = waited.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("run,layer,name,op types,sub-graph,")
    assert len(lines) == 1 + 2 * 13
