"""Whether a Program itself keeps in order what must not swap, whatever the times turn out to be.

Lowering finds conflicts kernel by kernel and copies them; here they are looked for once more in the
finished arrays, over all of a segment, and must follow from the conflicts, queues and segments
there. A schedule that is right by luck of its times does not pass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled
from graphturbo_core.lowering.program import IntArray, Memory, Program
from graphturbo_core.sim.arrays import Integer, int64, owners

Boxes = NDArray[np.int32]
Clocks = NDArray[np.int32]
"""`[i, c]`: the last instruction of chain c and i's segment that has ended when i starts.

No row at all where the table would have more than `MAX_CLOCKS` entries: then every pair is looked
for among what its later one waits for.
"""
MAX_CLOCKS = 1 << 27
"""Half a GiB. Our choice: 100,000 instructions on 300 cores; more need a search."""


def unordered_accesses(program: Program) -> tuple[int, int] | None:
    """Two rows of the access table, the earlier first, that nothing keeps in order; None: none.

    1. In a buffer, two accesses conflict when their boxes meet and one of them writes. A write
       that covers an access stands for it from then on.
    2. A buffer that takes bytes comes after all accesses of the one that had them last.
    Instructions of an engine that have the same latency are a chain: they end in the order in which
    they start, so the last of a chain stands for all before it. Cost: accesses times tiles of a
    buffer and chains.
    """
    if not len(program.access_buffer):
        return None
    chain = _chains(program)
    segment = int64(program.segment)
    chains = int(chain.max(initial=0)) + 1
    of = (int64(program.engine), int64(program.latency_cycles), segment)
    conflicts = (int64(program.conflict_at), int64(program.conflict))
    if program.size * chains > MAX_CLOCKS:
        clocks = np.empty((0, chains), np.int32)
    else:
        clocks = _clocks(chain, of, conflicts, (len(program.engines), chains))
    known = (segment, chain, clocks, _links(of, conflicts, len(program.engines)))
    instruction = owners(program.access_at)
    order = np.argsort(program.access_buffer, kind="stable")
    bounds = np.arange(len(program.buffers.memory) + 1)
    rows = (order, int64(np.searchsorted(program.access_buffer[order], bounds)), instruction)
    write = np.array(program.access_write, dtype=np.bool_)
    boxes = (_corners(program.access_lo), _corners(program.access_hi))
    found = _within_buffers(rows, write, boxes, known)
    if found[0] < 0:
        used = _by_first_use(rows, write, program)
        found = _between_buffers(used, _cells(program), rows, known)
    return None if found[0] < 0 else (int(found[0]), int(found[1]))


def _chains(program: Program) -> IntArray:
    latency = int64(program.latency_cycles)
    key = int64(program.engine) * (int(latency.max(initial=0)) + 1) + latency
    return int64(np.unique(key, return_inverse=True)[1].reshape(-1))


def _corners(boxes: Boxes) -> Boxes:
    return np.ascontiguousarray(boxes, dtype=np.int32)


def _by_first_use(
    rows: tuple[IntArray, IntArray, IntArray], write: NDArray[np.bool_], program: Program
) -> IntArray:
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
def _clocks(
    chain: IntArray,
    of: tuple[IntArray, IntArray, IntArray],
    conflicts: tuple[IntArray, IntArray],
    sizes: tuple[int, int],
) -> Clocks:
    """What has ended when each instruction starts, by chain; see `Clocks`.

    The one before it in its engine's queue has ended too if its result comes without latency.
    """
    engine, latency, segment = of
    conflict_at, conflict = conflicts
    clocks = np.full((len(chain), sizes[1]), -1, np.int32)
    last = np.full(sizes[0], -1, np.int64)
    for i in range(len(chain)):
        before = last[engine[i]]
        last[engine[i]] = i
        if before >= 0 and segment[before] == segment[i]:
            clocks[i] = clocks[before]
            if latency[before] == 0:
                clocks[i, chain[before]] = before
        for at in range(conflict_at[i + 1] - 1, conflict_at[i] - 1, -1):
            earlier = conflict[at]
            is_known = clocks[i, chain[earlier]] >= earlier
            if is_known or segment[earlier] != segment[i]:
                continue
            for c in range(sizes[1]):
                clocks[i, c] = max(clocks[i, c], clocks[earlier, c])
            clocks[i, chain[earlier]] = max(clocks[i, chain[earlier]], np.int32(earlier))
    return clocks


class Links(NamedTuple):
    """What every instruction waits for directly, all of its segment.

    `conflict_at`, `conflict`: CSR. `ahead[i]`: the one before it in its engine's queue (-1: none),
    which has started; it has ended `at_once` where its result comes without latency. `seen`: marks
    of searches, then their number.
    """

    conflict_at: IntArray
    conflict: IntArray
    ahead: IntArray
    at_once: NDArray[np.bool_]
    seen: IntArray


Known = tuple[IntArray, IntArray, Clocks, Links]
"""Segment and chain of every instruction, the clocks, and the links."""


@compiled
def _links(
    of: tuple[IntArray, IntArray, IntArray], conflicts: tuple[IntArray, IntArray], engines: int
) -> Links:
    engine, latency, segment = of
    last = np.full(engines, -1, np.int64)
    ahead = np.full(len(engine), -1, np.int64)
    at_once = np.zeros(len(engine), np.bool_)
    for i in range(len(engine)):
        before = last[engine[i]]
        last[engine[i]] = i
        if before >= 0 and segment[before] == segment[i]:
            ahead[i] = before
            at_once[i] = latency[before] == 0
    seen = np.zeros(len(engine) + 1, np.int64)
    return Links(conflicts[0], conflicts[1], ahead, at_once, seen)


@compiled
def _has_ended(before: Integer, i: Integer, known: Known) -> bool:
    """Whether an instruction of i's segment has ended whenever i starts."""
    segment, chain, clocks, links = known
    if len(clocks):
        return bool(clocks[i, chain[before]] >= before)
    links.seen[-1] += 1
    stack = [i]
    while len(stack) > 0:
        now = stack.pop()
        if links.seen[now] == links.seen[-1]:
            continue
        links.seen[now] = links.seen[-1]
        first = links.conflict_at[now]
        for at in range(first - 1, links.conflict_at[now + 1]):
            earlier = links.ahead[now] if at < first else links.conflict[at]
            if earlier < before or segment[earlier] != segment[i]:
                continue
            has_ended = at >= first or links.at_once[now]
            if has_ended and chain[earlier] == chain[before]:
                return True
            stack.append(earlier)
    return False


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
def _first_unordered(
    waiting: IntArray,
    later: Integer,
    instruction: IntArray,
    boxes: tuple[Boxes, Boxes],
    known: Known,
) -> Integer:
    """The first of these accesses that meets a later one and need not have ended; -1: none.

    All are of the later one's segment.
    """
    i = instruction[later]
    for place in range(len(waiting)):
        earlier: Integer = waiting[place]
        before = instruction[earlier]
        if before == i or not _meets(boxes, earlier, later):
            continue
        if not _has_ended(before, i, known):
            return earlier
    return np.int64(-1)


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
    rows: tuple[IntArray, IntArray, IntArray],
    write: NDArray[np.bool_],
    boxes: tuple[Boxes, Boxes],
    known: Known,
) -> tuple[Integer, Integer]:
    """Rule 1: a pair of accesses that is not in order; -1, -1: none."""
    order, buffer_at, instruction = rows
    segment = known[0]
    reads = np.empty(len(order), np.int64)
    writes = np.empty(len(order), np.int64)
    for buffer in range(len(buffer_at) - 1):
        read: Integer = 0
        written: Integer = 0
        now = np.int64(-1)
        for later in order[buffer_at[buffer] : buffer_at[buffer + 1]]:
            if segment[instruction[later]] != now:
                now = segment[instruction[later]]
                read = written = 0
            earlier = _first_unordered(writes[:written], later, instruction, boxes, known)
            if earlier >= 0:
                return earlier, later
            if not write[later]:
                reads[read] = later
                read += 1
                continue
            earlier = _first_unordered(reads[:read], later, instruction, boxes, known)
            if earlier >= 0:
                return earlier, later
            read = _uncovered(reads, read, later, boxes)
            written = _uncovered(writes, written, later, boxes)
            writes[written] = later
            written += 1
    return np.int64(-1), np.int64(-1)


