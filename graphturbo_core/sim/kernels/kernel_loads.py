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
    """Of each kernel of the plan; of several DRAM shares the busiest one counts."""
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
    return tuple(
        KernelUsage(*each) for each in zip(*(own.tolist() for own in columns), strict=True)
    )


def _most(
    kernel: NDArray[Any], user: NDArray[Any], cycles: IntArray, users: list[int], count: int
) -> IntArray:
    """Per kernel, the cycles of that one of `users` which has most; n log n in instructions."""
    own = np.isin(user, users)
    width = max(users, default=0) + 1
    pairs, place = np.unique(kernel[own].astype(np.int64) * width + user[own], return_inverse=True)
    most = np.zeros(count, dtype=np.int64)
    np.maximum.at(most, pairs // width, np.bincount(place, cycles[own]).astype(np.int64))
    return most


def _gb_ends(program: Program, count: int) -> IntArray:
    """Per kernel, the end of what lies in GB: of weights what several kernels touch.

    Not of those of which only a part is there, and no stay says so: they give way to any stay.
    """
    plan, buffers, graph = program.plan, program.buffers, program.plan.semantics.graph
    is_weight = np.array(
        [graph.tensors[name].kind is TensorKind.WEIGHT for name in program.tensors]
    )[buffers.tensor]
    staying = {stay.weight for stay in plan.stays}
    least = np.array(
        [0 if name in staying else plan.weight_bytes.get(name, 0) for name in program.tensors]
    )[buffers.tensor]
    first, last = program.kernel[buffers.first], program.kernel[buffers.last]
    ends = np.zeros(count, dtype=np.int64)
    is_kept = (first < last) & (buffers.size_bytes >= least)
    wanted = (buffers.memory == Memory.GB) & (~is_weight | is_kept)
    for place in np.flatnonzero(wanted).tolist():
        while_live = ends[first[place] : last[place] + 1]
        end = buffers.offset[place] + buffers.size_bytes[place]
        np.maximum(while_live, end, out=while_live)
    return ends
