"""The Gantt chart in headless Chromium: every way to look at it, by its scene and its pixels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from graphturbo_core.products.program import Cause
from tests.ui.apart import NORM, NORM_PARTS, apart
from tests.ui.app_server import PATIENCE_MS
from tests.ui.canvas_page import rgb
from tests.ui.gantt_page import (
    DMA,
    FOLDED,
    MATRIX,
    MATRIX_COLOUR,
    MOVE,
    OPEN,
    VECTOR,
    chart_of,
    report_with,
)

pytestmark = pytest.mark.browser
expect.set_options(timeout=PATIENCE_MS)


def test_a_column_shows_the_share_of_its_time_that_is_busy(browser: Browser):
    """10,000 bars of 1 to 9 cycles, one every 10: some nine in a column of pixels."""
    hold = np.random.default_rng(3).integers(1, 10, 10_000)
    hold[4000:6000] = 1
    start = np.arange(10_000) * 10
    bars = [{"start": int(s), "hold": int(h)} for s, h in zip(start, hold, strict=True)]
    with chart_of(browser, report_with(bars, cycles=100_000)) as chart:
        painted = chart.row_pixels(OPEN)
        height, width = painted.shape[:2]
        is_matrix = (painted == rgb(MATRIX_COLOUR)).all(axis=2)
        edges = np.linspace(0, 100_000, width + 1)
        held = np.interp(edges, *steps_of(start, hold))
        shares = np.diff(held) / np.diff(edges)
        assert np.abs(is_matrix.sum(axis=0) - shares * height).max() <= 0.51
        assert shares.min() < 0.2
        assert shares.max() > 0.6
        # from the foot upwards, without holes
        assert (np.diff(is_matrix.astype(int), axis=0) >= 0).all()


def steps_of(start: np.ndarray, hold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cycles held up to each start and end of a bar."""
    times = np.column_stack((start, start + hold)).ravel()
    before = np.cumsum(hold) - hold
    return times, np.column_stack((before, before + hold)).ravel()


