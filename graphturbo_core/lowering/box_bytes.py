"""Bytes of many boxes of a Program's tensors, vectorised."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.lowering.stages.stage import CHANNEL_AXIS, bytes_per_element
from graphturbo_core.products.program import IntArray, Program


def box_bytes(
    program: Program, tensor: NDArray[np.int32], lo: NDArray[np.int32], hi: NDArray[np.int32]
) -> IntArray:
    """Bytes of each box [lo, hi); `tensor`: its row in `Program.tensors`."""
    width = np.zeros(len(program.tensors), dtype=np.int64)
    padding = np.ones(len(program.tensors), dtype=np.int64)
    for number in np.unique(tensor).tolist():
        name = program.tensors[number]
        known = program.plan.semantics.graph.tensors[name]
        width[number] = bytes_per_element(program.plan, name)
        is_weight = known.kind is TensorKind.WEIGHT
        if len(known.shape) > CHANNEL_AXIS + 1 and not is_weight:
            padding[number] = program.plan.hardware.channel_padding
    sizes = hi.astype(np.int64) - lo
    sizes[:, CHANNEL_AXIS] = -(-sizes[:, CHANNEL_AXIS] // padding[tensor]) * padding[tensor]
    return np.asarray(sizes.prod(axis=1) * width[tensor], dtype=np.int64)
