"""A record is its plan again; one that somebody forged is refused, never lowered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from graphturbo_core.errors import PlanError
from graphturbo_core.products.cooperation import Cooperation
from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Binding, Plan, Residency, Scope
from graphturbo_core.strategies.plan_files.edits import Edits
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.plan_files.record import (
    GroupRecord,
    KernelRecord,
    Record,
    StayRecord,
    recorded,
)
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from tests.strategies.plus.plans import heavy, plus, spent
from tests.strategies.samples import hardware, sample_plan, weighted

STRATEGIES = (
    "layerwise", "tvm", "astitch", "graphturbo:gb", "graphturbo:lb", "graphturbo:order",
    "graphturbo:full",
)  # fmt: skip
CASES = [
    ("teaching-resnet", 16, "generic-4x4"),
    ("teaching-resnet", 16, "goya"),
    ("densenet-121", 16, "stcp920"),
]


def restored(plan: Plan, record: Record, strategy: str, clusters: int = 1) -> Plan:
    """What the record says; so many clusters would be idle but for one."""
    task = PlanTask(
        plan.semantics, plan.hardware, plan.number_format, {}, PinnedPlan(record), clusters
    )
    found = plan_for(parse_strategy(strategy), task)
    found.check()
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[2]}")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_record_is_its_plan_again(strategy: str, case: tuple[str, int, str]) -> None:
    model, batch, profile = case
    plan = sample_plan(model, batch, strategy, profile)
    assert restored(plan, recorded(plan), strategy) == plan


@pytest.mark.parametrize(
    "options",
    [
        {"tvm.division": "outermost"},
        {"tvm.weights": "own"},
        {"tvm.double_buffering": "off"},
        {"tvm.passes": "squares"},
        {"graphturbo.double_buffering": "off"},
        {"graphturbo.fence": "on"},
        {"graphturbo.list_scheduling": "off"},
        {"graphturbo.instance_order": "breadth-first"},
    ],
    ids=str,
)
def test_a_record_of_other_kernels_is_its_plan_again(options: dict[str, str]) -> None:
    strategy = next(iter(options)).partition(".")[0]
    batch = 2 if strategy == "tvm" else 16
    plain = sample_plan("teaching-resnet", batch, strategy, "generic-4x4")
    task = PlanTask(plain.semantics, plain.hardware, plain.number_format, options)
    plan = plan_for(parse_strategy(strategy), task)
    assert plan != plain
    held = replace(task, held=PinnedPlan(recorded(plan)))
    assert plan_for(parse_strategy(strategy), held) == plan


PLAN_ARGUMENTS = ("teaching-resnet", 16, "graphturbo:full", "generic-4x4")


def group(place: int, **changes: object) -> Callable[[Record], Record]:
    def change(record: Record) -> Record:
        groups = list(record.groups)
        groups[place] = replace(groups[place], **changes)
        return replace(record, groups=tuple(groups))

    return change


def kernel(place: int, change_of: Callable[[KernelRecord], KernelRecord]) -> object:
    def change(record: Record) -> Record:
        kernels = list(record.kernels)
        kernels[place] = change_of(kernels[place])
        return replace(record, kernels=tuple(kernels))

    return change


def rearranged(*places: int) -> Callable[[Record], Record]:
    return lambda record: replace(record, kernels=tuple(record.kernels[at] for at in places))


def stays(**changes: object) -> Callable[[Record], Record]:
    """A weight of the second group, with something wrong."""
    right = StayRecord("stage1/block1/conv1/weight", "g1/1", "g2/1", 1024)
    return lambda record: replace(record, stays=(replace(right, **changes),))


WHOLE = Binding((), (), (0,))
HALVES = Binding((0,), (2,), ())
FORGED = {
    "a group's name": (group(0, name="g7"), "group 1 must be named g1"),
    "no such op": (group(0, ops=("x",)), "op x is not in the model"),
    "half a layer": (group(0, ops=("stem/conv",)), "its ops are not whole layers"),
    "a layer twice": (
        lambda r: replace(r, groups=(*r.groups, replace(r.groups[0], name="g4"))),
        "layer stem/conv is in g1 too",
    ),
    "a layer left out": (lambda r: replace(r, groups=r.groups[:2]), "is in no group"),
    "pieces without an axis": (group(1, axis=-1), "2 pieces without an axis"),
    "no such axis": (group(1, axis=4), "its result has 4 axes, none is 4"),
    "an axis that does not carry": (group(2, axis=1, pieces=1), "axis 1 does not carry"),
    "pieces that do not divide": (group(1, pieces=3), "3 pieces do not divide axis 0"),
    "too many pieces": (group(1, pieces=64), "64 pieces do not divide axis 0"),
    "a piece too few": (group(1, pieces=4), "it runs before g2/3, whose result it reads"),
    "a piece too many": (group(1, pieces=1), "it is not a piece of a group"),
    "twice": (rearranged(0, 1, 2, 3, 3), "it runs twice"),
    "too early": (rearranged(3, 0, 1, 2), "it runs before g2/1, whose result it reads"),
    "not run": (rearranged(0, 1, 2), "g3/1 does not run"),
    "a tensor without binding": (
        kernel(0, lambda k: replace(k, bindings={})), "stem/conv:0 has no binding",
    ),
    "a binding too many": (
        kernel(0, lambda k: replace(k, bindings={**k.bindings, "x": WHOLE})),
        "x may have no binding here",
    ),
    "a core that is not there": (
        kernel(0, lambda k: replace(k, bindings=dict.fromkeys(k.bindings, Binding((), (), (4,))))),
        "there is no core 4",
    ),
    "cores that are too few": (
        kernel(0, lambda k: replace(k, bindings=dict.fromkeys(k.bindings, HALVES))),
        "2 parts are bound to 0 cores",
    ),
    "bound apart": (
        kernel(0, lambda k: replace(k, bindings={**k.bindings, "stem/conv:0": WHOLE})),
        "it is computed together with 'stem/relu:0', which has another binding",
    ),
    "a tensor without scope": (kernel(0, lambda k: replace(k, scopes={})), "has no scope"),
    "a result in LB": (
        kernel(3, lambda k: replace(k, scopes={**k.scopes, "scores": Scope.LB})),
        "scope LB of scores: it is an output of the model",
    ),
    "kept for nobody": (
        kernel(3, lambda k: replace(k, kept=("scores",))), "but the next kernel does not read it",
    ),
    "lost": (
        kernel(0, lambda k: replace(k, kept=(), scopes=dict.fromkeys(k.scopes, Scope.LB))),
        "not only the next kernel reads it",
    ),
    "a weight too many": (
        kernel(0, lambda k: replace(k, residency={**k.residency, "x": Residency.LB})),
        "x may have no residency here",
    ),
    "a weight left out": (kernel(0, lambda k: replace(k, residency={})), "has no residency"),
    "shards on a chip without": (
        kernel(0, lambda k: replace(k, residency=dict.fromkeys(k.residency, Residency.SHARDED))),
        "weights are sharded, which the chip does not do",
    ),
    "a stay of no kernel": (stays(last="g9/1"), "g9/1 is not a kernel"),
    "a stay of no weight": (stays(weight="x"), "ends in kernel 2, which does not read it"),
    "a stay backwards": (stays(first="g3/1"), "goes from kernel 3 to 2 of 4"),
    "a stay of too much": (stays(size_bytes=10**9), "is of 1000000000 bytes of 4608"),
    "nothing": (lambda r: replace(r, groups=(), kernels=()), "is in no group"),
    "an empty group": (
        lambda r: replace(r, groups=(*r.groups, GroupRecord("g4", (), -1, 1))), "it has no ops",
    ),
}  # fmt: skip


def test_a_record_with_stays_is_its_plan_again() -> None:
    plain = sample_plan(*PLAN_ARGUMENTS)
    plan = restored(plain, stays()(recorded(plain)), "graphturbo")
    assert plan.stays == (GbRetention("stage1/block1/conv1/weight", 0, 2, 1024),)
    assert restored(plain, recorded(plan), "graphturbo") == plan


@cache
def shared_plan() -> Plan:
    """Four clusters compute a quarter of `r` each, then of `z`, for which each reads all of `r`."""
    return plus(heavy(), hardware())


@pytest.mark.parametrize(
    "options", [{}, {"plus_lending": "off"}, {"plus_cooperation": "off"}], ids=str
)
def test_a_record_of_clusters_that_share_is_its_plan_again(options: dict[str, str]) -> None:
    """Split over clusters with DRAM lent and not, and all on one that weights are lent to."""
    plan = plus(heavy(), hardware(), **options)
    assert plan.clusters == 4
    assert restored(plan, recorded(plan), "graphturbo:plus", 4) == plan


def test_pieces_of_clusters_may_differ_by_one() -> None:
    """Of 4,098 columns two clusters have one more; nobody else's pieces may differ."""
    sem = weighted(
        "g (float[1,512] x, float[512,4098] w) => (float[1,4098] y) { y = MatMul (x, w) }"
    )
    plan = plus(sem, hardware())
    columns = [kernel.outputs["y"][1] for kernel in plan.kernels]
    assert [high - low for low, high in columns] == [1025, 1025, 1024, 1024]
    record = recorded(plan)
    assert restored(plan, record, "graphturbo:plus", 4) == plan
    with pytest.raises(PlanError, match="4 pieces do not divide axis 1"):
        restored(plan, replace(record, cooperation=None), "graphturbo:plus", 4)


