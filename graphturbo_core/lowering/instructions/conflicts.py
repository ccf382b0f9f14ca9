"""KernelCode -> Conflicts: the earlier instructions that each one must wait for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled, compiled_part
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.instructions.local_buffers import RESIDENT, SCRATCH
from graphturbo_core.products.arrays import Integer
from graphturbo_core.products.instruction_table import AddressConflicts
from graphturbo_core.products.program import IntArray

MANY_ACCESSES = 64
"""Accesses from which on a buffer is divided into cells, and searched by cell (our choice)."""


@dataclass(frozen=True)
class Conflicts(AddressConflicts):
    """Conflicts of one kernel's instructions in layer order; `conflict`: the row in that order."""

    def part(self, first: int, end: int) -> Conflicts:
        """Conflicts between instructions of [first, end); rows count from `first`."""
        bounds = self.conflict_at[first : end + 1]
        rows = slice(bounds[0], bounds[-1])
        is_inside = self.conflict[rows] >= first
        kept = np.concatenate(([0], np.cumsum(is_inside, dtype=np.int64)))
        return Conflicts(
            kept[bounds - bounds[0]],
            self.conflict[rows][is_inside] - np.int32(first),
            self.is_address_conflict[rows][is_inside],
        )


def find_conflicts(code: KernelCode, is_pooled: bool) -> Conflicts:
    """Every conflict that does not follow from others.

    1. Within a buffer, a sweep in layer order compares each access with the earlier open ones. A
       write closes every earlier access whose box it covers.
    2. Between buffers, a sweep records the last owner of every byte. The first writes of the new
       owner wait for the last accesses of the old one. In scratch bytes of GB, only the first of
       them on each engine does, and the others wait for that one (`_led`).

    `is_pooled`: the data and weight part of an LB have one address space. Cost: accesses times the
    accesses in the same cells of the buffer.
    """
    count = code.size
    instruction = np.repeat(np.arange(count), np.diff(code.access_at)).astype(np.int64)
    order = np.argsort(code.access_buffer, kind="stable")
    buffer_at = np.searchsorted(code.access_buffer[order], np.arange(len(code.buffers) + 1))
    first_access = np.full(len(code.buffers), len(order), dtype=np.int64)
    np.minimum.at(first_access, code.access_buffer, np.arange(len(order)))
    is_last = np.ones(len(order), dtype=np.bool_)
    is_first_write = code.access_write.copy()
    is_written = np.zeros(len(code.buffers), dtype=np.bool_)
    is_written[code.access_buffer[code.access_write]] = True
    within = _within_buffers(
        np.flatnonzero(is_written), _cells(buffer_at, code.access_lo[order]),
        instruction, order, buffer_at,
        code.access_write, code.access_lo, code.access_hi,
        is_last, np.ones_like(is_last), is_first_write, count,
    )  # fmt: skip
    space, start, end = _address_table(code, is_pooled)
    by_first = np.lexsort((first_access, space))
    by_first = by_first[space[by_first] >= 0]
    held, rest = np.empty((2, 2 * len(by_first), 3), dtype=np.int64)
    old, new = _owner_pairs(by_first, space, start, end, held, rest)
    led = _led(code, instruction, new, is_first_write)
    between = _between_buffers(
        old, new, instruction, order, buffer_at, is_last, is_first_write, count
    )
    edges = np.concatenate((within, led, between))
    del within, led, between
    return _as_rows(edges, count)


