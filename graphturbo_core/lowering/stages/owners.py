"""Owner of each part of a tensor, and the equivalent part on its simulated core."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from itertools import product
from math import prod
from typing import NamedTuple

from graphturbo_core.ir.boxes import Box, Interval, divide, hull, intersect, is_empty, volume
from graphturbo_core.lowering.stages.classes import CoreClasses
from graphturbo_core.lowering.stages.stage import Cut


class Part(NamedTuple):
    """A part of a box, its owner, the owner's simulated core, and the equivalent box there."""

    box: Box
    owner: int
    leader: int
    like: Box


def joined(boxes: Iterable[Box]) -> tuple[Box, ...]:
    """The disjoint boxes, or the one box of their union."""
    listed = tuple(boxes)
    around = reduce(hull, listed)
    return (around,) if volume(around) == sum(map(volume, listed)) else listed


class Owners:
    """All cores' shares of one tensor."""

    def __init__(self, cut: Cut, classes: CoreClasses) -> None:
        """Compute the intervals of every cut axis."""
        self._box, self._binding, self._classes = cut.box, cut.binding, classes
        self._cuts = [
            divide(cut.box[axis], count)
            for axis, count in zip(cut.binding.axes, cut.binding.grid, strict=True)
        ]
        self._begins = [[lo for lo, _ in intervals] for intervals in self._cuts]
        self._ends = [[hi for _, hi in intervals] for intervals in self._cuts]
        self._known: dict[tuple[Box, int], dict[int, list[Part]]] = {}

    def count(self, box: Box) -> int:
        """Number of cores that computed a part of a box."""
        return 0 if is_empty(intersect(self._box, box)) else prod(map(len, self._near(box)))

    def _near(self, box: Box) -> list[range]:
        """The cuts of each axis that a box intersects."""
        axes = zip(self._binding.axes, self._begins, self._ends, strict=True)
        return [
            range(bisect_right(ends, box[axis][0]), bisect_left(begins, box[axis][1]))
            for axis, begins, ends in axes
        ]

    def parts(self, box: Box) -> Iterator[Part]:
        """The parts of a box by owner, in the order of the grid."""
        grid = self._binding.grid
        for cell in product(*self._near(box)):
            place = 0
            for at, count in zip(cell, grid, strict=True):
                place = place * count + at
            owner = self._binding.cores[place]
            part = intersect(self._share(cell), box)
            if not is_empty(part):
                leader = self._classes.leader(owner)
                like = part if leader == owner else self._like(part, cell, leader)
                yield Part(part, owner, leader, like)

    def by_leader(self, box: Box, core: int) -> Mapping[int, Sequence[Part]]:
        """Parts of a box that other cores computed, by their owner's simulated core."""
        key = box, core
        if key not in self._known:
            found: dict[int, list[Part]] = {}
            others = (part for part in self.parts(box) if part.owner != core)
            for part in others:
                found.setdefault(part.leader, []).append(part)
            self._known[key] = found
        return self._known[key]

    def likes(self, box: Box) -> tuple[Box, ...]:
        """Equivalent boxes of a box, one hull per simulated core of its owners.

        The box itself if no core represents others, or none wrote a part of it.
        """
        if not self._classes.is_folded:
            return (box,)
        found: dict[int, Box] = {}
        for part in self.parts(box):
            known = found.get(part.leader)
            found[part.leader] = part.like if known is None else hull(known, part.like)
        return tuple(found.values()) or (box,)

    def _share(self, cell: tuple[int, ...]) -> Box:
        found: list[Interval] = list(self._box)
        for axis, cuts, at in zip(self._binding.axes, self._cuts, cell, strict=True):
            found[axis] = cuts[at]
        return tuple(found)

    def _like(self, part: Box, cell: tuple[int, ...], leader: int) -> Box:
        """The part of a cell's share, shifted to the leader's share."""
        own, other = self._share(cell), self._share(self._cell(leader))
        shares = zip(part, own, other, strict=True)
        return tuple((lo - a + b, hi - a + b) for (lo, hi), (a, _), (b, _) in shares)

    def _cell(self, core: int) -> tuple[int, ...]:
        place, found = self._places[core], []
        for count in reversed(self._binding.grid):
            place, at = divmod(place, count)
            found.append(at)
        return tuple(reversed(found))

    @cached_property
    def _places(self) -> dict[int, int]:
        return {core: place for place, core in enumerate(self._binding.cores)}
