"""What a search among the choices of `graphturbo:plus` may decide: each variable, by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random

import pytest

from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.strategies.plus.cuts import GroupCut, cuts_of
from graphturbo_core.strategies.plus.gb_retention import chosen_stays
from graphturbo_core.strategies.steps.kernels import Cost, KernelUsage, PlanCost
from graphturbo_core.strategies.tuned.space import SearchSpace
from graphturbo_core.strategies.tuned.trials import Trials, identity
from tests.strategies.chains import BOTH, PAIR, PRODUCTS, QUARTERS, RESIDUAL, SOFTMAX_PRODUCTS
from tests.strategies.samples import weighted
from tests.strategies.tuned.makers import (
    BY_RULE,
    checked,
    made,
    spent,
    variables,
)

TWO, ONE = {"second axis": "two axes"}, {"second axis": "one axis"}
NONE: frozenset[str] = frozenset()


WHOLE, ROWS = GroupCut(BOTH, -1, 1), GroupCut(BOTH, 2, 4)


@pytest.mark.parametrize(
    ("start", "point", "expected"),
    [
        # 4 x 1 pieces have halos; 2 x 2 are the fewest of two axes, and cost the fewest launches.
        (ROWS, TWO, QUARTERS),
        (ROWS, TWO | {"second axis 0": "one axis"}, ROWS),
        (ROWS, {"second axis 0": "3"}, QUARTERS),
        (ROWS, {"second axis 0": "2"}, ROWS),
        # Whole it fits, so nobody wants two axes of it but a point that names one.
        (WHOLE, TWO, WHOLE),
        (WHOLE, {"second axis 0": "3"}, QUARTERS),
        # All of it fits, in one piece of samples.
        (QUARTERS, ONE, GroupCut(BOTH, 0, 1)),
        (QUARTERS, {"second axis 0": "one axis"}, GroupCut(BOTH, 0, 1)),
        (WHOLE, ONE, WHOLE),
        # 8 rows and 8 columns: 1, 2, 4 or 8 parts of each.
        (QUARTERS, {"parts 0": "one more"}, GroupCut(BOTH, 2, 8, ((3, 4),))),
        (QUARTERS, {"parts 0": "two more"}, GroupCut(BOTH, 2, 16, ((3, 8),))),
        (QUARTERS, {"parts 0": "one fewer"}, GroupCut(BOTH, 2, 2)),
        (ROWS, {"parts 0": "one more"}, ROWS),
        (QUARTERS, {"pieces": "one more"}, GroupCut(BOTH, 2, 8, ((3, 2),))),
        (QUARTERS, {"pieces": "one fewer"}, GroupCut(BOTH, 3, 2)),
        (QUARTERS, {"pieces": "whole"}, GroupCut(BOTH, 2, 1)),
        (
            QUARTERS,
            {"pieces 0": "one more", "parts 0": "one more"},
            GroupCut(BOTH, 2, 16, ((3, 4),)),
        ),
        # Along columns alone, as Algorithm 1 cuts them.
        (QUARTERS, {"axis 0": "3"}, GroupCut(BOTH, 3, 1)),
    ],
)
def test_a_second_axis(start: GroupCut, point: dict[str, str], expected: GroupCut) -> None:
    """Both layers of PAIR are alike: class 0."""
    maker = made(weighted(PAIR), "tiny", start)
    plan = maker.plan(maker.draft(point))
    assert cuts_of(plan) == (expected,)
    checked(maker, plan)


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ({}, (GroupCut((0,), 2, 2), GroupCut((1,), 2, 2))),
        (TWO, (QUARTERS,)),
        ({"second axis 0": "3"}, (QUARTERS,)),
        ({"second axis 0": "one axis"}, (GroupCut((0,), 2, 2), GroupCut((1,), 2, 2))),
    ],
)
def test_two_axes_join_what_one_keeps_apart(
    point: dict[str, str], expected: tuple[GroupCut, ...]
) -> None:
    """In 500 bytes no axis holds both layers, 2 x 2 pieces take 488 (test_second_axis.py)."""
    apart = (GroupCut((0,), 2, 2), GroupCut((1,), 2, 2))
    maker = made(weighted(PAIR), "tiny", *apart, split_capacity_bytes=500)
    plan = maker.plan(maker.draft({"merge 0 0": "the other way", **point}))
    assert cuts_of(plan) == expected
    checked(maker, plan)


@pytest.mark.parametrize("second", [2, 3])
def test_the_axis_that_a_point_names_is_one_of_two(second: int) -> None:
    """Two samples of 32 rows and columns; the other one of the two is the group's own."""
    maker = made(weighted(RESIDUAL), "tiny", GroupCut(BOTH, 0, 2))
    number = maker.space.classes[1]
    plan = maker.plan(maker.draft({f"second axis {number}": str(second)}))
    assert cuts_of(plan) == (GroupCut(BOTH, 0, 4, ((second, 2),)),)
    checked(maker, plan)


