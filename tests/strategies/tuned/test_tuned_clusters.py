"""Idle clusters in a search: DRAM that is lent, and runs of layers that all share, by hand."""

from __future__ import annotations

import pytest

from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.plus.cuts import GroupCut
from graphturbo_core.strategies.tuned.trials import Trials
from tests.strategies.chains import BOTH, HEAVY_WEIGHTS, PAIR
from tests.strategies.samples import weighted
from tests.strategies.tuned.makers import BY_RULE, checked, made, spent, variables

TOGETHER = (GroupCut((0,), -1, 1), GroupCut((1,), -1, 1))


def clusters(plan: Plan) -> tuple[int, bool]:
    """How many work, and whether DRAM is lent."""
    shared = plan.cooperation
    return (1, False) if shared is None else (len(shared.working), shared.has_remote_dram)


LENT = {"lending": "DRAM lent"}
SPLIT = {"co-operation": "cooperation, splits at 100 %"}


@pytest.mark.parametrize(
    ("point", "expected"),
    [({}, (1, False)), (LENT, (1, True)), (SPLIT, (4, False)), (LENT | SPLIT, (4, True))],
)
def test_clusters_share_a_sample(point: dict[str, str], expected: tuple[int, bool]) -> None:
    maker = made(weighted(HEAVY_WEIGHTS), "stcp920", *TOGETHER, clusters=4)
    plan = maker.plan(maker.draft(point))
    assert clusters(plan) == expected
    checked(maker, plan)


def test_where_clusters_co_operate_no_group_is_chosen() -> None:
    maker = made(weighted(HEAVY_WEIGHTS), "stcp920", *TOGETHER, clusters=4)
    assert maker.draft(SPLIT | {"pieces": "whole", **BY_RULE}) == maker.draft(SPLIT)
    streamed = maker.plan(maker.draft(SPLIT | {"weights": "stream"}))
    assert {held.value for k in streamed.kernels for held in k.residency.values()} == {"stream"}
    small = made(
        weighted(PAIR), "stcp920", *(GroupCut((layer,), -1, 1) for layer in BOTH), clusters=4
    )
    assert small.draft({"co-operation": "cooperation, splits at 200 %"}) == small.draft({})
    names = variables(small)
    assert names["lending"] == ("as is", "DRAM lent")
    prices = [value.split(" at ")[1] for value in names["co-operation"][1:]]
    assert prices == ["100 %", "140 %", "50 %", "70 %", "200 %"]


def test_weights_stay_and_come_through_all_clusters_dram() -> None:
    """Which ones is told by the plan of one cluster's DRAM."""
    own = Trials(made(weighted(HEAVY_WEIGHTS), "stcp920", *TOGETHER, clusters=4), spent, 9)
    found = own.evaluate({"stays 1": "stays", **LENT})
    assert found.plan is not None
    assert found.plan.stays == (GbRetention("v", 0, 1, 2**19),)
    assert clusters(found.plan) == (1, True)
    assert [clusters(trial.plan) for trial in own.done if trial.plan] == [(1, False), (1, True)]
    checked(own.maker, found.plan)
