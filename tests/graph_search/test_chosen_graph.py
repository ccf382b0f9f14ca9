"""Runs of `taso-like`: the graph that is chosen, its options and decisions, and replays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

from graphturbo_core.errors import CapacityError, PlanError
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.graph_search import chosen_graph, round_costs
from graphturbo_core.graph_search.fastest_graph import REFUSED, SEARCH
from graphturbo_core.pipeline import (
    Imports,
    Progress,
    RunRequest,
    run_report,
    run_reports,
    run_shared,
)
from graphturbo_core.report.report import Report
from graphturbo_core.strategies.partitioners.taso_like import STEP, TasoLike
from tests.frontend.passes.branch_models import branches_file

GRAPH = "taso-like.graph"
UNCHANGED = {GRAPH: "unchanged"}
BODY = """c = Conv(x, w1) d = Conv(x, w2) p = Relu(c) q = Relu(d)
    e = Conv(y, w1) f = Conv<pads = [1,1,1,1]>(y, w3) r = Relu(e) s = Relu(f)"""
"""Two convolutions that can be one, and two that first need a larger kernel."""
DATA = branches_file(BODY, "p, q, r, s")
ASKED = RunRequest("branches", "taso-like@3", "generic-4x4", 28)
"""Seven samples per cluster: rounds of three, three and one."""


def report_of(request: RunRequest = ASKED, options: Mapping[str, str] | None = None) -> Report:
    return run_report(DATA, replace(request, options=options or {}))


def graph_option(report: Report) -> str:
    options: Mapping[str, str] = report.contract["options"]  # type: ignore[assignment]
    return options[GRAPH]


def cycles_of(report: Report) -> int:
    return int(str(report.contract["cycles"]))


def decisions(report: Report, step: str) -> list[tuple[object, ...]]:
    return [
        (row["subject"], row["taken"], row["numbers"])
        for row in report.tables["decisions"]
        if row["step"] == step
    ]


STEPS = "0.0.0"
"""A merge; a larger kernel, which is slower alone; the merge with it."""


@cache
def searched() -> Report:
    return report_of(replace(ASKED, emit=("plan", "program")))


def numbers_of(decision: tuple[object, ...]) -> dict[str, str]:
    """Numbers of a decision by name."""
    parts = str(decision[2]).split(", ")
    return {name: value for name, _, value in (part.rpartition(" ") for part in parts)}


def whole_graphs(report: Report) -> dict[str, dict[str, str]]:
    """Numbers of the graphs that were simulated as a whole, by their steps."""
    trials = decisions(report, SEARCH)
    found = [trial for trial in trials if "expected gain" in str(trial[2])]
    return {str(trial[0]): numbers_of(trial) for trial in found}


def segments(report: Report) -> dict[str, tuple[object, dict[str, str]]]:
    """Whether the graph has each simulated change, and its numbers, by subject and count."""
    trials = [trial for trial in decisions(report, SEARCH) if "before" in str(trial[2])]
    return {
        f"{trial[0]} {numbers_of(trial).get('convolutions', '')}".strip(): (
            trial[1],
            numbers_of(trial),
        )
        for trial in trials
    }


def test_merges_are_found_and_a_larger_kernel_where_a_merge_follows() -> None:
    """Convolutions that are one read their input once."""
    plain, found = report_of(options=UNCHANGED), searched()
    assert (graph_option(plain), graph_option(found)) == ("unchanged", STEPS)
    assert decisions(plain, STEP) == decisions(plain, SEARCH) == []
    assert decisions(found, STEP) == [
        ("c + d", True, "convolutions 2, channels 16"),
        ("e + f", True, "from 1x1, to 3x3"),
        ("e + f", True, "convolutions 2, channels 12"),
    ]
    changes = segments(found)
    assert list(changes) == ["c + d 2", "e + f", "e + f 2"]
    assert all(taken for taken, _ in changes.values())
    gains = {
        name: int(numbers["cycles before"]) - int(numbers["cycles"])
        for name, (_, numbers) in changes.items()
    }
    assert gains["c + d 2"] > 0 > gains["e + f"] and gains["e + f 2"] > -gains["e + f"]


def test_the_unchanged_graph_and_the_cheapest_ones_are_simulated_as_a_whole() -> None:
    """Six graphs: with the merge of `c` or without it; `e` as it is, 3x3, or merged."""
    plain, found = report_of(options=UNCHANGED), searched()
    whole = whole_graphs(found)
    assert list(whole)[:2] == ["unchanged", STEPS] and len(whole) == 4
    assert int(whole["unchanged"]["cycles"]) == cycles_of(plain)
    assert int(whole[STEPS]["cycles"]) == cycles_of(found)
    assert cycles_of(found) == min(int(numbers["cycles"]) for numbers in whole.values())
    gains = [int(numbers["expected gain"]) for numbers in whole.values()][1:]
    assert gains == sorted(gains, reverse=True)


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_whole_graph_has_the_cycles_of_its_own_run(place: int) -> None:
    """Rounds of three and of one sample, on the cluster that has most."""
    steps, numbers = list(whole_graphs(searched()).items())[place]
    assert cycles_of(report_of(options={GRAPH: steps})) == int(numbers["cycles"])


@pytest.mark.parametrize("profile", ["generic-4x4", "stcp920", "goya", "ascend910"])
def test_expected_gains_are_those_of_whole_graphs(profile: str) -> None:
    """One round of one sample: expected and simulated cycles differ by 1 % of them at most."""
    request = replace(ASKED, strategy="taso-like@1", batch=1, profile=profile)
    whole = whole_graphs(report_of(request))
    before = int(whole["unchanged"]["cycles"])
    for numbers in whole.values():
        expected = before - int(numbers["expected gain"])
        assert expected == pytest.approx(int(numbers["cycles"]), rel=0.01)


def test_the_found_steps_give_the_same_run_without_a_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Plan files differ in the decisions of the search alone."""
    monkeypatch.setattr(chosen_graph, "GraphSearch", None)
    found, request = searched(), replace(ASKED, emit=("plan", "program"))
    again = report_of(request, {GRAPH: STEPS})
    assert again.text("program") == found.text("program")
    assert again.contract["options"] == found.contract["options"]
    plans = [read_plan(report.text("plan").encode(), "a plan") for report in (again, found)]
    assert plans[0].origin == plans[1].origin
    first, second = (plan.pinned_plan(3).record for plan in plans)
    assert first is not None and second is not None
    kept = tuple(each for each in second.decisions if each.step != SEARCH)
    assert first == replace(second, decisions=kept)


