"""Levels `merge` and `both` of `ios`: graphs that are chosen, plans, files and replays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import pytest

from graphturbo_core.errors import CapacityError, PlanError
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.graph_search import chosen_graph
from graphturbo_core.lowering.lower import lower
from graphturbo_core.pipeline import Imports, RunRequest, run_report, run_shared
from graphturbo_core.recorder import Progress
from graphturbo_core.report.report import Report
from graphturbo_core.strategies.ios import stage_plans
from graphturbo_core.strategies.ios import strategy as ios
from graphturbo_core.strategies.ios.merge_search import (
    COMPARE_STEP,
    MERGE_STEP,
    REFUSED,
    RULE_APART,
    RULE_MERGED,
    RULE_OTHER_SET,
    RULE_REFUSED,
    RULE_SLOWER,
)
from graphturbo_core.strategies.ios.merging_levels import MergedGraph
from graphturbo_core.strategies.ios.stage_kernels import STAGE_STEP
from tests.data.exports import exported
from tests.full import SLOW, often
from tests.strategies.ios.merges.merging_nets import chain, inception, wide
from tests.strategies.ios.wired import random_wired, squeezenet

MODELS: Mapping[str, Callable[[], bytes]] = {
    "wide": wide,
    "inception": inception,
    "squeezenet": squeezenet,
    "wired": lambda: random_wired(1),
    "wired 2": lambda: random_wired(2),
    "chain": chain,
}
CHIPS = often(("stcp920", "generic-4x4"), ("stcp920",))
LEVELS = ("sequential", "greedy", "parallel", "merge", "both")


@cache
def report_of(
    model: str, strategy: str, chip: str = "stcp920", batch: int = 1, graph: str = ""
) -> Report:
    """A run with its plan and program; `graph`: the option of its level."""
    level = strategy.partition(":")[2]
    options = {f"{level}.graph": graph} if graph else {}
    request = RunRequest(
        model, f"{strategy}@1", chip, batch, options=options, emit=("plan", "program")
    )
    return run_report(MODELS[model](), request)


def cycles_of(report: Report) -> int:
    return int(str(report.contract["cycles"]))


def graph_of(report: Report) -> str:
    options: Mapping[str, str] = report.contract["options"]  # type: ignore[assignment]
    return next(value for name, value in options.items() if name.endswith(".graph"))


def decisions(report: Report, step: str) -> list[dict[str, object]]:
    return [row for row in report.tables["decisions"] if row["step"] == step]


def numbers_of(row: Mapping[str, object]) -> dict[str, str]:
    parts = str(row["numbers"]).split(", ")
    return {name: value for name, _, value in (part.rpartition(" ") for part in parts)}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(
    "model", often(("wide", "inception", "squeezenet", "wired", "wired 2"), ("wide",))
)
def test_both_is_never_slower_than_the_other_levels(model: str, chip: str) -> None:
    """Nor is `merge` slower than `sequential`: no merges are among its candidates."""
    found = {level: cycles_of(report_of(model, f"ios:{level}", chip)) for level in LEVELS}
    assert found["both"] == min(found.values())
    assert found["merge"] <= found["sequential"]


@SLOW
@pytest.mark.parametrize(
    ("chip", "limits", "levels"),
    [
        ("stcp920", ("1", "2", "4"), LEVELS),
        ("generic-4x4", ("1", "1", "2"), ("sequential", "both")),
    ],
)
def test_both_is_never_slower_on_inception_v3(
    chip: str, limits: Sequence[str], levels: Sequence[str]
) -> None:
    """With few trials, small stages and on the second chip two levels, for less than a minute."""
    imports = Imports(exported("inception_v3_ts"))
    options = dict(zip(("ios.trials", "ios.r", "ios.s"), limits, strict=True))
    found = {}
    for level in levels:
        request = RunRequest(
            "Inception-v3", f"ios:{level}@1", chip, 1, options=options, has_pictures=False
        )
        found[level] = cycles_of(run_shared(imports, request))
    assert found["both"] == min(found.values())
    assert found["both"] < found["sequential"]
    assert found.get("merge", 0) < found["sequential"]


@pytest.mark.parametrize("chip", CHIPS)
def test_both_has_merged_stages_and_groups_at_once(chip: str) -> None:
    """It is faster than each kind of stage alone."""
    report = report_of("wide", "ios:both", chip)
    others = [cycles_of(report_of("wide", f"ios:{level}", chip)) for level in ("merge", "parallel")]
    assert cycles_of(report) < min(others)
    rules = {row["rule"] for row in decisions(report, STAGE_STEP)}
    assert {stage_plans.RULE_MERGED, stage_plans.RULE_TOGETHER} <= rules


@pytest.mark.parametrize("chip", CHIPS)
def test_one_cluster_gains_by_merges_and_by_groups_on_parts_of_its_cores(chip: str) -> None:
    """Four samples on four clusters: one kernel of five convolutions, two more at once."""
    found = {each: report_of("wide", f"ios:{each}", chip, batch=4) for each in LEVELS}
    cycles = {level: cycles_of(report) for level, report in found.items()}
    assert cycles["merge"] < cycles["sequential"]
    assert found["merge"].contract["kernels"] == 13 - 4 - 1
    assert cycles["both"] < min(cycles["merge"], cycles["parallel"])
    rules = {row["rule"] for row in decisions(found["both"], STAGE_STEP)}
    assert {stage_plans.RULE_MERGED, stage_plans.RULE_TOGETHER} <= rules


def test_decisions_show_the_cycles_of_both_ways() -> None:
    """The five small ones are one; the two large ones run at once."""
    report = report_of("wide", "ios:both")
    sets = decisions(report, MERGE_STEP)
    assert len(sets) == 26 + 1
    taken = [row for row in sets if row["taken"]]
    assert [row["rule"] for row in taken] == [RULE_MERGED]
    numbers = numbers_of(taken[0])
    assert numbers["step"] == graph_of(report) == "25"
    merged = [
        row for row in decisions(report, STAGE_STEP) if row["rule"] == stage_plans.RULE_MERGED
    ]
    assert [numbers_of(row)["cycles"] for row in merged] == [numbers["cycles"]]
    assert int(numbers["cycles"]) < int(numbers["cycles in turn"])
    assert {row["rule"] for row in sets[:25]} == {RULE_OTHER_SET}
    assert sets[26]["rule"] == RULE_APART
    graphs = {str(row["subject"]): row for row in decisions(report, COMPARE_STEP)}
    assert list(graphs) == ["unchanged", "25.26", "25"]
    assert [row["taken"] for row in graphs.values()] == [False, False, True]


@pytest.mark.parametrize(
    ("level", "steps"), [("merge", "25.26"), ("both", "25"), ("both", "25.26")]
)
def test_a_candidate_has_the_cycles_of_its_own_run(level: str, steps: str) -> None:
    found = report_of("wide", f"ios:{level}")
    row = next(row for row in decisions(found, COMPARE_STEP) if row["subject"] == steps)
    own = report_of("wide", f"ios:{level}", graph=steps)
    assert int(numbers_of(row)["cycles"]) == cycles_of(own)
    assert decisions(own, MERGE_STEP) == decisions(own, COMPARE_STEP) == []


def test_in_turn_are_the_cycles_of_the_layers() -> None:
    """Of the run without merges, whose kernels have one layer each."""
    plain = report_of("wide", "ios:merge", graph="unchanged")
    own = {
        str(row["subject"]): int(numbers_of(row)["cycles"]) for row in decisions(plain, STAGE_STEP)
    }
    for row in decisions(report_of("wide", "ios:merge"), MERGE_STEP):
        layers = str(row["subject"]).split(" + ")
        assert int(numbers_of(row)["cycles in turn"]) == sum(own[layer] for layer in layers)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("level", ["merge", "both"])
def test_the_found_steps_give_the_same_run_without_a_search(
    level: str, chip: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plan files differ in the decisions of the search alone."""
    found = report_of("wide", f"ios:{level}", chip)
    monkeypatch.setattr(chosen_graph, "RoundTrials", None)
    again = report_of("wide", f"ios:{level}", chip, 1, graph_of(found))
    assert graph_of(found) not in ("search", "unchanged")
    assert again.text("program") == found.text("program")
    assert again.contract["options"] == found.contract["options"]
    plans = [read_plan(report.text("plan").encode(), "a plan") for report in (again, found)]
    assert plans[0].origin == plans[1].origin
    first, second = (plan.pinned_plan(1).record for plan in plans)
    assert first is not None and second is not None
    kept = tuple(each for each in second.decisions if each.step == STAGE_STEP)
    assert first == replace(second, decisions=kept)


