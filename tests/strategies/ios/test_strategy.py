"""`ios` on models and chips: stages on clusters, simulated, replayed, never slower than in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import pytest

from graphturbo_core.pipeline import Imports, RunRequest, run_report, run_shared
from graphturbo_core.products.plan import Plan
from graphturbo_core.recorder import Progress
from graphturbo_core.report.report import Report
from graphturbo_core.strategies.ios import stage_plans
from graphturbo_core.strategies.ios import strategy as ios
from graphturbo_core.strategies.ios.endings import Stage
from graphturbo_core.strategies.ios.fixed_stages import greedy, sequential
from graphturbo_core.strategies.ios.stage_times import StageTimes
from graphturbo_core.strategies.planning import PlanTask, plan_for, target_of
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.kernels import PlanCost
from tests.full import SLOW
from tests.strategies.ios.branch_models import BRANCHES, MODELS, branches
from tests.strategies.samples import hardware, weighted


@cache
def report_of(model: str, chip: str, strategy: str, options: tuple[tuple[str, str], ...]) -> Report:
    return run_report(MODELS[model](), RunRequest(model, strategy, chip, 1, options=dict(options)))


def cycles(model: str, chip: str, strategy: str, **options: str) -> int:
    named = tuple((f"ios.{name}", text) for name, text in options.items())
    found: int = report_of(model, chip, strategy, named).tables["round"][0]["cycles"]
    return found


def stages_of(plan: Plan) -> list[list[str]]:
    """Ops by step, each step's in the order of the clusters."""
    steps: dict[int, list[str]] = {}
    for number, kernel in enumerate(plan.kernels):
        steps.setdefault(plan.step_of(number), []).append(" ".join(kernel.ops))
    return list(steps.values())


def planned(
    level: str,
    clusters: int,
    costs: dict[str, int] | None = None,
    *,
    shared: int | None = 1,
    evaluated: list[Plan] | None = None,
    **options: str,
) -> Plan:
    """The plan of the branches; a step costs its longest layer.

    With several layers it costs `shared` times that; None: it is refused. `evaluated` gets the
    plans whose cost is computed.
    """
    text = (
        BRANCHES.format(weights="")
        .replace("N,", "1,")
        .replace(
            "x)", "x, float[8,8,3,3] w0, float[8,8,3,3] w1, float[8,8,3,3] w2, float[8,8,3,3] w3)"
        )
    )

    def cost(plan: Plan) -> PlanCost | None:
        assert costs is not None
        if evaluated is not None:
            evaluated.append(plan)
        if shared is None and max(map(len, stages_of(plan))) > 1:
            return None
        own = {n: costs[kernel.ops[0]] for n, kernel in enumerate(plan.kernels)}
        steps: dict[int, int] = {}
        for number, each in own.items():
            step = plan.step_of(number)
            steps[step] = max(steps.get(step, 0), each)
        layers = Counter(map(plan.step_of, own))
        steps = {step: most * (shared or 1) ** (layers[step] > 1) for step, most in steps.items()}
        kernels = tuple(steps[plan.step_of(number)] for number in own)
        return PlanCost(sum(steps.values()), kernels)

    named = {f"ios.{name}": value for name, value in options.items()}
    task = PlanTask(
        weighted(text), hardware(), "fp16", named, clusters=clusters,
        cost=cost if costs else None,
    )  # fmt: skip
    return plan_for(parse_strategy(f"ios:{level}"), task)


TRIALS = "3"
LARGE = ("wired 1", "squeezenet", "wired 2", "inception")
COSTS = {"a": 10, "b": 8, "c": 5, "d": 7, "z": 1}