def test_points_at_random_replay() -> None:
    """Values of all variables of a small model, drawn for twelve points of a seed."""
    own = Trials(made(weighted(PRODUCTS), "tiny", GroupCut(BOTH, 1, 2), gb_bytes=2**16), spent, 100)
    names, random = variables(own.maker), Random(3)
    for _ in range(12):
        point = {name: random.choice(values) for name, values in names.items()}
        trial = own.evaluate(point)
        if trial.plan is not None and trial.spent is not None:
            checked(own.maker, trial.plan)
    kept = [trial.plan for trial in own.done if trial.plan is not None]
    assert any(plan.stays for plan in kept)
    assert any(group.further_splits for plan in kept for group in plan.groups)


def test_an_axis_that_halos_do_not_ask_for() -> None:
    """Two samples of 64 rows in two pieces of rows: a point may cut samples too."""
    maker = made(weighted(PRODUCTS), "tiny", GroupCut(BOTH, 1, 2))
    assert cuts_of(maker.plan(maker.draft(TWO))) == (GroupCut(BOTH, 1, 2),)
    number = maker.space.classes[1]
    plan = maker.plan(maker.draft({f"second axis {number}": "0"}))
    assert cuts_of(plan) == (GroupCut(BOTH, 0, 4, ((1, 2),)),)
    checked(maker, plan)


LAST = "g (float[8,16] x, float[16,32] w) => (float[8,32] y) { a = Softmax (x) y = MatMul (a, w) }"


def test_only_axes_that_carry_are_offered() -> None:
    """Softmax goes over its columns, so that its layer can be cut along rows alone."""
    softmax, product = GroupCut((0,), -1, 1), GroupCut((1,), -1, 1)
    names = variables(made(weighted(LAST), "tiny", softmax, product))
    assert names["second axis"] == ("as is", "one axis", "two axes")
    assert names["second axis 1"] == ("as is", "one axis", "0", "1")
    assert "second axis 0" not in names
    assert "parts 0" not in names
    assert names["stays 1"] == ("as is", "stays", "does not stay")
    assert "stays 0" not in names
    line = "g (float[1,16] x, float[16,32] w) => (float[1,32] y) { y = MatMul (x, w) }"
    alone = variables(made(weighted(line), "tiny", GroupCut((0,), -1, 1)))
    assert not [name for name in alone if name.startswith(("second axis", "parts"))]
    assert not [name for name in alone if name in ("lending", "co-operation")]
    bare = variables(made(weighted(line), "tiny", GroupCut((0,), -1, 1), gb_bytes=0))
    assert not [name for name in bare if name.startswith("stays")]


def test_without_plus_nothing_is_added() -> None:
    maker = made(weighted(PAIR), "tiny", ROWS)
    plain = SearchSpace(maker.space.graph, maker.space.hardware, maker.space.starts)
    names = {each.name for each in (*plain.general, *plain.special)}
    added = variables(maker).keys() - names
    general = {"second axis", "stays"}
    assert added == {*general, "second axis 0", "parts 0", "stays 0"}
    assert names < variables(maker).keys()


LAYERS = tuple(GroupCut((layer,), -1, 1) for layer in range(4))


def trials(cost: Cost = spent, budget: int = 9) -> Trials:
    return Trials(made(weighted(SOFTMAX_PRODUCTS), "stcp920", *LAYERS), cost, budget)


def weights(plan: Plan | None) -> set[str]:
    assert plan is not None
    return {stay.weight for stay in plan.stays}


@cache
def bare() -> tuple[Plan, PlanCost]:
    found = trials().evaluate({})
    assert found.plan is not None
    assert found.spent is not None
    return found.plan, found.spent


def test_weights_stay_as_the_closed_forms_say_of_the_plan() -> None:
    own = trials()
    found = own.evaluate(BY_RULE)
    plan, took = bare()
    assert found.plan == replace(plan, stays=chosen_stays(plan, took, NONE))
    assert weights(found.plan) == {"w", "v"}
    assert found.cycles is not None
    assert found.cycles < took.cycles
    assert own.evaluated == len(own.done) == 2  # the plan without stays is a point too
    assert own.done[0].point == {"stays": "as is"}
    assert own.evaluate({}).is_known
    leaving = own.maker.draft({"stays 1": "does not stay"})
    assert leaving == own.maker.draft({})  # nothing stays by rule
    checked(own.maker, found.plan)


