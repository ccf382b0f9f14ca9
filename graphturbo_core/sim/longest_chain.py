"""Program -> its longest chain of dependent instructions, a lower bound of every Trace."""

from __future__ import annotations

import numpy as np

from graphturbo_core.compiled import compiled
from graphturbo_core.products.arrays import int64
from graphturbo_core.products.program import IntArray, Program


def longest_chain_cycles(program: Program) -> int:
    """Longest chain of conflicts in each segment, plus its launch and barrier, summed.

    An instruction of a chain counts its hold and its latency. Contention for engines and channels
    is ignored. So the bound is valid for any order and any number of engines.
    """
    chain, _ = _chains(program)
    longest = np.zeros(len(program.segment_open_cycles), np.int64)
    np.maximum.at(longest, program.segment, chain)
    ends = program.segment_open_cycles.sum() + program.segment_close_cycles.sum()
    return int(longest.sum() + ends)


def longest_chain(program: Program) -> IntArray:
    """The instructions of the longest chain, in the order of their sequence numbers.

    Ties: the chain whose instructions have the lowest numbers, compared from its end backward.
    """
    chain, before = _chains(program)
    path: list[int] = []
    for last in reversed(_lasts(program, chain).tolist()):
        step = last
        while step >= 0:
            path.append(step)
            step = int(before[step])
    return int64(np.array(path[::-1], np.int64))


def _lasts(program: Program, chain: IntArray) -> IntArray:
    """The instruction that ends the longest chain of each segment that has any."""
    order = np.lexsort((-np.arange(len(chain)), chain, program.segment))
    ends = np.append(np.diff(program.segment[order]) != 0, True)[: len(order)]
    return int64(order[ends])


def _chains(program: Program) -> tuple[IntArray, IntArray]:
    return _longest_chains(
        int64(program.hold_cycles + program.latency_cycles),
        int64(program.segment),
        int64(program.conflict_at),
        int64(program.conflict),
    )


@compiled
def _longest_chains(
    cycles: IntArray, segment: IntArray, conflict_at: IntArray, conflict: IntArray
) -> tuple[IntArray, IntArray]:
    """Per instruction, the cycles of the longest chain that it ends, and its predecessor there."""
    chain = np.zeros(len(cycles), np.int64)
    before = np.full(len(cycles), -1, np.int64)
    for i in range(len(cycles)):
        longest = 0
        for at in range(conflict_at[i], conflict_at[i + 1]):
            other = conflict[at]
            if segment[other] != segment[i]:
                continue
            is_longer = chain[other] > longest
            if is_longer or (chain[other] == longest and before[i] > other):
                longest = chain[other]
                before[i] = other
        chain[i] = longest + cycles[i]
    return chain, before
