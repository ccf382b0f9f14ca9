"""Runs of one session on the desk, a few at a time: other sessions' jobs come in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from time import monotonic
from types import MappingProxyType

from graphturbo_core.errors import CapacityError
from graphturbo_core.run_request import RunRequest
from graphturbo_ui.jobs import Desk
from graphturbo_ui.runs import Run, Source, Visitor
from graphturbo_ui.session.query import is_search

AT_ONCE = 3
"""Runs of a feed that wait or are computed: one more than workers, so that none rests."""
MOST_WAITING = 2
"""With so many jobs waiting no run is begun: other pages' runs do not wait behind many."""
SHORT_SECONDS = 10.0
"""A run that is under way for less is let finish: a worker ended takes seconds to begin again.

A search is not: it may take minutes.
"""

Asked = Mapping[str, tuple[RunRequest, Source]]
"""Runs that are asked for, in order: their choices, model and chip by a key."""


@dataclass
class Feed:
    """Runs under way by key, each with who waits for it.

    One search at a time: it takes minutes, and the other worker is left for all other runs.

    A run that met a bug is not known to the desk any more, hence they are kept here.
    """

    under_way: dict[str, tuple[Run, Visitor]] = field(default_factory=dict)

    @property
    def first(self) -> Run | None:
        """The run that was begun first of those under way."""
        return next((run for run, _ in self.under_way.values()), None)

    @property
    def search(self) -> Run | None:
        """The search that is under way."""
        runs = (run for run, _ in self.under_way.values())
        return next((run for run in runs if is_search(run.request.strategy)), None)

    def visitors_of(self, run: Run) -> tuple[Visitor, ...]:
        """As whom this feed waits for a run."""
        return tuple(visitor for other, visitor in self.under_way.values() if other is run)

    def advance(self, desk: Desk, asked: Asked) -> list[tuple[str, Run]]:
        """The runs that are done, by key; let go of those not asked for, and begin more."""
        done = dict(self._done())
        self.leave(desk, asked)
        self._begin(desk, {key: run for key, run in asked.items() if key not in done})
        return [*done.items(), *self._done()]

    def leave(self, desk: Desk, asked: Asked = MappingProxyType({})) -> None:
        """Let go of what is under way and not asked for, but for short runs that are begun."""
        for key, (run, visitor) in tuple(self.under_way.items()):
            is_short = run.is_begun and monotonic() - run.asked_s < SHORT_SECONDS
            if key not in asked and (not is_short or is_search(run.request.strategy)):
                desk.cancel(run, visitor)
                del self.under_way[key]

    def _done(self) -> Iterator[tuple[str, Run]]:
        """Finished runs, taken out of those under way."""
        for key, (run, _) in tuple(self.under_way.items()):
            if run.is_done:
                del self.under_way[key]
                yield key, run

    def _begin(self, desk: Desk, asked: Asked) -> None:
        for key, (request, source) in asked.items():
            if key in self.under_way or (self.search and is_search(request.strategy)):
                continue
            if len(self.under_way) >= AT_ONCE or desk.waiting >= MOST_WAITING:
                return
            visitor = Visitor()
            try:
                (run,) = desk.start([request], source, visitor)
            except CapacityError:
                return  # too many jobs wait: at the next look there may be room
            self.under_way[key] = run, visitor
            if not run.is_done:
                desk.wake()
