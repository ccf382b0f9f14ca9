"""A buffer divided into parts with one first write each, and the first read of an unwritten part.

Written tiles may overlap and their edges need not align. So the parts are neither tiles nor cells
of a grid; a grid may have many more cells than there are writes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled, compiled_part
from graphturbo_core.products.arrays import Integer
from graphturbo_core.products.program import IntArray

Boxes = NDArray[np.int32]
Corners = tuple[Boxes, Boxes]
Flags = NDArray[np.bool_]
Accesses = tuple[IntArray, Flags, Corners]
"""Accesses in order of their instructions: instruction, whether it writes, box."""
Tree = tuple[IntArray, Boxes]
"""Parts of a buffer: a table with one row per part, and the corners of each. Row 0 is the root."""
AXIS, EDGE, LOWER, UPPER, WRITTEN = 0, 1, 2, 3, 4
"""Columns of the table: the axis along which the part is divided (-1: it is not), the edge, the two
parts, and the instruction that writes the part's last element."""
NEVER = np.iinfo(np.int64).max


@compiled
def first_unwritten(run_at: IntArray, of: Accesses) -> tuple[Integer, Integer, Boxes]:
    """The first access that reads an unwritten part, the part's writer, and its corners.

    -1: there is no such access. `run_at`: bounds of each buffer's accesses.
    """
    instruction, write, (lo, hi) = of
    table = np.empty((1024, WRITTEN + 1), np.int64)
    parts = np.empty((1024, 2, lo.shape[1]), np.int32)
    waiting = np.empty(1024, np.int64)
    for at in range(len(run_at) - 1):
        begin, end = run_at[at], run_at[at + 1]
        if _all_write(write, begin, end):
            continue
        boxes = (lo[begin:end], hi[begin:end])
        run = (instruction[begin:end], write[begin:end], boxes)
        _hull(boxes, parts[0])
        table[0, AXIS], table[0, WRITTEN] = -1, _filled_by_first(run, parts[0])
        if table[0, WRITTEN] == NEVER:
            table, parts = _grow(run, (table, parts))
        if len(waiting) < len(table):
            waiting = np.empty(len(table), np.int64)
        for read in range(end - begin):
            if write[begin + read] or _is_empty(boxes, read):
                continue
            part = _missing(run, read, table, waiting)
            if part >= 0:
                return begin + read, table[part, WRITTEN], parts[part]
    return np.int64(-1), np.int64(-1), parts[0]


@compiled_part
def _all_write(write: Flags, begin: Integer, end: Integer) -> bool:
    for row in range(begin, end):  # noqa: SIM110 (compiled code has no generators)
        if not write[row]:
            return False
    return True


@compiled_part
def _fills(boxes: Corners, write: Integer, part: Boxes) -> bool:
    lo, hi = boxes
    for axis in range(lo.shape[1]):
        if lo[write, axis] > part[0, axis] or part[1, axis] > hi[write, axis]:
            return False
    return True


@compiled_part
def _is_empty(boxes: Corners, row: Integer) -> bool:
    lo, hi = boxes
    for axis in range(lo.shape[1]):  # noqa: SIM110 (compiled code has no generators)
        if lo[row, axis] >= hi[row, axis]:
            return True
    return False


@compiled_part
def _room_for(rows: IntArray, count: Integer) -> IntArray:
    """The rows, copied to a longer array if fewer than `count` fit."""
    if count <= len(rows):
        return rows
    longer = np.empty((2 * count, rows.shape[1]), np.int64)
    for row in range(len(rows)):
        for column in range(rows.shape[1]):
            longer[row, column] = rows[row, column]
    return longer


@compiled_part
def _parts_for(parts: Boxes, count: Integer) -> Boxes:
    if count <= len(parts):
        return parts
    longer = np.empty((2 * count, 2, parts.shape[2]), np.int32)
    for part in range(len(parts)):
        _copy_part(parts, part, longer, part)
    return longer


@compiled_part
def _copy_part(parts: Boxes, part: Integer, to: Boxes, place: Integer) -> None:
    for axis in range(parts.shape[2]):
        to[place, 0, axis] = parts[part, 0, axis]
        to[place, 1, axis] = parts[part, 1, axis]


@compiled_part
def _hull(boxes: Corners, part: Boxes) -> None:
    """Write the hull of all non-empty boxes to `part`."""
    lo, hi = boxes
    is_first = True
    for row in range(len(lo)):
        if _is_empty(boxes, row):
            continue
        for axis in range(lo.shape[1]):
            if is_first or lo[row, axis] < part[0, axis]:
                part[0, axis] = lo[row, axis]
            if is_first or hi[row, axis] > part[1, axis]:
                part[1, axis] = hi[row, axis]
        is_first = False


