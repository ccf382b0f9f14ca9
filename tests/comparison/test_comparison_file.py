"""compare.json: round trip, equal bytes, refusals, caps; saved reports."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from typing import Any

import pytest

from graphturbo_core import __version__
from graphturbo_core.cli.conditions import NUMBERS
from graphturbo_core.comparison import comparison_file
from graphturbo_core.comparison.compared_run import ComparedRun, RunChoices
from graphturbo_core.comparison.comparison_file import (
    MAX_RUNS,
    read_comparison,
    write_comparison,
)
from graphturbo_core.comparison.figures import RunFigures
from graphturbo_core.comparison.from_report import figures_of, parts_of_model
from graphturbo_core.errors import CapacityError, OptionError
from graphturbo_core.export.files import json_text
from graphturbo_core.report.json_form import json_form
from tests.comparison.runs import MODEL_SHA256, REQUEST, report_of, run_of

STRATEGIES = ("tvm@2", "graphturbo@2", "graphturbo:gb@2")


def text_of(*runs: ComparedRun) -> str:
    return write_comparison(runs or [run_of(name) for name in STRATEGIES])


def changed(**keys: object) -> bytes:
    """The file with other values at the top."""
    return json.dumps({**json.loads(text_of()), **keys}).encode()


def changed_run(part: str, key: str, value: object) -> bytes:
    """The file with another value at a key of its first run's choices or figures."""
    tree = json.loads(text_of())
    tree["runs"][0][part][key] = value
    return json.dumps(tree).encode()


def test_a_file_is_read_as_it_was_written_and_written_as_it_was_read() -> None:
    runs = [
        run_of("tvm@2").model_copy(update={"name": "né", "note": "why", "is_pinned": True}),
        run_of("graphturbo@2"),
    ]
    text = text_of(*runs)
    found = read_comparison(text.encode(), "compare.json")
    assert found == tuple(runs)
    assert write_comparison(found) == text


def test_the_same_runs_give_the_same_bytes_in_whatever_order_choices_are_given() -> None:
    one = replace(REQUEST, dims={"b": 1, "a": 2}, options={"tvm.passes": "any", "tvm.a": "x"})
    other = replace(REQUEST, dims={"a": 2, "b": 1}, options={"tvm.a": "x", "tvm.passes": "any"})
    made = [
        run_of("tvm@2").model_copy(update={"choices": RunChoices.of(each, MODEL_SHA256)})
        for each in (one, other)
    ]
    assert made[0].key == made[1].key
    assert text_of(made[0]) == text_of(made[1])


def test_what_a_run_draws_or_replays_is_no_choice_of_it() -> None:
    drawn = replace(REQUEST, has_pictures=False, verify=True, emit=("plan",))
    assert RunChoices.of(drawn, MODEL_SHA256) == RunChoices.of(REQUEST, MODEL_SHA256)


def test_every_number_of_a_condition_is_kept() -> None:
    assert set(NUMBERS) <= RunFigures.model_fields.keys()
    contract = run_of("tvm@2").figures.contract()
    report = report_of("tvm@2").contract
    assert {name: contract[name] for name in NUMBERS} == {name: report[name] for name in NUMBERS}


def test_saved_reports_are_read_one_or_several() -> None:
    forms = [json_form(report_of(name)) for name in STRATEGIES]
    several = read_comparison(json_text(forms).encode(), "runs.json")
    (one,) = read_comparison(json_text(forms[0]).encode(), "run.json")
    assert [run.figures.strategy for run in several] == list(STRATEGIES)
    assert several[0] == one
    assert one.choices is None
    figures = figures_of(report_of("tvm@2"))
    assert one.figures == figures.model_copy(update={"parts": (), "other_s": 0.0})


def test_a_run_that_stands_twice_is_read_once() -> None:
    run = run_of("tvm@2")
    again = run.model_copy(update={"name": "again"})
    assert read_comparison(text_of(run, again).encode(), "x") == (run,)


def test_time_by_part_sums_to_the_latency_and_every_strategy_has_the_same_parts() -> None:
    titles = set()
    for name in STRATEGIES:
        figures = run_of(name).figures
        total = sum(part.seconds for part in figures.parts) + figures.other_s
        assert total == pytest.approx(figures.latency_s)
        titles.add(tuple(part.title for part in figures.parts))
    (found,) = titles
    assert found == tuple(part.title for part in parts_of_model(report_of("tvm@2")))
    assert len(found) > 1


def test_the_parts_of_the_model_depend_on_no_computed_macs() -> None:
    """Halos and merged convolutions change them."""
    report = report_of("tvm@2")
    stages = [
        {"index": at, "title": f"s{at}", "first_layer": at, "last_layer": at}
        for at in range(len(report.tables["layers"]))
    ]
    layers = [{**row, "macs": 10**12 * (row["index"] == 0)} for row in report.tables["layers"]]
    tables: Any = {**report.tables, "stages": stages}
    found = [
        [(part.first, part.last) for part in parts_of_model(replace(report, tables=each))]
        for each in (tables, {**tables, "layers": layers})
    ]
    assert len(found[0]) > 1
    assert found[0] == found[1]


