"""Lifetimes of a Program's buffers, in cycles of a Trace."""

from __future__ import annotations

import numpy as np

from graphturbo_core.products.arrays import owners
from graphturbo_core.products.program import IntArray, Memory, Program


def live_intervals(
    program: Program, start: IntArray, end: IntArray, makespan: int
) -> tuple[IntArray, IntArray]:
    """Per buffer, the cycles [from, to) in which it is live; 0, 0 if it is never used.

    Rule 1 is the design's; 2 and 3 are the cases at the begin and end of the run:
    1. From the start of its first writer to the end (latency included) of its last access.
    2. A buffer that is read before any write is live from cycle 0.
    3. A graph output in DRAM is live until the makespan.
    """
    n = len(program.buffers.memory)
    never = np.iinfo(np.int64).max
    buffer, row = program.access_buffer, owners(program.access_at)
    written = np.full(n, never, np.int64)
    read = np.full(n, never, np.int64)
    live_to = np.zeros(n, np.int64)
    is_write = program.access_write
    np.minimum.at(written, buffer[is_write], start[row[is_write]])
    np.minimum.at(read, buffer[~is_write], start[row[~is_write]])
    np.maximum.at(live_to, buffer, end[row])
    live_from = np.where(read < written, 0, written)
    is_used = (written < never) | (read < never)
    live_to[is_used & _is_output(program)] = makespan
    return np.where(is_used, live_from, 0), live_to


def _is_output(program: Program) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    names = frozenset(program.plan.semantics.graph.outputs)
    is_output = np.array([name in names for name in program.tensors], dtype=np.bool_)
    is_dram = program.buffers.memory == Memory.DRAM
    if not len(is_output):
        return np.zeros(len(is_dram), dtype=np.bool_)
    return np.asarray(is_dram & is_output[program.buffers.tensor])
