"""The plan diff of Compare in headless Chromium: marks, toggle, keys, links, Explore, axe."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Locator, expect

from graphturbo_core.comparison.plan_changes import changes_sentence, plan_changes
from graphturbo_core.comparison.plan_picture import folds
from tests.comparison.runs import report_of
from tests.ui.app_server import ALL_ELEMENTS, AppPage
from tests.ui.axe import serious_faults
from tests.ui.browser.pages.compare_page import open_compare, tick
from tests.ui.contrast import faint_texts
from tests.ui.type_size import least_type

pytestmark = pytest.mark.browser

A, B = "tvm@2", "graphturbo:gb@2"
"""Twelve layers hand their result on through DRAM, then GB; the last one is the same in both."""
SMALL = f"?model=teaching-resnet&chip=generic-4x4&batch=8&a={A}&b={B}"
PAIR = f"{SMALL}&pair=A&pair=B"
FIND = f"""{ALL_ELEMENTS}
  const root = all(document).find((e) => e.classList?.contains("plan-diff"));
  const scene = root?.dataset.scene && JSON.parse(root.dataset.scene);"""


def open_pair(visit: AppPage, query: str = PAIR) -> Locator:
    """The plan diff of a link, once it is drawn."""
    visit.page.goto(f"{visit.address}/compare{query}")
    found = visit.page.locator(".plan-diff[data-scene]")
    found.wait_for()
    visit.rest()
    return found


def scene(visit: AppPage) -> dict:
    return json.loads(visit.page.locator(".plan-diff").get_attribute("data-scene") or "{}")


def await_scene(visit: AppPage, test: str) -> dict:
    """Wait until `test`, JavaScript on `scene`, holds."""
    visit.page.wait_for_function(f"() => {{ {FIND} return scene && {test}; }}")
    return scene(visit)


def rows(visit: AppPage) -> Locator:
    return visit.page.locator(".plan-diff .body svg")


def click_row(visit: AppPage, number: int) -> None:
    row = scene(visit)["rows"][number]
    rows(visit).click(position={"x": 500, "y": row["y"] + row["h"] / 2})


def test_marks_are_those_of_the_two_plans(visit: AppPage) -> None:
    layers = plan_changes(report_of(A), report_of(B))
    found = open_pair(visit)
    expect(found.get_by_role("heading")).to_have_text(changes_sentence(layers))
    shown = scene(visit)
    assert shown["counts"] == [0, 0, 0, 12, 0]
    assert [(row["first"], row["last"]) for row in shown["rows"]] == [(n, n) for n in range(13)]
    marks = [side.short for layer in layers for side in layer.sides]
    drawn = [text for text in found.locator(".texts text").all_text_contents() if "→" in text]
    assert drawn == [mark for mark in marks if mark] == ["DRAM → GB"] * 12
    for _ in visit.in_both_themes():
        assert serious_faults(visit) == []
        assert faint_texts(visit.page) == []
    assert least_type(visit.page, ".plan-diff") >= 11


def test_only_what_changed_is_a_toggle_that_a_link_restores(visit: AppPage) -> None:
    found = open_pair(visit)
    found.get_by_role("checkbox", name="Show only what changed").check()
    shown = await_scene(visit, "scene.isOnly")
    assert folds(plan_changes(report_of(A), report_of(B))) == [[12, 12]]
    assert [row["isShut"] for row in shown["rows"]] == [False] * 12 + [True]
    expect(found.get_by_text("1 layer the same in both")).to_be_visible()
    for _ in visit.in_both_themes():
        assert faint_texts(visit.page) == []
    visit.page.wait_for_function("() => location.search.includes('changed=1')")
    visit.rest()
    link = visit.link()
    for words in ("pair=A", "pair=B", "changed=1"):
        assert words in link
    open_pair(visit, link)
    await_scene(visit, "scene.isOnly && scene.rows.at(-1).isShut")
    click_row(visit, 12)
    await_scene(visit, "!scene.rows.at(-1).isShut")


def test_a_row_shows_both_sides_with_units_and_a_click_selects_it(visit: AppPage) -> None:
    found = open_pair(visit)
    table = found.locator(".sides table")
    row = scene(visit)["rows"][2]
    rows(visit).hover(position={"x": 500, "y": row["y"] + row["h"] / 2})
    expect(table.locator("caption")).to_have_text("Layer 3: stage1/block1/conv2 Conv+Add+Relu")
    cells = table.locator("tr").nth(1).locator("td").all_inner_texts()
    assert cells[:4] == ["this layer alone", "1 piece", "4 cores, axis 0 in 2, 2 in 2", "DRAM"]
    own = report_of(A).tables["layers"][2]
    # 13.764 µs in flight; 46,624 bytes are 45.5 KiB; 205,344 bytes are 201 KiB.
    assert (own["lb_peak_bytes"], own["dram_bytes"]) == (46_624, 205_344)
    assert cells[5:] == ["13.8 µs", "45.5 KiB", "201 KiB"]
    assert table.locator("td.changed").all_inner_texts() == ["DRAM", "GB"]
    click_row(visit, 2)
    assert scene(visit)["layer"] == 2
    click_row(visit, 2)
    assert scene(visit)["layer"] is None


def test_keys_step_select_fold_and_clear(visit: AppPage) -> None:
    found = open_pair(visit)
    picture = rows(visit)
    picture.press("End")
    await_scene(visit, "scene.pointed === 12")
    expect(found.get_by_role("status")).to_have_text("layer 13 head/fc: the same in both")
    picture.press("p")
    await_scene(visit, "scene.pointed === 11")
    expect(found.get_by_role("status")).to_contain_text("Output in: DRAM → GB")
    picture.press("ArrowUp")
    picture.press("Enter")
    await_scene(visit, "scene.layer === 10")
    picture.press("c")
    await_scene(visit, "scene.isOnly")
    picture.press("Escape")
    await_scene(visit, "scene.layer === null")
    found.get_by_role("button", name="Help: plan diff").click()
    expect(found.get_by_text("One row is a layer, one box a kernel")).to_be_visible()
    visit.page.keyboard.press("Escape")
    expect(found.get_by_text("One row is a layer, one box a kernel")).to_be_hidden()


def test_a_layer_opens_in_explore_as_a_and_b(visit: AppPage) -> None:
    found = open_pair(visit)
    click_row(visit, 4)
    found.get_by_role("button", name="Open this layer in Explore").click()
    visit.page.wait_for_function("() => !location.pathname.endsWith('/compare')")
    visit.settle()
    assert "selected=b-layer-4" in visit.link()


def test_ticking_two_rows_draws_it_and_names_them_in_the_address(visit: AppPage) -> None:
    open_compare(visit, SMALL)
    tick(visit, 0, 1)
    expect(visit.page.locator(".plan-diff")).to_have_count(0)
    tick(visit, 1, 2)
    visit.page.locator(".plan-diff[data-scene]").wait_for()
    visit.page.wait_for_function("() => location.search.includes('pair=A&pair=B')")
    visit.rest()
    visit.page.get_by_text("Table of layers that differ").click()
    expect(visit.page.locator("[data-testid=stDataFrame]")).to_have_count(2)


def test_equal_plans_say_so(visit: AppPage) -> None:
    names = ("graphturbo@2", "graphturbo:order@2")  # they differ in the order of instructions
    pair = "".join(f"&pair={name} on generic-4x4" for name in names)
    visit.page.goto(f"{visit.address}/compare{SMALL}{pair}")
    words = visit.page.locator(".plan-words")
    expect(words.get_by_role("heading")).to_have_text(
        "Both plans group, cut, place and order all 13 layers the same way."
    )
    expect(words.locator("li")).to_have_text(["Groups", "Pieces", "Cores", "Output in", "Order"])
    expect(words).to_contain_text("How weights reach the cores")
    visit.rest()
    assert serious_faults(visit) == []


def test_a_link_with_an_unknown_run_says_so(visit: AppPage) -> None:
    visit.page.goto(f"{visit.address}/compare{SMALL}&pair=A&pair=nonsense")
    expect(visit.page.get_by_text("The link names the run “nonsense”")).to_be_visible()


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_an_audience_sees_it_in_large_type(visit: AppPage, width: int, height: int) -> None:
    visit.resize(width, height)
    found = open_pair(visit, f"{PAIR}&changed=1&present=1")
    assert least_type(visit.page, ".plan-diff") >= 18
    box = found.bounding_box()
    assert box is not None
    assert box["height"] <= height
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    body = found.locator(".body")
    assert body.evaluate("(e) => e.scrollWidth - e.clientWidth") <= 1
