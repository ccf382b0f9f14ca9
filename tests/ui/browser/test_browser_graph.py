"""The graph view in headless Chromium: opening, moving, selecting, keys; by scene and pixels."""

from __future__ import annotations

import pytest

from graphturbo_ui.palette import HUE_COLOURS
from tests.ui.canvas_page import LIGHT, CanvasPage, middle, rgb
from tests.ui.graph_page import COARSE, FINE, LAYERS, box_of, give, op_of, show, wide
from tests.ui.synthetic import synthetic_report

pytestmark = pytest.mark.browser

LEAST_NAMED = 10
"""Pixels of a box with a name."""
STRIP = 7
"""From a pane's right edge to the middle of the strip that shows the whole graph."""


def test_it_opens_collapsed_and_both_panes_share_the_vertical_axis(shown: CanvasPage):
    scene = show(shown).scene
    assert [pane["opened"] for pane in scene["panes"]] == [[], []]
    assert [pane["groups"] for pane in scene["panes"]] == [8, 2]
    assert box_of(scene, 0, 4)["y"] == box_of(scene, 1, 1)["y"]
    last, coarse = box_of(scene, 0, 3), box_of(scene, 1, 0)
    assert last["y"] + last["h"] == pytest.approx(coarse["y"] + coarse["h"])


def test_a_double_click_opens_one_and_ops_of_one_rank_stand_level(shown: CanvasPage):
    show(shown)
    shown.click(middle(box_of(shown.scene, 0, 1)), 2)
    shown.click(middle(box_of(shown.scene, 1, 0)), 2)
    scene = shown.scene
    assert [pane["opened"] for pane in scene["panes"]] == [[1], [0]]
    for op in (3, 4, 5):
        assert op_of(scene, 0, op)["y"] == op_of(scene, 1, op)["y"]
    shown.click(middle(op_of(scene, 0, 4)), 2)
    assert shown.scene["panes"][0]["opened"] == []


def test_what_is_opened_is_so_near_that_its_ops_are_named_and_does_not_move(shown: CanvasPage):
    show(shown, synthetic_report(layers=60), synthetic_report(layers=60, layers_per_group=30))
    before = box_of(shown.scene, 0, 4)
    assert before["h"] < 20
    shown.click(middle(before), 2)
    scene = shown.scene
    after, ops = box_of(scene, 0, 4), scene["panes"][0]["ops"]
    assert after["y"] == pytest.approx(before["y"], abs=1)
    assert [op["op"] for op in ops] == [12, 13, 14]
    assert min(op["h"] for op in ops) >= LEAST_NAMED
    pitch = scene["view"]["pitch"]
    shown.click(middle(box_of(scene, 0, 5)), 2)
    assert shown.scene["view"]["pitch"] == pitch, "near enough"
    shown.press("Digit0", "BracketRight", "KeyN")
    assert shown.scene["view"]["pitch"] >= pitch, "stepping through ops names them too"


def test_buttons_and_enter_open_and_close(shown: CanvasPage):
    show(shown)
    shown.page.get_by_role("button", name="expand all").click()
    assert [len(pane["opened"]) for pane in shown.scene["panes"]] == [8, 2]
    shown.page.get_by_role("button", name="collapse all").click()
    assert [len(pane["opened"]) for pane in shown.scene["panes"]] == [0, 0]
    shown.page.get_by_role("button", name="Open / close").click()
    assert "nothing is selected" in shown.said
    shown.press("BracketRight", "Enter")
    assert shown.scene["panes"][0]["opened"] == [0]
    shown.page.get_by_role("button", name="Open / close").click()
    assert shown.scene["panes"][0]["opened"] == []


def test_more_than_2000_ops_are_not_expanded_and_the_answer_says_what_to_do(shown: CanvasPage):
    at_most = synthetic_report(layers=666)  # 1,998 ops
    show(shown, at_most)
    shown.page.get_by_role("button", name="expand all").click()
    assert len(shown.scene["panes"][0]["opened"]) == 666
    give(shown, synthetic_report(layers=667))  # 2,001 ops
    shown.page.get_by_role("button", name="expand all").click()
    assert shown.scene["panes"][0]["opened"] == []
    assert "2001 ops would be drawn" in shown.said
    assert "Enter opens its sub-graph" in shown.said


