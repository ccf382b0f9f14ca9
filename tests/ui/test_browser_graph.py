"""The graph view in headless Chromium: every interaction, by the scene it exposes and by pixels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser

from graphturbo_core.report.graph_canvas import graph_buffer
from graphturbo_core.report.report import Report
from graphturbo_ui.components import graph, sources
from graphturbo_ui.palette import GROUP_COLOURS, HIT_COLOUR
from tests.ui.app_server import HARMLESS, SCREENSHOTS
from tests.ui.canvas_page import DARK, LIGHT, CanvasPage, contrast, middle, only, rgb
from tests.ui.contrast import faint_texts
from tests.ui.synthetic import synthetic_report

pytestmark = pytest.mark.browser

LAYERS = 8
FINE = synthetic_report(layers=LAYERS)
COARSE = synthetic_report("graphturbo@16", layers=LAYERS, layers_per_group=4)
"""24 ops in a chain: A's sub-graph g holds ops 3g to 3g + 2, B's first holds ops 0 to 11."""
STRIP = 7
"""From a pane's right edge to the middle of the strip that shows the whole graph."""


@pytest.fixture
def shown(browser: Browser) -> Iterator[CanvasPage]:
    """An empty page that takes the component and ends without an error."""
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    yield CanvasPage(page)
    page.close()
    assert [error for error in errors if not any(word in error for word in HARMLESS)] == []


def show(shown: CanvasPage, *reports: Report, theme=LIGHT) -> CanvasPage:
    shown.show(sources.script(*graph.SCRIPTS), graph.TOOLS, "Sub-graph view", theme)
    give(shown, *(reports or (FINE, COARSE)))
    return shown


def give(shown: CanvasPage, *reports: Report) -> None:
    shown.give(graph_buffer(*reports, extra={"label": "both", "names": "AB"}))


def wide(report: Report) -> Report:
    """The same in twelve columns, which no pane has room for."""
    nodes = tuple(
        {**row, "x_coarse": float(12 * (place % 2))}
        for place, row in enumerate(report.tables["graph_nodes"])
    )
    return replace(report, tables={**report.tables, "graph_nodes": nodes})


def box_of(scene: dict, pane: int, group: int) -> dict:
    return only(scene["panes"][pane]["boxes"], lambda box: box["group"] == group)


def op_of(scene: dict, pane: int, op: int) -> dict:
    return only(scene["panes"][pane]["ops"], lambda box: box["op"] == op)


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


def test_buttons_and_enter_open_and_close(shown: CanvasPage):
    show(shown)
    shown.page.get_by_role("button", name="expand all").click()
    assert [len(pane["opened"]) for pane in shown.scene["panes"]] == [8, 2]
    shown.page.get_by_role("button", name="collapse all").click()
    assert [len(pane["opened"]) for pane in shown.scene["panes"]] == [0, 0]
    shown.page.get_by_role("button", name="open selected").click()
    assert "nothing is selected" in shown.said
    shown.press("BracketRight", "Enter")
    assert shown.scene["panes"][0]["opened"] == [0]
    shown.page.get_by_role("button", name="open selected").click()
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
    shown.press("KeyW", "KeyW", "KeyW")
    shown.drag((300, 400), (200, 400))
    scene = shown.scene
    assert not scene["isLocked"]
    assert scene["view"]["left"] == [100, 0]
    shown.drag((800, 400), (770, 400))
    assert shown.scene["view"]["left"] == [100, 30]
    shown.page.get_by_role("button", name="expand all").click()
    shown.drag((300, 400), (280, 400))
    scene = shown.scene
    assert scene["isLocked"]
    assert scene["view"]["left"] == [120, 50]


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


def test_a_hit_is_counted_marked_opened_and_gone_to(shown: CanvasPage):
    show(shown)
    box = shown.page.get_by_role("searchbox")
    box.fill("^conv$")
    scene = shown.scene
    assert (scene["search"]["hits"], scene["search"]["at"]) == (8, -1)
    assert shown.said.startswith("8 ops found")
    # a closed box has a tick for each hit: op 0 is a Conv, at the top of B's first box
    first = box_of(scene, 1, 0)
    assert shown.pixel(first["x"] + first["w"] - 5, first["y"] + 6) == rgb(HIT_COLOUR)
    box.press("Enter")
    box.press("Enter")
    scene = shown.scene
    assert shown.said.startswith("hit 2 of 8")
    assert [pane["opened"] for pane in scene["panes"]] == [[0, 1], [0]]
    assert shown.selected == "a-op-3"
    ringed = op_of(scene, 1, 3)
    assert ringed["isHit"]
    assert shown.pixel(ringed["x"] + 20, ringed["y"] - 3) == rgb(HIT_COLOUR)
    assert not op_of(scene, 1, 4)["isHit"]
    box.press("Shift+Enter")
    box.press("Shift+Enter")
    assert shown.scene["search"]["current"] == 21, "before the first comes the last"
    shown.page.get_by_role("button", name="next hit").click()
    assert shown.scene["search"]["current"] == 0
    shown.page.get_by_role("button", name="previous hit").click()
    assert shown.scene["search"]["current"] == 21


