"""The Gantt chart's arrays of a Report sum to the values of contract and tables."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.program import Cause
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.graph_rows import GraphNodeRow


@cache
def report_of(strategy: str, profile: str = "stcp920", batch: int = 8) -> Report:
    request = RunRequest("teaching-resnet", strategy, profile, batch)
    return run_report(load_sample("teaching-resnet"), request)


RUNS = [
    ("tvm@2", "stcp920"),
    ("graphturbo@2", "stcp920"),
    ("graphturbo", "ascend910"),
    ("tvm", "ipu-gc2"),
]


@pytest.mark.parametrize(("strategy", "profile"), RUNS)
def test_bytes_by_cause_add_up_to_the_ledger_of_the_round(strategy: str, profile: str) -> None:
    report = report_of(strategy, profile)
    assert report.contract["rounds"] == 1
    memory, cause = report.arrays["booked_memory"], report.arrays["booked_cause"]
    booked = {
        ("DRAM", "GB")[m] + " " + Cause(c).name.lower(): int(
            report.arrays["booked_bytes"][(memory == m) & (cause == c)].sum()
        )
        for m in (0, 1)
        for c in range(1, len(Cause))
    }
    whole = {f"{row['memory']} {row['cause']}": row["bytes"] for row in report.tables["ledger"]}
    clusters = clusters_of(report)
    assert {name: clusters * size for name, size in booked.items()} == whole
    assert sum(booked.values()) > 0


def clusters_of(report: Report) -> int:
    """Clusters that run a round: all of a batch of 8 that is cut evenly."""
    chip = {row["key"]: row["value"] for row in report.tables["chip"]}
    return min(int(str(chip["chip.clusters"])), 8)


@pytest.mark.parametrize(("strategy", "profile"), RUNS)
def test_busy_cycles_over_the_round_are_the_utilization(strategy: str, profile: str) -> None:
    report = report_of(strategy, profile)
    (whole,) = report.tables["round"]
    kinds = np.array([row["kind"] for row in report.tables["engines"]])
    cores = np.array([row["cores"] for row in report.tables["engines"]])
    of = kinds[report.arrays["engine"].astype(int)]
    for kind, share in report.contract["utilization"].items():  # type: ignore[attr-defined]
        engines = cores[kinds == kind].sum()
        busy = report.arrays["busy"][of == kind].sum()
        assert busy / max(1, engines * int(str(whole["cycles"]))) == pytest.approx(share)


@pytest.mark.parametrize(("strategy", "profile"), RUNS)
def test_the_round_is_the_whole_run_where_there_is_one(strategy: str, profile: str) -> None:
    report = report_of(strategy, profile)
    (whole,) = report.tables["round"]
    assert whole["cycles"] == report.contract["cycles"]
    assert whole["repeats"] == whole["clusters"] == clusters_of(report)
    assert whole["cross_layer_overlap"] == report.contract["cross_layer_overlap"]
    path = report.arrays["chain"]
    taken = (report.arrays["visible"] - report.arrays["start"])[path].sum()
    assert np.all(np.diff(path) > 0)
    ends = int(str(whole["longest_chain_cycles"])) - int(taken)
    assert 0 <= ends <= int(str(whole["cycles"])) - int(taken)


def test_rounds_of_the_largest_size_are_counted_over_all_clusters() -> None:
    (whole,) = report_of("tvm@2", batch=64).tables["round"]
    assert (whole["repeats"], whole["clusters"]) == (32, 4)
    # 12 over 4 clusters: each runs one round of 2 samples and one of 1
    (whole,) = report_of("tvm@2", batch=12).tables["round"]
    assert (whole["repeats"], whole["clusters"]) == (4, 4)


def boxes_of(report: Report, rows: np.ndarray) -> set[tuple[tuple[int, int], ...]]:
    """The boxes of these instructions, each once."""
    arrays = report.arrays
    return {
        tuple(zip(lo[:axes], hi[:axes], strict=True))
        for lo, hi, axes in zip(
            arrays["box_lo"][rows].tolist(),
            arrays["box_hi"][rows].tolist(),
            arrays["box_axes"][rows].tolist(),
            strict=True,
        )
    }


def elements(box: tuple[tuple[int, int], ...]) -> int:
    return math.prod(hi - lo for lo, hi in box)


@pytest.mark.parametrize(
    ("strategy", "profile"), [("layerwise", "stcp920"), ("tvm@2", "ascend910")]
)
def test_boxes_of_an_op_s_tiles_cover_its_result_once(strategy: str, profile: str) -> None:
    report = report_of(strategy, profile, 1)
    is_compute = report.arrays["moved_tensor"] < 0
    seen = 0
    for node in report.tables["graph_nodes"]:
        rows = np.flatnonzero((report.arrays["op"] == node["index"]) & is_compute)
        found = boxes_of(report, rows)
        if found:
            assert sum(map(elements, found)) == elements_of(node), node["op"]
        seen += len(found)
    assert seen > 0


def elements_of(node: GraphNodeRow) -> int:
    (shape,) = node["output_shapes"]
    return math.prod(shape)


@pytest.mark.parametrize(("strategy", "profile"), [run for run in RUNS if run[1] != "ipu-gc2"])
def test_stores_of_the_output_move_all_of_it(strategy: str, profile: str) -> None:
    report = report_of(strategy, profile)
    (output,) = [row["index"] for row in report.tables["tensors"] if row["kind"] == "output"]
    rows = np.flatnonzero(report.arrays["moved_tensor"] == output)
    found = boxes_of(report, rows)
    assert found
    assert max(hi for (_, hi), *_ in found) == 8 // clusters_of(report)
