"""Worker processes: answers, refusals, deaths and bugs come back as what they are; once each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from graphturbo_core.errors import CapacityError, ModelError
from graphturbo_core.pipeline import RunRequest
from graphturbo_core.remote import process as worker_process
from graphturbo_core.remote import protocol
from graphturbo_core.report.report import Report
from graphturbo_ui import jobs
from graphturbo_ui.jobs import Desk, Run, Source, Visitor, WorkerError
from tests.remote import fake_worker

PATIENCE_S = 20.0


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder with orders for workers that start from now on."""
    folder = tmp_path_factory.mktemp("orders")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(fake_worker.ORDERS, str(folder))
        yield folder


@pytest.fixture(scope="module")
def desk(orders: Path) -> Iterator[Desk]:
    desk = Desk(workers=1, target=fake_worker.main)
    yield desk
    fake_worker.forget(orders)
    desk.close()


def request(strategy: str = "tvm@2", **choices: object) -> RunRequest:
    return RunRequest(model_name="m", strategy=strategy, **choices)


def compare(desk: Desk, *strategies: str, model: bytes = b"model") -> tuple[Run, ...]:
    return desk.start([request(strategy) for strategy in strategies], Source.of(model, None))


def compared(desk: Desk, *strategies: str, model: bytes = b"model") -> tuple[Run, ...]:
    runs = compare(desk, *strategies, model=model)
    assert all(run.wait(PATIENCE_S) for run in runs)
    return runs


def finished(desk: Desk, strategy: str) -> Run:
    return compared(desk, strategy)[0]


def strategy_of(run: Run) -> object:
    return run.report.contract["strategy"]


def test_a_run_gives_its_report_and_its_steps(desk: Desk):
    run = finished(desk, "tvm@2")
    assert strategy_of(run) == "tvm@2"
    assert run.steps == [("1 of 1", 0.5)]


def test_the_same_run_is_computed_once(desk: Desk):
    assert finished(desk, "tvm@4") is finished(desk, "tvm@4")
    assert finished(desk, "tvm@4") is not finished(desk, "tvm@8")


def test_a_comparison_is_one_job_with_steps_and_report_of_each_run(desk: Desk):
    runs = compared(desk, "one a", "one b")
    assert [strategy_of(run) for run in runs] == ["one a", "one b"]
    assert [run.steps for run in runs] == [[("1 of 2", 0.5)], [("2 of 2", 0.5)]]


def test_only_what_is_new_is_in_the_next_job(desk: Desk):
    a, b = compared(desk, "kept a", "kept b")
    again, new = compared(desk, "kept a", "new b")
    assert again is a
    assert new.steps == [("1 of 1", 0.5)]
    assert compared(desk, "new b", "kept b") == (new, b)


def test_a_run_compared_with_itself_is_one_run(desk: Desk):
    a, b = compared(desk, "same", "same")
    assert a is b
    assert a.steps == [("1 of 1", 0.5)]


def test_a_report_is_there_while_the_next_run_is_under_way(desk: Desk, orders: Path):
    (orders / "b held").write_text("hold")
    a, b = compare(desk, "a first", "b held")
    assert a.wait(PATIENCE_S)
    assert strategy_of(a) == "a first"
    assert not b.is_done
    (orders / "b held").unlink()
    assert b.wait(PATIENCE_S)
    assert strategy_of(b) == "b held"


def test_two_jobs_run_at_once_on_two_workers(orders: Path):
    (orders / "a held").write_text("hold")
    pair = Desk(workers=2, target=fake_worker.main)
    held = compare(pair, "a held", "b")
    assert [strategy_of(run) for run in compared(pair, "c", "d")] == ["c", "d"]
    assert not any(run.is_done for run in held)
    fake_worker.forget(orders)
    pair.close()
    assert [strategy_of(run) for run in held] == ["a held", "b"]


@pytest.mark.parametrize("refused", [0, 1])
@pytest.mark.parametrize(
    ("kind", "error"), [("refuse", ModelError), ("bug", WorkerError), ("garbage", Exception)]
)
def test_a_run_without_a_report_leaves_the_other_alone(
    desk: Desk, refused: int, kind: str, error: type[Exception]
):
    strategies = [f"well {kind} {refused}"]
    strategies.insert(refused, f"{kind} {refused}")
    runs = compared(desk, *strategies)
    with pytest.raises(error):
        _ = runs[refused].report
    assert strategy_of(runs[1 - refused]) == strategies[1 - refused]
    assert runs[1 - refused].steps == [(f"{2 - refused} of 2", 0.5)]


