"""`best`: never slower than what it begins with, at one cluster batch and over several."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest

from graphturbo_core import best_rounds
from graphturbo_core.best_rounds import CLUSTER_BATCHES, choose_rounds
from graphturbo_core.errors import CapacityError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.profile import read_profile
from graphturbo_core.pipeline import Imports, RunRequest, run_report, run_shared
from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.report.bounds.bounds import round_bound
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.partition.compared_batches import compared_batch_rows
from graphturbo_core.rounds import Rounds, divide, round_cycles
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies import compared_batches
from graphturbo_core.strategies.best.strategy import Best
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.batching import divide_batch
from graphturbo_core.strategies.steps.kernels import OnceValues, PlanCost, Target
from graphturbo_core.trial_cache import TrialCache
from tests.strategies.chains import FEED_FORWARD
from tests.strategies.plus.plans import spent
from tests.strategies.samples import hardware, weighted

SAMPLE, CHIP, BATCH = "teaching-resnet", "generic-4x4", 64
FAR = 10**6
"""Cycles beyond those of any round here."""


def report(strategy: str, batch: int = BATCH, **choices: object) -> Report:
    request = RunRequest(SAMPLE, strategy, CHIP, batch, has_pictures=False, **choices)
    return run_report(load_sample(SAMPLE), request)


def or_refused(plan: Plan) -> PlanCost | None:
    try:
        return spent(plan)
    except CapacityError:
        return None


def test_planned_groupings_are_among_its_proposals() -> None:
    """Its proposals are `:full`, those of the dynamic program, and others.

    Here the plan of least traffic is that of least time by closed forms too.
    """
    sem, chip = weighted(FEED_FORWARD), hardware()
    plans = {
        name: plan_for(parse_strategy(name), PlanTask(sem, chip, "fp16", {}, cost=or_refused))
        for name in ("graphturbo:full", "graphturbo:plus", "best")
    }
    cycles = {name: spent(plan).cycles for name, plan in plans.items()}
    assert cycles["best"] <= cycles["graphturbo:plus"] <= cycles["graphturbo:full"]
    tried = [d.subject[0] for d in plans["best"].decisions if d.step == "plus"]
    assert tried[:2] == ["full", "least traffic"]
    assert "planned 1" not in tried
    assert plans["best"].strategy == "best"
    plans["best"].check()


def test_layers_alone_are_evaluated_where_all_else_is_refused() -> None:
    """Their programs are the shortest: FEED_FORWARD's cost is refused to kernels of two layers."""
    sem, chip = weighted(FEED_FORWARD), hardware()

    def short_alone(plan: Plan) -> PlanCost | None:
        is_short = all(len(group.layers) == 1 and group.pieces == 1 for group in plan.groups)
        return spent(plan) if is_short else None

    for cost, is_tried in ((short_alone, True), (or_refused, False)):
        plan = plan_for(parse_strategy("best"), PlanTask(sem, chip, "fp16", {}, cost=cost))
        tried = [d.subject[0] for d in plan.decisions if d.step == "plus"]
        assert ("layers alone" in tried) is is_tried
        assert (len(plan.groups) == len(plan.layers)) is is_tried


def test_each_sub_graph_says_what_the_next_best_decision_would_have_cost() -> None:
    request = RunRequest(SAMPLE, "best@4", CHIP, BATCH)
    found = run_report(load_sample(SAMPLE), request)
    rows, groups = found.tables["next_best"], found.tables["groups"]
    assert [row["group"] for row in rows] == [group["index"] for group in groups]
    for row in rows:
        assert (row["how"] == "divided") == (row["groups"] > 1)
        assert row["more_cycles"] < found.contract["cycles"]


@pytest.mark.slow
def test_the_plan_of_least_traffic_may_be_the_fastest() -> None:
    """By closed forms of time another one is, which takes 1.5 times as long when simulated."""
    request = RunRequest("light-squeezenet", "best@2", "generic-4x4", 8, has_pictures=False)
    decisions = run_report(load_sample("light-squeezenet"), request).tables["decisions"]
    tried = {row["subject"]: row for row in decisions if row["step"] == "plus"}
    assert list(tried)[:3] == ["full", "least traffic", "planned 1"]
    cycles = {name: int(re.sub(r"\D", "", tried[name]["numbers"])) for name in list(tried)[:3]}
    assert cycles["planned 1"] > 1.3 * cycles["least traffic"]
    (taken,) = (name for name, row in tried.items() if row["taken"])
    assert taken.startswith("least traffic")


