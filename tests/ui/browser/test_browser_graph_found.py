"""The graph view in headless Chromium: search, shapes, hover, colours, contrast."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.report.report import Report
from graphturbo_ui.palette import HIT_COLOUR, HUE_COLOURS
from tests.ui.apart import NORM, NORM_PARTS, apart
from tests.ui.canvas_page import CanvasPage, middle, rgb
from tests.ui.graph_page import COARSE, FINE, box_of, op_of, show
from tests.ui.synthetic import synthetic_report

pytestmark = pytest.mark.browser


def shapes_of_kernels() -> tuple[Report, Report]:
    """A and B of which ops 4 and 5 have larger kernels than the others."""
    return kernels_of(FINE), kernels_of(COARSE)


def kernels_of(report: Report) -> Report:
    """The same with larger kernels of ops 4 and 5."""
    nodes = tuple(
        {**row, "attributes": "kernel_shape 5, 5"} if place in (4, 5) else row
        for place, row in enumerate(report.tables["graph_nodes"])
    )
    return replace(report, tables={**report.tables, "graph_nodes": nodes})


def test_a_hit_is_counted_marked_opened_and_gone_to(shown: CanvasPage):
    show(shown)
    box = shown.page.get_by_label("find ops")
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
    assert shown.page.locator(".tools .hits").inner_text() == "hit 2 of 8", "beside the box too"
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


def test_all_hits_are_listed_under_the_box_and_a_click_goes_to_one(shown: CanvasPage):
    show(shown, *shapes_of_kernels())
    box, listed = shown.page.get_by_label("find ops"), shown.page.locator(".found")
    assert not listed.is_visible()
    box.fill("^relu$")
    assert listed.locator("div").all_inner_texts() == [f"Relu op{3 * n + 1}" for n in range(8)]
    listed.get_by_text("Relu op13").click()
    scene = shown.scene
    assert (scene["search"]["at"], shown.selected) == (4, "a-op-13")
    assert box.evaluate("e => e.matches(':focus')")
    assert not listed.is_visible(), "it may cover the hit"
    box.press("Enter")
    assert listed.locator(".current").text_content() == "Relu op16"
    box.press("ArrowDown")
    assert listed.is_visible()
    assert box.get_attribute("aria-expanded") == "true"
    box.press("Enter")
    assert not listed.is_visible()
    box.press("End")
    box.press_sequentially("|conv")
    assert listed.is_visible()
    shown.canvas.focus()
    assert not listed.is_visible()


def test_attributes_are_searched_and_shown_where_they_match(shown: CanvasPage):
    show(shown, *shapes_of_kernels())
    shown.page.get_by_label("find ops").fill("shape 5")
    assert shown.scene["search"]["hits"] == 2
    rows = shown.page.locator(".found div").all_inner_texts()
    assert rows == ["Relu op4\nkernel_shape 5, 5", "Add op5\nkernel_shape 5, 5"]
    shown.page.get_by_label("find ops").fill("")
    assert not shown.page.locator(".found").is_visible()


def test_of_very_many_hits_the_first_are_listed_and_the_rest_counted(shown: CanvasPage):
    show(shown, synthetic_report(layers=400))
    shown.page.get_by_label("find ops").fill("op")
    listed = shown.page.locator(".found")
    assert listed.locator("div").count() == 200
    assert listed.locator("> small").inner_text() == "1,000 more"
    box = listed.bounding_box()
    assert box
    assert box["height"] < 340


def test_a_hit_out_of_sight_is_scrolled_to(shown: CanvasPage):
    show(shown, synthetic_report(layers=200))
    shown.page.get_by_label("find ops").fill("op555$")
    shown.page.get_by_label("find ops").press("Enter")
    scene = shown.scene
    assert op_of(scene, 0, 555)["isMarked"] or scene["panes"][0]["marks"][185] == "part"
    assert scene["view"]["top"] < 555 < scene["view"]["top"] + scene["view"]["rows"]
    assert shown.page.get_by_label("find ops").evaluate("e => e.matches(':focus')")


def test_what_is_no_expression_and_what_is_not_found_is_said(shown: CanvasPage):
    show(shown)
    box = shown.page.get_by_label("find ops")
    box.fill("conv(")
    assert shown.said.startswith("not a regular expression: Unterminated group")
    box.fill("gelu")
    box.press("Enter")
    assert shown.said == "no op has this in its name, type or attributes"
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
    assert {spot["text"] for spot in drawn} == {"2x64x56x56"}
    ops = scene["panes"][0]["ops"]
    assert not any(
        spot["y"] + spot["h"] > box["y"] and spot["y"] < box["y"] + box["h"]
        for spot in drawn
        for box in ops
    )
    shown.page.get_by_label("Shapes").uncheck()
    assert shown.scene["panes"][0]["shapes"] == []
    shown.page.get_by_label("Shapes").check()
    shown.press("Digit0")
    assert shown.scene["view"]["pitch"] * 24 <= 720


def test_a_shape_that_would_cover_a_box_is_not_drawn(shown: CanvasPage):
    """An edge from op 2, in column 0, passes the boxes below it on its way to column 2."""
    nodes = tuple(
        {**row, "x_coarse": 2.0 if row["group"] == 4 else 0.0} for row in FINE.tables["graph_nodes"]
    )
    passing = {"source": 2, "target": 12, "tensor": "skip", "shape": "1x8", "bytes": 16}
    edges = (*FINE.tables["graph_edges"], passing)
    tables = {**FINE.tables, "graph_nodes": nodes, "graph_edges": edges}
    show(shown, replace(FINE, tables=tables))
    pane = shown.scene["panes"][0]
    assert (2, 12) in {(edge["s"], edge["t"]) for edge in pane["edges"]}
    assert "1x8" not in {spot["text"] for spot in pane["shapes"]}


def test_hover_tells_of_a_sub_graph_an_op_and_an_edge(shown: CanvasPage):
    show(shown)

    def told(x: float, y: float) -> str:
        shown.canvas.hover(position={"x": x, "y": y})
        return shown.canvas.get_attribute("data-hover") or ""

    assert told(*middle(box_of(shown.scene, 1, 1))).startswith(
        "B: stage 2, sub-graph 2 of 2 | 12 ops in 8 pieces | Conv, Relu, Add, Conv"
    )
    shown.page.get_by_role("button", name="expand all").click()
    shown.press("KeyW", "KeyW", "KeyW")
    scene = shown.scene
    seen = scene["panes"][0]["ops"][2]
    number = seen["op"]
    assert told(*middle(seen)) == (
        f"{('Conv', 'Relu', 'Add')[number % 3]} op{number} | 2x64x56x56 | "
        f"kernel_shape 3, 3 | layer layer{number // 3} | "
        f"A: layer {number // 3 + 1} | B: stage {number // 12 + 1}"
    )
    edge = next(edge for edge in scene["panes"][0]["edges"] if edge["y"] > 100)
    # 2 x 64 x 56 x 56 elements of 2 bytes are 784 KiB
    assert told(edge["x"] + 1, edge["y"]).startswith(
        f"2x64x56x56 · 784 KiB | tensor t{edge['t']} | from "
    )
    assert told(5, 300) == ""


def test_sub_graphs_have_the_hues_of_the_first_screen(shown: CanvasPage):
    fine, coarse = synthetic_report(layers=20), synthetic_report(layers=20, layers_per_group=10)
    show(shown, fine, coarse)
    panes = shown.scene["panes"]
    first, second = HUE_COLOURS["light"][:2]
    assert [box["colour"] for box in panes[0]["boxes"]] == [first] * 10 + [second] * 10
    assert [box["colour"] for box in panes[1]["boxes"]] == [first, second]
    shown.click(middle(box_of(shown.scene, 0, 12)))
    assert [box["colour"] for box in shown.scene["panes"][1]["boxes"]] == [first, second]


def test_a_sub_graph_of_several_stages_has_their_hues_at_its_edge(shown: CanvasPage):
    show(shown, synthetic_report(layers=20), synthetic_report(layers=20, layers_per_group=20))
    (box,) = shown.scene["panes"][1]["boxes"]
    assert box["colour"] == ""
    found = {shown.pixel(box["x"] + 4, y) for y in range(round(box["y"]) + 3, 700, 10)}
    assert len(found & set(map(rgb, HUE_COLOURS["light"]))) >= 3


def test_what_one_run_takes_apart_is_marked_searched_and_crossed_by_the_model_s_ops(
    shown: CanvasPage,
):
    show(shown, *apart())
    box = shown.page.get_by_label("find ops")
    box.fill("layernorm")
    assert shown.said.startswith("1 op found"), "A's ten parts and B's op are one of the model"
    box.press("Enter")
    scene = shown.scene
    assert scene["search"]["current"] == NORM
    assert [pane["opened"] for pane in scene["panes"]] == [[8, 9, 10], [8]]
    assert shown.selected == f"a-op-{min(NORM_PARTS)}"
    assert [pane["marks"][8:] for pane in scene["panes"]] == [["all", "", ""], ["all", ""]]
    shown.page.locator("canvas").focus()
    shown.press("KeyX")
    assert shown.selected == f"b-op-{NORM}"
    scene = shown.scene
    assert [pane["marks"][8:] for pane in scene["panes"]] == [["all", "all", "part"], ["all", ""]]
    assert "A: layer 6, part 1; layer 6, part 2; layers 6 to 7" in shown.said
    # both panes share their ranks: what follows the parts stands where it stands after the whole
    first, second = ({op["op"]: op["y"] for op in pane["ops"]} for pane in scene["panes"])
    assert first[min(NORM_PARTS)] == second[NORM]
    chain = [first[op] for op in (12, 13, 14, 15, 16, 17, 19, 20, 21, 22)]
    assert chain == sorted(set(chain)), "mean, variance and the rest stand below each other"
    last = box_of(scene, 1, 9)
    assert abs(first[22] - last["y"]) < scene["view"]["pitch"] / 2