def test_a_hit_out_of_sight_is_scrolled_to(shown: CanvasPage):
    show(shown, synthetic_report(layers=200))
    shown.page.get_by_role("searchbox").fill("op555$")
    shown.page.get_by_role("searchbox").press("Enter")
    scene = shown.scene
    assert op_of(scene, 0, 555)["isMarked"] or scene["panes"][0]["marks"][185] == "part"
    assert scene["view"]["top"] < 555 < scene["view"]["top"] + scene["view"]["rows"]
    assert shown.page.get_by_role("searchbox").evaluate("e => e.matches(':focus')")


def test_what_is_no_expression_and_what_is_not_found_is_said(shown: CanvasPage):
    show(shown)
    box = shown.page.get_by_role("searchbox")
    box.fill("conv(")
    assert shown.said.startswith("not a regular expression: Unterminated group")
    box.fill("gelu")
    box.press("Enter")
    assert shown.said == "0 ops found"
    box.fill("")
    assert shown.said == ""
    box.press("Enter")
    assert shown.said.startswith("write part of")


def test_shapes_are_drawn_where_there_is_room_and_can_be_switched_off(shown: CanvasPage):
    show(shown)
    shown.page.get_by_role("button", name="expand all").click()
    shown.press("KeyW", "KeyW", "KeyW")
    scene = shown.scene
    drawn = scene["panes"][0]["shapes"]
    assert {spot["text"] for spot in drawn} == {"[2, 64, 56, 56]"}
    ops = scene["panes"][0]["ops"]
    assert not any(
        spot["y"] + spot["h"] > box["y"] and spot["y"] < box["y"] + box["h"]
        for spot in drawn
        for box in ops
    )
    shown.page.get_by_label("shapes on edges").uncheck()
    assert shown.scene["panes"][0]["shapes"] == []
    shown.page.get_by_label("shapes on edges").check()
    shown.press("Digit0")
    assert shown.scene["view"]["pitch"] * 24 <= 720


def test_hover_tells_of_a_sub_graph_an_op_and_an_edge(shown: CanvasPage):
    show(shown)

    def told(x: float, y: float) -> str:
        shown.canvas.hover(position={"x": x, "y": y})
        return shown.canvas.get_attribute("data-hover") or ""

    assert told(*middle(box_of(shown.scene, 1, 1))).startswith(
        "B: sub-graph 2 of 2 (g2) | 12 ops in 8 pieces | Conv, Relu, Add, Conv"
    )
    shown.page.get_by_role("button", name="expand all").click()
    shown.press("KeyW", "KeyW", "KeyW")
    scene = shown.scene
    seen = scene["panes"][0]["ops"][2]
    number = seen["op"]
    assert told(*middle(seen)) == (
        f"{('Conv', 'Relu', 'Add')[number % 3]} op{number} | [2, 64, 56, 56] | "
        f"layer layer{number // 3} | A: sub-graph {number // 3 + 1} (g{number // 3 + 1}) | "
        "B: sub-graph " + (f"{number // 12 + 1} (g{number // 12 + 1})")
    )
    edge = next(edge for edge in scene["panes"][0]["edges"] if edge["y"] > 100)
    # 2 x 64 x 56 x 56 elements of 2 bytes are 784 KiB
    assert told(edge["x"] + 1, edge["y"]).startswith(
        f"[2, 64, 56, 56] · 784 KiB | tensor t{edge['t']} | from "
    )
    assert told(5, 300) == ""


def test_a_selected_sub_graph_is_marked_in_the_other_pane(shown: CanvasPage):
    show(shown)
    shown.click(middle(box_of(shown.scene, 1, 1)))
    assert shown.selected == "b-group-1"
    scene = shown.scene
    assert scene["panes"][0]["marks"] == [""] * 4 + ["all"] * 4
    assert scene["panes"][1]["marks"] == ["", "all"]
    assert shown.said.startswith("selected: B: sub-graph 2 of 2 (g2)")
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
    assert shown.pixel(x, box["y"] + 6) == rgb(GROUP_COLOURS[0])


