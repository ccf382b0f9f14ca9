"""Plan files of plans with branches: each is its plan again, and forged ones are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from graphturbo_core.errors import PlanError
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.cooperation import Cooperation
from graphturbo_core.products.plan import Plan, Residency, Scope
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.plan_files.record import Record, recorded
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from tests.strategies.ios.branch_models import BRANCHES, MODELS
from tests.strategies.ios.merges.merging_nets import wide
from tests.strategies.samples import hardware, plan_of, weighted


@pytest.mark.parametrize("level", ["greedy", "parallel"])
@pytest.mark.parametrize("model", ["branches", "squeezenet"])
@pytest.mark.parametrize("chip", ["stcp920", "generic-4x4"])
def test_a_plan_file_is_its_plan_again(model: str, chip: str, level: str) -> None:
    request = RunRequest(model, f"ios:{level}@2", chip, 8, emit=("plan", "program"))
    _is_run_again(MODELS[model](), request)


@pytest.mark.parametrize("level", ["merge", "both"])
def test_merged_convolutions_in_branches_are_restored(level: str) -> None:
    request = RunRequest("wide", f"ios:{level}@1", "stcp920", 4, emit=("plan", "program"))
    _is_run_again(wide(), request)


def _is_run_again(data: bytes, request: RunRequest) -> None:
    first = run_report(data, request)
    plan = first.text("plan")
    assert ("branches:" in plan) == ("merge" not in request.strategy)
    options = dict(first.contract["options"])
    again = run_report(data, replace(request, plan=plan, options=options))
    assert again.text("program") == first.text("program")
    assert again.text("plan") == plan


@cache
def branching() -> Plan:
    """Kernel g1 has branches a, b and c; d reads c, and z reads a, b and d."""
    weights = ", ".join(f"float[8,8,3,3] w{number}" for number in range(4))
    text = BRANCHES.format(weights="").replace("N,", "1,").replace("x)", f"x, {weights})")
    return plan_of(weighted(text), "ios:greedy", hardware())


def restored(record: Record, strategy: str = "ios:greedy", chip: str = "stcp920") -> Plan:
    plan = branching()
    task = PlanTask(plan.semantics, hardware(chip), "fp16", {}, PinnedPlan(record))
    return plan_for(parse_strategy(strategy), task)


def test_a_record_is_its_plan_again() -> None:
    plan = branching()
    assert [len(kernel.branches) for kernel in plan.kernels] == [3, 0, 0]
    assert restored(recorded(plan)) == plan


Change = Callable[[Record], Record]


def first(**changes: object) -> Change:
    """A change of the kernel with branches."""

    def change(record: Record) -> Record:
        own = replace(record.kernels[0], **changes)  # type: ignore[arg-type]
        return replace(record, kernels=(own, *record.kernels[1:]))

    return change


def sharing(record: Record) -> Record:
    """Results of all branches on the cores of the first one."""
    bindings = record.kernels[0].bindings
    return first(bindings=dict.fromkeys(bindings, bindings["a"]))(record)


def joined(record: Record) -> Record:
    """c and d, which reads it, as two branches of one kernel."""
    groups, kernels = record.groups, record.kernels
    both = {
        name: {**getattr(kernels[0], name), **getattr(kernels[1], name)}
        for name in ("bindings", "scopes", "residency")
    }
    both["bindings"]["c"] = both["bindings"]["c"]._replace(cores=(0, 1))
    both["bindings"]["d"] = both["bindings"]["c"]._replace(cores=(6, 7))
    own = replace(kernels[0], branches=((("a",), ("b",), ("c",)), (("d",),)), **both)
    return replace(
        record,
        groups=(replace(groups[0], ops=("a", "b", "c", "d")), replace(groups[2], name="g2")),
        kernels=(own, replace(kernels[2], name="g2/1")),
    )


def late(record: Record) -> Record:
    """d runs before c in a branch."""
    found = joined(record)
    return first(branches=((("a",), ("b",)), (("d",), ("c",))))(found)


def with_one_more(record: Record) -> Record:
    scopes = {**record.kernels[0].scopes, "z": Scope.DRAM}
    return first(scopes=scopes)(record)


FORGED: dict[str, tuple[Change, str]] = {
    "an op left out": (first(branches=((("a",),), (("b",),))), "not the ops of its group"),
    "an op twice": (first(branches=((("a", "a"),), (("b",), ("c",)))), "not the ops of its group"),
    "an empty branch": (first(branches=((("a", "b", "c"),), ())), "not the ops of its group"),
    "an output in LB": (first(kept=("a",)), "keeps no output in LB"),
    "cores of several branches": (sharing, "is in branches 0 and 1"),
    "a branch that reads another": (joined, "reads 'c'"),
    "a reader before its producer": (late, "d runs before c"),
    "a name of another kernel": (with_one_more, "'z' is not of this kernel"),
    "a shard": (first(residency=dict.fromkeys(("w0", "w1", "w2"), Residency.SHARDED)), "shard"),
    "kernels out of order": (
        lambda record: replace(record, kernels=record.kernels[::-1]), "each group is one kernel",
    ),
    "a group that is split": (
        lambda record: replace(
            record,
            groups=(*record.groups[:2], replace(record.groups[2], axis=2, pieces=2)),
        ),
        "no group is split",
    ),
    "clusters that share the round": (
        lambda record: replace(record, cooperation=Cooperation(2, (0, 1, 0), (0, 0, 1))),
        "clusters share the round",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_record_is_refused(case: str) -> None:
    change, said = FORGED[case]
    with pytest.raises(PlanError) as caught:
        restored(change(recorded(branching())))
    assert caught.value.code == "PLAN_RECORD"
    assert said in str(caught.value)


def test_branches_are_refused_where_something_orders_them() -> None:
    """A fence of another strategy, or a matrix engine that all cores share."""
    record = recorded(branching())
    for strategy, chip in (("tvm", "stcp920"), ("ios:greedy", "goya")):
        with pytest.raises(PlanError) as caught:
            restored(record, strategy, chip)
        assert caught.value.code == "PLAN_RECORD"
