"""Program -> cycles: the longest path of the instruction graph, a lower bound of every Trace."""

from __future__ import annotations

import numpy as np

from graphturbo_core.compiled import compiled
from graphturbo_core.lowering.program import IntArray, Program
from graphturbo_core.sim.arrays import int64


def critical_path_cycles(program: Program) -> int:
    """Longest chain of conflicts in each segment, plus its launch and barrier, summed.

    An instruction of a chain takes its hold and its latency. Engines and channels are left out:
    what remains holds for any order and any number of engines.
    """
    segments = len(program.segment_open_cycles)
    longest = _longest_chains(
        int64(program.hold_cycles + program.latency_cycles),
        int64(program.segment),
        int64(program.conflict_at),
        int64(program.conflict),
        segments,
    )
    ends = program.segment_open_cycles.sum() + program.segment_close_cycles.sum()
    return int(longest.sum() + ends)


@compiled
def _longest_chains(
    cycles: IntArray, segment: IntArray, conflict_at: IntArray, conflict: IntArray, segments: int
) -> IntArray:
    chain = np.zeros(len(cycles), np.int64)
    longest = np.zeros(segments, np.int64)
    for i in range(len(cycles)):
        before = 0
        for at in range(conflict_at[i], conflict_at[i + 1]):
            if segment[conflict[at]] == segment[i]:
                before = max(before, chain[conflict[at]])
        chain[i] = before + cycles[i]
        longest[segment[i]] = max(longest[segment[i]], chain[i])
    return longest
