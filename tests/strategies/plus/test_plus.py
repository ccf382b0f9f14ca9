"""`graphturbo:plus`: never dearer than `:full`, its ingredients, and when it takes none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.boxes import volume
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.graphturbo.fitting import section_of
from graphturbo_core.strategies.layers.carry import carry_axis
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.plan_files.edits import Edits
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.plan_files.record import recorded
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.plus import cooperating
from graphturbo_core.strategies.plus.cooperating import cheapest_runs
from graphturbo_core.strategies.plus.runs import ALONE, Run, Runs
from graphturbo_core.strategies.plus.variants import MOST_FEWEST_OPS, fewest_pieces_of_short
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.binding import Binder, plain_by_kind
from graphturbo_core.strategies.steps.kernels import Cost, PlanCost, Target
from graphturbo_core.strategies.steps.splitting import SplitInfo, Splitter, SubGraph
from tests.strategies.chains import FEED_FORWARD, TWO_FEED_FORWARDS
from tests.strategies.plus.plans import heavy, plus, spent
from tests.strategies.samples import hardware, sample_semantics, weighted


def cost(plan: Plan) -> int:
    return spent(plan).cycles


def flat(alone: int, shared: int) -> Cost:
    """A cost of so many cycles, by whether clusters share the round."""

    def count(plan: Plan) -> PlanCost:
        return PlanCost(alone if plan.clusters == 1 else shared, (1,) * len(plan.kernels))

    return count


def test_where_weights_bind_clusters_share_them() -> None:
    """4.5 MiB through one share at 27 bytes a cycle is 174,762; a quarter of w is 38,837."""
    plan = plus(heavy(), hardware())
    assert plan.clusters == 4
    first = [kernel for kernel in plan.kernels if "y" in kernel.boxes and kernel.group == 0]
    assert [volume(kernel.boxes["y"]) for kernel in first] == [1024] * 4
    alone = cost(plus(heavy(), hardware(), plus_cooperation="off", plus_lending="off"))
    assert alone >= 174_762
    assert cost(plan) * 2 < alone


@pytest.mark.parametrize(
    ("chip", "count", "clusters", "options"),
    [
        (hardware(), spent, 4, {"plus_cooperation": "off", "plus_lending": "off"}),
        (hardware(), None, 4, {}),
        (hardware(), spent, 1, {}),
        (replace(hardware(), remote_dram_latency_cycles=None), spent, 4, {}),
    ],
    ids=["switched off", "nobody tells costs", "no idle clusters", "no way between clusters"],
)
def test_full_where_clusters_cannot_share(
    chip: Hardware, count: Cost | None, clusters: int, options: dict[str, str]
) -> None:
    plan = plus(heavy(), chip, count, clusters, **options)
    task = PlanTask(heavy(), chip, "fp16", {})
    full = plan_for(parse_strategy("graphturbo:full"), task)
    assert plan.cooperation is None
    assert plan.kernels == full.kernels


def test_full_is_taken_on_a_tie_and_where_it_costs_less() -> None:
    for price in (10**8, 10**8 + 1):
        plan = plus(heavy(), hardware(), flat(10**8, price))
        assert plan.cooperation is None
        assert [d.is_taken for d in plan.decisions if d.step == "plus"] == [True, False, False]
    assert plus(heavy(), hardware(), flat(10**8, 10**8 - 1)).clusters == 4
    assert plus(heavy(), hardware(), lambda _: None).cooperation is None


def test_what_fetches_its_weights_for_longer_than_the_best_takes_is_not_costed() -> None:
    """4.5 MiB are 43,691 cycles of four shares: where `:full` takes 43,691 nothing is tried."""
    for price, tried in ((43_691, 1), (43_692, 2)):
        seen: list[Plan] = []

        def count(plan: Plan, price: int = price, seen: list[Plan] = seen) -> PlanCost:
            seen.append(plan)
            return PlanCost(price, (1,) * len(plan.kernels))

        plus(heavy(), hardware(), count, plus_cooperation="off")
        assert len(seen) == tried


def test_lending_alone_and_both() -> None:
    """Lent: one cluster runs all of `:full`'s kernels; both on: what is cheaper of all."""
    lent = plus(heavy(), hardware(), plus_cooperation="off")
    assert lent.cooperation is not None
    assert lent.cooperation.working == (0,)
    shared = plus(heavy(), hardware(), plus_lending="off")
    assert shared.cooperation is not None
    assert shared.cooperation.working == (0, 1, 2, 3)
    assert not shared.cooperation.has_remote_dram
    cycles = cost(plus(heavy(), hardware()))
    assert cycles <= min(cost(lent), cost(shared))


