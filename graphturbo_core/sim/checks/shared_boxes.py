"""Conflicting accesses of one buffer: their boxes intersect and one of them writes.

Lowering finds them by cells along an axis. Here one sweep over the sorted distinct boxes of a
buffer finds which of them intersect. Then each access, in sequence order, is compared with accesses
of these boxes only. So an error in one algorithm shows as a difference to the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled, compiled_part
from graphturbo_core.products.arrays import Integer, int64, rows_of
from graphturbo_core.products.program import IntArray, Program

Boxes = NDArray[np.int32]
Flags = NDArray[np.bool_]
Run = tuple[IntArray, Flags, tuple[Boxes, Boxes]]
"""Accesses in sequence order: instruction, whether it writes, box."""
Sorting = tuple[IntArray, IntArray, IntArray]
"""Work arrays of a sort: keys, rows in sorted order, rows of the next pass."""
IS_WRITTEN, FIRST_LINK, LAST_WRITE, LAST_READ = 0, 1, 2, 3
"""Columns of the table of buckets. A bucket is the set of accesses of one box, numbered by its
first access. Columns: whether one of them writes; the first link to an intersecting bucket; the
write and the last read that no later write has covered; -1: none."""
FEW_ACCESSES = 32
"""Accesses of a buffer up to which all pairs of boxes are compared (our choice)."""
HASH_BITS, HASH_FACTOR = 31, 1_000_003
"""Bits and factor of the hash in a sort key that makes equal boxes adjacent (our choice)."""


def pairs_within_buffers(program: Program, order: IntArray, instruction: IntArray) -> IntArray:
    """Pairs of conflicting rows of the access table in one segment, the earlier first; (pairs, 2).

    `order`: rows sorted by buffer, then sequence number; `instruction`: the instruction of each
    row. A write replaces the earlier accesses that it covers. Pairs are sorted by buffer, then by
    the later row. Cost: accesses times the buckets that each intersects; plus, per buffer, pairs of
    buckets, one of them written, that overlap along one axis.
    """
    owner, buffer = instruction[order], program.access_buffer[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(buffer) != 0) | (np.diff(program.segment[owner]) != 0)
    run_at = np.append(np.flatnonzero(is_first), len(order))
    # Copies, so that the accesses of a buffer are contiguous: without them, reads miss the cache.
    boxes = (rows_of(program.access_lo, order), rows_of(program.access_hi, order))
    write = np.array(program.access_write[order], dtype=np.bool_)
    is_written = np.logical_or.reduceat(write, run_at[:-1])
    runs = int64(np.column_stack((run_at[:-1], run_at[1:]))[is_written])
    return order[_pairs_of_runs(runs, (owner, write, boxes), *_places(runs))]


def _places(runs: IntArray) -> tuple[tuple[IntArray, ...], Sorting]:
    """Work arrays for the longest run; each run overwrites them."""
    longest = int((runs[:, 1] - runs[:, 0]).max(initial=0))
    bucket, before, distinct = np.empty((3, longest), np.int64)
    buckets, waiting = np.empty((longest, 4), np.int64), np.empty((2, longest), np.int64)
    keys, ordered, other = np.empty((3, 2 * longest), np.int64)
    return (bucket, buckets, before, distinct, waiting), (keys, ordered, other)


@compiled_part
def _put(rows: IntArray, used: Integer, one: Integer, other: Integer) -> IntArray:
    """The rows with (one, other) appended, in a longer array if they were full."""
    if used == len(rows):
        longer = np.empty((2 * used, 2), np.int64)
        for row in range(used):  # a loop: to assign a slice takes seconds to compile
            longer[row, 0], longer[row, 1] = rows[row, 0], rows[row, 1]
        rows = longer
    rows[used, 0], rows[used, 1] = one, other
    return rows


@compiled_part
def _meets(boxes: tuple[Boxes, Boxes], one: Integer, other: Integer) -> bool:
    lo, hi = boxes
    for axis in range(lo.shape[1]):
        if lo[one, axis] >= hi[other, axis] or lo[other, axis] >= hi[one, axis]:
            return False
    return True


@compiled_part
def _covers(boxes: tuple[Boxes, Boxes], outer: Integer, inner: Integer) -> bool:
    lo, hi = boxes
    for axis in range(lo.shape[1]):
        if lo[outer, axis] > lo[inner, axis] or hi[inner, axis] > hi[outer, axis]:
            return False
    return True


@compiled_part
def _sorted_rows(count: Integer, sorting: Sorting) -> IntArray:
    """The first `count` rows sorted by key; a stable merge sort.

    Written out, since numpy's sorts take several seconds to compile.
    """
    keys, ordered, other = sorting
    for row in range(count):
        ordered[row] = row
    width = 1
    while width < count:
        for begin in range(0, count, 2 * width):
            left, middle = begin, min(begin + width, count)
            right, end = middle, min(begin + 2 * width, count)
            for at in range(begin, end):
                is_left = left < middle
                if is_left and right < end:
                    is_left = keys[ordered[left]] <= keys[ordered[right]]
                if is_left:
                    other[at] = ordered[left]
                    left += 1
                else:
                    other[at] = ordered[right]
                    right += 1
        ordered, other = other, ordered
        width *= 2
    return ordered


@compiled_part
def _axis_apart(boxes: tuple[Boxes, Boxes], sorting: Sorting) -> Integer:
    """The axis along which most pairs of boxes are disjoint; ties: the first axis.

    Ends (even keys) and begins (odd keys) are sorted together, an end before a begin of equal
    value. A box is disjoint from all boxes whose end is sorted before its begin.
    """
    lo, hi = boxes
    keys = sorting[0]
    best, most = np.int64(0), np.int64(0)
    for axis in range(lo.shape[1]):
        are_equal = True
        for row in range(len(lo)):
            keys[2 * row] = 2 * np.int64(hi[row, axis])
            keys[2 * row + 1] = 2 * np.int64(lo[row, axis]) + 1
            are_equal &= hi[row, axis] == hi[0, axis]
        if are_equal:
            continue
        apart, ends = np.int64(0), np.int64(0)
        ordered = _sorted_rows(2 * len(lo), sorting)
        for place in range(2 * len(lo)):
            if ordered[place] % 2 == 0:
                ends += 1
            else:
                apart += ends
        if apart > most:
            best, most = np.int64(axis), apart
    return best


@compiled_part
def _in_sweep_order(boxes: tuple[Boxes, Boxes], axis: Integer, sorting: Sorting) -> IntArray:
    """Rows sorted by begin on the axis, then by a hash, so that equal boxes are adjacent.

    If hashes collide, equal boxes may not be adjacent. Then a box has two buckets, which is valid.
    """
    lo, hi = boxes
    keys = sorting[0]
    for row in range(len(lo)):
        number = np.int64(0)
        for column in range(lo.shape[1]):
            number = (number * HASH_FACTOR + lo[row, column]) * HASH_FACTOR + hi[row, column]
        keys[row] = (np.int64(lo[row, axis]) << HASH_BITS) | (number & ((1 << HASH_BITS) - 1))
    return _sorted_rows(len(lo), sorting)


@compiled_part
def _make_buckets(
    ordered: IntArray, of: Run, bucket: IntArray, buckets: IntArray, distinct: IntArray
) -> Integer:
    """Assign each access to a bucket and fill the table; return the number of buckets.

    `distinct`: result, the bucket numbers.
    """
    _, write, boxes = of
    count = np.int64(0)
    for place in range(len(write)):
        row = ordered[place]
        known = distinct[count - 1]
        if count == 0 or not (_covers(boxes, known, row) and _covers(boxes, row, known)):
            known = row
            buckets[row, FIRST_LINK] = buckets[row, LAST_WRITE] = buckets[row, LAST_READ] = -1
            buckets[row, IS_WRITTEN] = 0
            distinct[count] = row
            count += 1
        bucket[row] = known
        buckets[known, IS_WRITTEN] |= write[row]
    return count


@compiled_part
def _not_passed(waiting: IntArray, count: Integer, begin: Integer, hi: Boxes, axis: Integer) -> int:
    """Move buckets that end after `begin` to the front; return their number."""
    left = 0
    for place in range(count):
        if hi[waiting[place], axis] > begin:
            waiting[left] = waiting[place]
            left += 1
    return left


@compiled_part
def _link(
    distinct: IntArray,
    axis: Integer,
    boxes: tuple[Boxes, Boxes],
    tables: tuple[IntArray, IntArray, IntArray],
) -> IntArray:
    """Links (bucket, next link) from each bucket to intersecting ones, if one of both is written.

    `axis`: the axis of the sort; -1: not sorted. `tables`: buckets, links, and the buckets,
    unwritten and written, that may intersect the next ones.
    """
    lo, hi = boxes
    buckets, links, waiting = tables
    counts = np.zeros(2, np.int64)
    used = np.int64(0)
    for row in distinct:
        kind = buckets[row, IS_WRITTEN]
        waiting[kind, counts[kind]] = row  # a bucket intersects itself
        counts[kind] += 1
        for met in range(1 - kind, 2):
            if axis >= 0:
                begin = np.int64(lo[row, axis])
                counts[met] = _not_passed(waiting[met], counts[met], begin, hi, axis)
            for place in range(counts[met]):
                other = waiting[met, place]
                if not _meets(boxes, row, other):
                    continue
                links = _put(links, used, other, buckets[row, FIRST_LINK])
                buckets[row, FIRST_LINK] = used
                used += 1
                if other != row:
                    links = _put(links, used, row, buckets[other, FIRST_LINK])
                    buckets[other, FIRST_LINK] = used
                    used += 1
    return links


@compiled_part
def _add_pairs(
    of: Run,
    places: tuple[IntArray, IntArray, IntArray, IntArray],
    begin: Integer,
    pairs_so_far: tuple[IntArray, Integer],
) -> tuple[IntArray, Integer]:
    """Add the pairs of one run of accesses that starts at `begin`; return pairs and their number.

    `places`: the bucket of each access, the table of buckets, the links, and a work array: per
    read, the previous read of the same bucket. Two accesses of one instruction are no pair.
    """
    instruction, write, boxes = of
    bucket, buckets, links, before = places
    pairs, count = pairs_so_far
    for later in range(len(instruction)):
        this = bucket[later]
        link = buckets[this, FIRST_LINK]
        while link >= 0:
            other = links[link, 0]
            link = links[link, 1]
            earlier = buckets[other, LAST_WRITE]
            if earlier >= 0 and instruction[earlier] != instruction[later]:
                pairs = _put(pairs, count, begin + earlier, begin + later)
                count += 1
            if not write[later]:
                continue
            earlier = buckets[other, LAST_READ]
            while earlier >= 0:
                if instruction[earlier] != instruction[later]:
                    pairs = _put(pairs, count, begin + earlier, begin + later)
                    count += 1
                earlier = before[earlier]
            if _covers(boxes, this, other):
                buckets[other, LAST_WRITE] = buckets[other, LAST_READ] = -1
        if write[later]:
            buckets[this, LAST_WRITE] = later
        else:
            before[later] = buckets[this, LAST_READ]
            buckets[this, LAST_READ] = later
    return pairs, count


@compiled
def _pairs_of_runs(
    runs: IntArray, of: Run, places: tuple[IntArray, ...], sorting: Sorting
) -> IntArray:
    """All pairs of conflicting accesses of one run, the earlier first.

    `runs`: begin and end of each; `places`, `sorting`: work arrays.
    """
    instruction, write, (lo, hi) = of
    bucket, buckets, before, distinct, waiting = places
    links = np.empty((1024, 2), np.int64)
    pairs = np.empty((1024, 2), np.int64)
    used: Integer = np.int64(0)
    for at in range(len(runs)):
        begin, end = runs[at, 0], runs[at, 1]
        boxes = (lo[begin:end], hi[begin:end])
        run = (instruction[begin:end], write[begin:end], boxes)
        axis: Integer = np.int64(-1)
        ordered = sorting[1]
        if end - begin > FEW_ACCESSES:
            axis = _axis_apart(boxes, sorting)
            ordered = _in_sweep_order(boxes, axis, sorting)
        else:
            for row in range(end - begin):
                ordered[row] = row
        count = _make_buckets(ordered, run, bucket, buckets, distinct)
        links = _link(distinct[:count], axis, boxes, (buckets, links, waiting))
        pairs, used = _add_pairs(run, (bucket, buckets, links, before), begin, (pairs, used))
    return pairs[:used]
