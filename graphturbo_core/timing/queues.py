"""IssueColumns -> EngineWork and State: queues of engines and channels for the event loop.

The simulator runs whole programs. Instruction scheduling runs one kernel alone, to compare orders.
"""

from __future__ import annotations

import numpy as np

from graphturbo_core.compiled import compiled
from graphturbo_core.products.arrays import int64, owners
from graphturbo_core.products.instruction_table import IssueColumns
from graphturbo_core.products.program import IntArray
from graphturbo_core.timing.events import EngineWork, State


def queues_of(issued: IssueColumns, channels: int) -> tuple[EngineWork, State]:
    """Queues of all engines and of `channels` channels before the first cycle."""
    n, rows = len(issued.engine), len(issued.channel)
    waiting, released_at, released = reverse_conflicts(
        int64(issued.conflict_at), int64(issued.conflict), int64(issued.segment)
    )
    follower = _followers(issued)
    waiting[follower[follower >= 0]] += 1
    work = EngineWork(
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
        tail=np.full(channels, -1, np.int64),
        start=np.full(n, -1, np.int64),
        admitted_cycle=np.full(n, -1, np.int64),
        admitted_by=np.full(n, -1, np.int64),
    )
    return work, state


def _followers(issued: IssueColumns) -> IntArray:
    """Per instruction, the next one of the same engine and segment; -1: none."""
    follower = np.full(len(issued.engine), -1, np.int64)
    order = np.argsort(issued.engine, kind="stable")
    before, after = order[:-1], order[1:]
    is_queued = issued.engine[before] == issued.engine[after]
    is_queued &= issued.segment[before] == issued.segment[after]
    follower[before[is_queued]] = after[is_queued]
    return follower


@compiled
def reverse_conflicts(
    conflict_at: IntArray, conflict: IntArray, segment: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Number of conflicts of each instruction within its segment, and their transpose as CSR."""
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
