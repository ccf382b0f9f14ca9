"""Whether a Program itself keeps in order what must not swap, whatever the times turn out to be.

Lowering finds conflicts kernel by kernel and copies them; here they are looked for once more in the
finished arrays, over all of a segment, and must follow from the conflicts, queues and segments
there. A schedule that is right by luck of its times does not pass.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled
from graphturbo_core.lowering.program import IntArray, Memory, Program
from graphturbo_core.sim.arrays import Integer, int64, owners
from graphturbo_core.sim.clocks import are_in_order, chains_of

Boxes = NDArray[np.int32]
Rows = tuple[IntArray, IntArray, IntArray]
"""Rows of the access table by buffer, where each buffer's begin, and the instruction of each."""


def unordered_accesses(program: Program) -> tuple[int, int] | None:
    """Two rows of the access table, the earlier first, that nothing keeps in order; None: none.

    1. In a buffer, two accesses conflict when their boxes meet and one of them writes. A write
       that covers an access stands for it from then on.
    2. A buffer that takes bytes comes after all accesses of the one that had them last; of each
       chain of instructions (`chains_of`) the last one stands for all.
    Cost: accesses times tiles of a buffer, and that of `are_in_order`.
    """
    if not len(program.access_buffer):
        return None
    order = np.argsort(program.access_buffer, kind="stable")
    bounds = np.arange(len(program.buffers.memory) + 1)
    instruction = owners(program.access_at)
    rows = (order, int64(np.searchsorted(program.access_buffer[order], bounds)), instruction)
    pairs = _pairs(program, rows)
    is_apart = ~are_in_order(program, instruction[pairs[:, 0]], instruction[pairs[:, 1]])
    if not is_apart.any():
        return None
    earlier, later = pairs[int(is_apart.argmax())]
    return int(earlier), int(later)


def _pairs(program: Program, rows: Rows) -> IntArray:
    """Accesses that must be in order, the earlier first: those of rule 1, then those of rule 2."""
    write = np.array(program.access_write, dtype=np.bool_)
    boxes = (_corners(program.access_lo), _corners(program.access_hi))
    segment, chain = int64(program.segment), chains_of(program)
    used, cells = _by_first_use(rows, write, program), _cells(program)
    found = np.empty((0, 2), np.int64)
    for _ in range(2):  # the first time they are only counted
        within = _within_buffers(rows, write, boxes, segment, found)
        count = _between_buffers((used, *cells), rows, chain, found, within)
        found = np.empty((count, 2), np.int64) if len(found) < count else found
    return found


def _corners(boxes: Boxes) -> Boxes:
    return np.ascontiguousarray(boxes, dtype=np.int32)


def _by_first_use(rows: Rows, write: NDArray[np.bool_], program: Program) -> IntArray:
    """Buffers that are used, by first access; what nothing writes was there before all others."""
    order, buffer_at, instruction = rows
    used = np.flatnonzero(np.diff(buffer_at))
    first = instruction[order[buffer_at[used]]]
    is_written = np.zeros(len(buffer_at) - 1, dtype=np.bool_)
    is_written[program.access_buffer[write]] = True
    first[~is_written[used]] = -1
    return used[np.argsort(first, kind="stable")].astype(np.int64)


