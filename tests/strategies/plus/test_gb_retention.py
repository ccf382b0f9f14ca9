"""Which weights shall stay in GB, by hand, and what `graphturbo:plus` makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.sim.kernels.kernel_loads import kernel_loads
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.plan_files.edits import Edits
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.plus.cuts import GroupCut, cut_plan
from graphturbo_core.strategies.plus.gb_retention import (
    chosen_stays,
    paying_stays,
    wanted_stays,
)
from graphturbo_core.strategies.plus.weight_bytes import fetched
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.binding import Binder, plain_by_kind
from graphturbo_core.strategies.steps.kernels import KernelUsage, PlanCost, Target
from tests.strategies.samples import hardware, plan_of, weighted

SOFT = """g (float[16,16] x, float[16,256] w) => (float[16,256] y)
{ a = Softmax (x) b = Softmax (a) y = MatMul (b, w) }"""
"""Three kernels of `tvm`; the last reads w: 8,192 bytes, 512 cycles of DRAM at 16 a cycle."""
THRICE = """g (float[16,64] x, float[64,64] w, float[64,64] v) => (float[16,64] y)
{ a = MatMul (x, w) b = MatMul (a, v) y = MatMul (b, w) }"""
"""The first and the last of three kernels read w, the one between v: 8,192 bytes each."""
W_BYTES = 8192
FIXED = 2200
"""Launch and barrier of a kernel."""
NONE: frozenset[str] = frozenset()
GB_BYTES = 2 * 2**20


@cache
def planned(text: str) -> Plan:
    return plan_of(weighted(text), "tvm", hardware("generic-4x4"))


def took(*kernels: tuple[int, int, int, int]) -> PlanCost:
    """Kernels by their cycles without launch and barrier, DRAM's, a core's, and GB bytes."""
    cycles = tuple(FIXED + own for own, *_ in kernels)
    return PlanCost(sum(cycles), cycles, tuple(KernelUsage(*rest) for _, *rest in kernels))


BUSY = (1000, 1000, 1000, 0)
"""No idle cycle of DRAM, and none to gain."""


@pytest.mark.parametrize(
    ("early", "reader", "expected"),
    [
        # The reader gains 900 - 600 = 300 cycles at most: 300 x 16 bytes.
        ((1000, 400, 800, 0), (900, 900, 600, 0), 4800),
        # DRAM idles for 1,000 - 900 = 100.
        ((1000, 900, 800, 0), (900, 900, 300, 0), 1600),
        # All of w.
        ((1000, 400, 800, 0), (900, 900, 300, 0), W_BYTES),
        # 1,000 bytes are free in the kernel before, which streams no weights itself.
        ((1000, 400, 800, GB_BYTES - 1000), (900, 900, 300, 0), 1000),
        # 3,000 are free in the reader; a third of them is for what it streams.
        ((1000, 400, 800, 0), (900, 900, 300, GB_BYTES - 3000), 2000),
    ],
    ids=["the reader's gain", "idle DRAM", "the weight", "GB before", "GB of the reader"],
)
def test_how_much_is_fetched_early(
    early: tuple[int, int, int, int], reader: tuple[int, int, int, int], expected: int
) -> None:
    spent = took(BUSY, early, reader)
    assert chosen_stays(planned(SOFT), spent, NONE) == (GbRetention("w", 1, 2, expected),)


def test_the_nearest_kernel_fetches_first() -> None:
    """100 idle cycles there; of the 500 that the reader gains, 400 are left to the one before."""
    spent = took((2000, 1000, 2000, 0), (1000, 900, 1000, 0), (900, 900, 400, 0))
    assert chosen_stays(planned(SOFT), spent, NONE) == (
        GbRetention("w", 1, 2, 1600),
        GbRetention("w", 0, 2, 6400),
    )


def test_nothing_stays_where_nothing_is_gained() -> None:
    spent = took((2000, 1000, 2000, 0), BUSY, (900, 500, 900, 0))
    assert chosen_stays(planned(SOFT), spent, NONE) == ()
    spent = took((2000, 1000, 2000, 0), BUSY, (900, 900, 400, 0))
    assert chosen_stays(planned(SOFT), spent, NONE) != ()
    assert chosen_stays(planned(SOFT), spent, frozenset({"w"})) == ()
    assert chosen_stays(planned(SOFT), replace(spent, loads=()), NONE) == ()


def test_a_weight_stays_for_its_next_reader() -> None:
    """The last kernel gains 1 cycle of the 512 in which w is fetched again, or none."""
    assert chosen_stays(planned(THRICE), took(BUSY, BUSY, (1000, 900, 999, 0)), NONE) == (
        GbRetention("w", 0, 2, W_BYTES),
    )
    assert chosen_stays(planned(THRICE), took(BUSY, BUSY, BUSY), NONE) == ()


def test_a_weight_that_stays_takes_room_and_gain_from_those_fetched_early() -> None:
    """w stays and saves the last kernel 512 of 600 cycles; nothing else is fetched there.

    Of the 12,000 bytes that kernel 1 leaves free, 4,000 are for what it streams and 8,000 for w.
    """
    full = GB_BYTES - 12_000
    spent = took((1000, 200, 1000, 0), (1000, 1000, 400, full), (1000, 1000, 400, 0))
    assert chosen_stays(planned(THRICE), spent, NONE) == (GbRetention("w", 0, 2, 8000),)


SHARED = """g (float[16,64] x, float[64,64] w, float[64,64] v) => (float[16,64] y)
{ a = Softmax (x) b = MatMul (a, w) c = MatMul (b, w) d = MatMul (c, v) y = MatMul (d, w) }"""


@pytest.mark.parametrize(
    ("free_bytes", "expected"),
    [(12_300, (GbRetention("w", 1, 4, W_BYTES),)), (12_000, ())],
    ids=["all of w", "a part of w"],
)
def test_what_neighbours_share_stays_whole_or_not_at_all(
    free_bytes: int, expected: tuple[GbRetention, ...]
) -> None:
    """Kernels 1 and 2 are of one group and hold w in GB; 4 reads it too, 3 leaves few bytes free.

    Two thirds of 12,300 are enough for w, of 12,000 not. Kernel 0, where DRAM idles, fetches
    nothing for kernel 4, since others read w between them.
    """
    plan = planned(SHARED)
    kernels = list(plan.kernels)
    for place in (1, 2):
        kernels[place] = replace(kernels[place], group=1, residency={"w": Residency.GB})
    idle, reader = (2000, 1000, 2000, 0), (900, 900, 600, 0)
    spent = took(idle, BUSY, BUSY, (*BUSY[:3], GB_BYTES - free_bytes), reader)
    plan = replace(plan, kernels=tuple(kernels))
    assert chosen_stays(plan, spent, NONE) == expected
    assert wanted_stays(plan, spent, frozenset({"w"})) == expected


W_ALONE = frozenset({"w"})


@pytest.mark.parametrize(
    ("text", "kernels", "expected"),
    [
        # One kernel reads w, and none gains by it: it comes in the kernel before.
        (SOFT, (BUSY, BUSY, BUSY), (GbRetention("w", 1, 2, W_BYTES),)),
        # 1,000 bytes are free there; of the 3,000 in the reader a third is for what it streams.
        (SOFT, (BUSY, (*BUSY[:3], GB_BYTES - 1000), BUSY), (GbRetention("w", 1, 2, 1000),)),
        (SOFT, (BUSY, BUSY, (*BUSY[:3], GB_BYTES - 3000)), (GbRetention("w", 1, 2, 2000),)),
        (SOFT, (BUSY, (*BUSY[:3], GB_BYTES), BUSY), ()),
        # Several do: from the first to the last of them.
        (THRICE, (BUSY, BUSY, BUSY), (GbRetention("w", 0, 2, W_BYTES),)),
    ],
    ids=["one reader", "GB before", "GB of the reader", "no room", "two readers"],
)
def test_a_weight_that_is_wanted_stays_as_far_as_gb_has_room(
    text: str, kernels: tuple[tuple[int, int, int, int], ...], expected: tuple[GbRetention, ...]
) -> None:
    assert wanted_stays(planned(text), took(*kernels), W_ALONE) == expected
    assert wanted_stays(planned(text), took(*kernels), NONE) == ()


def test_nothing_comes_before_the_first_kernel_and_nothing_without_loads() -> None:
    """v0 is read by the first kernel alone."""
    text = "g (float[16,64] x, float[64,64] v0) => (float[16,64] y) {y = MatMul (x, v0)}"
    assert wanted_stays(planned(text), took(BUSY), frozenset({"v0"})) == ()
    spent = replace(took(BUSY, BUSY, BUSY), loads=())
    assert wanted_stays(planned(SOFT), spent, W_ALONE) == ()
    bare = replace(planned(SOFT), hardware=replace(planned(SOFT).hardware, gb_bytes=0))
    assert wanted_stays(bare, took(BUSY, BUSY, BUSY), W_ALONE) == ()


def test_what_is_wanted_has_room_and_gain_before_the_rest() -> None:
    """The first right to room, and the reader's gain.

    Kernel 1 reads v, kernel 2 w, which kernel 0 reads too. 12,000 bytes are free in kernel 1: a
    third is for what it streams, 8,000 for others. w has them all, v then has none of them.
    """
    full = GB_BYTES - 12_000
    spent = took((1000, 400, 1000, 0), (1000, 1000, 400, full), (1000, 1000, 999, 0))
    plan = planned(THRICE)
    assert chosen_stays(plan, spent, W_ALONE) == (GbRetention("v", 0, 1, 8000),)
    assert chosen_stays(plan, spent, NONE, W_ALONE) == (GbRetention("w", 0, 2, 8000),)


def test_what_is_wanted_takes_idle_cycles_and_gain() -> None:
    """Kernel 1 of FIVE idles for 600 cycles, of which w0 takes 512: 88 x 16 bytes are left to w1.

    Where one kernel reads w and v and gains 600 cycles at most, 88 are left to v.
    """
    spent = took(BUSY, (1000, 400, 1000, 0), BUSY, (1000, 1000, 400, 0), BUSY)
    plan = planned(FIVE)
    assert chosen_stays(plan, spent, NONE) == (GbRetention("w1", 1, 3, W_BYTES),)
    early = GbRetention("w0", 1, 2, W_BYTES)
    wanted = frozenset({"w0"})
    assert chosen_stays(plan, spent, NONE, wanted) == (early, GbRetention("w1", 1, 3, 1408))
    spent = took((2000, 0, 2000, 0), (1000, 1000, 400, 0))
    assert chosen_stays(paired(), spent, NONE) == (
        GbRetention("w", 0, 1, W_BYTES),
        GbRetention("v", 0, 1, 1408),
    )
    assert chosen_stays(paired(), spent, NONE, frozenset({"v"})) == (
        GbRetention("v", 0, 1, W_BYTES),
        GbRetention("w", 0, 1, 1408),
    )


def paired() -> Plan:
    """A softmax, and then two products in one kernel."""
    text = """g (float[16,64] x, float[64,64] w, float[64,64] v) => (float[16,64] y)
    { a = Softmax (x) b = MatMul (a, w) y = MatMul (b, v) }"""
    sem, chip = weighted(text), hardware("generic-4x4")
    target = Target(sem, chip, "fp16", Binder(chip.cores, plain_by_kind))
    graph = layer_graph(sem, relay_layers(sem), "fp16")
    return cut_plan(target, graph, [GroupCut((0,), -1, 1), GroupCut((1, 2), -1, 1)])


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ((90, 100, 100, 105, 100), (0, 1)),
        ((100, 100, 101, 100, 90), (2,)),
        ((100, 100, 100, 100, 100), ()),
        ((100, 100, 95, 104, 99), (0, 1, 2)),
    ],
)
def test_stays_that_share_a_kernel_pay_together(
    after: Sequence[int], expected: tuple[int, ...]
) -> None:
    """Stays 0 and 1 touch kernels 0, 2 and 3 between them, stay 2 kernels 1 and 4."""
    plan = planned(FIVE)
    stays = (GbRetention("w0", 0, 2, 32), GbRetention("w1", 2, 3, 32), GbRetention("w2", 1, 4, 32))
    plan = replace(plan, stays=stays)
    paid = paying_stays(plan, (100,) * 5, after)
    assert paid == tuple(stays[place] for place in expected)


FIVE = """g (float[16,64] x, float[64,64] w0, float[64,64] w1, float[64,64] w2) => (float[16,64] y)
{ a = Softmax (x) b = Softmax (a) c = MatMul (b, w0) d = MatMul (c, w1) y = MatMul (d, w2) }"""


def test_no_bound_counts_what_may_be_in_gb_already() -> None:
    """Bytes a kernel fetches at least: of v and w, all but what their stays have for it."""
    plan = planned(THRICE)
    assert [size for _, size in fetched(plan)] == [W_BYTES] * 3
    stays = (GbRetention("w", 0, 2, W_BYTES), GbRetention("v", 0, 1, 1000))
    found = [size for _, size in fetched(replace(plan, stays=stays))]
    assert found == [W_BYTES, W_BYTES - 1000, 0]


def spent(plan: Plan) -> PlanCost:
    trace = simulate(lower(plan))
    return PlanCost(trace.makespan, trace.kernel_cycles, kernel_loads(trace.program))


HEAVY = """g (float[512,1024] x, float[1024,512] w, float[512,512] v) => (float[512,512] y)
{ a = Softmax (x) b = MatMul (a, w) c = Softmax (b) y = MatMul (c, v) }"""


def plus(option: str = "on", edits: Edits | None = None, **changes: object) -> Plan:
    given = {"plus.keeping": option, "plus.cooperation": "off", "plus.lending": "off"}
    held = PinnedPlan(edits=edits) if edits else PinnedPlan()
    chip = replace(hardware(), **changes)
    task = PlanTask(weighted(HEAVY), chip, "fp16", given, held, cost=spent)
    return plan_for(parse_strategy("graphturbo:plus"), task)


SMALL: dict[str, object] = {"lb_data_bytes": 65536, "split_capacity_bytes": 8 * 65536}


def proposed(plan: Plan) -> list[str]:
    return [decision.subject[0] for decision in plan.decisions if decision.step == "plus"]


def test_switched_off_the_plan_is_as_before() -> None:
    on, off = plus(**SMALL), plus("off", **SMALL)
    assert on.stays and not off.stays
    assert replace(on, stays=(), decisions=()) == replace(off, decisions=())
    assert not any("stay" in name for name in proposed(off))
    assert spent(on).cycles < spent(off).cycles


def test_a_weight_that_a_plan_file_places_does_not_stay() -> None:
    weights = {stay.weight for stay in plus(**SMALL).stays}
    edits = Edits(residency=dict.fromkeys(weights, Residency.STREAM))
    assert not weights & {stay.weight for stay in plus(edits=edits, **SMALL).stays}


def test_dearer_stays_are_not_taken() -> None:
    def priced(plan: Plan) -> PlanCost:
        found = spent(plan)
        return replace(found, cycles=found.cycles * (2 if plan.stays else 1))

    task = PlanTask(weighted(HEAVY), replace(hardware(), **SMALL), "fp16", {}, cost=priced)
    plan = plan_for(parse_strategy("graphturbo:plus"), task)
    assert any("weights stay" in name for name in proposed(plan))
    assert not plan.stays


def test_a_chip_without_gb_has_no_stays() -> None:
    plan = plus("off", **SMALL)
    bare = replace(plan.hardware, gb_bytes=0)
    assert chosen_stays(plan, spent(plan), NONE)
    assert not chosen_stays(replace(plan, hardware=bare), spent(plan), NONE)