def test_an_op_of_an_opened_sub_graph_is_selected_in_both_panes(shown: CanvasPage):
    show(shown)
    shown.click(middle(box_of(shown.scene, 1, 0)), 2)
    shown.click(middle(op_of(shown.scene, 1, 7)))
    assert shown.selected == "b-op-7"
    scene = shown.scene
    assert [box["op"] for box in scene["panes"][1]["ops"] if box["isMarked"]] == [7]
    assert scene["panes"][0]["marks"] == ["", "", "part", "", "", "", "", ""]
    assert shown.said.startswith("selected: Relu op7 · [2, 64, 56, 56] · layer layer2 · A: ")
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
    assert shown.page.get_by_role("searchbox").evaluate("e => e.matches(':focus')")
    shown.page.keyboard.press("Escape")
    assert shown.canvas.evaluate("e => e.matches(':focus')")
    style = shown.canvas.evaluate("e => getComputedStyle(e).outlineStyle")
    assert style == "solid"
    shown.page.get_by_role("button", name="keys").click()
    for key in ("[ and ]", "Enter", "N and P", "X", "F", "/", "Esc"):
        assert key in shown.said


def test_the_strip_shows_the_whole_graph_and_is_clicked_and_dragged(shown: CanvasPage):
    show(shown, synthetic_report(layers=200), synthetic_report(layers=200, layers_per_group=100))
    scene = shown.scene
    assert scene["view"]["rows"] < 600
    width = shown.canvas.bounding_box()["width"]
    shown.click((width - STRIP, 26 + 694 / 2))
    at = shown.scene["view"]
    assert at["top"] + at["rows"] / 2 == pytest.approx(300, abs=2)
    shown.drag((width / 2 - STRIP, 300), (width / 2 - STRIP, 715))
    at = shown.scene["view"]
    assert at["top"] + at["rows"] == pytest.approx(600, abs=1)
    assert shown.selected == ""


def test_beyond_ten_the_selected_and_its_neighbours_have_colours(shown: CanvasPage):
    show(shown, synthetic_report(layers=20), synthetic_report(layers=20, layers_per_group=10))
    scene = shown.scene
    colours = [box["colour"] for box in scene["panes"][0]["boxes"]]
    assert colours == [GROUP_COLOURS[place % 10] for place in range(len(colours))]
    shown.click(middle(box_of(scene, 0, 12)))
    scene = shown.scene
    coloured = {box["group"] for box in scene["panes"][0]["boxes"] if box["colour"]}
    assert coloured == {11, 12, 13}
    plain = box_of(scene, 0, 5)
    assert shown.pixel(plain["x"] + plain["w"] - 5, plain["y"] + 5) == rgb(
        LIGHT["secondary-background-color"]
    )
    assert [box["colour"] for box in scene["panes"][1]["boxes"]] == list(GROUP_COLOURS[:2])


def test_what_is_opened_stays_while_the_strategy_and_model_do(shown: CanvasPage):
    show(shown)
    shown.click(middle(box_of(shown.scene, 0, 1)), 2)
    give(shown, FINE, synthetic_report("graphturbo@8", layers=LAYERS, layers_per_group=2))
    assert shown.scene["panes"][0]["opened"] == [1]
    give(shown, synthetic_report(layers=5), synthetic_report("graphturbo@16", layers=5))
    assert shown.scene["panes"][0]["opened"] == []
    give(shown, synthetic_report(layers=5))
    assert len(shown.scene["panes"]) == 1


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_all_text_is_read_easily(shown: CanvasPage, theme: dict, request: pytest.FixtureRequest):
    show(shown, theme=theme)
    shown.click(middle(box_of(shown.scene, 1, 0)), 2)
    shown.click(middle(op_of(shown.scene, 1, 7)))
    shown.page.get_by_role("searchbox").fill("relu")
    scene = shown.scene
    assert len(scene["inks"]) >= 4
    assert f"{theme['text-color']} on {theme['background-color']}" in scene["inks"]
    for pair in scene["inks"]:
        assert contrast(*pair.split(" on ")) >= 4.5, pair
    closed = box_of(scene, 1, 1)
    assert shown.pixel(*middle(closed))[:3] != rgb(theme["background-color"])
    empty = shown.pixel(5, 300)
    assert empty == rgb(theme["background-color"])
    assert faint_texts(shown.page) == []
    SCREENSHOTS.mkdir(exist_ok=True)
    name = request.node.callspec.id
    shown.page.screenshot(path=SCREENSHOTS / f"graph-{name}.png")


def test_it_is_told_to_those_who_do_not_see_it(shown: CanvasPage):
    show(shown)
    assert shown.canvas.get_attribute("role") == "application"
    assert shown.canvas.get_attribute("aria-label") == "both"
    assert shown.canvas.get_attribute("tabindex") == "0"
    assert shown.page.get_by_role("status").get_attribute("aria-live") == "polite"
    for control in shown.page.get_by_role("button").all():
        assert control.get_attribute("title")
