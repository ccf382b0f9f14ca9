"""The memory view in headless Chromium: the address map by mouse and keyboard, and its links."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, expect

from graphturbo_ui.components.addresses import ADDRESSES
from graphturbo_ui.figures.canvases import address_bytes
from graphturbo_ui.palette import TENSOR_COLOURS
from tests.ui.app_server import POLL_MS, AppPage, context_of
from tests.ui.canvas_page import rgb
from tests.ui.contrast import faint_texts
from tests.ui.memory_map import ALONE, MAP, PIXEL
from tests.ui.synthetic import synthetic_report, with_rounds
from tests.ui.synthetic_buffers import LANE_BYTES, LANES

pytestmark = pytest.mark.browser

GANTT = "Gantt chart"
SMALL = "?model=teaching-resnet&batch=8&views=Memory&views=Every+core"
ACTIVATION, WEIGHT = ([*rgb(TENSOR_COLOURS[kind])] for kind in ("activation", "weight"))
WEIGHTS = 4
"""The row of LB's weight part: below two strips, GB and the data part; a lane is 14 pixels."""


@pytest.fixture
def alone(browser: Browser):
    """The map by itself, of a made-up run: 64 buffers a space in lanes, held 3/4 of their turn."""
    page = context_of(browser, 1000, 800).new_page()
    a, b = synthetic_report(), synthetic_report("graphturbo@16")
    a = with_rounds(a, (16, 1, int(str(a.tables["round"][0]["cycles"]))))
    data = list(address_bytes(a, b) + bytes(8))
    page.evaluate(ALONE, [ADDRESSES.js(), ADDRESSES.html(), data])
    page.wait_for_selector("canvas[data-ready]")
    yield page
    page.close()


def scene_of(page) -> dict:
    return json.loads(page.locator("canvas").get_attribute("data-scene"))


def spot(scene: dict, lane: float, turn: float, row: int) -> dict[str, float]:
    """The place in pixels of a lane of addresses and a turn of time in a row of the first run."""
    place = scene["panes"][0]["rows"][row]
    share = lane * LANE_BYTES / place["capacity"]
    turns = 64 / LANES
    return {
        "x": scene["gutter"] + turn / turns * scene["plot"],
        "y": place["y"] + place["height"] * (1 - share),
    }


def test_a_pixel_has_the_colour_of_what_is_held_and_a_hole_is_bare(alone):
    scene, canvas = scene_of(alone), alone.locator("canvas")

    def colour(lane: float, turn: float) -> list[int]:
        at = spot(scene, lane, turn, row=WEIGHTS)
        return canvas.evaluate(PIXEL, [at["x"], at["y"]])

    # lane 0 of turn 0 holds an activation, lane 1 a weight; three quarters of lane and turn
    assert colour(0.4, 0.3) == ACTIVATION
    assert colour(1.4, 0.3) == WEIGHT
    bare = colour(0.4, 0.9)
    assert bare == colour(0.9, 0.3)
    assert bare not in (ACTIVATION, WEIGHT)


def test_hover_tells_a_buffer_with_its_neighbours_and_a_hole_with_its_size(alone):
    scene, canvas = scene_of(alone), alone.locator("canvas")
    canvas.hover(position=spot(scene, 1.4, 1.3, row=WEIGHTS))
    told = canvas.get_attribute("data-hover")
    for words in ("t10 (weight)", "box [0:2, 0:64, 0:56, 0:56], 24.0 KiB", "filled for op9",
                  "bytes before: t2", "bytes after: t18"):  # fmt: skip
        assert words in told
    canvas.hover(position=spot(scene, 0.9, 0.3, row=WEIGHTS))
    assert "free: 8.00 KiB" in canvas.get_attribute("data-hover")
    strip = scene["panes"][0]["rows"][1]
    x = scene["gutter"] + 0.3 / (64 / LANES) * scene["plot"]
    canvas.hover(position={"x": x, "y": strip["y"] + strip["height"] / 2})
    assert canvas.get_attribute("data-hover").startswith("GB: 192 KiB | 2 % of 8.00 MiB")


def test_a_share_of_a_pixel_is_drawn_as_a_share(alone):
    """Zoomed out so far that 8 turns are 3 pixels, a column is neither bare nor full."""
    canvas = alone.locator("canvas")
    longest = scene_of(alone)["longest"]
    alone.evaluate("() => { document.querySelector('canvas').addresses.longest *= 256; }")
    canvas.focus()
    alone.keyboard.press("Digit0")
    alone.wait_for_function(
        f"JSON.parse(document.querySelector('canvas').dataset.scene).windows[0].t1 > {longest}"
    )
    scene = scene_of(alone)
    place = scene["panes"][0]["rows"][WEIGHTS]
    y = place["y"] + place["height"] * (1 - 0.4 * LANE_BYTES / place["capacity"])
    red, _, blue = canvas.evaluate(PIXEL, [scene["gutter"] + 1, y])
    assert 0 < blue < 240, "a mix of orange and green with bare ground"
    assert 0 < red < 240


def test_keys_step_through_buffers_and_the_window_follows(alone):
    canvas = alone.locator("canvas")
    canvas.focus()
    alone.keyboard.press("BracketRight")
    expect(alone.locator(".said")).to_contain_text("t1 (activation)")
    for _ in range(8):
        alone.keyboard.press("KeyW")
    alone.keyboard.press("BracketLeft")
    expect(alone.locator(".said")).to_contain_text(["core", "0", "LB", "weight"][-1])
    alone.wait_for_function(
        "(() => { const s = JSON.parse(document.querySelector('canvas').dataset.scene);"
        " return s.pick?.index === s.panes[0].rows.at(-1).to - 1 && s.pick.place; })()"
    )
    alone.keyboard.press("Escape")
    expect(alone.locator(".said")).to_be_empty()
    alone.get_by_label("core of LB").select_option("1")
    alone.wait_for_function(
        "JSON.parse(document.querySelector('canvas').dataset.scene)"
        ".panes[0].rows[3].label === 'core 1 LB data'"
    )
    alone.get_by_label("colour buffers by").select_option("layer")
    expect(alone.locator(".legend")).to_contain_text("stage 1")


