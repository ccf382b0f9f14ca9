"""Accesses of one buffer that must not swap: their boxes meet and one of them writes.

Lowering looks for the same thing in another way, by cells along an axis. Here the different boxes
of a buffer are sorted and swept once to learn which of them meet, and the accesses, in sequence
order, look at those only: a mistake in one of the two shows in the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled
from graphturbo_core.lowering.arrays import Integer, int64, rows_of
from graphturbo_core.lowering.program import IntArray, Program

Boxes = NDArray[np.int32]
Flags = NDArray[np.bool_]
Run = tuple[IntArray, Flags, tuple[Boxes, Boxes]]
"""Accesses in sequence order: the instruction of each, whether it writes, its box."""
IS_WRITTEN, FIRST_LINK, LAST_WRITE, LAST_READ = 0, 1, 2, 3
"""Columns of the table of rooms. A room is the accesses of one box, numbered as the first of them.
The first link to a room that it meets; what no write has covered: its write, the last of its reads;
-1: none."""
FEW_ACCESSES = 32
"""Up to so many accesses of a buffer, all pairs of boxes are compared (our choice)."""
HASH_BITS, HASH_FACTOR = 31, 1_000_003
"""Of the number in a sort key that brings equal boxes together, and what makes it (our choice)."""


def pairs_within_buffers(program: Program, order: IntArray, instruction: IntArray) -> IntArray:
    """Rows of the access table, the earlier first, whose accesses a segment must keep in order.

    `order`: the rows by buffer, each in sequence order; `instruction`: that of each row. A write
    that covers an access stands for it from then on. By buffer, then by the later row.
    Cost: accesses times the rooms that each one meets, and of each buffer the pairs of rooms, one
    of them written, that overlap along one axis.
    """
    owner, buffer = instruction[order], program.access_buffer[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(buffer) != 0) | (np.diff(program.segment[owner]) != 0)
    run_at = int64(np.append(np.flatnonzero(is_first), len(order)))
    # Copies, so that the accesses of a buffer lie side by side: each look would miss the cache.
    boxes = (rows_of(program.access_lo, order), rows_of(program.access_hi, order))
    write = np.array(program.access_write[order], dtype=np.bool_)
    found = _pairs_of_runs(run_at, (owner, write, boxes))
    return order[found]


@compiled
def _put(rows: IntArray, used: Integer, one: Integer, other: Integer) -> IntArray:
    """The rows with this one behind those in use, in a longer array where they were full."""
    if used == len(rows):
        longer = np.empty((2 * used, 2), np.int64)
        longer[:used] = rows
        rows = longer
    rows[used, 0], rows[used, 1] = one, other
    return rows


@compiled
def _meets(boxes: tuple[Boxes, Boxes], one: Integer, other: Integer) -> bool:
    lo, hi = boxes
    for axis in range(lo.shape[1]):
        if lo[one, axis] >= hi[other, axis] or lo[other, axis] >= hi[one, axis]:
            return False
    return True


@compiled
def _covers(boxes: tuple[Boxes, Boxes], outer: Integer, inner: Integer) -> bool:
    lo, hi = boxes
    for axis in range(lo.shape[1]):
        if lo[outer, axis] > lo[inner, axis] or hi[inner, axis] > hi[outer, axis]:
            return False
    return True


@compiled
def _axis_apart(boxes: tuple[Boxes, Boxes]) -> Integer:
    """The axis along which most pairs of these boxes lie apart; the first of equals."""
    lo, hi = boxes
    best: Integer = 0
    most: Integer = 0
    for axis in range(lo.shape[1]):
        ends = np.sort(hi[:, axis])
        if ends[0] == ends[-1]:
            continue
        apart = np.searchsorted(ends, lo[:, axis], side="right").sum()
        if apart > most:
            best, most = axis, apart
    return best


@compiled
def _in_sweep_order(boxes: tuple[Boxes, Boxes], axis: Integer) -> IntArray:
    """Sorted by where they begin on the axis, then by a hash: what is equal stands together.

    Where others come between by chance, a box only gets a second room.
    """
    lo, hi = boxes
    keys = np.empty(len(lo), np.int64)
    for row in range(len(lo)):
        number = np.int64(0)
        for each in range(lo.shape[1]):
            number = (number * HASH_FACTOR + lo[row, each]) * HASH_FACTOR + hi[row, each]
        keys[row] = (np.int64(lo[row, axis]) << HASH_BITS) | (number & ((1 << HASH_BITS) - 1))
    return np.argsort(keys, kind="mergesort")


@compiled
def _make_rooms(ordered: IntArray, of: Run, room: IntArray, rooms: IntArray) -> IntArray:
    """Give every access its room, and fill the table; the rooms, in the same order."""
    _, write, boxes = of
    found = np.empty(len(ordered), np.int64)
    count = 0
    for row in ordered:
        known = found[count - 1]
        if count == 0 or not (_covers(boxes, known, row) and _covers(boxes, row, known)):
            known = row
            rooms[row] = -1
            rooms[row, IS_WRITTEN] = 0
            found[count] = row
            count += 1
        room[row] = known
        rooms[known, IS_WRITTEN] |= write[row]
    return found[:count]


@compiled
def _not_passed(
    waiting: IntArray, count: Integer, begin: Integer, end: NDArray[np.int32]
) -> Integer:
    """Move those that end behind `begin` to the front; how many they are."""
    kept = 0
    for place in range(count):
        if end[waiting[place]] > begin:
            waiting[kept] = waiting[place]
            kept += 1
    return kept


@compiled
def _link(
    ordered: IntArray, axis: Integer, boxes: tuple[Boxes, Boxes], rooms: IntArray, links: IntArray
) -> IntArray:
    """Links (a room, the next link) of each room to those that it meets, one of the two written.

    `axis`: the one along which they are sorted; -1: not sorted.
    """
    lo, hi = boxes
    waiting = np.empty((2, len(ordered)), np.int64)
    counts = np.zeros(2, np.int64)
    used: Integer = 0
    for row in ordered:
        kind = rooms[row, IS_WRITTEN]
        waiting[kind, counts[kind]] = row  # a room meets itself
        counts[kind] += 1
        for met in range(1 - kind, 2):
            if axis >= 0:
                counts[met] = _not_passed(waiting[met], counts[met], lo[row, axis], hi[:, axis])
            for other in waiting[met, : counts[met]]:
                if not _meets(boxes, row, other):
                    continue
                links = _put(links, used, other, rooms[row, FIRST_LINK])
                rooms[row, FIRST_LINK] = used
                used += 1
                if other != row:
                    links = _put(links, used, row, rooms[other, FIRST_LINK])
                    rooms[other, FIRST_LINK] = used
                    used += 1
    return links


@compiled
def _add_pairs(
    of: Run,
    places: tuple[IntArray, IntArray, IntArray, IntArray],
    begin: Integer,
    found: tuple[IntArray, Integer],
) -> tuple[IntArray, Integer]:
    """The pairs with those of one run of accesses from `begin` on; how many there are then.

    `places`: the room of each access, the table of rooms, the links, and, filled here, the read of
    the same room before each read. An instruction is in order with itself.
    """
    instruction, write, boxes = of
    room, rooms, links, before = places
    pairs, count = found
    for later in range(len(instruction)):
        own = room[later]
        link = rooms[own, FIRST_LINK]
        while link >= 0:
            other = links[link, 0]
            link = links[link, 1]
            earlier = rooms[other, LAST_WRITE]
            if earlier >= 0 and instruction[earlier] != instruction[later]:
                pairs = _put(pairs, count, begin + earlier, begin + later)
                count += 1
            if not write[later]:
                continue
            earlier = rooms[other, LAST_READ]
            while earlier >= 0:
                if instruction[earlier] != instruction[later]:
                    pairs = _put(pairs, count, begin + earlier, begin + later)
                    count += 1
                earlier = before[earlier]
            if _covers(boxes, own, other):
                rooms[other, LAST_WRITE] = rooms[other, LAST_READ] = -1
        if write[later]:
            rooms[own, LAST_WRITE] = later
        else:
            before[later] = rooms[own, LAST_READ]
            rooms[own, LAST_READ] = later
    return pairs, count


@compiled
def _pairs_of_runs(run_at: IntArray, of: Run) -> IntArray:
    """All pairs of accesses that lie in one run, each with the first of the two in front."""
    instruction, write, (lo, hi) = of
    longest = np.diff(run_at).max()
    room, before = np.empty(longest, np.int64), np.empty(longest, np.int64)
    rooms = np.empty((longest, 4), np.int64)
    links = np.empty((1024, 2), np.int64)
    pairs = np.empty((1024, 2), np.int64)
    used: Integer = 0
    for at in range(len(run_at) - 1):
        begin, end = run_at[at], run_at[at + 1]
        if not write[begin:end].any():
            continue
        boxes = (lo[begin:end], hi[begin:end])
        run = (instruction[begin:end], write[begin:end], boxes)
        axis: Integer = -1
        ordered = np.arange(end - begin)
        if len(ordered) > FEW_ACCESSES:
            axis = _axis_apart(boxes)
            ordered = _in_sweep_order(boxes, axis)
        ordered = _make_rooms(ordered, run, room, rooms)
        links = _link(ordered, axis, boxes, rooms, links)
        pairs, used = _add_pairs(run, (room, rooms, links, before), begin, (pairs, used))
    return pairs[:used]
