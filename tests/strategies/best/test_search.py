"""Which proposals a search evaluates, and when it ends."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.best import search
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.plus.cuts import cut_plan
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.kernels import PlanCost
from tests.strategies.chains import FEED_FORWARD
from tests.strategies.plus.plans import spent
from tests.strategies.samples import hardware, weighted


def test_while_full_is_the_best_a_plan_is_simulated_for_a_gain_alone() -> None:
    """One percent by closed forms; where another plan is the best, or none has a cost, always."""
    full, other = (SimpleNamespace(spent=SimpleNamespace(cycles=size)) for size in (1_000, 900))
    for best, cycles, is_simulated in (
        (full, 989, True), (full, 990, False), (other, 2_000, True),
        (SimpleNamespace(spent=None), 2_000, True),
    ):  # fmt: skip
        trials: Any = SimpleNamespace(best=best, done=[full, other])
        assert search.BestSearch._is_promising(trials, cycles) == is_simulated


@pytest.mark.parametrize(("is_fast", "made"), [(False, 2), (True, 1)])
def test_no_plan_is_made_where_full_leaves_nothing_to_gain(
    is_fast: bool, made: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the plan of least traffic; `:full` takes a cycle per kernel if it is fast."""
    cuts: list[object] = []

    def cutting(*arguments: Any) -> Plan:
        cuts.append(arguments[2])
        return cut_plan(*arguments)

    def cost(plan: Plan) -> PlanCost:
        found = spent(plan)
        kernels = (1,) * len(found.kernel_cycles)
        is_full = is_fast and not cuts
        return replace(found, cycles=sum(kernels), kernel_cycles=kernels) if is_full else found

    monkeypatch.setattr(search, "cut_plan", cutting)
    plan_for(
        parse_strategy("best"), PlanTask(weighted(FEED_FORWARD), hardware(), "fp16", {}, cost=cost)
    )
    assert len(cuts) == made


@pytest.mark.parametrize(("more", "evaluated"), [(0, 4), (1, 2)])
def test_a_search_of_long_programs_ends_early(
    more: int, evaluated: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It evaluates two of them here, takes the faster, and says so; at the limit none is long."""
    monkeypatch.setattr(search, "MOST_LONG", 2 * search.LONG)
    sem, chip = weighted(FEED_FORWARD), hardware()
    asked: list[PlanCost] = []

    def long(plan: Plan) -> PlanCost:
        asked.append(replace(spent(plan), instructions=search.LONG + more))
        return asked[-1]

    plan = plan_for(parse_strategy("best"), PlanTask(sem, chip, "fp16", {}, cost=long))
    assert len(asked) == evaluated
    assert any(
        "the search ended after 600,000 instructions" in note for note in plan.notes
    ) == bool(more)
    assert spent(plan).cycles == min(cost.cycles for cost in asked)
