"""Accesses of one buffer that must not swap: their boxes meet and one of them writes.

Lowering looks for the same thing in another way, by cells along an axis. Here the different boxes
of a buffer are sorted and swept once to learn which of them meet, and the accesses, in sequence
order, look at those only: a mistake in one of the two shows in the other.
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
"""Accesses in sequence order: the instruction of each, whether it writes, its box."""
Sorting = tuple[IntArray, IntArray, IntArray]
"""Room to sort in: keys, the rows in their order, the same for the next pass."""
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
    run_at = np.append(np.flatnonzero(is_first), len(order))
    # Copies, so that the accesses of a buffer lie side by side: each look would miss the cache.
    boxes = (rows_of(program.access_lo, order), rows_of(program.access_hi, order))
    write = np.array(program.access_write[order], dtype=np.bool_)
    is_written = np.logical_or.reduceat(write, run_at[:-1])
    runs = int64(np.column_stack((run_at[:-1], run_at[1:]))[is_written])
    return order[_pairs_of_runs(runs, (owner, write, boxes), *_places(runs))]


def _places(runs: IntArray) -> tuple[tuple[IntArray, ...], Sorting]:
    """What each run fills anew, as long as the longest one needs it."""
    longest = int((runs[:, 1] - runs[:, 0]).max(initial=0))
    room, before, found = np.empty((3, longest), np.int64)
    rooms, waiting = np.empty((longest, 4), np.int64), np.empty((2, longest), np.int64)
    keys, ordered, other = np.empty((3, 2 * longest), np.int64)
    return (room, rooms, before, found, waiting), (keys, ordered, other)


@compiled_part
def _put(rows: IntArray, used: Integer, one: Integer, other: Integer) -> IntArray:
    """The rows with this one behind those in use, in a longer array where they were full."""
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
    """The first so many rows by key, equal ones in their order: stretches are merged two by two.

    By hand: numpy's own sorts take several seconds to compile.
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
    """The axis along which most pairs of these boxes lie apart; the first of equals.

    Ends (even keys) and begins (odd ones) are sorted as one, an end before a begin at its place:
    each begin then lies apart from the ends before it.
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
    """Sorted by where they begin on the axis, then by a hash: what is equal stands together.

    Where others come between by chance, a box only gets a second room.
    """
    lo, hi = boxes
    keys = sorting[0]
    for row in range(len(lo)):
        number = np.int64(0)
        for each in range(lo.shape[1]):
            number = (number * HASH_FACTOR + lo[row, each]) * HASH_FACTOR + hi[row, each]
        keys[row] = (np.int64(lo[row, axis]) << HASH_BITS) | (number & ((1 << HASH_BITS) - 1))
    return _sorted_rows(len(lo), sorting)


@compiled_part
def _make_rooms(
    ordered: IntArray, of: Run, room: IntArray, rooms: IntArray, found: IntArray
) -> Integer:
    """Give every access its room, and fill the table; how many are `found`, in the same order."""
    _, write, boxes = of
    count = np.int64(0)
    for place in range(len(write)):
        row = ordered[place]
        known = found[count - 1]
        if count == 0 or not (_covers(boxes, known, row) and _covers(boxes, row, known)):
            known = row
            rooms[row, FIRST_LINK] = rooms[row, LAST_WRITE] = rooms[row, LAST_READ] = -1
            rooms[row, IS_WRITTEN] = 0
            found[count] = row
            count += 1
        room[row] = known
        rooms[known, IS_WRITTEN] |= write[row]
    return count


@compiled_part
def _not_passed(waiting: IntArray, count: Integer, begin: Integer, hi: Boxes, axis: Integer) -> int:
    """Move those that end behind `begin` to the front; how many they are."""
    kept = 0
    for place in range(count):
        if hi[waiting[place], axis] > begin:
            waiting[kept] = waiting[place]
            kept += 1
    return kept


@compiled_part
def _link(
    found: IntArray,
    axis: Integer,
    boxes: tuple[Boxes, Boxes],
    tables: tuple[IntArray, IntArray, IntArray],
) -> IntArray:
    """Links (a room, the next link) of each room to those that it meets, one of the two written.

    `axis`: the one along which they are sorted; -1: not sorted. `tables`: of rooms, of links, and
    of the rooms, unwritten and written, that may meet the next ones.
    """
    lo, hi = boxes
    rooms, links, waiting = tables
    counts = np.zeros(2, np.int64)
    used = np.int64(0)
    for row in found:
        kind = rooms[row, IS_WRITTEN]
        waiting[kind, counts[kind]] = row  # a room meets itself
        counts[kind] += 1
        for met in range(1 - kind, 2):
            if axis >= 0:
                begin = np.int64(lo[row, axis])
                counts[met] = _not_passed(waiting[met], counts[met], begin, hi, axis)
            for place in range(counts[met]):
                other = waiting[met, place]
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


@compiled_part
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
def _pairs_of_runs(
    runs: IntArray, of: Run, places: tuple[IntArray, ...], sorting: Sorting
) -> IntArray:
    """All pairs of accesses that lie in one run, each with the first of the two in front.

    `runs`: begin and end of each; `places`, `sorting`: filled anew for each of them.
    """
    instruction, write, (lo, hi) = of
    room, rooms, before, found, waiting = places
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
        count = _make_rooms(ordered, run, room, rooms, found)
        links = _link(found[:count], axis, boxes, (rooms, links, waiting))
        pairs, used = _add_pairs(run, (room, rooms, links, before), begin, (pairs, used))
    return pairs[:used]
