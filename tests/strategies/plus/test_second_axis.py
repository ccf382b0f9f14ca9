"""Pieces along two axes: boxes, halos and peaks by hand, who is looked at, what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import pytest

from graphturbo_core.errors import PlanError
from graphturbo_core.ir.boxes import volume
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Plan
from graphturbo_core.report.rows.halo import halo_macs
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.layers.layer_graph import LayerGraph, layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.plan_files.edits import Edits
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.plan_files.record import GroupRecord, Record, recorded
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.plus.crossover import Timed
from graphturbo_core.strategies.plus.cuts import GroupCut, cut_groups, cut_plan, cuts_of
from graphturbo_core.strategies.plus.second_axis import Crossed, SecondAxis, is_wanting
from graphturbo_core.strategies.plus.section_cycles import SectionCycles, handed_in_lb
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.binding import Binder, plain_by_kind
from graphturbo_core.strategies.steps.kernels import PlanCost, Target
from graphturbo_core.strategies.steps.splitting import Splitter, SubGraph
from tests.lowering.nets import chip
from tests.lowering.replay import replay
from tests.strategies.chains import BOTH, LARGE, PAIR, PRODUCTS, QUARTERS, RESIDUAL, crossed
from tests.strategies.samples import weighted

PLUS = "graphturbo:plus"
STRIDED = """g (float[1,4,32,32] x, float[8,4,3,3] w0, float[8,8,3,3] w1, float[8,8,2,2] w2)
  => (float[1,8,8,8] z)
{ y = Conv <pads = [1,1,1,1], strides = [2,2]> (x, w0) r = Relu (y)
  c = Conv <pads = [2,0,0,2]> (r, w1) z = Conv <strides = [2,2]> (c, w2) }"""


@cache
def made(text: str, name: str = "tiny") -> tuple[Target, LayerGraph]:
    sem, hardware = weighted(text), chip(name)
    target = Target(sem, hardware, "fp16", Binder(hardware.cores, plain_by_kind))
    return target, layer_graph(sem, relay_layers(sem), "fp16")


def cut(text: str, *cuts: GroupCut) -> Plan:
    target, graph = made(text)
    plan = cut_plan(target, graph, cuts)
    plan.check()
    return plan


def test_a_piece_is_a_box_cut_along_both_axes() -> None:
    """The second of 2 x 2 is the upper right: 4 x 4 of z, 5 x 5 of r, 6 x 6 of x."""
    plan = cut(PAIR, QUARTERS)
    assert sorted(kernel.name for kernel in plan.kernels) == ["g1/1", "g1/2", "g1/3", "g1/4"]
    (upper_right,) = (kernel for kernel in plan.kernels if kernel.name == "g1/2")
    assert upper_right.outputs == {"z": ((0, 1), (0, 4), (0, 4), (4, 8))}
    assert upper_right.boxes["r"] == ((0, 1), (0, 4), (0, 5), (3, 8))
    assert upper_right.boxes["x"] == ((0, 1), (0, 4), (0, 6), (2, 8))
    assert plan.groups[0].pieces == 4
    assert plan.groups[0].further_splits == ((3, 2),)


@pytest.mark.parametrize(
    ("split", "places"),
    [
        (QUARTERS, 4 * 5 * 5),
        (GroupCut(BOTH, 2, 4), (3 + 4 + 4 + 3) * 8),
        (GroupCut(BOTH, -1, 1), 64),
    ],
    ids=["2 x 2", "4 x 1", "whole"],
)
def test_two_axes_compute_fewer_halos(split: GroupCut, places: int) -> None:
    """Of r so many places, of 4 channels, that take 36 products each; 64 of them once."""
    plan = cut(PAIR, split)
    assert sum(volume(kernel.boxes["r"]) for kernel in plan.kernels) == places * 4
    trace = simulate(lower(plan))
    outcome = cast(Any, SimpleNamespace(traces={1: trace}, repeats={1: 3}))
    assert halo_macs(outcome) == 3 * (places - 64) * 4 * 36


def test_it_fits_where_no_single_axis_does() -> None:
    """A piece holds x and r, then r and z, of 4 channels, two bytes each.

    Whole 64 + 64 places; 2 rows of pieces (6 + 5) x 8, 4 (6 + 4) x 8, 8 (5 + 3) x 8 = 64: 512
    bytes. In 2 x 2 pieces 36 + 25 = 61 places: 488. Columns are like rows.
    """
    target, graph = made(PAIR)
    part = SubGraph(graph, BOTH)
    assert Splitter(511)(part) is None
    fitting = Splitter(512)(part)
    assert fitting is not None
    assert (fitting.axis, fitting.pieces) == (2, 8)
    price = SectionCycles(target)
    assert Crossed(price, part, 487).best(10**9) != (QUARTERS, price.of_cut(graph, QUARTERS))
    assert Crossed(price, part, 488).best(10**9) == (QUARTERS, price.of_cut(graph, QUARTERS))
    assert Crossed(price, part, 488).best(price.of_cut(graph, QUARTERS)) is None


def test_a_core_that_does_not_hold_its_part_asks_for_more_pieces() -> None:
    """As the closed form of a core has it, which knows nothing of the cluster's sum."""
    target, graph = made(LARGE)
    part = SubGraph(graph, BOTH)
    roomy = Crossed(SectionCycles(target), part, 10**9).best(10**9)
    less = replace(target.hardware, lb_data_bytes=3072)
    tight = Crossed(SectionCycles(replace(target, hardware=less)), part, 10**9).best(10**9)
    assert roomy is not None
    assert tight is not None
    assert tight[0].pieces > roomy[0].pieces


