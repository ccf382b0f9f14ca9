"""Places along an output axis -> places along an input axis, in closed form where there is one.

Almost every set of places is evenly spaced: first, last, step. Such a `range` costs the same for
ten places and for a billion. All other sets are listed, up to `MAX_LISTED` places.
"""

from __future__ import annotations

from math import gcd

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.errors import CapacityError
from graphturbo_core.semantics.access import AxisKind, AxisMap

Indices = NDArray[np.int64]
Places = range | Indices
"""Rising places of one axis; evenly spaced ones are always a `range`."""
MAX_LISTED = 2**23
"""Most places in a list: 64 MiB as indices (our choice)."""


def read_places(op: str, axis: AxisMap, at: Places) -> Places:
    """The places of an input axis that the places `at` of the output axis read.

    Raises:
        CapacityError: NEED_TOO_SCATTERED, they are not evenly spaced and too many to list.
    """
    if not len(at):
        return range(0)
    row = _even_row(axis, at) if isinstance(at, range) else None
    if row is not None:
        return _clipped_row(row, axis.size)
    count = len(at) * max(axis.kernel, axis.in_block + 2 * axis.pad)
    _check_listable(op, count)
    places = _listed(axis, np.asarray(at))
    return shortest(places[(places >= 0) & (places < axis.size)])


def united(op: str, first: Places, second: Places) -> Places:
    """The union of both.

    Raises:
        CapacityError: NEED_TOO_SCATTERED, they are not evenly spaced and too many to list.
    """
    if isinstance(first, range) and isinstance(second, range):
        row = _united_rows(first, second)
        if row is not None:
            return row
    _check_listable(op, len(first) + len(second))
    return shortest(np.union1d(first, second))


def shared(op: str, first: Places, second: Places) -> Places:
    """The intersection of both.

    Raises:
        CapacityError: NEED_TOO_SCATTERED, they are not evenly spaced and too many to list.
    """
    if isinstance(first, range) and isinstance(second, range):
        for inner, outer in ((first, second), (second, first)):
            if _lies_in(inner, outer):
                return inner
        if first.step == second.step:
            if (first[0] - second[0]) % first.step:
                return range(0)
            return range(max(first[0], second[0]), min(first[-1], second[-1]) + 1, first.step)
    _check_listable(op, len(first) + len(second))
    return shortest(np.intersect1d(first, second, assume_unique=True))


def without(op: str, first: Places, second: Places) -> Places:
    """The places of `first` that are not in `second`.

    Raises:
        CapacityError: NEED_TOO_SCATTERED, they are not evenly spaced and too many to list.
    """
    if isinstance(first, range):
        common = shared(op, first, second)
        if not len(common):
            return first
        if isinstance(common, range) and (common.step == first.step or len(common) == 1):
            begin, end = first.index(common[0]), first.index(common[-1]) + 1
            if begin == 0:
                return first[end:]
            if end == len(first):
                return first[:begin]
    _check_listable(op, len(first) + len(second))
    return shortest(np.setdiff1d(first, second, assume_unique=True))


def is_same(first: Places, second: Places) -> bool:
    """Whether both are the same places; evenly spaced ones are never a list."""
    if isinstance(first, range) or isinstance(second, range):
        return isinstance(first, range) and isinstance(second, range) and first == second
    return np.array_equal(first, second)


def _check_listable(op: str, count: int) -> None:
    if count > MAX_LISTED:
        raise CapacityError(
            "NEED_TOO_SCATTERED",
            f"{op!r} reads {count} unevenly spaced places of one axis",
            f"the limit is {MAX_LISTED}",
            "give the tensor more axes or a smaller one",
        )


