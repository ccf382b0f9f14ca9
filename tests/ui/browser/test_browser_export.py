"""Files of the runs in headless Chromium: they are downloaded, and the page file opens alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from graphturbo_core.export.files import json_text
from graphturbo_ui.palette import HUE_COLOURS
from tests.ui.app_server import PATIENCE_MS, AppPage
from tests.ui.contrast import faint_texts

pytestmark = pytest.mark.browser

QUERY = "?model=teaching-resnet&batch=8&views=Export"
MAX_BYTES = 6_000_000
"""Of the page file of a small comparison."""


def taken(visit: AppPage, button: str) -> tuple[str, Path]:
    """Name and place of what a button downloads."""
    with visit.page.expect_download() as waited:
        visit.page.get_by_role("button", name=button, exact=True).click()
    return waited.value.suggested_filename, waited.value.path()


def scene(page: Page, role: str) -> dict:
    text = page.locator(f"canvas[aria-roledescription='{role}']").get_attribute("data-scene")
    return json.loads(text or "{}")


def test_a_run_is_taken_as_json_trace_and_dot(visit: AppPage) -> None:
    visit.open(QUERY)
    name, path = taken(visit, "B's JSON")
    contract = json.loads(path.read_text(encoding="utf-8"))
    assert (name, contract["model"], contract["batch"]) == ("b.json", "teaching-resnet", 8)
    assert path.read_text(encoding="utf-8") == json_text(contract)
    name, path = taken(visit, "A's trace")
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    assert name == "a.trace.json"
    assert sum(event["ph"] == "X" for event in events) > 100
    name, path = taken(visit, "A's DOT")
    assert name == "a.dot"
    assert path.read_text(encoding="utf-8").startswith("digraph")


def test_the_page_file_opens_without_the_app(
    visit: AppPage, browser: Browser, tmp_path: Path
) -> None:
    visit.open(QUERY)
    name, path = taken(visit, "Report as one HTML file")
    assert name == "report.html"
    kept = tmp_path / name
    kept.write_bytes(path.read_bytes())
    assert kept.stat().st_size < MAX_BYTES
    wrong: list[str] = []
    for scheme in ("light", "dark"):
        with browser.new_context(color_scheme=scheme, offline=True) as context:
            page = context.new_page()
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("console", lambda message: wrong.append(message.text))
            page.on("request", lambda request: _note(request, wrong))
            page.goto(kept.as_uri())
            page.wait_for_selector("body[data-ready]", timeout=PATIENCE_MS)
            _check(page, visit, scheme)
            assert wrong == []


MARKED = """() => [...document.querySelectorAll(".js-plotly-plot")]
  .flatMap(({ data }) => data.flatMap(({ marker }) => marker?.color ?? []))"""
"""JavaScript: the colours of all bars and dots."""


def _note(request: Request, wrong: list[str]) -> None:
    if not request.url.startswith(("file:", "blob:", "data:")):
        wrong.append(request.url)


def _check(page: Page, visit: AppPage, scheme: str) -> None:
    """Every chart is drawn, canvases share what is selected, texts can be read, as in the app."""
    _check_first_screen(page, scheme)
    for role in ("Sub-graph view", "Address map", "Gantt chart"):
        page.wait_for_selector(f"canvas[aria-roledescription='{role}'][data-ready]")
        assert len(scene(page, role)["panes"]) == 2
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    assert page.locator(".js-plotly-plot").count() == 7
    drawn = page.evaluate(MARKED)
    assert {*HUE_COLOURS[scheme]} & {*drawn}
    assert not {*HUE_COLOURS["light" if scheme == "dark" else "dark"]} & {*drawn}
    page.locator("canvas[aria-roledescription='Sub-graph view']").focus()
    page.keyboard.press("BracketRight")
    page.wait_for_function("() => window.graphturboCommon.selected !== ''")
    chosen = page.evaluate("() => window.graphturboCommon.selected")
    page.wait_for_function(
        """() => JSON.parse(document.querySelector("canvas[aria-roledescription='Gantt chart']")
          .dataset.scene).selected"""
    )
    assert chosen.split("-")[1] == "group"
    assert visit.command() in page.locator(".report footer pre").first.inner_text()
    expect(page.locator(".report footer")).to_contain_text(
        re.compile(r"digests: model \w{16}, chip \w{16}")
    )
    for box in page.locator("details").all():
        box.evaluate("(each) => { each.open = true; }")
    assert faint_texts(page) == []
    AppPage(page, "").shoot(f"page-file-{scheme}")


def _check_first_screen(page: Page, scheme: str) -> None:
    """It stands at the top, takes keys, and its button leads to the section of every core."""
    first = page.locator(".overview[data-scene]")
    expect(first).to_have_attribute("data-theme", scheme)
    box, size = first.bounding_box(), page.viewport_size
    assert box and size and (box["y"], box["height"]) == (0, size["height"])
    # No text is cut, though the file has another font than the app.
    texts = first.locator("svg text").all_text_contents()
    assert [text for text in texts if "…" in text] == []
    assert {"Layers in flight", "DRAM link"} <= {*texts}
    assert [text for text in texts if text.startswith("Matrix ×")] != []
    first.locator("svg[data-part=layers]").focus()
    page.keyboard.press("Digit1")
    assert json.loads(first.get_attribute("data-scene") or "{}")["pin"] != {}
    expect(first.get_by_role("button", name="Edit plan")).to_have_count(0)
    page.keyboard.press("Escape")
    first.get_by_role("button", name="Every core").click()
    expect(page.get_by_role("heading", name="Every core", exact=True)).to_be_in_viewport()


@pytest.mark.parametrize("visit", ["light"], indirect=True)
def test_the_view_is_readable(visit: AppPage, request: pytest.FixtureRequest) -> None:
    visit.open(QUERY)
    visit.page.get_by_role("button", name="Prepare plans and programs").click()
    expect(visit.page.get_by_role("button", name="B's program")).to_be_visible()
    visit.settle()
    assert faint_texts(visit.page) == []
    visit.shoot(f"export-{request.node.callspec.params['visit']}")
