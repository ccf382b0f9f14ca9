"""How the hardware issues, an event loop, compiled: when does each instruction start?

The simulator runs whole programs with it; instruction scheduling runs one kernel after the other,
to compare orders.

The clock is a binary heap of (cycle, code). Codes are ranges of one number line, so that their
order is the order within a cycle (design, section 5: ends before starts, then sequence):

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
from graphturbo_core.lowering.arrays import Integer, int64, owners
from graphturbo_core.lowering.program import IntArray


class Issued(NamedTuple):
    """Instructions in the order of their numbers, as Program names its columns.

    `conflict`: numbers of earlier ones (CSR). Engines and channels are counted from 0.
    """

    engine: NDArray[np.integer]
    segment: NDArray[np.integer]
    hold_cycles: NDArray[np.integer]
    latency_cycles: NDArray[np.integer]
    channel_at: NDArray[np.integer]
    channel: NDArray[np.integer]
    channel_cycles: NDArray[np.integer]
    conflict_at: NDArray[np.integer]
    conflict: NDArray[np.integer]
    channels: int


class Clock(NamedTuple):
    """Pending events, a binary heap in `[0, size[0])`."""

    cycle: IntArray
    code: IntArray
    size: IntArray


class Work(NamedTuple):
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


def queues_of(issued: Issued) -> tuple[Work, State]:
    """The engines' and channels' queues before the first cycle."""
    n, rows = len(issued.engine), len(issued.channel)
    waiting, released_at, released = reverse_conflicts(
        int64(issued.conflict_at), int64(issued.conflict), int64(issued.segment)
    )
    follower = _followers(issued)
    waiting[follower[follower >= 0]] += 1
    work = Work(
        hold=int64(issued.hold_cycles),
        latency=int64(issued.latency_cycles),
        follower=follower,
        released_at=released_at,
        released=released,
        channel_at=int64(issued.channel_at),
        channel=int64(issued.channel),
        channel_cycles=int64(issued.channel_cycles),
        owner=owners(int64(issued.channel_at)),
    )
    state = State(
        waiting=waiting,
        blocked=np.zeros(n, np.int64),
        behind=np.full(rows, -1, np.int64),
        tail=np.full(issued.channels, -1, np.int64),
        start=np.full(n, -1, np.int64),
        let_in_cycle=np.full(n, -1, np.int64),
        let_in_by=np.full(n, -1, np.int64),
    )
    return work, state


def _followers(issued: Issued) -> IntArray:
    """The next instruction of the same engine and segment; -1 where there is none."""
    follower = np.full(len(issued.engine), -1, np.int64)
    order = np.argsort(issued.engine, kind="stable")
    before, after = order[:-1], order[1:]
    is_queued = issued.engine[before] == issued.engine[after]
    is_queued &= issued.segment[before] == issued.segment[after]
    follower[before[is_queued]] = after[is_queued]
    return follower


@compiled_part
def push(clock: Clock, cycle: Integer, code: Integer) -> None:
    """Add an event."""
    at = clock.size[0]
    clock.size[0] = at + 1
    while at > 0:
        parent = (at - 1) >> 1
        over = clock.cycle[parent]
        if over < cycle or (over == cycle and clock.code[parent] <= code):
            break
        clock.cycle[at] = over
        clock.code[at] = clock.code[parent]
        at = parent
    clock.cycle[at] = cycle
    clock.code[at] = code


@compiled_part
def pop(clock: Clock) -> tuple[Integer, Integer]:
    """Remove the earliest event: its cycle and code."""
    cycle = clock.cycle[0]
    code = clock.code[0]
    size = clock.size[0] - 1
    clock.size[0] = size
    moved_cycle = clock.cycle[size]
    moved_code = clock.code[size]
    at: Integer = 0
    while 2 * at + 1 < size:
        child = _earlier_child(clock, 2 * at + 1, size)
        under = clock.cycle[child]
        if moved_cycle < under or (moved_cycle == under and moved_code <= clock.code[child]):
            break
        clock.cycle[at] = under
        clock.code[at] = clock.code[child]
        at = child
    clock.cycle[at] = moved_cycle
    clock.code[at] = moved_code
    return cycle, code


@compiled_part
def _earlier_child(clock: Clock, left: Integer, size: Integer) -> Integer:
    right = left + 1
    if right >= size or clock.cycle[left] < clock.cycle[right]:
        return left
    if clock.cycle[left] == clock.cycle[right] and clock.code[left] < clock.code[right]:
        return left
    return right


@compiled_part
def _begin(clock: Clock, work: Work, state: State, i: Integer, cycle: Integer) -> None:
    """Start instruction i: hold its engine and its channels from `cycle`."""
    n = len(work.hold)
    state.start[i] = cycle
    if work.follower[i] >= 0:
        push(clock, cycle + work.hold[i], n + i)
    if work.released_at[i] < work.released_at[i + 1]:
        push(clock, cycle + work.hold[i] + work.latency[i], i)
    for row in range(work.channel_at[i], work.channel_at[i + 1]):
        push(clock, cycle + work.channel_cycles[row], 2 * n + row)


@compiled_part
def _enter(clock: Clock, work: Work, state: State, i: Integer, cycle: Integer) -> None:
    """A ready instruction joins all its channels' queues and starts if it heads them all."""
    for row in range(work.channel_at[i], work.channel_at[i + 1]):
        last = state.tail[work.channel[row]]
        state.tail[work.channel[row]] = row
        if last >= 0:
            state.behind[last] = row
            state.blocked[i] += 1
    if state.blocked[i] == 0:
        _begin(clock, work, state, i, cycle)


