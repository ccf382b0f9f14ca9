"""A search among the choices of `graphturbo:plus`: what it begins with, counts, finds and tells."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.lowering.lower import lower
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.cooperation import Cooperation
from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.cost import placed_on
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.kernels.kernel_loads import kernel_loads
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.plus.cuts import GroupCut, cut_plan
from graphturbo_core.strategies.plus.plus import Proposal, has_idle
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.binding import Binder, plain_by_kind
from graphturbo_core.strategies.steps.kernels import Cost, PlanCost, Target
from graphturbo_core.strategies.tuned.beyond import Beyond
from graphturbo_core.strategies.tuned.differences import differences
from graphturbo_core.strategies.tuned.making import Maker
from graphturbo_core.strategies.tuned.proposed import (
    cheapest,
    proposals,
    proposed_point,
    proposed_starts,
)
from graphturbo_core.strategies.tuned.space import Point, SearchSpace
from graphturbo_core.strategies.tuned.trials import Trials, TunedTrial, identity
from tests.full import often
from tests.lowering.nets import chip, small_model
from tests.strategies.chains import (
    BOTH,
    FEED_FORWARD,
    HEAVY_WEIGHTS,
    LARGE,
    PAIR,
    QUARTERS,
    SOFTMAX_PRODUCTS,
)
from tests.strategies.samples import hardware, weighted

SMALL_LBS = replace(hardware(), lb_data_bytes=65536, split_capacity_bytes=8 * 65536)
MODELS = {
    "two axes": (LARGE, chip("tiny"), 1),
    "fewer pieces": (FEED_FORWARD, hardware(), 1),
    "weights stay": (SOFTMAX_PRODUCTS, SMALL_LBS, 1),
    "co-operation": (HEAVY_WEIGHTS, hardware(), 4),
}
"""What `graphturbo:plus` takes of each; a chip, and the clusters that may share."""
WINNERS = {
    "two axes": "full, two axes, weights stay",
    "fewer pieces": "fewer pieces, weights stay",
    "weights stay": "",
    "co-operation": "cooperation, splits at 100 %",
}


def spent(plan: Plan) -> PlanCost:
    trace = simulate(lower(plan))
    return PlanCost(trace.makespan, trace.kernel_cycles, kernel_loads(trace.program))


def searched(
    name: str, evaluations: int, seed: int = 0, cost: Cost = spent, strategy: str = "tuned"
) -> Plan:
    text, own, clusters = MODELS[name]
    options = {
        "tuned.evaluations": str(evaluations), "tuned.seed": str(seed), "tuned.space": "plus",
    }  # fmt: skip
    task = PlanTask(weighted(text), own, "fp16", options, clusters=clusters, cost=cost)
    plan = plan_for(parse_strategy(strategy), task)
    plan.check()
    return plan


def numbers(plan: Plan) -> dict[str, object]:
    return dict(plan.decisions[0].numbers)


@cache
def plus(name: str) -> Plan:
    return searched(name, 1, strategy="graphturbo:plus")


@pytest.mark.parametrize("name", often(MODELS, tuple(MODELS)[:2]))
def test_it_is_never_worse_than_plus(name: str) -> None:
    """Even with a budget of one; it says what `:full` and `:plus` take."""
    plan, own = searched(name, 1), plus(name)
    found = numbers(plan)
    assert found["cycles_of_plus"] == spent(own).cycles
    assert found["cycles"] == spent(plan).cycles <= spent(own).cycles
    full = searched(name, 1, strategy="graphturbo:full")
    assert found["cycles_of_full"] == spent(full).cycles > spent(own).cycles
    assert plan.strategy == "tuned"


@cache
def begun(name: str) -> tuple[tuple[Proposal, ...], Trials]:
    """What plus tries, and the trials of a search that has evaluated nothing."""
    text, own, clusters = MODELS[name]
    sem = weighted(text)
    target = Target(
        placed_on(sem, own, "fp16"), own, "fp16", Binder(own.cores, plain_by_kind),
        clusters=clusters,
    )  # fmt: skip
    tried = proposals(target, spent)
    graph = layer_graph(sem, relay_layers(sem), "fp16")
    beyond = Beyond(graph, own, has_idle(target))
    maker = Maker(target, SearchSpace(graph, own, proposed_starts(tried), beyond))
    return tried, Trials(maker, spent, 100)


@pytest.mark.parametrize("name", MODELS)
def test_each_proposal_is_a_point_that_comes_to_it(name: str) -> None:
    tried, trials = begun(name)
    names = [each.name for each in tried if each.spent is not None]
    assert len(names) > 1
    for each in tried:
        if each.spent is not None:
            made = trials.evaluate(proposed_point(each.name))
            assert made.plan is not None
            assert identity(made.plan) == identity(each.plan), each.name
            assert made.spent == each.spent
    taken = [d.subject[0] for d in plus(name).decisions if d.step == "plus" and d.is_taken]
    assert [cheapest(tried).name] == taken


@pytest.mark.parametrize(
    ("name", "point"),
    [
        ("full", {"start": "full"}),
        ("full, two axes", {"start": "full, two axes"}),
        ("mixture 1, weights stay", {"start": "mixture 1", "stays": "by closed forms"}),
        ("full, fewer weights stay", {"start": "full", "stays": "those that paid"}),
        (
            "room over 2, weights stay, DRAM lent",
            {"start": "room over 2", "stays": "by closed forms", "lending": "DRAM lent"},
        ),
        (
            "cooperation, splits at 140 %",
            {"co-operation": "cooperation, splits at 140 %", "lending": "DRAM lent"},
        ),
    ],
)
def test_the_point_of_a_proposal(name: str, point: dict[str, str]) -> None:
    assert proposed_point(name) == point


def test_what_plus_tries_costs_no_budget() -> None:
    """Evaluated are plans of the search's own, each once; refused ones count."""
    seen: list[Plan] = []

    def cost(plan: Plan) -> PlanCost | None:
        seen.append(plan)
        return spent(plan) if plan.strategy != "tuned" else None

    plan = searched("two axes", 5, cost=cost)
    own = [identity(each) for each in seen if each.strategy == "tuned"]
    assert len(own) == len(set(own)) == 5
    assert not set(own) & {identity(each) for each in seen if each.strategy != "tuned"}
    found = numbers(plan)
    assert (found["evaluated"], found["refused"]) == (5, 5)
    assert found["tried_by_plus"] == len(seen) - 5
    assert identity(plan) == identity(plus("two axes"))
    assert len(plan.decisions) == 1  # nothing is otherwise