def test_branches_run_at_once() -> None:
    """`c`, then `d` beside `a` and `b`: 5 + 10 + 1; the greedy stages take 10 + 7 + 1."""
    plan = planned("parallel", 4, COSTS)
    assert stages_of(plan)[0] == ["c"]
    assert sorted(stages_of(plan)[1]) == ["a", "b", "d"]
    assert plan.cooperation is not None
    assert [each.rule for each in plan.decisions] == [
        stage_plans.RULE_ALONE, stage_plans.RULE_TOGETHER, stage_plans.RULE_ALONE,
    ]  # fmt: skip
    assert plan.decisions[1].is_taken
    assert plan.decisions[1].numbers["cycles"] == 10
    assert plan.decisions[1].numbers["cycles in turn"] == 25


def test_levels() -> None:
    assert stages_of(planned("sequential", 4, COSTS)) == [["a"], ["b"], ["c"], ["d"], ["z"]]
    assert stages_of(planned("greedy", 4, COSTS)) == [["a", "b", "c"], ["d"], ["z"]]
    assert {each.rule for each in planned("greedy", 4, COSTS).decisions} == {stage_plans.RULE_FIXED}


def test_a_stage_is_not_shared_where_that_gains_nothing() -> None:
    """With at most one group per stage, and with one layer per group and stage."""
    in_turn = [["a"], ["b"], ["c"], ["d"], ["z"]]
    assert sorted(stages_of(planned("parallel", 4, COSTS, s="1"))) == in_turn
    two = planned("parallel", 4, COSTS, s="2", states="1")
    assert max(map(len, stages_of(two))) == 2


def test_without_a_simulator_every_layer_counts_one_cycle() -> None:
    assert max(map(len, stages_of(planned("parallel", 4)))) > 1


def test_a_refused_schedule_is_not_taken() -> None:
    """Every plan with a shared step is refused: the layers run in turn."""
    plan = planned("parallel", 4, COSTS, shared=None)
    assert [len(step) for step in stages_of(plan)] == [1] * 5