NARROW = "g (float[1,64] x, float[64,512] w) => (float[1,512] y) { y = MatMul (x, w) }"


@pytest.mark.parametrize(
    ("split", "gb_bytes", "expected"),
    [
        # w: 65,536 bytes, once through DRAM at 27 a cycle: 2,428; to the cores at 256: 256 cycles.
        (GroupCut((0,), -1, 1), 2**23, 2_200 + 256 + 2_428),
        # Each of two pieces brings a half from GB in 128 cycles.
        (GroupCut((0,), 1, 2), 2**23, 2 * (2_200 + 128) + 2_428),
        # GB is too small: a half, 128 bytes of x and 512 of y at 27 a cycle are 1,238 cycles.
        (GroupCut((0,), 1, 2), 2**16, 2 * (2_200 + 1_238)),
    ],
)
def test_cycles_of_a_section_by_hand(split: GroupCut, gb_bytes: int, expected: int) -> None:
    target, graph = made(NARROW, "stcp920")
    small = replace(target, hardware=replace(target.hardware, gb_bytes=gb_bytes))
    assert SectionCycles(small).of_cut(graph, split) == expected


def test_what_is_handed_on_in_lb_costs_no_way() -> None:
    """On a slow GB, r of 256 places x 16 channels comes at no cost where it waits in LB."""
    target, graph = made(LARGE)
    slow = replace(target, hardware=replace(target.hardware, gb_bandwidth=10**9))
    alone = GroupCut((1,), 2, 2)
    far, near = (SectionCycles(slow).of_cut(graph, alone, frozenset(h)) for h in ((), ("r",)))
    assert far - near == 2 * 17 * 32 * 16 * 2
    waiting = cut(LARGE, GroupCut((0,), 2, 2), GroupCut((1,), 2, 2))
    assert handed_in_lb(waiting) == frozenset()
    assert handed_in_lb(cut(PAIR, GroupCut((0,), -1, 1), GroupCut((1,), -1, 1))) == {"r"}


