"""Target -> Starts: schedules that a search begins with, `graphturbo:full`'s first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.graphturbo.levels import LEVELS
from graphturbo_core.strategies.graphturbo.strategy import GraphTurbo
from graphturbo_core.strategies.plus.cuts import GroupCut, cuts_of
from graphturbo_core.strategies.plus.variants import FULL, variants
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import Splitter

_ORDER, _FULL = LEVELS[-2:]
LAYERS_WHOLE = "layers whole"


@dataclass(frozen=True)
class Start:
    """Groups in topological order; `is_scheduled`: its instructions across layers."""

    name: str
    cuts: tuple[GroupCut, ...]
    is_scheduled: bool = True

    @property
    def line(self) -> tuple[int, ...]:
        """All layers, group by group: a topological order; any interval may be a group."""
        return tuple(layer for cut in self.cuts for layer in cut.layers)


def plain_splitter(target: Target) -> Splitter:
    """Algorithm 1 with `graphturbo`'s default options."""
    return Splitter(target.budget.split_bytes)


def find_starts(target: Target) -> Iterator[Start]:
    """Yields named schedules, computed lazily; the first is `graphturbo:full`'s.

    Then its level `:order`, whole layers, its options one at a time, and Algorithm 1 with less
    capacity, which gives more and smaller pieces.
    """
    full = GraphTurbo(plain_splitter(target))
    first = _start(FULL, full, target)
    yield first
    yield replace(first, name=_ORDER.name, is_scheduled=False)
    whole = tuple(GroupCut((layer,), -1, 1) for layer in sorted(first.line))
    yield Start(LAYERS_WHOLE, whole)
    for name, strategy in variants(full).items():
        yield _start(name, strategy, target)


def other_starts(starts: Iterable[Start]) -> tuple[Start, ...]:
    """Returns the starts whose groups or splits differ from the first, `graphturbo:full`'s.

    Level `:order` and options without effect on this model have the same cuts. Whole layers are
    always a start: a search needs one.
    """
    first, *others = starts
    return tuple(s for s in others if s.cuts != first.cuts or s.name == LAYERS_WHOLE)


def full_plan(target: Target) -> Plan:
    """The plan of `graphturbo:full`, for comparison; without evaluation."""
    return GraphTurbo(plain_splitter(target))(target)


def _start(name: str, strategy: GraphTurbo, target: Target) -> Start:
    return Start(name, cuts_of(strategy(target)))
