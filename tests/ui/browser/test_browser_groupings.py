"""The graph view in the app: what a click, a row of the table and a link select and tell."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.ui.app_server import AppPage
from tests.ui.canvas_page import middle
from tests.ui.contrast import faint_texts

pytestmark = pytest.mark.browser

GRAPH = "Sub-graph view"
SMALL = "?model=teaching-resnet&batch=8&views=Graph"
ROW_PX = 35
"""Height of a row of Streamlit's table, and of its head."""


def click(visit: AppPage, at: tuple[float, float], count: int = 1) -> None:
    visit.canvas(GRAPH).click(position={"x": at[0], "y": at[1]}, click_count=count)


def test_a_selected_sub_graph_and_op_are_marked_in_the_other_run_and_explained(visit: AppPage):
    visit.open(SMALL)
    box = visit.scene(GRAPH)["panes"][1]["boxes"][-1]
    click(visit, middle(box))
    scene = visit.await_scene(GRAPH, "scene.selected !== null")
    assert scene["panes"][0]["marks"] == ["all"] * 13
    reason = "why not further (the plan's record)"
    for fact in ("split (Algorithm 1)", "binding of its output", reason):
        expect(visit.page.get_by_text(f"{fact}:")).to_be_visible()
    click(visit, middle(box), 2)
    scene = visit.await_scene(GRAPH, "scene.panes[1].opened.length === 1")
    click(visit, middle(scene["panes"][1]["ops"][2]))
    visit.await_scene(GRAPH, "scene.selected.kind === 'op'")
    for fact in (
        "reads",
        "output shape",
        "weights",
        "attributes",
        "sub-graph in A",
        "sub-graph in B",
    ):
        expect(visit.page.get_by_text(f"{fact}:")).to_be_visible()
    visit.await_link("&selected=b-op-")


def test_the_selected_sub_graph_is_drawn_with_names_and_shapes(visit: AppPage):
    visit.open(f"{SMALL}&selected=a-group-1")
    visit.page.get_by_text("Drawing of layer 2 of A").click()
    drawing = visit.page.get_by_test_id("stGraphVizChart")
    expect(drawing.locator("svg .node").first).to_be_visible()
    expect(drawing.locator("svg .node polygon")).to_have_count(2)
    expect(drawing.get_by_text("stage1/block1/relu1", exact=True)).to_be_visible()
    expect(drawing.locator("svg .edge text").first).to_have_text(re.compile(r"\d+x\d+"))
    for theme in visit.in_both_themes():
        assert [found for found in faint_texts(visit.page) if "svg" in found.where] == []
        visit.shoot(f"drawing-{theme}")


def test_a_row_of_the_table_selects_and_follows_what_is_selected(visit: AppPage):
    visit.open(SMALL)
    visit.page.get_by_text("Table of sub-graphs").click()
    table = visit.page.get_by_test_id("stDataFrame")
    expect(table).to_be_visible()
    visit.settle()
    expect(table).to_have_count(1)
    table.click(position={"x": 15, "y": 3.5 * ROW_PX})
    scene = visit.await_scene(GRAPH, "scene.selected !== null")
    assert scene["selected"] == {"run": "A", "kind": "group", "index": 2}
    expect(visit.page.get_by_text("Sub-graph layer 3 of A")).to_be_visible()
    visit.settle()
    expect(table).to_have_count(1)
    table.click(position={"x": 15, "y": 2.5 * ROW_PX})
    visit.await_scene(GRAPH, "scene.selected.index === 1")
    visit.settle()
    expect(table).to_have_count(1)
    table.click(position={"x": 15, "y": 2.5 * ROW_PX})
    visit.await_scene(GRAPH, "scene.selected === null")
    visit.settle()
    click(visit, middle(visit.scene(GRAPH)["panes"][0]["boxes"][4]))
    expect(visit.page.get_by_text("Sub-graph layer 5 of A")).to_be_visible()
    visit.settle()
    expect(table).to_have_count(1)
    table.click(position={"x": 15, "y": 5.5 * ROW_PX})
    visit.await_scene(GRAPH, "scene.selected === null")


def test_a_link_selects_an_op(visit: AppPage):
    visit.open(f"{SMALL}&selected=a-op-4")
    scene = visit.await_scene(GRAPH, "scene.selected !== null")
    assert scene["selected"] == {"run": "A", "kind": "op", "index": 4}
    assert scene["panes"][1]["marks"] == ["part"]
    expect(visit.page.get_by_text("sub-graph in B:")).to_be_visible()