@pytest.mark.parametrize(
    ("text", "split", "capacity_bytes", "expected"),
    [
        (PAIR, GroupCut(BOTH, 2, 4), 0, True),
        (PAIR, GroupCut(BOTH, 2, 1), 0, False),
        (PAIR, QUARTERS, 0, False),
        (PAIR, GroupCut(BOTH, -1, 1), 1023, True),
        (PAIR, GroupCut(BOTH, -1, 1), 1024, False),
        (PRODUCTS, GroupCut(BOTH, 0, 2), 0, True),
        (PRODUCTS, GroupCut(BOTH, 1, 2), 0, False),
        (PRODUCTS, GroupCut(BOTH, 1, 64), 0, True),
    ],
)
def test_which_groups_are_looked_at(
    text: str, split: GroupCut, capacity_bytes: int, expected: bool
) -> None:
    """Halos, an axis that ends, or no axis and too much; x and r of PAIR are 1,024 bytes."""
    part = SubGraph(made(text)[1], split.layers)
    assert is_wanting(part, split, capacity_bytes) is expected


def further(plan: Plan, text: str, kernel_cycles: tuple[int, ...]) -> SecondAxis:
    target, graph = made(text)
    timed = Timed("full", graph, plan, kernel_cycles)
    return SecondAxis(target, timed, target.budget.split_bytes)


def test_neighbours_become_one_group_where_that_saves_most() -> None:
    """Two groups took 12,000 cycles: merged they take what the closed forms' ratio says."""
    target, graph = made(RESIDUAL)
    plan = cut(RESIDUAL, GroupCut((0,), 0, 2), GroupCut((1,), 2, 4))
    took = further(plan, RESIDUAL, (1_000,) * 2 + (2_500,) * 4)
    (merged,) = took.cheapest()
    assert merged == crossed(0, 2, 2, 2, BOTH)
    price = SectionCycles(target)
    handed = handed_in_lb(plan)
    old = sum(price.of_cut(graph, each, handed) for each in cuts_of(plan))
    gain = 12_000 - 12_000 * price.of_cut(graph, merged) // old
    assert gain > 0
    assert took.cheapest(gain - 1) == (merged,)
    assert took.cheapest(gain) == cuts_of(plan)


def test_groups_that_one_axis_serves_well_are_left_alone() -> None:
    """Fewer pieces of two axes would launch less, but that is another ingredient's to find."""
    plan = cut(PRODUCTS, GroupCut(BOTH, 1, 32))
    assert further(plan, PRODUCTS, (10**6,) * 32).cheapest() == cuts_of(plan)


def test_a_consumer_waits_for_the_boxes_that_it_reads() -> None:
    """4 x 4 pieces of 2 x 2 places: the corner reads 3 x 3 places of r, one inside 4 x 4."""
    target, graph = made(PAIR)
    sixteen = [crossed(2, 4, 3, 4, (layer,)) for layer in BOTH]
    instances, _ = cut_groups(target, graph, sixteen)
    assert instances.producers[16] == (0, 1, 4, 5)
    assert instances.producers[16 + 5] == (0, 1, 2, 4, 5, 6, 8, 9, 10)


@pytest.mark.parametrize(
    ("text", "split"),
    [
        (STRIDED, crossed(2, 4, 3, 2, (0, 1, 2))),
        (STRIDED, crossed(2, 2, 3, 8, (0, 1, 2))),
        (RESIDUAL, crossed(0, 2, 3, 8, BOTH)),
        (PRODUCTS, crossed(0, 2, 1, 4, BOTH)),
        (LARGE, GroupCut(BOTH, 0, 8, ((2, 2), (3, 4)))),
    ],
    ids=["strides", "columns", "residual", "samples x rows", "three axes"],
)
def test_it_replays(text: str, split: GroupCut) -> None:
    trace = simulate(lower(cut(text, split)))
    trace.check()
    replay(trace)


def cost(plan: Plan) -> PlanCost:
    trace = simulate(lower(plan))
    return PlanCost(trace.makespan, trace.kernel_cycles)


def plus(sem: GraphSemantics, held: PinnedPlan | None = None, axes: str = "on") -> Plan:
    task = PlanTask(sem, chip("tiny"), "fp16", {"plus.axes": axes}, cost=cost)
    plan = plan_for(parse_strategy(PLUS), replace(task, held=held) if held else task)
    plan.check()
    return plan


