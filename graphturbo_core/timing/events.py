"""Compiled event loops: `run_segments` for the hardware, `greedy_starts` for the list scheduler.

The clock is a binary heap of (cycle, code). In `run_segments` codes are ranges of one number line.
Their order is the order of events within a cycle (design, section 5: ends before starts, then
sequence):

    [0, n)               the result of instruction i is visible
    [n, 2n)              the engine of instruction i is free
    [2n, 2n + rows)      an occupancy (row of the channel table) has ended
    [2n + rows, ...)     instruction i is ready
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled, compiled_part
from graphturbo_core.products.arrays import Integer
from graphturbo_core.products.program import IntArray

Clock = IntArray
"""Pending events, (N, 2), a binary heap: row 0 has their number, rows from 1 are (cycle, code)."""


class EngineWork(NamedTuple):
    """Input of the event loop: n instructions, and `rows` entries of the channel table.

    `hold`, `latency`, `channel_cycles`: cycles. `follower[i]`: the next instruction of i's engine
    in i's segment (-1: none). `released` (CSR by `released_at`): later instructions of i's segment
    that conflict with i. `owner`: the instruction of each channel row.
    """

    hold: IntArray
    latency: IntArray
    follower: IntArray
    released_at: IntArray
    released: IntArray
    channel_at: IntArray
    channel: IntArray
    channel_cycles: IntArray
    owner: IntArray


class State(NamedTuple):
    """Mutable state of the event loop.

    `waiting[i]`: number of conflicts and engine predecessors of i that have not ended.
    `blocked[i]`: number of channel queues that i is in and not at the head of. `behind[row]`: the
    next row in its queue; `tail[c]`: the last row of channel c's queue (-1: empty).
    `admitted_cycle`: cycle at which i reached the head of the last of its queues; `admitted_by`:
    the instruction that left that queue (-1: none).
    """

    waiting: IntArray
    blocked: IntArray
    behind: IntArray
    tail: IntArray
    start: IntArray
    admitted_cycle: IntArray
    admitted_by: IntArray


@compiled_part
def push(clock: Clock, cycle: Integer, code: Integer) -> None:
    """Add an event."""
    at = clock[0, 0] + 1
    clock[0, 0] = at
    while at > 1:
        parent = at >> 1
        over = clock[parent, 0]
        if over < cycle or (over == cycle and clock[parent, 1] <= code):
            break
        clock[at, 0] = over
        clock[at, 1] = clock[parent, 1]
        at = parent
    clock[at, 0] = cycle
    clock[at, 1] = code


@compiled_part
def pop(clock: Clock) -> tuple[Integer, Integer]:
    """Remove the earliest event: its cycle and code."""
    cycle = clock[1, 0]
    code = clock[1, 1]
    last = clock[0, 0]
    clock[0, 0] = last - 1
    moved_cycle = clock[last, 0]
    moved_code = clock[last, 1]
    at: Integer = 1
    while 2 * at < last:
        child = _earlier(clock, 2 * at, last)
        under = clock[child, 0]
        if moved_cycle < under or (moved_cycle == under and moved_code <= clock[child, 1]):
            break
        clock[at, 0] = under
        clock[at, 1] = clock[child, 1]
        at = child
    clock[at, 0] = moved_cycle
    clock[at, 1] = moved_code
    return cycle, code


@compiled_part
def _earlier(clock: Clock, left: Integer, end: Integer) -> Integer:
    """The earlier of two children; the right one may be missing."""
    right = left + 1
    if right >= end or clock[left, 0] < clock[right, 0]:
        return left
    if clock[left, 0] == clock[right, 0] and clock[left, 1] < clock[right, 1]:
        return left
    return right


@compiled_part
def _release(clock: Clock, waiting: IntArray, i: Integer, cycle: Integer, ready: Integer) -> None:
    """Count down what instruction i waits for; at 0, push the event that i is ready."""
    waiting[i] -= 1
    if waiting[i] == 0:
        push(clock, cycle, ready + i)


@compiled_part
def _drain(clock: Clock, work: EngineWork, state: State) -> None:  # noqa: C901, PLR0912 (see below)
    """Run until no event is pending.

    One function, with arrays unpacked from their tuples first: a call with such a tuple, and each
    access through one, counts references. That made this loop five times as slow.
    """
    hold, latency, follower, released_at, released, channel_at, channel, cycles, owner = work
    waiting, blocked, behind, tail, start, admitted_cycle, admitted_by = state
    n = len(hold)
    ready = 2 * n + len(channel)
    while clock[0, 0] > 0:
        cycle, code = pop(clock)
        begun: Integer = -1
        if code < n:  # its result is visible: release its conflicts
            for at in range(released_at[code], released_at[code + 1]):
                _release(clock, waiting, released[at], cycle, ready)
        elif code < 2 * n:  # its engine is free for the next instruction
            _release(clock, waiting, follower[code - n], cycle, ready)
        elif code < ready:  # the head of a channel's queue leaves
            left = code - 2 * n
            heir = behind[left]
            if heir < 0:
                tail[channel[left]] = -1
                continue
            i = owner[heir]
            before = owner[left]
            if cycle > admitted_cycle[i] or (
                cycle == admitted_cycle[i] and before < admitted_by[i]
            ):
                admitted_cycle[i] = cycle
                admitted_by[i] = before
            blocked[i] -= 1
            if blocked[i] == 0:
                begun = i
        else:  # it is ready: it enters the queues of all its channels
            i = code - ready
            for row in range(channel_at[i], channel_at[i + 1]):
                last = tail[channel[row]]
                tail[channel[row]] = row
                if last >= 0:
                    behind[last] = row
                    blocked[i] += 1
            if blocked[i] == 0:
                begun = i
        if begun >= 0:  # it is at the head of all its queues: it occupies engine and channels
            start[begun] = cycle
            if follower[begun] >= 0:
                push(clock, cycle + hold[begun], n + begun)
            if released_at[begun] < released_at[begun + 1]:
                push(clock, cycle + hold[begun] + latency[begun], begun)
            for row in range(channel_at[begun], channel_at[begun + 1]):
                push(clock, cycle + cycles[row], 2 * n + row)


@compiled
def run_segments(
    work: EngineWork,
    state: State,
    segment_at: IntArray,
    open_cycles: IntArray,
    close_cycles: IntArray,
) -> tuple[IntArray, IntArray]:
    """Fill `state.start`; return the cycles at which segments open and close, both (segments,).

    Segment s has the rows `segment_at[s]:segment_at[s + 1]`. All instructions of a segment have
    ended when it closes. So no event is pending when the next one opens.
    """
    hold, latency, waiting, start = work.hold, work.latency, state.waiting, state.start
    n = len(hold)
    rows = len(work.channel)
    clock = np.zeros((3 * n + rows + 1, 2), np.int64)
    opens = np.zeros(len(open_cycles), np.int64)
    closes = np.zeros(len(open_cycles), np.int64)
    cycle: Integer = 0
    for segment in range(len(open_cycles)):
        cycle += open_cycles[segment]
        opens[segment] = cycle
        for i in range(segment_at[segment], segment_at[segment + 1]):
            if waiting[i] == 0:
                push(clock, cycle, 2 * n + rows + i)
        _drain(clock, work, state)
        for i in range(segment_at[segment], segment_at[segment + 1]):
            cycle = max(cycle, start[i] + hold[i] + latency[i])
        cycle += close_cycles[segment]
        closes[segment] = cycle
    return opens, closes


class ResourceUse(NamedTuple):
    """Resources that each row of a kernel occupies from its start (CSR by `at`), and their cycles.

    `resource`: the row's engine first, then its channels. `hold`: cycles of the engine; `latency`:
    cycles from the end of the hold until the result is visible.
    """

    hold: IntArray
    latency: IntArray
    at: IntArray
    resource: IntArray
    cycles: IntArray


class Dependences(NamedTuple):
    """`missing`: number of rows that each waits for; `following` (CSR by `at`): its successors."""

    missing: IntArray
    at: IntArray
    following: NDArray[np.int32]


@compiled_part
def _empty_heaps(resource: IntArray, resources: int) -> tuple[Clock, IntArray]:
    """An empty heap for each resource, with room for all rows that use it; their begins."""
    heap_at = np.zeros(resources + 1, np.int64)
    for each in resource:
        heap_at[each + 1] += 1
    for each in range(resources):
        heap_at[each + 1] += heap_at[each] + 1
    return np.zeros((heap_at[-1], 2), np.int64), heap_at


@compiled_part
def _first_clock(predecessors: IntArray, ready: IntArray, place: IntArray) -> Clock:
    """A clock with an event for each row that waits for no other."""
    clock = np.zeros((2 * len(ready) + 1, 2), np.int64)
    for row in range(len(ready)):
        if predecessors[row] == 0:
            push(clock, ready[row], 2 * place[row])
    return clock


@compiled_part
def _with_room(clock: Clock, more: Integer) -> Clock:
    """The clock with room for so many more events; a longer copy, if it has too little."""
    if clock[0, 0] + more < len(clock):
        return clock
    longer = np.zeros((2 * len(clock) + more, 2), np.int64)
    for at in range(clock[0, 0] + 1):
        longer[at, 0] = clock[at, 0]
        longer[at, 1] = clock[at, 1]
    return longer


@compiled_part
def _push_first(clock: Clock, heap: Clock, since: IntArray, own: Integer, cycle: Integer) -> None:
    """Push an event for the first row that waits for resource `own` at `cycle`, if there is one."""
    if heap[0, 0] > 0:
        since[own] = cycle
        push(clock, cycle, 2 * heap[1, 0] + 1)


@compiled_part
def _is_due(heap: Clock, since: Integer, guess: Integer, place: Integer) -> bool:
    """Whether an event is the present one of a heap: of its first row, and of its cycle."""
    return bool(since == guess and heap[0, 0] > 0 and heap[1, 0] == place)


@compiled_part
def _latest(free: IntArray, resources: IntArray) -> Integer:
    """The resource that is free last; of equal ones the first."""
    latest: Integer = resources[0]
    for each in resources:
        if free[each] > free[latest]:
            latest = each
    return latest


@compiled_part
def _use(free: IntArray, resources: IntArray, cycles: IntArray, begin: Integer) -> None:
    """Mark these resources as used from `begin` on, each for its cycles."""
    for at in range(len(resources)):
        free[resources[at]] = begin + cycles[at]


@compiled
def greedy_starts(
    dependences: Dependences,
    uses: ResourceUse,
    order: IntArray,
    resources: int,
    *,
    is_backward: bool,
) -> IntArray:
    """Estimated starts (n,), in cycles: of the rows that can start earliest, the first of `order`.

    Queues of engines and channels are not modelled: a resource is free or not. If `is_backward`,
    time runs from the kernel's end, and a row's latency comes before its hold.

    A ready row waits for the one of its resources that is free last. Of the rows that wait for a
    resource only the first has an event (code 2 * place + 1; 2 * place before it waits), else each
    use of the resource would cost an event for all of them. The cycle of an event may be too early,
    never too late.
    """
    hold, latency, held_at, resource, cycles = uses
    predecessors, following_at, following = dependences
    missing, count = predecessors.copy(), len(hold)
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    ready = latency.copy() if is_backward else np.zeros(count, np.int64)
    start, free = np.zeros(count, np.int64), np.zeros(resources, np.int64)
    since, awaited = np.full(resources, -1, np.int64), np.full(count, -1, np.int64)
    heaps, heap_at = _empty_heaps(resource, resources)
    clock = _first_clock(missing, ready, place)
    while clock[0, 0] > 0:
        clock = _with_room(clock, count + 1)
        guess, code = pop(clock)
        row = order[code >> 1]
        used = slice(held_at[row], held_at[row + 1])
        if code & 1:  # the first row that waits for a resource tries again
            own = awaited[row]
            heap = heaps[heap_at[own] : heap_at[own + 1]]
            if own < 0 or not _is_due(heap, since[own], guess, place[row]):
                continue  # it has started, another row is first, or it has a later event
            pop(heap)
            awaited[row] = -1
            _push_first(clock, heap, since, own, guess)
        latest = _latest(free, resource[used])
        begin = max(ready[row], free[latest])
        if begin > guess:
            heap = heaps[heap_at[latest] : heap_at[latest + 1]]
            push(heap, place[row], 0)
            awaited[row] = latest
            if heap[1, 0] == place[row]:
                _push_first(clock, heap, since, latest, begin)
            continue
        start[row] = begin
        _use(free, resource[used], cycles[used], begin)
        for at in range(following_at[row], following_at[row + 1]):
            other = following[at]
            lag = latency[other] if is_backward else latency[row]
            ready[other] = max(ready[other], begin + hold[row] + lag)
            missing[other] -= 1
            if missing[other] == 0:
                push(clock, ready[other], 2 * place[other])
    return start