@cache
def feed_forward() -> GraphSemantics:
    return weighted(FEED_FORWARD)


def proposed(plan: Plan) -> list[str]:
    return [decision.subject[0] for decision in plan.decisions if decision.step == "plus"]


def test_fewer_pieces_where_weights_come_again() -> None:
    """One piece less fetches v once; its own record gives the same plan again."""
    chip = hardware()
    plan = plus(feed_forward(), chip, clusters=1)
    full = plus(feed_forward(), chip, clusters=1, plus_pieces="off", plus_merging="off")
    assert [group.pieces for group in full.groups] == [1, 2]
    assert [group.pieces for group in plan.groups] == [1, 1]
    assert cost(full) - cost(plan) > 100_000
    task = PlanTask(feed_forward(), chip, "fp16", {}, PinnedPlan(recorded(plan)), cost=spent)
    assert plan_for(parse_strategy("graphturbo:plus"), task).kernels == plan.kernels


@pytest.mark.parametrize(
    ("apart", "options", "tried"),
    [
        (1_050_000, {}, ["full", "room over 2", "room over 2, fewer pieces"]),
        (1_165_000, {}, ["full", "room over 2"]),
        (1_050_000, {"plus_pieces": "off"}, ["full", "room over 2"]),
        (1_050_000, {"plus_merging": "off"}, []),
    ],
)
def test_other_groupings_come_in_fewer_pieces_where_that_promises_less(
    apart: int, options: dict[str, str], tried: list[str]
) -> None:
    """`:full` is one group of 1,000,000 cycles. Of two groups the second, in two pieces, fetches v
    twice: one piece promises 170,667 cycles less, and 1 % less than `:full` is asked.
    """
    prices = {(1,): 1_000_000, (1, 2): apart, (1, 1): 900_000}
    plan = plus(feed_forward(), _roomy(), _by_pieces(prices), clusters=1,
                plus_mixing="off", **options)  # fmt: skip
    assert proposed(plan) == tried
    is_cheaper = "room over 2, fewer pieces" in tried
    assert [group.pieces for group in plan.groups] == ([1, 1] if is_cheaper else [1])


def _roomy() -> Hardware:
    """A chip on which `:full` is one group: four fifths of its LBs, 1.25 MiB, are for data."""
    pool = 5 * (320 << 10)
    return replace(
        hardware("stcp920-10mib"),
        split_capacity_bytes=16 << 20, lb_data_bytes=pool, lb_weight_bytes=pool,
    )  # fmt: skip


def _by_pieces(prices: Mapping[tuple[int, ...], int]) -> Cost:
    """Cycles by the pieces of all groups."""

    def count(plan: Plan) -> PlanCost:
        cycles = prices[tuple(group.pieces for group in plan.groups)]
        return PlanCost(cycles, (1,) * len(plan.kernels))

    return count


@pytest.mark.parametrize(("full", "is_tried"), [(425_000, True), (420_000, True), (253_000, False)])
def test_a_grouping_that_is_not_simulated_comes_in_fewer_pieces_too(
    full: int, *, is_tried: bool
) -> None:
    """Two fetches of v alone take 427,619 cycles, one fetch 252,856: 170,667 less are promised."""
    prices = {(1,): full, (1, 1): 400_000}
    plan = plus(feed_forward(), _roomy(), _by_pieces(prices), clusters=1, plus_mixing="off")
    fewer = ["room over 2, fewer pieces"] if is_tried else []
    assert proposed(plan) == ["full", "room over 2", *fewer]


