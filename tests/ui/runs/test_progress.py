"""What the page says of a run that is not done: waiting, its worker not warm yet, computing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest

from graphturbo_core.pipeline import Progress, RunRequest
from graphturbo_core.remote.process import WorkerProcess
from graphturbo_ui import progress
from graphturbo_ui.jobs import Desk, Run, Source
from graphturbo_ui.progress import after, bar
from graphturbo_ui.runs import is_comparable, likeness
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


def text(run: Run, name: str) -> str:
    return bar(run, name).text


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
    assert text(first, "A").startswith(
        "**Getting a worker ready to compute A** (first; the first start after installation"
    )
    second = started(desk, "second")
    (tmp_path / fake_worker.WARM_UP).unlink()
    await_that(lambda: first.is_computed)
    assert text(first, "A").startswith("**Computing A** (first) … ")
    assert text(second, "B").startswith("**Waiting for a worker to compute B** (second) … ")
    (tmp_path / "first").unlink()
    await_that(lambda: second.is_begun)
    assert text(second, "B").startswith("**Computing B** (second) … ")
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


STEPS = {"import": 1.0, "plan": 2.0, "lower": 3.0, "simulate": 4.0, "verify": 9.0, "report": 5.0}
NOW_S = 1_000.0


def shown(
    monkeypatch: pytest.MonkeyPatch, at: Progress, known: dict[str, float], *, verify: bool = False
) -> tuple[float, str]:
    """Share and text of a run that has been in its third step for two seconds since its report."""
    monkeypatch.setattr(progress, "monotonic", lambda: NOW_S)
    run = Run("key", RunRequest("m", "tvm", verify=verify), asked_s=NOW_S - 6, is_computed=True)
    run.steps += [("import", 1.0), ("plan", 2.0)]
    run.at, run.known = (at, NOW_S - 2), known
    drawn = bar(run, "B")
    return round(drawn.share, 6), drawn.text


def test_without_a_comparable_run_steps_are_counted_and_no_time_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at = Progress("lower", 0.0, 2, 5)
    assert shown(monkeypatch, at, {}) == (0.4, "**Lowering B** (tvm), step 3 of 5 … 6 s")
    unknown = Progress("lower", 0.0, 2, 0)
    assert shown(monkeypatch, unknown, {}) == (0.0, "**Lowering B** (tvm) … 6 s")


def test_the_time_left_is_that_of_a_comparable_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """3 s of lowering less 2, then 4 + 5; 3 s of steps and 2 of this one are spent: 5 of 15."""
    at = Progress("lower", 0.0, 2, 5)
    expected = (round(5 / 15, 6), "**Lowering B** (tvm), about 10 s left … 6 s")
    assert shown(monkeypatch, at, STEPS) == expected


def test_a_step_that_nobody_measured_leaves_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {name: seconds for name, seconds in STEPS.items() if name not in ("verify", "report")}
    at = Progress("lower", 0.0, 2, 6)
    assert shown(monkeypatch, at, known, verify=True) == (
        round(2 / 6, 6),
        "**Lowering B** (tvm), step 3 of 6 … 6 s",
    )


def test_a_replay_counts_its_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    """6 s and 2 more for 40 of 100: 12 s for the others, and 5 for the report where it is known."""
    at = Progress("verify", 6.0, 2, 4, 40, 100)
    assert shown(monkeypatch, at, {}, verify=True) == (
        0.4, "**Replaying B** (tvm), 40 %, about 12 s left … 6 s",
    )  # fmt: skip
    begun, counted = Progress("verify", 0.0, 2, 4), Progress("verify", 0.0, 2, 4, 0, 100)
    said = "**Running the unsplit model for B** (tvm), step 3 of 4 … 6 s"
    assert shown(monkeypatch, begun, {}, verify=True) == (0.5, said)
    assert shown(monkeypatch, counted, {}, verify=True) == (
        0.0, "**Replaying B** (tvm), 0 %, step 3 of 4 … 6 s",
    )  # fmt: skip
    known = {"report": 5.0}
    assert "about 17 s left" in shown(monkeypatch, at, known, verify=True)[1]


def test_only_runs_on_the_same_model_chip_and_sizes_are_comparable() -> None:
    run = Run("a", RunRequest("m", "tvm", "stcp920", 8), "digest")
    assert is_comparable(Run("b", RunRequest("m", "graphturbo", "stcp920", 8), "digest"), run)
    for other in (RunRequest("m", "tvm", "goya", 8), RunRequest("m", "tvm", "stcp920", 4)):
        assert not is_comparable(Run("b", other, "digest"), run)
    assert not is_comparable(Run("b", run.request, "another model"), run)


def test_the_same_strategy_at_another_batch_foretells_less() -> None:
    run = Run("a", RunRequest("m", "tvm", "stcp920", 8), "digest")
    for other, like in (
        (RunRequest("m", "graphturbo", "stcp920", 8), 2),
        (RunRequest("m", "tvm", "stcp920", 4), 1),
        (RunRequest("m", "graphturbo", "stcp920", 4), 0),
        (RunRequest("m", "tvm", "goya", 8), 0),
    ):
        assert likeness(Run("b", other, "digest"), run) == like


def test_runs_that_wait_are_named() -> None:
    waiting, done = Run("b", RunRequest("m", "graphturbo@16")), Run("c", RunRequest("m", "tvm"))
    done.answer.set_exception(ValueError())
    assert after({"B": waiting, "C": done}).replace("\\", "") == " · then B (graphturbo@16)"
    assert after({}) == ""


def test_the_desk_knows_the_steps_of_the_latest_comparable_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(fake_worker.ORDERS, str(tmp_path))
    desk = Desk(workers=1, target=fake_worker.main)
    first = started(desk, "first")
    assert first.wait(PATIENCE_S)
    (tmp_path / "second").write_text("hold")
    second = started(desk, "second")
    await_that(lambda: second.is_begun)
    assert second.known == {"1 of 1": 0.5}
    (tmp_path / "second").unlink()
    assert second.wait(PATIENCE_S)
    desk.close()
