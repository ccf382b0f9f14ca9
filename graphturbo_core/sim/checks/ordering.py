"""Whether dependences of a Program order all conflicting accesses, whatever its cycles are.

Lowering finds conflicts kernel by kernel and copies them. This check finds conflicting accesses
again in the Program's arrays, over a whole segment. Their order must follow from conflicts, queues
and segments. A schedule that is correct only for its cycles is refused.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled, compiled_part
from graphturbo_core.products.arrays import Integer, int64, owners
from graphturbo_core.products.program import IntArray, Program
from graphturbo_core.sim.checks.clocks import are_in_order, chains_of
from graphturbo_core.sim.checks.shared_boxes import pairs_within_buffers

Rows = tuple[IntArray, IntArray, IntArray]
"""Rows of the access table sorted by buffer, bounds of each buffer, instruction of each row."""


def unordered_accesses(program: Program) -> tuple[int, int] | None:
    """Two conflicting rows of the access table without an order, the earlier first; None: none.

    1. Two accesses of a buffer conflict if their boxes intersect and one of them writes. A write
       replaces the earlier accesses that it covers.
    2. Accesses of a buffer conflict with those of the buffer that last had its bytes. For each
       chain of instructions (`chains_of`), the last access of the old buffer and the first of the
       new one suffice: a chain starts and ends in order.
    3. Accesses in different segments are ordered.

    Cost: that of `pairs_within_buffers` and of `are_in_order`.
    """
    if not len(program.access_buffer):
        return None
    order = np.argsort(program.access_buffer, kind="stable")
    bounds = np.arange(len(program.buffers.memory) + 1)
    instruction = owners(program.access_at)
    rows = (order, int64(np.searchsorted(program.access_buffer[order], bounds)), instruction)
    within = pairs_within_buffers(program, order, instruction)
    pairs = np.concatenate((within, _pairs_between_buffers(program, rows)))
    is_apart = ~are_in_order(program, instruction[pairs[:, 0]], instruction[pairs[:, 1]])
    if not is_apart.any():
        return None
    earlier, later = pairs[int(is_apart.argmax())]
    return int(earlier), int(later)


def _pairs_between_buffers(program: Program, rows: Rows) -> IntArray:
    """Pairs of accesses of rule 2, the earlier first; (pairs, 2)."""
    write = np.array(program.access_write, dtype=np.bool_)
    instruction = rows[2]
    of_rows = (chains_of(program)[instruction], int64(program.segment)[instruction])
    used, cells = _by_first_use(rows, write, program), _cells(program)
    longest = int(np.diff(rows[1]).max())
    last = np.empty(int(of_rows[0].max()) + 1, np.int64)
    pairs = np.empty((0, 2), np.int64)
    for _ in range(2):  # the first pass only counts
        owner = np.full(int(cells[1].max()), -1, np.int64)
        spare = (owner, last, *np.empty((2, longest), np.int64))
        count = _between_buffers((used, *cells), rows, of_rows, spare, pairs)
        pairs = np.empty((count, 2), np.int64) if len(pairs) < count else pairs
    return pairs


def _by_first_use(rows: Rows, write: NDArray[np.bool_], program: Program) -> IntArray:
    """Used buffers, sorted by first access; buffers without a write come first."""
    order, buffer_at, instruction = rows
    used = np.flatnonzero(np.diff(buffer_at))
    first = instruction[order[buffer_at[used]]]
    is_written = np.zeros(len(buffer_at) - 1, dtype=np.bool_)
    is_written[program.access_buffer[write]] = True
    first[~is_written[used]] = -1
    return used[np.argsort(first, kind="stable")].astype(np.int64)


def _cells(program: Program) -> tuple[IntArray, IntArray]:
    """First and end cell of every buffer; all buffers' ends divide the addresses into cells."""
    buffers = program.buffers
    space = buffers.spaces(is_pooled=program.plan.hardware.is_pooled)
    ends = buffers.offset + buffers.size_bytes
    base = space * (int(ends.max(initial=0)) + 1)
    edges = np.unique(np.concatenate((base + buffers.offset, base + ends)))
    begin, stop = (np.searchsorted(edges, base + at) for at in (buffers.offset, ends))
    return begin.astype(np.int64), stop.astype(np.int64)


@compiled
def _between_buffers(
    used: tuple[IntArray, IntArray, IntArray],
    rows: Rows,
    of_rows: tuple[IntArray, IntArray],
    places: tuple[IntArray, IntArray, IntArray, IntArray],
    found: IntArray,
) -> Integer:
    """Write pairs of rule 2 to `found` (only count if it is empty); return their number.

    `used`: buffers in order of first use, and the first and end cell of every buffer. `of_rows`:
    chain and segment of every access. `places`: the owner of each cell (-1: none), and work arrays
    with one row per chain and, twice, one row per access of a buffer.
    """
    order, begin, stop = used
    chain, segment = of_rows
    owner, last, before, after = places
    count: Integer = np.int64(0)
    for new in order:
        known_owner = np.int64(-1)
        firsts: Integer = np.int64(0)
        for cell in range(begin[new], stop[new]):
            old = owner[cell]
            owner[cell] = new
            if old < 0 or old == known_owner:
                continue
            known_owner = old
            if firsts == 0:
                firsts = _ends_of_chains(rows, new, True, chain, (last, after))
            lasts = _ends_of_chains(rows, old, False, chain, (last, before))
            count = _add_all(before[:lasts], after[:firsts], segment, found, count)
    return count


@compiled_part
def _ends_of_chains(
    rows: Rows, buffer: Integer, is_first: bool, chain: IntArray, places: tuple[IntArray, IntArray]
) -> Integer:
    """Write a buffer's accesses that are the first, or the last, of their chain; return the number.

    `places`: work array with one row per chain, and the result, in sequence order.
    """
    by_buffer, buffer_at, _ = rows
    end, found = places
    begin, stop = buffer_at[buffer], buffer_at[buffer + 1]
    for at in range(begin, stop):
        row = by_buffer[begin + stop - 1 - at if is_first else at]
        end[chain[row]] = row  # the last assignment remains
    count = 0
    for at in range(begin, stop):
        row = by_buffer[at]
        if end[chain[row]] == row:
            found[count] = row
            count += 1
    return count


@compiled_part
def _add_all(
    lasts: IntArray, firsts: IntArray, segment: IntArray, found: IntArray, count: Integer
) -> Integer:
    """Add all pairs of `lasts` and `firsts` that are in one segment; return the new count."""
    for earlier in lasts:
        for later in firsts:
            if segment[earlier] < segment[later]:
                continue
            if len(found) > 0:
                found[count, 0], found[count, 1] = earlier, later
            count += 1
    return count