def test_every_piece_of_clusters_has_a_part_of_each_result() -> None:
    """z has four rows of four and y, twice as large, eight: there is no fifth piece of z."""
    sem = weighted(
        "g (float[1,4,8,8] x, float[4,4,2,2] w) => (float[1,4,4,4] z, float[1,4,8,8] y) "
        "{ z = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x) "
        "y = ConvTranspose <strides = [2,2]> (z, w) }"
    )
    plan = replace(sample_plan(*PLAN_ARGUMENTS), semantics=sem, hardware=hardware())
    ops = tuple(op.name for op in sem.graph.ops)
    whole = GroupRecord("g1", ops, 2, 4)
    record = Record((whole,), (), cooperation=Cooperation(4, (), ()))
    with pytest.raises(PlanError, match="g1/1 does not run"):
        restored(plan, record, "graphturbo:plus", 4)
    five = replace(record, groups=(replace(whole, pieces=5),))
    with pytest.raises(PlanError, match="5 pieces do not divide axis 2"):
        restored(plan, five, "graphturbo:plus", 4)


def test_an_edited_plan_has_the_round_to_itself() -> None:
    plan = shared_plan()
    held = PinnedPlan(recorded(plan), Edits(residency={"w": Residency.STREAM}))
    task = PlanTask(plan.semantics, plan.hardware, "fp16", {}, held, 4, spent)
    assert plan_for(parse_strategy("graphturbo:plus"), task).cooperation is None


