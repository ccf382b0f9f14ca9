"""Overlap and critical path of whole runs: rounds weighted by their duration, sums, texts."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows import overlap_rows
from graphturbo_core.report.rows.overlap_rows import overlap, ranges_text
from graphturbo_core.sim.trace import Trace


def flight(by_layers: list[int], memory: int, vector: int) -> SimpleNamespace:
    return SimpleNamespace(
        cycles_by_layers=np.array(by_layers),
        memory_under_compute_cycles=memory,
        vector_under_matrix_cycles=vector,
    )


def test_rounds_count_by_their_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    # Three rounds of 100 cycles (10 without a layer, 60 with one, 30 with two; 20 with memory and
    # 4 with vector work under compute) and one of 50 (5, 25, 0 and 20 with three; 10 and 1).
    monkeypatch.setattr(overlap_rows, "overlap_ratio", lambda _: 0.125)
    outcome = SimpleNamespace(
        makespan=350,
        slowest_share=SimpleNamespace(rounds=((5, 3), (1, 1))),
        flights={5: flight([10, 60, 30], 20, 4), 1: flight([5, 25, 0, 20], 10, 1)},
    )
    found = overlap(cast(Outcome, outcome))
    assert found == {
        "layers_in_flight": {
            "share": (90 + 20) / 350,
            "mean": (3 * (60 + 60) + 25 + 60) / 350,
            "histogram": {"0": 35 / 350, "1": 205 / 350, "2": 90 / 350, "3": 20 / 350},
        },
        "memory_under_compute": 70 / 350,
        "vector_under_matrix": 13 / 350,
        "within_core": 0.125,
    }


@cache
def report_of(strategy: str, batch: int = 64, profile: str = "stcp920") -> Report:
    request = RunRequest("teaching-resnet", strategy, profile, batch)
    return run_report(load_sample("teaching-resnet"), request)


def overlap_of(report: Report) -> dict[str, Any]:
    return cast(dict[str, Any], report.contract["overlap"])


@pytest.mark.parametrize(
    ("strategy", "profile"),
    [
        ("tvm@2", "stcp920"), ("graphturbo@5", "stcp920"), ("graphturbo@16", "generic-4x4"),
        ("graphturbo:order@16", "goya"), ("graphturbo", "ipu-gc2"),
        ("graphturbo:plus", "ascend910"),
    ],
)  # fmt: skip
def test_the_critical_path_covers_the_latency(strategy: str, profile: str) -> None:
    report = report_of(strategy, profile=profile)
    path = cast(dict[str, float], report.contract["critical_path"])
    assert sum(path.values()) == pytest.approx(report.contract["latency_s"], rel=1e-12)
    (whole,) = report.tables["round"]
    begins, ends = report.arrays["path_start"], report.arrays["path_end"]
    assert (begins[0], ends[-1]) == (0, whole["cycles"])
    assert np.array_equal(begins[1:], ends[:-1])
    histogram = overlap_of(report)["layers_in_flight"]["histogram"]
    assert sum(histogram.values()) == pytest.approx(1)
    mean = sum(int(count) * share for count, share in histogram.items())
    assert overlap_of(report)["layers_in_flight"]["mean"] == pytest.approx(mean)


def test_layers_overlap_with_instruction_scheduling_alone() -> None:
    fenced, free = (
        overlap_of(report_of(f"graphturbo:{level}@16", profile="generic-4x4"))
        for level in ("order", "full")
    )
    assert fenced["layers_in_flight"]["share"] == fenced["memory_under_compute"] == 0
    assert free["layers_in_flight"]["share"] >= free["memory_under_compute"] > 0.03
    assert free["within_core"] < free["layers_in_flight"]["share"]


def test_the_longest_stretch_is_named_and_lies_within_those_reported() -> None:
    report = report_of("graphturbo", 1, "generic-4x4")
    (row,) = report.tables["stretches"]
    length = report.arrays["under_end"] - report.arrays["under_start"]
    at = int(length.argmax())
    assert row["start_cycle"] == report.arrays["under_start"][at]
    assert row["end_cycle"] == report.arrays["under_end"][at]
    assert row["moved"] == "weights arrive"
    computes = layers_at_work(report, row, ("matrix", "vector"))
    assert row["compute_layers"] == ranges_text(np.array(computes))
    moving = layers_at_work(report, row, ("move", "dma"))
    ahead = {int(n) for part in str(row["memory_layers"]).split(", ") for n in part.split("-")}
    assert {n - 1 for n in ahead} <= set(moving) - set(computes)
    assert not report_of("tvm@2").tables["stretches"]


def layers_at_work(report: Report, row: Any, kinds: tuple[str, ...]) -> list[int]:
    arrays, engines = report.arrays, report.tables["engines"]
    found = set()
    for start, hold, engine, layer in zip(
        *(arrays[name].tolist() for name in ("start", "hold", "engine", "layer")), strict=True
    ):
        is_inside = start < row["end_cycle"] and start + hold > row["start_cycle"] and hold
        if is_inside and layer >= 0 and engines[engine]["kind"] in kinds:
            found.add(layer)
    return sorted(found)


def test_layers_are_named_by_their_number_from_one() -> None:
    assert ranges_text(np.array([36, 37, 38, 45], np.int64)) == "37-39, 46"
    assert ranges_text(np.array([0], np.int64)) == "1"
    assert ranges_text(np.array([], np.int64)) == ""


def test_a_round_s_shares_are_of_its_own_cycles() -> None:
    outcome = SimpleNamespace(largest_size=5, flights={5: flight([10, 60, 20, 10], 20, 4)})
    trace = SimpleNamespace(makespan=100)
    row = overlap_rows.overlap_round_row(cast(Trace, trace), cast(Outcome, outcome))
    assert row == {"layers_in_flight": 0.3, "memory_under_compute": 0.2}