def test_scroll_and_zoom_are_locked_along_the_axis(shown: CanvasPage):
    show(shown)
    before = shown.scene
    shown.canvas.hover(position={"x": 200, "y": 300})
    shown.page.mouse.wheel(0, -300)
    assert shown.scene["view"] == before["view"], "the wheel is the page's until a click or Ctrl"
    shown.page.keyboard.down("Control")
    shown.page.mouse.wheel(0, -300)
    shown.page.keyboard.up("Control")
    zoomed = shown.scene
    assert zoomed["view"]["pitch"] > before["view"]["pitch"]
    shown.drag((200, 400), (200, 200))
    moved = shown.scene
    assert moved["view"]["top"] > zoomed["view"]["top"]
    for pane, group in ((0, 4), (1, 1)):
        shift = box_of(moved, pane, group)["y"] - box_of(zoomed, pane, group)["y"]
        assert shift == pytest.approx(-200)
    shown.press("Digit0")
    assert shown.scene["view"]["top"] == 0


def test_panes_move_sideways_alone_until_both_show_ops(shown: CanvasPage):
    show(shown, wide(FINE), wide(COARSE))
    assert shown.scene["view"]["left"] == [0, 0], "the whole graph is in sight"
    shown.press("KeyW", "KeyW", "KeyW")
    a, b = shown.scene["view"]["left"]
    assert a == b > 0, "what is in the middle does not move"
    shown.drag((300, 400), (200, 400))
    scene = shown.scene
    assert not scene["isLocked"]
    assert scene["view"]["left"] == pytest.approx([a + 100, b])
    shown.drag((800, 400), (770, 400))
    assert shown.scene["view"]["left"] == pytest.approx([a + 100, b + 30])
    shown.page.get_by_role("button", name="expand all").click()
    shown.drag((300, 400), (280, 400))
    scene = shown.scene
    assert scene["isLocked"]
    assert scene["view"]["left"] == pytest.approx([a + 120, b + 50])


def test_keys_move_and_zoom(shown: CanvasPage):
    show(shown, wide(FINE), wide(COARSE))
    first = shown.scene["view"]
    shown.press("KeyW", "ArrowDown", "KeyD")
    moved = shown.scene["view"]
    assert moved["pitch"] > first["pitch"]
    assert moved["top"] > first["top"]
    assert min(moved["left"]) > 0
    shown.press("KeyS", "KeyA", "ArrowUp")
    assert shown.scene["view"]["left"] == [0, 0]


def test_a_selected_sub_graph_is_marked_in_the_other_pane(shown: CanvasPage):
    show(shown)
    shown.click(middle(box_of(shown.scene, 1, 1)))
    assert shown.selected == "b-group-1"
    scene = shown.scene
    assert scene["panes"][0]["marks"] == [""] * 4 + ["all"] * 4
    assert scene["panes"][1]["marks"] == ["", "all"]
    assert shown.said.startswith("selected: B: stage 2, sub-graph 2 of 2")
    marked, other = box_of(scene, 0, 5), box_of(scene, 0, 2)
    outline = shown.pixel(marked["x"], marked["y"] + marked["h"] / 2)
    assert outline == rgb(LIGHT["text-color"])
    assert shown.pixel(other["x"] + 1, other["y"] + other["h"] / 2) != outline
    shown.click((5, 300))
    assert shown.selected == ""
    assert shown.said == ""


def test_a_part_of_a_sub_graph_is_marked_where_it_stands(shown: CanvasPage):
    show(shown)
    shown.click(middle(box_of(shown.scene, 0, 2)))
    scene = shown.scene
    assert scene["panes"][1]["marks"] == ["part", ""]
    box, fine = box_of(scene, 1, 0), box_of(scene, 0, 2)
    x = box["x"] + 4
    assert shown.pixel(x, fine["y"] + 4) == rgb(LIGHT["text-color"])
    assert shown.pixel(x, box["y"] + 6) == rgb(HUE_COLOURS["light"][0])
    edge = {shown.pixel(box["x"], box["y"] + 100 + step) for step in range(12)}
    assert rgb(LIGHT["text-color"]) in edge, "the outline of a part is dashed"
    assert len(edge) > 1


def test_an_op_of_an_opened_sub_graph_is_selected_in_both_panes(shown: CanvasPage):
    show(shown)
    shown.click(middle(box_of(shown.scene, 1, 0)), 2)
    shown.click(middle(op_of(shown.scene, 1, 7)))
    assert shown.selected == "b-op-7"
    scene = shown.scene
    assert [box["op"] for box in scene["panes"][1]["ops"] if box["isMarked"]] == [7]
    assert scene["panes"][0]["marks"] == ["", "", "part", "", "", "", "", ""]
    assert shown.said.startswith(
        "selected: Relu op7 · 2x64x56x56 · kernel_shape 3, 3 · layer layer2 · A: "
    )
    marked = op_of(scene, 1, 7)
    ring = shown.pixel(marked["x"] + marked["w"] / 2, marked["y"])
    assert ring == rgb(LIGHT["text-color"])
    shown.press("Escape")
    assert shown.selected == "b-group-0"
    shown.press("Escape")
    assert shown.selected == ""


