"""Boxes: half-open intervals, one per axis, in the tensor's own coordinates."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

Interval = tuple[int, int]
Box = tuple[Interval, ...]


def full_box(shape: Iterable[int]) -> Box:
    """The box of a whole tensor of this shape."""
    return tuple((0, size) for size in shape)


def volume(box: Box) -> int:
    """Number of elements; 0 when any axis is empty, 1 for a scalar."""
    elements = 1
    for lo, hi in box:
        if hi <= lo:
            return 0
        elements *= hi - lo
    return elements


def extents(box: Box) -> tuple[int, ...]:
    """Size of every axis."""
    return tuple([hi - lo for lo, hi in box])


def is_empty(box: Box) -> bool:
    """Whether the box has no element."""
    for lo, hi in box:  # noqa: SIM110 (a generator takes twice as long; called per access)
        if hi <= lo:
            return True
    return False


def intersect(first: Box, second: Box) -> Box:
    """The common box; empty (`is_empty`) if there is none."""
    pairs = zip(first, second, strict=True)
    return tuple([(a if a > c else c, b if b < d else d) for (a, b), (c, d) in pairs])


def hull(first: Box, second: Box) -> Box:
    """The smallest box around both; an empty one adds nothing."""
    if first == second or is_empty(first):
        return second
    if is_empty(second):
        return first
    pairs = zip(first, second, strict=True)
    return tuple([(a if a < c else c, b if b > d else d) for (a, b), (c, d) in pairs])


def contains(outer: Box, inner: Box) -> bool:
    """Whether `outer` contains every element of `inner`."""
    for (a, b), (c, d) in zip(outer, inner, strict=True):
        if c < a or b < d:
            return is_empty(inner)
    return True


def with_interval(box: Box, axis: int, interval: Interval) -> Box:
    """The box with one axis replaced."""
    return (*box[:axis], interval, *box[axis + 1 :])


def corner_of(box: Box) -> tuple[int, ...]:
    """Lowest index along every axis."""
    return tuple([lo for lo, _ in box])


def shifted(box: Box, by: Sequence[int]) -> Box:
    """The box moved by so many elements along every axis."""
    return tuple([(lo + d, hi + d) for (lo, hi), d in zip(box, by, strict=True)])


def part_of(interval: Interval, parts: int, index: int) -> Interval:
    """The interval that `divide` puts at `index`, without the others."""
    lo, hi = interval
    size, longer = divmod(hi - lo, parts)
    begin = lo + index * size + min(index, longer)
    return begin, begin + size + (index < longer)


def divide(interval: Interval, parts: int) -> tuple[Interval, ...]:
    """`parts` consecutive intervals that differ by at most one, the longer ones first.

    With fewer elements than parts the last ones are empty.
    """
    lo, hi = interval
    size, longer = divmod(hi - lo, parts)
    edges = [lo + index * size + min(index, longer) for index in range(parts + 1)]
    return tuple(pairwise(edges))


class BoxIndex:
    """Boxes of one tensor, sorted along the axis with the most distinct starts.

    Pieces of a split are adjacent along it, so that each box intersects few of them.
    """

    def __init__(self, boxes: Sequence[Box]) -> None:
        """O(n log n)."""
        self._boxes = boxes
        rank = len(boxes[0]) if boxes else 0
        begins = [len({box[axis][0] for box in boxes}) for axis in range(rank)]
        self._axis = axis = begins.index(max(begins)) if begins else -1
        if axis < 0:
            return
        self._order = sorted(range(len(boxes)), key=lambda place: boxes[place][axis][0])
        self._begins = [boxes[place][axis][0] for place in self._order]
        self._ends = list(accumulate((boxes[place][axis][1] for place in self._order), max))

    def meeting(self, box: Box) -> list[int]:
        """Indices of the boxes that share an element with `box`, rising."""
        if self._axis < 0:
            return list(range(len(self._boxes)))
        lo, hi = box[self._axis]
        near = self._order[bisect_right(self._ends, lo) : bisect_left(self._begins, hi)]
        return sorted(place for place in near if not is_empty(intersect(self._boxes[place], box)))
