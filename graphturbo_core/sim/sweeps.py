"""Compiled sweeps over sorted events: overlaps of rectangles, maxima over time, layer overlap."""

from __future__ import annotations

import numpy as np

from graphturbo_core.compiled import compiled, compiled_part
from graphturbo_core.products.arrays import Integer, int64
from graphturbo_core.products.program import IntArray


def overlapping_pair(
    time_lo: IntArray, time_hi: IntArray, low: IntArray, high: IntArray
) -> tuple[int, int] | None:
    """Indices of two rectangles [time_lo, time_hi) x [low, high) that intersect; None: none do.

    Empty rectangles do not intersect. The pair is the earliest in time, the lower index first.
    O(n log n): until the first overlap, live intervals are disjoint. So the largest end among those
    that begin below the new interval's end decides.
    """
    real = np.flatnonzero((time_lo < time_hi) & (low < high))
    if not len(real):
        return None
    begins = np.unique(low[real])
    rank = np.searchsorted(begins, low[real])
    limit = np.searchsorted(begins, high[real])
    times = np.concatenate([time_hi[real], time_lo[real]])
    is_start = np.repeat(np.array([0, 1]), len(real))
    events = np.lexsort((is_start, times))
    tree = np.full(2 * len(begins), -1, np.int64)
    found = _first_overlap(
        int64(events), int64(rank), int64(limit), int64(low[real]), int64(high[real]), tree
    )
    if found < 0:
        return None
    newer = int(real[found])
    is_live = (time_lo <= time_lo[newer]) & (time_lo[newer] < time_hi)
    is_shared = is_live & (low < high[newer]) & (low[newer] < high) & (low < high)
    is_shared[newer] = False
    other = int(np.flatnonzero(is_shared)[0])
    return min(other, newer), max(other, newer)


@compiled_part
def _set(tree: IntArray, leaf: Integer, value: Integer) -> None:
    """Set a leaf of a tree of maxima; the leaves are the upper half of the array."""
    at = leaf + len(tree) // 2
    tree[at] = value
    at >>= 1
    while at >= 1:
        tree[at] = max(tree[2 * at], tree[2 * at + 1])
        at >>= 1


@compiled_part
def _maximum(tree: IntArray, begin: Integer, stop: Integer) -> Integer:
    """Largest of the leaves [begin, stop); -1 if there are none."""
    largest = np.int64(-1)
    left = begin + len(tree) // 2
    right = stop + len(tree) // 2
    while left < right:
        if left & 1:
            largest = max(largest, tree[left])
            left += 1
        if right & 1:
            right -= 1
            largest = max(largest, tree[right])
        left >>= 1
        right >>= 1
    return largest


@compiled
def _first_overlap(  # noqa: PLR0913, PLR0917 (compiled code takes arrays)
    events: IntArray,
    rank: IntArray,
    limit: IntArray,
    low: IntArray,
    high: IntArray,
    tree: IntArray,
) -> Integer:
    """The first rectangle that intersects a live one when it begins; -1: none.

    `events`: below n ends, from n on begins, sorted by time. `tree`: of maxima, one leaf per rank,
    all -1.
    """
    n = len(low)
    for event in events:
        if event < n:
            _set(tree, rank[event], np.int64(-1))
            continue
        newer: Integer = event - n
        if _maximum(tree, np.int64(0), limit[newer]) > low[newer]:
            return newer
        _set(tree, rank[newer], high[newer])
    return -1


@compiled
def running_maximum(owner: IntArray, change: IntArray, owners: int) -> IntArray:
    """The largest value of any owner after each event, which adds `change` to `owner`'s value.

    All values start at 0 and are never negative.
    """
    size = 1
    while size < owners:
        size *= 2
    tree = np.zeros(2 * size, np.int64)
    largest = np.empty(len(owner), np.int64)
    for event in range(len(owner)):
        value = tree[owner[event] + size] + change[event]
        _set(tree, owner[event], value)
        largest[event] = tree[1]
    return largest


@compiled
def window_maxima(values: IntArray, begin: IntArray, stop: IntArray) -> IntArray:
    """Largest of `values[begin:stop]` for every window, O((values + windows) log values)."""
    n = len(values)
    tree = np.empty(2 * n, np.int64)
    for at in range(n):  # a loop: to assign a slice takes seconds to compile
        tree[n + at] = values[at]
    for at in range(n - 1, 0, -1):
        tree[at] = max(tree[2 * at], tree[2 * at + 1])
    largest = np.empty(len(begin), np.int64)
    for window in range(len(begin)):
        largest[window] = _maximum(tree, begin[window], stop[window])
    return largest


@compiled
def overlap_intervals(
    core: IntArray, cycle: IntArray, layer: IntArray, change: IntArray, layers: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Intervals (core, begin, end) in which two or more layers run at once.

    Events are sorted by core, then cycle. `change`: +1 if an instruction of `layer` starts, -1 if
    one ends.
    """
    n = len(core)
    at_core = np.empty(n, np.int64)
    begins = np.empty(n, np.int64)
    stops = np.empty(n, np.int64)
    found = 0
    running = np.zeros(layers, np.int64)
    distinct = 0
    is_open = False
    for event in range(n):
        distinct -= running[layer[event]] > 0
        running[layer[event]] += change[event]
        distinct += running[layer[event]] > 0
        is_last = event + 1 == n or core[event + 1] != core[event]
        if not is_last and cycle[event + 1] == cycle[event]:
            continue
        if distinct > 1 and not is_open:
            at_core[found] = core[event]
            begins[found] = cycle[event]
            is_open = True
        elif distinct <= 1 and is_open:
            stops[found] = cycle[event]
            found += 1
            is_open = False
    return at_core[:found].copy(), begins[:found].copy(), stops[:found].copy()