def _cells(buffer_at: IntArray, begin: NDArray[np.int32]) -> IntArray:
    """Per buffer, the axis and the number of its cells; `begin`: lower corners, by buffer.

    The axis is the one with most distinct begins, so that a tile lies in few cells.
    """
    cells = np.tile(np.array([0, 1], dtype=np.int64), (len(buffer_at) - 1, 1))
    is_many = np.diff(buffer_at) >= MANY_ACCESSES
    buffer = np.repeat(np.arange(len(cells)), np.diff(buffer_at))
    rows = np.flatnonzero(is_many[buffer])
    buffer = buffer[rows]
    for axis in range(begin.shape[1]):
        lo = begin[rows, axis]
        lo -= lo.min(initial=0)
        stride = int(lo.max(initial=0)) + 1
        begins = np.bincount(np.unique(buffer * stride + lo) // stride, minlength=len(cells))
        is_more = begins > cells[:, 1]
        cells[is_more, 0], cells[is_more, 1] = axis, begins[is_more]
    return cells


def _address_table(code: KernelCode, is_pooled: bool) -> tuple[IntArray, IntArray, IntArray]:
    """Per buffer: address space (-1: not placed by this kernel), first and end byte.

    Scratch bytes of GB are a space of their own: their offsets count from the first of them.
    """
    buffers = code.buffers
    spaces = buffers.spaces(is_pooled=is_pooled)
    scratch = int(spaces.max(initial=0)) + 1
    for row, key in buffers.shared.items():
        if key[0] != RESIDENT:
            spaces[row] = scratch if key[0] == SCRATCH else -1
    return spaces, buffers.offset, buffers.offset + buffers.size_bytes


def _led(
    code: KernelCode, instruction: IntArray, new: IntArray, is_first_write: NDArray[np.bool_]
) -> IntArray:
    """Edges from first writes of each engine to the first of them, which alone stays marked.

    Of `new` owners of scratch bytes. Our choice: whole tensors reuse bytes there, and all pairs of
    their tiles would be hundreds per instruction.
    """
    buffers = [row for row, key in code.buffers.shared.items() if key[0] == SCRATCH]
    is_new = np.zeros(len(code.buffers), dtype=np.bool_)
    is_new[buffers] = np.isin(buffers, new)
    rows = np.flatnonzero(is_first_write & is_new[code.access_buffer])
    writer = instruction[rows]
    queue = code.access_buffer[rows].astype(np.int64) * (int(code.engine.max(initial=0)) + 1)
    _, first, of_row = np.unique(queue + code.engine[writer], True, True)
    leader = writer[first][of_row]
    is_first_write[rows] = writer == leader
    is_led = writer != leader
    return np.asarray((writer[is_led] * code.size + leader[is_led]) * 2 + 1)


def _as_rows(edges: IntArray, count: int) -> Conflicts:
    """Edges as CSR, sorted in place; of equal pairs, data conflicts replace address conflicts.

    In place, since there may be a hundred edges per instruction.
    """
    edges.sort()
    is_new = np.ones(len(edges), dtype=np.bool_)
    is_new[1:] = edges[1:] // 2 != edges[:-1] // 2
    edges = edges[is_new]
    is_address = (edges % 2).astype(np.bool_)
    edges //= 2
    at = np.searchsorted(edges, np.arange(count + 1) * max(1, count)).astype(np.int64)
    edges %= max(1, count)
    return Conflicts(at, edges.astype(np.int32), is_address)


@compiled_part
def _edge(later: int, earlier: int, is_address: Integer, count: int) -> Integer:
    """Sort key of an edge: later instruction, earlier instruction, data before address."""
    return (later * count + earlier) * 2 + is_address


@compiled_part
def _grown(numbers: IntArray) -> IntArray:
    """The numbers in an array of twice the length. A slice assignment takes seconds to compile."""
    grown = np.empty(2 * len(numbers), dtype=np.int64)
    for at in range(len(numbers)):
        grown[at] = numbers[at]
    return grown


@compiled_part
def _meets(lo: NDArray[np.int32], hi: NDArray[np.int32], first: int, second: int) -> bool:
    for axis in range(lo.shape[1]):
        if lo[first, axis] >= hi[second, axis] or lo[second, axis] >= hi[first, axis]:
            return False
    return True


@compiled_part
def _covers(lo: NDArray[np.int32], hi: NDArray[np.int32], outer: int, inner: int) -> bool:
    for axis in range(lo.shape[1]):
        if lo[outer, axis] > lo[inner, axis] or hi[inner, axis] > hi[outer, axis]:
            return False
    return True


@compiled_part
def _span(
    members: IntArray, axis: int, cells: int, lo: NDArray[np.int32], hi: NDArray[np.int32]
) -> tuple[int, int]:
    """Begin of a buffer's cells along the axis, and the width of a cell, in elements."""
    least, most = int(lo[members[0], axis]), int(hi[members[0], axis])
    for access in members:
        least = min(least, int(lo[access, axis]))
        most = max(most, int(hi[access, axis]))
    return least, max(1, -((least - most) // cells))


@compiled_part
def _chain_edges(  # noqa: PLR0913, PLR0917 (compiled code takes arrays)
    later: int,
    place: int,
    chains: IntArray,
    entries: IntArray,
    following: IntArray,
    instruction: IntArray,
    write: NDArray[np.bool_],
    lo: NDArray[np.int32],
    hi: NDArray[np.int32],
    is_last: NDArray[np.bool_],
    is_open: NDArray[np.bool_],
    edges: IntArray,
    used: Integer,
    count: int,
) -> tuple[IntArray, Integer]:
    """Add edges from `later` to accesses of a chain that it intersects; close what it covers."""
    previous, node = -1, chains[place]
    while node >= 0:
        earlier, behind = entries[node], following[node]
        is_pair = is_open[earlier] and instruction[earlier] != instruction[later]
        if is_pair and _meets(lo, hi, earlier, later):
            if used == len(edges):
                edges = _grown(edges)
            is_address = int(write[later])
            edges[used] = _edge(instruction[later], instruction[earlier], is_address, count)
            used += 1
            is_last[earlier] = False
            if write[later] and _covers(lo, hi, later, earlier):
                is_open[earlier] = False
        if is_open[earlier]:
            previous = node
        elif previous < 0:
            chains[place] = behind
        else:
            following[previous] = behind
        node = behind
    return edges, used


@compiled_part
def _emptied(chains: IntArray, count: int) -> IntArray:
    """An array of at least `count` chains, the first `count` empty."""
    while len(chains) < count:
        chains = _grown(chains)
    for place in range(count):
        chains[place] = -1
    return chains


@compiled
def _within_buffers(  # noqa: PLR0913, PLR0917 (compiled code takes arrays)
    buffers: IntArray,
    cells_of: IntArray,
    instruction: IntArray,
    order: IntArray,
    buffer_at: IntArray,
    write: NDArray[np.bool_],
    lo: NDArray[np.int32],
    hi: NDArray[np.int32],
    is_last: NDArray[np.bool_],
    is_open: NDArray[np.bool_],
    is_first_write: NDArray[np.bool_],
    count: int,
) -> IntArray:
    """Edges between accesses of the same buffer, some of them twice.

    `buffers`: buffers with a write. A read is compared with writes only. Each cell has two `chains`
    of nodes: open reads and open writes. A node has an access (`entries`) and the next node
    (`following`). The function clears `is_last` of accesses that a later one waits for,
    `is_first_write` of writes that wait for an earlier one, and `is_open` of covered accesses.
    """
    edges = np.empty(1024, dtype=np.int64)
    entries, following = np.empty(1024, dtype=np.int64), np.empty(1024, dtype=np.int64)
    chains = np.empty(1024, dtype=np.int64)
    used: Integer = np.int64(0)
    for buffer in buffers:
        members = order[buffer_at[buffer] : buffer_at[buffer + 1]]
        axis, cells = cells_of[buffer, 0], cells_of[buffer, 1]
        least, width = _span(members, axis, cells, lo, hi)
        chains = _emptied(chains, 2 * cells)
        linked = 0
        for later in members:
            begin = min((lo[later, axis] - least) // width, cells - 1)
            end = min(max(begin, (hi[later, axis] - 1 - least) // width), cells - 1) + 1
            before = used
            for cell in range(begin, end):
                for kind in range(1 - int(write[later]), 2):
                    edges, used = _chain_edges(
                        later, 2 * cell + kind, chains, entries, following, instruction, write,
                        lo, hi, is_last, is_open, edges, used, count,
                    )  # fmt: skip
            if used > before:
                is_first_write[later] = False
            for cell in range(begin, end):
                if linked == len(entries):
                    entries, following = _grown(entries), _grown(following)
                place = 2 * cell + int(write[later])
                entries[linked], following[linked] = later, chains[place]
                chains[place] = linked
                linked += 1
    return edges[:used]


@compiled
def _owner_pairs(  # noqa: PLR0913, PLR0917 (compiled code takes arrays)
    buffers: IntArray,
    space: IntArray,
    start: IntArray,
    end: IntArray,
    held: IntArray,
    rest: IntArray,
) -> tuple[IntArray, IntArray]:
    """Pairs (old, new) of buffers: `new` uses bytes whose last owner was `old`.

    `buffers`: sorted by address space, then by first access. `held`, `rest`: work arrays for the
    byte ranges (begin, end, owner) of a space, before and after a buffer. A buffer adds at most two
    ranges.
    """
    old_of, new_of = np.empty(1024, dtype=np.int64), np.empty(1024, dtype=np.int64)
    used, stretches = 0, 0
    for at in range(len(buffers)):
        new = buffers[at]
        if at > 0 and space[new] != space[buffers[at - 1]]:
            stretches = 0
        kept = 0
        for row in range(stretches):
            lo, hi, old = held[row, 0], held[row, 1], held[row, 2]
            if hi <= start[new] or end[new] <= lo:
                rest[kept, 0], rest[kept, 1], rest[kept, 2] = lo, hi, old
                kept += 1
                continue
            if used == len(old_of):
                old_of, new_of = _grown(old_of), _grown(new_of)
            old_of[used], new_of[used] = old, new
            used += 1
            if lo < start[new]:
                rest[kept, 0], rest[kept, 1], rest[kept, 2] = lo, start[new], old
                kept += 1
            if end[new] < hi:
                rest[kept, 0], rest[kept, 1], rest[kept, 2] = end[new], hi, old
                kept += 1
        rest[kept, 0], rest[kept, 1], rest[kept, 2] = start[new], end[new], new
        stretches = kept + 1
        held, rest = rest, held
    return old_of[:used], new_of[:used]


@compiled
def _between_buffers(  # noqa: PLR0913, PLR0917 (compiled code takes arrays)
    old_of: IntArray,
    new_of: IntArray,
    instruction: IntArray,
    order: IntArray,
    buffer_at: IntArray,
    is_last: NDArray[np.bool_],
    is_first_write: NDArray[np.bool_],
    count: int,
) -> IntArray:
    """Edges from first writes of each new owner to the last accesses of the old one."""
    edges = np.empty(1024, dtype=np.int64)
    used = 0
    for pair in range(len(old_of)):
        old, new = old_of[pair], new_of[pair]
        for position in range(buffer_at[new], buffer_at[new + 1]):
            later = order[position]
            if not is_first_write[later]:
                continue
            for other in range(buffer_at[old], buffer_at[old + 1]):
                earlier = order[other]
                if not is_last[earlier] or instruction[earlier] == instruction[later]:
                    continue
                if used == len(edges):
                    edges = _grown(edges)
                edges[used] = _edge(instruction[later], instruction[earlier], np.int64(1), count)
                used += 1
    return edges[:used]