def test_groups_have_each_layer_once() -> None:
    groups = run_of("graphturbo:gb@2").figures.groups
    assert sorted(layer for group in groups for layer in group.layers) == list(range(13))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "COMPARISON_NOT_JSON: the file is not JSON"),
        (b"model: x", "COMPARISON_NOT_JSON: the file is not JSON"),
        (b"[" * 100_000, "COMPARISON_NOT_JSON: the file is not JSON"),
        (b"{}", "COMPARISON_INVALID: the file has no runs, in 'x'"),
        (b"3", "COMPARISON_INVALID: the file has no runs"),
        (b"[]", "COMPARISON_EMPTY: the comparison has no run"),
        (b"[{}]", "COMPARISON_INVALID: key 0.model is missing"),
        (changed(runs=[]), "COMPARISON_EMPTY"),
        (changed(comparison=2), "COMPARISON_INVALID: comparison is 2, in 'x', write 1"),
        (changed(more=1), "COMPARISON_INVALID: key more is not known, in 'x', remove it"),
        (changed_run("figures", "cycles", -1), "runs.0.figures.cycles is -1"),
        (changed_run("figures", "cycles", 1.5), "runs.0.figures.cycles is 1.5"),
        (changed_run("figures", "latency_s", "1"), "runs.0.figures.latency_s is 1"),
        (changed_run("figures", "latency_s", float("nan")), "runs.0.figures.latency_s is nan"),
        (changed_run("figures", "latency_s", 0), "runs.0.figures.latency_s is 0"),
        (changed_run("figures", "latency_s", 1e10), "runs.0.figures.latency_s is 1"),
        (changed_run("figures", "throughput_per_s", 0), "runs.0.figures.throughput_per_s is 0"),
        (changed_run("figures", "throughput_per_s", 1e-300), "figures.throughput_per_s is 1e-300"),
        (changed_run("figures", "lower_bound_s", 1e3), "write a lower_bound_s of at most latency"),
        (changed_run("figures", "model", "m" * 1001), "runs.0.figures.model is"),
        (changed_run("choices", "model_sha256", "0"), "runs.0.choices.model_sha256 is 0"),
        (changed_run("choices", "shell", "rm"), "key runs.0.choices.shell is not known"),
        (changed_run("choices", "dims", {str(n): 1 for n in range(101)}), "runs.0.choices.dims"),
    ],
)  # fmt: skip
def test_what_is_no_comparison_is_refused_by_name(data: bytes, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_comparison(data, "x")
    line = caught.value.line()
    assert message in line.replace("in x,", "in 'x',").replace("in x", "in 'x'"), line
    assert "\n" not in line


def test_a_saved_report_is_checked_too() -> None:
    form = json.loads(json_text(json_form(report_of("tvm@2"))))
    for key, value in {"throughput_per_s": 0, "latency_s": 0, "lower_bound_s": 1e3}.items():
        with pytest.raises(OptionError, match=key):
            read_comparison(json.dumps([{**form, key: value}]).encode(), "x")


def test_a_saved_report_whose_split_is_no_split_is_refused() -> None:
    form = json.loads(json_text(json_form(report_of("tvm@2"))))
    form["groups"][0]["further_splits"] = [[1, 0]]
    with pytest.raises(OptionError, match="further_splits"):
        read_comparison(json.dumps([form]).encode(), "x")


def test_a_file_of_too_many_bytes_or_runs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = json.loads(text_of(run_of("tvm@2")))
    tree["runs"] *= MAX_RUNS + 1
    with pytest.raises(
        OptionError, match="201 runs are more than a comparison has, which is 200, in x"
    ):
        read_comparison(json.dumps(tree).encode(), "x")
    with pytest.raises(CapacityError, match="201 runs are more than a comparison has, which is"):
        write_comparison([run_of("tvm@2")] * (MAX_RUNS + 1))
    monkeypatch.setattr(comparison_file, "MAX_FILE_BYTES", 100)
    with pytest.raises(CapacityError, match="more than 100 bytes"):
        text_of()
    with pytest.raises(OptionError, match="more than 100 bytes, in x"):
        read_comparison(bytes(101), "x")


def many_wrong_groups() -> bytes:
    return changed_run("figures", "groups", [{}] * 300_000)


def many_wrong_keys() -> bytes:
    return changed_run("figures", "dram_ledger", {str(at): -1 for at in range(300_000)})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (json.dumps([{}] * 100_000).encode(), "COMPARISON_FULL: 100,000 runs"),
        (changed(runs=[{}] * 100_000), "COMPARISON_FULL: 100,000 runs"),
        (json.dumps([{}] * 200).encode(), "key 0.model is missing"),
        (changed(runs={}), "COMPARISON_INVALID: key runs has no list"),
        (many_wrong_groups(), "key runs.0.figures.groups.0.name is missing"),
        (many_wrong_keys(), "an object of runs.0 has more than 200 keys"),
        (changed(**{str(at): 1 for at in range(300_000)}), "more than 200 keys"),
        (changed_run("choices", "skip_passes", [1] * 300_000), "runs.0.choices.skip_passes.0"),
    ],
)
def test_a_file_of_many_faults_is_refused_at_the_first(data: bytes, message: str) -> None:
    """An object of a parsed tree has 64 bytes and its place in a list 8; a fault has more."""
    size = len(data)
    tracemalloc.start()
    try:
        with pytest.raises(OptionError) as caught:
            read_comparison(data, "x")
        assert message in caught.value.line()
        assert tracemalloc.get_traced_memory()[1] < 50 * size + 2**20
    finally:
        tracemalloc.stop()


def test_figures_of_another_version_are_marked() -> None:
    run = run_of("tvm@2")
    assert run.figures.version == __version__
    assert not run.is_of_other_version
    old = run.model_copy(update={"figures": run.figures.model_copy(update={"version": "0.0.1"})})
    assert old.is_of_other_version
