"""`best` divides depthwise work over both engines of a core where that is faster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from graphturbo_core.export.plan_diff import plan_differences
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import Plan
from graphturbo_core.report.report import Report
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.plan_files.record import recorded
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.kernels import KernelUsage, PlanCost
from sample_models import build_samples
from tests.lowering.nets import chip, small_model
from tests.strategies.chains import FEED_FORWARD
from tests.strategies.samples import weighted

CHEAPER = {"best.depthwise": "cheaper"}
NAMED = ", depthwise work divided"
BEST = parse_strategy("best")
MILLION = 10**6


def costing(divided_cycles: int) -> Callable[[Plan], PlanCost]:
    """Costs by which every plan takes a million cycles, and a divided one these."""

    def cost(plan: Plan) -> PlanCost:
        cycles = divided_cycles if plan.feeding.divides_depthwise else MILLION
        kernels, nothing = len(plan.kernels), KernelUsage(0, 0, 0)
        return PlanCost(cycles, (cycles // kernels,) * kernels, (nothing,) * kernels)

    return cost


def tried(
    sem: GraphSemantics,
    cycles: int,
    name: str = "generic-4x4",
    options: dict[str, str] | None = None,
) -> tuple[Plan, list[str]]:
    """`best`'s plan, and the names of the divided plans that it evaluated."""
    task = PlanTask(sem, chip(name), "fp16", options or {}, cost=costing(cycles))
    plan = plan_for(BEST, task)
    names = [each.subject[0] for each in plan.decisions if each.step == "plus"]
    assert not any(each.endswith(NAMED) for each in names[:-1]), "it comes last"
    return plan, [each for each in names if each.endswith(NAMED)]


@pytest.mark.parametrize(
    ("cycles", "is_taken"), [(MILLION - 1, True), (MILLION, False), (MILLION + 1, False)]
)
def test_it_is_taken_if_it_is_faster(cycles: int, is_taken: bool) -> None:
    plan, names = tried(small_model("mobilenet"), cycles)
    assert names == [f"full{NAMED}"]
    assert plan.feeding.divides_depthwise == is_taken


def test_it_is_not_evaluated_without_a_choice() -> None:
    """By the option, without grouped products, or where the cores share the matrix engine."""
    mobilenet = small_model("mobilenet")
    assert tried(mobilenet, MILLION - 1, options=CHEAPER)[1] == []
    assert tried(weighted(FEED_FORWARD), MILLION - 1)[1] == []
    assert tried(mobilenet, MILLION - 1, "goya")[1] == []


def test_a_record_says_so() -> None:
    plan, _ = tried(small_model("mobilenet"), MILLION - 1)
    record = recorded(plan)
    assert record.divides_depthwise
    task = PlanTask(plan.semantics, plan.hardware, "fp16", {}, PinnedPlan(record))
    assert plan_for(BEST, task) == plan
    undivided = PinnedPlan(replace(record, divides_depthwise=False))
    assert not plan_for(BEST, replace(task, held=undivided)).feeding.divides_depthwise


def found(**choices: object) -> Report:
    model = build_samples.mobilenet_v2(((1, 8, 1, 1), (6, 16, 2, 2)), 32, 10)
    request = RunRequest(
        "net", "best@2", "generic-4x4", 8, emit=("plan",), has_pictures=False,
        **choices,  # type: ignore[arg-type]
    )  # fmt: skip
    return run_report(model.SerializeToString(), request)


def test_it_computes_the_same_and_is_faster() -> None:
    """Replayed on numbers with and without; a plan file has the choice, and runs without it."""
    both, one = (found(options=options, verify=True) for options in ({}, CHEAPER))
    for each in (both, one):
        assert each.contract["verify"]["ok"]
    assert both.contract["cycles"] < one.contract["cycles"]
    text = both.text("plan")
    assert "divides_depthwise: true" in text
    assert "divides_depthwise" not in one.text("plan")
    again = found(plan=text).contract
    assert again["cycles"] == both.contract["cycles"]
    files = [read_plan(each.text("plan").encode(), "it") for each in (both, one)]
    rows = [(row.subject, row.a, row.b) for row in plan_differences(*files)]
    assert ("depthwise work", "both", "the cheaper") in rows