def test_where_all_is_refused_the_plan_is_that_of_full() -> None:
    plan = searched("two axes", 3, cost=lambda plan: None)
    full = searched("two axes", 1, strategy="graphturbo:full")
    assert identity(plan) == identity(full)
    found = numbers(plan)
    assert (found["cycles"], found["cycles_of_plus"]) == ("refused", "refused")
    assert found["evaluated"] == 3


def walk(seed: int) -> list[object]:
    seen: list[object] = []

    def cost(plan: Plan) -> PlanCost:
        seen.append(identity(plan))
        return PlanCost(10**6 + len(plan.kernels), (1,) * len(plan.kernels))

    searched("two axes", 25, seed, cost)
    return seen


def test_a_seed_is_a_walk() -> None:
    first = walk(0)
    assert first == walk(0)
    assert first != walk(1)


def test_decisions_for_the_whole_model_and_neighbourhoods_take_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every other point is the best one with one decision changed; those that plus adds first.

    Nothing is better than `:full`, so that all of them are near its point, in which all is as is.
    """
    points: list[Point] = []

    def evaluate(trials: Trials, point: Point) -> TunedTrial:
        points.append(point)
        trials.done.append(TunedTrial(point, None, None))
        return trials.done[-1]

    monkeypatch.setattr(Trials, "evaluate", evaluate)
    searched("two axes", 20, cost=lambda plan: PlanCost(10**6, (1,) * len(plan.kernels)))
    plain = ("as is", "full", "depth first")
    changed = [{k: v for k, v in point.items() if v not in plain} for point in points]
    assert changed[:10:2] == [
        {"second axis": "one axis"},
        {"second axis": "two axes"},
        {"stays": "by closed forms"},
        {"stays": "those that paid"},
        {"order": "depth first, lowest piece first"},
    ]
    assert any(name[-1].isdigit() for each in changed[1:10:2] for name in each)  # of a class


def test_it_finds_what_plus_does_not_try() -> None:
    """2 x 4 pieces cost a tenth of what all others do; plus tries 2 x 2 alone, by closed forms."""

    def cost(plan: Plan) -> PlanCost:
        is_so = any(g.further_splits == ((3, 4),) and g.pieces == 8 for g in plan.groups)
        cycles = 10**6 - 10**5 * bool(plan.groups[0].further_splits)
        count = len(plan.kernels)
        return PlanCost(cycles // (10 if is_so else 1), (cycles // count,) * count)

    plan = searched("two axes", 40, cost=cost)
    (group,) = plan.groups
    assert (group.split_axis, group.pieces, group.further_splits) == (2, 8, ((3, 4),))
    told = {d.rule: dict(d.numbers) for d in plan.decisions[1:]}
    said = told["cuts pieces along a second axis differently than graphturbo:plus"]
    assert said == {
        "pieces": 8, "along": "axes 2 in 2 and 3 in 4",
        "pieces_of_plus": 4, "along_of_plus": "axes 2 in 2 and 3 in 2",
    }  # fmt: skip


def cut(text: str, *cuts: GroupCut) -> Plan:
    own = chip("tiny")
    sem: GraphSemantics = weighted(text)
    target = Target(sem, own, "fp16", Binder(own.cores, plain_by_kind))
    plan = cut_plan(target, layer_graph(sem, relay_layers(sem), "fp16"), cuts)
    return replace(plan, strategy="tuned")


def otherwise(first: Plan, plan: Plan) -> dict[str, dict[str, object]]:
    found = differences(first, plan, "graphturbo:plus")
    return {d.rule.removesuffix(" than graphturbo:plus"): dict(d.numbers) for d in found}


def test_second_axes_are_told() -> None:
    one, two = cut(PAIR, GroupCut(BOTH, 2, 4)), cut(PAIR, QUARTERS)
    rule = "cuts pieces along a second axis differently"
    assert otherwise(one, two)[rule] == {
        "pieces": 4, "along": "axes 2 in 2 and 3 in 2", "pieces_of_plus": 4,
        "along_of_plus": "axis 2",
    }  # fmt: skip
    whole = cut(PAIR, GroupCut(BOTH, -1, 1))
    assert otherwise(two, one)[rule]["along"] == "axis 2"
    assert otherwise(two, whole)[rule]["along"] == "none"
    apart = cut(PAIR, GroupCut((0,), -1, 1), GroupCut((1,), 2, 4, ((3, 2),)))
    assert otherwise(one, apart)[rule] == {"pieces": 4, "along": "axes 2 in 2 and 3 in 2"}
    assert otherwise(apart, one)["groups layers differently"]["of_plus"] == "g1, g2"
    assert rule not in otherwise(one, cut(PAIR, GroupCut(BOTH, 2, 2)))
    assert not otherwise(two, two)


def test_stays_and_clusters_are_told() -> None:
    """Two kernels; w1 is read by the second."""
    plan = cut(PAIR, GroupCut((0,), -1, 1), GroupCut((1,), -1, 1))
    kept = replace(plan, stays=(GbRetention("w1", 0, 1, 100),))
    rule = "retains other weights in GB"
    said = {"weights": 1, "stays": 1, "bytes": 100, "stays_of_plus": 0, "bytes_of_plus": 0}
    assert otherwise(plan, kept) == {rule: said}
    more = replace(plan, stays=(GbRetention("w1", 0, 1, 120),))
    assert otherwise(kept, more)[rule] == said | {
        "bytes": 120, "stays_of_plus": 1, "bytes_of_plus": 100,
    }  # fmt: skip
    lent = replace(plan, cooperation=Cooperation(2, (0, 0), (0, 1), has_remote_dram=True))
    both = replace(plan, cooperation=Cooperation(2, (0, 1), (0, 1)))
    rule = "shares clusters and their DRAM differently"
    assert otherwise(plan, lent) == {
        rule: {
            "clusters": "1 work on 2 kernels, weights through all clusters' DRAM",
            "clusters_of_plus": "one works",
        }
    }
    assert otherwise(lent, both)[rule]["clusters"] == "2 work on 1, 1 kernels"


def request(**changes: object) -> RunRequest:
    options = {"tuned.evaluations": "5", "tuned.space": "plus"}
    return RunRequest("teaching-resnet", "tuned@4", "generic-4x4", 12, options=options, **changes)  # type: ignore[arg-type]


def test_a_run_replays_and_its_plan_file_gives_it_again() -> None:
    """Of one option the report speaks, the plan file holds to it."""
    first = run_report(load_sample("teaching-resnet"), request(emit=("plan",)))
    assert first.contract["options"]["tuned.space"] == "plus"
    text = first.text("plan")
    again = run_report(load_sample("teaching-resnet"), request(emit=("plan",), plan=text))
    assert again.text("plan") == text
    verified = run_report(load_sample("teaching-resnet"), request(plan=text, verify=True))
    assert (verified.contract["verify"]["ran"], verified.contract["verify"]["ok"]) == (True, True)
    assert verified.contract["cycles"] == first.contract["cycles"]


def test_progress_counts_the_searchs_own_plans() -> None:
    told: list[str] = []
    run_report(load_sample("teaching-resnet"), request(), on_step=lambda n, _: told.append(n))
    searches = [name.split(" %")[0] for name in told if name.startswith("search")]
    assert searches == [f"search: {part}" for part in (20, 40, 60, 80, 100)]


def test_convolutions_on_a_tiny_chip() -> None:
    """Simulated where plans spill: better than plus within a few evaluations."""
    sem, tiny = small_model("resnet"), chip("tiny")
    options = {"tuned.evaluations": "10", "tuned.space": "plus"}
    task = PlanTask(sem, tiny, "fp16", options, cost=spent)
    plan = plan_for(parse_strategy("tuned"), task)
    plan.check()
    found = numbers(plan)
    assert found["cycles"] == spent(plan).cycles < int(str(found["cycles_of_plus"]))


def test_another_order_counts_how_often_groups_take_turns() -> None:
    """a/4 to a/1, then b; against b between pieces of a: one turn, and two."""
    apart = cut(PAIR, GroupCut((0,), 2, 4), GroupCut((1,), -1, 1))
    one, two, three, four, last = apart.kernels
    other = replace(apart, kernels=(one, two, last, three, four))
    numbers = otherwise(apart, other)["runs instances in another order"]
    assert numbers == {"turns": 2, "turns_of_plus": 1, "kernels": 5}