def by_layer(plan: Plan) -> PlanCost:
    """By layer and pieces: the first layer is cheap in pieces, the second one whole.

    In units so small that the 170,667 cycles which fewer pieces promise are worth a trial, and so
    large that no plan's weights take longer.
    """
    cycles = [
        (1 if plan.groups[kernel.group].pieces > 1 else 10)
        if plan.groups[kernel.group].layers == (0,)
        else 30 - 25 * (plan.groups[kernel.group].pieces == 1)
        for kernel in plan.kernels
    ]
    return PlanCost(200_000 * sum(cycles), tuple(200_000 * each for each in cycles))


def test_a_mixture_has_the_best_of_what_was_tried() -> None:
    plan = plus(feed_forward(), hardware(), by_layer, clusters=1)
    assert proposed(plan) == ["full", "fewer pieces", "room over 2", "mixture 1"]
    first, second = plan.groups
    assert first.pieces > 1
    assert (second.layers, second.pieces) == ((1,), 1)
    assert [d.subject for d in plan.decisions if d.step == "mix"] == [
        ("room over 2",),
        ("fewer pieces",),
    ]


def test_after_a_mixture_that_is_slower_the_two_best_are_mixed() -> None:
    """The third layer is cheap in four pieces, but not after a first layer in two pieces."""

    def count(plan: Plan) -> PlanCost:
        first, second, third, fourth = pieces = [group.pieces for group in plan.groups]
        of_piece = [
            {1: 24, 2: 4}[first],
            {2: 20, 4: 20}[second],
            3 if third == 8 else (18 if first == 2 else 2),
            {1: 10, 4: 40}[fourth],
        ]
        cycles = tuple(100_000 * of_piece[kernel.group] for kernel in plan.kernels)
        assert len(cycles) == sum(pieces)
        return PlanCost(sum(cycles), cycles)

    plan = plus(weighted(TWO_FEED_FORWARDS), hardware(), count, clusters=1, plus_pieces="off")
    assert proposed(plan)[-2:] == ["mixture 1", "mixture 2"]
    assert [group.pieces for group in plan.groups] == [2, 2, 8, 1]
    assert [d.subject for d in plan.decisions if d.step == "mix"] == [
        ("mixture 1",),
        ("room over 2",),
    ]


@pytest.mark.parametrize(
    ("option", "rest"),
    [
        ("plus_pieces", ["full", "room over 2"]),
        ("plus_merging", ["full", "fewer pieces"]),
        ("plus_mixing", ["full", "fewer pieces", "room over 2"]),
    ],
)
def test_each_way_to_group_anew_can_be_switched_off(option: str, rest: list[str]) -> None:
    plan = plus(feed_forward(), hardware(), by_layer, clusters=1, **{option: "off"})
    assert [name for name in proposed(plan) if not name.startswith("mixture")] == rest
    if option == "plus_mixing":
        assert proposed(plan) == rest


def test_a_plan_file_that_says_how_many_pieces_is_followed() -> None:
    held = PinnedPlan(edits=Edits(pieces={"z": 4}))
    task = PlanTask(feed_forward(), hardware(), "fp16", {}, held, cost=by_layer)
    plan = plan_for(parse_strategy("graphturbo:plus"), task)
    assert plan.groups[-1].pieces == 4
    assert "fewer pieces" not in proposed(plan)


def test_a_group_is_split_along_an_axis_of_its_last_result() -> None:
    """Columns of y are rows of t."""
    sem = weighted(
        "g (float[4,16] x, float[16,8] w) => (float[4,8] y, float[8,4] t) "
        "{ y = MatMul (x, w) t = Transpose <perm = [1,0]> (y) }"
    )
    graph = layer_graph(sem, relay_layers(sem), "fp16")
    part = SubGraph(graph, tuple(range(len(graph.layers))))
    section = section_of(part, "g1", carry_axis(graph, part.ops, "t", 0), 4)
    assert dict(section.axis_of) == {"y": 1, "t": 0}
    group = cooperating._group(part, section)
    assert (group.split_axis, group.covered_ops) == (0, 2)
    group = cooperating._group(part, replace(section, pieces=1))
    assert (group.split_axis, group.covered_ops) == (-1, 0)