def proposed(plan: Plan) -> list[str]:
    return [decision.subject[0] for decision in plan.decisions if decision.step == "plus"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [(LARGE, [crossed(2, 2, 3, 2, BOTH)]), (RESIDUAL, [crossed(0, 2, 2, 2, BOTH)])],
    ids=["rows x columns", "samples x rows"],
)
def test_plus_takes_it_where_it_costs_less(text: str, expected: list[GroupCut]) -> None:
    """By a fifth at least; its own record gives the same plan; switched off it is not there."""
    sem = made(text)[0].semantics
    plan, without = plus(sem), plus(sem, axes="off")
    assert list(cuts_of(plan)) == expected
    assert 5 * cost(plan).cycles < 4 * cost(without).cycles
    replay(simulate(lower(plan)))
    assert plus(sem, PinnedPlan(recorded(plan))) == plan
    assert proposed(plan)[-1] == "full, two axes"
    assert not any("two axes" in name for name in proposed(without))
    assert not any(group.further_splits for group in without.groups)
    assert "two axes" not in " ".join(proposed(plus(sem, PinnedPlan(edits=Edits(axis={"z": 2})))))


FORGED: dict[str, tuple[Callable[[GroupRecord], GroupRecord], str]] = {
    "a product": (lambda g: replace(g, pieces=5), "5 pieces are not the product of all axes"),
    "parts": (
        lambda g: replace(g, pieces=6, further=((3, 3),)), "3 pieces do not divide axis 3",
    ),
    "the first": (lambda g: replace(g, pieces=6), "3 pieces do not divide axis 2"),
    "channels": (lambda g: replace(g, further=((1, 2),)), "axis 1 does not carry"),
    "no such axis": (lambda g: replace(g, further=((4, 2),)), "its result has 4 axes, none is 4"),
    "twice": (lambda g: replace(g, further=((2, 2),)), "an axis is named twice"),
    "whole": (lambda g: replace(g, axis=-1, pieces=1), "1 pieces without an axis"),
}  # fmt: skip


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_split_is_refused(case: str) -> None:
    change, said = FORGED[case]
    plan = cut(LARGE, QUARTERS)
    (group,) = recorded(plan).groups
    record: Record = replace(recorded(plan), groups=(change(group),))
    with pytest.raises(PlanError) as caught:
        plus(plan.semantics, PinnedPlan(record))
    assert caught.value.code == "PLAN_RECORD"
    assert said in caught.value.what


