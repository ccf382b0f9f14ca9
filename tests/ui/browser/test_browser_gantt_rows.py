"""The Gantt chart in headless Chromium: colours, rows, overlap, path, occupancy; in the app."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, expect

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report
from graphturbo_ui.palette import HUE_COLOURS, OVERLAP_COLOUR
from tests.ui.app_server import PATIENCE_MS, AppPage
from tests.ui.canvas_page import rgb
from tests.ui.contrast import faint_texts
from tests.ui.gantt_page import (
    COLUMNS,
    FOLDED,
    GANTT,
    GRAPH,
    MATRIX,
    MATRIX_COLOUR,
    OPEN,
    SMALL,
    VECTOR,
    chart_of,
    report_with,
)
from tests.ui.synthetic import synthetic_report

pytestmark = pytest.mark.browser
expect.set_options(timeout=PATIENCE_MS)


def test_colours_by_layer_sub_graph_and_wait(browser: Browser):
    bars = [
        {"start": 200 * i, "hold": 150, "layer": i, "group": i // 2, "op": 3 * i, "wait": i}
        for i in range(4)
    ]
    with chart_of(browser, report_with(bars)) as chart:
        choose = chart.page.get_by_label("colour by").select_option
        # a hue in full and pale has two slots; every second layer is pale
        for way, slots in (
            ("layer", (0, 1, 2, 3)),
            ("group", (0, 0, 2, 2)),
            ("wait", (0, 1, 2, 3)),
        ):
            choose(way)
            colours = chart.until(f"scene.options.colourBy === '{way}'")["colours"]
            found = [chart.colour(200 * i + 140, OPEN) for i in range(4)]
            assert found == [colours[slot] for slot in slots], way
        assert "waited for buffer space" in chart.legend()
        choose("layer")
        colours = chart.until("scene.options.colourBy === 'layer'")["colours"]
        assert colours[0] == HUE_COLOURS["light"][0]
        assert "every second layer is pale" in chart.legend()
        chart.select("a-layer-1")
        chart.until("scene.selected !== null")
        assert [chart.colour(200 * i + 140, OPEN) for i in range(4)] == [
            colours[slot] for slot in (1, 0, 3, 3)
        ]
        assert "up to four layers before and after: pale" in chart.legend()


def test_layers_far_from_what_is_selected_have_no_hue(browser: Browser):
    report = synthetic_report(layers=30, cores=1, instructions=30)
    bars = [{"start": 30 * i, "hold": 30, "layer": i, "op": 3 * i} for i in range(30)]
    many = report_with(bars)
    many = replace(many, tables={**report.tables, "round": many.tables["round"]})
    with chart_of(browser, many) as chart:
        chart.page.get_by_label("colour by").select_option("layer")
        colours = chart.until("scene.options.colourBy === 'layer'")["colours"]
        dim, (far, near, own) = colours[-1], (30 * layer + 3 for layer in (7, 8, 12))
        assert dim not in {chart.colour(at, OPEN) for at in (far, near, own)}
        chart.select("a-layer-12")
        chart.until("scene.selected !== null")
        assert chart.colour(own, OPEN) in colours[0:-1:2]
        assert chart.colour(near, OPEN) in colours[1:-1:2]
        assert chart.colour(far, OPEN) == dim
        assert "further away" in chart.legend()


def test_cores_fold_by_their_label_and_by_a_key(browser: Browser):
    bars = [{"engine": MATRIX, "hold": 500}, {"engine": 3, "hold": 500}]
    with chart_of(browser, report_with(bars, cores=2)) as chart:
        rows = chart.scene()["panes"][0]["rows"]
        assert len(rows) == 1 + 7
        chart.canvas.click(position={"x": 20, "y": chart.at(0, OPEN)["y"]})
        rows = chart.until("scene.panes[0].rows.length === 6")["panes"][0]["rows"]
        assert rows[1:3] == [FOLDED, "▼ core 1 matrix"]
        chart.canvas.click(position={"x": 20, "y": chart.at(0, FOLDED)["y"]})
        chart.until("scene.panes[0].rows.length === 8")
        chart.canvas.click(position=chart.at(100, "▼ core 1 matrix"))
        chart.press("KeyC")
        rows = chart.until("scene.panes[0].rows.length === 6")["panes"][0]["rows"]
        assert rows[-2:] == ["▶ core 1", "DMA 0"]
        chart.page.get_by_label("rows").select_option("kinds")
        rows = chart.until("scene.options.rows === 'kinds'")["panes"][0]["rows"]
        assert rows[1:] == ["matrix ×2", "vector ×2", "move ×2", "DMA ×1"]


def test_more_than_64_rows_become_one_an_engine_kind(browser: Browser):
    with (
        chart_of(browser, report_with([{"hold": 9}], cores=21)) as small,
        chart_of(browser, report_with([{"hold": 9}], cores=22)) as large,
    ):
        assert len(small.scene()["panes"][0]["rows"]) == 1 + 64
        rows = large.scene()["panes"][0]["rows"]
        assert rows == ["within one core", "matrix ×22", "vector ×22", "move ×22", "DMA ×1"]
        large.page.get_by_label("rows").select_option("cores")
        assert len(large.until("scene.options.rows === 'cores'")["panes"][0]["rows"]) == 1 + 23
        large.page.get_by_label("rows").select_option("engines")
        assert len(large.until("scene.options.rows === 'engines'")["panes"][0]["rows"]) == 1 + 67


def test_more_rows_than_a_canvas_can_hold_are_refused(browser: Browser):
    with chart_of(browser, report_with([{"hold": 9}], cores=171)) as chart:
        chart.page.get_by_label("rows").select_option("engines")
        rows = chart.until("scene.options.rows === 'engines'")["panes"][0]["rows"]
        assert rows == ["within one core", "matrix ×171", "vector ×171", "move ×171", "DMA ×1"]


def test_overlap_is_marked_and_adds_up_to_the_title(browser: Browser):
    stretches = {
        "overlap_core": np.array([0, 1, 0]),
        "overlap_start": np.array([100, 100, 600]),
        "overlap_end": np.array([300, 200, 700]),
    }
    with chart_of(browser, report_with([{"hold": 5}], cores=2, **stretches)) as chart:
        # (200 + 100 + 100) of 2 x 1000 cycles; the contract of the whole says 0
        facts = chart.scene()["panes"][0]["facts"]
        assert "within one core: two or more layers for 20.0 %" in facts
        painted = chart.row_pixels("within one core")
        is_marked = (painted == rgb(OVERLAP_COLOUR)).all(axis=2)
        assert is_marked.mean() == pytest.approx(0.2, abs=0.01)


def test_the_critical_path_and_the_longest_chain_are_drawn_on_request(browser: Browser):
    """The path has launch [0, 100), the matrix engine [100, 300) and the vector engine to 1000."""
    bars = [{"start": 100, "hold": 200}, {"engine": VECTOR, "start": 300, "hold": 700}]
    path = {
        "path_instruction": np.array([-1, 0, 1]),
        "path_start": np.array([0, 100, 300]),
        "path_end": np.array([100, 300, 1000]),
        "path_resource": np.array([8, 0, 1]),
        "path_holds_up": np.array([4, 1, 4]),
    }
    report = report_with(bars, chain=np.array([1]), **path)
    (whole,) = report.tables["round"]
    whole = {**whole, "longest_chain_cycles": 700}
    report = replace(report, tables={**report.tables, "round": (whole,)})
    with chart_of(browser, report) as chart:
        at = chart.at(150, OPEN)
        height = chart.scene()["panes"][0]["height"]
        upper = {"x": at["x"], "y": at["y"] - height / 2 + 1}
        assert chart.pixels(**upper)[0, 0].tolist() == [*rgb(MATRIX_COLOUR)]
        chart.press("KeyK")
        scene = chart.until("scene.options.path === 'critical'")
        said = "critical path: vector engine 70.0 %, matrix engine 20.0 %, launch 10.0 %"
        assert said in scene["panes"][0]["facts"]
        assert chart.pixels(**upper)[0, 0].max() < 0x60
        assert chart.page.get_by_label("path").input_value() == "critical"
        chart.canvas.hover(position=chart.at(200, OPEN))
        told = chart.canvas.get_attribute("data-hover")
        assert "critical path: 200 ns of matrix engine; the next one waits for its data" in told
        chart.press("KeyK")
        scene = chart.until("scene.options.path === 'chain'")
        said = "longest dependency chain 700 ns (70.0 % of a round): 1 instructions"
        assert said in scene["panes"][0]["facts"]
        assert chart.pixels(**upper)[0, 0].tolist() == [*rgb(MATRIX_COLOUR)]
        chart.page.get_by_label("path").select_option("none")
        chart.until("scene.options.path === 'none'")


def test_occupancy_is_drawn_under_the_same_axis_and_told(browser: Browser):
    steps = {
        "gb_cycle": np.array([0, 250, 500]),
        "gb_bytes": np.array([0, 6 << 20, 2 << 20]),
    }
    with chart_of(browser, report_with([{"hold": 5}], **steps)) as chart:
        pane = chart.scene()["panes"][0]
        assert [strip["key"] for strip in pane["strips"]] == ["lb", "gb"]
        strip, plot = pane["strips"][1], chart.scene()["plot"]
        left = chart.scene()["gutter"]
        painted = chart.pixels(left, strip["y"], int(plot), strip["height"])
        is_held = (painted == [0x8C, 0x8C, 0x8C]).all(axis=2).sum(axis=0) / strip["height"]
        # 8 MiB and a tenth are the whole height
        for share, megabytes in ((0.1, 0), (0.4, 6), (0.8, 2)):
            assert is_held[int(plot * share)] == pytest.approx(megabytes / 8.8, abs=0.09)
        chart.canvas.hover(position={"x": left + plot * 0.4, "y": strip["y"] + 12})
        told = chart.canvas.get_attribute("data-hover")
        assert "6.00 MiB of 8.00 MiB" in told


def test_a_peak_narrower_than_a_column_still_shows(browser: Browser):
    """8 MiB are held for 10 of 100,000 cycles, in a column of about 94; before and after 1 MiB."""
    steps = {
        "gb_cycle": np.array([0, 50_000, 50_010]),
        "gb_bytes": np.array([1 << 20, 8 << 20, 1 << 20]),
    }
    with chart_of(browser, report_with([{"hold": 5}], cycles=100_000, **steps)) as chart:
        scene = chart.scene()
        strip = scene["panes"][0]["strips"][1]
        painted = chart.pixels(scene["gutter"], strip["y"], int(scene["plot"]), strip["height"])
        is_held = (painted == [0x8C, 0x8C, 0x8C]).all(axis=2).sum(axis=0)
        column = int(scene["plot"]) // 2
        assert is_held[column - 1 : column + 2].max() >= 0.85 * strip["height"]
        assert is_held[column + 5] == is_held[column - 5] == is_held.min() > 0


def test_the_gantt_chart_zooms_pans_and_tells(visit: AppPage):
    visit.open(SMALL)
    canvas = visit.canvas(GANTT)
    canvas.scroll_into_view_if_needed()
    whole = visit.scene(GANTT)
    middle = whole["gutter"] + whole["plot"] / 2

    canvas.hover(position={"x": middle, "y": 40})
    visit.page.mouse.wheel(0, 200)
    visit.page.wait_for_timeout(150)
    assert visit.scene(GANTT)["windows"] == whole["windows"]

    visit.page.keyboard.down("Control")
    canvas.hover(position={"x": middle, "y": 40})
    visit.page.mouse.wheel(0, -300)
    visit.page.keyboard.up("Control")
    zoomed = visit.await_scene(GANTT, "scene.windows[0].t1 < scene.longest * 0.9")
    assert zoomed["windows"][0] == zoomed["windows"][1]

    canvas.focus()
    visit.page.keyboard.press("KeyW")
    span = zoomed["windows"][0]["t1"] - zoomed["windows"][0]["t0"]
    closer = visit.await_scene(GANTT, f"scene.windows[0].t1 - scene.windows[0].t0 < {span} * 0.9")
    visit.page.keyboard.press("KeyD")
    moved = visit.await_scene(GANTT, f"scene.windows[0].t0 > {closer['windows'][0]['t0']}")
    visit.await_link("&window=")
    assert visit.scene(GANTT)["windows"] == moved["windows"]

    canvas.focus()
    visit.page.keyboard.press("Digit0")
    visit.await_scene(GANTT, "scene.windows[0].t1 === scene.longest")
    visit.page.get_by_label("same time axis").uncheck()
    visit.page.keyboard.down("Control")
    canvas.hover(position={"x": middle, "y": whole["panes"][1]["first"] + 20})
    visit.page.mouse.wheel(0, -300)
    visit.page.keyboard.up("Control")
    visit.await_scene(GANTT, "scene.windows[1].t1 - scene.windows[1].t0 < scene.longest")
    assert visit.scene(GANTT)["windows"][0] == {"t0": 0, "t1": whole["longest"]}
    visit.page.get_by_label("colour by").select_option("layer")
    visit.page.get_by_label("same time axis").check()
    visit.page.get_by_role("button", name="fit").last.click()
    visit.await_scene(GANTT, "scene.windows[1].t1 === scene.longest")


RUNS = ("tvm@16", "graphturbo@16")


@cache
def report_of(strategy: str) -> Report:
    request = RunRequest("teaching-resnet", strategy, "stcp920", 8)
    return run_report(load_sample("teaching-resnet"), request)


def test_what_is_in_sight_of_a_real_run_measures_as_its_contract_says(visit: AppPage):
    """8 samples over 4 clusters are one round each: ledger and busy shares are those of it."""
    visit.open(SMALL)
    canvas = visit.canvas(GANTT)
    visit.page.get_by_label("same time axis").uncheck()
    for number, strategy in enumerate(RUNS):
        report = report_of(strategy)
        (whole,) = report.tables["round"]
        canvas.evaluate(
            "(c, cycles) => { c.gantt.span = { t0: 0, t1: cycles }; c.gantt.measure(); }",
            whole["cycles"],
        )
        visit.await_scene(GANTT, f"scene.span.t1 === {whole['cycles']}")
        found = json.loads(canvas.get_attribute("data-span"))["runs"][number]
        ledger = {
            f"{row['memory']} {str(row['cause']).replace('_', ' ')}": row["bytes"]
            for row in report.tables["ledger"]
            if row["bytes"]
        }
        assert {way: 4 * size for way, size in found["bytes"].items()} == ledger
        assert found["busy"] == pytest.approx(report.contract["utilization"])
        assert found["layers"] == list(range(len(report.tables["layers"])))
        overlap = report.contract["overlap"]
        facts = visit.scene(GANTT)["panes"][number]["facts"]
        assert facts.startswith(
            f"layers in flight: two or more for "
            f"{100 * overlap['layers_in_flight']['share']:.1f} % of a round · "
            "memory works under another layer's compute for "
            f"{100 * overlap['memory_under_compute']:.1f} % · "
            f"within one core: two or more layers for {100 * overlap['within_core']:.1f} %"
        )


def test_a_selection_is_marked_in_both_views_and_in_the_table(visit: AppPage):
    visit.open(SMALL)
    page = visit.page
    page.get_by_text("Table of instructions").click()
    whole = sum(len(report_of(strategy).arrays["op"]) for strategy in RUNS)
    all_in_sight = page.get_by_text(f"{whole:,} of {whole:,} instructions are in sight;")
    expect(all_in_sight).to_be_visible()
    boxes = visit.scene(GRAPH)["panes"][0]["boxes"]
    index, box = next((i, box) for i, box in enumerate(boxes) if box)
    visit.canvas(GRAPH).click(position={"x": box["x"] + box["w"] / 2, "y": box["y"] + box["h"] / 2})
    scene = visit.await_scene(GANTT, "scene.selected !== null")
    counts = [
        int(np.isin(report.arrays["op"], ops_of(report_of(RUNS[0]), index)).sum())
        for report in map(report_of, RUNS)
    ]
    assert scene["selected"] == counts
    selected = page.get_by_text(f"{sum(counts)} of {whole:,} instructions are in sight and")
    expect(selected).to_be_visible()

    canvas = visit.canvas(GANTT)
    canvas.focus()
    page.keyboard.press("KeyN")
    visit.await_scene(GANTT, "scene.pick !== null")
    page.keyboard.press("Escape")
    visit.await_scene(GRAPH, "scene.selected === null")
    expect(all_in_sight).to_be_visible()
    page.keyboard.press("KeyW")
    expect(all_in_sight).to_be_hidden()


def ops_of(report: Report, group: int) -> list[int]:
    nodes = report.tables["graph_nodes"]
    return [index for index, row in enumerate(nodes) if row["group"] == group]


def test_texts_around_and_in_the_chart_can_be_read(visit: AppPage):
    visit.open(SMALL)
    canvas = visit.canvas(GANTT)
    canvas.focus()
    for key in ("KeyM", "KeyK", "KeyW"):
        visit.page.keyboard.press(key)
    visit.page.get_by_label("colour by").select_option("layer")
    visit.await_scene(GANTT, "scene.span !== null && scene.options.colourBy === 'layer'")
    visit.await_link("&window=")
    visit.settle()
    for theme in visit.in_both_themes():
        check_texts(visit, canvas)
        visit.shoot(f"gantt-{theme}")


def check_texts(visit: AppPage, canvas: Locator) -> None:
    """Texts around the chart, and one in each part of it, can be read."""
    own = canvas.evaluate("c => c.getRootNode().textContent")
    assert "layers in flight" in own
    assert [faint for faint in faint_texts(visit.page) if faint.text in own] == []
    pane = visit.scene(GANTT)["panes"][0]
    drawn = {
        "title": (0, pane["top"] + 4, 130, 16),
        "facts": (0, pane["top"] + 22, 130, 14),
        "layers in flight": (0, pane["flight"] + 3, 130, 28),
        "labels": (0, pane["first"] + pane["height"], 130, 3 * pane["height"]),
        "memories": (0, pane["end"] + 6, 130, 24),
        "axis": (0, pane["foot"] + 6, 130, 16),
    }
    for name, place in drawn.items():
        values = np.array(canvas.evaluate(COLUMNS, list(place)), np.uint8)
        assert contrast_of(values.reshape(-1, 4)[:, :3]) >= 4.5, name


def contrast_of(colours: np.ndarray) -> float:
    """Between the commonest colour and the one that differs most from it (WCAG)."""
    shares = colours / 255
    linear = np.where(shares <= 0.03928, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    light = linear @ [0.2126, 0.7152, 0.0722] + 0.05
    values, counts = np.unique(light, return_counts=True)
    ground = values[counts.argmax()]
    return float(np.maximum(values / ground, ground / values).max())
