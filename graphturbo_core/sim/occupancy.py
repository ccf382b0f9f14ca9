"""Trace -> live bytes in LB and GB over time, and per layer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphturbo_core.hardware.hardware import CLUSTER_CORE
from graphturbo_core.products.arrays import int64
from graphturbo_core.products.program import IntArray, Memory
from graphturbo_core.sim.lifetimes import live_intervals
from graphturbo_core.sim.sweeps import running_maximum, window_maxima
from graphturbo_core.sim.trace import Trace

FloatArray = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Steps:
    """Step function from cycle 0: `live_bytes[k]` from `cycle[k]` to before `cycle[k + 1]`."""

    cycle: IntArray
    live_bytes: IntArray

    @property
    def peak_bytes(self) -> int:
        """The largest value."""
        return int(self.live_bytes.max())

    def integral(self, cycle: IntArray) -> IntArray:
        """Byte-cycles from 0 to each `cycle`."""
        areas = np.diff(self.cycle) * self.live_bytes[:-1]
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(areas)])
        at = np.searchsorted(self.cycle, cycle, side="right") - 1
        return np.asarray(before[at] + self.live_bytes[at] * (cycle - self.cycle[at]))

    def window_peaks(self, begin: IntArray, stop: IntArray) -> IntArray:
        """The largest value in each [begin, stop); the value at `begin` if both are equal."""
        first = np.searchsorted(self.cycle, begin, side="right") - 1
        last = np.maximum(np.searchsorted(self.cycle, stop, side="left"), first + 1)
        return window_maxima(self.live_bytes, int64(first), int64(last))


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Live bytes over time. LB: data and weight part together, without staging.

    `gb`: of the fullest of the cooperating clusters at each cycle. `lb_worst`: of the fullest core.
    `lb_total`: the sum over all cores, equivalent ones included.
    """

    gb: Steps
    lb_worst: Steps
    lb_total: Steps


@dataclass(frozen=True, slots=True)
class LayerMemory:
    """Per layer, memory in its windows: [first start, last end] in each of its kernels.

    `start`, `end`: cycles, of the first and the last window. `lb_peak`: bytes of the fullest core.
    `lb_mean`: bytes, mean over cores and cycles of the windows. `gb_peak`: bytes. All 0 for a layer
    without instructions.
    """

    start: IntArray
    end: IntArray
    lb_peak: IntArray
    lb_mean: FloatArray
    gb_peak: IntArray


def occupancy(trace: Trace) -> Occupancy:
    """Live bytes of GB, of the fullest LB and of all LBs; O(n log n)."""
    program = trace.program
    buffers = program.buffers
    live_from, live_to = live_intervals(program, trace.start, trace.end, trace.makespan)
    is_gb = np.flatnonzero(buffers.memory == Memory.GB)
    is_lb = np.flatnonzero(np.isin(buffers.memory, (Memory.LB_DATA, Memory.LB_WEIGHT)))
    cycle, change, gb_buffer = _events(is_gb, live_from, live_to, buffers.size_bytes)
    cluster = int64(CLUSTER_CORE - buffers.core[gb_buffer])
    lb_cycle, lb_change, lb_buffer = _events(is_lb, live_from, live_to, buffers.size_bytes)
    core = int64(buffers.core[lb_buffer])
    clusters = program.plan.clusters
    worst = running_maximum(core, lb_change, clusters * program.plan.hardware.cores)
    return Occupancy(
        gb=_steps(cycle, running_maximum(cluster, change, clusters)),
        lb_worst=_steps(lb_cycle, worst),
        lb_total=_steps(lb_cycle, np.cumsum(lb_change * buffers.cores[lb_buffer])),
    )


def _events(
    rows: IntArray, live_from: IntArray, live_to: IntArray, size_bytes: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Cycle, change in bytes and buffer of every allocation and release; releases come first."""
    size = size_bytes[rows]
    cycle = np.concatenate([live_to[rows], live_from[rows]])
    change = np.concatenate([-size, size])
    buffer = np.concatenate([rows, rows])
    is_start = np.repeat(np.array([0, 1]), len(rows))
    is_real = np.tile(live_to[rows] > live_from[rows], 2)
    order = np.lexsort((is_start, cycle))
    order = order[is_real[order]]
    return cycle[order], int64(change[order]), buffer[order]


def _steps(cycle: IntArray, live_bytes: IntArray) -> Steps:
    """The value after the last event of each cycle, from cycle 0."""
    is_last = np.append(np.diff(cycle) > 0, True)[: len(cycle)]
    cycle, live_bytes = cycle[is_last], live_bytes[is_last]
    if not len(cycle) or cycle[0] > 0:
        cycle, live_bytes = np.append(0, cycle), np.append(0, live_bytes)
    return Steps(int64(cycle), int64(live_bytes))


def layer_memory(trace: Trace, live: Occupancy) -> LayerMemory:
    """Peaks and means of memory while each layer runs; near-linear."""
    layers = len(trace.program.plan.layers)
    layer, begin, stop = layer_windows(trace)
    lb_peak, gb_peak = np.zeros(layers, np.int64), np.zeros(layers, np.int64)
    np.maximum.at(lb_peak, layer, live.lb_worst.window_peaks(begin, stop))
    np.maximum.at(gb_peak, layer, live.gb.window_peaks(begin, stop))
    area = live.lb_total.integral(stop) - live.lb_total.integral(begin)
    plan = trace.program.plan
    areas = np.bincount(layer, area, layers)
    cycles = np.bincount(layer, stop - begin, layers)
    first = np.full(layers, trace.makespan, np.int64)
    last = np.zeros(layers, np.int64)
    np.minimum.at(first, layer, begin)
    np.maximum.at(last, layer, stop)
    return LayerMemory(
        start=np.where(np.isin(np.arange(layers), layer), first, 0),
        end=last,
        lb_peak=lb_peak,
        lb_mean=areas / np.maximum(cycles, 1) / (plan.clusters * plan.hardware.cores),
        gb_peak=gb_peak,
    )


def layer_windows(trace: Trace) -> tuple[IntArray, IntArray, IntArray]:
    """Layer, first start and last end, one entry per layer and kernel in which it runs."""
    program = trace.program
    rows = np.flatnonzero(program.layer >= 0)
    kernels = int(program.kernel.max(initial=0)) + 1
    keys = int64(program.layer[rows]) * kernels + program.kernel[rows]
    distinct, window = np.unique(keys, return_inverse=True)
    begin = np.full(len(distinct), trace.makespan, np.int64)
    stop = np.zeros(len(distinct), np.int64)
    np.minimum.at(begin, window, trace.start[rows])
    np.maximum.at(stop, window, trace.end[rows])
    return distinct // kernels, begin, stop
