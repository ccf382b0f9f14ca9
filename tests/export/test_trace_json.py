"""Trace files read back by the rules of the Trace Event format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from graphturbo_core.export.trace_json import trace_json
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report

PHASES = {"X", "M", "b", "e", "C"}


@pytest.fixture(scope="module")
def report() -> Report:
    request = RunRequest("teaching-resnet", "graphturbo@4", "generic-4x4", 16)
    return run_report(load_sample("teaching-resnet"), request)


def read_trace(text: str) -> list[dict[str, Any]]:
    """Events of a JSON-object trace, each checked for what its phase demands."""
    trace = json.loads(text)
    assert isinstance(trace["traceEvents"], list)
    assert trace.get("displayTimeUnit") in {"ms", "ns"}
    for event in trace["traceEvents"]:
        assert event["ph"] in PHASES
        assert isinstance(event["name"], str)
        assert type(event["pid"]) is int
        assert type(event["tid"]) is int
        assert isinstance(event.get("args", {}), dict)
        if event["ph"] == "X":
            assert isinstance(event["ts"], int | float)
            assert event["ts"] >= 0
            assert event["dur"] >= 0
        elif event["ph"] in {"b", "e"}:
            assert isinstance(event["ts"], int | float)
            assert event["cat"] == "kernel"
            assert type(event["id"]) is int
        elif event["ph"] == "C":
            assert isinstance(event["ts"], int | float)
            (value,) = event["args"].values()
            assert value >= 0
        else:
            assert event["name"] in {"process_name", "thread_name", "thread_sort_index"}
    return list(trace["traceEvents"])


def of_phase(events: list[dict[str, Any]], phase: str) -> Iterator[dict[str, Any]]:
    return (event for event in events if event["ph"] == phase)


def test_every_instruction_is_a_complete_event(report: Report) -> None:
    events = list(of_phase(read_trace(trace_json(report)), "X"))
    assert len(events) == report.contract["instructions"]
    for name, key in (("start", "start_cycle"), ("hold", "cycles"), ("size_bytes", "bytes")):
        assert [event["args"][key] for event in events] == report.arrays[name].tolist()
    # A cycle of 1 GHz is a thousandth of a microsecond.
    assert all(
        event["ts"] == pytest.approx(event["args"]["start_cycle"] / 1000) for event in events
    )


def test_every_engine_has_a_named_thread(report: Report) -> None:
    events = read_trace(trace_json(report))
    names = {
        e["tid"]: e["args"]["name"] for e in of_phase(events, "M") if e["name"] == "thread_name"
    }
    assert list(names.values()) == [row["label"] for row in report.tables["engines"]]
    assert {event["tid"] for event in of_phase(events, "X")} <= set(names)


def test_events_of_a_thread_do_not_overlap(report: Report) -> None:
    ends: dict[int, int] = {}
    events = of_phase(read_trace(trace_json(report)), "X")
    for event in sorted(events, key=lambda e: (e["args"]["start_cycle"], e["args"]["sequence"])):
        args = event["args"]
        assert args["start_cycle"] >= ends.get(event["tid"], 0)
        ends[event["tid"]] = args["start_cycle"] + args["cycles"]


def test_waits_name_an_instruction_that_was_there(report: Report) -> None:
    events = list(of_phase(read_trace(trace_json(report)), "X"))
    waits = {"busy", "data", "address", "channel", "barrier", "idle"}
    assert {event["args"]["wait"] for event in events} <= waits
    assert all(-1 <= event["args"]["wait_on"] < len(events) for event in events)


def test_counters_are_what_memories_hold_and_how_many_layers_run(report: Report) -> None:
    """Steps in time; their highest values are the contract's peaks, of all buffers' bytes."""
    events = list(of_phase(read_trace(trace_json(report)), "C"))
    steps = {
        name: [(e["ts"], *e["args"].items()) for e in events if e["name"] == name]
        for name in ("LB of the fullest core", "GB", "layers in flight")
    }
    assert len(events) == sum(map(len, steps.values()))
    for name, key in (("LB of the fullest core", "lb"), ("GB", "gb")):
        assert max(value for _, (_, value) in steps[name]) == report.contract[key]["peak_bytes"]
        assert {unit for _, (unit, _) in steps[name]} == {"bytes"}
    in_flight = report.contract["overlap"]["layers_in_flight"]["histogram"]
    found = {value for _, (_, value) in steps["layers in flight"]}
    assert max(found) == max(map(int, in_flight))
    for own in steps.values():
        times = [step[0] for step in own]
        assert times == sorted(times)


def test_kernels_begin_and_end(report: Report) -> None:
    events = read_trace(trace_json(report))
    kernels = report.tables["kernels"]
    for phase, key in (("b", "start_cycle"), ("e", "end_cycle")):
        found = list(of_phase(events, phase))
        assert [event["id"] for event in found] == list(range(len(kernels)))
        assert [event["name"] for event in found] == [row["name"] for row in kernels]
        assert [event["ts"] for event in found] == pytest.approx(
            [row[key] / 1000 for row in kernels]
        )
    least = [event["args"]["least_us"] for event in of_phase(events, "b")]
    assert least == pytest.approx([row["least_cycles"] / 1000 for row in kernels])
