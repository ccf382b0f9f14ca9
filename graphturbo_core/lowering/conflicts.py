"""KernelCode -> conflicts: which earlier instructions each one must wait for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled
from graphturbo_core.lowering.code import KernelCode
from graphturbo_core.lowering.program import IntArray, Memory

MANY_ACCESSES = 64
"""From so many accesses on, those of a buffer are looked up by where they lie (our choice)."""


@dataclass(frozen=True)
class Conflicts:
    """CSR over instructions in layer order: rows of earlier instructions.

    `is_address`: write after read, write after write, or reused bytes; else read after write.
    """

    at: IntArray
    earlier: NDArray[np.int32]
    is_address: NDArray[np.bool_]


def find_conflicts(code: KernelCode, is_pooled: bool) -> Conflicts:
    """Every conflict that does not follow from others.

    Within a buffer, accesses are swept in order against those still uncovered: a write that covers
    an earlier access stands for it from then on. Between buffers, a sweep over addresses keeps the
    last owner of every byte; a writer of the new owner waits for the last accesses of the old one.
    Cost: accesses times those that lie in the same cells of the buffer.
    """
    count = len(code.rows)
    instruction = np.repeat(np.arange(count), np.diff(code.access_at)).astype(np.int64)
    order = np.argsort(code.access_buffer, kind="stable")
    buffer_at = np.searchsorted(code.access_buffer[order], np.arange(len(code.buffers) + 1))
    first_access = np.full(len(code.buffers), len(order), dtype=np.int64)
    np.minimum.at(first_access, code.access_buffer, np.arange(len(order)))
    within, is_last, is_first_write = _within_buffers(
        instruction, order, buffer_at, code.access_write, code.access_lo, code.access_hi,
        count,
    )  # fmt: skip
    space, start, end = _address_table(code, is_pooled)
    by_first = np.argsort(first_access, kind="stable")
    pairs = _owner_pairs(by_first[space[by_first] >= 0], space, start, end)
    between = _between_buffers(pairs, instruction, order, buffer_at, is_last, is_first_write, count)
    edges = np.concatenate((within, between))
    del within, between
    return _as_rows(edges, count)


def _address_table(code: KernelCode, is_pooled: bool) -> tuple[IntArray, IntArray, IntArray]:
    """Per buffer: its address space (-1: not placed by this kernel), start and end byte."""
    spaces: list[int] = []
    for buffer in code.buffers:
        memory = buffer.memory
        if memory is Memory.LB_WEIGHT and is_pooled:
            memory = Memory.LB_DATA
        is_far = buffer.shared is not None and buffer.shared[0] != "KEPT"
        spaces.append(-1 if is_far else (buffer.core + 1) * len(Memory) + memory)
    start = np.array([buffer.offset for buffer in code.buffers], dtype=np.int64)
    size = np.array([buffer.size_bytes for buffer in code.buffers], dtype=np.int64)
    return np.array(spaces, dtype=np.int64), start, start + size


def _as_rows(edges: IntArray, count: int) -> Conflicts:
    """Edges as CSR, sorted in place; a data conflict wins over an address one.

    There may be a hundred an instruction, so that each copy of them counts.
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


@compiled
def _edge(later: int, earlier: int, is_address: int, count: int) -> int:
    """One number an edge, by which edges sort: later, earlier, data before address."""
    return (later * count + earlier) * 2 + is_address


@compiled
def _grown(rows: IntArray) -> IntArray:
    """Twice as many rows, or numbers."""
    return np.concatenate((rows, np.empty_like(rows)))


@compiled
def _meets(lo: NDArray[np.int32], hi: NDArray[np.int32], first: int, second: int) -> bool:
    for axis in range(lo.shape[1]):
        if lo[first, axis] >= hi[second, axis] or lo[second, axis] >= hi[first, axis]:
            return False
    return True


@compiled
def _covers(lo: NDArray[np.int32], hi: NDArray[np.int32], outer: int, inner: int) -> bool:
    for axis in range(lo.shape[1]):
        if lo[outer, axis] > lo[inner, axis] or hi[inner, axis] > hi[outer, axis]:
            return False
    return True


