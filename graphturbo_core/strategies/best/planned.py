"""Segments, simulated kernels -> Cuts: the cheapest segments in a row, by dynamic programming.

A closed form ranks; simulation corrects it. A cut that was simulated counts with the mean of its
simulated cycles. Another one counts with its closed form, scaled by the factor of its class: the
sum of simulated cycles over that of closed forms. Each simulated plan so leads to the next. Our
choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from graphturbo_core.strategies.best.goal import TIME, Minimised
from graphturbo_core.strategies.best.segments import Option, Segment
from graphturbo_core.strategies.plus.crossover import Timed
from graphturbo_core.strategies.plus.cuts import GroupCut

Class = tuple[int, bool]
"""Class of overflow, and whether a segment is made of whole blocks."""


class _Way(NamedTuple):
    """The fewest cycles of the layers so far; the last segment begins at `first`."""

    cycles: int
    first: int
    option: Option | None


class _Sums(NamedTuple):
    """Cuts that were simulated, the sum of their simulated cycles, and of their closed forms."""

    cuts: int
    simulated: int
    closed_form: int

    def and_one(self, simulated: int, closed_form: int) -> _Sums:
        return _Sums(self.cuts + 1, self.simulated + simulated, self.closed_form + closed_form)

    def scaled(self, cycles: int) -> int:
        """Cycles times the factor; one more cut counts as exact, since a single cut says little."""
        divisor = self.closed_form * (self.cuts + 1)
        factor = self.simulated * self.cuts + self.closed_form
        return cycles * factor // divisor if divisor else cycles


@dataclass
class Planned:
    """The dynamic program over one model's segments, and what simulation said so far.

    Its cycles are those that are compared: of time, or of `minimised`.
    """

    segments: Sequence[Segment]
    minimised: Minimised = TIME
    _seen: dict[GroupCut, list[int]] = field(default_factory=dict)
    _sums: dict[Class | None, _Sums] = field(default_factory=dict)

    def cheapest(self) -> tuple[tuple[GroupCut, ...], int]:
        """Groups in order with the least sum of cycles, and that sum; ties: the first.

        Linear in the options of all segments.
        """
        return self.between(0, max((segment.last for segment in self.segments), default=0))

    def between(
        self, begin: int, end: int, without: GroupCut | None = None
    ) -> tuple[tuple[GroupCut, ...], int]:
        """As `cheapest`, for layers [begin, end) and without one group; empty if none is left."""
        ending: list[list[Segment]] = [[] for _ in range(end + 1)]
        for segment in self.segments:
            if begin <= segment.first and segment.last <= end:
                ending[segment.last].append(segment)
        ways = {begin: _Way(0, begin, None)}
        for place in range(begin + 1, end + 1):
            here = (
                _Way(ways[segment.first].cycles + self._cycles(option), segment.first, option)
                for segment in ending[place]
                if segment.first in ways
                for option in segment.options
                if without is None or any_axis(option.cut) != any_axis(without)
            )
            way = min(here, key=lambda way: way.cycles, default=None)
            if way is not None:
                ways[place] = way
        if end not in ways:
            return (), 0
        found, place = [], end
        while (option := ways[place].option) is not None:
            found.append(option.cut)
            place = ways[place].first
        return tuple(reversed(found)), ways[end].cycles

    def whole(self, begin: int, end: int) -> tuple[GroupCut, int] | None:
        """The layers [begin, end) as the one group of fewest cycles; None if it is no segment."""
        ways = [
            (self._cycles(option), option.cut)
            for segment in self.segments
            if (segment.first, segment.last) == (begin, end)
            for option in segment.options
        ]
        cycles, cut = min(ways, key=itemgetter(0), default=(0, None))
        return None if cut is None else (cut, cycles)

    def learn(self, timed: Timed) -> None:
        """Take over the simulated cycles of a plan's groups."""
        took = [0] * len(timed.cuts)
        for kernel, cycles in zip(timed.plan.kernels, timed.kernel_cycles, strict=True):
            took[kernel.group] += cycles
        for cut, cycles in zip(timed.cuts, took, strict=True):
            self._seen.setdefault(any_axis(cut), []).append(cycles)
        self._sums = {}
        for segment in self.segments:
            for option in (o for o in segment.options if any_axis(o.cut) in self._seen):
                simulated = self.simulated(option.cut)
                for key in (_class(option), None):
                    own = self._sums.get(key, _Sums(0, 0, 0))
                    self._sums[key] = own.and_one(simulated, self._closed_form(option))

    def simulated(self, cut: GroupCut) -> int:
        """Mean of the simulated cycles of a group."""
        seen = self._seen[any_axis(cut)]
        return sum(seen) // len(seen)

    def _cycles(self, option: Option) -> int:
        if any_axis(option.cut) in self._seen:
            return self.simulated(option.cut)
        of_all = self._sums.get(None, _Sums(0, 0, 0))
        return self._sums.get(_class(option), of_all).scaled(self._closed_form(option))

    def _closed_form(self, option: Option) -> int:
        return self.minimised.cycles(option.estimate.cycles, option.estimate.dram_cycles)


def any_axis(cut: GroupCut) -> GroupCut:
    """The cut, the same along any axis in one piece."""
    return GroupCut(cut.layers, -1, 1) if cut.pieces == 1 else cut


def _class(option: Option) -> Class:
    return option.estimate.overflow_class, option.is_of_blocks
