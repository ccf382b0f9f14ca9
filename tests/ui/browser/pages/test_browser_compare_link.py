"""Compare in headless Chromium: Back, Forward, reload and Share; plan files; rows of a version."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from graphturbo_core import __version__
from graphturbo_core.comparison.comparison_file import write_comparison
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from tests.comparison.runs import run_of
from tests.ui.app_server import AppPage
from tests.ui.axe import serious_faults
from tests.ui.browser.pages.compare_page import (
    SMALL,
    await_runs,
    button,
    give_file,
    names,
    open_compare,
    press,
    row,
    tick,
)
from tests.ui.contrast import faint_texts

pytestmark = pytest.mark.browser

LADDER = [f"graphturbo:{level}@2" for level in ("gb", "lb", "order")]
GONE = "The comparison of this link is not on this server: open its compare.json."
PLAN_NAME = "mine.plan.yaml"
DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, dataTransfer: data }));
}"""


def named(url: str) -> str:
    """The comparison that an address names."""
    return dict(parse_qsl(urlsplit(url).query)).get("compare", "")


def await_name(visit: AppPage, other_than: str = "") -> str:
    """Wait until the address names a comparison, and another one than before."""
    visit.page.wait_for_url(lambda url: named(url) not in ("", other_than))
    return named(visit.page.url)


def await_names(visit: AppPage, rows: list[str]) -> None:
    """Wait until the picture has these rows: the address is named while it is drawn."""
    expect(visit.page.locator(".compare-rows .who b")).to_have_text(rows)
    visit.rest()


def turn(visit: AppPage, how: str, count: int) -> None:
    """Back, Forward or reload, and wait for so many rows."""
    visit.page.evaluate("window.isBefore = true")
    getattr(visit.page, how)()
    visit.page.wait_for_function("!window.isBefore")  # the page is loaded again
    await_runs(visit, count)


def plan() -> str:
    request = RunRequest("teaching-resnet", "graphturbo@2", "generic-4x4", 8, emit=("plan",))
    return run_report(load_sample("teaching-resnet"), request).text("plan")


def test_back_forward_reload_and_share_restore_the_comparison(
    visit: AppPage, browser: Browser, address: str
) -> None:
    """An entry of the history for each change: five rows by one click, a row moved, one pinned."""
    open_compare(visit)
    begun = names(visit)
    assert named(visit.page.url) == ""
    press(visit, "Add the ladder")
    await_runs(visit, 5)
    first = await_name(visit)
    await_names(visit, [*begun, *LADDER])
    tick(visit, 2, 1)
    press(visit, "Move up")
    second = await_name(visit, first)
    moved = [begun[0], LADDER[0], begun[1], *LADDER[1:]]
    await_names(visit, moved)
    press(visit, "Pin")
    third = await_name(visit, second)
    link = visit.link()
    assert named(link) == third
    for name, rows in ((second, moved), (first, [*begun, *LADDER])):
        turn(visit, "go_back", 5)
        await_names(visit, rows)
        assert named(visit.page.url) == name
    turn(visit, "go_back", 2)
    await_names(visit, begun)
    assert named(visit.page.url) == ""
    turn(visit, "go_forward", 5)
    await_names(visit, [*begun, *LADDER])
    turn(visit, "reload", 5)
    await_names(visit, [*begun, *LADDER])
    assert named(visit.page.url) == first
    with browser.new_context(reduced_motion="reduce") as context:
        other = AppPage.of(context, address)
        other.page.goto(f"{address}/compare{link}")
        await_runs(other, 5)
        assert names(other)[0] == LADDER[0]
        expect(
            other.page.locator(".compare-rows .who").first.get_by_title("pinned")
        ).to_be_visible()
        assert other.errors == []


def test_another_page_keeps_the_comparison_in_its_address(visit: AppPage) -> None:
    open_compare(visit)
    tick(visit, 1, 1)
    press(visit, "Pin")
    name = await_name(visit)
    visit.turn_to("Paper", "GraphTurbo is 7.74")
    visit.page.wait_for_url(lambda url: "/paper" in url and named(url) == name)
    turn(visit, "reload", 0)
    visit.turn_to("Compare", "the fastest")
    await_runs(visit, 2)
    await_names(visit, ["graphturbo@2", "tvm@2"])


def test_a_comparison_that_is_gone_is_said_in_words(visit: AppPage) -> None:
    visit.page.goto(f"{visit.address}/compare{SMALL}&compare={'0' * 16}")
    await_runs(visit, 2)
    expect(visit.page.get_by_text(GONE)).to_have_count(1)
    visit.page.wait_for_url(lambda url: "compare=" not in url)
    for _ in visit.in_both_themes():
        assert faint_texts(visit.page) == []
        assert serious_faults(visit) == []


def test_a_plan_file_becomes_a_row_by_the_uploader_or_dropped(
    visit: AppPage, tmp_path: Path
) -> None:
    """The bar shows another batch than the plan; the same plan dropped again is no second row."""
    open_compare(visit, SMALL.replace("batch=8", "batch=16"))
    path = tmp_path / PLAN_NAME
    path.write_text(plan(), encoding="utf-8")
    give_file(visit, path, row(visit, f"graphturbo@2 from {PLAN_NAME}"))
    await_runs(visit, 3)
    before = await_name(visit)
    visit.page.evaluate(DROP, ["again.plan.yaml", plan()])
    expect(
        visit.page.get_by_text("The plan of again.plan.yaml is in the comparison")
    ).to_be_visible()
    edited = plan().replace("  residency: {}", "  residency: {stem/conv: stream}")
    assert edited != plan()
    visit.page.evaluate(DROP, ["streamed.plan.yaml", edited])
    await_runs(visit, 4)
    await_name(visit, before)
    assert names(visit)[3] == "graphturbo@2 from streamed.plan.yaml"
    other = edited.replace("name: teaching-resnet", "name: nowhere")
    visit.page.evaluate(DROP, ["other.plan.yaml", other])
    expect(visit.page.get_by_text("PLAN_MODEL_GONE")).to_be_visible()
    visit.page.keyboard.press("Escape")
    visit.rest()
    turn(visit, "reload", 4)


def test_rows_of_another_version_are_computed_again(visit: AppPage, tmp_path: Path) -> None:
    open_compare(visit)
    tree = json.loads(write_comparison([run_of("graphturbo:lb@2")]))
    tree["runs"][0] |= {"name": "of last year"}
    tree["runs"][0]["figures"] |= {"version": "0.0.1", "latency_s": 0.5}
    path = tmp_path / "old.json"
    path.write_text(json.dumps(tree), encoding="utf-8")
    give_file(visit, path, row(visit, "of last year"))
    words = visit.page.get_by_text("1 row has figures of version 0.0.1; this is version")
    expect(words).to_be_visible()
    for theme in visit.in_both_themes():
        visit.shoot(f"compare-older-{theme}")
        assert faint_texts(visit.page) == []
        assert serious_faults(visit) == []
    press(visit, "Compute again")
    expect(words).to_have_count(0)
    said = visit.page.get_by_text(f"by version {__version__}, 500 ms by version 0.0.1.")
    expect(said).to_be_visible()
    assert names(visit)[2] == "of last year"
    expect(visit.page.locator(".compare-rows .old")).to_have_count(0)
    for _ in visit.in_both_themes():
        assert faint_texts(visit.page) == []
    press(visit, "Dismiss")
    expect(said).to_have_count(0)
    assert button(visit, "Compute again").count() == 0
