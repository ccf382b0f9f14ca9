"""Boxes: half-open intervals, one per axis, in the tensor's own coordinates."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

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
    return tuple(hi - lo for lo, hi in box)


def is_empty(box: Box) -> bool:
    """Whether no element lies in the box."""
    return any(hi <= lo for lo, hi in box)


def intersect(first: Box, second: Box) -> Box:
    """The common box; `is_empty` tells whether there is one."""
    return tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(first, second, strict=True))


def hull(first: Box, second: Box) -> Box:
    """The smallest box around both; an empty one adds nothing."""
    if is_empty(first):
        return second
    if is_empty(second):
        return first
    return tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(first, second, strict=True))


def contains(outer: Box, inner: Box) -> bool:
    """Whether every element of `inner` lies in `outer`."""
    return is_empty(inner) or all(
        a <= c and d <= b for (a, b), (c, d) in zip(outer, inner, strict=True)
    )


def with_interval(box: Box, axis: int, interval: Interval) -> Box:
    """The box with one axis replaced."""
    return (*box[:axis], interval, *box[axis + 1 :])


def divide(interval: Interval, parts: int) -> tuple[Interval, ...]:
    """`parts` consecutive intervals that differ by at most one, the longer ones first.

    With fewer elements than parts the last ones are empty.
    """
    lo, hi = interval
    size, longer = divmod(hi - lo, parts)
    edges = [lo + part * size + min(part, longer) for part in range(parts + 1)]
    return tuple(pairwise(edges))
