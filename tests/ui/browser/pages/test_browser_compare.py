"""Compare in headless Chromium: every click, both themes, places, contrast, axe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import expect

from graphturbo_core.comparison.comparison_file import read_comparison, write_comparison
from graphturbo_core.export.files import json_text
from graphturbo_core.hardware.profile import profile_names
from graphturbo_core.report.json_form import json_form
from tests.comparison.runs import PAPER, made_up, report_of, run_of
from tests.ui.app_server import AppPage
from tests.ui.axe import serious_faults
from tests.ui.browser.pages.compare_page import (
    SMALL,
    TABLE,
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
from tests.ui.type_size import least_type

pytestmark = pytest.mark.browser

HEAD_OF_A_FIGURE = {"x": 500, "y": 18}
"""A column's heading in the table of runs; a click on it sorts."""


def test_it_begins_with_a_picture_of_a_and_b_without_fault(visit: AppPage) -> None:
    open_compare(visit)
    assert names(visit) == ["tvm@2", "graphturbo@2"]
    card = visit.page.locator(".compare-card").first.bounding_box()
    assert card is not None
    assert card["y"] < 240
    ends = visit.page.locator(".compare-rows .end").all_inner_texts()
    slow, fast = run_of("tvm@2").figures, run_of("graphturbo@2").figures
    assert ends[0] == f"{1e6 * slow.latency_s:.0f} µs"
    assert ends[2] == f"{1e6 * fast.latency_s:.1f} µs"
    bars = visit.page.locator(".compare-rows .fill")
    widths = [(bars.nth(at).bounding_box() or {})["width"] for at in (0, 2)]
    assert widths[1] / widths[0] == pytest.approx(fast.latency_s / slow.latency_s, abs=0.02)
    assert least_type(visit.page, ".compare-card, .compare-head") >= 11
    for _ in visit.in_both_themes():
        assert faint_texts(visit.page) == []
        assert serious_faults(visit) == []


def test_the_ladder_and_more_runs_are_added_by_a_click(visit: AppPage) -> None:
    open_compare(visit)
    press(visit, "Add the ladder")
    await_runs(visit, 5)
    expect(visit.page.get_by_role("heading", name="as fast as gb")).to_be_visible()
    expect(visit.page.locator(".ladder-rows .step b")).to_have_text(["gb", "lb", "order", "full"])
    button(visit, "Add more").click()
    visit.page.get_by_role("button", name="Search (best)").click()
    visit.page.keyboard.press("Escape")
    await_runs(visit, 6)
    expect(visit.page.locator(".ladder-rows .step b")).to_have_count(5)


def test_rows_are_ticked_named_noted_pinned_moved_removed_and_brought_back(visit: AppPage) -> None:
    open_compare(visit)
    tick(visit, 1, 1)
    box = visit.page.get_by_role("textbox", name="Name")
    box.fill("ours")
    box.press("Enter")
    expect(visit.page.locator(".compare-rows .who b").nth(1)).to_have_text("ours")
    note = visit.page.get_by_role("textbox", name="Note")
    note.fill("as in the paper")
    note.press("Enter")
    expect(visit.page.get_by_title("ours. as in the paper")).to_be_visible()
    press(visit, "Move up")
    expect(visit.page.locator(".compare-rows .who b").first).to_have_text("ours")
    press(visit, "Move down")
    expect(visit.page.locator(".compare-rows .who b").nth(1)).to_have_text("ours")
    press(visit, "Pin")
    expect(visit.page.locator(".compare-rows .who").first.get_by_title("pinned")).to_be_visible()
    press(visit, "Unpin")
    expect(visit.page.get_by_title("pinned")).to_have_count(0)
    for _ in visit.in_both_themes():
        assert faint_texts(visit.page) == []
    press(visit, "Remove")
    await_runs(visit, 1)
    press(visit, "Undo: bring back 1 run")
    await_runs(visit, 2)
    assert "ours" in names(visit)


