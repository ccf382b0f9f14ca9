"""Runs in a process of their own: reports in order, and every way to end without one, in a line."""

from __future__ import annotations

from multiprocessing.context import BaseContext
from pathlib import Path
from types import SimpleNamespace

import pytest

from graphturbo_core.cli import main
from graphturbo_core.errors import CapacityError, ModelError
from graphturbo_core.pipeline import RunRequest
from graphturbo_core.remote import client, process, worker
from graphturbo_core.remote.client import WorkerError, isolated_reports
from graphturbo_core.report.report import Report
from tests.remote import fake_worker


@pytest.fixture(autouse=True)
def no_orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(fake_worker.ORDERS, str(tmp_path))


@pytest.fixture
def begin_at_once(forks: BaseContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that imports the library itself takes 1 CPU s to begin; the first test has one."""
    monkeypatch.setattr(process, "multiprocessing", SimpleNamespace(get_context=lambda _: forks))


def reports_of(*strategies: str) -> tuple[list[str], list[Report]]:
    """The reported steps, and the reports."""
    told: list[str] = []
    requests = [RunRequest("model", strategy) for strategy in strategies]
    runs = isolated_reports(b"model", requests, lambda name, _: told.append(name), fake_worker.main)
    return told, list(runs)


def test_reports_and_steps_in_order() -> None:
    told, reports = reports_of("tvm@2", "graphturbo@16")
    assert told == ["1 of 2", "2 of 2"]
    assert [report.contract["strategy"] for report in reports] == ["tvm@2", "graphturbo@16"]


@pytest.mark.usefixtures("begin_at_once")
def test_a_worker_that_dies_is_one_clear_error() -> None:
    with pytest.raises(CapacityError) as caught:
        reports_of("die")
    assert caught.value.code == "WORKER_ENDED"
    assert "exit code 3" in caught.value.what
    assert caught.value.where == "strategy die"


@pytest.mark.usefixtures("begin_at_once")
def test_a_refusal_and_a_bug_are_what_they_are() -> None:
    with pytest.raises(ModelError, match="what, where, change"):
        reports_of("refuse")
    with pytest.raises(WorkerError, match="Traceback") as found:
        reports_of("bug")
    assert found.value.line == "KeyError: 'hello'"  # a note follows it


def test_a_run_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MAX_RUN_SECONDS", 0.2)
    monkeypatch.setattr(process, "POLL_SECONDS", 0.05)
    with pytest.raises(CapacityError, match="was ended"):
        reports_of("nap")


def test_running_out_of_memory_is_a_refusal() -> None:
    """Of one run: the worker goes on."""
    frame = worker._answer(0, lambda: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(CapacityError, match=r"needs more than a worker's 12 GiB"):
        client.report_of(frame[:1], frame[3:])


def test_the_command_line_says_it_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Like a crash of ONNX Runtime that ends its process."""
    monkeypatch.setattr(client.isolated_reports, "__defaults__", (fake_worker.die,))
    assert main(["run", "teaching-resnet", "--batch", "4", "--verify"]) == 2
    assert "error: WORKER_ENDED: the process that computed this run" in capsys.readouterr().err


def test_ctrl_c_ends_a_replay_quietly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended: list[int | None] = []
    end = process.WorkerProcess.end

    def interrupt(self: process.WorkerProcess, deadline_s: float) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(process.WorkerProcess, "receive", interrupt)
    monkeypatch.setattr(process.WorkerProcess, "end", lambda self: ended.append(end(self)))
    monkeypatch.setattr(client.isolated_reports, "__defaults__", (fake_worker.main,))
    assert main(["run", "teaching-resnet", "--batch", "4", "--verify"]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "cancelled"
    assert len(ended) == 1