def test_a_plan_file_is_run_again_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """It belongs to the found graph."""
    monkeypatch.setattr(chosen_graph, "GraphSearch", None)
    request = replace(ASKED, plan=searched().text("plan"))
    again = report_of(request, {GRAPH: STEPS})
    assert cycles_of(again) == cycles_of(searched())
    assert decisions(again, SEARCH) == decisions(searched(), SEARCH)
    with pytest.raises(PlanError, match="the plan is for options"):
        report_of(request)


def test_two_runs_are_equal() -> None:
    first, second = searched(), report_of(replace(ASKED, emit=("plan", "program")))
    assert first.text("plan") == second.text("plan")
    assert decisions(first, SEARCH) == decisions(second, SEARCH)


@pytest.mark.parametrize(
    ("budget", "steps"),
    [(1, ["unchanged"]), (2, ["unchanged", "0"]), (3, ["unchanged", "0", "0.0"])],
)
def test_the_budget_counts_graphs(budget: int, steps: list[str]) -> None:
    """The second graph is faster than the unchanged one, the third is not."""
    report = report_of(options={"taso-like.budget": str(budget)})
    assert list(whole_graphs(report)) == steps
    assert graph_option(report) == ("0" if budget > 1 else "unchanged")


SITES = """c = Conv(x, w1) d = Conv(x, w1) p = Relu(c) q = Relu(d)
    e = Conv(y, w1) f = Conv(y, w1) r = Relu(e) s = Relu(f)"""
"""Two equal merges."""


def test_seeds_take_different_graphs_and_equal_segments_are_simulated_once() -> None:
    found = {}
    for seed in range(6):
        options = {"taso-like.budget": "2", "taso-like.seed": str(seed)}
        request = replace(ASKED, strategy="taso-like@1", batch=1, options=options)
        data = branches_file(SITES, "p, q, r, s")
        reports = [run_report(data, request) for _ in range(2 if seed < 2 else 1)]
        assert len({graph_option(report) for report in reports}) == 1
        assert list(segments(reports[0])) == ["c + d 2"]
        found[seed] = graph_option(reports[0])
    assert found[0] == "0" and set(found.values()) == {"0", "1"}