@pytest.mark.parametrize("visit", ["dark"], indirect=True)
def test_cluster_batches_chips_and_another_model_are_added(visit: AppPage) -> None:
    open_compare(visit)
    button(visit, "Add more").click()
    for several in ("Cluster batches", "All chips"):
        visit.page.get_by_role("button", name=several).click()
    visit.page.keyboard.press("Escape")
    rows = visit.page.locator(".compare-rows .who")
    for chip in profile_names():
        expect(rows.filter(has_text=chip).first).to_be_visible()
    expect(visit.page.locator(".st-key-compare_waiting")).to_have_count(0)
    visit.rest()
    count = rows.count()
    assert count > 4
    visit.choose("Model", "dlrm")
    press(visit, "Add A and B")
    await_runs(visit, count + 2)
    expect(rows.filter(has_text="dlrm").first).to_be_visible()
    assert faint_texts(visit.page) == []
    assert serious_faults(visit) == []


def test_a_sorted_table_ticks_the_row_that_it_shows(visit: AppPage) -> None:
    open_compare(visit)
    assert names(visit) == ["tvm@2", "graphturbo@2"]
    table = visit.page.locator(TABLE).last
    for _ in range(2):
        table.click(position=HEAD_OF_A_FIGURE)  # type: ignore[arg-type]
    expect(table.locator("tbody tr").first).to_contain_text("graphturbo@2")
    tick(visit, 0, 1)
    expect(visit.page.get_by_role("textbox", name="Name")).to_have_value("graphturbo@2")
    press(visit, "Pin")
    expect(visit.page.locator(".compare-rows .who b")).to_have_text(["graphturbo@2", "tvm@2"])


def test_two_ticked_rows_differ_in_words_and_open_in_explore(visit: AppPage) -> None:
    open_compare(visit)
    press(visit, "Add the ladder")
    await_runs(visit, 5)
    tick(visit, 1, 1)
    tick(visit, 2, 2)
    expect(visit.page.locator(".compare-rows .badge")).to_have_text(["A", "B"])
    expect(visit.page.get_by_role("heading", name="What differs: A graphturbo@2")).to_be_visible()
    words = visit.page.get_by_text("Strategy: graphturbo@2 in A, graphturbo:gb@2 in B.")
    expect(words).to_be_visible()
    press(visit, "Open as A and B in Explore")
    visit.settle()
    visit.await_command("--strategies graphturbo@2,graphturbo:gb@2")
    visit.turn_to("Compare", "the fastest")
    await_runs(visit, 5)


def test_a_comparison_is_saved_and_opened_again(visit: AppPage, tmp_path: Path) -> None:
    open_compare(visit)
    with visit.page.expect_download() as found:
        button(visit, "Save").click()
    saved = Path(found.value.path())
    assert found.value.suggested_filename == "compare.json"
    assert [run.name for run in read_comparison(saved.read_bytes(), "x")] == names(visit)
    tree = json.loads(saved.read_text(encoding="utf-8"))
    tree["runs"][0] |= {"name": "<b>old</b>"}
    tree["runs"][0]["figures"]["version"] = "0.0.1"
    tree["runs"][0]["choices"]["max_instructions"] = 2_000_000
    other = tmp_path / "other.json"
    other.write_text(json.dumps(tree), encoding="utf-8")
    give_file(visit, other, row(visit, "<b>old</b>"))
    await_runs(visit, 3)
    assert names(visit)[2] == "<b>old</b>"
    expect(visit.page.locator(".compare-rows .old")).to_have_text("v0.0.1")


@pytest.mark.parametrize("visit", ["dark"], indirect=True)
def test_a_saved_report_and_the_papers_ladder_are_opened(visit: AppPage, tmp_path: Path) -> None:
    """The paper's steps over its gb: 1.09, 4.27 and 7.95 over 0.73."""
    open_compare(visit)
    report, steps = tmp_path / "report.json", tmp_path / "ladder.json"
    report.write_text(json_text(json_form(report_of("graphturbo:gb@2"))), encoding="utf-8")
    give_file(visit, report, row(visit, "graphturbo:gb@2"))
    await_runs(visit, 3)
    times = {"gb": 8e-3, "lb": 4e-3, "order": 5e-3, "full": 2e-3}
    runs = [
        made_up(f"graphturbo:{level}@16", each, cluster_batch=16, **PAPER)
        for level, each in times.items()
    ]
    steps.write_text(write_comparison(runs), encoding="utf-8")
    ladder = visit.page.locator(".ladder-rows")
    give_file(visit, steps, ladder)
    await_runs(visit, 7)
    expect(ladder.locator(".stair.paper .end")).to_have_text(
        ["paper 1×", "paper 1.49×", "paper 5.85×", "paper 10.9×"]
    )
    expect(ladder.locator(".loss")).to_have_count(1)
    assert faint_texts(visit.page) == []
    assert serious_faults(visit) == []


