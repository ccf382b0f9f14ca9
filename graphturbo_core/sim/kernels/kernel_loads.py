"""Program -> KernelUsage of each kernel: busy cycles of DRAM and cores, and GB bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.products.arrays import owners
from graphturbo_core.products.program import ChannelKind, IntArray, Memory, Program
from graphturbo_core.strategies.steps.kernels import KernelUsage


def kernel_loads(program: Program) -> tuple[KernelUsage, ...]:
    """Usage of each kernel of the plan; of several DRAM shares, the busiest one counts."""
    count = len(program.plan.kernels)
    shares = [
        place
        for place, channel in enumerate(program.channels)
        if channel.kind is ChannelKind.DRAM_SHARE
    ]
    row = owners(program.channel_at)
    dram = _most(program.kernel[row], program.channel, program.channel_cycles, shares, count)
    on_core = [
        place for place, each in enumerate(program.engines) if each.kind is not EngineKind.DMA
    ]
    cores = _most(program.kernel, program.engine, program.hold_cycles, on_core, count)
    columns = (dram, cores, _gb_ends(program, count))
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(KernelUsage(*row) for row in rows)


def _most(
    kernel: NDArray[Any], user: NDArray[Any], cycles: IntArray, users: list[int], count: int
) -> IntArray:
    """Per kernel, the cycles of the busiest of `users`; n log n in instructions."""
    rows = np.isin(user, users)
    width = max(users, default=0) + 1
    keys = kernel[rows].astype(np.int64) * width + user[rows]
    pairs, place = np.unique(keys, return_inverse=True)
    most = np.zeros(count, dtype=np.int64)
    np.maximum.at(most, pairs // width, np.bincount(place, cycles[rows]).astype(np.int64))
    return most


def _gb_ends(program: Program, count: int) -> IntArray:
    """Per kernel, the largest end in bytes of buffers that it has in GB.

    A weight's buffer counts if several kernels access it, and it holds the whole weight or the plan
    retains the weight. Other parts of weights do not count: a retention may replace them.
    """
    plan, buffers, graph = program.plan, program.buffers, program.plan.semantics.graph
    is_weight = np.array(
        [graph.tensors[name].kind is TensorKind.WEIGHT for name in program.tensors]
    )[buffers.tensor]
    retained = {each.weight for each in plan.stays}
    least = np.array(
        [0 if name in retained else plan.weight_bytes.get(name, 0) for name in program.tensors]
    )[buffers.tensor]
    first, last = program.kernel[buffers.first], program.kernel[buffers.last]
    ends = np.zeros(count, dtype=np.int64)
    is_resident = (first < last) & (buffers.size_bytes >= least)
    is_counted = (buffers.memory == Memory.GB) & (~is_weight | is_resident)
    for place in np.flatnonzero(is_counted).tolist():
        while_live = ends[first[place] : last[place] + 1]
        end = buffers.offset[place] + buffers.size_bytes[place]
        np.maximum(while_live, end, out=while_live)
    return ends
