"""Across-layer instruction scheduling: a list scheduler numbers the instructions of a kernel."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled
from graphturbo_core.lowering.code import KernelCode
from graphturbo_core.lowering.conflicts import Conflicts
from graphturbo_core.lowering.program import InstructionKind, IntArray


def list_schedule(code: KernelCode, conflicts: Conflicts, engines: int, channels: int) -> IntArray:
    """Instructions (rows of `code`) in their new order.

    Longest path to the end first among those that can start earliest; loads move up as far as the
    buffers they fill are free, since reused bytes are conflicts. Every conflict keeps its way:
    an instruction starts after all it waits for have ended. Greedy with estimated starts: engines
    and channels are free or not, queues are not modelled. What is fetched for later kernels comes
    last of those that can start. Source: design, section 4 (our choice of
    rule; the paper names only the aim).
    """
    hold = code.column("hold_cycles")
    latency = code.column("latency_cycles")
    later_at, later = _transposed(conflicts.at, conflicts.earlier)
    tail = _tails(later_at, later, hold + latency)
    tail[(code.column("kind") == InstructionKind.PREFETCH) & (np.diff(later_at) == 0)] = 0
    start = _starts(
        conflicts.at, later_at, later, tail, hold, latency,
        code.column("engine"), code.channel_at, code.channel, code.channel_cycles,
        engines, channels,
    )  # fmt: skip
    return np.lexsort((np.arange(len(start)), start))


def _transposed(at: IntArray, earlier: NDArray[np.int32]) -> tuple[IntArray, NDArray[np.int32]]:
    """Successors in CSR from predecessors in CSR."""
    count = len(at) - 1
    later = np.repeat(np.arange(count, dtype=np.int32), np.diff(at))
    order = np.argsort(earlier, kind="stable")
    later_at = np.searchsorted(earlier[order], np.arange(count + 1)).astype(np.int64)
    return later_at, later[order]


@compiled
def _tails(later_at: IntArray, later: NDArray[np.int32], cycles: IntArray) -> IntArray:
    """Longest path from the start of each instruction to the end; rows are topological."""
    tail = cycles.copy()
    for row in range(len(cycles) - 1, -1, -1):
        longest = np.int64(0)
        for position in range(later_at[row], later_at[row + 1]):
            longest = max(longest, tail[later[position]])
        tail[row] += longest
    return tail


@compiled
def _free_at(  # noqa: PLR0913, PLR0917 (compiled code takes arrays)
    row: int,
    engine: IntArray,
    channel_at: IntArray,
    channel: NDArray[np.int32],
    engine_free: IntArray,
    channel_free: IntArray,
) -> int:
    earliest = int(engine_free[engine[row]])
    for position in range(channel_at[row], channel_at[row + 1]):
        earliest = max(earliest, int(channel_free[channel[position]]))
    return earliest


@compiled
def _entry(begin: int, tail: int, row: int) -> tuple[int, int, int]:
    """Heap entry: the earliest start first, then the longest path, then layer order."""
    return np.int64(begin), np.int64(-tail), np.int64(row)  # type: ignore[return-value]


@compiled
def _starts(  # noqa: PLR0913, PLR0917 (compiled code takes arrays)
    earlier_at: IntArray,
    later_at: IntArray,
    later: NDArray[np.int32],
    tail: IntArray,
    hold: IntArray,
    latency: IntArray,
    engine: IntArray,
    channel_at: IntArray,
    channel: NDArray[np.int32],
    channel_cycles: IntArray,
    engines: int,
    channels: int,
) -> IntArray:
    count = len(hold)
    missing = np.diff(earlier_at)
    ready = np.zeros(count, dtype=np.int64)
    start = np.zeros(count, dtype=np.int64)
    engine_free = np.zeros(engines, dtype=np.int64)
    channel_free = np.zeros(channels, dtype=np.int64)
    heap = [_entry(0, 0, -1)]
    heappop(heap)
    for row in range(count):
        if missing[row] == 0:
            heappush(heap, _entry(0, tail[row], row))
    while len(heap) > 0:
        guess, rank, row = heappop(heap)
        free = _free_at(row, engine, channel_at, channel, engine_free, channel_free)
        begin = max(int(ready[row]), free)
        if begin > guess:
            heappush(heap, _entry(begin, -rank, row))
            continue
        start[row] = begin
        engine_free[engine[row]] = begin + hold[row]
        for position in range(channel_at[row], channel_at[row + 1]):
            channel_free[channel[position]] = begin + channel_cycles[position]
        for position in range(later_at[row], later_at[row + 1]):
            follower = later[position]
            ready[follower] = max(ready[follower], begin + hold[row] + latency[row])
            missing[follower] -= 1
            if missing[follower] == 0:
                heappush(heap, _entry(ready[follower], tail[follower], follower))
    return start
