"""Worker processes: answers, refusals, deaths and bugs come back as what they are; once each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphturbo_core.errors import CapacityError, ModelError
from graphturbo_core.pipeline import RunRequest
from graphturbo_core.report.report import Report
from graphturbo_ui import jobs, protocol
from graphturbo_ui.jobs import Desk, Run, WorkerError
from tests.ui import fake_worker

PATIENCE_S = 30.0


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    desk = Desk(workers=1, target=fake_worker.main)
    yield desk
    desk.close()


def request(strategy: str = "tvm@2", **choices: object) -> RunRequest:
    return RunRequest(model_name="m", strategy=strategy, **choices)


def finished(desk: Desk, strategy: str) -> Run:
    run = desk.start(request(strategy), b"model", None)
    assert run.wait(PATIENCE_S)
    return run


def test_a_run_gives_its_report_and_its_steps(desk: Desk):
    run = finished(desk, "tvm@2")
    assert run.report.contract["strategy"] == "tvm@2"
    assert run.steps == [("plan", 0.5)]
    assert run.frame == b""


def test_the_same_run_is_computed_once(desk: Desk):
    assert finished(desk, "tvm@4") is finished(desk, "tvm@4")
    assert finished(desk, "tvm@4") is not finished(desk, "tvm@8")


def test_a_view_is_made_once_for_its_runs(desk: Desk):
    run, other = finished(desk, "tvm@2"), finished(desk, "tvm@4")
    made: list[Report] = []

    def make(*reports: Report) -> int:
        made.extend(reports)
        return len(made)

    assert desk.view("v", make, run, other) == 2
    assert desk.view("v", make, run, other) == 2
    assert desk.view("v", make, run) == 3


def test_a_refusal_keeps_class_code_and_words(desk: Desk):
    with pytest.raises(ModelError, match="what, where, change") as caught:
        _ = finished(desk, "refuse").report
    assert (caught.value.code, caught.value.what) == ("NO", "what")


def test_a_dead_worker_is_said_and_replaced(desk: Desk):
    with pytest.raises(CapacityError, match=r"ended early \(exit code 3\)"):
        _ = finished(desk, "die").report
    assert finished(desk, "after a death").report.contract["strategy"] == "after a death"


def test_a_report_above_the_cap_is_refused_unread(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(protocol, "MAX_REPORT_BYTES", 1000)
    with pytest.raises(CapacityError, match="more than 1000 B"):
        _ = finished(desk, "too large").report


def test_a_bug_is_not_kept_and_its_traceback_stays_in_the_log(desk: Desk):
    run = finished(desk, "bug")
    with pytest.raises(WorkerError, match="a bug of ours") as caught:
        _ = run.report
    assert "Traceback" not in str(caught.value)
    assert finished(desk, "bug") is not run


def test_too_many_runs_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jobs, "MAX_WAITING", 1)
    idle = Desk(workers=0)
    idle.start(request("a"), b"", None)
    with pytest.raises(CapacityError, match="1 runs are waiting already"):
        idle.start(request("b"), b"", None)


def test_kept_reports_are_bounded(monkeypatch: pytest.MonkeyPatch, desk: Desk):
    monkeypatch.setattr(jobs, "MAX_KEPT_RUNS", 2)
    first = finished(desk, "first")
    finished(desk, "second")
    finished(desk, "third")
    assert finished(desk, "first") is not first


@pytest.mark.parametrize(
    ("model", "profile", "choices"),
    [
        (b"other", None, {}),
        (b"model", b"p", {}),
        (b"model", None, {"batch": 3}),
        (b"model", None, {"dims": {"sequence": 4}}),
        (b"model", None, {"options": {"graphturbo.peak": "literal"}}),
    ],
)
def test_a_key_depends_on_everything(model: bytes, profile: bytes | None, choices: dict):
    base = jobs.run_key(request(), b"model", None)
    assert jobs.run_key(request(), b"model", None) == base
    assert jobs.run_key(request(**choices), model, profile) != base


@pytest.mark.parametrize("profile", [None, b"", b"name: x"])
def test_a_run_crosses_the_pipe_unchanged(profile: bytes | None):
    sent = RunRequest("m", "tvm@2", "chip", 8, {"s": 4}, "int8", {"a.b": "c"}, ("p",), True)
    assert protocol.decode_run(protocol.encode_run(sent, b"\0model", profile)) == (
        sent,
        b"\0model",
        profile,
    )