def shared(**changes: object) -> Callable[[Record], Record]:
    def change(record: Record) -> Record:
        assert record.cooperation is not None
        return replace(record, cooperation=replace(record.cooperation, **changes))

    return change


ONE_BY_ONE = {"cluster_of": (0,) * 8, "step_of": tuple(range(8))}
FORGED_SHARES = {
    "too few clusters": (shared(clusters=3), "3 clusters share the round, of 4"),
    "a cluster that is not there": (
        shared(cluster_of=(0, 1, 2, 4, 0, 1, 2, 3)), "kernel 3 runs on cluster 4 of 4",
    ),
    "too few steps": (shared(step_of=(0, 0, 0, 0)), "kernels, clusters and steps: (8, 8, 4)"),
    "a step left out": (shared(step_of=(0, 0, 0, 0, 2, 2, 2, 2)), "follows one at (0, 3)"),
    "a cluster twice in a step": (
        shared(cluster_of=(0, 1, 2, 2, 0, 1, 2, 3)), "follows one at (0, 2)",
    ),
    "in the step of what it reads": (
        shared(cluster_of=(0, 1, 2, 0, 1, 0, 1, 2), step_of=(0, 0, 0, 1, 1, 2, 2, 2)),
        "it runs in the step of g1/4, whose result it reads",
    ),
    "in GB of another cluster": (
        kernel(0, lambda k: replace(k, scopes={"r": Scope.GB})),
        "scope GB of r: another cluster reads it",
    ),
    "kept for another cluster": (
        shared(cluster_of=(0, 1, 2, 3, 0, 1, 2, 0), step_of=(0, 0, 0, 0, 1, 1, 1, 2)),
        "r is kept in LB, but the next kernel does not read it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FORGED_SHARES)
def test_a_forged_share_is_refused(case: str) -> None:
    change, said = FORGED_SHARES[case]
    plan = shared_plan()
    record = change(recorded(plan))  # type: ignore[operator]
    with pytest.raises(PlanError) as caught:
        restored(plan, record, "graphturbo:plus", 4)
    assert caught.value.code == "PLAN_RECORD"
    assert said in caught.value.what


def test_clusters_that_work_or_cannot_reach_each_other_share_nothing() -> None:
    plan = shared_plan()
    with pytest.raises(PlanError, match="4 clusters share the round, of 1"):
        restored(plan, recorded(plan), "graphturbo:plus")
    alone = shared(clusters=1, **ONE_BY_ONE)(recorded(plan))
    with pytest.raises(PlanError, match="1 clusters share the round, of 1"):
        restored(plan, alone, "graphturbo:plus")
    apart = replace(plan, hardware=replace(plan.hardware, remote_dram_latency_cycles=None))
    with pytest.raises(PlanError, match="4 clusters share the round, of 1"):
        restored(apart, recorded(plan), "graphturbo:plus", 4)


def test_clusters_may_wait_for_each_other() -> None:
    """Pieces that need nothing of each other, one after the other, each on its cluster."""
    plan = shared_plan()
    record = shared(step_of=(0, 1, 2, 3, 4, 4, 4, 4))(recorded(plan))
    assert restored(plan, record, "graphturbo:plus", 4).kernels == plan.kernels


def test_one_cluster_may_run_all_pieces() -> None:
    plan = shared_plan()
    record = shared(**ONE_BY_ONE)(recorded(plan))
    bare = [replace(k, kept=(), scopes={t: Scope.DRAM for t in k.scopes}) for k in record.kernels]
    assert restored(plan, replace(record, kernels=tuple(bare)), "graphturbo:plus", 4).clusters == 4


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_record_is_refused(case: str) -> None:
    change, said = FORGED[case]
    plan = sample_plan(*PLAN_ARGUMENTS)
    with pytest.raises(PlanError) as caught:
        restored(plan, change(recorded(plan)), "graphturbo")  # type: ignore[operator]
    assert caught.value.code == "PLAN_RECORD"
    assert said in caught.value.what


def test_gb_is_refused_on_a_chip_without_one() -> None:
    plan = sample_plan(*PLAN_ARGUMENTS)
    bare = replace(plan, hardware=replace(plan.hardware, gb_bytes=0))
    record = recorded(plan)
    kernels = [
        replace(k, residency=dict.fromkeys(k.residency, Residency.GB)) for k in record.kernels
    ]
    with pytest.raises(PlanError, match="the chip has no GB"):
        restored(bare, replace(record, kernels=tuple(kernels)), "graphturbo")
    near = [replace(k, scopes=dict.fromkeys(k.scopes, Scope.DRAM), kept=()) for k in kernels]
    with pytest.raises(PlanError, match="weights are resident in GB, which the chip does not have"):
        restored(bare, replace(record, kernels=tuple(near)), "graphturbo")


def test_a_plan_of_a_chip_without_a_gb_is_restored() -> None:
    plan = sample_plan("teaching-resnet", 16, "graphturbo:full", "ipu-gc2")
    assert not plan.hardware.gb_bytes
    assert restored(plan, recorded(plan), "graphturbo").kernels == plan.kernels


def test_an_order_of_ones_own_has_no_stack_of_algorithm_3() -> None:
    plan = sample_plan(*PLAN_ARGUMENTS)
    record = recorded(plan)
    assert [k.name for k in record.kernels] == ["g1/1", "g2/2", "g2/1", "g3/1"]
    kept_free = [
        replace(
            k, kept=(), scopes={t: s if t == "scores" else Scope.GB for t, s in k.scopes.items()}
        )
        for k in record.kernels
    ]
    other = replace(record, kernels=tuple(kept_free[at] for at in (0, 2, 1, 3)))
    found = restored(plan, other, "graphturbo")
    assert [k.name for k in found.kernels] == ["g1/1", "g2/1", "g2/2", "g3/1"]
    assert found.ready_steps == ()
    assert plan.ready_steps