def runs_of(sem: GraphSemantics, chip: Hardware) -> Runs:
    target = Target(sem, chip, "fp16", Binder(chip.cores, plain_by_kind), clusters=chip.clusters)
    graph = layer_graph(sem, relay_layers(sem), "fp16")
    return Runs(target, graph, Splitter(target.budget.split_bytes))


def total(runs: Runs, chosen: tuple[Run, ...], price: int) -> int:
    """What a sequence of runs sums to, written out once more."""
    cycles, before = 0, ALONE
    for place, run in enumerate(chosen):
        cycles += run.cycles if run.axis == ALONE else run.cycles * price // 100
        cycles += runs.crossing_cycles(before, run)
        if run.axis == ALONE and (before != ALONE or not place):
            cycles += runs.kernel_cycles
        before = run.axis
    return cycles


def every_choice(runs: Runs) -> list[tuple[Run, ...]]:
    """All sequences of runs that cover the layers."""
    found: list[list[tuple[Run, ...]]] = [[()]]
    for last in range(1, runs.count + 1):
        found.append([(*head, run) for run in runs.ending[last] for head in found[run.first]])
    return found[-1]


CHAIN = """g (float[1,16,16,16] x, float[32,16,3,3] w0, float[128,32,1,1] w1, float[256,128,3,3] w2)
  => (float[1,256,14,14] z)
{ a = Conv (x, w0) b = Relu (a) c = Conv (b, w1) z = Conv <pads = [1,1,1,1]> (c, w2) }"""


@pytest.mark.parametrize("price", [50, 100, 140])
def test_the_chosen_runs_are_the_cheapest_of_all(price: int) -> None:
    runs = runs_of(weighted(CHAIN), hardware())
    choices = every_choice(runs)
    assert len(choices) > 10
    least = min(total(runs, choice, price) for choice in choices)
    chosen = cheapest_runs(runs, price)
    assert [run.first for run in chosen[1:]] == [run.last for run in chosen[:-1]]
    split_up = [
        runs_alone if run.axis == ALONE else (run,)
        for run in chosen
        for runs_alone in (tuple(runs.ending[at + 1][0] for at in range(run.first, run.last)),)
    ]
    assert total(runs, tuple(part for parts in split_up for part in parts), price) == least


def test_what_crosses_clusters_is_written_once_and_read_by_each_reader() -> None:
    """r: 4,096 elements of 2 bytes, a quarter in each DRAM; the second product alone reads it all.

    Each of the three others serves 2,048 bytes and has written them: 4,096 at 27 a cycle is 152.
    Split over columns each cluster reads the three other quarters: each serves 3 x 2,048 and has
    written 2,048: 8,192 at 27 a cycle is 304.
    """
    runs = runs_of(heavy(), hardware())
    alone, *others = runs.ending[2]
    assert runs.crossing_cycles(1, alone) == 152
    (split,) = [run for run in others if (run.first, run.axis) == (1, 1)]
    assert runs.crossing_cycles(1, split) == 304
    assert runs.crossing_cycles(ALONE, alone) == 0


def test_a_small_sample_gets_no_dearer() -> None:
    sem = sample_semantics("teaching-resnet", 1)
    plan = plus(sem, hardware())
    assert cost(plan) <= cost(plus(sem, hardware(), plus_cooperation="off", plus_lending="off"))


def test_long_sub_graphs_have_no_split_of_fewest_pieces() -> None:
    """It would be found along every axis of all of it, at each merge."""
    split = SplitInfo(True, 3, 2, 1, 100)
    assert fewest_pieces_of_short([split], MOST_FEWEST_OPS) == split
    assert fewest_pieces_of_short([split], MOST_FEWEST_OPS + 1) is None
