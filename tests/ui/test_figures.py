"""Rows behind figures and tables, exactly; figures by traces, titles and the empty case."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphturbo_ui.figures import group_tables, instructions, tables
from graphturbo_ui.figures.memory import EMPTY, MemoryRow, memory_figure, memory_rows
from tests.ui.synthetic import synthetic_report


def named(name: str):
    report = synthetic_report(layers=1)
    layer = {**report.tables["layers"][0], "name": name}
    return replace(report, tables={**report.tables, "layers": (layer,)})


def test_memory_rows_are_in_the_units_of_the_axes():
    report = synthetic_report(layers=2)
    layers = tuple(
        {**row, "lb_peak_bytes": 2048, "lb_mean_bytes": 1024, "gb_peak_bytes": 3 << 20}
        for row in report.tables["layers"]
    )
    rows = memory_rows(replace(report, tables={**report.tables, "layers": layers}))
    assert rows[1] == MemoryRow(2, "layer1", "Conv+Relu+Add", "g2", 2.0, 1.0, 3.0)


def test_memory_figure_has_three_bars_a_run_and_a_line_a_capacity():
    figure = memory_figure(synthetic_report(), synthetic_report("graphturbo@16"))
    assert [trace.name for trace in figure.data] == [
        "A worst core",
        "A mean core",
        "A GB",
        "B worst core",
        "B mean core",
        "B GB",
    ]
    assert [shape.y0 for shape in figure.layout.shapes] == [1280.0, 8.0, 1280.0, 8.0]
    assert figure.layout.yaxis.title.text == "LB (KiB a core)"
    assert figure.layout.yaxis2.title.text == "GB (MiB)"


def test_a_chip_without_gb_has_no_gb_line():
    report = synthetic_report()
    gb = {"capacity_bytes": 0, "peak_bytes": 0}
    figure = memory_figure(replace(report, contract={**report.contract, "gb": gb}))
    assert len(figure.layout.shapes) == 1


def test_no_layers_are_said_to_be_none():
    report = synthetic_report()
    figure = memory_figure(replace(report, tables={**report.tables, "layers": ()}))
    assert figure.layout.annotations[-1].text == EMPTY


def test_a_name_with_markup_reaches_plotly_escaped():
    figure = memory_figure(named("<b>x</b>"))
    assert "&lt;b&gt;x&lt;/b&gt;" in figure.data[0].customdata[0]
    assert "<b>" not in figure.data[0].customdata[0]


def test_steps_stand_side_by_side():
    a = synthetic_report()
    steps = [{"name": "plan", "seconds": 1.0}, {"name": "plan", "seconds": 0.5}]
    b = replace(a, contract={**a.contract, "steps": steps, "schedule_seconds": 2.0})
    assert tables.step_rows(a, b) == [
        {"step": "import", "A (s)": 0.2, "B (s)": None},
        {"step": "simulate", "A (s)": 0.4, "B (s)": None},
        {"step": "plan", "A (s)": None, "B (s)": 1.5},
        {"step": "import to trace, together", "A (s)": 0.6, "B (s)": 2.0},
    ]


def test_the_instruction_table_is_in_order_of_start_and_capped():
    report = synthetic_report(instructions=6000)
    rows = instructions.instruction_table(report, report)
    assert len(rows) == tables.MAX_ROWS
    starts = [row["start (µs)"] for row in rows if row["run"] == "A"]
    assert starts == sorted(starts)
    assert instructions.instruction_count(report, report) == 12000


def small_run():
    """Three instructions: engine 0 held [0, 30) and [50, 55), engine 1 [10, 30)."""
    report = synthetic_report(cores=1, layers=2, instructions=3)
    arrays = {
        **report.arrays,
        "start": np.array([50, 0, 10]),
        "hold": np.array([5, 30, 20]),
        "engine": np.array([0, 0, 1], np.int16),
        "op": np.array([5, 0, 1], np.int32),
        "layer": np.array([1, 0, -1], np.int32),
    }
    contract = {**report.contract, "latency_s": 1e-3, "cycles": 1000}
    return replace(report, arrays=arrays, contract=contract)


def test_the_instruction_table_follows_window_and_selection():
    report = small_run()

    def starts(**shown: object) -> list[tuple[object, object]]:
        rows = instructions.instruction_table(report, report, **shown)
        return [(row["run"], row["start (µs)"]) for row in rows]

    assert starts() == [("A", 0), ("A", 10), ("A", 50), ("B", 0), ("B", 10), ("B", 50)]
    # [30, 50) holds nothing: what ends at 30 and what starts at 50 lie outside
    assert starts(windows=[[30, 50], [29, 51]]) == [("B", 0), ("B", 10), ("B", 50)]
    assert starts(windows=[[0, 1]]) == [("A", 0), ("B", 0)]
    assert starts(ops=frozenset({5})) == [("A", 50), ("B", 50)]
    assert starts(windows=[[0, 20]], ops=frozenset({5})) == []


def test_an_instruction_waited_since_its_engine_was_free():
    rows = instructions.instruction_table(small_run(), names="A")
    assert [row["waited (µs)"] for row in rows] == [0, 10, 20]
    assert [row["layer"] for row in rows] == ["layer0", "", "layer1"]


def test_summaries_count():
    a, b = synthetic_report(), synthetic_report("graphturbo@16", layers_per_group=6)
    assert group_tables.graph_summary(a, b).startswith(
        "A runs 36 ops as 12 sub-graphs; B runs 36 ops as 2 sub-graphs."
    )
    assert (
        instructions.gantt_summary(a)
        == "One round on one cluster. A: 400 instructions on 7 engines."
    )


def test_a_note_of_both_runs_is_told_once():
    a, b = synthetic_report(), synthetic_report()
    a = replace(a, contract={**a.contract, "notes": ["one", "two"]})
    b = replace(b, contract={**b.contract, "notes": ["two", "three"]})
    assert tables.notes(a, b) == ["A: one", "A and B: two", "B: three"]


def test_a_run_alone_keeps_its_name():
    b = synthetic_report("graphturbo@16", layers=2)
    b = replace(b, contract={**b.contract, "notes": ["one"]})
    assert tables.notes(b, names="B") == ["B: one"]
    assert group_tables.graph_summary(b, names="B").startswith("B runs 6 ops as 2 sub-graphs.")
    assert "B: 400 instructions" in instructions.gantt_summary(b, names="B")
    assert {row["run"] for row in group_tables.group_table(b, names="B")} == {"B"}
    assert {row["run"] for row in tables.memory_table(b, names="B")} == {"B"}
    assert {row["run"] for row in instructions.instruction_table(b, names="B")} == {"B"}
    assert set(tables.step_rows(b, names="B")[0]) == {"step", "B (s)"}
    figure = memory_figure(b, names="B")
    assert [trace.name for trace in figure.data] == ["B worst core", "B mean core", "B GB"]