def test_each_candidate_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run has the plan of the chosen one, here the first of two."""
    searched = ios.IosScheduler._searched
    calls: list[object] = []

    def counted(scheduler: ios.IosScheduler, *args: object) -> object:
        calls.append(scheduler)
        return searched(scheduler, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(ios.IosScheduler, "_searched", counted)
    report = run_report(squeezenet(), RunRequest("squeezenet", "ios:both@1", "stcp920", 1))
    graphs = decisions(report, COMPARE_STEP)
    assert (graphs[0]["subject"], graphs[0]["taken"]) == ("unchanged", True)
    assert len(calls) == len(graphs) > 1


@pytest.mark.parametrize("chip", CHIPS)
def test_a_plan_file_is_run_again_without_a_search(
    chip: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It belongs to the found graph; so it does on a chip whose clusters cannot co-operate."""
    found = report_of("wide", "ios:both", chip)
    monkeypatch.setattr(chosen_graph, "RoundTrials", None)
    options = {"both.graph": graph_of(found)}
    request = RunRequest("wide", "ios:both@1", chip, 1, plan=found.text("plan"), options=options)
    again = run_report(wide(), request)
    assert cycles_of(again) == cycles_of(found)
    assert decisions(again, COMPARE_STEP) == decisions(found, COMPARE_STEP)
    with pytest.raises(PlanError, match="the plan is for options"):
        run_report(wide(), replace(request, options={}))


