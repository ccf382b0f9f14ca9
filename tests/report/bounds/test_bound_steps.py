"""Steps from the lower bound to the latency, worked out again from the report's tables."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from graphturbo_core.errors import InvariantError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.profile import read_profile
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.bounds.bound_steps import BoundSteps, _reduced
from graphturbo_core.report.report import Report
from tests.models import model_bytes
from tests.report.overview.reports import LARGE, small_chip

SMALL = "teaching-resnet"


@cache
def report(strategy: str, chip: str, batch: int, model: str = SMALL) -> Report:
    return run_report(
        load_sample(model), RunRequest(model, strategy, chip, batch, has_pictures=False)
    )


def steps_of(report: Report) -> dict[str, float]:
    """Cycles per step."""
    contract: Any = report.contract
    scale = contract["cycles"] / contract["latency_s"]
    return {step: scale * own for step, own in contract["bound_steps"]["steps"].items()}


def mean(report: Report, kind: str, wait: str) -> float:
    """Mean cycles of a kind's engines in one round."""
    rows: Any = [row for row in report.tables["stalls"] if row["kind"] == kind]
    return float(sum(row[wait] for row in rows)) / len(rows)


def test_waits_of_the_matrix_engines() -> None:
    """One round per cluster, and all clusters do the same."""
    found = report("graphturbo", "generic-4x4", 16)
    contract: Any = found.contract
    assert (contract["rounds"], contract["bound_steps"]["resource"]) == (1, "matrix")
    steps = steps_of(found)
    for wait in ("address", "channel", "barrier", "idle"):
        assert steps.get(wait, 0) == pytest.approx(mean(found, "matrix", wait), abs=1e-2)
    data = sum(own for step, own in steps.items() if step.startswith("data_"))
    assert data == pytest.approx(mean(found, "matrix", "data"), abs=1e-2)
    assert steps["data_gb"] > steps["data_vector"] > 0
    busy = mean(found, "matrix", "busy")
    extra = steps.get("unfilled", 0) + steps.get("repeated", 0)
    assert steps["bound"] + extra == pytest.approx(busy, abs=1e-2)


def test_rounds_follow_one_another() -> None:
    one, four = (report("graphturbo@1", "generic-4x4", batch) for batch in (4, 16))
    assert one.contract["rounds"] * 4 == four.contract["rounds"] == 4
    short, long = steps_of(one), steps_of(four)
    assert long.pop("bound") < 4.001 * short.pop("bound")
    waits = [step for step in long if step not in ("unfilled", "repeated")]
    assert {step: long[step] for step in waits} == {
        step: pytest.approx(4 * short[step]) for step in waits
    }


def test_work_repeated_by_overlapping_pieces() -> None:
    """Its share of the busy time is that of the repeated MACs."""
    slower = small_chip().replace(b"matrix_rows: {value: 8", b"matrix_rows: {value: 2")
    request = RunRequest("large", "graphturbo:plus", "small", 4)
    found = run_report(model_bytes(LARGE), request, slower)
    contract: Any = found.contract
    assert contract["bound_steps"]["resource"] == "matrix"
    assert contract["halo_macs"] > 0
    part = contract["halo_macs"] / (contract["macs"] + contract["halo_macs"])
    assert steps_of(found)["repeated"] == pytest.approx(part * mean(found, "matrix", "busy"))


def test_bytes_of_a_run_that_dram_bounds() -> None:
    """Every round fetches the weights again; cores with different columns read the same input."""
    numbers = ",".join(["0.5", "-1"] * (64 * 128))
    text = f"""g (float[16,128] x) => (float[16,128] y)
    <float[128,128] w = {{{numbers}}}> {{ y = MatMul (x, w) }}"""
    found = run_report(model_bytes(text), RunRequest("product", "tvm@1", "generic-4x4", 16))
    contract: Any = found.contract
    assert contract["bound_steps"]["resource"] == "dram"
    chip, steps = read_profile("generic-4x4", None), steps_of(found)
    per_byte = chip.clock_hz / chip.dram_bandwidth
    assert contract["rounds"] == 4
    assert steps["weight_again"] == pytest.approx(3 * 128 * 128 * 2 * per_byte)
    assert steps["bound"] == pytest.approx((128 * 128 + 2 * 4 * 128) * 2 * per_byte)
    moved = contract["dram_read_bytes"] + contract["dram_write_bytes"]
    idle = contract["cycles"] - moved / chip.clusters * per_byte
    assert steps["dram_idle"] == pytest.approx(idle)
    input_again = contract["dram_ledger"]["input"] // chip.clusters - 4 * 128 * 2
    assert steps["other_bytes"] == pytest.approx(input_again * per_byte)
    assert set(steps) == {"bound", "weight_again", "other_bytes", "dram_idle"}


def test_clusters_that_could_help_with_one_sample() -> None:
    """The bound counts DRAM of all four; `graphturbo` leaves three idle, `plus` does not."""
    alone, shared = (report(name, "stcp920", 1) for name in ("graphturbo", "graphturbo:plus"))
    steps = steps_of(alone)
    assert steps["other_clusters"] == pytest.approx(3 * steps["bound"])
    assert shared.contract["cycles"] < alone.contract["cycles"]
    assert "other_clusters" not in steps_of(shared)


def test_a_share_that_does_less_than_the_bound_waits_less() -> None:
    """Idling first, then what stands before it; a channel's wait is between."""
    steps = [("idle", 5.0), ("barrier", 0.0), ("channel", 4.0), ("data_gb", 30.0)]
    assert list(_reduced(steps, 20.0)) == [
        ("idle", 0.0), ("barrier", 0.0), ("channel", 0.0), ("data_gb", 19.0),
    ]  # fmt: skip
    with pytest.raises(InvariantError, match="below 0"):
        BoundSteps("dram", {"bound": 1.0, "spill": -0.5}).check(0.5)


def test_steps_that_do_not_sum_are_a_fault() -> None:
    BoundSteps("dram", {"bound": 1.0, "spill": 0.5}).check(1.5)
    with pytest.raises(InvariantError, match=r"steps sum to 1\.5 s, not to 1\.6 s"):
        BoundSteps("dram", {"bound": 1.0, "spill": 0.5}).check(1.6)