def _listed(axis: AxisMap, at: Indices) -> Indices:
    """The read places by the definition of `AxisMap`, place by place; not clipped, rising."""
    if axis.kind is AxisKind.WINDOW:
        taps = np.arange(axis.kernel) * axis.dilation - axis.pad
        return np.unique(at[:, None] * axis.stride + taps[None, :])
    if axis.kind is AxisKind.OFFSET:
        return np.unique(axis.offset + at * axis.step)
    if axis.kind is AxisKind.GROUPED:
        blocks = np.unique(at // axis.out_block)
        return (blocks[:, None] * axis.in_block + np.arange(axis.in_block)[None, :]).ravel()
    if axis.kind is AxisKind.SCALED:
        first = at * axis.in_block // axis.out_block - axis.pad
        last = -(-(at + 1) * axis.in_block // axis.out_block) + axis.pad
        row = first[:, None] + np.arange(int((last - first).max()))[None, :]
        return np.unique(row[row < last[:, None]])
    if axis.kind is AxisKind.INNER:
        return np.arange(*axis.alone.interval(((int(at[0]), int(at[-1]) + 1),)))
    return at


def _even_row(axis: AxisMap, at: range) -> range | None:
    """The read places in closed form; None where they are not evenly spaced."""
    if axis.kind is AxisKind.WINDOW:
        taps = range(0, axis.kernel * axis.dilation, axis.dilation)
        return _summed(_scaled(at, axis.stride, -axis.pad), taps)
    if axis.kind is AxisKind.OFFSET:
        return _scaled(at, axis.step, axis.offset)
    if axis.kind is AxisKind.GROUPED:
        blocks = _block_row(at, axis.out_block)
        return blocks and _summed(_scaled(blocks, axis.in_block, 0), range(axis.in_block))
    if axis.kind is AxisKind.SCALED:
        return _scaled_row(axis, at)
    if axis.kind is AxisKind.INNER:
        return range(*axis.alone.interval(((at[0], at[-1] + 1),)))
    return at


def _scaled_row(axis: AxisMap, at: range) -> range | None:
    """Consecutive results read consecutive places; None for other results."""
    if at.step != 1:
        return None
    first = at[0] * axis.in_block // axis.out_block - axis.pad
    return range(first, -(-(at[-1] + 1) * axis.in_block // axis.out_block) + axis.pad)


def _scaled(row: range, factor: int, shift: int) -> range:
    """Every place times a factor, which may be negative, plus a shift; rising."""
    ends = sorted((row[0] * factor + shift, row[-1] * factor + shift))
    return range(ends[0], ends[1] + 1, row.step * abs(factor))


def _summed(first: range, second: range) -> range | None:
    """All sums of a place of `first` and a place of `second`; None where unevenly spaced.

    1. Where one has a single place, the other is shifted by it.
    2. The sums have the finer step if the wider step is a multiple of it, and the finer row spans
       the gap between two places of the wider row.
    """
    low, high = first[0] + second[0], first[-1] + second[-1]
    if min(len(first), len(second)) == 1:
        return range(low, high + 1, max(first, second, key=len).step)
    fine, wide = sorted((first, second), key=lambda row: row.step)
    times, rest = divmod(wide.step, fine.step)
    return range(low, high + 1, fine.step) if not rest and len(fine) >= times else None


def _block_row(row: range, block: int) -> range | None:
    """The blocks of this size that contain the places; None where unevenly spaced.

    1. Steps of at most one block reach every block.
    2. Steps of n whole blocks reach every n-th block.
    """
    low, high = row[0] // block, row[-1] // block
    if row.step <= block or len(row) == 1:
        return range(low, high + 1)
    return range(low, high + 1, row.step // block) if row.step % block == 0 else None


def _clipped_row(row: range, size: int) -> range:
    """The places from 0 to below `size`."""
    below = max(0, -(row.start // row.step))
    inside = max(0, -((row.start - size) // row.step))
    return row[below:inside]


def _united_rows(first: range, second: range) -> range | None:
    """The union of both as one range; None where there is none, or rules 1 and 2 find none.

    1. A row within the other adds nothing.
    2. Two rows of equal step are one row if the row that spans both has no other place.
    """
    for inner, outer in ((first, second), (second, first)):
        if _lies_in(inner, outer):
            return outer
    if first.step != second.step:
        return None
    low, high = min(first[0], second[0]), max(first[-1], second[-1])
    span = range(low, high + 1, gcd(first.step, second[0] - first[0]))
    shared = 0
    if span.step == first.step:
        overlap = range(max(first[0], second[0]), min(first[-1], second[-1]) + 1, first.step)
        shared = len(overlap)
    return span if len(span) == len(first) + len(second) - shared else None


def _lies_in(inner: range, outer: range) -> bool:
    if not inner:
        return True
    is_on_step = len(inner) == 1 or inner.step % outer.step == 0
    return is_on_step and inner[0] in outer and inner[-1] in outer


def shortest(places: Indices) -> Places:
    """The same places, as a `range` where they are evenly spaced."""
    if not len(places):
        return range(0)
    steps = np.diff(places)
    if len(steps) and (steps != steps[0]).any():
        return places
    step = int(steps[0]) if len(steps) else 1
    return range(int(places[0]), int(places[-1]) + 1, step)