def test_a_plan_file_of_groups_runs_where_clusters_cannot_co_operate() -> None:
    found = report_of("wide", "ios:parallel", "generic-4x4")
    request = RunRequest("wide", "ios@1", "generic-4x4", 1, plan=found.text("plan"))
    assert cycles_of(run_report(wide(), request)) == cycles_of(found)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("level", ["merge", "both"])
@pytest.mark.parametrize("steps", ["0", "1", "2", "3"])
def test_merged_convolutions_replay(steps: str, level: str, chip: str) -> None:
    """1x1 with 3x3, 1x1 with 1x3, 3x3 with 1x3, and all three: each needs zeros."""
    options = {f"{level}.graph": steps}
    request = RunRequest("inception", f"ios:{level}@1", chip, 2, options=options, verify=True)
    contract = run_report(inception(), request).contract
    assert contract["verify"]["ok"]  # type: ignore[index]
    is_all = steps == "3"
    assert contract["kernels"] == {"merge": 3 if is_all else 4, "both": 3 if is_all else 2}[level]


@pytest.mark.parametrize(("level", "graph"), [("merge", "3"), ("both", "unchanged")])
def test_what_is_found_replays(level: str, graph: str) -> None:
    """Four samples on four clusters. On parts of a cluster's cores, three at once are faster."""
    request = RunRequest("inception", f"ios:{level}@1", "generic-4x4", 4, verify=True)
    report = run_report(inception(), request)
    assert report.contract["verify"]["ok"]  # type: ignore[index]
    assert graph_of(report) == graph


def test_layers_and_bounds_are_those_of_the_unchanged_model() -> None:
    plain, found = report_of("wide", "ios:parallel"), report_of("wide", "ios:both")
    for key in ("macs", "lower_bound_s", "sub_graphs_fine", "compulsory_dram_bytes"):
        assert plain.contract[key] == found.contract[key], key
    names = [[row["name"] for row in report.tables["layers"]] for report in (plain, found)]
    assert names[0] == names[1]


