"""What a run of a comparison simulated is not simulated again, and changes no number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import pytest

from graphturbo_core import rounds, trial_cache
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.importer import ImportOptions, import_model
from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.lowering.lower import lower
from graphturbo_core.pipeline import RunRequest, run_report, run_reports
from graphturbo_core.products.cooperation import Cooperation
from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import DESCRIPTIVE_FIELDS, Plan
from graphturbo_core.products.program import Program
from graphturbo_core.products.scheduling import BY_LAYER
from graphturbo_core.semantics.table import analyse
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.trial_cache import KnownTrial, TrialCache
from tests.strategies.plans import make_plan

MODEL = "teaching-resnet"


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Plan]]:
    """The plans that were lowered, in order."""
    plans: list[Plan] = []

    def noted(plan: Plan, *rest: object, **named: object) -> Program:
        plans.append(plan)
        return lower(plan, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(trial_cache, "lower", noted)
    yield plans


@pytest.fixture(scope="module")
def plan() -> Plan:
    semantics = analyse(import_model(load_sample(MODEL), ImportOptions(MODEL, 2)))
    return make_plan(
        parse_strategy("graphturbo"), semantics, load_profile("generic-4x4"), "fp16", {}
    )


# With 8 samples on 4 x 4 cores no plan is faster than `:full`'s, whose Trace a comparison does not
# cache for its next run. With 1 sample on stcp920 one plan is faster; it is evaluated and chosen.
@pytest.mark.parametrize(
    ("chip", "batch", "alone", "beside"), [("generic-4x4", 8, 1, 2), ("stcp920", 1, 2, 2)]
)
def test_a_comparison_lowers_a_plan_once(
    lowered: list[Plan], chip: str, batch: int, alone: int, beside: int
) -> None:
    full = RunRequest(MODEL, "graphturbo:full", chip, batch)
    plus = replace(full, strategy="graphturbo:plus")
    by_itself = run_report(load_sample(MODEL), plus)
    assert len(lowered) == alone
    lowered.clear()
    _, second = run_reports(load_sample(MODEL), [full, plus])
    assert len(lowered) == beside
    clocks = ("steps", "schedule_seconds")
    assert {name: value for name, value in second.contract.items() if name not in clocks} == {
        name: value for name, value in by_itself.contract.items() if name not in clocks
    }


def test_the_first_of_the_cheapest_is_cached(lowered: list[Plan], plan: Plan) -> None:
    slow = replace(plan, scheduling=BY_LAYER)
    trials = TrialCache(DEFAULT_LIMITS, None)
    for each in (slow, plan, slow):
        trials.cost(each)
    assert len(lowered) == 2
    said = replace(plan, notes=("said afterwards",))
    program = trials.lowered(said)
    trace = trials.simulated(program)
    assert len(lowered) == 2
    assert (program.plan, trace.program) == (said, program)
    assert trace.makespan == simulate(lower(plan)).makespan
    trials.lowered(slow)
    assert len(lowered) == 3


def test_no_trace_is_cached_that_will_not_be_chosen(lowered: list[Plan], plan: Plan) -> None:
    """Not where another run's plan is faster, not for a replay, and not after its first use."""
    slow = replace(plan, scheduling=BY_LAYER)
    known: list[KnownTrial] = []
    TrialCache(DEFAULT_LIMITS, None, known).note(simulate(lower(plan)))
    others = (
        TrialCache(DEFAULT_LIMITS, None, known),
        TrialCache(DEFAULT_LIMITS, None, has_trace=False),
    )
    for trials in others:
        lowered.clear()
        trials.cost(plan)
        trials.cost(slow)
        lowered_so_far = len(lowered)
        trials.lowered(slow)
        trials.lowered(plan)
        assert len(lowered) == lowered_so_far + 2
    trials = TrialCache(DEFAULT_LIMITS, None)
    trials.cost(plan)
    trials.simulated(trials.lowered(plan))
    lowered.clear()
    trials.lowered(plan)
    assert lowered == [plan]


def test_a_cost_counts_the_simulated_instructions(plan: Plan) -> None:
    trials = TrialCache(DEFAULT_LIMITS, None)
    cost = trials.cost(plan)
    assert cost is not None
    assert cost.instructions == trials.lowered(plan).size > len(plan.kernels)


def test_known_costs_apply_to_the_same_cap_only(lowered: list[Plan], plan: Plan) -> None:
    known: list[KnownTrial] = []
    TrialCache(DEFAULT_LIMITS, None, known).note(simulate(lower(plan)))
    asked = replace(plan, strategy="another")
    assert TrialCache(DEFAULT_LIMITS, None, known).cost(asked) == known[0].cost
    assert lowered == []
    for _ in range(2):
        assert TrialCache(DEFAULT_LIMITS, 2_000_000, known).cost(asked) == known[0].cost
        assert len(lowered) == 1


def test_a_refusal_is_cached_too_up_to_a_number_of_plans(
    lowered: list[Plan], plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_cache, "MOST_KNOWN", 1)
    small = replace(plan, hardware=replace(plan.hardware, lb_data_bytes=64))
    trials = TrialCache(DEFAULT_LIMITS, None)
    for each, times in ((small, 1), (small, 1), (plan, 2), (plan, 3)):
        assert (trials.cost(each) is None) == (each is small)
        assert len(lowered) == times


def test_plans_that_differ_in_texts_only_are_lowered_the_same(plan: Plan) -> None:
    others = {
        "semantics": analyse(replace(plan.semantics.graph)),
        "hardware": load_profile("stcp920"),
        "number_format": "int8",
        "layers": plan.layers[1:],
        "units": plan.units[1:],
        "groups": plan.groups[1:],
        "kernels": plan.kernels[1:],
        "scheduling": BY_LAYER,
        "rules": replace(plan.rules, tiles=7),
        "fixed": frozenset({"input"}),
        "fixed_pieces": frozenset({("input", 0)}),
        "feeding": replace(plan.feeding, tiles=1),
        "cooperation": Cooperation(2, (0,) * len(plan.kernels), tuple(range(len(plan.kernels)))),
        "stays": (GbRetention("stem/conv/weight", 0, 1, 32),),
    }
    assert others.keys() | DESCRIPTIVE_FIELDS == {each.name for each in fields(plan)}
    for name, value in others.items():
        assert not plan.is_lowered_as(replace(plan, **{name: value})), name
    assert plan.is_lowered_as(replace(plan, **{name: () for name in DESCRIPTIVE_FIELDS}))


def test_a_comparison_looks_at_each_graph_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch of 8 and a cluster's share of 2, which three strategies run; then a share of 1."""
    seen: list[tuple[str, int]] = []
    for name, place in (("analyse", 0), ("dependence_on_batch", 1)):
        real = getattr(rounds, name)

        def counted(*args: Any, real: Any = real, name: str = name, place: int = place) -> object:
            graph = getattr(args[place], "graph", args[place])
            seen.append((name, graph.tensors[graph.inputs[0]].shape[0]))
            return real(*args)

        monkeypatch.setattr(rounds, name, counted)
    names = ("tvm", "graphturbo:order", "graphturbo:full", "tvm@1")
    requests = [RunRequest("teaching-resnet", name, "generic-4x4", 8) for name in names]
    list(run_reports(load_sample("teaching-resnet"), requests))
    shares = [
        ("analyse", 2),
        ("dependence_on_batch", 2),
        ("analyse", 1),
        ("dependence_on_batch", 1),
    ]
    assert seen == [("analyse", 8), *shares]
