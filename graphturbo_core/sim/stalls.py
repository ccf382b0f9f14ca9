"""Stall accounting: a class for every cycle of every engine (design, section 5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphturbo_core.compiled import compiled, compiled_part
from graphturbo_core.products.program import IntArray

# The values of trace.Wait, for compiled code. tests/sim compares both lists.
BUSY, DATA, ADDRESS, CHANNEL, BARRIER, IDLE = range(6)


class Timing(NamedTuple):
    """Input of the accounting, one entry per instruction; conflicts as CSR.

    `opening`: cycle at which the segment opened. `admitted_by`: the instruction that left the last
    of its channel queues. `data_source`: a `DataSource`.
    """

    engine: IntArray
    start: IntArray
    hold: IntArray
    end: IntArray
    opening: IntArray
    admitted_by: IntArray
    conflict_at: IntArray
    conflict: IntArray
    is_address: IntArray
    data_source: IntArray


@compiled_part
def _last_reason(timing: Timing, i: int) -> tuple[int, int, int]:
    """Cycle, class and instruction of the reason that ended last.

    Ties: the conflict with the lowest sequence number; of two conflicts with one instruction, data;
    the segment's opening last.
    """
    cycle = timing.opening[i]
    reason = BARRIER
    on = -1
    for at in range(timing.conflict_at[i], timing.conflict_at[i + 1]):
        before = timing.conflict[at]
        ended = timing.end[before]
        kind = ADDRESS if timing.is_address[at] else DATA
        is_first = on < 0 or before < on or (before == on and kind < reason)
        if ended > cycle or (ended == cycle and is_first):
            cycle = ended
            reason = kind
            on = before
    return cycle, reason, on


@compiled
def account(
    timing: Timing, engines: int, makespan: int
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Per instruction `wait`, `wait_on`, `channel_wait_cycles`; `stalls[engine, class]` in cycles.

    At last `data_waits[engine, source]`: the cycles of class DATA by what they waited for.
    The gap before instruction i is [free, start). Until `ready` it counts for the reason that ended
    last, from then on for the channels.
    """
    n = len(timing.engine)
    wait = np.zeros(n, np.int64)
    wait_on = np.full(n, -1, np.int64)
    channel_wait = np.zeros(n, np.int64)
    stalls = np.zeros((engines, 6), np.int64)
    data_waits = np.zeros((engines, 5), np.int64)
    free_at = np.zeros(engines, np.int64)
    for i in range(n):
        engine = timing.engine[i]
        free = free_at[engine]
        ready, reason, on = _last_reason(timing, i)
        if ready > free:
            stalls[engine, reason] += ready - free
            if reason == DATA:
                data_waits[engine, timing.data_source[on]] += ready - free
            wait[i] = reason
            wait_on[i] = on
            free = ready
        queued = timing.start[i] - free
        if queued > 0:
            stalls[engine, CHANNEL] += queued
            channel_wait[i] = queued
            wait[i] = CHANNEL
            wait_on[i] = timing.admitted_by[i]
        stalls[engine, BUSY] += timing.hold[i]
        free_at[engine] = timing.start[i] + timing.hold[i]
    for engine in range(engines):
        stalls[engine, IDLE] += makespan - free_at[engine]
    return wait, wait_on, channel_wait, stalls, data_waits
