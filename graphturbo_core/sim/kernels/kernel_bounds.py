"""Program -> the cycles below which no order of a kernel's instructions comes."""

from __future__ import annotations

import numpy as np

from graphturbo_core.compiled import compiled
from graphturbo_core.products.arrays import int64, owners
from graphturbo_core.products.program import IntArray, Program
from graphturbo_core.sim.kernels.kernel_heads import heads_and_tails


def least_cycles(program: Program) -> IntArray:
    """Per kernel; launch and barrier come on top.

    Whatever the order of instructions, and whichever bytes they reuse, one starts no earlier than
    the data that it needs allow (its head), and what needs its result runs behind it (its tail).
    An engine or channel does of those that have at least some head one after the other, and then
    comes at least the least of their tails; of those with at least some tail likewise, behind the
    least of their heads. The largest of these sums, over all engines, channels, heads and tails: no
    chain is longer, since what begins it has no head. Known for one machine with heads and tails
    (Carlier 1982). n log n in instructions.
    """
    count = len(program.plan.kernels)
    hold, latency = program.hold_cycles, program.latency_cycles
    head, tail = heads_and_tails(program)
    kernel = int64(program.kernel)
    least = np.zeros(count, dtype=np.int64)
    row = owners(program.channel_at)
    cycles = int64(program.channel_cycles)
    behind = np.maximum(hold[row] - cycles, 0) + latency[row] + tail[row]
    for user, users, entry in (
        (int64(program.engine), len(program.engines), (kernel, head, hold, latency + tail)),
        (int64(program.channel), len(program.channels), (kernel[row], head[row], cycles, behind)),
    ):
        its, before, busy, after = entry
        key = its * users + user
        for one, other in ((before, after), (after, before)):
            order = np.lexsort((-one, key))
            _raise(least, its[order], key[order], (one[order], busy[order], other[order]))
    return least


@compiled
def _raise(
    least: IntArray, kernel: IntArray, key: IntArray, columns: tuple[IntArray, IntArray, IntArray]
) -> None:
    """Of rows with equal keys, falling in the first column: heads, tails or the other way round.

    So far they take what the second column adds up to, with the least of the third.
    """
    one, busy, other = columns
    total, fewest = np.int64(0), np.int64(0)
    for row in range(len(key)):
        if row == 0 or key[row] != key[row - 1]:
            total, fewest = np.int64(0), other[row]
        total += busy[row]
        fewest = min(fewest, other[row])
        least[kernel[row]] = max(least[kernel[row]], one[row] + total + fewest)
