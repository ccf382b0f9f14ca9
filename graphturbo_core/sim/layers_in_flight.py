"""Trace -> LayerConcurrency: number of layers that run at each cycle, and overlap across layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled
from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.products.arrays import int64
from graphturbo_core.products.program import IntArray
from graphturbo_core.sim.trace import Trace

MATRIX, VECTOR, MEMORY = range(3)
"""Kinds of work, for the sweep: matrix compute, vector compute, or a move of bytes."""
WORK_OF_ENGINE = {
    EngineKind.MATRIX: MATRIX,
    EngineKind.VECTOR: VECTOR,
    EngineKind.MOVE: MEMORY,
    EngineKind.DMA: MEMORY,
}
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LayerConcurrency:
    """Layers in flight: layers with an instruction that occupies an engine, system DMA included.

    The engines are those of one round, of one cluster or of cooperating clusters. `cycle`,
    `layers`: a step function from cycle 0. `cycles_by_layers[n]`: cycles with `n` layers in flight;
    they sum to the makespan. `under_start`, `under_end`: intervals in cycles in which a move of one
    layer runs while another layer computes. `vector_under_matrix_cycles`: cycles in which the
    vector engine works for one layer while the matrix engine works for another. Instructions
    without a layer do not count.
    """

    cycle: IntArray
    layers: IntArray
    cycles_by_layers: IntArray
    under_start: IntArray
    under_end: IntArray
    vector_under_matrix_cycles: int

    @property
    def memory_under_compute_cycles(self) -> int:
        """Cycles in which a move of one layer runs while another layer computes."""
        return int((self.under_end - self.under_start).sum())


def layers_in_flight(trace: Trace) -> LayerConcurrency:
    """Sweep over starts and ends of all instructions; O(n log n)."""
    program = trace.program
    rows = np.flatnonzero((program.layer >= 0) & (program.hold_cycles > 0))
    work = np.array([WORK_OF_ENGINE[engine.kind] for engine in program.engines], np.int64)
    cycle = np.concatenate([trace.start[rows], trace.start[rows] + program.hold_cycles[rows]])
    order = np.argsort(cycle, kind="stable")
    layers = int(program.layer.max(initial=0)) + 1
    at, count, is_memory_under, is_vector_under = _sweep(
        int64(cycle[order]),
        int64(np.tile(program.layer[rows], 2)[order]),
        int64(np.tile(work[program.engine[rows]], 2)[order]),
        int64(np.repeat(np.array([1, -1]), len(rows))[order]),
        layers,
    )
    begin = np.concatenate([np.zeros(1, np.int64), at])
    span = np.diff(np.append(begin, trace.makespan))
    held = np.concatenate([np.zeros(1, np.int64), count])
    under_start, under_end = _intervals(at, is_memory_under)
    return LayerConcurrency(
        cycle=int64(begin[span > 0]),
        layers=int64(held[span > 0]),
        cycles_by_layers=int64(np.bincount(held, span, minlength=2)),
        under_start=under_start,
        under_end=under_end,
        vector_under_matrix_cycles=int(span[1:][is_vector_under].sum()),
    )


def _intervals(at: IntArray, is_on: Flags) -> tuple[IntArray, IntArray]:
    """Intervals in which a flag is on; `is_on[k]` holds from `at[k]` to `at[k + 1]`."""
    change = np.diff(is_on.astype(np.int8), prepend=0, append=0)
    ends = np.append(at, at[-1:])
    return int64(ends[np.flatnonzero(change > 0)]), int64(ends[np.flatnonzero(change < 0)])


@compiled
def _sweep(
    cycle: IntArray, layer: IntArray, work: IntArray, change: IntArray, layers: int
) -> tuple[IntArray, IntArray, Flags, Flags]:
    """Per distinct cycle, after its events: the cycle, layers in flight, the two overlap flags.

    Events are sorted by cycle. Two kinds of work overlap across layers if both run, unless the same
    single layer runs both.
    """
    n = len(cycle)
    at = np.empty(n, np.int64)
    count = np.empty(n, np.int64)
    memory_under = np.zeros(n, np.bool_)
    vector_under = np.zeros(n, np.bool_)
    running = np.zeros((layers, 3), np.int64)
    # Number of layers by the kinds of work that they run, as bits: 1 matrix, 2 vector, 4 memory.
    doing = np.zeros(8, np.int64)
    found = 0
    for event in range(n):
        kinds = running[layer[event]]
        before = (kinds[0] > 0) + 2 * (kinds[1] > 0) + 4 * (kinds[2] > 0)
        doing[before] -= before > 0
        kinds[work[event]] += change[event]
        after = (kinds[0] > 0) + 2 * (kinds[1] > 0) + 4 * (kinds[2] > 0)
        doing[after] += after > 0
        if event + 1 < n and cycle[event + 1] == cycle[event]:
            continue
        at[found] = cycle[event]
        count[found] = doing.sum()
        matrix = doing[1] + doing[3] + doing[5] + doing[7]
        vector = doing[2] + doing[3] + doing[6] + doing[7]
        memory = doing[4] + doing[5] + doing[6] + doing[7]
        compute = doing[1] + doing[2] + doing[3] + doing[5] + doing[6] + doing[7]
        both = doing[5] + doing[6] + doing[7]
        memory_under[found] = memory * compute > (memory == 1) * (compute == 1) * both
        both = doing[3] + doing[7]
        vector_under[found] = vector * matrix > (vector == 1) * (matrix == 1) * both
        found += 1
    return (
        at[:found].copy(),
        count[:found].copy(),
        memory_under[:found].copy(),
        (vector_under[:found].copy()),
    )
