"""Events in the order of their cycles, compiled: how the hardware issues, how the list schedules.

The clock is a binary heap of (cycle, code). Where the hardware issues, codes are ranges of one
number line, so that their order is the order within a cycle (design, section 5: ends before starts,
then sequence):

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
"""Pending events, (N, 2), a binary heap: row 0 says how many, rows from 1 on are (cycle, code)."""


class EngineWork(NamedTuple):
    """What is to be run: n instructions, and `rows` entries of the channel table.

    `follower[i]`: the next instruction of i's engine in i's segment (-1: none). `released` (CSR
    by `released_at`): the later instructions of i's segment that conflict with i. `owner`: the
    instruction of each channel row.
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
    """What the loop changes.

    `waiting[i]`: conflicts and engine predecessors that have not ended. `blocked[i]`: channel
    queues that i has entered and does not head. `behind[row]`: the row after it in its queue;
    `tail[c]`: the last row of channel c's queue (-1: empty). `let_in_cycle`, `let_in_by`: when i
    came to head the last of its queues, and who left it (-1: none).
    """

    waiting: IntArray
    blocked: IntArray
    behind: IntArray
    tail: IntArray
    start: IntArray
    let_in_cycle: IntArray
    let_in_by: IntArray


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
    """Of two children that which comes first; the right one may be missing."""
    right = left + 1
    if right >= end or clock[left, 0] < clock[right, 0]:
        return left
    if clock[left, 0] == clock[right, 0] and clock[left, 1] < clock[right, 1]:
        return left
    return right


@compiled_part
def _release(clock: Clock, waiting: IntArray, i: Integer, cycle: Integer, ready: Integer) -> None:
    """One of the things that instruction i waited for is over."""
    waiting[i] -= 1
    if waiting[i] == 0:
        push(clock, cycle, ready + i)


@compiled_part
def _drain(clock: Clock, work: EngineWork, state: State) -> None:  # noqa: C901, PLR0912 (see below)
    """Run until no event is pending.

    In one piece, and with arrays taken out of their tuples first: each part that takes such a
    tuple, and each access through one, counts references, which made this five times as slow.
    """
    hold, latency, follower, released_at, released, channel_at, channel, taken, owner = work
    waiting, blocked, behind, tail, start, let_in_cycle, let_in_by = state
    n = len(hold)
    ready = 2 * n + len(channel)
    while clock[0, 0] > 0:
        cycle, code = pop(clock)
        begun: Integer = -1
        if code < n:  # its result is visible: what conflicts with it waits no more
            for at in range(released_at[code], released_at[code + 1]):
                _release(clock, waiting, released[at], cycle, ready)
        elif code < 2 * n:  # its engine is free for the one behind it
            _release(clock, waiting, follower[code - n], cycle, ready)
        elif code < ready:  # the head of a channel's queue leaves
            left = code - 2 * n
            heir = behind[left]
            if heir < 0:
                tail[channel[left]] = -1
                continue
            i = owner[heir]
            before = owner[left]
            if cycle > let_in_cycle[i] or (cycle == let_in_cycle[i] and before < let_in_by[i]):
                let_in_cycle[i] = cycle
                let_in_by[i] = before
            blocked[i] -= 1
            if blocked[i] == 0:
                begun = i
        else:  # it is ready and joins all its channels' queues
            i = code - ready
            for row in range(channel_at[i], channel_at[i + 1]):
                last = tail[channel[row]]
                tail[channel[row]] = row
                if last >= 0:
                    behind[last] = row
                    blocked[i] += 1
            if blocked[i] == 0:
                begun = i
        if begun >= 0:  # it heads all its queues: engine and channels are held from now on
            start[begun] = cycle
            if follower[begun] >= 0:
                push(clock, cycle + hold[begun], n + begun)
            if released_at[begun] < released_at[begun + 1]:
                push(clock, cycle + hold[begun] + latency[begun], begun)
            for row in range(channel_at[begun], channel_at[begun + 1]):
                push(clock, cycle + taken[row], 2 * n + row)