HALF = "room over 2"
THREE = """g (float[1,16,32,32] x, float[16,16,3,3] w0, float[16,16,3,3] w1, float[16,16,3,3] w2)
  => (float[1,16,32,32] z)
{ a = Conv <pads = [1,1,1,1]> (x, w0) b = Conv <pads = [1,1,1,1]> (a, w1)
  z = Conv <pads = [1,1,1,1]> (b, w2) }"""


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (10, ["full", HALF, f"{HALF}, fewer pieces", "full, two axes", f"{HALF}, two axes"]),
        (1, ["full", HALF, "full, two axes"]),
    ],
)
def test_the_groups_of_full_and_of_the_cheapest_are_cut_so(part: int, expected: list[str]) -> None:
    """The second plan that is simulated, half the room's, costs a tenth, or what it does."""
    seen: list[Plan] = []

    def cheap(plan: Plan) -> PlanCost:
        seen.append(plan)
        spent, own = cost(plan), part if len(seen) == 2 else 1
        return PlanCost(spent.cycles // own, tuple(each // own for each in spent.kernel_cycles))

    task = PlanTask(made(THREE)[0].semantics, chip("tiny"), "fp16", {}, cost=cheap)
    names = proposed(plan_for(parse_strategy(PLUS), task))
    assert [name for name in names if not name.startswith("mixture")] == expected


def test_not_tried_where_less_than_a_hundredth_is_promised() -> None:
    """No more is saved than the kernels take, which is a hundredth of all."""

    def idle(plan: Plan) -> PlanCost:
        spent = cost(plan)
        return PlanCost(100 * sum(spent.kernel_cycles), spent.kernel_cycles)

    task = PlanTask(made(LARGE)[0].semantics, chip("tiny"), "fp16", {}, cost=idle)
    assert "full, two axes" not in proposed(plan_for(parse_strategy(PLUS), task))


BLOCKS = """g (float[1,16,32,32] x, float[16,16,3,3] w0, float[16,16,3,3] w1, float[16,16,3,3] w2,
   float[16,16,3,3] w3, float[16,16,3,3] w4, float[16,16,3,3] w5, float[16,16,1,1] w6)
  => (float[1,16,32,32] u, float[1,16,32,32] z)
{ y0 = Conv <pads = [1,1,1,1]> (x, w0) r0 = Relu (y0)
  y1 = Conv <pads = [1,1,1,1]> (r0, w1) r1 = Relu (y1)
  y2 = Conv <pads = [1,1,1,1]> (r1, w2) r2 = Relu (y2)
  y3 = Conv <pads = [1,1,1,1]> (r2, w3) r3 = Relu (y3)
  y4 = Conv <pads = [1,1,1,1]> (r3, w4) r4 = Relu (y4)
  y5 = Conv <pads = [1,1,1,1]> (r4, w5) u = Relu (y5)
  y6 = Conv (u, w6) r6 = Relu (y6) z = Add (r6, r2) }"""
"""Layers 0 to 6: 0 reads the model's input, 2 is read twice, 5 makes an output, 6 is another op."""


@pytest.mark.parametrize(
    ("first", "second", "is_alike"),
    [
        ((1,), (2,), True),
        ((1, 2), (3, 4), True),
        ((0,), (1,), False),
        ((4,), (5,), False),
        ((1, 2), (2, 3), False),
        ((1, 2), (1,), False),
    ],
)
def test_which_parts_are_alike(
    first: tuple[int, ...], second: tuple[int, ...], is_alike: bool
) -> None:
    """Names do not count, nor who reads outside; what is handed out, and the model's own, do."""
    _, graph = made(BLOCKS)
    assert SubGraph(graph, (2, 3)).outputs == ("r2", "r3")
    assert (SubGraph(graph, first).likeness == SubGraph(graph, second).likeness) is is_alike


def test_other_ops_and_other_layers_are_not_alike() -> None:
    """Neither end of a chain is looked at; its middle is a ReLU, a Tanh, or both as one layer."""
    text = """g (float[1,16,32,32] x) => (float[1,16,32,32] z)
{ a = MaxPool <kernel_shape = [1,1]> (x) r = Relu (a) t = Tanh (r) z = Relu (t) }"""
    target, graph = made(text)
    (layer,) = graph.layers

    def divided(*ops: tuple[str, ...]) -> LayerGraph:
        layers = tuple(replace(layer, index=n, ops=own) for n, own in enumerate(ops))
        return layer_graph(target.semantics, layers, "fp16")

    apart, joined = divided(("a",), ("r",), ("t",), ("z",)), divided(("a",), ("r", "t"), ("z",))
    assert SubGraph(apart, (1,)).likeness != SubGraph(apart, (2,)).likeness
    assert SubGraph(apart, (1, 2)).likeness != SubGraph(joined, (1,)).likeness


def test_what_is_found_of_one_part_holds_for_its_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cheapest groups are the same where each part is looked at by itself."""
    cuts = tuple(GroupCut((layer,), 2, 32) for layer in range(7))
    plan = cut(BLOCKS, *cuts)
    cycles = tuple(1000 for _ in plan.kernels)
    looked_at: list[SubGraph] = []
    best = Crossed.best

    def counted(crossed: Crossed, limit_cycles: int) -> tuple[GroupCut, int] | None:
        looked_at.append(crossed.part)
        return best(crossed, limit_cycles)

    monkeypatch.setattr(Crossed, "best", counted)
    shared = further(plan, BLOCKS, cycles).cheapest()
    parts = len(looked_at)
    monkeypatch.setattr(SubGraph, "likeness", property(lambda part: part.layers))
    assert further(plan, BLOCKS, cycles).cheapest() == shared
    assert shared != cuts
    assert len(looked_at) - parts > parts
