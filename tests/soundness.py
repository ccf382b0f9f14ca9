"""What must hold of any report, from its own figures alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphturbo_core.report.report import Report

REPEATING = "xla"
"""The strategy whose kernels may compute an op again: its groups share ops."""


def check_sound(report: Report) -> None:
    """Independent of how the report was made: from its own figures alone."""
    contract: dict[str, Any] = dict(report.contract)
    check_times(contract)
    check_bytes(contract, report)
    check_stalls(contract, report)
    check_bound_steps(contract)
    check_memory(contract, report)
    check_engines(report)
    check_lists(contract, report)


def check_times(contract: dict[str, Any]) -> None:
    latency_s = contract["latency_s"]
    for bound in ("lower_bound_s", "plan_bound_s", "program_critical_path_s"):
        assert 0 < contract[bound] <= latency_s * (1 + 1e-12), bound
    assert contract["gap"] == pytest.approx(latency_s / contract["lower_bound_s"])
    assert contract["throughput_per_s"] == pytest.approx(contract["batch"] / latency_s)


def check_bytes(contract: dict[str, Any], report: Report) -> None:
    dram = contract["dram_read_bytes"] + contract["dram_write_bytes"]
    assert sum(contract["dram_ledger"].values()) == dram
    assert dram >= contract["compulsory_dram_bytes"] > 0
    counted = {"DRAM": dram, "GB": contract["gb_read_bytes"] + contract["gb_write_bytes"]}
    for memory, moved in counted.items():
        rows = [row["bytes"] for row in report.tables["ledger"] if row["memory"] == memory]
        assert sum(rows) == moved  # type: ignore[arg-type]
        assert min(rows) >= 0  # type: ignore[type-var]
    assert contract["macs"] > 0
    assert contract["halo_macs"] >= 0


def check_bound_steps(contract: dict[str, Any]) -> None:
    found = contract["bound_steps"]["steps"]
    assert next(iter(found)) == "bound"
    assert found["bound"] == pytest.approx(contract["lower_bound_s"])
    assert min(found.values()) > 0
    assert sum(found.values()) == pytest.approx(contract["latency_s"])
    assert contract["bound_steps"]["resource"] in ("matrix", "vector", "dram")


def check_stalls(contract: dict[str, Any], report: Report) -> None:
    for kind, shares in contract["stalls"].items():
        assert sum(shares.values()) == pytest.approx(1, abs=1e-9)
        assert all(0 <= share <= 1 for share in shares.values())
        assert contract["utilization"][kind] == shares["busy"]
    classes = ("busy", "data", "address", "channel", "barrier", "idle")
    sums = {sum(int(row[c] or 0) for c in classes) for row in report.tables["stalls"]}
    assert len(sums) == 1, "every engine's cycles sum to the same makespan"
    assert sums.pop() >= report.arrays["visible"].max()
    assert 0 < contract["mac_utilization"] <= 1
    assert 0 <= contract["cross_layer_overlap"] <= 1


def check_memory(contract: dict[str, Any], report: Report) -> None:
    for memory in ("lb", "gb"):
        peak, capacity = contract[memory]["peak_bytes"], contract[memory]["capacity_bytes"]
        assert 0 < peak <= capacity or peak == capacity == 0
        assert report.arrays[f"{memory}_bytes"].max() <= peak
        assert all(0 <= row[f"{memory}_peak_bytes"] <= peak for row in contract["layers"])


def check_engines(report: Report) -> None:
    """An engine does one thing at a time, and nothing ends before it starts."""
    start, hold = (report.arrays[name].astype(np.int64) for name in ("start", "hold"))
    order = np.lexsort((start + hold, start, report.arrays["engine"]))
    same = np.diff(report.arrays["engine"][order]) == 0
    assert (start[order][1:] >= (start + hold)[order][:-1])[same].all()
    assert (report.arrays["visible"] >= start + hold).all()


def check_lists(contract: dict[str, Any], report: Report) -> None:
    pieces = [f"{g['name']}/{n}" for g in contract["groups"] for n in range(1, g["pieces"] + 1)]
    assert sorted(contract["order"]) == sorted(pieces)
    assert contract["kernels"] == len(pieces)
    grouped = [op for group in contract["groups"] for op in group["ops"]]
    nodes = [row["op"] for row in report.tables["graph_nodes"]]
    assert set(grouped) == set(nodes)
    if not str(contract["strategy"]).startswith(REPEATING):
        assert sorted(grouped) == sorted(nodes)  # type: ignore[type-var]
    assert len(contract["layers"]) == contract["sub_graphs_fine"]


def check_right(report: Report) -> None:
    found: dict[str, Any] = dict(report.contract["verify"])  # type: ignore[call-overload]
    assert found["ran"]
    assert found["ok"], found["fault"] or found["outputs"]
    assert len(found["outputs"]) > 0
    assert found["instructions"] >= report.contract["instructions"]  # type: ignore[operator]