def test_a_folded_row_shows_the_mean_of_its_engines(browser: Browser):
    """Core 0: matrix busy in all of [0, 500), vector in [0, 250), move never: 2/3, then 1/3."""
    bars = [{"engine": MATRIX, "hold": 500}, {"engine": VECTOR, "hold": 250}]
    with chart_of(browser, report_with(bars)) as chart:
        chart.page.get_by_label("rows").select_option("cores")
        assert chart.until(f"scene.panes[0].rows[1] === '{FOLDED}'")["options"]["rows"] == "cores"
        painted = chart.row_pixels(FOLDED)
        filled = (painted.max(axis=2) - painted.min(axis=2) > 60).sum(axis=0) / painted.shape[0]
        width = len(filled)
        assert filled[width // 8] == pytest.approx(2 / 3, abs=0.05)
        assert filled[width * 3 // 8] == pytest.approx(1 / 3, abs=0.05)
        assert filled[width * 3 // 4] == 0
        at = chart.at(125, FOLDED)
        chart.canvas.hover(position=at)
        assert "66.7 % of this column's time" in chart.canvas.get_attribute("data-hover")


def test_busy_shares_of_engines_that_stand_for_others_are_painted_as_such(browser: Browser):
    report = report_with([{"hold": 1000}])
    report = replace(report, arrays={**report.arrays, "busy": np.array([250])})
    with chart_of(browser, report) as chart:
        painted = chart.row_pixels(OPEN)
        is_matrix = (painted == rgb(MATRIX_COLOUR)).all(axis=2)
        assert is_matrix.mean() == pytest.approx(0.25, abs=0.03)
        chart.press("KeyM")
        assert chart.span()["runs"][0]["busy"]["matrix"] == pytest.approx(0.25)


def measured_report():
    """Matrix [100, 300), move [200, 400) with bytes of three causes, DMA at 950 for no time."""
    bars = [
        {"engine": MATRIX, "start": 100, "hold": 200, "op": 1, "layer": 1},
        {"engine": MOVE, "start": 200, "hold": 200, "kind": 1, "op": 4, "layer": 2},
        {"engine": DMA, "start": 950, "hold": 0, "kind": 5, "op": -1, "layer": -1},
    ]
    return report_with(
        bars,
        booked_instruction=np.array([1, 1, 1, 2]),
        booked_memory=np.array([0, 0, 1, 1], np.int8),
        booked_cause=np.array([Cause.INPUT, Cause.HALO, Cause.INPUT, Cause.SPILL], np.int8),
        booked_bytes=np.array([4000, 400, 800, 64]),
    )


def test_a_span_is_measured_by_shift_and_drag_and_by_a_key(browser: Browser):
    with chart_of(browser, measured_report()) as chart:
        chart.drag(chart.at(250, OPEN), chart.at(350, OPEN))
        chart.until("scene.span !== null")
        span = chart.span()
        t0, t1 = span["t0"], span["t1"]
        assert (t0, t1) == (pytest.approx(250, abs=2), pytest.approx(350, abs=2))
        (found,) = span["runs"]
        assert found["busy"]["matrix"] == pytest.approx((300 - t0) / (t1 - t0))
        assert found["busy"]["vector"] == 0
        assert found["busy"]["move"] == pytest.approx(1)
        part = (t1 - t0) / 200
        wanted = {"DRAM input": 4000 * part, "DRAM halo": 400 * part, "GB input": 800 * part}
        assert found["bytes"] == pytest.approx(wanted)
        assert found["layers"] == [1, 2]
        panel = chart.page.locator(".span")
        expect(panel).to_contain_text(f"({t1 - t0} cycles)")
        expect(panel).to_contain_text("2: 2 layer1, 3 layer2")
        expect(chart.page.get_by_role("status")).to_contain_text(f"({t1 - t0} cycles)")
        windows = chart.scene()["windows"]

        chart.press("KeyM")
        (found,) = chart.span()["runs"]
        everything = {"DRAM input": 4000, "DRAM halo": 400, "GB input": 800, "GB spill": 64}
        assert found["bytes"] == everything
        assert found["busy"] == {"matrix": 0.2, "vector": 0, "move": 0.2, "dma": 0}
        chart.press("Escape")
        chart.until("scene.span === null")
        expect(panel).to_be_hidden()
        assert chart.scene()["windows"] == windows
        chart.page.get_by_role("button", name="measure").click()
        chart.until("scene.span?.t1 === 1000")


def test_a_click_picks_tells_and_selects_the_op(browser: Browser):
    bars = [
        {"engine": MATRIX, "start": 0, "hold": 100, "op": 1},
        {
            "engine": MATRIX, "start": 300, "hold": 400, "op": 2, "tile": 6, "wait": 1,
            "wait_on": 2, "box": (6, 80),
        },
        {
            "engine": MOVE, "start": 100, "hold": 200, "op": 2, "kind": 1, "size_bytes": 2048,
            "moved": 1, "box": (0, 70_000),
        },
    ]  # fmt: skip
    with chart_of(browser, report_with(bars)) as chart:
        place = chart.at(500, OPEN)
        chart.canvas.hover(position=place)
        told = chart.canvas.get_attribute("data-hover")
        for part in ("op2 (compute)", "tile 7", "makes [6:80]", "waited 200 ns (200 cycles)"):
            assert part in told
        assert "data: op2 (load)" in told
        expect(chart.page.locator(".tip")).to_be_visible()
        chart.canvas.click(position=place)
        scene = chart.until("scene.pick !== null")
        assert scene["pick"]["index"] == 1
        assert scene["selected"] == [2]
        assert chart.page.evaluate("window.graphturboCommon.selected") == "a-op-2"
        expect(chart.page.locator(".said")).to_contain_text("op2 (compute)")
        chart.press("Escape")
        chart.until("scene.pick === null && scene.selected === null")
        assert chart.page.evaluate("window.graphturboCommon.selected") == ""
        chart.canvas.hover(position=chart.at(200, "core 0 move"))
        assert "moves t2 [0:70000]" in chart.canvas.get_attribute("data-hover")


def test_keys_step_through_what_is_selected_and_bring_it_in_sight(browser: Browser):
    bars = [{"start": 100 * i, "hold": 50, "op": i % 2} for i in range(10)]
    with chart_of(browser, report_with(bars)) as chart:
        chart.select("a-op-1")
        assert chart.until("scene.selected !== null")["selected"] == [5]
        for key, index in (("KeyN", 1), ("KeyN", 3), ("KeyP", 1), ("KeyP", 9)):
            chart.press(key)
            chart.until(f"scene.pick?.index === {index}")
        chart.press(*["KeyW"] * 12)
        chart.until("scene.windows[0].t1 - scene.windows[0].t0 < 100")
        chart.press("KeyN")
        chart.until("scene.pick.index === 1")
        chart.until("scene.windows[0].t0 < 125 && scene.windows[0].t1 > 125")
        chart.page.get_by_role("button", name="next selected").click()
        chart.until("scene.pick.index === 3")


def test_every_instruction_is_reached_by_keys_alone(browser: Browser):
    bars = [
        {"engine": MATRIX, "start": 0, "hold": 100, "op": 1},
        {"engine": MATRIX, "start": 300, "hold": 100, "op": 2},
        {"engine": DMA, "start": 250, "hold": 100, "op": 3},
    ]
    with chart_of(browser, report_with(bars), report_with(bars[:1])) as chart:
        chart.press("KeyN")
        assert chart.until("scene.pick !== null")["pick"] == {"pane": 0, "index": 0, "at": 0}
        chart.press("KeyN")
        chart.until("scene.pick.index === 1")
        for key, pane, index in (
            ("ArrowDown", 0, 2),
            ("ArrowDown", 1, 0),
            ("ArrowDown", 1, 0),
            ("ArrowUp", 0, 2),
            ("ArrowUp", 0, 1),
        ):
            chart.press(key)
            chart.until(f"scene.pick.pane === {pane} && scene.pick.index === {index}")
        assert chart.scene()["selected"] is None
        chart.press("Enter")
        assert chart.until("scene.selected !== null")["selected"] == [1, 0]
        assert chart.page.evaluate("window.graphturboCommon.selected") == "a-op-2"


def test_what_is_not_selected_is_dim_and_keeps_its_share(browser: Browser):
    bars = [{"start": 0, "hold": 400, "op": 0}, {"start": 500, "hold": 400, "op": 1}]
    with chart_of(browser, report_with(bars)) as chart:
        assert chart.colour(200, OPEN) == chart.colour(700, OPEN) == MATRIX_COLOUR
        before = painted_share(chart)
        chart.select("a-op-1")
        scene = chart.until("scene.selected !== null")
        assert chart.colour(200, OPEN) == scene["colours"][-1] != MATRIX_COLOUR
        assert chart.colour(700, OPEN) == MATRIX_COLOUR
        assert painted_share(chart) == before
        assert "not selected" in chart.legend()
        chart.select("")
        chart.until("scene.selected === null")
        assert "not selected" not in chart.legend()


def test_instructions_of_parts_and_of_the_whole_op_are_selected_together(browser: Browser):
    first, second = apart()
    with chart_of(browser, first, second) as chart:
        chart.select(f"b-op-{NORM}")
        scene = chart.until("scene.selected !== null")
        parts = np.isin(first.arrays["op"], list(NORM_PARTS)).sum()
        assert scene["selected"] == [parts, (second.arrays["op"] == NORM).sum()]
        assert min(scene["selected"]) > 0


def painted_share(chart) -> float:
    """The share of the first engine's row that any bar fills."""
    painted = chart.row_pixels(OPEN)
    empty = chart.pixels(chart.at(950, OPEN)["x"], chart.at(950, OPEN)["y"])[0, 0]
    return float((painted != empty).any(axis=2).mean())