def test_a_death_in_the_middle_costs_the_run_under_way_alone(desk: Desk):
    before, dead, after = compared(desk, "before", "die in the middle", "after")
    assert strategy_of(before) == "before"
    with pytest.raises(CapacityError, match=r"ended early \(exit code 3\)"):
        _ = dead.report
    assert strategy_of(after) == "after"
    assert after.steps == [("1 of 1", 0.5)]  # what was left of the job, in a new worker
    assert compared(desk, "before", "after") == (before, after)


def test_a_report_above_the_cap_leaves_the_other_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(protocol, "MAX_REPORT_BYTES", fake_worker.LARGE_BYTES)
    large, well = compared(desk, "large", "well after large")
    with pytest.raises(CapacityError, match="more than 1 MiB"):
        _ = large.report
    assert strategy_of(well) == "well after large"


def test_a_run_that_takes_too_long_is_ended_and_not_kept(
    desk: Desk, orders: Path, monkeypatch: pytest.MonkeyPatch
):
    finished(desk, "warm")
    (orders / "endless").write_text("hold")
    monkeypatch.setattr(worker_process, "MAX_RUN_SECONDS", 1.0)
    well, endless = compared(desk, "well before", "endless")
    monkeypatch.undo()
    (orders / "endless").unlink()
    assert strategy_of(well) == "well before"
    with pytest.raises(CapacityError, match="more than 1 s and was ended"):
        _ = endless.report
    assert (well.is_kept, endless.is_kept) == (True, False)
    assert strategy_of(finished(desk, "endless")) == "endless"


def asked(desk: Desk, visitor: Visitor, *strategies: str) -> tuple[Run, ...]:
    return desk.start([request(each) for each in strategies], Source.of(b"model", None), visitor)


def test_a_run_under_way_can_be_cancelled_and_asked_for_again(desk: Desk, orders: Path):
    (orders / "endless again").write_text("hold")
    well, endless, after = compare(desk, "well first", "endless again", "after it")
    while not endless.steps:
        sleep(0.01)
    desk.cancel(endless)
    assert endless.is_cancelled
    assert not endless.is_kept
    assert after.wait(PATIENCE_S)
    assert (strategy_of(well), strategy_of(after)) == ("well first", "after it")
    (orders / "endless again").unlink()
    assert strategy_of(finished(desk, "endless again")) == "endless again"


@pytest.mark.parametrize("cancelled", [1, 2])
def test_a_run_later_in_a_job_is_not_computed_once_it_is_cancelled(
    desk: Desk, orders: Path, cancelled: int
):
    """The worker was sent all three: it is replaced as it comes to the cancelled one."""
    names = [f"first of {cancelled}", f"second of {cancelled}", f"third of {cancelled}"]
    for name in (names[0], names[cancelled]):
        (orders / name).write_text("hold")
    runs = compare(desk, *names)
    while not runs[0].is_begun:
        sleep(0.01)
    desk.cancel(runs[cancelled])
    (orders / names[0]).unlink()
    assert all(run.wait(PATIENCE_S) for run in runs)
    assert [run.is_cancelled for run in runs] == [n == cancelled for n in range(3)]
    assert strategy_of(finished(desk, f"after {cancelled}")) == f"after {cancelled}"


def test_a_run_that_two_wait_for_ends_with_the_second(desk: Desk, orders: Path):
    (orders / "shared").write_text("hold")
    one, other = Visitor(), Visitor()
    (run,) = asked(desk, one, "shared")
    assert asked(desk, other, "shared") == (run,)
    desk.cancel(run, one)
    assert not run.is_done
    desk.cancel(run, other)
    assert run.is_cancelled
    (orders / "shared").unlink()


def test_a_visitor_that_is_gone_waits_no_more(desk: Desk, orders: Path):
    (orders / "left alone").write_text("hold")
    gone, stays = Visitor(), Visitor()
    (run,) = asked(desk, gone, "left alone")
    asked(desk, stays, "left alone")
    del gone
    desk.cancel(run, stays)
    assert run.is_cancelled
    (orders / "left alone").unlink()


def test_what_nobody_waits_for_any_more_is_ended(desk: Desk, orders: Path):
    for name in ("left behind", "kept on"):
        (orders / name).write_text("hold")
    visitor = Visitor()
    left, kept = asked(desk, visitor, "left behind", "kept on")
    assert asked(desk, visitor, "kept on") == (kept,)
    assert left.is_cancelled
    assert not kept.is_done
    fake_worker.forget(orders)
    assert kept.wait(PATIENCE_S)
    assert strategy_of(kept) == "kept on"