def _cells(program: Program) -> tuple[IntArray, IntArray]:
    """First and end of every buffer's bytes in stretches of addresses that no buffer divides."""
    buffers = program.buffers
    space = int64(buffers.memory)
    if program.plan.hardware.is_pooled:
        space[space == Memory.LB_WEIGHT] = Memory.LB_DATA
    space += (int64(buffers.core) + 1) * len(Memory)
    ends = buffers.offset + buffers.size_bytes
    base = space * (int(ends.max(initial=0)) + 1)
    edges = np.unique(np.concatenate((base + buffers.offset, base + ends)))
    begin, stop = (np.searchsorted(edges, base + at) for at in (buffers.offset, ends))
    return begin.astype(np.int64), stop.astype(np.int64)


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
def _with_those_that_meet(
    waiting: IntArray,
    later: Integer,
    of: tuple[IntArray, Boxes, Boxes],
    found: IntArray,
    count: Integer,
) -> Integer:
    """Add a later access's pairs with those of these that meet it; how many pairs there are.

    `of`: instruction and box of every access. An instruction is in order with itself.
    """
    instruction, lo, hi = of
    for earlier in waiting:
        if instruction[earlier] != instruction[later] and _meets((lo, hi), earlier, later):
            if len(found) > 0:
                found[count, 0], found[count, 1] = earlier, later
            count += 1
    return count


@compiled
def _uncovered(
    waiting: IntArray, count: Integer, later: Integer, boxes: tuple[Boxes, Boxes]
) -> Integer:
    """Move those that the later access does not cover to the front; how many they are."""
    kept = 0
    for place in range(count):
        if not _covers(boxes, later, waiting[place]):
            waiting[kept] = waiting[place]
            kept += 1
    return kept


@compiled
def _within_buffers(
    rows: Rows,
    write: NDArray[np.bool_],
    boxes: tuple[Boxes, Boxes],
    segment: IntArray,
    found: IntArray,
) -> Integer:
    """Pairs of rule 1 into `found`, or only counted where it is empty; how many they are."""
    order, buffer_at, instruction = rows
    of = (instruction, boxes[0], boxes[1])
    reads = np.empty(len(order), np.int64)
    writes = np.empty(len(order), np.int64)
    count: Integer = 0
    for buffer in range(len(buffer_at) - 1):
        read: Integer = 0
        written: Integer = 0
        now = np.int64(-1)
        for later in order[buffer_at[buffer] : buffer_at[buffer + 1]]:
            if segment[instruction[later]] != now:
                now = segment[instruction[later]]
                read = written = 0
            count = _with_those_that_meet(writes[:written], later, of, found, count)
            if not write[later]:
                reads[read] = later
                read += 1
                continue
            count = _with_those_that_meet(reads[:read], later, of, found, count)
            read = _uncovered(reads, read, later, boxes)
            written = _uncovered(writes, written, later, boxes)
            writes[written] = later
            written += 1
    return count


@compiled
def _between_buffers(
    used: tuple[IntArray, IntArray, IntArray],
    rows: Rows,
    chain: IntArray,
    found: IntArray,
    count: Integer,
) -> Integer:
    """Pairs of rule 2 after the first `count` ones; how many there are then.

    `used`: buffers in order of first use; of every buffer the first and the end of its bytes,
    counted in stretches that no buffer divides.
    """
    order, begin, stop = used
    owner = np.full(stop.max(), -1, np.int64)
    last = np.full(chain.max() + 1, -1, np.int64)
    for new in order:
        known_owner = np.int64(-1)
        for cell in range(begin[new], stop[new]):
            if owner[cell] >= 0 and owner[cell] != known_owner:
                known_owner = owner[cell]
                count = _succession((known_owner, new), rows, (chain, last), found, count)
            owner[cell] = new
    return count


@compiled
def _succession(
    buffers: tuple[Integer, Integer],
    rows: Rows,
    chains: tuple[IntArray, IntArray],
    found: IntArray,
    count: Integer,
) -> Integer:
    """Pairs of the last access of every chain in a buffer and those in the one after it."""
    order, buffer_at, instruction = rows
    old, new = buffers
    chain, last = chains
    before = order[buffer_at[old] : buffer_at[old + 1]]
    for earlier in before:
        last[chain[instruction[earlier]]] = earlier
    for earlier in before:
        if last[chain[instruction[earlier]]] != earlier:
            continue
        for later in order[buffer_at[new] : buffer_at[new + 1]]:
            if len(found) > 0:
                found[count, 0], found[count, 1] = earlier, later
            count += 1
    return count
