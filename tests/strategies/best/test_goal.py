"""What `best` minimises: time, or the traffic of DRAM."""

from __future__ import annotations

import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import KernelPlan, Plan
from graphturbo_core.strategies.best.goal import WEIGHT, Minimised
from graphturbo_core.strategies.best.strategy import Best
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.kernels import Cost, KernelUsage, PlanCost
from tests.strategies.chains import FEED_FORWARD
from tests.strategies.samples import hardware, weighted

FAST, FRUGAL = 10**6, 10**4
"""Cycles of the first plan, and DRAM cycles of all others."""


def first_is_fast() -> Cost:
    """Costs by which the first plan takes half the time and moves a hundred times as much."""
    first: list[tuple[KernelPlan, ...]] = []

    def cost(plan: Plan) -> PlanCost:
        first.append(plan.kernels)
        is_first, kernels = plan.kernels == first[0], len(plan.kernels)
        took, moved = (FAST, 100 * FRUGAL) if is_first else (2 * FAST, FRUGAL)
        usage = KernelUsage(moved // kernels, 0, 0)
        return PlanCost(took, (took // kernels,) * kernels, (usage,) * kernels)

    return cost


@pytest.mark.parametrize(("goal", "figure"), [("time", "cycles"), ("dram", "dram_cycles")])
def test_the_plan_with_the_least_of_it_is_taken(goal: str, figure: str) -> None:
    task = PlanTask(
        weighted(FEED_FORWARD), hardware(), "fp16", {"best.goal": goal}, cost=first_is_fast()
    )
    plan = plan_for(parse_strategy("best"), task)
    tried = [each for each in plan.decisions if each.step == "plus"]
    assert len(tried) > 1
    assert tried[0].is_taken == (goal == "time")
    assert {name for each in tried for name in each.numbers} == {figure}


def test_time_decides_between_equal_traffic() -> None:
    slow, fast = (PlanCost(n, (n,), (KernelUsage(7, 0, 0),)) for n in (9 * WEIGHT, 8 * WEIGHT))
    dram = Best(goal="dram")
    assert dram.compared_cycles(slow) == 7 * WEIGHT + 9 > dram.compared_cycles(fast)
    assert dram.cycles_of_goal(7 * WEIGHT + 9) == 7
    assert Best().compared_cycles(slow) == 9 * WEIGHT
    assert Best().cycles_of_goal(9 * WEIGHT) == 9 * WEIGHT
    assert Minimised("dram").cost(slow).kernel_cycles == (7 * WEIGHT + 9,)


@pytest.mark.slow
def test_a_run_moves_less() -> None:
    moved = []
    for goal in ("time", "dram"):
        request = RunRequest(
            "light-squeezenet", "best@2", "generic-4x4", 8, options={"best.goal": goal},
            has_pictures=False,
        )  # fmt: skip
        contract = run_report(load_sample("light-squeezenet"), request).contract
        assert contract["options"]["best.goal"] == goal
        moved.append(contract["dram_read_bytes"] + contract["dram_write_bytes"])
    assert moved[1] < moved[0]
