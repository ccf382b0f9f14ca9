"""Runs of points on the workers, a few at a time; their figures are kept, their reports are not."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from time import monotonic

from graphturbo_core.errors import InvariantError, OptionError
from graphturbo_core.run_request import RunRequest
from graphturbo_core.sweep.axes import Value
from graphturbo_core.sweep.tasks import figures_of
from graphturbo_ui.feeding import Feed
from graphturbo_ui.jobs import Desk, Run, Source, WorkerError, shared_desk
from graphturbo_ui.session import query, what_if
from graphturbo_ui.what_if.points import AskedPoint

PAUSE_SECONDS = 5.0
"""After so long without a look, the time left is estimated from then on."""
MOST_ANSWERS = 20_000
"""Answers that the server keeps (our choice: some 20 MiB)."""
MOST_POINTS = 600
"""Runs of one picture (our choice: minutes); a sweep on the command line may have more."""
MOST_SEARCHES = 40
"""Searches of one picture (our choice: an hour or less at a minute each)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The figures of a finished run, or why it was refused, or the bug of ours that it met."""

    figures: Mapping[str, Value] = field(default_factory=dict)
    refusal: str = ""
    fault: str = ""


def reason_of(answer: Answer | None) -> str:
    """Why a run has no figures: refused, or a bug of ours; empty where it has, or will."""
    return answer.refusal or answer.fault if answer is not None else ""


@dataclass
class Hands(Feed):
    """What a session has in hand.

    `failed`: answers that may not come again, and so are kept for this session only. `asked`: a
    hash of the points that are asked for; `finished`: how many of them since `begun_s`, searches
    left out. `search_seconds`: how long each finished search took.
    """

    failed: dict[str, Answer] = field(default_factory=dict)
    asked: int = 0
    is_stopped: bool = False
    finished: int = 0
    begun_s: float = 0.0
    seen_s: float = 0.0
    search_seconds: list[float] = field(default_factory=list)

    def take(self, asked: Sequence[AskedPoint]) -> None:
        """These points are asked for; where they are others, a stop is forgotten."""
        name, now_s = hash(tuple(point.key for point in asked)), monotonic()
        if name != self.asked:
            self.is_stopped = False
            self.search_seconds.clear()
        if name != self.asked or now_s - self.seen_s > PAUSE_SECONDS:
            self.finished, self.begun_s = 0, now_s
        self.asked, self.seen_s = name, now_s

    def turn(self) -> None:
        """Stop where points are computed, and go on where they were stopped."""
        self.is_stopped = not self.is_stopped
        self.finished, self.begun_s = 0, monotonic()

    def note(self, run: Run) -> None:
        """Count a finished run for the estimate of the time left."""
        if query.is_search(run.request.strategy):
            self.search_seconds.append(monotonic() - run.asked_s)
        else:
            self.finished += 1

    def run_again(self) -> None:
        """Forget what failed, so that it is computed again."""
        self.failed.clear()

    def seconds_left(self, missing: int, searches: int = 0) -> float | None:
        """Estimate of the time for runs and searches that are missing; None before it can be.

        1. Runs take what those took that finished since the first one began, two at least.
        2. Searches run one at a time, beside the other runs, and take their mean so far.
        """
        left_s = [0.0]
        if missing:
            if self.finished < 2:  # noqa: PLR2004 - the first one may have waited for a worker
                return None
            left_s.append((monotonic() - self.begun_s) / self.finished * missing)
        if searches:
            if not self.search_seconds:
                return None
            spent_s = monotonic() - self.search.asked_s if self.search else 0.0
            mean_s = sum(self.search_seconds) / len(self.search_seconds)
            left_s.append(mean_s * (searches - 1) + max(0.0, mean_s - spent_s))
        return max(left_s)


class PointDesk:
    """Answers of points for all sessions, and the desk that computes them."""

    def __init__(self, desk: Desk) -> None:
        """No point has an answer yet."""
        self.desk = desk
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._lock = threading.Lock()

    def answers(self, asked: Sequence[AskedPoint], hands: Hands) -> list[Answer | None]:
        """Per point, its answer; None where it is still to come."""
        with self._lock:
            found = [self._answers.get(point.key) for point in asked]
            for point in asked:
                if point.key in self._answers:
                    self._answers.move_to_end(point.key)
        return [
            hands.failed.get(point.key) if answer is None else answer
            for point, answer in zip(asked, found, strict=True)
        ]

    def learn(self, known: Mapping[str, tuple[RunRequest, Source]]) -> None:
        """Take the figures of runs that the desk has already, by the keys of their points."""
        for key, (request, source) in known.items():
            run = self.desk.finished(request, source)
            if run is not None:
                self._keep(key, Answer(figures_of(run.report.contract)))

    def advance(self, asked: Sequence[AskedPoint], hands: Hands) -> int:
        """Take what is finished, let go of what is not asked for, begin more; how many finished."""
        hands.take(asked)
        answers = self.answers(asked, hands)
        missing = [] if hands.is_stopped else zip(asked, answers, strict=True)
        wanted = {p.key: (p.request, p.source) for p, answer in missing if answer is None}
        finished = hands.advance(self.desk, wanted)
        for key, run in finished:
            if not run.is_cancelled:
                hands.note(run)
            self._take(key, run, hands)
        return len(finished)

    def _take(self, key: str, run: Run, hands: Hands) -> None:
        try:
            refusal = run.refusal
        except WorkerError as error:
            hands.failed[key] = Answer(fault=error.line or str(error))
            return
        if run.is_cancelled:
            return
        if refusal is None:
            answer = Answer(figures_of(run.report.contract))
        elif isinstance(refusal, InvariantError):
            hands.failed[key] = Answer(fault=refusal.line())
            self.desk.forget(run)
            return
        else:
            answer = Answer(refusal=refusal.line())
        if not run.is_kept:
            hands.failed[key] = answer
            return
        self._keep(key, answer)
        self.desk.forget(run)

    def _keep(self, key: str, answer: Answer) -> None:
        with self._lock:
            self._answers[key] = answer
            self._answers.move_to_end(key)
            while len(self._answers) > MOST_ANSWERS:
                self._answers.popitem(last=False)


@cache
def shared_point_desk() -> PointDesk:
    """The server's one, on its one desk."""
    return PointDesk(shared_desk())


def let_go() -> None:
    """Let go of the points of a session that looks at another page."""
    hands = what_if.hands_now()
    if hands is not None:
        hands.leave(shared_desk())


def check_count(points: Sequence[AskedPoint]) -> None:
    """Check the number of points.

    Raises:
        OptionError: TOO_MANY_POINTS or TOO_MANY_SEARCHES.
    """
    if len(points) > MOST_POINTS:
        what = f"{len(points)} runs are more than the {MOST_POINTS} of one picture"
        change = "narrow a range or choose fewer strategies, or use the command `sweep`"
        raise OptionError("TOO_MANY_POINTS", what, "", change)
    searches = sum(1 for point in points if query.is_search(point.request.strategy))
    if searches > MOST_SEARCHES:
        what = f"{searches} searches are more than the {MOST_SEARCHES} of one picture"
        change = "narrow a range, or use the command `sweep`"
        raise OptionError("TOO_MANY_SEARCHES", what, "", change)