def test_the_progress_grows_to_its_end() -> None:
    """Matches of the unchanged graph, taken graphs, whole graphs: a hundred parts each."""
    seen: list[Progress] = []
    run_shared(Imports(DATA), ASKED, on_progress=seen.append)
    parts = [(each.done, each.total) for each in seen if each.step == SEARCH and each.total]
    assert {total for _, total in parts} == {300}
    done = [part for part, _ in parts]
    assert done == sorted(done) and done[-1] == 300
    assert {50, 100} <= set(done), "of two matches"
    assert {225, 250, 275, 300} <= set(done), "of four whole graphs"


def test_without_alpha_no_slower_graph_is_changed_further() -> None:
    report = report_of(options={"taso-like.alpha": "0"})
    assert graph_option(report) == "0"
    assert [(name, taken) for name, (taken, _) in segments(report).items()] == [
        ("c + d 2", True), ("e + f", False),
    ]  # fmt: skip


@pytest.mark.parametrize("profile", ["generic-4x4", "stcp920", "goya"])
def test_what_is_found_replays(profile: str) -> None:
    contract = report_of(replace(ASKED, profile=profile, verify=True)).contract
    found: dict[str, object] = dict(contract["verify"])  # type: ignore[call-overload]
    assert found["ok"], found


def test_a_model_that_is_refused_is_refused_as_without_a_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refusing(*_: object) -> object:
        raise CapacityError("TOO_MANY_PIECES", "refused here")

    monkeypatch.setattr(round_costs, "plan_for", refusing)
    report = report_of()
    assert graph_option(report) == "unchanged"
    assert decisions(report, SEARCH) == []


def test_a_refused_graph_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    plan_for = round_costs.plan_for

    def refusing(*args: object) -> object:
        plan = plan_for(*args)  # type: ignore[arg-type]
        if "c/merged" in plan.semantics.graph.op_by_name:
            raise CapacityError("TOO_MANY_PIECES", "refused here")
        return plan

    monkeypatch.setattr(round_costs, "plan_for", refusing)
    report = report_of()
    assert graph_option(report) == "1.1"
    trials = decisions(report, SEARCH)
    assert {trial[0] for trial in trials if REFUSED in str(trial[2])} == {"c + d"}


def test_a_graph_that_is_refused_as_a_whole_is_not_the_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its segments are accepted. The segment of the merge alone has one input."""
    plan_for = round_costs.plan_for

    def refusing(*args: object) -> object:
        plan = plan_for(*args)  # type: ignore[arg-type]
        graph = plan.semantics.graph
        if "c/merged" in graph.op_by_name and len(graph.inputs) > 1:
            raise CapacityError("TOO_MANY_PIECES", "refused here")
        return plan

    monkeypatch.setattr(round_costs, "plan_for", refusing)
    report = report_of()
    whole = whole_graphs(report)
    assert whole[STEPS]["cycles"] == REFUSED
    assert graph_option(report) in whole and whole[graph_option(report)]["cycles"] != REFUSED


def test_runs_of_a_comparison_share_the_unchanged_graph() -> None:
    asked = [ASKED, replace(ASKED, strategy="tensorrt-like@3"), replace(ASKED, options=UNCHANGED)]
    reports = list(run_reports(DATA, asked))
    found, merged, plain = map(cycles_of, reports)
    assert found < merged < plain
    for key in ("macs", "lower_bound_s", "sub_graphs_fine", "compulsory_dram_bytes"):
        assert len({report.contract[key] for report in reports}) == 1, key


def test_passes_of_the_options() -> None:
    assert TasoLike().import_passes == TasoLike(graph="unchanged").import_passes == ()
    assert TasoLike(graph="3.0").import_passes == ("substitute:3.0",)
    assert TasoLike().graph_search is not None
    assert TasoLike(graph="unchanged").graph_search is TasoLike(graph="3.0").graph_search is None


@pytest.mark.slow
def test_googlenet_is_never_slower_than_unchanged_or_merged() -> None:
    """All nine modules are merged where each merge is faster, as `tensorrt-like` merges them."""
    asked = RunRequest("light-inception_v1", "taso-like@1", "stcp920", 1, has_pictures=False)
    requests = [
        asked,
        replace(asked, options=UNCHANGED),
        replace(asked, strategy="tensorrt-like@1"),
    ]
    found, plain, merged = run_reports(load_sample(asked.model_name), requests)
    assert cycles_of(found) <= min(cycles_of(plain), cycles_of(merged))
