"""Across-layer instruction scheduling: the instructions of a kernel get new numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled, compiled_part
from graphturbo_core.lowering.code import KernelCode
from graphturbo_core.lowering.conflicts import Conflicts
from graphturbo_core.lowering.csr import joined, ranks, transposed
from graphturbo_core.lowering.program import InstructionKind, IntArray
from graphturbo_core.lowering.queues import Issued, queues_of, run_segments

ROUNDS = 2
"""How often a kernel is scheduled backward and forward again at most; a round that shortens nothing
is the last (our choice: a third one shortened no kernel of rows B, G and I of the paper)."""

MOST_ROWS = 50_000
"""Kernels of more instructions keep the list's order (our choice: what can start is looked at again
each time its engine is taken, which in kernels of 100,000 costs more than all else; the paper's ten
models have none as large)."""


def schedule(code: KernelCode, conflicts: Conflicts, engines: int, channels: int) -> IntArray:
    """Instructions (rows of `code`) in their new order: the shortest kernel of those tried.

    First a list scheduler: longest path to the end first among those that can start earliest;
    loads move up as far as the buffers they fill are free, since reused bytes are conflicts. A
    path knows nothing of engines and channels that others need as well: a weight that all cores
    wait for has a shorter one than each of their loads, and comes after them. So the kernel is then
    scheduled backward from its end, what ended last first, which gives every instruction a latest
    start behind which the rest still finds its engines and channels; in order of these it is
    scheduled forward again. How long each order takes is found by running the kernel alone through
    the hardware's queues; the first of the shortest is taken, so none is slower than the list's.
    Every conflict keeps its way.

    Source: design, section 4, for the list; forward and backward passes are known from project
    scheduling with scarce resources (our choice; the paper names only the aim).
    """
    kernel = KernelQueues(code, conflicts, engines, channels)
    order = _by_cycle(kernel.forward(-kernel.paths()))
    if len(order) > MOST_ROWS:
        return order
    shortest, started = kernel.run(order)
    for _ in range(ROUNDS):
        latest = kernel.latest_starts(started)
        tried = (_by_cycle(kernel.forward(latest)), _by_cycle(latest))
        runs = [(*kernel.run(each), each) for each in tried]
        cycles, started, best = min(runs, key=lambda run: run[0])
        if cycles >= shortest:
            break
        shortest, order = cycles, best
    return order


def _by_cycle(cycle: IntArray) -> IntArray:
    """Rows by their cycle; of one cycle in layer order."""
    return np.argsort(cycle, kind="stable")


@dataclass(frozen=True)
class KernelQueues:
    """A kernel's instructions in layer order, and the engines and channels that each queues for."""

    code: KernelCode
    conflicts: Conflicts
    engines: int
    channels: int

    @cached_property
    def _later(self) -> tuple[IntArray, NDArray[np.int32]]:
        return transposed(self.conflicts.at, self.conflicts.earlier)

    @cached_property
    def _hold(self) -> IntArray:
        return self.code.column("hold_cycles")

    @cached_property
    def _latency(self) -> IntArray:
        return self.code.column("latency_cycles")

    def paths(self) -> IntArray:
        """Cycles of the longest path from each instruction's start to the end.

        What is fetched for later kernels comes last of those that can start.
        """
        later_at, later = self._later
        tail = _tails(later_at, later, self._hold + self._latency)
        is_ahead = self.code.column("kind") == InstructionKind.PREFETCH
        tail[is_ahead & (np.diff(later_at) == 0)] = 0
        return tail

    def forward(self, rank: IntArray) -> IntArray:
        """Estimated starts: of those that can start earliest the one of least rank first."""
        return self._starts(rank, self.conflicts.at, *self._later, is_backward=False)

    def latest_starts(self, started: IntArray) -> IntArray:
        """Starts of a schedule from the end backward, what ended last in `started` first."""
        earlier = (self.conflicts.at, self.conflicts.earlier)
        begin = self._starts(-started - self._hold, self._later[0], *earlier, is_backward=True)
        span = int((begin + self._hold).max(initial=0))
        return span - begin - self._hold

    def _starts(
        self,
        rank: IntArray,
        needed_at: IntArray,
        next_at: IntArray,
        following: NDArray[np.int32],
        *,
        is_backward: bool,
    ) -> IntArray:
        code = self.code
        return _starts(
            needed_at, next_at, following, rank, self._hold, self._latency,
            code.column("engine"), code.channel_at, code.channel, code.channel_cycles,
            self.engines, self.channels, is_backward,
        )  # fmt: skip

    def run(self, order: IntArray) -> tuple[int, IntArray]:
        """Cycles of the kernel alone in this order, and the start of each row."""
        code = self.code
        channel_at, channel, channel_cycles = joined(
            [(code.channel_at, order, (code.channel, code.channel_cycles))]
        )
        earlier = ranks(order)[self.conflicts.earlier]
        conflict_at, conflict = joined([(self.conflicts.at, order, (earlier,))])
        work, state = queues_of(
            Issued(
                engine=code.column("engine")[order],
                segment=np.zeros(len(order), dtype=np.int64),
                hold_cycles=self._hold[order],
                latency_cycles=self._latency[order],
                channel_at=channel_at,
                channel=channel,
                channel_cycles=channel_cycles,
                conflict_at=conflict_at,
                conflict=conflict,
                channels=self.channels,
            )
        )
        nothing = np.zeros(1, dtype=np.int64)
        _, closes = run_segments(work, state, np.array([0, len(order)]), nothing, nothing)
        return int(closes[0]), state.start[ranks(order)]


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