def test_the_core_that_holds_most_is_shown_first(browser: Browser):
    report = synthetic_report()
    is_last = report.arrays["buffer_space"] == len(report.tables["spaces"]) - 1
    larger = report.arrays["buffer_size_bytes"] + is_last
    report = replace(report, arrays={**report.arrays, "buffer_size_bytes": larger})
    page = context_of(browser, 1000, 800).new_page()
    sent = list(address_bytes(report) + bytes(8))
    page.evaluate(ALONE, [ADDRESSES.js(), ADDRESSES.html(), sent])
    page.wait_for_selector("canvas[data-ready]")
    assert scene_of(page)["panes"][0]["rows"][-1]["label"] == "core 1 LB weight"
    assert page.get_by_label("core of LB").input_value() == "1"
    page.close()


def test_map_and_gantt_share_their_window_both_ways(visit: AppPage):
    visit.open(SMALL)
    canvas = visit.canvas(MAP)
    canvas.focus()
    zoomed = visit.scene(MAP)
    for key in ("KeyW", "KeyW", "KeyD"):
        visit.page.keyboard.press(key)
        start = zoomed["windows"][0]["t0"]
        zoomed = visit.await_scene(MAP, f"scene.windows[0].t0 !== {start}")
    gantt = visit.await_scene(GANTT, f"scene.windows[0].t0 === {zoomed['windows'][0]['t0']}")
    assert gantt["windows"] == zoomed["windows"]
    assert [gantt["gutter"], gantt["plot"]] == [zoomed["gutter"], zoomed["plot"]]
    visit.await_link("&window=")
    visit.canvas(GANTT).focus()
    visit.page.keyboard.press("Digit0")
    visit.await_scene(MAP, "scene.windows[0].t0 === 0 && scene.windows[0].t1 === scene.longest")
    box = canvas.bounding_box()
    assert box is not None
    at = {"x": box["width"] / 2, "y": 150}
    canvas.hover(position=at)
    visit.page.mouse.wheel(0, -300)
    visit.page.wait_for_timeout(150)
    assert visit.scene(MAP)["windows"][0]["t0"] == 0
    visit.page.keyboard.down("Control")
    canvas.hover(position=at)
    visit.page.mouse.wheel(0, -300)
    visit.page.keyboard.up("Control")
    visit.await_scene(GANTT, "scene.windows[0].t1 < scene.longest * 0.9")


def test_a_click_selects_the_buffer_s_op_and_a_selection_dims_the_rest(visit: AppPage):
    visit.open(SMALL)
    canvas = visit.canvas(MAP)
    canvas.focus()
    visit.page.keyboard.press("BracketRight")
    picked = visit.await_scene(MAP, "scene.pick && scene.pick.place && scene.selected !== ''")
    assert picked["selected"].startswith("a-op-")
    place = picked["pick"]["place"]
    middle = [place["x"] + place["w"] / 2, place["y"] + place["h"] / 2]
    full = canvas.evaluate(PIXEL, middle)
    visit.await_link(f"&selected={picked['selected']}")
    visit.page.get_by_text("Table of buffers").click()
    expect(visit.page.get_by_text("buffers of the selected ops.")).to_be_visible()
    other = "a-op-1" if picked["selected"] != "a-op-1" else "a-op-2"
    visit.open(f"{SMALL}&selected={other}")
    visit.await_scene(MAP, f"scene.selected === '{other}'")
    dimmed = visit.canvas(MAP).evaluate(PIXEL, middle)
    assert sum(dimmed) > sum(full) + 60, "nearer to the white ground"


def test_the_map_is_named_and_its_texts_are_readable(visit: AppPage):
    visit.open(SMALL)
    canvas = visit.canvas(MAP)
    assert canvas.get_attribute("role") == "application"
    assert "buffers and uses at most" in canvas.get_attribute("aria-label")
    assert canvas.get_attribute("tabindex") == "0"
    for theme in visit.in_both_themes():
        visit.shoot(f"memory-{theme}")
        inside = [found for found in faint_texts(visit.page) if "frame" in found.where]
        assert inside == []


ONLY_MARKED = """(layer) => {
  const traces = [...document.querySelector(".js-plotly-plot").querySelectorAll(".trace.bars")];
  return traces.length && traces.every((trace) => [...trace.querySelectorAll(".point path")].every(
    (bar, index) => (getComputedStyle(bar).opacity === "1") === (index === layer)));
}"""


def test_a_click_on_a_bar_selects_its_layer_and_a_selection_marks_bars(visit: AppPage):
    """Clicks come as soon as marks are there: what a chart before told late must not undo them."""
    visit.open(SMALL)
    bars = visit.page.locator(".js-plotly-plot").first.locator(".trace.bars").first
    for layer in (3, 5, 2, 7, 1):
        bars.locator(".point").nth(layer).scroll_into_view_if_needed()
        box = bars.locator(".point").nth(layer).bounding_box()
        assert box is not None
        visit.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] - 1)
        visit.await_scene(MAP, f"scene.selected === 'a-layer-{layer}'")
        visit.page.wait_for_function(ONLY_MARKED, arg=layer, polling=POLL_MS)
        visit.settle()
