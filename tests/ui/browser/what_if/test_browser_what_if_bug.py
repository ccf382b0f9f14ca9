"""What-if in headless Chromium where a run meets a bug: an error; the other points are there."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.ui.app_server import AppPage, served
from tests.ui.axe import serious_faults
from tests.ui.browser.what_if.what_if_page import THUMB, open_page
from tests.ui.contrast import faint_texts

pytestmark = pytest.mark.browser

BROKEN = Path(__file__).with_name("broken_app.py")


@pytest.fixture(scope="module")
def broken() -> Iterator[str]:
    """The address of a server whose workers meet a bug with a GB of 1 MiB."""
    with served(BROKEN) as address:
        yield address


def test_a_bug_is_an_error_apart_from_refusals(broken: str, browser: Browser) -> None:
    context = browser.new_context(
        color_scheme="light", viewport={"width": 1280, "height": 1400}, reduced_motion="reduce"
    )
    visit = AppPage.of(context, broken)
    open_page(visit, "values=1,+2,+4")
    alert = visit.page.get_by_role("alert")
    expect(alert).to_contain_text("1 of 6 runs met a bug of ours, which is no limit of the chip")
    expect(alert).to_contain_text("graphturbo@2, GB size 1 MiB: KeyError: 'hello'")
    legend = visit.page.locator(".legendtext")
    expect(legend.filter(has_text="bug of ours")).to_be_visible()
    expect(legend.filter(has_text="refused")).to_have_count(0)
    lines = visit.page.locator(".scatterlayer .trace")
    expect(lines.nth(0).locator(".point")).to_have_count(3)
    expect(lines.nth(1).locator(".point")).to_have_count(2)
    for theme in visit.in_both_themes():
        visit.shoot(f"what-if-bug-{theme}")
        assert [faint for faint in faint_texts(visit.page) if THUMB not in faint.where] == []
        assert serious_faults(visit) == []
    with visit.page.expect_download() as waited:
        visit.page.get_by_role("button", name="Points as CSV").click()
    rows = list(csv.DictReader(waited.value.path().read_text(encoding="utf-8").splitlines()))
    assert [row["status"] for row in rows] == ["ok", "fault", "ok", "ok", "ok", "ok"]
    assert rows[1]["error"] == "KeyError: 'hello'"
    visit.page.get_by_role("button", name="Run them again").click()
    expect(alert).to_contain_text("1 of 6 runs met a bug of ours")
    assert visit.errors == []
    context.close()