@compiled_part
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


@compiled_part
def _entry(begin: int, rank: int, row: int) -> tuple[int, int, int]:
    """Heap entry: the earliest start first, then the least rank, then layer order."""
    return np.int64(begin), np.int64(rank), np.int64(row)  # type: ignore[return-value]


@compiled
def _starts(  # noqa: PLR0913, PLR0917 (compiled code takes arrays)
    needed_at: IntArray,
    next_at: IntArray,
    following: NDArray[np.int32],
    rank: IntArray,
    hold: IntArray,
    latency: IntArray,
    engine: IntArray,
    channel_at: IntArray,
    channel: NDArray[np.int32],
    channel_cycles: IntArray,
    engines: int,
    channels: int,
    is_backward: bool,
) -> IntArray:
    """Greedy with estimated starts: engines and channels are free or not, queues are not modelled.

    `needed_at` counts what each row waits for, `following` (CSR by `next_at`) are the rows that
    wait for it. Backward, time runs from the end: a row's own latency comes before its hold.
    """
    count = len(hold)
    missing = needed_at[1:] - needed_at[:-1]
    ready = np.zeros(count, dtype=np.int64)
    start = np.zeros(count, dtype=np.int64)
    engine_free = np.zeros(engines, dtype=np.int64)
    channel_free = np.zeros(channels, dtype=np.int64)
    heap = [_entry(0, 0, -1)]
    heappop(heap)
    for row in range(count):
        if is_backward:
            ready[row] = latency[row]
        if missing[row] == 0:
            heappush(heap, _entry(ready[row], rank[row], row))
    while len(heap) > 0:
        guess, order, row = heappop(heap)
        free = _free_at(row, engine, channel_at, channel, engine_free, channel_free)
        begin = max(int(ready[row]), free)
        if begin > guess:
            heappush(heap, _entry(begin, order, row))
            continue
        start[row] = begin
        engine_free[engine[row]] = begin + hold[row]
        for position in range(channel_at[row], channel_at[row + 1]):
            channel_free[channel[position]] = begin + channel_cycles[position]
        for position in range(next_at[row], next_at[row + 1]):
            other = following[position]
            lag = latency[other] if is_backward else latency[row]
            ready[other] = max(ready[other], begin + hold[row] + lag)
            missing[other] -= 1
            if missing[other] == 0:
                heappush(heap, _entry(ready[other], rank[other], other))
    return start