@compiled
def run_segments(
    work: EngineWork,
    state: State,
    segment_at: IntArray,
    open_cycles: IntArray,
    close_cycles: IntArray,
) -> tuple[IntArray, IntArray]:
    """Fill `state.start`; the cycles at which each segment opens and closes.

    Segment s has the rows `segment_at[s]:segment_at[s + 1]`. All of a segment has ended when it
    closes, so nothing of it is pending when the next one opens.
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


class Held(NamedTuple):
    """What each row of a kernel holds from its start on (CSR by `at`), and for how many cycles.

    `resource`: its engine first, then its channels. Rows of one `line`, numbered from 0, hold the
    same. `hold`: the engine's cycles; `latency`: from then on until the result is visible.
    """

    hold: IntArray
    latency: IntArray
    at: IntArray
    resource: IntArray
    cycles: IntArray
    line: IntArray


class Waits(NamedTuple):
    """`missing`: for how many each row waits; `following` (CSR by `at`): those that wait for it."""

    missing: IntArray
    at: IntArray
    following: NDArray[np.int32]


@compiled_part
def _line_heaps(line: IntArray) -> tuple[Clock, IntArray]:
    """Room for a heap of each line's rows, and where each begins."""
    heap_at = np.zeros(len(line) + 1, np.int64)
    for row in range(len(line)):
        heap_at[line[row] + 1] += 1
    for own in range(len(line)):
        heap_at[own + 1] += heap_at[own] + 1
    return np.zeros((heap_at[-1], 2), np.int64), heap_at


@compiled_part
def _stand(clock: Clock, heap: Clock, since: IntArray, own: Integer, cycle: Integer) -> None:
    """The first row of a line, if there is any, stands in the clock at `cycle`."""
    if heap[0, 0] > 0:
        since[own] = cycle
        push(clock, cycle, 2 * heap[1, 0] + 1)


@compiled
def greedy_starts(  # noqa: C901, PLR0912 (one compiled loop)
    waits: Waits, held: Held, order: IntArray, resources: int, *, is_backward: bool
) -> IntArray:
    """Estimated starts: of the rows that can start earliest always the first of `order`.

    Engines and channels are free or not, their queues are not modelled. Backward, time runs from
    the end: a row's own latency comes before its hold.

    Rows of one line that wait for nothing else could all start in the same cycle, so only the first
    of them stands in the clock, with code 2 * place + 1; what has not met its line yet stands there
    by itself, with code 2 * place. A cycle in the clock may be too early, never too late. (With all
    rows in the clock each would be looked at again whenever its engine is taken: the square of a
    kernel.)
    """
    hold, latency, held_at, resource, cycles, line = held
    waited, following_at, following = waits
    missing = waited.copy()
    count = len(hold)
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    ready = latency.copy() if is_backward else np.zeros(count, np.int64)
    start = np.zeros(count, np.int64)
    free = np.zeros(resources, np.int64)
    clock = np.zeros((count + 1, 2), np.int64)
    since = np.full(count, -1, np.int64)
    heaps, heap_at = _line_heaps(line)
    for row in range(count):
        if missing[row] == 0:
            push(clock, ready[row], 2 * place[row])
    while clock[0, 0] > 0:
        guess, code = pop(clock)
        row = order[code >> 1]
        own = line[row]
        heap = heaps[heap_at[own] : heap_at[own + 1]]
        in_line = code & 1
        if in_line and (heap[0, 0] == 0 or heap[1, 0] != code >> 1 or since[own] != guess):
            continue  # another row has come to the front since, or this one is listed already
        begin = ready[row]
        for at in range(held_at[row], held_at[row + 1]):
            begin = max(begin, free[resource[at]])
        if begin > guess:
            if not in_line:
                push(heap, code >> 1, 0)
            if heap[1, 0] == code >> 1:
                _stand(clock, heap, since, own, begin)
            continue
        start[row] = begin
        for at in range(held_at[row], held_at[row + 1]):
            free[resource[at]] = begin + cycles[at]
        if in_line:
            pop(heap)
            _stand(clock, heap, since, own, begin + hold[row])
        for at in range(following_at[row], following_at[row + 1]):
            other = following[at]
            lag = latency[other] if is_backward else latency[row]
            ready[other] = max(ready[other], begin + hold[row] + lag)
            missing[other] -= 1
            if missing[other] == 0:
                push(clock, ready[other], 2 * place[other])
    return start
