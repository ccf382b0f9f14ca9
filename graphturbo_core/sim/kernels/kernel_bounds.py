"""Program -> lower bound of each kernel's cycles over all orders of its instructions."""

from __future__ import annotations

import numpy as np

from graphturbo_core.compiled import compiled
from graphturbo_core.products.arrays import int64, owners
from graphturbo_core.products.program import IntArray, Program
from graphturbo_core.sim.kernels.kernel_starts import starts_and_remaining


def least_cycles(program: Program) -> IntArray:
    """Lower bound in cycles per kernel, without launch and barrier; n log n in instructions.

    The bound holds for every order of instructions and every assignment of addresses. Each
    instruction has an earliest start, from the data that it needs, and a remaining time, from the
    instructions that need its result.

    1. Take the instructions of one engine or channel whose earliest start is at least r. They run
       one after the other: r, plus their busy cycles, plus the least of their remaining times.
    2. The same with the roles exchanged: remaining time at least q, plus busy cycles, plus the
       least of their earliest starts.
    3. The bound is the largest of these sums over all engines, channels, r and q. It is at least
       the longest chain, whose first instruction has earliest start 0.

    Source: the one-machine bound with heads and tails (Carlier 1982).
    """
    count = len(program.plan.kernels)
    hold, latency = program.hold_cycles, program.latency_cycles
    start, remaining = starts_and_remaining(program)
    kernel = int64(program.kernel)
    least = np.zeros(count, dtype=np.int64)
    row = owners(program.channel_at)
    cycles = int64(program.channel_cycles)
    behind = np.maximum(hold[row] - cycles, 0) + latency[row] + remaining[row]
    for user, users, entry in (
        (int64(program.engine), len(program.engines), (kernel, start, hold, latency + remaining)),
        (int64(program.channel), len(program.channels), (kernel[row], start[row], cycles, behind)),
    ):
        kernel_of, before, busy, after = entry
        key = kernel_of * users + user
        for one, other in ((before, after), (after, before)):
            order = np.lexsort((-one, key))
            _raise(least, kernel_of[order], key[order], (one[order], busy[order], other[order]))
    return least


@compiled
def _raise(
    least: IntArray, kernel: IntArray, key: IntArray, columns: tuple[IntArray, IntArray, IntArray]
) -> None:
    """Raise `least` by rule 1 or 2, in place.

    `columns`: earliest start, busy cycles and remaining time (rule 2: first and last exchanged).
    Rows are sorted by `key`, an engine or channel of a kernel, then descending by the first column.
    """
    one, busy, other = columns
    total, fewest = np.int64(0), np.int64(0)
    for row in range(len(key)):
        if row == 0 or key[row] != key[row - 1]:
            total, fewest = np.int64(0), other[row]
        total += busy[row]
        fewest = min(fewest, other[row])
        least[kernel[row]] = max(least[kernel[row]], one[row] + total + fewest)
