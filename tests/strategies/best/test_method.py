"""Layers in which the paper's method decides otherwise than the best plan."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report
from graphturbo_core.strategies.best.method import decided_otherwise
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.plus.crossover import Timed
from graphturbo_core.strategies.registry import parse_strategy
from tests.strategies.chains import FEED_FORWARD
from tests.strategies.samples import hardware, weighted

SAMPLE, CHIP, BATCH = "light-squeezenet", "generic-4x4", 8


@cache
def report(strategy: str) -> Report:
    return run_report(load_sample(SAMPLE), RunRequest(SAMPLE, strategy, CHIP, BATCH))


def test_stretches_of_layers_sum_to_both_plans() -> None:
    best, method = report("best@2"), report("graphturbo@2")
    rows: Any = best.tables["otherwise"]
    assert any(not row["is_rest"] for row in rows)
    assert [row["is_rest"] for row in rows] == sorted(row["is_rest"] for row in rows)
    for prefix, run in (("", method), ("best_", best)):
        assert sum(row[f"{prefix}cycles"] for row in rows) == run.contract["cycles"]
    groups = {prefix: sum(r[f"{prefix}groups"] for r in rows) for prefix in ("", "best_")}
    assert groups == {
        "": len(method.tables["groups"]), "best_": len(best.tables["groups"]),
    }  # fmt: skip


def test_names_of_a_stretch_are_those_of_its_layers() -> None:
    best = report("best@2")
    names = [layer["name"] for layer in best.tables["layers"]]
    rows: Any = [row for row in best.tables["otherwise"] if not row["is_rest"]]
    ends = [tuple(names.index(name) for name in row["layers"].split(" .. ")) for row in rows]
    assert ends == sorted(ends)
    assert all(one[-1] < other[0] for one, other in pairwise(ends))


def test_the_method_itself_has_none() -> None:
    assert report("graphturbo@2").tables["otherwise"] == ()


def test_the_same_sub_graphs_with_other_cycles() -> None:
    """As with weights retained in GB: one row for all layers; none where cycles are equal too."""
    sem = weighted(FEED_FORWARD)
    plan = plan_for(parse_strategy("graphturbo"), PlanTask(sem, hardware(), "fp16", {}))
    graph = layer_graph(sem, relay_layers(sem), "fp16")
    kernels = len(plan.kernels)
    method, faster, equal = (
        Timed("", graph, replace(plan), (cycles,) * kernels) for cycles in (10, 9, 10)
    )
    (row,) = decided_otherwise(graph, method, faster)
    assert row.subject == ("all layers",)
    assert row.numbers["cycles"] == 10 * kernels
    assert row.numbers["best_cycles"] == 9 * kernels
    assert row.numbers["groups"] == row.numbers["best_groups"] == len(plan.groups)
    assert list(decided_otherwise(graph, method, equal)) == []
    assert list(decided_otherwise(graph, method, method)) == []