@pytest.mark.parametrize(
    ("point", "stays"),
    [
        # Kernel 0 fetches w early, kernel 2 v: each is read by one kernel alone, 1 and 3.
        ({"stays 1": "stays"}, (GbRetention("w", 0, 1, 2**20),)),
        ({"stays 3": "stays"}, (GbRetention("v", 2, 3, 2**18),)),
        (
            {"stays 1": "stays", "stays 3": "stays"},
            (GbRetention("w", 0, 1, 2**20), GbRetention("v", 2, 3, 2**18)),
        ),
        ({"stays 1": "does not stay"}, ()),
    ],
)
def test_weights_of_a_class_stay(point: dict[str, str], stays: tuple[GbRetention, ...]) -> None:
    own = trials()
    found = own.evaluate(point)
    assert found.plan is not None
    assert found.plan.stays == stays
    checked(own.maker, found.plan)


def test_a_class_may_be_left_out_of_those_that_stay() -> None:
    found = trials().evaluate(BY_RULE | {"stays 1": "does not stay"})
    plan, took = bare()
    assert found.plan == replace(plan, stays=chosen_stays(plan, took, frozenset({"w"})))
    assert weights(found.plan) == {"v"}
    found = trials().evaluate(BY_RULE | {"stays 1": "stays"})
    assert found.plan is not None
    assert found.plan.stays[0] == GbRetention("w", 0, 1, 2**20)
    assert weights(found.plan) == {"w", "v"}


def test_stays_are_those_of_the_plan_that_other_decisions_make() -> None:
    """In 4 pieces the first product is kernels 1 to 4; streamed, each of them fetches w anew."""
    own = trials()
    found = own.evaluate(BY_RULE | {"pieces 1": "two more", "weights": "stream"})
    assert found.plan is not None
    assert len(found.plan.kernels) == 7
    assert [stay for stay in found.plan.stays if stay.weight == "w"] == [
        GbRetention("w", 1, 4, 2**20)
    ]
    assert {stay.last for stay in found.plan.stays if stay.weight == "v"} == {6}
    checked(own.maker, found.plan)
    assert identity(found.plan) != identity(replace(found.plan, stays=()))


def told(plan: Plan) -> PlanCost:
    """DRAM idles in kernels 0 and 2 for longer than w and v take: 38,837 and 9,710 cycles.

    Kernels 1 and 3 have 40,000 and 10,000 to gain; w then costs 1 cycle, v saves 5,000.
    """
    net = [
        100_000,
        50_000 + ("w" in weights(plan)),
        20_000,
        15_000 - 5_000 * ("v" in weights(plan)),
    ]
    fixed = plan.hardware.launch_cycles + plan.hardware.barrier_cycles
    loads = (
        KernelUsage(0, 100_000, 0),
        KernelUsage(50_000, 10_000, 0),
        KernelUsage(0, 20_000, 0),
        KernelUsage(15_000, 5_000, 0),
    )
    return PlanCost(sum(net) + 4 * fixed, tuple(fixed + own for own in net), loads)


def test_of_those_that_stay_the_ones_that_paid_stay() -> None:
    own = trials(told)
    found = own.evaluate({"stays": "those that paid"})
    both = (GbRetention("w", 0, 1, 2**20), GbRetention("v", 2, 3, 2**18))
    assert [trial.plan.stays for trial in own.done if trial.plan] == [(), both, both[1:]]
    assert found.plan == own.done[-1].plan == own.best.plan
    kept = own.evaluate({"stays": "those that paid", "stays 1": "stays"})
    assert kept.plan is not None
    assert kept.plan.stays == both


def test_a_budget_that_ends_before_the_stays_leaves_them_out() -> None:
    for budget, seen in ((1, [set()]), (2, [set(), {"w", "v"}])):
        own = trials(told, budget)
        found = own.evaluate({"stays": "those that paid"})
        assert (found.plan, found.is_known) == (None, True)
        assert [weights(trial.plan) for trial in own.done] == seen
        assert own.is_over


def test_stays_are_not_tried_where_a_plan_is_far_behind() -> None:
    """Without stays 1,050 cycles are a twentieth above 1,000, 1,060 more than that."""
    took = bare()[1]
    for cycles, tried in ((1_050, 3), (1_060, 2)):

        def cost(plan: Plan, cycles: int = cycles) -> PlanCost:
            is_streamed = plan.kernels[1].residency["w"] is Residency.STREAM
            return replace(took, cycles=cycles if is_streamed else 1_000)

        own = trials(cost)
        own.evaluate({})
        own.evaluate(BY_RULE | {"weights 1": "stream"})
        assert own.evaluated == tried
