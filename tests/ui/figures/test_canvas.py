"""Report -> canvas buffers: what the browser reads is exactly what the report says."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest

from graphturbo_core.report.canvases.canvas import (
    pack,
    seconds_per_cycle,
)
from graphturbo_core.report.canvases.gantt_canvas import gantt_buffer
from graphturbo_ui.components import sources
from graphturbo_ui.session import state
from tests.ui.synthetic import synthetic_report, with_rounds
from tests.ui.unpacking import unpack


def small_report():
    """Three instructions on two engines, given out of order of start."""
    report = synthetic_report(cores=1, layers=2, instructions=3)
    arrays = dict(report.arrays)
    arrays |= {
        "start": np.array([50, 0, 10]),
        "hold": np.array([5, 30, 20]),
        "visible": np.array([55, 30, 90]),
        "engine": np.array([1, 2, 1], np.int16),
        "wait_on": np.array([2, -1, 1], np.int32),
        "op": np.array([5, 0, 1], np.int32),
        "overlap_start": np.array([40, 12]),
        "overlap_end": np.array([45, 20]),
        "overlap_core": np.array([0, 0], np.int16),
    }
    (whole,) = report.tables["round"]
    tables = {**report.tables, "round": ({**whole, "cycles": 95},)}
    return replace(report, arrays=arrays, tables=tables)


def test_a_buffer_is_what_was_packed_and_its_arrays_are_aligned():
    arrays = {"a": np.array([1, 2, 3], "|u1"), "b": np.array([1.5], "<f8")}
    data = pack({"hello": "wörld"}, arrays)
    header, found = unpack(data)
    assert header["hello"] == "wörld"
    assert [(name, list(values)) for name, values in found.items()] == [
        ("a", [1, 2, 3]),
        ("b", [1.5]),
    ]
    assert (4 + int.from_bytes(data[:4], "little")) % 8 == 0
    assert [row[2] for row in header["arrays"]] == [0, 8]


def test_the_digest_follows_the_content_alone():
    def digest(value: int) -> object:
        return unpack(pack({"x": 1}, {"a": np.array([value])}))[0]["digest"]

    assert digest(1) == digest(1)
    assert digest(1) != digest(2)


def test_instructions_are_sent_engine_by_engine_in_order_of_start():
    header, arrays = unpack(gantt_buffer(small_report()))
    run = header["runs"][0]
    # engine 0: none; engine 1: instructions 2, 0; engine 2: instruction 1; engine 3: none
    assert [(row["from"], row["to"]) for row in run["rows"]] == [(0, 0), (0, 2), (2, 3), (3, 3)]
    assert list(arrays["0.start"]) == [10, 50, 0]
    assert list(arrays["0.hold"]) == [20, 5, 30]
    assert list(arrays["0.op"]) == [1, 5, 0]


def test_indices_are_sent_narrow_where_they_fit():
    report = small_report()
    wide = replace(report, arrays={**report.arrays, "tile": np.array([0, 40_000, 1])})
    assert unpack(gantt_buffer(report))[1]["0.tile"].dtype == np.int16
    tile = unpack(gantt_buffer(wide))[1]["0.tile"]
    assert tile.dtype == np.int32
    assert list(tile) == [1, 0, 40_000]


def test_more_bytes_than_32_bits_hold_are_sent_all_the_same():
    report = small_report()
    sizes = np.array([2**33 + 1, 0, 7])
    huge = replace(report, arrays={**report.arrays, "size_bytes": sizes})
    assert list(unpack(gantt_buffer(huge))[1]["0.size_bytes"]) == [7, 2**33 + 1, 0]


def test_what_an_instruction_waited_for_is_found_in_the_new_order():
    _, arrays = unpack(gantt_buffer(small_report()))
    # 2 waited for 1, which is now third; 0 waited for 2, now first; 1 for none
    assert list(arrays["0.wait_on"]) == [2, 0, -1]


def test_a_box_is_a_place_among_few_cuts_for_every_axis():
    report = small_report()
    boxes = {
        "moved_tensor": np.array([-1, 2, -1], np.int32),
        "box_axes": np.array([2, 1, 2], np.int8),
        "box_lo": np.array([[0, 8], [70_000, 0], [4, 8]], np.int32),
        "box_hi": np.array([[4, 16], [2**31 - 1, 0], [8, 16]], np.int32),
    }
    header, arrays = unpack(gantt_buffer(replace(report, arrays={**report.arrays, **boxes})))
    run = header["runs"][0]
    ends = [
        arrays[f"0.cut_{end}"][arrays["0.cut"]].reshape(3, run["columns"]) for end in ("lo", "hi")
    ]
    # sent in the order 2, 0, 1
    assert ends[0].tolist() == [[4, 8], [0, 8], [70_000, 0]]
    assert ends[1].tolist() == [[8, 16], [4, 16], [2**31 - 1, 0]]
    assert list(arrays["0.axes"]) == [2, 2, 1]
    assert list(arrays["0.moved"]) == [-1, -1, 2]
    assert len(arrays["0.cut_lo"]) == 5
    assert run["tensors"][2] == "t3"


def test_the_time_axis_ends_with_the_last_barrier():
    run = unpack(gantt_buffer(small_report()))[0]["runs"][0]
    assert run["cycles"] == 95


def test_bytes_come_in_the_order_of_their_instructions():
    report = small_report()
    booked = {
        "booked_instruction": np.array([0, 1, 0]),
        "booked_memory": np.array([0, 1, 1], np.int8),
        "booked_cause": np.array([1, 5, 2], np.int8),
        "booked_bytes": np.array([10, 20, 30]),
    }
    report = replace(report, arrays={**report.arrays, **booked})
    header, arrays = unpack(gantt_buffer(report))
    # instruction 0 is sent second, 1 third
    assert list(arrays["0.booked_at"]) == [1, 1, 2]
    assert list(arrays["0.booked_way"]) == [1, 8 + 2, 8 + 5]
    assert list(arrays["0.booked_bytes"]) == [10, 30, 20]
    assert header["runs"][0]["causes"][1:3] == ["input", "output"]


def test_the_longest_chain_is_told_in_the_order_sent():
    report = small_report()
    report = replace(report, arrays={**report.arrays, "chain": np.array([0, 1])})
    assert list(unpack(gantt_buffer(report))[1]["0.chain"]) == [1, 2]


def test_the_critical_path_is_sent_by_place_and_summed_by_resource():
    # launch [0, 5), instruction 1 [5, 30) and its latency [30, 40), instruction 0 [40, 95)
    path = {
        "path_instruction": np.array([-1, 1, 1, 0], np.int32),
        "path_start": np.array([0, 5, 30, 40]),
        "path_end": np.array([5, 30, 40, 95]),
        "path_resource": np.array([8, 3, 7, 0], np.int8),
        "path_holds_up": np.array([4, 1, 1, 4], np.int8),
    }
    report = small_report()
    header, arrays = unpack(gantt_buffer(replace(report, arrays={**report.arrays, **path})))
    # instruction 0 is sent second (place 1), instruction 1 third (place 2)
    assert list(arrays["0.path"]) == [1, 2, 2]
    assert list(arrays["0.path_start"]) == [40, 5, 30]
    assert list(arrays["0.path_end"]) == [95, 30, 40]
    assert list(arrays["0.path_resource"]) == [0, 3, 7]
    assert list(arrays["0.path_holds_up"]) == [4, 1, 1]
    assert header["runs"][0]["path_shares"] == [
        ["matrix engine", 55 / 95],
        ["DRAM", 25 / 95],
        ["latency", 10 / 95],
        ["launch", 5 / 95],
    ]


def test_rounds_and_layers_in_flight_are_sent():
    report = with_rounds(small_report(), (5, 3, 95), (1, 1, 20))
    steps = {
        "flight_cycle": np.array([0, 10, 60]),
        "flight_layers": np.array([0, 2, 1], np.int32),
        "under_start": np.array([12, 40]),
        "under_end": np.array([20, 55]),
    }
    header, arrays = unpack(gantt_buffer(replace(report, arrays={**report.arrays, **steps})))
    assert header["runs"][0]["sequence"] == [
        {"samples": 5, "count": 3, "cycles": 95, "is_drawn": True},
        {"samples": 1, "count": 1, "cycles": 20, "is_drawn": False},
    ]
    assert list(arrays["0.flight_cycle"]) == [0, 10, 60]
    assert list(arrays["0.flight_layers"]) == [0, 2, 1]
    assert list(arrays["0.under_start"]) == [12, 40]
    assert list(arrays["0.under_hold"]) == [8, 15]


def test_a_share_of_being_busy_is_sent_only_where_it_is_not_all():
    report = small_report()
    busy = replace(report, arrays={**report.arrays, "busy": np.array([5, 30, 20])})
    assert "0.busy_share" not in unpack(gantt_buffer(busy))[1]
    half = replace(report, arrays={**report.arrays, "busy": np.array([5, 15, 20])})
    assert list(unpack(gantt_buffer(half))[1]["0.busy_share"]) == [1, 1, 0.5]


def test_steps_of_a_memory_that_change_nothing_are_left_out():
    report = small_report()
    steps = {"gb_cycle": np.array([0, 3, 7, 9]), "gb_bytes": np.array([0, 5, 5, 2])}
    arrays = unpack(gantt_buffer(replace(report, arrays={**report.arrays, **steps})))[1]
    assert list(arrays["0.gb_cycle"]) == [0, 3, 9]
    assert list(arrays["0.gb_bytes"]) == [0, 5, 2]


def test_a_cycle_lasts_latency_over_cycles():
    report = synthetic_report()
    contract = {**report.contract, "latency_s": 0.002, "cycles": 4_000_000}
    assert seconds_per_cycle(replace(report, contract=contract)) == 5e-10


def test_overlap_comes_core_by_core_in_order_of_start():
    header, arrays = unpack(gantt_buffer(small_report()))
    assert header["runs"][0]["overlap"] == [{"core": 0, "cores": 1, "from": 0, "to": 2}]
    assert list(arrays["0.overlap_start"]) == [12, 40]
    assert list(arrays["0.overlap_hold"]) == [8, 5]


def test_two_runs_stand_beside_each_other_and_every_name_is_shown_by_show():
    header, arrays = unpack(
        gantt_buffer(small_report(), small_report(), show=str.upper, extra={"label": "x"})
    )
    assert header["label"] == "x"
    assert len(header["runs"]) == 2
    assert header["runs"][1]["ops"][:2] == ["OP0", "OP1"]
    assert header["runs"][1]["title"] == "TVM@2"
    assert list(arrays["1.start"]) == list(arrays["0.start"])


def test_a_buffer_is_stamped_with_the_time_since_when_it_is_shown(monkeypatch: pytest.MonkeyPatch):
    clock = iter([10.0, 20.0, 30.0])
    monkeypatch.setattr(state.st, "session_state", {})
    monkeypatch.setattr(state, "time", lambda: next(clock))
    first, second = pack({"x": 1}, {}), pack({"x": 2}, {})
    sent = [sources.stamped("gantt", buffer) for buffer in (first, first, second, first)]
    assert sent[0] == sent[1] == first + struct.pack("<d", 10.0)
    assert sent[2:] == [second + struct.pack("<d", 20.0), first + struct.pack("<d", 30.0)]
