"""Program -> what each instruction produces: a compute its op's result, a move what it writes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.products.program import InstructionKind, IntArray, Program

Boxes = tuple[NDArray[np.int32], NDArray[np.int32]]
"""First and end index, a row an instruction and a column an axis."""


def first_writes(program: Program) -> IntArray:
    """The first access of each instruction that writes; every instruction has one."""
    writes = np.flatnonzero(program.access_write)
    found: IntArray = writes[np.searchsorted(writes, program.access_at[:-1])]
    return found


def produced_boxes(program: Program, at: IntArray, first: int, end: int) -> Boxes:
    """Of these instructions' computes the result's box, of moves that of the first write.

    `at`: the first writes of all instructions.
    """
    is_compute = (program.kind[first:end] == InstructionKind.COMPUTE)[:, None]
    lo = np.where(is_compute, program.result_lo[first:end], program.access_lo[at[first:end]])
    return lo, np.where(is_compute, program.result_hi[first:end], program.access_hi[at[first:end]])


def moved_tensors(program: Program, at: IntArray) -> IntArray:
    """What each move writes, by its place in the program's tensors; -1 of computes."""
    found = program.access_tensor[at].astype(np.int64)
    found[program.kind == InstructionKind.COMPUTE] = -1
    return found


def result_ranks(program: Program) -> list[int]:
    """How many axes each op's first output has."""
    graph = program.plan.semantics.graph
    results = (next(name for name in op.outputs if name) for op in graph.ops)
    return [len(graph.tensors[name].shape) for name in results]


def tensor_ranks(program: Program) -> list[int]:
    """How many axes each of the program's tensors has."""
    tensors = program.plan.semantics.graph.tensors
    return [len(tensors[name].shape) for name in program.tensors]