def test_larger_prunings_are_not_tried_where_schedules_are_far_slower(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The layers' cycles, in turn, greedy, and one schedule of at most two groups."""
    evaluated: list[Plan] = []
    plan = planned("parallel", 4, COSTS, shared=4, evaluated=evaluated)
    assert [len(step) for step in stages_of(plan)] == [1] * 5
    assert len(evaluated) == 4
    monkeypatch.setattr(ios, "MOST_SLOWER_PERCENT", 10**6)
    planned("parallel", 4, COSTS, shared=4, evaluated=evaluated)
    assert len(evaluated) > 4 + 4


@dataclass(frozen=True)
class ScriptedSearch(ios.IosScheduler):
    """Each schedule is a new one and has the next cycles of the script."""

    unused: Plan = field(kw_only=True)
    script: Iterator[int] = field(kw_only=True)
    instructions: int = field(kw_only=True)

    def _scheduled(self, *_: object) -> ios.Made:
        return (((next(self.script),),),), frozenset(), 0

    def _try(self, _: object, made: ios.Made, tried: dict[tuple[Stage, ...], ios.IosTrial]) -> None:
        ((cycles,),) = made[0][0]
        tried[made[0]] = ios.IosTrial(cycles, self.unused, {}, frozenset(), 0, self.instructions)


def scripted(
    simulated: list[int], instructions: int = 1, budget: int = ios.Ios().instructions
) -> tuple[bool, int]:
    """Whether a pruning with such schedules helps, and how many it simulated.

    The layers in turn take 100 cycles, greedy stages 50. `instructions`: of each plan.
    """
    plan = planned("sequential", 4)
    strategy = ios.Ios(trials=len(simulated), instructions=budget)
    target = target_of(strategy, PlanTask(plan.semantics, plan.hardware, "fp16", {}))
    search = ScriptedSearch(
        strategy, target, strategy.kernels(target),
        unused=plan, script=iter(simulated), instructions=instructions,
    )  # fmt: skip
    tried: dict[tuple[Stage, ...], ios.IosTrial] = {}
    for stages, cycles in ((sequential, 100), (greedy, 50)):
        made = stages(search.kernels.edges, len(search.graph.layers))
        tried[made] = ios.IosTrial(cycles, plan, {}, frozenset(), 0)
    helps = search._helps((1, 2), StageTimes([1], 1), dict(tried), tried)
    return helps, len(tried) - 2


@pytest.mark.parametrize(
    ("simulated", "count", "helps"),
    [
        ([111, 90], 1, False),
        ([110, 99, 108, 109, 90], 4, True),
        ([110, 90], 2, True),
        ([109, 108, 107], 3, True),
    ],
)
def test_a_pruning_ends_at_a_far_slower_schedule(
    simulated: list[int], count: int, helps: bool
) -> None:
    """It is compared with the fastest of its own, and with the layers in turn."""
    assert scripted(simulated) == (helps, count)


def test_a_pruning_ends_after_long_simulations() -> None:
    """A first schedule is always simulated."""
    half = ios.Ios().instructions // 2
    assert scripted([99, 98, 97], half - 1) == (True, 3)
    assert scripted([99, 98, 97], half) == (True, 2)
    assert scripted([99, 98, 97], 9 * half) == (True, 1)
    assert scripted([99, 98, 97], 9 * half, 40 * half) == (True, 3)
    assert scripted([99, 98, 97], 5, budget=10) == (True, 2)


def test_a_block_with_too_many_stages_is_scheduled_greedily() -> None:
    plan = planned("parallel", 4, COSTS, states="1")
    assert plan.notes == (ios.TOO_WIDE.format(count=1),)
    assert stages_of(plan) == [["a", "b", "c"], ["d"], ["z"]]
    assert {each.rule for each in plan.decisions} == {stage_plans.RULE_FIXED}
    two = planned("parallel", 4, COSTS, s="2", states="1")
    assert max(map(len, stages_of(two))) <= 2


@pytest.mark.parametrize("level", ["sequential", "greedy", "parallel"])
@pytest.mark.parametrize("chip", ["stcp920", "generic-4x4"])
def test_it_replays(chip: str, level: str) -> None:
    request = RunRequest("branches", f"ios:{level}@1", chip, 1, verify=True)
    report = run_report(branches(), request)
    assert report.contract["verify"]["ok"]  # type: ignore[index]


@pytest.mark.parametrize("chip", ["stcp920", "generic-4x4"])
@pytest.mark.parametrize(
    "model",
    ["branches", *(pytest.param(each, marks=SLOW) for each in LARGE)],
)
def test_searched_stages_are_no_slower_than_the_others(model: str, chip: str) -> None:
    """Parallel before greedy before sequential; a larger pruning is never worse.

    With few trials: Inception-v3 takes half a minute.
    """
    in_turn, greedily = (
        cycles(model, chip, f"ios:{level}@1") for level in ("sequential", "greedy")
    )
    searched = cycles(model, chip, "ios@1", trials=TRIALS)
    assert searched <= min(in_turn, greedily)
    assert greedily < in_turn
    smaller = [
        cycles(model, chip, "ios@1", r=r, s=s, trials=TRIALS) for r, s in (("1", "2"), ("2", "2"))
    ]
    assert searched <= smaller[1] <= smaller[0]


def test_the_search_says_how_far_it_is() -> None:
    """Up to four plans for the layers' cycles, two schedules, 5 + 1 per pruning: (1, 2), (2, 2)."""
    found: list[Progress] = []
    options = {"ios.r": "2", "ios.s": "2", "ios.trials": "5"}
    request = RunRequest("branches", "ios@1", "generic-4x4", 1, options=options)
    run_shared(Imports(branches()), request, on_progress=found.append)
    counted = [each for each in found if each.total]
    assert {each.total for each in counted} == {18}
    assert {each.step for each in counted} == {"search"}
    assert [each.done for each in counted] == list(range(1, len(counted) + 1))
    assert len(counted) > 2


def test_levels_without_a_search_count_few_plans() -> None:
    """`greedy` needs the layers' cycles on parts of the cores."""
    assert ios.Ios(level="greedy").evaluations == 4
    assert ios.Ios(level="sequential").evaluations == 1
