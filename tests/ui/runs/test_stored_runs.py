"""Stored reports of the default comparison: equal to computed ones, which replace them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from graphturbo_core.pipeline import RunRequest, run_reports
from graphturbo_core.report.report import Report
from graphturbo_ui import frame, jobs
from graphturbo_ui.figures.tables import step_rows
from graphturbo_ui.jobs import Desk, Run, Source, default_comparison, run_key
from graphturbo_ui.session import query, run_state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.stored_runs import stored_reports, without_clock
from tests.remote import fake_worker
from tests.ui.synthetic import synthetic_report

PATIENCE_S = 20.0
SOURCE = Source.of(b"model", None)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """One fake worker, which begins when its orders are forgotten."""
    monkeypatch.setenv(fake_worker.ORDERS, str(tmp_path))
    (tmp_path / fake_worker.WARM_UP).write_text("hold")
    desk = Desk(workers=1, target=fake_worker.main)
    yield desk
    fake_worker.forget(tmp_path)
    desk.close()


def request(strategy: str) -> RunRequest:
    return RunRequest(model_name="m", strategy=strategy)


def started(desk: Desk, strategy: str) -> Run:
    return desk.start([request(strategy)], SOURCE)[0]


def renewed(desk: Desk, tmp_path: Path, *strategies: str) -> tuple[Run, ...]:
    """The runs of these strategies once the worker has computed all and one more."""
    fake_worker.forget(tmp_path)
    assert started(desk, "afterwards").wait(PATIENCE_S)
    return tuple(started(desk, strategy) for strategy in strategies)


def has_same_numbers(one: Report, other: Report) -> bool:
    """Whether two reports differ in nothing but the seconds of their steps."""
    a, b = without_clock(one), without_clock(other)
    return (
        (a.contract, a.tables) == (b.contract, b.tables)
        and a.arrays.keys() == b.arrays.keys()
        and all(np.array_equal(a.arrays[name], b.arrays[name]) for name in a.arrays)
        and a.files.keys() == b.files.keys()
        and all(a.text(name) == b.text(name) for name in a.files)
    )


def test_the_stored_reports_are_those_that_the_source_gives() -> None:
    """After a change of numbers: `python -m graphturbo_ui.stored_runs`, and look at the page."""
    requests, source = default_comparison()
    stored = stored_reports()
    assert list(stored) == [run_key(request, source) for request in requests]
    found = run_reports(source.model, requests)
    assert all(map(has_same_numbers, stored.values(), found))


def test_a_difference_in_any_part_is_seen() -> None:
    report = next(iter(stored_reports().values()))
    assert has_same_numbers(report, replace(report, contract={**report.contract, "steps": [1]}))
    cycles = report.contract["cycles"] + 1
    tables = {**report.tables, "layers": report.tables["layers"][1:]}
    arrays = {**report.arrays, "start": report.arrays["start"] + 1}
    for other in (
        replace(report, contract={**report.contract, "cycles": cycles}),
        replace(report, tables=tables),
        replace(report, arrays=arrays),
        replace(report, arrays={}),
        report.with_files({"edits": ["other"]}),
        replace(report, files={}),
    ):
        assert not has_same_numbers(report, other)


def test_a_stored_report_has_no_seconds() -> None:
    report = next(iter(stored_reports().values()))
    assert step_rows(report) == [{"step": "import to trace, together", "A (s)": None}]


def test_a_stored_report_is_the_answer_until_a_worker_has_one(desk: Desk, tmp_path: Path) -> None:
    stored = without_clock(synthetic_report("tvm@2"))
    desk.renew([request("tvm@2")], SOURCE, {run_key(request("tvm@2"), SOURCE): stored})
    before = started(desk, "tvm@2")
    assert before.report is stored
    (after,) = renewed(desk, tmp_path, "tvm@2")
    assert after is not before
    assert after.steps == [("1 of 1", 0.5)]


def test_views_of_a_stored_report_are_made_again(desk: Desk, tmp_path: Path) -> None:
    stored = synthetic_report("another")
    desk.renew([request("tvm@2")], SOURCE, {run_key(request("tvm@2"), SOURCE): stored})
    desk.view("picture", _strategy, started(desk, "tvm@2"))
    (after,) = renewed(desk, tmp_path, "tvm@2")
    assert desk.view("picture", _strategy, after) == "tvm@2"


def _strategy(report: Report) -> object:
    return report.contract["strategy"]


def test_a_run_without_a_stored_report_is_computed(desk: Desk, tmp_path: Path) -> None:
    desk.renew([request("tvm@2")], SOURCE, {})
    assert not started(desk, "tvm@2").is_done
    (after,) = renewed(desk, tmp_path, "tvm@2")
    assert after.steps == [("1 of 1", 0.5)]


def test_a_stored_report_stays_where_its_run_fails(desk: Desk, tmp_path: Path) -> None:
    stored = synthetic_report("bug x")
    desk.renew([request("bug x")], SOURCE, {run_key(request("bug x"), SOURCE): stored})
    (after,) = renewed(desk, tmp_path, "bug x")
    assert after.report is stored


def test_the_server_begins_with_the_stored_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "WORKERS", 0)
    monkeypatch.setattr(jobs.Desk.__init__, "__defaults__", (0, fake_worker.main, 0))
    desk = jobs.shared_desk.__wrapped__()
    assert all(run.is_done for run in desk.start(*default_comparison()))


@pytest.fixture
def resting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """One fake worker that rests for an hour unless it is woken, in place of the server's desk."""
    monkeypatch.setenv(fake_worker.ORDERS, str(tmp_path))
    desk = Desk(workers=1, target=fake_worker.main, rest_seconds=3600)
    monkeypatch.setattr(frame, "shared_desk", lambda: desk)
    monkeypatch.setattr(run_state, "visitor", lambda: None)
    yield desk
    desk.close()


def choices(*strategies: str) -> Choices:
    asked = dict(zip(query.RUN_KEYS, map(request, strategies), strict=True))
    return cast(Choices, SimpleNamespace(request=asked.__getitem__, source=SOURCE))


def test_a_page_of_stored_reports_leaves_the_workers_at_rest(resting: Desk) -> None:
    strategies = ("tvm@2", "graphturbo@2")
    stored = {run_key(request(each), SOURCE): synthetic_report() for each in strategies}
    resting.renew([*map(request, strategies)], SOURCE, stored)
    assert all(run.is_done for run in frame.runs_of(choices(*strategies)).values())
    later, before = started(resting, "afterwards"), len(active_children())
    assert not later.wait(0.5)
    assert len(active_children()) == before
    resting.wake()
    assert later.wait(PATIENCE_S)


def test_a_page_that_waits_for_a_run_wakes_them(resting: Desk) -> None:
    runs = frame.runs_of(choices("tvm@2", "graphturbo@2"))
    assert all(run.wait(PATIENCE_S) for run in runs.values())
