"""The passes in headless Chromium: the order step by step, bindings by kernel and tensor."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui.app_server import AppPage
from tests.ui.contrast import faint_texts

pytestmark = pytest.mark.browser

CHAINED = "?model=resnet50-slim&batch=64&views=Algorithms"


@pytest.mark.parametrize("visit", ["light", "dark"], indirect=True)
def test_the_order_is_stepped_through_and_bindings_are_drawn(visit: AppPage, request):
    page = visit.page
    page.goto(f"{visit.address}/{CHAINED}")
    expect(page.get_by_text("A: tvm@16 does without this algorithm.")).to_have_count(3)
    expect(page.get_by_text("Step 1 of 19")).to_be_visible()
    expect(page.get_by_text("done: nothing yet")).to_be_visible()
    run = page.locator("li", has_text="runs: ").inner_text()
    page.get_by_role("slider", name="Step of B's order").press("ArrowRight")
    expect(page.get_by_text("Step 2 of 19")).to_be_visible()
    expect(page.get_by_text(f"done: {run.removeprefix('runs: ')}")).to_be_visible()
    charts = page.locator(".js-plotly-plot")
    expect(charts).to_have_count(2)
    expect(charts.nth(1)).to_contain_text("core 7")
    before = page.get_by_text("Nested list of the vendor").nth(1).inner_text()
    box = page.get_by_role("combobox", name="Kernel of B")
    box.click()
    box.fill("g2/8")
    box.press("Enter")
    expect(page.get_by_text("Nested list of the vendor").nth(1)).not_to_have_text(before)
    expect(charts.nth(1)).to_contain_text("core 7")
    page.wait_for_timeout(500)
    visit.shoot(f"passes-{request.node.callspec.params['visit']}")
    # what stands on a heatmap's cells is judged in test_passes: the checker does not see images
    texts = [found for found in faint_texts(page) if found.where.startswith("g.")]
    assert [found for found in texts if "heatmap-label" not in found.where] == []
