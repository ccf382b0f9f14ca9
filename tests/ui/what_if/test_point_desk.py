"""Runs of points on workers: a few at a time, kept by their figures, let go when not wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic, sleep

import pytest

from graphturbo_core.errors import CapacityError
from graphturbo_core.pipeline import RunRequest
from graphturbo_core.sweep.tasks import Point, figures_of
from graphturbo_ui.feeding import AT_ONCE, MOST_WAITING, SHORT_SECONDS
from graphturbo_ui.jobs import Desk
from graphturbo_ui.runs import Source
from graphturbo_ui.what_if.point_desk import Answer, Hands, PointDesk
from graphturbo_ui.what_if.points import AskedPoint
from tests.remote import fake_worker
from tests.ui.synthetic import synthetic_report

PATIENCE_S = 20
SOURCE = Source.of(b"model", b"profile")


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(fake_worker.ORDERS, str(tmp_path))
    return tmp_path


@pytest.fixture
def desk(orders: Path) -> Iterator[PointDesk]:
    found = Desk(workers=1, target=fake_worker.main)
    yield PointDesk(found)
    fake_worker.forget(orders)
    found.close()


def asked(*strategies: str) -> list[AskedPoint]:
    return [AskedPoint(Point((), s), RunRequest("m", s), SOURCE) for s in strategies]


def finish(desk: PointDesk, points: Sequence[AskedPoint], hands: Hands) -> list[Answer | None]:
    end_s = monotonic() + PATIENCE_S
    while None in (found := desk.answers(points, hands)) and monotonic() < end_s:
        desk.advance(points, hands)
        sleep(0.01)
    return found


def make_long(hands: Hands) -> None:
    """Have the runs in hand be under way for longer than those that are let finish."""
    for run, _ in hands.under_way.values():
        run.asked_s -= 2 * SHORT_SECONDS


def test_figures_are_kept_and_reports_are_not(desk: PointDesk) -> None:
    points, hands = asked("x 1", "x 2", "x 3", "x 4", "x 5"), Hands()
    desk.advance(points, hands)
    assert 0 < len(hands.under_way) <= AT_ONCE
    found = finish(desk, points, hands)
    assert [answer and dict(answer.figures) for answer in found] == [
        figures_of(synthetic_report(point.request.strategy).contract) for point in points
    ]
    assert hands.finished == len(points) and not hands.under_way
    assert all(desk.desk.finished(p.request, p.source) is None for p in points)
    assert None not in desk.answers(points, Hands())  # another session has them at once


def test_refusals_are_answers_and_bugs_are_the_sessions(desk: PointDesk, orders: Path) -> None:
    """A bug is no refusal, has its text, and ends no other point."""
    for name in ("refuse", "bug", "invariant"):
        (orders / f"{name} it").write_text(name)
    points, hands = asked("refuse it", "bug it", "invariant it", "x 1"), Hands()
    refused, bug, broken, other = finish(desk, points, hands)
    assert refused is not None and "what, where, change" in refused.refusal
    assert refused.fault == ""
    assert bug == Answer(fault="KeyError: 'hello'")
    assert broken == Answer(fault="error: BROKEN: a bound is broken")
    assert other is not None and other.figures
    assert desk.answers(points, Hands())[1:3] == [None, None]


def test_what_met_a_bug_is_run_again_when_asked(desk: PointDesk, orders: Path) -> None:
    points, hands = asked("bug it"), Hands()
    (found,) = finish(desk, points, hands)
    assert found is not None and found.fault
    (orders / "bug it").write_text("x")
    hands.run_again()
    (again,) = finish(desk, points, hands)
    assert again is not None and again.figures


def test_one_search_at_a_time_beside_other_runs(desk: PointDesk, orders: Path) -> None:
    """`best` and `tuned` are searches: the second waits, and runs after it do not."""
    for name in ("best", "tuned", "x 1"):
        (orders / name).write_text("hold")
    points, hands = asked("best", "tuned", "x 1"), Hands()
    desk.advance(points, hands)
    assert list(hands.under_way) == [points[0].key, points[2].key]
    assert hands.search is hands.under_way[points[0].key][0]
    for name in ("best", "tuned", "x 1"):
        (orders / name).write_text("x")
    assert None not in finish(desk, points, hands)
    assert len(hands.search_seconds) == 2 and hands.finished == 1


def test_a_search_that_is_begun_ends_when_it_is_let_go(desk: PointDesk, orders: Path) -> None:
    """A short run is let finish; a search may take minutes more."""
    (orders / "best").write_text("hold")
    hands = Hands()
    desk.advance(asked("best"), hands)
    run = hands.search
    assert run is not None
    end_s = monotonic() + PATIENCE_S
    while not run.is_begun and monotonic() < end_s:
        sleep(0.01)
    hands.turn()
    desk.advance(asked("best"), hands)
    assert run.is_cancelled and not hands.under_way
    assert hands.search_seconds == []


def test_other_points_let_go_of_those_before(desk: PointDesk, orders: Path) -> None:
    (orders / "hold 1").write_text("hold")
    hands = Hands()
    desk.advance(asked("hold 1"), hands)
    (run, _), *_ = hands.under_way.values()
    make_long(hands)
    others = asked("x 1")
    desk.advance(others, hands)
    assert run.is_cancelled
    assert finish(desk, others, hands)[0] is not None


def test_a_stop_holds_until_other_points_are_asked_for(desk: PointDesk, orders: Path) -> None:
    (orders / "hold 1").write_text("hold")
    points, hands = asked("hold 1", "x 2"), Hands()
    desk.advance(points, hands)
    hands.turn()
    make_long(hands)
    desk.advance(points, hands)
    assert not hands.under_way
    desk.advance(points, hands)
    assert not hands.under_way
    others = asked("x 3")
    desk.advance(others, hands)
    assert not hands.is_stopped
    assert finish(desk, others, hands)[0] is not None


def test_a_full_desk_is_asked_again(desk: PointDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    points, hands = asked("x 1"), Hands()
    start = desk.desk.start
    monkeypatch.setattr(desk.desk, "start", _busy)
    desk.advance(points, hands)
    assert not hands.under_way
    monkeypatch.setattr(desk.desk, "start", start)
    assert finish(desk, points, hands)[0] is not None


def _busy(*_: object) -> None:
    raise CapacityError("BUSY", "jobs are waiting", "", "later")


def test_runs_that_the_desk_has_are_taken(desk: PointDesk) -> None:
    request = RunRequest("m", "x known")
    (run,) = desk.desk.start([request], SOURCE)
    assert run.wait(PATIENCE_S)
    (point,) = asked("x other name")
    desk.learn({point.key: (request, SOURCE)})
    assert desk.answers([point], Hands())[0] is not None


def test_time_left_follows_from_what_finished() -> None:
    hands = Hands(finished=1, begun_s=monotonic() - 10)
    assert hands.seconds_left(3) is None
    hands.finished = 5
    assert hands.seconds_left(3) == pytest.approx(6, abs=0.5)
    # searches run beside them, one at a time: two of 30 s each are longer
    assert hands.seconds_left(3, searches=2) is None
    hands.search_seconds = [20, 40]
    assert hands.seconds_left(3, searches=2) == pytest.approx(60)
    assert hands.seconds_left(0, searches=0) == 0


def test_a_short_run_that_is_begun_is_let_finish(desk: PointDesk, orders: Path) -> None:
    (orders / "hold 1").write_text("hold")
    points, hands = asked("hold 1", "x 2", "x 3"), Hands()
    desk.advance(points, hands)
    (run, _), *_ = hands.under_way.values()
    end_s = monotonic() + PATIENCE_S
    while not run.is_begun and monotonic() < end_s:
        sleep(0.01)
    hands.leave(desk.desk)
    assert list(hands.under_way) == [points[0].key] and not run.is_done
    (orders / "hold 1").write_text("x")
    assert run.wait(PATIENCE_S) and not run.is_cancelled


def test_points_do_not_fill_the_queue(desk: PointDesk, orders: Path) -> None:
    (orders / "slow 1").write_text("hold")
    everybody = [Hands() for _ in range(20)]
    for place, hands in enumerate(everybody):
        desk.advance(asked("slow 1", f"x {place}", f"y {place}"), hands)
    assert desk.desk.waiting <= MOST_WAITING


def test_a_pause_does_not_count_as_time_of_runs() -> None:
    points, hands = asked("x 1"), Hands()
    hands.take(points)
    hands.finished, hands.begun_s, hands.seen_s = 4, monotonic() - 300, monotonic() - 300
    hands.take(points)
    assert hands.finished == 0 and monotonic() - hands.begun_s < 1