def test_a_file_that_is_no_comparison_is_refused(visit: AppPage, tmp_path: Path) -> None:
    open_compare(visit)
    path = tmp_path / "wrong.json"
    path.write_text('{"comparison": 1}', encoding="utf-8")
    give_file(visit, path, visit.page.get_by_text("COMPARISON_INVALID"))
    press(visit, "Dismiss")
    expect(visit.page.get_by_text("COMPARISON_INVALID")).to_have_count(0)
    assert names(visit) == ["tvm@2", "graphturbo@2"]


def test_a_long_run_is_cancelled(visit: AppPage) -> None:
    open_compare(visit, "?model=densenet-121&batch=32&a=tvm@8&b=graphturbo@8")
    button(visit, "Add more").click()
    visit.page.get_by_role("button", name="Search (best)").click()
    visit.page.keyboard.press("Escape")
    waiting = visit.page.locator(".st-key-compare_waiting")
    expect(waiting).to_contain_text("run 1 of 1")
    waiting.get_by_role("button", name="Cancel").click()
    await_runs(visit, 2)


def test_explore_adds_a_and_b_by_the_button_of_share(visit: AppPage) -> None:
    open_compare(visit)
    with visit.box("run_b") as body:
        found = body.get_by_role("combobox").first
        found.click()
        found.fill("graphturbo:lb")
        found.press("Enter")
    visit.rest()
    with visit.box("share") as body:
        body.get_by_role("button", name="Add A and B to Compare").click()
    await_runs(visit, 3)
    assert names(visit)[2].startswith("graphturbo:lb")


@pytest.mark.parametrize(
    ("width", "height", "scheme"),
    [(1280, 720, "light"), (1920, 1080, "dark"), (390, 800, "light")],
)
def test_nothing_leaves_the_page_and_presenting_hides_all_but_pictures(
    visit: AppPage, width: int, height: int, scheme: Literal["light", "dark"]
) -> None:
    visit.resize(width, height, scheme)
    open_compare(visit, SMALL)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    for end in visit.page.locator(".compare-card .end:visible").all():
        place, card = end.bounding_box(), visit.page.locator(".compare-card").bounding_box()
        assert place is not None
        assert card is not None
        assert place["x"] + place["width"] <= card["x"] + card["width"]
    button(visit, "Present").click()
    expect(visit.page.locator(".st-key-compare_presenting")).to_be_visible()
    expect(visit.page.locator(".st-key-compare_toolbar")).to_have_count(0)
    assert least_type(visit.page, ".compare-card, .compare-head") >= 15
    assert faint_texts(visit.page) == []


def test_forty_runs_stand_on_one_scale(visit: AppPage, tmp_path: Path) -> None:
    """Run n takes 1 + n / 39 times as long as run 0, so run 39 has twice its bar."""
    open_compare(visit)
    runs, first_s = [], run_of("tvm@2").figures.latency_s
    for number in range(40):
        latency_s = first_s * (1 + number / 39)
        run = run_of("tvm@2", latency_s=latency_s, throughput_per_s=8 / latency_s)
        assert run.choices is not None
        choices = run.choices.model_copy(update={"max_instructions": 2_000_000 + number})
        runs.append(run.model_copy(update={"name": f"run {number}", "choices": choices}))
    path = tmp_path / "forty.json"
    path.write_text(write_comparison(runs), encoding="utf-8")
    give_file(visit, path, row(visit, "run 39"))
    await_runs(visit, 42)
    bars = visit.page.locator(".compare-rows .fill")
    widths = [(bars.nth(2 * at).bounding_box() or {})["width"] for at in (2, 41)]
    assert widths[1] / widths[0] == pytest.approx(2, abs=0.05)
    tick(visit, 3, 1)
    press(visit, "Move up")
    expect(visit.page.locator(".compare-rows .who b").nth(2)).to_have_text("run 1")