@compiled
def _between_buffers(
    used: IntArray,
    cells: tuple[IntArray, IntArray],
    rows: tuple[IntArray, IntArray, IntArray],
    known: Known,
) -> tuple[Integer, Integer]:
    """Rule 2: a pair of accesses that is not in order; -1, -1: none.

    `cells`: the first and the end of the bytes of every buffer, counted in stretches that no buffer
    divides. Buffers come in order of first use.
    """
    begin, stop = cells
    owner = np.full(stop.max(), -1, np.int64)
    for new in used:
        known_owner = np.int64(-1)
        for cell in range(begin[new], stop[new]):
            if owner[cell] >= 0 and owner[cell] != known_owner:
                known_owner = owner[cell]
                found = _unordered_succession(known_owner, new, rows, known)
                if found[0] >= 0:
                    return found
            owner[cell] = new
    return np.int64(-1), np.int64(-1)


@compiled
def _unordered_succession(
    old: Integer,
    new: Integer,
    rows: tuple[IntArray, IntArray, IntArray],
    known: Known,
) -> tuple[Integer, Integer]:
    """Accesses of two buffers of which the first must have ended and need not; -1, -1: none."""
    order, buffer_at, instruction = rows
    segment, chain, clocks, _ = known
    last = np.full(clocks.shape[1], -1, np.int64)
    for earlier in order[buffer_at[old] : buffer_at[old + 1]]:
        last[chain[instruction[earlier]]] = earlier
    for earlier in last[last >= 0]:
        before = instruction[earlier]
        for later in order[buffer_at[new] : buffer_at[new + 1]]:
            i = instruction[later]
            is_same = segment[before] == segment[i]
            if segment[before] > segment[i] or (is_same and not _has_ended(before, i, known)):
                return earlier, later
    return np.int64(-1), np.int64(-1)
