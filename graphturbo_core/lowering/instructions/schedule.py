"""Instruction scheduling: KernelCode and Conflicts -> an order of the instructions.

It works across the layers of a kernel, or within each layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.instructions.conflicts import Conflicts
from graphturbo_core.products.arrays import int64
from graphturbo_core.products.instruction_table import IssueColumns
from graphturbo_core.products.program import InstructionKind, IntArray
from graphturbo_core.timing.csr import joined, ranks, transposed
from graphturbo_core.timing.events import Dependences, ResourceUse, greedy_starts, run_segments
from graphturbo_core.timing.queues import queues_of

ROUNDS = 2
"""Maximum rounds of backward and forward scheduling; a round without gain is the last.
Our choice: a third round shortened no kernel of rows B, G and I of the paper."""


def schedule(
    code: KernelCode, conflicts: Conflicts, engines: int, channels: int
) -> tuple[IntArray, int]:
    """Order of rows (n,) of the shortest evaluated kernel, and its cycles.

    1. List scheduling: of the instructions that can start earliest, the one with the longest path
       to the end goes first. Loads move up as far as conflicts allow.
    2. A path ignores contention for engines and channels. A weight that all cores wait for has a
       shorter path than each core's loads, so it comes after them. Therefore the kernel is also
       scheduled backward from its end, the last end first. This gives each instruction a latest
       start that takes contention into account.
    3. The kernel is scheduled forward again, in the order of latest starts.

    Each order is evaluated by the event loop, with the kernel alone. The first of the shortest
    orders is chosen, so it is never slower than the list's. Conflicts have the same direction in
    every order.

    Source: design, section 4, for the list. Forward and backward passes are known from
    resource-constrained project scheduling (our choice; the paper names only the aim).
    """
    kernel = KernelQueues(code, conflicts, engines, channels)
    order = _by_cycle(kernel.forward(-kernel.paths()))
    shortest, started = kernel.run(order)
    for _ in range(ROUNDS):
        latest = kernel.latest_starts(started)
        candidates = (_by_cycle(kernel.forward(latest)), _by_cycle(latest))
        runs = [(*kernel.run(candidate), candidate) for candidate in candidates]
        cycles, started, best = min(runs, key=lambda run: run[0])
        if cycles >= shortest:
            break
        shortest, order = cycles, best
    return order, shortest


def schedule_by_layer(
    code: KernelCode, conflicts: Conflicts, engines: int, channels: int
) -> IntArray:
    """Order of rows (n,), scheduled within each layer: a fence follows each layer.

    The fence satisfies all conflicts with instructions of earlier layers.
    """
    layer = code.layer
    fences = (np.flatnonzero(layer[1:] != layer[:-1]) + 1).tolist()
    parts = [
        first + schedule(code.part(first, end), conflicts.part(first, end), engines, channels)[0]
        for first, end in pairwise((0, *fences, len(layer)))
    ]
    return np.concatenate(parts)


def _by_cycle(cycle: IntArray) -> IntArray:
    """Rows sorted by cycle; rows of equal cycle in layer order."""
    return np.argsort(cycle, kind="stable")


@dataclass(frozen=True)
class KernelQueues:
    """A kernel's instructions in layer order, and the engines and channels that each occupies.

    `engines`, `channels`: their number in the cluster.
    """

    code: KernelCode
    conflicts: Conflicts
    engines: int
    channels: int

    @cached_property
    def _later(self) -> tuple[IntArray, NDArray[np.int32]]:
        return transposed(self.conflicts.conflict_at, self.conflicts.conflict)

    @cached_property
    def _uses(self) -> ResourceUse:
        code, channels = self.code, self.code.channel_at[:-1]
        resource = np.insert(code.channel + self.engines, channels, code.engine)
        cycles = np.insert(code.channel_cycles, channels, code.hold_cycles)
        at = code.channel_at + np.arange(len(code.channel_at))
        return ResourceUse(
            code.hold_cycles, code.latency_cycles, at, int64(resource), int64(cycles)
        )

    @property
    def _resources(self) -> int:
        """Number of resources: engines first, then channels."""
        return self.engines + self.channels

    def paths(self) -> IntArray:
        """Cycles (n,) of the longest path from each instruction's start to the kernel's end.

        A prefetch for a later kernel has path 0, so other ready instructions go first.
        """
        later_at, later = self._later
        path = _longest_paths(later_at, later, self.code.hold_cycles + self.code.latency_cycles)
        is_prefetch = self.code.kind == InstructionKind.PREFETCH
        path[is_prefetch & (np.diff(later_at) == 0)] = 0
        return path

    def forward(self, rank: IntArray) -> IntArray:
        """Estimated starts (n,); of rows that can start earliest, the lowest rank goes first."""
        dependences = Dependences(np.diff(self.conflicts.conflict_at), *self._later)
        return self._starts(dependences, rank, is_backward=False)

    def latest_starts(self, started: IntArray) -> IntArray:
        """Starts (n,) of a schedule backward from the end; the last end of `started` goes first."""
        conflicts = self.conflicts
        missing = np.diff(self._later[0])
        dependences = Dependences(missing, conflicts.conflict_at, conflicts.conflict)
        begin = self._starts(dependences, -started - self.code.hold_cycles, is_backward=True)
        span = int((begin + self.code.hold_cycles).max(initial=0))
        return span - begin - self.code.hold_cycles

    def _starts(self, dependences: Dependences, rank: IntArray, *, is_backward: bool) -> IntArray:
        order, resources = _by_cycle(rank), self._resources
        return greedy_starts(dependences, self._uses, order, resources, is_backward=is_backward)

    def run(self, order: IntArray) -> tuple[int, IntArray]:
        """Cycles of the kernel alone in this order, and the start (n,) of each row."""
        code = self.code
        channel_at, channel, channel_cycles = joined(
            [(code.channel_at, order, (code.channel, code.channel_cycles))]
        )
        earlier = ranks(order)[self.conflicts.conflict]
        conflict_at, conflict = joined([(self.conflicts.conflict_at, order, (earlier,))])
        work, state = queues_of(
            IssueColumns(
                engine=code.engine[order],
                segment=np.zeros(len(order), dtype=np.int32),
                hold_cycles=code.hold_cycles[order],
                latency_cycles=code.latency_cycles[order],
                channel_at=channel_at,
                channel=channel,
                channel_cycles=channel_cycles,
                conflict_at=conflict_at,
                conflict=conflict,
            ),
            self.channels,
        )
        nothing = np.zeros(1, dtype=np.int64)
        _, closes = run_segments(work, state, np.array([0, len(order)]), nothing, nothing)
        return int(closes[0]), state.start[ranks(order)]


@compiled
def _longest_paths(later_at: IntArray, later: NDArray[np.int32], cycles: IntArray) -> IntArray:
    """Longest path from the start of each instruction to the end; rows are topological."""
    path = cycles.copy()
    for row in range(len(cycles) - 1, -1, -1):
        longest = np.int64(0)
        for position in range(later_at[row], later_at[row + 1]):
            longest = max(longest, path[later[position]])
        path[row] += longest
    return path
