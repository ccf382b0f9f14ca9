"""Rows and bytes of the address map: exactly what the report says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphturbo_core.report.canvases.address_canvas import address_buffer
from graphturbo_ui.figures.buffers import address_summary, buffer_count, buffer_table
from tests.ui.synthetic import synthetic_report
from tests.ui.synthetic_buffers import HELD_BYTES, LANE_BYTES, LANES, with_buffers
from tests.ui.unpacking import unpack

CYCLE_S = 1e-6 / 1000


def small_report():
    """16 buffers, two turns of eight, in GB and in both parts of one core's LB; 1,000 cycles."""
    report = synthetic_report(cores=1, layers=2)
    arrays = {**report.arrays, "start": np.array([0]), "hold": np.array([1000])}
    contract = {**report.contract, "cycles": 1000, "latency_s": 1e-6}
    return with_buffers(replace(report, contract=contract, arrays=arrays), 16, cores=1)


def test_a_buffer_s_row_tells_where_when_and_its_neighbours():
    rows = buffer_table(small_report())
    assert rows[9] == {
        "run": "A",
        "memory": "GB",
        "tensor": "t4",  # buffer 9 of six tensors
        "box": "[0:2, 0:64, 0:56, 0:56]",
        "holds": "output",  # the fourth of four kinds
        "bytes": HELD_BYTES,
        "first byte": LANE_BYTES,
        "from (s)": 500 * CYCLE_S,
        "to (s)": 875 * CYCLE_S,
        "filled for": "op3",
        "bytes before": "t2",  # buffer 1, eight before it
        "bytes after": "",
    }
    assert [row["memory"] for row in rows[15:33:16]] == ["GB", "core 0 LB data"]
    assert rows[1]["bytes after"] == "t4"


def test_rows_follow_window_and_selection():
    report = small_report()
    # the second turn begins at 500; the first holds its bytes until 375
    late = buffer_table(report, report, windows=[[400, 600], [0, 1000]])
    assert [row["run"] for row in late] == ["A"] * 8 * 3 + ["B"] * 16 * 3
    assert {row["from (s)"] for row in late if row["run"] == "A"} == {500 * CYCLE_S}
    assert buffer_table(report, windows=[[380, 490]]) == []
    chosen = buffer_table(report, ops=[{1}])
    assert {row["filled for"] for row in chosen} == {"op1"}
    assert len(chosen) == 3 * 3  # buffers 1, 7 and 13 of each space
    assert buffer_count(report, report) == 96


def test_a_name_with_direction_marks_is_made_safe():
    report = small_report()
    tensors = tuple({**row, "tensor": "a\u202eb"} for row in report.tables["tensors"])
    rows = buffer_table(replace(report, tables={**report.tables, "tensors": tensors}))
    assert rows[0]["tensor"] == "a\ufffdb"


def test_the_map_in_a_sentence():
    report = small_report()
    assert address_summary(report, names="B") == (
        "The whole batch on one cluster: B in 8 rounds of 2 samples. B has 48 buffers and uses "
        "at most 384 KiB of 1.25 MiB LB and 192 KiB of 8 MiB GB."
    )
    assert LANES * HELD_BYTES == 192 * 1024
    spaces = tuple({**row, "buffers": 20} for row in report.tables["spaces"])
    cut = replace(report, tables={**report.tables, "spaces": spaces})
    assert address_summary(cut).endswith("12 buffers more than a report lists are left out.")


def test_the_browser_gets_every_buffer_in_the_narrowest_type():
    header, arrays = unpack(address_buffer(small_report(), small_report(), show=str.upper))
    run = header["runs"][1]
    ends = [(space["from"], space["to"]) for space in run["spaces"]]
    assert ends == [(0, 16), (16, 32), (32, 48)]
    assert run["tensors"][0] == "T1"
    assert (run["cycles"], run["columns"]) == (small_report().tables["round"][0]["cycles"], 4)
    assert run["capacities"] == {"lb": 1_310_720, "gb": 8 << 20}
    assert arrays["1.from"].dtype == np.int16
    assert arrays["1.offset"].dtype == np.int32
    assert list(arrays["1.before"][8:16]) == list(range(8))
    assert list(arrays["1.hi"][:4]) == [2, 64, 56, 56]
    far = replace(small_report(), arrays={**small_report().arrays, "buffer_to": np.full(48, 2**40)})
    assert unpack(address_buffer(far))[1]["0.to"][0] == 2.0**40