@compiled_part
def _filled_by_first(of: Accesses, part: Boxes) -> Integer:
    """The first instruction that writes, if its box fills the part; else NEVER."""
    instruction, write, boxes = of
    writer: Integer = NEVER
    for row in range(len(write)):
        if write[row]:
            if _fills(boxes, row, part):
                writer = instruction[row]
            break
    return writer


@compiled_part
def _until_one_fills(writes: IntArray, boxes: Corners, part: Boxes) -> IntArray:
    """The writes up to the first that fills the part; later ones are first writes nowhere in it."""
    for place in range(len(writes)):
        if _fills(boxes, writes[place], part):
            return writes[: place + 1]
    return writes


@compiled_part
def _cut(writes: IntArray, boxes: Corners, part: Boxes) -> tuple[Integer, Integer]:
    """Axis and edge that minimise the writes on the side with more writes.

    Candidates are the edges of the middle write. It does not fill the part, so one is inside.
    """
    lo, hi = boxes
    middle = writes[(len(writes) - 1) // 2]
    best, at, fewest = np.int64(-1), np.int64(0), np.int64(NEVER)
    for axis in range(lo.shape[1]):
        for edge in (np.int64(lo[middle, axis]), np.int64(hi[middle, axis])):
            if edge <= part[0, axis] or edge >= part[1, axis]:
                continue
            lower, upper = np.int64(0), np.int64(0)
            for write in writes:
                lower += lo[write, axis] < edge
                upper += hi[write, axis] > edge
            if max(lower, upper) < fewest:
                best, at, fewest = np.int64(axis), edge, max(lower, upper)
    return best, at


@compiled_part
def _list_writes(write: Flags, boxes: Corners, into: IntArray) -> Integer:
    """Write the rows of non-empty writes to `into`, in order; return their number."""
    count = np.int64(0)
    for row in range(len(write)):
        if write[row] and not _is_empty(boxes, row):
            into[count, 0] = row
            count += 1
    return count


@compiled_part
def _grow(of: Accesses, tree: Tree) -> Tree:
    """Divide a buffer until the first write of each part fills it, or the part has no write.

    `waiting`: parts to visit, with the bounds in `lists` of the writes that intersect them.
    """
    instruction, write, boxes = of
    lo, hi = boxes
    table, parts = tree
    lists = np.empty((len(write), 1), np.int64)
    waiting = np.zeros((16, 3), np.int64)
    waiting[0, 2] = _list_writes(write, boxes, lists)
    used, left = np.int64(1), 1
    while left:
        left -= 1
        part, begin, stop = waiting[left, 0], waiting[left, 1], waiting[left, 2]
        writes = _until_one_fills(lists[begin:stop, 0], boxes, parts[part])
        table[part, AXIS], table[part, WRITTEN] = -1, NEVER
        if not len(writes):
            continue
        if _fills(boxes, writes[0], parts[part]):
            table[part, WRITTEN] = instruction[writes[0]]
            continue
        axis, edge = _cut(writes, boxes, parts[part])
        table, parts = _room_for(table, used + 2), _parts_for(parts, used + 2)
        lists, waiting = _room_for(lists, stop + 2 * len(writes)), _room_for(waiting, left + 2)
        table[part, AXIS], table[part, EDGE] = axis, edge
        table[part, LOWER], table[part, UPPER] = used, used + 1
        for side in range(2):
            _copy_part(parts, part, parts, used)
            parts[used, 1 - side, axis] = edge
            waiting[left, 0], waiting[left, 1] = used, stop
            for row in writes:
                if (hi[row, axis] > edge) if side else (lo[row, axis] < edge):
                    lists[stop, 0] = row
                    stop += 1
            waiting[left, 2] = stop
            used, left = used + 1, left + 1
    for part in range(used - 1, -1, -1):
        if table[part, AXIS] >= 0:
            lower, upper = table[part, LOWER], table[part, UPPER]
            table[part, WRITTEN] = max(table[lower, WRITTEN], table[upper, WRITTEN])
    return table, parts


@compiled_part
def _missing(of: Accesses, read: Integer, table: IntArray, waiting: IntArray) -> Integer:
    """The first part that a read intersects and that is not yet written; -1: there is none.

    `waiting`: work array with one entry per part of the tree.
    """
    instruction, _, (lo, hi) = of
    left = 1
    waiting[0] = 0
    while left:
        left -= 1
        part: Integer = waiting[left]
        if table[part, WRITTEN] < instruction[read]:
            continue
        axis, edge = table[part, AXIS], table[part, EDGE]
        if axis < 0:
            return part
        if hi[read, axis] > edge:
            waiting[left] = table[part, UPPER]
            left += 1
        if lo[read, axis] < edge:
            waiting[left] = table[part, LOWER]
            left += 1
    return -1
