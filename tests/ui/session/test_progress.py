"""What the page says of a run that is not done: waiting, its worker not warm yet, computing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest

from graphturbo_core.pipeline import RunRequest
from graphturbo_core.remote.process import WorkerProcess
from graphturbo_ui.frame import progress
from graphturbo_ui.jobs import Desk, Run, Source
from tests.remote import fake_worker

PATIENCE_S = 60.0


def await_that(holds: Callable[[], bool]) -> None:
    until_s = monotonic() + PATIENCE_S
    while not holds():
        assert monotonic() < until_s
        sleep(0.01)


def started(desk: Desk, strategy: str) -> Run:
    request = RunRequest(model_name="m", strategy=strategy)
    (run,) = desk.start([request], Source.of(b"model", None))
    return run


def test_it_says_what_a_run_is_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that is not warm computes nothing; once it is, its later runs are computed at once.

    The one worker is busy with `first` while `second` waits.
    """
    monkeypatch.setenv(fake_worker.ORDERS, str(tmp_path))
    for order in (fake_worker.WARM_UP, "first", "second"):
        (tmp_path / order).write_text("hold")
    desk = Desk(workers=1, target=fake_worker.main)
    first = started(desk, "first")
    await_that(lambda: first.is_begun)
    assert progress(first, "A").startswith(
        "**Getting a worker ready to compute A** (first; the first start after installation"
    )
    second = started(desk, "second")
    (tmp_path / fake_worker.WARM_UP).unlink()
    await_that(lambda: first.is_computed)
    assert progress(first, "A").startswith("**Computing A** (first) … ")
    assert progress(second, "B").startswith("**Waiting for a worker to compute B** (second) … ")
    (tmp_path / "first").unlink()
    await_that(lambda: second.is_begun)
    assert progress(second, "B").startswith("**Computing B** (second) … ")
    (tmp_path / "second").unlink()
    assert first.wait(PATIENCE_S)
    assert second.wait(PATIENCE_S)
    desk.close()


def test_a_worker_is_warm_once_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a run of a worker which was warm before is computed from its first moment on."""
    monkeypatch.setenv(fake_worker.ORDERS, str(tmp_path))
    process = WorkerProcess(fake_worker.main)
    assert not process.is_warm
    assert process.receive(monotonic() + PATIENCE_S)
    assert process.is_warm
    process.end()
