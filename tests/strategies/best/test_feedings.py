"""`best` with other feedings: depthwise work on both engines of a core, three tile buffers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from graphturbo_core.export.difference import NONE
from graphturbo_core.export.plan_diff import plan_differences
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import Plan
from graphturbo_core.report.report import Report
from graphturbo_core.semantics.feeding import MOST_TILES, Feeding
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.best.feedings import BUFFERED, DIVIDED
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
TWO = {"best.tile_buffers": "two"}
BEST = parse_strategy("best")
MILLION = 10**6


def costing(divided_cycles: int, buffered_cycles: int) -> Callable[[Plan], PlanCost]:
    """Costs by which every plan takes a million cycles, and one with another feeding these."""

    def cost(plan: Plan) -> PlanCost:
        cycles = buffered_cycles if plan.feeding.tiles == MOST_TILES else MILLION
        cycles = divided_cycles if plan.feeding.divides_depthwise else cycles
        kernels, nothing = len(plan.kernels), KernelUsage(0, 0, 0)
        return PlanCost(cycles, (cycles // kernels,) * kernels, (nothing,) * kernels)

    return cost


def tried(
    sem: GraphSemantics,
    cycles: int,
    name: str = "generic-4x4",
    options: dict[str, str] | None = None,
    buffered_cycles: int = MILLION,
) -> tuple[Plan, list[str]]:
    """`best`'s plan, and the names of the plans with other feedings that it evaluated."""
    cost = costing(cycles, buffered_cycles)
    plan = plan_for(BEST, PlanTask(sem, chip(name), "fp16", options or {}, cost=cost))
    names = [each.subject[0] for each in plan.decisions if each.step == "plus"]
    others = [each for each in names if each.endswith((BUFFERED, DIVIDED))]
    assert names[len(names) - len(others) :] == others, "they come last"
    return plan, others


@pytest.mark.parametrize(
    ("cycles", "is_taken"), [(MILLION - 1, True), (MILLION, False), (MILLION + 1, False)]
)
def test_it_is_taken_if_it_is_faster(cycles: int, is_taken: bool) -> None:
    plan, names = tried(small_model("mobilenet"), cycles)
    assert names == [f"full{BUFFERED}", f"full{DIVIDED}"]
    assert plan.feeding.divides_depthwise == is_taken
    assert plan.feeding.tiles == 2


@pytest.mark.parametrize(
    ("cycles", "is_taken"), [(MILLION - 1, True), (MILLION, False), (MILLION + 1, False)]
)
def test_three_tile_buffers_are_taken_if_they_are_faster(cycles: int, is_taken: bool) -> None:
    """The division of depthwise work follows the better of both."""
    sem = small_model("mobilenet")
    plan, names = tried(sem, MILLION - 2, buffered_cycles=cycles)
    base = f"full{BUFFERED}" if is_taken else "full"
    assert names == [f"full{BUFFERED}", f"{base}{DIVIDED}"]
    assert plan.feeding == Feeding(tiles=3 if is_taken else 2, divides_depthwise=True)
    plan, names = tried(sem, MILLION, options=CHEAPER, buffered_cycles=cycles)
    assert names == [f"full{BUFFERED}"]
    assert plan.feeding == Feeding(tiles=3 if is_taken else 2)


def test_it_is_not_evaluated_without_a_choice() -> None:
    """By the option, without grouped products, or where the cores share the matrix engine."""
    mobilenet = small_model("mobilenet")
    assert tried(mobilenet, MILLION - 1, options=CHEAPER | TWO)[1] == []
    assert tried(weighted(FEED_FORWARD), MILLION - 1, options=TWO)[1] == []
    assert tried(mobilenet, MILLION - 1, "goya", options=TWO)[1] == []


def test_a_record_says_so() -> None:
    plan, _ = tried(small_model("mobilenet"), MILLION - 2, buffered_cycles=MILLION - 1)
    record = recorded(plan)
    assert (record.divides_depthwise, record.tile_buffers) == (True, 3)
    task = PlanTask(plan.semantics, plan.hardware, "fp16", {}, PinnedPlan(record))
    assert plan_for(BEST, task) == plan
    plain = PinnedPlan(replace(record, divides_depthwise=False, tile_buffers=None))
    assert plan_for(BEST, replace(task, held=plain)).feeding == Feeding()


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
    plain = replace(
        files[0], rounds={n: replace(r, tile_buffers=None) for n, r in files[0].rounds.items()}
    )
    (more,) = {record.tile_buffers for record in files[0].rounds.values()}
    (row,) = plan_differences(files[0], plain)
    assert (row.subject, row.a, row.b) == ("buffers per streamed tensor", str(more), NONE)