@compiled
def _cells(
    members: IntArray, lo: NDArray[np.int32], hi: NDArray[np.int32]
) -> tuple[int, int, int, int]:
    """Axis, least coordinate, width and number of the cells into which a buffer is divided.

    Along the axis on which most boxes begin apart, so that tiles lie in few cells each.
    """
    best, most = 0, 1
    if len(members) >= MANY_ACCESSES:
        for axis in range(lo.shape[1]):
            begins = len(np.unique(lo[members, axis]))
            if begins > most:
                best, most = axis, begins
    least = int(lo[members, best].min())
    extent = int(hi[members, best].max()) - least
    return best, least, max(1, -(-extent // most)), most


@compiled
def _chain_edges(  # noqa: PLR0913, PLR0917 (compiled code takes arrays)
    later: int,
    chain: IntArray,
    nodes: IntArray,
    instruction: IntArray,
    write: NDArray[np.bool_],
    lo: NDArray[np.int32],
    hi: NDArray[np.int32],
    is_last: NDArray[np.bool_],
    is_open: NDArray[np.bool_],
    edges: IntArray,
    used: int,
    count: int,
) -> tuple[IntArray, int]:
    """Edges from `later` to what it meets in a chain; what it covers is closed and leaves it."""
    previous, node = -1, chain[0]
    while node >= 0:
        earlier, following = nodes[node, 0], nodes[node, 1]
        is_pair = is_open[earlier] and instruction[earlier] != instruction[later]
        if is_pair and _meets(lo, hi, earlier, later):
            if used == len(edges):
                edges = _grown(edges)
            edges[used] = _edge(instruction[later], instruction[earlier], write[later], count)
            used += 1
            is_last[earlier] = False
            if write[later] and _covers(lo, hi, later, earlier):
                is_open[earlier] = False
        if is_open[earlier]:
            previous = node
        elif previous < 0:
            chain[0] = following
        else:
            nodes[previous, 1] = following
        node = following
    return edges, used


@compiled
def _within_buffers(  # noqa: PLR0913, PLR0917 (compiled code takes arrays)
    instruction: IntArray,
    order: IntArray,
    buffer_at: IntArray,
    write: NDArray[np.bool_],
    lo: NDArray[np.int32],
    hi: NDArray[np.int32],
    count: int,
) -> tuple[IntArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """Edges between accesses of one buffer, some of them twice; a read is held against writes only.

    Also: which accesses nothing in their buffer waits for, which writes wait for nothing in it.
    Each cell has two chains of `nodes` (access, next node): its open reads, its open writes.
    """
    edges = np.empty(1024, dtype=np.int64)
    nodes = np.empty((1024, 2), dtype=np.int64)
    used = 0
    is_last = np.ones(len(order), dtype=np.bool_)
    is_open = np.ones(len(order), dtype=np.bool_)
    is_first_write = write.copy()
    for buffer in range(len(buffer_at) - 1):
        members = order[buffer_at[buffer] : buffer_at[buffer + 1]]
        if not write[members].any():
            continue
        axis, least, width, cells = _cells(members, lo, hi)
        chains = np.full((cells, 2, 1), -1, dtype=np.int64)
        linked = 0
        for later in members:
            begin = min((lo[later, axis] - least) // width, cells - 1)
            end = min(max(begin, (hi[later, axis] - 1 - least) // width), cells - 1) + 1
            before = used
            for cell in range(begin, end):
                for kind in range(1 - write[later], 2):
                    edges, used = _chain_edges(
                        later, chains[cell, kind], nodes, instruction, write, lo, hi,
                        is_last, is_open, edges, used, count,
                    )  # fmt: skip
            if used > before:
                is_first_write[later] = False
            for cell in range(begin, end):
                if linked == len(nodes):
                    nodes = _grown(nodes)
                nodes[linked] = later, chains[cell, int(write[later]), 0]
                chains[cell, int(write[later]), 0] = linked
                linked += 1
    return edges[:used], is_last, is_first_write


@compiled
def _owner_pairs(buffers: IntArray, space: IntArray, start: IntArray, end: IntArray) -> IntArray:
    """(old, new): `new` takes bytes whose last owner was `old`; buffers come in order of use."""
    spaces = 1
    for buffer in buffers:
        spaces = max(spaces, space[buffer] + 1)
    counts = np.zeros(spaces, dtype=np.int64)
    owners = np.empty((spaces, 64, 3), dtype=np.int64)
    pairs = np.empty((1024, 2), dtype=np.int64)
    used = 0
    for new in buffers:
        place = space[new]
        if 2 * counts[place] + 4 > owners.shape[1]:
            larger = np.empty((spaces, 2 * owners.shape[1], 3), dtype=np.int64)
            larger[:, : owners.shape[1]] = owners
            owners = larger
        rows = owners[place]
        kept = 0
        fresh = np.empty((2 * counts[place] + 1, 3), dtype=np.int64)
        for row in range(counts[place]):
            lo, hi, old = rows[row, 0], rows[row, 1], rows[row, 2]
            if hi <= start[new] or end[new] <= lo:
                fresh[kept, 0], fresh[kept, 1], fresh[kept, 2] = lo, hi, old
                kept += 1
                continue
            if used == len(pairs):
                pairs = _grown(pairs)
            pairs[used, 0], pairs[used, 1] = old, new
            used += 1
            if lo < start[new]:
                fresh[kept, 0], fresh[kept, 1], fresh[kept, 2] = lo, start[new], old
                kept += 1
            if end[new] < hi:
                fresh[kept, 0], fresh[kept, 1], fresh[kept, 2] = end[new], hi, old
                kept += 1
        fresh[kept, 0], fresh[kept, 1], fresh[kept, 2] = start[new], end[new], new
        rows[: kept + 1] = fresh[: kept + 1]
        counts[place] = kept + 1
    return pairs[:used]


@compiled
def _between_buffers(  # noqa: PLR0913, PLR0917 (compiled code takes arrays)
    pairs: IntArray,
    instruction: IntArray,
    order: IntArray,
    buffer_at: IntArray,
    is_last: NDArray[np.bool_],
    is_first_write: NDArray[np.bool_],
    count: int,
) -> IntArray:
    edges = np.empty(1024, dtype=np.int64)
    used = 0
    for pair in range(len(pairs)):
        old, new = pairs[pair, 0], pairs[pair, 1]
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
                edges[used] = _edge(instruction[later], instruction[earlier], 1, count)
                used += 1
    return edges[:used]
