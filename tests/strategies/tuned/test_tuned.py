"""The search: what it starts with, what it finds, what it counts, and that a seed is a walk."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache

import pytest

from graphturbo_core.errors import InvariantError, OptionError, PlanError
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.lowering.lower import lower
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.products.scheduling import ACROSS_LAYERS, BY_LAYER
from graphturbo_core.report.report import Report
from graphturbo_core.semantics.cost import placed_on
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.plan_files.edits import Edits
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.plan_files.record import recorded
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.steps.binding import Binder, plain_by_kind
from graphturbo_core.strategies.steps.kernels import PlanCost, Target
from graphturbo_core.strategies.tuned.making import Maker
from graphturbo_core.strategies.tuned.space import SearchSpace
from graphturbo_core.strategies.tuned.starts import find_starts
from graphturbo_core.strategies.tuned.trials import Cost, identity
from tests.lowering.nets import chip, small_model
from tests.models import model_bytes
from tests.strategies.chains import CHAIN
from tests.strategies.samples import plan_of, sample_semantics, weighted
from tests.strategies.tuned.makers import TUNED, made_up


def searched(
    cost: Cost, evaluations: int, seed: int = 0, sem: GraphSemantics | None = None
) -> Plan:
    options = {"tuned.evaluations": str(evaluations), "tuned.seed": str(seed)}
    semantics = weighted(CHAIN) if sem is None else sem
    task = PlanTask(semantics, chip("generic-4x4"), "fp16", options, cost=cost)
    plan = plan_for(TUNED, task)
    plan.check()
    return plan


def real_cost(plan: Plan) -> int:
    return simulate(lower(plan)).makespan


def real_spent(plan: Plan) -> PlanCost:
    return PlanCost(real_cost(plan), ())


def numbers(plan: Plan) -> dict[str, object]:
    """What the first decision says was done."""
    return dict(plan.decisions[0].numbers)


def test_it_finds_the_best_point_of_a_tiny_space() -> None:
    """graphturbo merges both products into one group of 1 piece, and holds w2 in LB: 100.

    The best that a schedule can have is 100 - 10 - 10 - 10 = 70: a group each, the first in 4
    pieces (1, 2, 4 and 8 divide its 8 rows: two steps from 1), w2 streamed. No start and no
    decision for the whole model cuts the first group alone.
    """
    plan = searched(made_up, 80)
    assert [(group.ops, group.pieces) for group in plan.groups] == [(("m",), 4), (("y",), 1)]
    assert made_up(plan).cycles == 70
    assert (plan.strategy, plan.scheduling) == ("tuned", ACROSS_LAYERS)
    assert (numbers(plan)["cycles"], numbers(plan)["cycles_of_full"]) == (70, 100)


def test_it_says_what_is_otherwise_than_in_full() -> None:
    plan = searched(made_up, 80)
    told = [
        (d.rule.split(" differently")[0], d.subject, dict(d.numbers)) for d in plan.decisions[1:]
    ]
    groups = [
        {"layers": 1, "first": op, "last": op, "pieces": pieces, "axis": 0, "of_full": "g1"}
        for op, pieces in (("m", 4), ("y", 1))
    ]
    said = [(rule, subject, {**said, "axis": 0}) for rule, subject, said in told[:2]]
    assert said == [("groups layers", (f"g{n + 1}",), groups[n]) for n in range(2)]
    rule, subject, held = told[-1]
    assert (rule, "w2" in subject, held["held"]) == (
        "has other weight residencies than graphturbo:full",
        True,
        "stream",
    )


@pytest.mark.parametrize(
    ("model", "profile"),
    [
        pytest.param("resnet50-slim", "stcp920", marks=pytest.mark.slow),
        ("teaching-resnet", "goya"),
        ("teaching-resnet", "generic-4x4"),
    ],
)
def test_the_first_points_are_the_plans_of_graphturbo(model: str, profile: str) -> None:
    """`:full`, then `:order`; its options are among the next."""
    sem = sample_semantics(model, 16)
    seen: list[Plan] = []

    def cost(plan: Plan) -> PlanCost:
        seen.append(plan)
        return PlanCost(len(seen), ())

    task = PlanTask(sem, chip(profile), "fp16", {"tuned.evaluations": "12"}, cost=cost)
    plan_for(TUNED, task)
    keys = [identity(plan) for plan in seen]
    assert keys[0] == identity(plan_of(sem, "graphturbo:full", chip(profile)))
    assert keys[1] == identity(plan_of(sem, "graphturbo:order", chip(profile)))
    for name, value in (
        ("fit", "cluster"), ("blocks", "none"), ("best", "fewest-pieces"),
        ("candidates", "literal"), ("peak", "literal"),
    ):  # fmt: skip
        option = {f"graphturbo.{name}": value}
        assert identity(plan_of(sem, "graphturbo", chip(profile), option)) in keys, name


@pytest.mark.parametrize(
    ("model", "budget"),
    [
        ("resnet", 8),
        pytest.param("densenet", 3, marks=pytest.mark.slow),
        pytest.param("mobilenet", 3, marks=pytest.mark.slow),
    ],
)
def test_it_is_never_worse_than_full(model: str, budget: int) -> None:
    """Simulated on a chip so small that plans spill; better than `:full` by at least a cycle.

    As many evaluations as do: the first better plan is the 8th, the 3rd and the 3rd.
    """
    sem, tiny = small_model(model), chip("tiny")
    task = PlanTask(sem, tiny, "fp16", {"tuned.evaluations": str(budget)}, cost=real_spent)
    plan = plan_for(TUNED, task)
    plan.check()
    full = real_cost(plan_of(sem, "graphturbo:full", tiny))
    assert numbers(plan)["cycles_of_full"] == full
    assert numbers(plan)["cycles"] == real_cost(plan) < full


@pytest.mark.parametrize("evaluations", [1, 2, 9, 30])
def test_the_budget_is_kept_exactly(evaluations: int) -> None:
    sem, seen = sample_semantics("teaching-resnet", 16), []

    def cost(plan: Plan) -> PlanCost:
        seen.append(identity(plan))
        return PlanCost(len(seen), ())

    plan = searched(cost, evaluations, sem=sem)
    assert len(seen) == len(set(seen)) == numbers(plan)["evaluated"] == evaluations
    assert numbers(plan)["cycles"] == numbers(plan)["cycles_of_full"] == 1


def test_a_space_that_is_used_up_ends_the_search() -> None:
    """One product of one row on a chip without a choice of order: fewer plans than the budget."""
    sem = weighted("net (float[1, 16] x, float[16, 32] w) => (float[1, 32] y) {y = MatMul(x, w)}")
    plan = searched(lambda plan: PlanCost(1, ()), 200, sem=sem)
    assert 1 < int(str(numbers(plan)["evaluated"])) < 20


def test_refused_points_count_and_are_not_taken() -> None:
    """Here all plans of more than one kernel are refused."""
    seen: list[bool] = []

    def cost(plan: Plan) -> PlanCost | None:
        seen.append(len(plan.kernels) > 1)
        return None if seen[-1] else PlanCost(1000 - len(seen), ())

    plan = searched(cost, 20)
    assert numbers(plan)["refused"] == sum(seen) > 0
    assert numbers(plan)["evaluated"] == len(seen) == 20
    assert len(plan.kernels) == 1


def test_where_all_is_refused_the_plan_is_that_of_full() -> None:
    plan = searched(lambda plan: None, 5)
    full = plan_of(weighted(CHAIN), "graphturbo:full", chip("generic-4x4"))
    assert identity(plan) == identity(full)
    said = {"evaluated": 5, "refused": 5, "seed": 0}
    assert numbers(plan) == {**said, "cycles": "refused", "cycles_of_full": "refused"}
    assert len(plan.decisions) == 1


def walk(seed: int) -> list[object]:
    """The plans that a search looks at, in order."""
    seen: list[object] = []

    def cost(plan: Plan) -> PlanCost:
        seen.append(identity(plan))
        return PlanCost(len(plan.kernels), ())

    searched(cost, 40, seed)
    return seen


def test_a_seed_is_a_walk() -> None:
    first = walk(0)
    assert first == walk(0)
    assert first != walk(1)


SAMPLE = "teaching-resnet"


@cache
def found() -> Report:
    """A run with its search, which tests share."""
    return requested()


def requested(plan: str = "", **changes: object) -> Report:
    options = {"tuned.evaluations": "4"}
    request = RunRequest(
        SAMPLE, "tuned@4", "generic-4x4", 12, options=options, plan=plan, emit=("plan",), **changes
    )  # type: ignore[arg-type]
    return run_report(load_sample(SAMPLE), request)


@pytest.mark.slow
def test_a_plan_file_is_taken_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    first = found()
    text = first.text("plan")
    assert requested().text("plan") == text
    monkeypatch.setitem(sys.modules, "optuna", None)
    again = requested(text)
    assert again.text("plan") == text
    assert again.contract["cycles"] == first.contract["cycles"]
    with pytest.raises(OptionError, match=r"NO_OPTUNA|tuned. needs Optuna, which is not installed"):
        requested()


def test_what_it_finds_replays() -> None:
    """The plan of the search, out of its file."""
    verified = requested(found().text("plan"), verify=True).contract["verify"]
    assert (verified["ran"], verified["ok"]) == (True, True)


WHOLE = {"start": "layers whole"}
HALVES = {**WHOLE, "pieces": "one more"}


@pytest.mark.parametrize(
    ("point", "is_so"),
    [
        ({"start": "order"}, lambda plan: plan.scheduling == BY_LAYER),
        (WHOLE | {"weights": "GB"}, lambda plan: plan.kernels[0].residency["w1"] is Residency.GB),
        (WHOLE | {"hand on": "GB"}, lambda plan: not plan.kernels[0].kept),
        (WHOLE, lambda plan: plan.kernels[0].kept == {"m"}),
        (
            WHOLE | {"axis 1": "1", "pieces 1": "one more"},
            lambda plan: [(g.split_axis, g.pieces) for g in plan.groups] == [(-1, 1), (1, 2)],
        ),
        (HALVES, lambda plan: names(plan) == "g1/2 g2/2 g1/1 g2/1"),
        (HALVES | {"order 1": "waits"}, lambda plan: names(plan) == "g1/2 g1/1 g2/2 g2/1"),
        (
            HALVES | {"order": "depth first, lowest piece first"},
            lambda plan: names(plan) == "g1/1 g2/1 g1/2 g2/2",
        ),
        (HALVES | {"order": "breadth first"}, lambda plan: names(plan) == "g1/1 g1/2 g2/1 g2/2"),
        (
            HALVES | {"order": "breadth first, back and forth"},
            lambda plan: names(plan) == "g1/1 g1/2 g2/2 g2/1",
        ),
    ],
)
def test_each_decision_is_in_the_plan_and_restored(
    point: dict[str, str], is_so: Callable[[Plan], bool]
) -> None:
    """Two products, each a layer: class 0 is m's, class 1 y's; 8 rows, 2 pieces are one step."""
    hardware, sem = chip("generic-4x4"), weighted(CHAIN)
    target = Target(
        placed_on(sem, hardware, "fp16"), hardware, "fp16", Binder(hardware.cores, plain_by_kind)
    )
    layers = layer_graph(sem, relay_layers(sem), "fp16")
    maker = Maker(target, SearchSpace(layers, hardware, tuple(find_starts(target))))
    plan = maker.plan(maker.draft(point))
    plan.check()
    assert is_so(plan)
    task = PlanTask(plan.semantics, plan.hardware, "fp16", {}, PinnedPlan(recorded(plan)))
    assert plan_for(TUNED, task) == plan
    assert real_cost(plan) > 0


def names(plan: Plan) -> str:
    """The kernels in order."""
    return " ".join(kernel.name for kernel in plan.kernels)


def test_a_plan_file_says_whether_layers_are_scheduled_together() -> None:
    report = found()
    rounds = read_plan(report.text("plan").encode(), "it").rounds
    assert [record.is_scheduled_across_layers for record in rounds.values()] == [True]
    request = RunRequest(SAMPLE, "graphturbo", "generic-4x4", 4, emit=("plan",))
    assert "across_layers" not in run_report(load_sample(SAMPLE), request).text("plan")


def test_edits_are_refused() -> None:
    held = PinnedPlan(None, Edits(pieces={"m": 2}))
    task = PlanTask(weighted(CHAIN), chip("tiny"), "fp16", {}, held, lambda plan: 1)
    with pytest.raises(PlanError, match="searches and follows no edits"):
        plan_for(TUNED, task)


def test_without_a_cost_it_is_our_bug() -> None:
    with pytest.raises(InvariantError, match="needs a cost function"):
        plan_for(TUNED, PlanTask(weighted(CHAIN), chip("tiny"), "fp16", {}))


def test_progress_is_told() -> None:
    told: list[str] = []
    options = {"tuned.evaluations": "10"}
    request = RunRequest("chain", "tuned", "generic-4x4", options=options)
    run_report(model_bytes(CHAIN), request, on_step=lambda name, _: told.append(name))
    searches = [name.split(" %")[0] for name in told if name.startswith("search")]
    assert searches == [f"search: {tenth}0" for tenth in range(1, 11)]
