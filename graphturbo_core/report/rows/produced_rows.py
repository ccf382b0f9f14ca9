"""Program -> arrays of the tensor and box that each instruction produces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.products.produced import (
    first_writes,
    moved_tensors,
    produced_boxes,
    result_ranks,
    tensor_ranks,
)
from graphturbo_core.products.program import Program


def produced_arrays(program: Program) -> dict[str, NDArray[np.generic]]:
    """Arrays with one entry per instruction; boxes have one column per axis of the widest."""
    at = first_writes(program)
    moved = moved_tensors(program, at)
    of_ops = np.array([*result_ranks(program), 0])[program.op.astype(np.int64)]
    of_tensors = np.array([*tensor_ranks(program), 0])[moved]
    axes = np.where(moved < 0, of_ops, of_tensors)
    lo, hi = produced_boxes(program, at, 0, program.size)
    widest = int(axes.max(initial=0))
    return {
        "moved_tensor": moved.astype(np.int32),
        "box_axes": axes.astype(np.int8),
        "box_lo": lo[:, :widest],
        "box_hi": hi[:, :widest],
    }
