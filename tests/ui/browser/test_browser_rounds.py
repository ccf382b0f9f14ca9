"""Runs of unequal rounds in headless Chromium: the same samples on one time axis, by its pixels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from graphturbo_core.report.report import Report
from graphturbo_ui.components.addresses import ADDRESSES
from graphturbo_ui.figures.canvases import address_bytes
from graphturbo_ui.palette import MEMORY_COLOUR, OVERLAP_COLOUR
from tests.ui.app_server import PATIENCE_MS, AppPage, context_of
from tests.ui.canvas_page import rgb
from tests.ui.gantt_page import GANTT, MATRIX_COLOUR, OPEN, VECTOR, Chart, chart_of, report_with
from tests.ui.memory_map import ALONE, MAP, PIXEL
from tests.ui.synthetic import with_rounds

pytestmark = pytest.mark.browser
expect.set_options(timeout=PATIENCE_MS)

COMPUTE = rgb(MATRIX_COLOUR)
WHITE = (255, 255, 255)
PALE = tuple(round(255 + (c - 255) * 0x78 / 255) for c in COMPUTE)
"""Of a repeated round, on white."""


def fine() -> Report:
    """Four rounds of 4 samples and 100 cycles: the matrix engine works in [50, 90) of each."""
    return with_rounds(report_with([{"start": 50, "hold": 40}], cycles=100), (4, 4, 100))


def coarse() -> Report:
    """One round of 16 samples and 200 cycles, in all of which the matrix engine works."""
    return report_with([{"start": 0, "hold": 200}], cycles=200)


def colour_at(chart: Chart, cycle: float, pane: int) -> tuple[int, ...]:
    at, height = chart.at(cycle, OPEN, pane), chart.scene()["panes"][pane]["height"]
    return tuple(chart.pixels(at["x"], at["y"] + height / 2 - 2.5)[0, 0].tolist())


def test_two_runs_of_unequal_rounds_are_drawn_to_scale(browser: Browser) -> None:
    """A takes 400 cycles and B 200 for the same 16 samples: B's bar is half as long as A's run."""
    with chart_of(browser, fine(), coarse()) as chart:
        scene = chart.scene()
        assert scene["longest"] == 400
        assert [pane["total"] for pane in scene["panes"]] == [400, 200]
        assert scene["windows"] == [{"t0": 0, "t1": 400}] * 2
        for round_ in range(4):
            for local, is_busy in ((20, False), (55, True), (85, True), (95, False)):
                ink = (COMPUTE if not round_ else PALE) if is_busy else WHITE
                found = colour_at(chart, 100 * round_ + local, 0)
                assert found == pytest.approx(ink, abs=3), (round_, local)
        for cycle, ink in ((10, COMPUTE), (190, COMPUTE), (210, WHITE), (390, WHITE)):
            assert colour_at(chart, cycle, 1) == pytest.approx(ink, abs=3), cycle
        painted = chart.row_pixels(OPEN, 1)
        is_blue = (np.abs(painted.astype(int) - COMPUTE) <= 3).all(axis=2)
        assert is_blue.mean() == pytest.approx(0.5, abs=0.01)
        assert scene["panes"][0]["said"] == "A · tvm@2: 4 rounds of 4 samples per cluster, 400 ns"
        assert scene["panes"][1]["said"] == "B · tvm@2: one round of 16 samples per cluster, 200 ns"


def test_zoomed_into_a_repeat_it_is_drawn_by_itself_and_can_be_picked(browser: Browser) -> None:
    with chart_of(browser, fine(), coarse()) as chart:
        chart.page.evaluate(
            "() => { graphturboCommon.windows = [[240, 340]];"
            "graphturboCommon.dispatchEvent(new CustomEvent('windows', { detail: null })); }"
        )
        chart.until("scene.windows[0].t0 === 240")
        for cycle, ink in ((245, WHITE), (252, PALE), (288, PALE), (295, WHITE), (305, WHITE)):
            assert colour_at(chart, cycle, 0) == pytest.approx(ink, abs=3), cycle
        chart.canvas.hover(position=chart.at(270, OPEN))
        told = chart.canvas.get_attribute("data-hover")
        assert "starts 250 ns, takes 40 ns" in told
        assert "round 3 of 4, a repeat of the first" in told
        chart.canvas.click(position=chart.at(270, OPEN))
        assert chart.until("scene.pick !== null")["pick"] == {"pane": 0, "index": 0, "at": 200}
        chart.canvas.hover(position=chart.at(270, OPEN, 1))
        assert chart.canvas.get_attribute("data-hover") == "B has ended"


def test_a_span_over_several_rounds_counts_each(browser: Browser) -> None:
    """[60, 380) has 30 + 40 + 40 + 30 busy cycles of A and 140 of B."""
    with chart_of(browser, fine(), coarse()) as chart:
        chart.canvas.evaluate("(c) => { c.gantt.span = { t0: 60, t1: 380 }; c.gantt.measure(); }")
        chart.until("scene.span !== null")
        a, b = chart.span()["runs"]
        assert a["busy"]["matrix"] == pytest.approx(140 / 320)
        assert b["busy"]["matrix"] == pytest.approx(140 / 320)
        assert a["left"] == b["left"] == 0


def test_a_round_of_another_size_is_a_hatched_length(browser: Browser) -> None:
    report = with_rounds(fine(), (5, 3, 100), (1, 1, 60))
    with chart_of(browser, report) as chart:
        scene = chart.scene()
        assert scene["longest"] == 360
        said = "tvm@2: 3 rounds of 5 samples and one round of 1 sample per cluster, 360 ns"
        assert scene["panes"][0]["said"] == said
        assert colour_at(chart, 270, 0) == pytest.approx(PALE, abs=3)
        row = chart.row_pixels(OPEN)
        last = row[:, int(row.shape[1] * 310 / 360) : int(row.shape[1] * 350 / 360)]
        is_bare = (last == 255).all(axis=2)
        assert 0.02 < 1 - is_bare.mean() < 0.6, "slanted lines, and no bar"
        chart.canvas.hover(position=chart.at(340, OPEN))
        assert chart.canvas.get_attribute("data-hover") == (
            "round 4: 1 per cluster, a program of its own, not drawn"
        )
        chart.canvas.evaluate("(c) => { c.gantt.span = { t0: 250, t1: 360 }; c.gantt.measure(); }")
        chart.until("scene.span !== null")
        assert chart.span()["runs"][0]["left"] == 60
        expect(chart.page.locator(".span")).to_contain_text("60 ns lie in a round that is not")


def test_many_rounds_in_few_columns_keep_their_shares(browser: Browser) -> None:
    """4,000 rounds in some 1,000 columns: each column is filled for 40 % of its height."""
    report = with_rounds(fine(), (1, 4000, 100))
    with chart_of(browser, report) as chart:
        painted = chart.row_pixels(OPEN)
        filled = (painted.min(axis=2) < 160).mean(axis=0)
        assert filled[5:-5] == pytest.approx(0.4, abs=0.06)


def test_layers_in_flight_are_steps_and_memory_under_compute_is_shaded(browser: Browser) -> None:
    """One layer until 250, three until 500, one until 750, then none; shaded in [250, 500)."""
    steps = {
        "flight_cycle": np.array([0, 250, 500, 750]),
        "flight_layers": np.array([1, 3, 1, 0]),
        "under_start": np.array([250]),
        "under_end": np.array([500]),
    }
    report = report_with([{"engine": VECTOR, "start": 0, "hold": 1000}], cycles=1000, **steps)
    (whole,) = report.tables["round"]
    whole = {**whole, "layers_in_flight": 0.25, "memory_under_compute": 0.25}
    stretch = {
        "start_cycle": 250, "end_cycle": 500, "moved": "weights arrive", "memory_layers": "46",
        "compute_layers": "37-39",
    }  # fmt: skip
    report = replace(report, tables={**report.tables, "round": (whole,), "stretches": (stretch,)})
    with chart_of(browser, report) as chart:
        scene = chart.scene()
        pane, plot, left = scene["panes"][0], int(scene["plot"]), scene["gutter"]
        painted = chart.pixels(left, pane["flight"] + 2, plot, 30)
        is_grey = (painted == 0x8C).all(axis=2).sum(axis=0)
        is_more = (painted == rgb(OVERLAP_COLOUR)).all(axis=2).sum(axis=0)
        for share, grey, more in ((0.1, 10, 0), (0.4, 10, 20), (0.6, 10, 0), (0.9, 0, 0)):
            at = int(plot * share)
            assert (is_grey[at], is_more[at]) == pytest.approx((grey, more), abs=3), share
        bare = chart.row_pixels(OPEN)
        shaded = (bare[:, :, 2].astype(int) < 250).mean(axis=0)
        assert shaded[int(plot * 0.4)] > 0.9
        assert shaded[int(plot * 0.1)] == shaded[int(plot * 0.6)] == 0
        assert "layers in flight: two or more for 25.0 % of a round" in pane["facts"]
        said = "longest stretch, 250 ns: weights of layer 46 arrive while layers 37-39 compute"
        assert said in pane["facts"]
        chart.canvas.hover(position={"x": left + plot * 0.4, "y": pane["flight"] + 10})
        told = chart.canvas.get_attribute("data-hover")
        assert told.startswith("layers in flight | 3.00 on average, 3 at most in this column")


@contextmanager
def map_of(browser: Browser, *reports: Report) -> Iterator[Page]:
    page = context_of(browser, 1000, 800).new_page()
    page.evaluate(ALONE, [ADDRESSES.js(), ADDRESSES.html(), [*address_bytes(*reports), *bytes(8)]])
    page.wait_for_selector("canvas[data-ready]")
    yield page
    page.close()


def full_for(report: Report, first: int, last: int) -> Report:
    """The report with GB full from `first` to `last`, and its buffers alive in that time alone."""
    arrays = report.arrays
    count = len(arrays["buffer_from"])
    steps = {"gb_cycle": np.array([0, first, last]), "gb_bytes": np.array([0, 8 << 20, 0])}
    lives = {"buffer_from": np.full(count, first), "buffer_to": np.full(count, last)}
    return replace(report, arrays={**arrays, **steps, **lives})


def test_the_address_map_draws_the_same_rounds(browser: Browser) -> None:
    a, b = full_for(fine(), 50, 90), full_for(coarse(), 0, 200)
    with map_of(browser, a, b) as page:
        canvas = page.locator("canvas")
        scene = json.loads(canvas.get_attribute("data-scene"))
        assert [pane["total"] for pane in scene["panes"]] == [400, 200]

        def ink(pane: int, row: int, cycle: float) -> list[int]:
            place = scene["panes"][pane]["rows"][row]
            x = scene["gutter"] + cycle / 400 * scene["plot"]
            return canvas.evaluate(PIXEL, [x, place["y"] + place["height"] - 4])

        strip = 1  # GB over time, below LB's
        assert scene["panes"][0]["rows"][strip]["label"] == "GB"
        for round_ in range(4):
            wanted = [0x8C] * 3 if not round_ else [round(255 - (255 - 0x8C) * 0x78 / 255)] * 3
            assert ink(0, strip, 100 * round_ + 70) == pytest.approx(wanted, abs=3), round_
            assert min(ink(0, strip, 100 * round_ + 20)) > 225, round_
        assert ink(1, strip, 190) == [*rgb(MEMORY_COLOUR)]
        assert ink(1, strip, 210) == list(WHITE)
        canvas.hover(position={"x": scene["gutter"] + 370 / 400 * scene["plot"], "y": 90})
        assert canvas.get_attribute("data-hover").startswith("GB: 8.00 MiB")


def test_the_app_draws_both_runs_over_the_whole_batch(visit: AppPage) -> None:
    """16 samples: A in two rounds of 2 per cluster, B in one of 4; the verdict has both ratios."""
    runs = "?model=teaching-resnet&batch=16&a=tvm@2&b=graphturbo@4"
    visit.open(f"{runs}&views=Why&views=Every+core&views=Memory")
    scene = visit.scene(GANTT)
    assert [pane["parts"][0]["count"] for pane in scene["panes"]] == [2, 1]
    totals = [pane["total"] for pane in scene["panes"]]
    assert scene["longest"] == max(totals)
    assert [pane["total"] for pane in visit.scene(MAP)["panes"]] == totals
    verdict = visit.page.get_by_text("cluster batches of 2 and 4; at 4 for both it is")
    expect(verdict).to_be_visible()
    with visit.box("batch") as body:
        body.get_by_role("button", name="Same cluster batch").click()
    expect(verdict).to_be_hidden()
    visit.await_command("--strategies tvm@4,graphturbo@4")
