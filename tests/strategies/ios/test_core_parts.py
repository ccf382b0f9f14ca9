"""The cores of one cluster divided among the groups of a stage, and `ios` in rounds of one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import KernelPlan, Plan
from graphturbo_core.strategies.ios import stage_plans
from graphturbo_core.strategies.ios import strategy as ios
from graphturbo_core.strategies.ios.core_parts import CoreTimes, _by_parts
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.branch_kernels import CoreBranch
from graphturbo_core.strategies.steps.kernels import PlanCost
from tests.full import SLOW
from tests.strategies.ios.branch_models import BRANCHES, MODELS, branches
from tests.strategies.samples import hardware, weighted

LAUNCH = 10
ALL = (0, 1, 2, 3)


def times(**changes: object) -> CoreTimes:
    """Three layers on four cores: of 80 and 40 cycles on one core, and one that gains nothing."""
    on_parts = [[0, 80, 40, 30, 20], [0, 40, 20, 15, 10], [0, 12, 12, 12, 12]]
    made = CoreTimes(
        [LAUNCH + cycles[-1] for cycles in on_parts],
        4, cores=4, on_parts=on_parts, dram_on_parts=[[0, 5, 5, 5, 5]] * 3, overhead=LAUNCH,
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def test_cores_go_to_the_longest_branch() -> None:
    """80 and 40 on one core; then 40 and 40: the fourth core goes to the branch with one."""
    stage = ((0,), (1,))
    assert times().kernels(stage) == ((CoreBranch((0,), (0, 1)), CoreBranch((1,), (2, 3))),)
    assert times().cores_text(stage) == "2 + 2"
    assert times()(stage) == LAUNCH + 40
    assert times().steps(stage) == 1


def test_a_group_alone_runs_on_all_cores_layer_by_layer() -> None:
    stage = ((0, 1),)
    assert times().kernels(stage) == ((CoreBranch((0,), ALL),), (CoreBranch((1,), ALL),))
    assert times()(stage) == (LAUNCH + 20) + (LAUNCH + 10)
    assert times().cores_text(stage) == ""


def test_few_branches_where_more_take_longer() -> None:
    """Three branches take 40: 80 on two cores. So do two: 12 + 20 on two cores beside 40 on two."""
    assert times()(((0,), (1,), (2,))) == LAUNCH + 40
    (step,) = times().kernels(((0,), (1,), (2,)))
    assert [branch.sections for branch in step] == [(2, 1), (0,)]


def test_dram_serves_one_branch_at_a_time() -> None:
    at_dram = [[0, 50, 50, 50, 50], [0, 60, 60, 60, 60], [0] * 5]
    assert times(dram_on_parts=at_dram)(((0,), (1,))) == LAUNCH + 110


def test_bytes_at_dram_are_those_on_the_cores_of_each_branch() -> None:
    """Two cores each: the first layer fetches twice what it fetches on four."""
    at_dram = [[0, 99, 60, 40, 30], [0, 99, 35, 20, 15], [0] * 5]
    assert times(dram_on_parts=at_dram)(((0,), (1,))) == LAUNCH + 60 + 35


def test_a_layer_of_a_shared_engine_runs_before_the_branches() -> None:
    stage = ((0,), (1,), (2,))
    first, step = times(alone=frozenset({0})).kernels(stage)
    assert first == (CoreBranch((0,), ALL),)
    assert [branch.sections for branch in step] == [(2,), (1,)]
    assert times(alone=frozenset({0, 1})).steps(stage) == 3


def test_simulated_cycles_come_before_the_estimate() -> None:
    assert times(known={((0,), (1,)): 7})(((0,), (1,))) == 7


def test_cycles_between_simulated_counts_follow_the_inverse() -> None:
    """Of 8 + 96 / n: 104 on one core, 56 on two, 32 on four; 40 on three. 12 of them launch it."""
    assert _by_parts((1, 2, 4), (116, 68, 44), 12) == [0, 104, 56, 40, 32]
    assert _by_parts((2, 4), (68, 44), 12) == [0, 0, 56, 40, 32]


COSTS = {"a": 10, "b": 8, "c": 5, "d": 7, "z": 1}


def one_cluster(
    level: str, chip: Hardware, *, clusters: int = 1, refuses_branches: bool = False
) -> Plan:
    """The plan of the branches, by default in a round of one cluster.

    A kernel costs its longest branch.
    """
    weights = ", ".join(f"float[8,8,3,3] w{number}" for number in range(4))
    text = BRANCHES.format(weights="").replace("N,", "1,").replace("x)", f"x, {weights})")
    sem = weighted(text)

    def cost(plan: Plan) -> PlanCost | None:
        if refuses_branches and any(kernel.branches for kernel in plan.kernels):
            return None
        found = tuple(
            LAUNCH + max(sum(COSTS[op] for op in ops) for ops in branch_ops(kernel))
            for kernel in plan.kernels
        )
        return PlanCost(sum(found), found)

    bare = replace(chip, launch_cycles=LAUNCH - 1, barrier_cycles=1)
    task = PlanTask(sem, bare, "fp16", {}, clusters=clusters, cost=cost)
    return plan_for(parse_strategy(f"ios:{level}"), task)


def branch_ops(kernel: KernelPlan) -> list[list[str]]:
    """Ops of each branch; of a kernel without branches, its ops."""
    found = [[op for section in branch for op in section] for branch in kernel.branches]
    return found or [list(kernel.ops)]


def branches_of(plan: Plan) -> list[list[str]]:
    return [[" ".join(ops) for ops in branch_ops(kernel)] for kernel in plan.kernels]


def test_one_cluster_runs_groups_on_parts_of_its_cores() -> None:
    """`a`, `b` and `c d` at once: 10 + 12, and `z` alone."""
    plan = one_cluster("parallel", hardware())
    plan.check()
    assert plan.cooperation is None
    assert plan.notes == ()
    assert [sorted(step) for step in branches_of(plan)] == [["a", "b", "c d"], ["z"]]
    first, second = plan.decisions
    assert (first.rule, second.rule) == (stage_plans.RULE_TOGETHER, stage_plans.RULE_ALONE)
    assert first.numbers["cycles"] == LAUNCH + 12
    assert sum(map(int, str(first.numbers["cores"]).split(" + "))) == hardware().cores
    assert "cores" not in second.numbers


def test_levels_on_one_cluster() -> None:
    in_turn = [["a"], ["b"], ["c"], ["d"], ["z"]]
    assert branches_of(one_cluster("sequential", hardware())) == in_turn
    greedy = branches_of(one_cluster("greedy", hardware()))
    assert [sorted(step) for step in greedy] == [["a", "b", "c"], ["d"], ["z"]]


def test_refused_branches_are_not_taken() -> None:
    plan = one_cluster("parallel", hardware(), refuses_branches=True)
    assert not any(kernel.branches for kernel in plan.kernels)


@pytest.mark.parametrize("chip", [replace(hardware(), cores=1), hardware("goya")])
def test_cores_that_cannot_be_divided_run_the_layers_in_turn(chip: Hardware) -> None:
    plan = one_cluster("parallel", chip)
    assert plan.notes == (ios.IN_TURN,)
    assert branches_of(plan) == [["a"], ["b"], ["c"], ["d"], ["z"]]


@pytest.mark.parametrize("level", ["greedy", "parallel"])
@pytest.mark.parametrize("chip", ["stcp920", "generic-4x4", "learn-1x4", "ascend910"])
def test_branches_replay(chip: str, level: str) -> None:
    request = RunRequest("branches", f"ios:{level}@1", chip, 4, verify=True)
    report = run_report(branches(), request)
    assert report.contract["verify"]["ok"]  # type: ignore[index]


@pytest.mark.parametrize("chip", ["stcp920", "generic-4x4"])
@pytest.mark.parametrize(
    "model",
    [
        "branches",
        *(pytest.param(each, marks=SLOW) for each in ("wired 1", "squeezenet", "wired 2")),
    ],
)
def test_branches_are_no_slower_than_layers_in_turn(model: str, chip: str) -> None:
    """A larger pruning is never worse, too."""

    def cycles(strategy: str, **options: str) -> int:
        request = RunRequest(
            model, strategy, chip, 4, options={f"ios.{n}": text for n, text in options.items()}
        )
        found: int = run_report(MODELS[model](), request).tables["round"][0]["cycles"]
        return found

    found = cycles("ios")
    smaller = [cycles("ios", r=r, s=s) for r, s in (("1", "2"), ("2", "2"))]
    assert found <= smaller[1] <= smaller[0] <= cycles("ios:sequential")
    assert found <= cycles("ios:greedy")
    assert found < cycles("ios:sequential")


def test_rounds_of_several_clusters_have_no_branches() -> None:
    plan = one_cluster("parallel", hardware(), clusters=4)
    assert plan.cooperation is not None
    assert not any(kernel.branches for kernel in plan.kernels)
