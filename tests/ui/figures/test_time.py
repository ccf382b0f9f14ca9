"""Rows and figures of where the time goes: exact numbers, sums, inks of causes, empty cases."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from functools import cache

import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.bounds import bound_steps as core_steps
from graphturbo_core.report.report import Report
from graphturbo_core.sim.data_sources import DataSource
from graphturbo_ui.figures import accounting, bound_steps, cluster_batches, roofline
from graphturbo_ui.figures.layer_tables import csv_text, layer_selections, layer_table
from graphturbo_ui.palette import CAUSE_COLOURS, ENGINE_COLOURS, WAIT_COLOURS
from graphturbo_ui.session.selection import Selection
from tests.ui.synthetic import ROOFS, synthetic_report, with_rounds

NO_PATH = dict.fromkeys(
    ("matrix", "vector", "move", "dram", "gb", "lb", "link", "latency", "launch", "barrier"), 0.0
)


def with_layers(report: Report, *changes: dict[str, object]) -> Report:
    """The report with so many layers, each changed."""
    base = report.tables["layers"]
    layers = tuple({**base[i], **change} for i, change in enumerate(changes))
    return replace(report, tables={**report.tables, "layers": layers})


def three_layers() -> Report:
    """Below the slope, below the flat roof without a byte over DRAM, and without work."""
    return with_layers(
        synthetic_report(),
        {"macs": 4 * 10**6, "dram_bytes": 10**6, "window_s": 2e-5},
        {"macs": 10**6, "dram_bytes": 0, "window_s": 1e-6},
        {"macs": 0, "dram_bytes": 10**6, "window_s": 1e-5},
    )


def test_a_dot_is_work_over_bytes_and_time_by_hand():
    first, second = roofline.roofline_points(three_layers())
    # 4 MAC/byte times 10^11 bytes/s are 4 * 10^11 MAC/s; 4 * 10^6 in 20 us are half of that
    assert (first.intensity, first.roof) == (4.0, "DRAM")
    assert first.macs_per_s == pytest.approx(2e11)
    assert first.share == pytest.approx(0.5)
    # 10^6 in 1 us are an eighth of the matrix engines' 8 * 10^12
    assert (second.intensity, second.roof) == (None, "matrix engines")
    assert second.share == pytest.approx(1 / 8)


def test_roofline_has_dots_a_run_and_two_roofs_that_meet_at_the_ridge():
    a, b = three_layers(), three_layers()
    figure = roofline.roofline_figure(a, b)
    assert [trace.name for trace in figure.data] == [
        "A's layers",
        "B's layers",
        "roof: DRAM 100 GB/s, matrix 8 TMAC/s",
        "vector engines alone 100 GMAC/s",
    ]
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert figure.layout.xaxis.title.text == "operational intensity (MAC/byte over DRAM)"
    assert figure.layout.yaxis.title.text == "achieved (MAC/s, one cluster)"
    ridge = ROOFS["matrix_macs_per_s"] / ROOFS["dram_bytes_per_s"]
    assert figure.data[2].x == (1.0, ridge, ridge * roofline.AT_THE_EDGE)
    assert figure.data[2].y == (1e11, 8e12, 8e12)
    assert figure.data[0].x == (4.0, ridge * roofline.AT_THE_EDGE)
    assert figure.data[0].marker.symbol == ("circle", "circle-open")
    assert figure.data[1].marker.symbol == ("diamond", "diamond-open")
    assert "no byte over DRAM" in figure.data[0].customdata[1]
    targets = roofline.roofline_targets(a, b)
    assert targets[1] == [Selection("B", "layer", 0), Selection("B", "layer", 1)]


def test_a_dot_selects_its_own_layer_where_others_have_none():
    """Layers without work have no dot: of A the second, of B the first."""
    a = with_layers(synthetic_report(), {}, {"macs": 0}, {}, {})
    b = with_layers(synthetic_report(), {"macs": 0}, {}, {"macs": 0}, {})
    figure, targets = roofline.roofline_figure(a, b), roofline.roofline_targets(a, b)
    assert targets[0] == [Selection("A", "layer", at) for at in (0, 2, 3)]
    assert targets[1] == [Selection("B", "layer", at) for at in (1, 3)]
    for trace, chosen in zip(figure.data[:2], targets, strict=False):
        names = [text.split("<br>")[0] for text in trace.customdata]
        assert [name.split()[-1] for name in names] == [f"layer{one.index}" for one in chosen]


def test_no_work_is_said_and_a_name_with_markup_is_escaped():
    idle = with_layers(synthetic_report(), {"macs": 0})
    assert roofline.roofline_figure(idle).layout.annotations[0].text == roofline.EMPTY
    named = with_layers(synthetic_report(), {"name": "<b>x</b>"})
    assert "&lt;b&gt;" in roofline.roofline_figure(named).data[0].customdata[0]
    assert "&lt;b&gt;" in accounting.busy_figure(named).data[0].customdata[0]


def test_stalls_are_bars_that_sum_to_100_percent():
    a, b = synthetic_report(), synthetic_report("graphturbo@16")
    figure = accounting.stall_figure(a, b)
    assert [bar.marker.color for bar in figure.data] == list(WAIT_COLOURS.values())
    labels = figure.data[0].y
    assert labels[:3] == ("matrix · A", "matrix · B", "vector · A")
    assert [sum(bar.x[at] for bar in figure.data) for at in range(len(labels))] == [
        pytest.approx(100)
    ] * 8
    row = accounting.stall_table(a, b)[1]
    assert (row.pop("engine kind"), row.pop("run")) == ("matrix", "B")
    assert row == pytest.approx({
        "busy (%)": 55.0, "waits for data (%)": 25.0, "waits for buffer space (%)": 5.0,
        "waits for a channel (%)": 10.0, "launch or barrier (%)": 5.0, "nothing to do (%)": 0,
    })  # fmt: skip
    lone = replace(a, tables={**a.tables, "engines": a.tables["engines"][:1]})
    assert accounting.stall_figure(lone).data[0].y == ("matrix · A",)
    none = replace(a, tables={**a.tables, "engines": ()})
    assert accounting.stall_figure(none).layout.annotations[0].text == accounting.NO_ENGINES


def test_the_ledger_s_bars_sum_to_the_bytes_of_each_run():
    a, b = synthetic_report(), synthetic_report("graphturbo@16")
    figure = accounting.ledger_figure(a, b)
    dram, gb = figure.data[: len(CAUSE_COLOURS)], figure.data[len(CAUSE_COLOURS) :]
    assert [bar.marker.color for bar in dram] == list(CAUSE_COLOURS.values())
    # seven causes of 4 MiB in A and 1 MiB in B, all in DRAM
    assert [sum(bar.x[run] for bar in dram) for run in (0, 1)] == [28.0, 7.0]
    assert {x for bar in gb for x in bar.x} == {0}
    assert accounting.cause_text("weight_again") == "weight, fetched again"
    empty = replace(a, tables={**a.tables, "ledger": ()})
    assert accounting.ledger_figure(empty).layout.annotations[-1].text == accounting.NO_BYTES


def test_the_ledger_s_bars_stand_at_the_run_that_moved_the_bytes():
    """A moves 1, 2, … MiB over DRAM by cause, B ten times as much over GB."""
    sizes = {cause: 1 + number for number, cause in enumerate(CAUSE_COLOURS)}
    a, b = (
        replace(
            report,
            tables={
                **report.tables,
                "ledger": tuple(
                    {"memory": memory, "cause": cause, "bytes": times * size << 20}
                    for cause, size in sizes.items()
                ),
            },
        )
        for report, memory, times in (
            (synthetic_report(), "DRAM", 1),
            (synthetic_report("graphturbo@16"), "GB", 10),
        )
    )
    figure = accounting.ledger_figure(a, b)
    dram, gb = figure.data[: len(CAUSE_COLOURS)], figure.data[len(CAUSE_COLOURS) :]
    for cause, over_dram, over_gb in zip(CAUSE_COLOURS, dram, gb, strict=True):
        assert dict(zip(over_dram.y, over_dram.x, strict=True)) == {"A": sizes[cause], "B": 0}
        assert dict(zip(over_gb.y, over_gb.x, strict=True)) == {"A": 0, "B": 10 * sizes[cause]}
    rows = [row for row in accounting.ledger_rows(a, b) if row["bytes"]]
    assert {(row["run"], row["memory"]) for row in rows} == {("A", "DRAM"), ("B", "GB")}


def test_busy_time_is_cycles_over_engines():
    report = with_layers(synthetic_report(cores=2), {"matrix_cycles": 100, "dma_cycles": 20})
    contract = {**report.contract, "cycles": 1000, "latency_s": 1e-6}
    a = replace(report, contract=contract)
    (row,) = accounting.busy_rows(a)
    # two samples per round: 100 cycles of 1 ns over two engines and two samples, 20 over one engine
    assert row["matrix"] == pytest.approx(25e-9)
    assert row["dma"] == pytest.approx(10e-9)
    # B does the same in rounds of 16 samples: an eighth of the time per sample
    b = with_rounds(a, (16, 1, 1000))
    figure = accounting.busy_figure(a, b)
    assert [bar.marker.color for bar in figure.data] == [*ENGINE_COLOURS.values()] * 2
    assert figure.layout.yaxis.title.text == "busy per sample<br>(µs, mean engine)"
    heights = {(at // 4, bar.name): bar.y[0] for at, bar in enumerate(figure.data)}
    assert heights[0, "matrix"] == pytest.approx(0.025)
    assert heights[1, "matrix"] == pytest.approx(0.025 / 8)
    assert heights[0, "DMA"] == pytest.approx(0.010)
    three = accounting.busy_figure(three_layers())
    assert {bar.x for bar in three.data} == {(1, 2, 3)}, "layers are counted from 1"
    targets = accounting.busy_targets(three_layers(), b)
    of_a, of_b = [Selection("A", "layer", at) for at in range(3)], [Selection("B", "layer", 0)]
    assert targets == [of_a] * 4 + [of_b] * 4, "a list per trace: four engine kinds of each run"
    none = replace(report, tables={**report.tables, "layers": ()})
    assert accounting.busy_figure(none).layout.annotations[-1].text == accounting.NO_LAYERS


def test_steps_from_the_lower_bound_are_as_long_as_the_run():
    """A is bound by its matrix engines, B by DRAM; waits for data are hatched."""
    a, b = synthetic_report(), synthetic_report("graphturbo@16")
    figure = bound_steps.bound_step_figure(a, b)
    assert figure.layout.xaxis.title.text == "time of the whole batch (ms)"
    assert figure.data[0].name == "lower bound"
    assert figure.data[0].y == ("A · matrix engines", "B · DRAM")
    bars = {bar.name: tuple(bar.x) for bar in figure.data}
    for run, report in enumerate((a, b)):
        whole_ms = 1e3 * report.contract["latency_s"]
        assert sum(bar[run] for bar in bars.values()) == pytest.approx(whole_ms)
        assert bars["lower bound"][run] == pytest.approx(1e3 * report.contract["lower_bound_s"])
    assert bars["waits for data from DRAM"][0] == pytest.approx(4 * bars["launch or barrier"][0])
    assert bars["waits for data from DRAM"][1] == bars["spills"][0] == 0
    patterns = {bar.name: bar.marker.pattern.shape for bar in figure.data}
    hatched = {name: shape for name, shape in patterns.items() if shape}
    assert hatched == {"waits for data from DRAM": "/", "waits for data through GB": "x"}
    assert len({*bound_steps.PATTERNS.values()}) == len(bound_steps.PATTERNS)
    rows = bound_steps.bound_step_rows(a, b)
    assert {(row["run"], row["bound by"]) for row in rows} == {
        ("A", "matrix engines"), ("B", "DRAM"),
    }  # fmt: skip
    shares = [row["share of the latency (%)"] for row in rows if row["run"] == "B"]
    assert sum(shares) == pytest.approx(100)


def test_every_step_has_words_and_a_colour():
    engines = [f"data_{source.name.lower()}" for source in DataSource]
    engines += [wait.name.lower() for wait in core_steps.WAITS]
    engines += [core_steps.BOUND, core_steps.OTHER_CLUSTERS, core_steps.REPEATED]
    dram = [cause.name.lower() for cause in core_steps.MORE_BYTES]
    dram += [core_steps.OTHER_BYTES, core_steps.DRAM_IDLE]
    steps = [*engines, core_steps.UNFILLED, *dram]
    assert sorted(bound_steps.STEP_WORDS) == sorted(steps)
    assert all(bound_steps._colour(step) for step in steps)


def test_the_critical_path_is_as_long_as_the_run_and_in_milliseconds():
    a, b = synthetic_report(), synthetic_report("graphturbo@16")
    paths = ({"dram": 0.009, "matrix": 0.001}, {"dram": 0.0005, "launch": 0.0015})
    a, b = (
        replace(one, contract={**one.contract, "critical_path": {**NO_PATH, **path}})
        for one, path in zip((a, b), paths, strict=True)
    )
    figure = accounting.path_figure(a, b)
    assert figure.layout.xaxis.title.text == "time of the whole batch (ms)"
    bars = {bar.name: tuple(bar.x) for bar in figure.data}
    assert bars == {"matrix engine": (1.0, 0.0), "DRAM": (9.0, 0.5), "launch": (0.0, 1.5)}
    assert figure.data[0].y == ("A", "B")
    rows = accounting.path_rows(a, b)
    assert [(row["run"], row["resource"]) for row in rows] == [
        ("A", "matrix engine"), ("A", "DRAM"), ("B", "DRAM"), ("B", "launch"),
    ]  # fmt: skip
    assert [row["share of the latency (%)"] for row in rows] == pytest.approx([10, 90, 25, 75])
    none = replace(a, contract={**a.contract, "critical_path": NO_PATH})
    assert accounting.path_figure(none).layout.annotations[0].text == accounting.NO_PATH


def test_the_table_of_layers_and_its_file():
    report = three_layers()
    report = with_layers(report, *({"name": name} for name in ("=cmd()", "b", "c")))
    rows = layer_table(report, report)
    assert [row["run"] for row in rows] == ["A"] * 3 + ["B"] * 3
    assert rows[0]["MAC/byte"] == 4.0
    assert rows[0]["of its roof (%)"] == pytest.approx(50)
    assert (rows[2]["MAC/byte"], rows[2]["roof"]) == (None, "")
    assert layer_selections(report, report)[4] == Selection("B", "layer", 1)
    found = list(csv.DictReader(io.StringIO(csv_text(rows))))
    assert found[0]["name"] == "'=cmd()"
    assert [row["MACs per sample"] for row in found] == ["2000000.0", "500000.0", "0.0"] * 2
    assert [row["DRAM bytes per sample"] for row in found[:3]] == ["500000.0", "0.0", "500000.0"]
    assert found[2]["MAC/byte"] == ""


@cache
def real(strategy: str, profile: str) -> Report:
    asked = RunRequest("teaching-resnet", strategy, profile, 64)
    return run_report(load_sample("teaching-resnet"), asked)


@pytest.mark.parametrize("profile", ["stcp920", "generic-4x4", "goya", "ipu-gc2"])
@pytest.mark.parametrize("strategy", ["tvm", "graphturbo"])
def test_no_layer_of_a_real_run_is_above_its_roof(strategy: str, profile: str):
    report = real(strategy, profile)
    roofs = roofline.roofs_of(report)
    points = roofline.roofline_points(report)
    assert points
    for point in points:
        assert point.macs_per_s <= roofs["matrix_macs_per_s"] + roofs["vector_macs_per_s"]
        assert point.dram_bytes <= point.window_s * roofs["dram_bytes_per_s"] * (1 + 1e-9)


BOUND = {
    "cluster_batch": 1, "status": "bound", "least_cycles": 9000, "closed_form_cycles": 0,
    "cycles": 0, "is_traffic": False, "is_taken": False,
}  # fmt: skip
TAKEN = {
    **BOUND, "cluster_batch": 16, "status": "searched", "least_cycles": 3000,
    "closed_form_cycles": 4000, "cycles": 5000, "is_taken": True,
}  # fmt: skip


def compared(*rows: dict[str, object]) -> Report:
    report = synthetic_report()
    return replace(report, tables={**report.tables, "compared_batches": rows})


def test_a_compared_cluster_batch_begins_with_its_lower_bound():
    report = compared(BOUND, TAKEN)
    scale = 1e3 * report.contract["latency_s"] / report.contract["cycles"]
    figure = cluster_batches.batch_figure(synthetic_report(), report)
    lengths = {trace.name: list(trace.x) for trace in figure.data}
    assert {name: pytest.approx(x) for name, x in lengths.items()} == {
        cluster_batches.SIMULATED: [0, 3000 * scale],
        cluster_batches.NOT_SIMULATED: [9000 * scale, 0],
        cluster_batches.BEYOND: [0, 2000 * scale],
    }
    assert list(figure.data[0].y) == ["B · 1", "B · 16"]
    assert figure.layout.xaxis.title.text == cluster_batches.TIME_AXIS
    first, second = cluster_batches.batch_table(synthetic_report(), report)
    assert (first["fastest simulated (ms)"], first["taken"]) == (None, "no")
    assert second["closed form (ms)"] == pytest.approx(4000 * scale)
    assert not cluster_batches.batch_rows(synthetic_report())


def test_the_schedule_that_was_taken_is_a_line_across_the_bars_of_its_run():
    figure = cluster_batches.batch_figure(compared(TAKEN), compared(BOUND, TAKEN))
    lines = [(line.y0, line.y1) for line in figure.layout.shapes]
    assert lines == [(-0.5, 0.5), (0.5, 2.5)]
    assert all(line.x0 == line.x1 == figure.data[0].x[0] * 5 / 3 for line in figure.layout.shapes)


def test_traffic_is_drawn_as_the_time_of_dram_and_a_refusal_in_words():
    moved = {**TAKEN, "is_traffic": True, "least_cycles": 0}
    refused = {**moved, "cycles": 0, "status": "refused", "is_taken": False, "cluster_batch": 2}
    figure = cluster_batches.batch_figure(compared(refused, moved))
    assert [trace.name for trace in figure.data] == [cluster_batches.TRAFFIC]
    assert figure.layout.xaxis.title.text == cluster_batches.TRAFFIC_AXIS
    assert [(note.y, note.text) for note in figure.layout.annotations] == [
        ("A · 2", cluster_batches.STATUS_WORDS["refused"])
    ]
    assert {row["counted"] for row in cluster_batches.batch_table(compared(moved))} == {
        "DRAM's time"
    }