@pytest.mark.parametrize(("text", "ops"), [("a-layer-6", {18, 19, 20}), ("b-op-20", {20})])
def test_what_another_view_selects_is_marked_and_brought_in_sight(
    shown: CanvasPage, text: str, ops: set[int]
):
    show(shown)
    shown.press("KeyW", "KeyW", "KeyW", "KeyW")
    assert shown.scene["view"]["rows"] < 18
    shown.select(text)
    scene = shown.scene
    whole = len(ops) == 3
    assert scene["panes"][0]["marks"] == [""] * 6 + ["all" if whole else "part", ""]
    assert scene["panes"][1]["marks"] == ["", "part"]
    assert scene["view"]["top"] + scene["view"]["rows"] < max(ops)
    shown.page.get_by_role("button", name="show selection").click()
    view = shown.scene["view"]
    assert view["top"] <= min(ops) < max(ops) + 1 <= view["top"] + view["rows"]


def test_every_place_is_reached_by_keys(shown: CanvasPage):
    show(shown)
    shown.canvas.focus()
    steps = [
        ("BracketRight", "a-group-0"),
        ("BracketRight", "a-group-1"),
        ("BracketLeft", "a-group-0"),
        ("BracketLeft", "a-group-7"),
        ("KeyX", "b-group-1"),
        ("KeyN", "b-op-12"),
        ("KeyN", "b-op-13"),
        ("KeyP", "b-op-12"),
        ("KeyP", "b-op-23"),
        ("KeyX", "a-op-23"),
        ("Escape", "a-group-7"),
        ("Escape", ""),
    ]
    for key, selected in steps:
        shown.press(key)
        assert shown.selected == selected, key
    assert shown.scene["panes"][1]["opened"] == [1], "N opens what it steps through"
    shown.press("/")
    assert shown.page.get_by_label("find ops").evaluate("e => e.matches(':focus')")
    shown.page.keyboard.press("Escape")
    assert shown.canvas.evaluate("e => e.matches(':focus')")
    style = shown.canvas.evaluate("e => getComputedStyle(e).outlineStyle")
    assert style == "solid"
    shown.page.get_by_role("button", name="keys").click()
    tip = shown.page.locator(".tip")
    for key in ("[ and ]", "Enter", "N and P", "X", "F", "/", "Esc"):
        assert key in shown.said
        assert key in tip.inner_text()
    shown.page.get_by_role("button", name="keys").click()
    assert not tip.is_visible()


def test_the_strip_shows_the_whole_graph_and_is_clicked_and_dragged(shown: CanvasPage):
    show(shown, synthetic_report(layers=200), synthetic_report(layers=200, layers_per_group=100))
    assert shown.scene["view"]["rows"] == 600, "it starts with the whole graph in sight"
    for _ in range(5):
        shown.page.get_by_label("zoom in").click()
    assert shown.scene["view"]["rows"] < 300
    width = shown.canvas.bounding_box()["width"]
    shown.click((width - STRIP, 26 + 694 / 2))
    at = shown.scene["view"]
    assert at["top"] + at["rows"] / 2 == pytest.approx(300, abs=2)
    shown.drag((width / 2 - STRIP, 300), (width / 2 - STRIP, 715))
    at = shown.scene["view"]
    assert at["top"] + at["rows"] == pytest.approx(600, abs=1)
    assert shown.selected == ""


def test_what_is_opened_stays_while_the_strategy_and_model_do(shown: CanvasPage):
    show(shown)
    shown.click(middle(box_of(shown.scene, 0, 1)), 2)
    give(shown, FINE, synthetic_report("graphturbo@8", layers=LAYERS, layers_per_group=2))
    assert shown.scene["panes"][0]["opened"] == [1]
    give(shown, synthetic_report(layers=5), synthetic_report("graphturbo@16", layers=5))
    assert shown.scene["panes"][0]["opened"] == []
    give(shown, synthetic_report(layers=5))
    assert len(shown.scene["panes"]) == 1


def test_it_is_told_to_those_who_do_not_see_it(shown: CanvasPage):
    show(shown)
    assert shown.canvas.get_attribute("role") == "application"
    assert shown.canvas.get_attribute("aria-label").startswith("A runs 24 ops as 8 sub-graphs;")
    assert shown.canvas.get_attribute("tabindex") == "0"
    assert shown.page.get_by_role("status").get_attribute("aria-live") == "polite"
    for control in shown.page.get_by_role("button").all():
        assert control.get_attribute("title")