def test_a_run_that_nobody_in_particular_waits_for_is_left_alone(desk: Desk, orders: Path):
    """The first view is computed before anybody comes."""
    (orders / "nobody's").write_text("hold")
    (run,) = compare(desk, "nobody's")
    asked(desk, Visitor(), "somebody's")
    assert not run.is_done
    fake_worker.forget(orders)
    assert strategy_of(finished(desk, "nobody's")) == "nobody's"


def test_what_a_visitor_cancelled_is_not_begun_by_itself(desk: Desk, orders: Path):
    (orders / "not now").write_text("hold")
    visitor = Visitor()
    (run,) = asked(desk, visitor, "not now")
    visitor.cancelled.add(run.key)
    desk.cancel(run, visitor)
    (orders / "not now").unlink()
    (again,) = asked(desk, visitor, "not now")
    assert again.is_cancelled
    assert strategy_of(finished(desk, "not now")) == "not now"
    assert not asked(desk, visitor, "not now")[0].is_cancelled
    visitor.cancelled.clear()
    assert strategy_of(asked(desk, visitor, "not now")[0]) == "not now"


def test_a_run_that_waits_can_be_cancelled(desk: Desk, orders: Path):
    (orders / "first in line").write_text("hold")
    (first,) = compare(desk, "first in line")
    (second,) = compare(desk, "second in line")
    desk.cancel(second)
    assert second.refusal is not None
    (orders / "first in line").unlink()
    assert first.wait(PATIENCE_S)
    assert strategy_of(first) == "first in line"
    assert strategy_of(finished(desk, "second in line")) == "second in line"


def test_every_run_of_a_job_has_the_whole_time(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    finished(desk, "warm")
    monkeypatch.setattr(worker_process, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(worker_process, "MAX_RUN_SECONDS", 1.8 * fake_worker.NAP_S)
    runs = compared(desk, "nap a", "nap b")
    assert [strategy_of(run) for run in runs] == ["nap a", "nap b"]


def test_a_finished_job_lets_go_of_the_model(desk: Desk):
    model = b"model" * 1000
    held = sys.getrefcount(model)
    compared(desk, "let go a", "let go b", model=model)
    deadline_s = monotonic() + PATIENCE_S
    while sys.getrefcount(model) > held:
        assert monotonic() < deadline_s
        sleep(0.02)


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
    assert finished(desk, "refuse").is_kept
    assert (caught.value.code, caught.value.what) == ("NO", "what")


def test_a_bug_is_not_kept_and_its_traceback_stays_in_the_log(desk: Desk):
    run = finished(desk, "bug")
    assert not run.is_kept
    with pytest.raises(WorkerError, match="a bug of ours") as caught:
        _ = run.report
    assert "Traceback" not in str(caught.value)
    assert finished(desk, "bug") is not run


def test_too_many_jobs_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jobs, "MAX_WAITING", 1)
    idle = Desk(workers=0)
    a, b = compare(idle, "a", "b")
    with pytest.raises(CapacityError, match="1 jobs are waiting already"):
        compare(idle, "a", "c")
    assert compare(idle, "b", "a") == (b, a)
    with pytest.raises(CapacityError, match="1 jobs are waiting already"):
        compare(idle, "c")


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
    base = jobs.run_key(request(), Source.of(b"model", None))
    assert jobs.run_key(request(), Source.of(b"model", None)) == base
    assert jobs.run_key(request(**choices), Source.of(model, profile)) != base


@pytest.mark.parametrize("profile", [None, b"", b"name: x"])
def test_a_job_crosses_the_pipe_unchanged(profile: bytes | None):
    first = RunRequest("m", "tvm@2", "chip", 8, {"s": 4}, "int8", {"a.b": "c"}, ("p",), True)
    sent = (first, request("graphturbo"))
    assert protocol.decode_job(protocol.encode_job(sent, b"\0model", profile)) == (
        sent,
        b"\0model",
        profile,
    )


def test_a_frame_names_its_run():
    frame = protocol.encode_step(300, "plan", 0.5)
    tag, number, body = protocol.split_frame(frame)
    assert (tag, number, protocol.decode_step(body)) == (protocol.STEP, 300, ("plan", 0.5))
    assert protocol.split_frame(protocol.WARM) == (protocol.WARM, 0, b"")