def test_the_cluster_batch_is_the_fastest_of_all() -> None:
    best = report("best").contract
    others = [report(f"graphturbo@{size}").contract for size in (1, 2, 4, 8, 16)]
    others += [report(f"tvm@{size}").contract for size in (1, 2, 4, 8, 16)]
    assert best["cycles"] <= min(each["cycles"] for each in others)
    assert best["strategy"] == f"best@{best['cluster_batch']}"
    assert best["cycles"] <= report(best["strategy"]).contract["cycles"]


@pytest.mark.parametrize("batch", [64, 24])
def test_the_report_says_why_this_cluster_batch(batch: int) -> None:
    """What was found of each; no schedule is below the bound of its cluster batch.

    With 24 samples, six per cluster, cluster batches share sizes of rounds.
    """
    best = report("best", batch=batch)
    rows, cycles = best.tables["compared_batches"], best.contract["cycles"]
    sizes = [row["cluster_batch"] for row in rows]
    assert sizes == list(dict.fromkeys(min(size, batch // 4) for size in CLUSTER_BATCHES))
    for row in rows:
        size, own, least = row["cluster_batch"], row["cycles"], row["least_cycles"]
        assert row["is_taken"] == (size == best.contract["cluster_batch"])
        assert own == cycles if row["is_taken"] else not own or own > cycles
        assert bool(own) == (row["status"] in {"searched", "first plan"})
        assert own or (least >= cycles) == (row["status"] == "bound")
        others = (report(f"{name}@{size}", batch=batch) for name in ("graphturbo", "tvm"))
        assert 0 < least <= min([own or FAR, *(each.contract["cycles"] for each in others)])
    said = [row for row in best.tables["decisions"] if row["step"] == compared_batches.STEP]
    assert [row["subject"] for row in said] == [f"best@{size}" for size in sizes]
    pairs = zip(rows, said, strict=True)
    assert all(f"at least {row['least_cycles']}," in each["numbers"] for row, each in pairs)
    assert "compared_batches" not in report("best@4", batch=batch).tables


def test_rounds_that_were_searched_for_another_cluster_batch_count_as_searched() -> None:
    """Ten samples on one cluster.

    In turn 10, 8 + 2 and 4 + 4 + 2 are looked at, the last by its first plan.
    """
    request = RunRequest("learn-net", "best", "learn-1x4", 10, has_pictures=False)
    rows = run_report(load_sample("learn-net"), request).tables["compared_batches"]
    found = {row["cluster_batch"]: row["status"] for row in rows}
    assert found == {1: "bound", 2: "searched", 4: "first plan", 8: "searched", 10: "searched"}


def test_traffic_is_compared_in_cycles_of_dram() -> None:
    best = report("best", options={"best.goal": "dram"})
    rows, cycles = best.tables["compared_batches"], best.contract["cycles"]
    assert all(row["is_traffic"] and not row["least_cycles"] for row in rows)
    (taken,) = (row for row in rows if row["is_taken"])
    moved = best.contract["dram_read_bytes"] + best.contract["dram_write_bytes"]
    chip = read_profile(CHIP, None)
    dram = chip.transfer_cycles(moved // chip.clusters, chip.dram_bandwidth)
    assert dram <= taken["cycles"] <= min(cycles, 1.01 * dram)
    assert 0.5 * dram < taken["closed_form_cycles"] < 2 * dram


@pytest.mark.parametrize(
    ("against", "status"),
    [(compared_batches.RULE_GAIN, "gain"), (compared_batches.RULE_PLAN, "plan bound"),
     (compared_batches.RULE_REFUSED, "refused")],
)  # fmt: skip
def test_a_cluster_batch_that_is_left_out_has_a_reason(
    monkeypatch: pytest.MonkeyPatch, against: str, status: str
) -> None:
    """Without bounds all are looked at, and from the third on that reason speaks against each."""
    bounded(monkeypatch, lambda samples: 0)
    monkeypatch.setattr(best_rounds._Comparison, "_reason_against", lambda *_: against)
    rows = report("best").tables["compared_batches"]
    left_out = [row for row in rows if not row["cycles"]]
    assert len(left_out) == len(rows) - best_rounds.MOST_SEARCHED
    assert {row["status"] for row in left_out} == {status}


def test_numbers_of_a_changed_plan_file_are_no_figures() -> None:
    """Below 0 they are unknown, and a cluster batch counts once."""
    rules = (compared_batches.RULE_FIRST, compared_batches.RULE_BOUND, "of another version")
    decisions = tuple(
        Decision(compared_batches.STEP, rule, (), False, {"cluster_batch": 4, "at_least": -5})
        for rule in rules
    )
    outcome: Any = SimpleNamespace(plan=SimpleNamespace(decisions=decisions))
    (row,) = compared_batch_rows(outcome)
    assert (row["status"], row["least_cycles"], row["cycles"]) == ("first plan", 0, 0)


def test_cluster_batches_that_are_not_searched_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The closed form is made to prefer small rounds, which are slow, and no search gains."""
    monkeypatch.setattr(Best, "estimated_cycles", lambda _, target: FAR * samples_of(target) ** 2)
    monkeypatch.setattr(Best, "plan", Best.first_plan)
    best = report("best").contract
    others = [report(f"graphturbo@{size}").contract["cycles"] for size in (1, 2, 4, 8, 16)]
    assert best["cycles"] <= min(others) < min(others[:2])
    monkeypatch.setattr(best_rounds, "MUCH", 1)
    assert report("best").contract["cycles"] > min(others)


def looked_at(monkeypatch: pytest.MonkeyPatch, name: str) -> list[int]:
    """Samples of the rounds for which a method of `Best` is called, in order."""
    seen: list[int] = []
    method = getattr(Best, name)

    def seeing(strategy: Best, target: Target) -> object:
        seen.append(samples_of(target))
        return method(strategy, target)

    monkeypatch.setattr(Best, name, seeing)
    return seen


def bounded(monkeypatch: pytest.MonkeyPatch, bound: Callable[[int], int]) -> None:
    """Have a round of n samples the lower bound `bound(n)`."""

    def of_round(sem: GraphSemantics, *_: object) -> int:
        return bound(sem.graph.tensors[sem.graph.inputs[0]].shape[0])

    monkeypatch.setattr(best_rounds, "round_bound", of_round)


def test_rounds_whose_bound_is_not_below_the_fastest_are_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The bound leaves 8 samples a round and none other; the closed form is not asked for it."""
    bounded(monkeypatch, lambda samples: 0 if samples == 8 else FAR * FAR)
    seen = {
        name: looked_at(monkeypatch, name) for name in ("estimated_cycles", "plan", "first_plan")
    }
    assert report("best").contract["strategy"] == "best@8"
    assert seen == {"estimated_cycles": [8], "plan": [8], "first_plan": []}
    bounded(monkeypatch, lambda samples: 0)
    report("best")
    assert {1, 2, 4, 16} < {*seen["estimated_cycles"]}


@pytest.mark.parametrize(
    ("first", "second", "searches"),
    [(10, 9, 2), (10, 10, 1), (10, 0, 2), (0, 10, 2), (10, CapacityError("SMALL", "no plan"), 2)],
)
def test_a_second_search_needs_a_faster_first_plan(
    monkeypatch: pytest.MonkeyPatch, first: int, second: int | CapacityError, searches: int
) -> None:
    """Cycles of the first plan of the rounds that were searched, and of others; 0: not lowered."""
    searched = looked_at(monkeypatch, "plan")

    def of_first_plan(comparison: best_rounds._Comparison, rounds: Rounds) -> int:
        if comparison._known([rounds]):
            return first
        if isinstance(second, CapacityError):
            raise second
        return second

    monkeypatch.setattr(best_rounds._Comparison, "_first_cycles", of_first_plan)
    report("best")
    assert len(searched) == searches


def test_a_goal_other_than_time_has_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cycles of traffic are compared, of which a bound of the time says nothing."""
    bounded(monkeypatch, lambda samples: FAR * FAR)
    seen = looked_at(monkeypatch, "estimated_cycles")
    report("best", options={"best.goal": "dram"})
    assert {*seen} == {1, 2, 4, 8, 16}


def test_what_was_simulated_for_the_choice_is_not_lowered_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lowered: list[Plan] = []
    real = TrialCache._lower
    monkeypatch.setattr(
        TrialCache, "_lower", lambda cache, plan: lowered.append(plan) or real(cache, plan)
    )
    report("best")
    assert not any(one.is_lowered_as(other) for one, other in combinations(lowered, 2))


@pytest.mark.parametrize("chip", ["stcp920", "generic-4x4", "learn-1x4"])
@pytest.mark.parametrize("batch", [1, 8])
def test_no_plan_of_a_round_is_below_its_bound(chip: str, batch: int) -> None:
    imports = Imports(load_sample(SAMPLE))
    for strategy in ("tvm@2", "graphturbo@2", "graphturbo:plus@4"):
        request = RunRequest(SAMPLE, strategy, chip, batch, has_pictures=False)
        spec = parse_strategy(strategy)
        rounds = divide(imports, request, (imports.whole(request), hardware(chip), spec))
        clusters = rounds.division.clusters_a_round
        least = {
            size: round_bound(sem, hardware(chip), ("fp16", clusters))
            for size, sem in rounds.semantics.items()
        }
        cycles = run_shared(imports, request).contract["cycles"]
        assert 0 < round_cycles(rounds.division, least) <= cycles


def samples_of(target: Target) -> int:
    graph = target.semantics.graph
    return graph.tensors[graph.inputs[0]].shape[0]


def test_its_plan_file_gives_the_same_run() -> None:
    found = report("best", emit=("plan",))
    again = report(found.contract["strategy"], plan=found.text("plan"))
    assert again.contract["program_sha256"] == found.contract["program_sha256"]


def test_an_edited_plan_is_followed() -> None:
    found = report("best@4", emit=("plan",))
    edited = found.text("plan").replace("  pieces: {}", "  pieces: {g1: 2}")
    assert report("best@4", plan=edited).tables["groups"][0]["pieces"] == 2


def test_one_sample_has_one_division() -> None:
    """All clusters may share it; the strategy is named with its cluster batch."""
    request = RunRequest(SAMPLE, "best", CHIP, 1, has_pictures=False)
    assert run_report(load_sample(SAMPLE), request).contract["strategy"] == "best@1"


def test_rounds_are_counted_by_the_cluster_that_takes_longest() -> None:
    """Ten samples on four clusters by two: two clusters have a round of 2 and one of 1."""
    division = divide_batch(10, 4, 2)
    assert division.round_sizes == (2, 1)
    assert round_cycles(division, {2: 100, 1: 60}) == 160
    assert round_cycles(division, {2: 100, 1: 0}) == 100


def test_parts_are_told_and_no_round_is_planned_twice() -> None:
    parts: list[tuple[int, int]] = []
    imports, request = Imports(load_sample(SAMPLE)), RunRequest(SAMPLE, "best", CHIP, BATCH)
    whole, chip = imports.whole(request), hardware(CHIP)
    chosen = choose_rounds(
        imports, request, (whole, chip, parse_strategy("best")),
        lambda done, total: parts.append((done, total)),
    )  # fmt: skip
    assert parts[0] == (0, 5)
    assert parts == sorted({*parts})
    assert all(done < total == 5 for done, total in parts)
    assert chosen.spec.cluster_batch in CLUSTER_BATCHES
    assert chosen.plans.keys() == chosen.rounds.semantics.keys()


def test_it_is_refused_where_no_cluster_batch_has_a_plan() -> None:
    small = replace(hardware(CHIP), lb_data_bytes=64, lb_weight_bytes=64)
    imports, request = Imports(load_sample(SAMPLE)), RunRequest(SAMPLE, "best", CHIP, BATCH)
    whole = imports.whole(request)
    with pytest.raises(CapacityError) as refused:
        choose_rounds(imports, request, (whole, small, parse_strategy("best")), lambda *_: None)
    assert refused.value.code == "NO_CLUSTER_BATCH"


def test_runs_of_a_comparison_share_what_they_cost() -> None:
    imports = Imports(load_sample(SAMPLE))
    first = run_shared(imports, RunRequest(SAMPLE, "graphturbo@4", CHIP, BATCH))
    best = run_shared(imports, RunRequest(SAMPLE, "best", CHIP, BATCH))
    assert best.contract["cycles"] <= first.contract["cycles"]


def test_what_is_computed_once_is_kept_per_function_and_key() -> None:
    once = OnceValues()
    made = [once.get(len, goal, lambda goal=goal: goal * 10) for goal in (1, 2, 1)]  # type: ignore[misc]
    assert made == [10, 20, 10]
    assert once.get(sum, 1, lambda: 3) == 3
    assert once.get(sum, 1, lambda: 4) == 3
