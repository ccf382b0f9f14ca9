"""Program -> tensor and box that each instruction produces.

A compute produces its op's result, a move the box of its first write.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.products.program import InstructionKind, IntArray, Program

Boxes = tuple[NDArray[np.int32], NDArray[np.int32]]
"""First and end index, both (instructions, axes)."""


def first_writes(program: Program) -> IntArray:
    """Row of each instruction's first write in the access table; every instruction has one."""
    writes = np.flatnonzero(program.access_write)
    first: IntArray = writes[np.searchsorted(writes, program.access_at[:-1])]
    return first


def produced_boxes(program: Program, at: IntArray, first: int, end: int) -> Boxes:
    """Boxes that instructions [first, end) produce.

    `at`: `first_writes` of the program.
    """
    is_compute = (program.kind[first:end] == InstructionKind.COMPUTE)[:, None]
    lo = np.where(is_compute, program.result_lo[first:end], program.access_lo[at[first:end]])
    return lo, np.where(is_compute, program.result_hi[first:end], program.access_hi[at[first:end]])


def moved_tensors(program: Program, at: IntArray) -> IntArray:
    """Per instruction, the number of the tensor that a move writes; -1 for computes."""
    tensor = program.access_tensor[at].astype(np.int64)
    tensor[program.kind == InstructionKind.COMPUTE] = -1
    return tensor


def result_ranks(program: Program) -> list[int]:
    """Number of axes of each op's first output."""
    graph = program.plan.semantics.graph
    results = (next(name for name in op.outputs if name) for op in graph.ops)
    return [len(graph.tensors[name].shape) for name in results]


def tensor_ranks(program: Program) -> list[int]:
    """Number of axes of each of the program's tensors."""
    tensors = program.plan.semantics.graph.tensors
    return [len(tensors[name].shape) for name in program.tensors]
