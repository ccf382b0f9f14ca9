"""A search that does not begin with graphturbo:full's plan."""

from __future__ import annotations

import pytest

from graphturbo_core.errors import OptionError
from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.plus.cuts import cuts_of
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.kernels import PlanCost
from graphturbo_core.strategies.tuned.starts import LAYERS_WHOLE, Start, other_starts
from tests.lowering.nets import chip
from tests.strategies.chains import CHAIN
from tests.strategies.plans import make_plan
from tests.strategies.samples import sample_semantics, weighted
from tests.strategies.tuned.makers import TUNED, made_up

OTHERS = {"tuned.starts": "others", "tuned.evaluations": "80"}


def task(cost, **options: str) -> PlanTask:
    return PlanTask(weighted(CHAIN), chip("generic-4x4"), "fp16", {**OTHERS, **options}, cost=cost)


def test_it_finds_the_best_point_without_being_given_full() -> None:
    """As test_tuned's tiny space: full's plan costs 100, the best is 70."""
    seen: list[int] = []

    def cost(plan: Plan) -> PlanCost:
        seen.append(len(plan.groups))
        return made_up(plan)

    plan = plan_for(TUNED, task(cost))
    assert made_up(plan).cycles == 70
    assert seen[0] == 2, "layers whole: two groups, where full makes one"
    said = dict(plan.decisions[0].numbers)
    assert "cycles_of_full" not in said
    assert said["cycles"] == 70
    assert any("than graphturbo:full" in decision.rule for decision in plan.decisions[1:])


def test_no_start_groups_and_splits_as_full_does() -> None:
    sem = sample_semantics("teaching-resnet", 8)
    hardware = chip("generic-4x4")
    full = make_plan(parse_strategy("graphturbo"), sem, hardware, "fp16", {})
    begun: list[tuple] = []

    def cost(plan: Plan) -> PlanCost:
        begun.append(cuts_of(plan))
        return PlanCost(1, ())

    asked = PlanTask(sem, hardware, "fp16", {**OTHERS, "tuned.evaluations": "3"}, cost=cost)
    plan_for(TUNED, asked)
    assert len(begun) == 3
    assert cuts_of(full) not in begun


def test_layers_whole_are_a_start_in_any_case() -> None:
    full = Start("full", ())
    same, whole = Start("order", ()), Start(LAYERS_WHOLE, ())
    assert other_starts((full, same, whole)) == (whole,)


def test_a_search_that_begins_with_plus_cannot_leave_full_out() -> None:
    with pytest.raises(OptionError, match=r"tuned\.space=plus begins with all"):
        plan_for(TUNED, task(made_up, **{"tuned.space": "plus"}))