@pytest.mark.parametrize("level", ["merge", "both"])
def test_without_mergeable_convolutions_no_graph_is_simulated(level: str) -> None:
    report = report_of("chain", f"ios:{level}")
    assert graph_of(report) == "unchanged"
    assert decisions(report, MERGE_STEP) == decisions(report, COMPARE_STEP) == []
    assert cycles_of(report) == cycles_of(report_of("chain", "ios:sequential"))


def test_a_set_that_is_slower_is_not_merged() -> None:
    """The fire modules with most channels; zeros around 1x1 make nine times the work.

    Sets 0, 3, 6 and 9 are no candidates: the layer of their bypass adds another value.
    """
    rows = decisions(report_of("squeezenet", "ios:merge"), MERGE_STEP)
    assert [numbers_of(row)["step"] for row in rows] == ["1", "2", "4", "5", "7", "8", "10", "11"]
    slower = [row for row in rows if row["rule"] == RULE_SLOWER]
    assert slower and not any(row["taken"] for row in slower)
    for row in rows:
        numbers = numbers_of(row)
        is_faster = int(numbers["cycles"]) < int(numbers["cycles in turn"])
        assert is_faster == (row["rule"] != RULE_SLOWER)


def refusing(name: str) -> Callable[..., object]:
    """`lower`, but graphs with an op whose name ends so are refused."""

    def lowered(plan: object, *args: object, **options: object) -> object:
        ops = plan.semantics.graph.op_by_name  # type: ignore[attr-defined]
        if any(op.endswith(name) for op in ops):
            raise CapacityError("TOO_MANY_PIECES", "refused here")
        return lower(plan, *args, **options)  # type: ignore[arg-type]

    return lowered


def test_a_refused_graph_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphturbo_core.trial_cache.lower", refusing("/merged"))
    report = run_report(inception(), RunRequest("inception", "ios:both@1", "generic-4x4", 1))
    assert graph_of(report) == "unchanged"
    rows = decisions(report, MERGE_STEP)
    assert {row["rule"] for row in rows} == {RULE_REFUSED}
    assert {numbers_of(row)["cycles"] for row in rows} == {REFUSED}


def test_one_cluster_may_gain_by_merges_that_leave_others_at_once() -> None:
    """The best merges in turn are two; the dynamic program takes one, beside groups at once."""
    report = report_of("wide", "ios:both", "stcp920", batch=4)
    compared = {row["subject"]: row for row in decisions(report, COMPARE_STEP)}
    assert [*compared] == ["unchanged", "25.26", "25"]
    assert [row["taken"] for row in compared.values()] == [False, False, True]


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(
    ("level", "batch", "most"),
    [("merge", 1, 27 + 2 * 2), ("both", 1, 27 + 3 * 15), ("both", 4, 27 + 4 + 3 * 15)],
)
def test_the_search_says_how_far_it_is(level: str, batch: int, most: int, chip: str) -> None:
    """The model, and 26 sets of five convolutions; then all plans of two or three candidates.

    A candidate of level `both` has up to 4 plans on parts of the cores, 2 + 2 prunings * (3 trials
    and a joined schedule), and the chosen one again; of `merge` one. On one cluster the third
    needs 4 plans on parts too.
    """
    found: list[Progress] = []
    options = {"ios.r": "2", "ios.s": "2", "ios.trials": "3"}
    request = RunRequest("wide", f"ios:{level}@1", chip, batch, options=options)
    run_shared(Imports(wide()), request, on_progress=found.append)
    counted = [each for each in found if each.total and each.step == chosen_graph.SEARCH]
    assert [each.done for each in counted] == list(range(1, len(counted) + 1))
    assert {each.total for each in counted} == {most}
    assert 27 < len(counted) <= most


def test_passes_and_search_of_the_options() -> None:
    found = ios.Ios(level="both")
    assert found.import_passes == () and found.graph_search is not None
    own = MergedGraph(graph="3.0")
    assert ios.Ios(level="both", both=own).import_passes == ("merge-sets:3.0",)
    assert ios.Ios(level="both", both=own).graph_search is None
    assert ios.Ios(level="parallel", both=own).import_passes == ()
    assert ios.Ios(level="parallel").graph_search is None
