"""A run of `graphturbo:plus` whose clusters share one sample: its report."""

from __future__ import annotations

from functools import cache
from typing import cast

import onnx
import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report
from sample_models.builder import Builder

OPTIONS = {"plus.lending": "off"}


@cache
def model() -> bytes:
    """Two products; 4.5 MiB of weights without numbers, which a replay draws."""
    builder = Builder("heavy")
    x = builder.input("x", ("batch", 512))
    weights = builder.weight("w", (512, 4096)), builder.weight("v", (4096, 64))
    nodes = [
        onnx.helper.make_node("MatMul", [x, weights[0]], ["y"]),
        onnx.helper.make_node("Relu", ["y"], ["r"]),
        onnx.helper.make_node("MatMul", ["r", weights[1]], ["z"]),
    ]
    builder.nodes.extend(nodes)
    builder.output("z", "z", ("batch", 64))
    return bytes(builder.model({"batch": 1}).SerializeToString(deterministic=True))


def run(strategy: str, batch: int = 1, **more: object) -> Report:
    request = RunRequest("heavy", strategy, batch=batch, options=OPTIONS, **more)  # type: ignore[arg-type]
    return run_report(model(), request)


def test_clusters_share_a_sample_and_it_replays() -> None:
    shared, full = run("graphturbo:plus", verify=True), run("graphturbo:full")
    found = shared.contract
    assert cast(dict[str, object], found["verify"])["ok"] is True
    assert cast(int, found["cycles"]) * 2 < cast(int, full.contract["cycles"])
    notes = cast(list[str], found["notes"])
    assert "4 clusters share the one sample: the others would be idle" in notes
    assert not any("clusters idle" in note for note in notes)
    assert len(shared.tables["engines"]) == 4 * len(full.tables["engines"])


@pytest.mark.slow
def test_a_light_model_replays_through_split_runs() -> None:
    """Inception: a tensor that a kernel exchanges and leaves in LB is not exchanged again."""
    name = "light-inception_v1"
    request = RunRequest(name, "graphturbo:plus", batch=1, options=OPTIONS, verify=True)
    found = run_report(load_sample(name), request)
    assert cast(dict[str, object], found.contract["verify"])["ok"] is True
    taken = [row["subject"] for row in found.tables["decisions"] if row["taken"]]
    assert any(str(subject).startswith("cooperation") for subject in taken)


def test_shares_are_over_the_whole_chip() -> None:
    """Each kind's shares sum to 1; weights take all four shares of DRAM, so DMAs are busy more."""
    shared, full = run("graphturbo:plus").contract, run("graphturbo:full").contract
    for kind, parts in cast(dict[str, dict[str, float]], shared["stalls"]).items():
        assert sum(parts.values()) == pytest.approx(1), kind
    dma = [cast(dict[str, float], found["utilization"])["dma"] for found in (shared, full)]
    assert dma[0] > 2 * dma[1]
    assert cast(float, shared["plan_bound_s"]) <= cast(float, shared["latency_s"])


def test_four_samples_have_a_cluster_each() -> None:
    plus, full = run("graphturbo:plus", batch=4).contract, run("graphturbo:full", batch=4).contract
    assert plus["cycles"] == full["cycles"]
    assert plus["notes"] == full["notes"]


def test_its_plan_and_program_are_files() -> None:
    assert set(run("graphturbo:plus", emit=("plan", "program")).files) == {"plan", "program"}
