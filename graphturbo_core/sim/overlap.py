"""Trace -> LayerOverlap: intervals in which a core runs two or more layers at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphturbo_core.products.arrays import int64
from graphturbo_core.products.program import IntArray
from graphturbo_core.sim.sweeps import overlap_intervals
from graphturbo_core.sim.trace import Trace


@dataclass(frozen=True, slots=True)
class LayerOverlap:
    """Intervals [start, end) in cycles in which engines of `core` run two or more layers.

    `ratio`: their share of the makespan, mean over all cores, equivalent ones included. An engine
    runs an instruction for its hold cycles. System DMAs and instructions without a layer do not
    count.
    """

    core: IntArray
    start: IntArray
    end: IntArray
    ratio: float


def layer_overlap(trace: Trace) -> LayerOverlap:
    """Intervals in which layers overlap on a core, sorted by core, then time; O(n log n)."""
    program = trace.program
    cores_of_engines = np.array([engine.core for engine in program.engines], np.int64)
    core_of = cores_of_engines[program.engine]
    rows = np.flatnonzero((core_of >= 0) & (program.layer >= 0) & (program.hold_cycles > 0))
    core = np.tile(core_of[rows], 2)
    cycle = np.concatenate([trace.start[rows] + program.hold_cycles[rows], trace.start[rows]])
    change = np.repeat(np.array([-1, 1]), len(rows))
    order = np.lexsort((change, cycle, core))
    layers = int(program.layer.max(initial=0)) + 1
    intervals = overlap_intervals(
        int64(core[order]),
        int64(cycle[order]),
        int64(np.tile(program.layer[rows], 2)[order]),
        int64(change[order]),
        layers,
    )
    sizes = {engine.core: engine.cores for engine in program.engines if engine.core >= 0}
    times = np.array([sizes[core] for core in intervals[0].tolist()], np.int64)
    shared = int((times * (intervals[2] - intervals[1])).sum())
    cores = sum(sizes.values())
    return LayerOverlap(*intervals, ratio=shared / max(1, trace.makespan * cores))
