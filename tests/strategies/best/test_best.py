"""`best`: never slower than what it begins with, at one cluster batch and over several."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from graphturbo_core import best_rounds
from graphturbo_core.best_rounds import CLUSTER_BATCHES, choose_rounds
from graphturbo_core.errors import CapacityError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import Imports, RunRequest, run_report, run_shared
from graphturbo_core.products.plan import Plan
from graphturbo_core.report.report import Report
from graphturbo_core.rounds import round_cycles
from graphturbo_core.strategies.best.strategy import Best
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.batching import divide_batch
from graphturbo_core.strategies.steps.kernels import PlanCost, Target
from tests.strategies.chains import FEED_FORWARD
from tests.strategies.plus.plans import spent
from tests.strategies.samples import hardware, weighted

SAMPLE, CHIP, BATCH = "teaching-resnet", "generic-4x4", 64


def report(strategy: str, **choices: object) -> Report:
    request = RunRequest(SAMPLE, strategy, CHIP, BATCH, has_pictures=False, **choices)
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


def test_cluster_batches_that_are_not_searched_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The closed form is made to prefer small rounds, which are slow, and no search gains."""
    monkeypatch.setattr(Best, "estimated_cycles", lambda _, target: samples_of(target) ** 2)
    monkeypatch.setattr(Best, "plan", Best.first_plan)
    best = report("best").contract
    others = [report(f"graphturbo@{size}").contract["cycles"] for size in (1, 2, 4, 8, 16)]
    assert best["cycles"] <= min(others) < min(others[:2])
    monkeypatch.setattr(best_rounds, "MUCH", 1)
    assert report("best").contract["cycles"] > min(others)


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
    assert parts == [(done, 10) for done in range(10)]
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