@compiled_part
def _leave(clock: Clock, work: Work, state: State, row: Integer, cycle: Integer) -> None:
    """The head of a channel's queue leaves; the next one starts if it now heads all of its own."""
    heir = state.behind[row]
    if heir < 0:
        state.tail[work.channel[row]] = -1
        return
    i = work.owner[heir]
    before = work.owner[row]
    is_tie = cycle == state.let_in_cycle[i] and before < state.let_in_by[i]
    if cycle > state.let_in_cycle[i] or is_tie:
        state.let_in_cycle[i] = cycle
        state.let_in_by[i] = before
    state.blocked[i] -= 1
    if state.blocked[i] == 0:
        _begin(clock, work, state, i, cycle)


@compiled_part
def _release(clock: Clock, work: Work, state: State, i: Integer, cycle: Integer) -> None:
    """One of the things that instruction i waited for is over."""
    state.waiting[i] -= 1
    if state.waiting[i] == 0:
        push(clock, cycle, 2 * len(work.hold) + len(work.channel) + i)


@compiled_part
def _drain(clock: Clock, work: Work, state: State) -> None:
    """Run until no event is pending."""
    n = len(work.hold)
    rows = len(work.channel)
    while clock.size[0] > 0:
        cycle, code = pop(clock)
        if code < n:
            for at in range(work.released_at[code], work.released_at[code + 1]):
                _release(clock, work, state, work.released[at], cycle)
        elif code < 2 * n:
            _release(clock, work, state, work.follower[code - n], cycle)
        elif code < 2 * n + rows:
            _leave(clock, work, state, code - 2 * n, cycle)
        else:
            _enter(clock, work, state, code - 2 * n - rows, cycle)


@compiled
def run_segments(
    work: Work, state: State, segment_at: IntArray, open_cycles: IntArray, close_cycles: IntArray
) -> tuple[IntArray, IntArray]:
    """Fill `state.start`; the cycles at which each segment opens and closes.

    Segment s has the rows `segment_at[s]:segment_at[s + 1]`. All of a segment has ended when it
    closes, so nothing of it is pending when the next one opens.
    """
    n = len(work.hold)
    rows = len(work.channel)
    capacity = 3 * n + rows + 1
    clock = Clock(np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.zeros(1, np.int64))
    opens = np.zeros(len(open_cycles), np.int64)
    closes = np.zeros(len(open_cycles), np.int64)
    cycle: Integer = 0
    for segment in range(len(open_cycles)):
        cycle += open_cycles[segment]
        opens[segment] = cycle
        for i in range(segment_at[segment], segment_at[segment + 1]):
            if state.waiting[i] == 0:
                push(clock, cycle, 2 * n + rows + i)
        _drain(clock, work, state)
        for i in range(segment_at[segment], segment_at[segment + 1]):
            cycle = max(cycle, state.start[i] + work.hold[i] + work.latency[i])
        cycle += close_cycles[segment]
        closes[segment] = cycle
    return opens, closes


@compiled
def reverse_conflicts(
    conflict_at: IntArray, conflict: IntArray, segment: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Conflicts within a segment the other way round (CSR), and how many each instruction has."""
    n = len(conflict_at) - 1
    waiting = np.zeros(n, np.int64)
    released_at = np.zeros(n + 1, np.int64)
    for i in range(n):
        for at in range(conflict_at[i], conflict_at[i + 1]):
            if segment[conflict[at]] == segment[i]:
                waiting[i] += 1
                released_at[conflict[at] + 1] += 1
    for i in range(n):
        released_at[i + 1] += released_at[i]
    filled = released_at[:-1].copy()
    released = np.empty(released_at[n], np.int64)
    for i in range(n):
        for at in range(conflict_at[i], conflict_at[i + 1]):
            before = conflict[at]
            if segment[before] == segment[i]:
                released[filled[before]] = i
                filled[before] += 1
    return waiting, released_at, released
