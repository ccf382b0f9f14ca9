"""Order of instructions that follows from queues, conflicts and segments, as vector clocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled
from graphturbo_core.products.arrays import int64
from graphturbo_core.products.program import IntArray, Program

Clocks = NDArray[np.int32]
"""`[i, c]`: the last instruction of chain c, in i's segment, that has ended when i starts. A table
has one block of chains, which limits its size on chips with thousands of engines."""
MAX_CLOCKS = 1 << 26
"""Maximum entries of a table: 256 MiB (our choice)."""


def chains_of(program: Program) -> IntArray:
    """The chain of every instruction (n,): instructions of one engine with equal latency.

    They end in the order in which they start. So if one has ended, all before it have.
    """
    latency = int64(program.latency_cycles)
    key = int64(program.engine) * (int(latency.max(initial=0)) + 1) + latency
    return int64(np.unique(key, return_inverse=True)[1].reshape(-1))


def are_in_order(program: Program, before: IntArray, after: IntArray) -> NDArray[np.bool_]:
    """Per pair of instructions, whether the first has ended in every run when the second starts.

    Cost: chains times instructions and conflicts, in blocks of chains. Each block goes over all
    pairs in their order: neighbouring pairs read neighbouring clocks.
    """
    segment, chain = int64(program.segment), chains_of(program)
    of = (int64(program.engine), int64(program.latency_cycles), segment)
    conflicts = (int64(program.conflict_at), int64(program.conflict))
    result = np.empty(len(before), np.bool_)
    _apart(segment, (before, after), result)
    chains = int(chain.max(initial=-1)) + 1
    width = min(chains, max(1, MAX_CLOCKS // max(1, program.size)))
    for first in range(0, chains, width):
        place = chain - first
        clocks = np.full((len(place), width), -1, np.int32)
        _fill(clocks, place, of, conflicts, np.full(len(program.engines), -1, np.int64))
        _look_up(clocks, (place, segment), (before, after), result)
    return result


@compiled
def _apart(segment: IntArray, pairs: tuple[IntArray, IntArray], result: NDArray[np.bool_]) -> None:
    """Per pair, whether the first is in an earlier segment than the second."""
    before, after = pairs
    for pair in range(len(before)):
        result[pair] = segment[before[pair]] < segment[after[pair]]


@compiled
def _look_up(
    clocks: Clocks,
    of: tuple[IntArray, IntArray],
    pairs: tuple[IntArray, IntArray],
    result: NDArray[np.bool_],
) -> None:
    """Set `result` for pairs of one segment whose first instruction's chain is in the block."""
    place, segment = of
    before, after = pairs
    for pair in range(len(before)):
        earlier, later = before[pair], after[pair]
        is_inside = 0 <= place[earlier] < clocks.shape[1]
        if is_inside and segment[earlier] == segment[later]:
            result[pair] = clocks[later, place[earlier]] >= earlier


@compiled
def _fill(
    clocks: Clocks,
    place: IntArray,
    of: tuple[IntArray, IntArray, IntArray],
    conflicts: tuple[IntArray, IntArray],
    last: IntArray,
) -> None:
    """Fill the clocks of one block; `place`: index of each instruction's chain in the block.

    The predecessor in the engine's queue has ended too if its latency is 0. `last`: work array,
    the last instruction of each engine so far; all -1.
    """
    engine, latency, segment = of
    conflict_at, conflict = conflicts
    width = clocks.shape[1]
    for i in range(len(place)):
        before = last[engine[i]]
        last[engine[i]] = i
        if before >= 0 and segment[before] == segment[i]:
            for c in range(width):
                clocks[i, c] = clocks[before, c]
            if latency[before] == 0 and 0 <= place[before] < width:
                clocks[i, place[before]] = before
        for at in range(conflict_at[i + 1] - 1, conflict_at[i] - 1, -1):
            earlier = conflict[at]
            is_inside = 0 <= place[earlier] < width
            is_known = is_inside and clocks[i, place[earlier]] >= earlier
            if is_known or segment[earlier] != segment[i]:
                continue
            for c in range(width):
                clocks[i, c] = max(clocks[i, c], clocks[earlier, c])
            if is_inside:
                clocks[i, place[earlier]] = max(clocks[i, place[earlier]], np.int32(earlier))
