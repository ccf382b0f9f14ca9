"""Instructions as rows: what is in sight and selected, by start, and how long they waited."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphturbo_ui.figures import instructions, tables
from tests.ui.synthetic import synthetic_report


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
    assert starts(ops=[{5}, {5}]) == [("A", 50), ("B", 50)]
    assert starts(windows=[[0, 20]], ops=[{5}, {5}]) == []


def test_an_instruction_waited_since_its_engine_was_free():
    rows = instructions.instruction_table(small_run(), names="A")
    assert [row["waited (µs)"] for row in rows] == [0, 10, 20]
    assert [row["layer"] for row in rows] == ["layer0", "", "layer1"]


def test_an_instruction_says_what_it_moves_and_which_box():
    report = small_run()
    made = {
        "moved_tensor": np.array([-1, 1, -1], np.int32),
        "box_axes": np.array([2, 1, 0], np.int8),
        "box_lo": np.array([[2, 0], [7, 0], [0, 0]], np.int32),
        "box_hi": np.array([[4, 64], [9, 0], [0, 0]], np.int32),
    }
    rows = instructions.instruction_table(
        replace(report, arrays={**report.arrays, **made}), names="A"
    )
    assert [(row["moves"], row["box"]) for row in rows] == [
        ("t2", "[7:9]"),
        ("", "[]"),
        ("", "[2:4, 0:64]"),
    ]
