"""The JSON of a run: the contract's keys, and the app's tables."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.json_form import json_form
from graphturbo_core.report.report import Report

ADDED = {"kernel_times", "splits", "decisions", "ready_list", "bindings"}


@pytest.fixture(scope="module", params=[True, False], ids=["pictures", "none"])
def report(request: pytest.FixtureRequest) -> Report:
    """With what pictures are made of, and without, as the command line has it."""
    asked = RunRequest(
        "teaching-resnet", "graphturbo@16", "generic-4x4", 64, has_pictures=request.param
    )
    return run_report(load_sample("teaching-resnet"), asked)


@pytest.fixture(scope="module")
def form(report: Report) -> dict[str, Any]:
    return json_form(report)


def test_keys_are_added_and_none_changes(report: Report, form: dict[str, Any]) -> None:
    assert form.keys() - report.contract.keys() == ADDED
    assert {key: form[key] for key in report.contract} == report.contract
    json.dumps(form, allow_nan=False)


def test_kernels_are_timed_in_seconds_of_the_round(report: Report, form: dict[str, Any]) -> None:
    """The chip has 1 GHz: a cycle is a nanosecond."""
    times = form["kernel_times"]
    assert [row["name"] for row in times] == report.contract["order"]
    for row, kernel in zip(times, report.tables["kernels"], strict=True):
        assert row["start_s"] == pytest.approx(kernel["start_cycle"] * 1e-9)
        assert row["end_s"] == pytest.approx(kernel["end_cycle"] * 1e-9)
        assert row["least_s"] == pytest.approx(kernel["least_cycles"] * 1e-9)
        assert 0 < row["least_s"] <= row["end_s"] - row["start_s"] < report.contract["latency_s"]


def test_the_other_tables_are_the_app_s(report: Report, form: dict[str, Any]) -> None:
    order, groups = report.contract["order"], report.contract["groups"]
    assert len(order) > len(groups) > 1
    taken = {row["name"]: row for row in form["splits"] if row["taken"]}
    split = [group for group in groups if group["pieces"] > 1]
    assert split
    assert [taken[group["name"]]["axis"] for group in split] == [g["split_axis"] for g in split]
    assert any(row["taken"] for row in form["decisions"])
    assert [row["run"] for row in form["ready_list"]] == order
    assert {row["kernel"] for row in form["bindings"]} <= {*order}
    computed = {op for group in groups for op in group["ops"]}
    assert {row["op"] for row in form["bindings"]} <= computed
