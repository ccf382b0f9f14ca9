"""Program -> the first move whose bytes over DRAM or GB are booked to a wrong cause."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.lowering.stages.stage import bytes_per_element
from graphturbo_core.products.arrays import int64, owners
from graphturbo_core.products.program import Cause, InstructionKind, IntArray, Memory, Program

Wrong = tuple[int, str]
"""A row and its fault."""
_BEYOND_LB = (Memory.GB, Memory.DRAM)


def wrong_cause(program: Program) -> Wrong | None:
    """The first instruction that is booked to a wrong cause; None if there is none.

    1. Computes and moves between cores have no cause.
    2. A fetch of a weight is WEIGHT_FIRST if part of its box has not been fetched before, counted
       per cluster and for DRAM and GB separately; else WEIGHT_AGAIN. A lookup is WEIGHT_FIRST until
       as many bytes have been looked up as its box has.
    3. A graph input is INPUT; a graph output in DRAM is OUTPUT, in either direction.
    4. Other tensors are SPILL if their buffer is a spill, else ACTIVATION.
    """
    fetched = _Fetched({}, {})
    farthest = _accesses_beyond_lb(program)
    for row in range(program.size):
        access = int(farthest[row])
        wanted = _of_move(program, (row, access), fetched) if access >= 0 else Cause.NONE
        if program.cause[row] != wanted:
            return row, f"is booked to {Cause(program.cause[row]).name}, not to {wanted.name}"
    return None


def _accesses_beyond_lb(program: Program) -> IntArray:
    """Per instruction, a move's access to DRAM, else its access to GB; -1 without either."""
    owner = owners(program.access_at)
    is_move = program.kind[owner] != InstructionKind.COMPUTE
    is_beyond = is_move & np.isin(program.buffers.memory[program.access_buffer], _BEYOND_LB)
    rows = np.flatnonzero(is_beyond)
    memory = program.buffers.memory[program.access_buffer[rows]]
    rows = rows[np.argsort(memory, kind="stable")]
    found = np.full(program.size, -1, dtype=np.int64)
    found[owner[rows]] = rows
    return found


@dataclass(frozen=True)
class _Fetched:
    """Fetched elements and looked-up bytes, by memory, tensor and cluster."""

    elements: dict[tuple[int, int, int], NDArray[np.bool_]]
    looked_up: dict[tuple[int, int, int], int]


def _of_move(program: Program, at: tuple[int, int], fetched: _Fetched) -> Cause:
    """Right cause of a move; `at`: the move and its access to GB or DRAM."""
    graph, buffer = program.plan.semantics.graph, int(program.access_buffer[at[1]])
    name = program.tensors[int(program.buffers.tensor[buffer])]
    if graph.tensors[name].kind is TensorKind.WEIGHT:
        return _of_weight(program, at, fetched)
    if graph.tensors[name].kind is TensorKind.INPUT:
        return Cause.INPUT
    if program.buffers.memory[buffer] == Memory.DRAM and name in graph.outputs:
        return Cause.OUTPUT
    return Cause.SPILL if program.buffers.is_spill[buffer] else Cause.ACTIVATION


def _of_weight(program: Program, at: tuple[int, int], fetched: _Fetched) -> Cause:
    """Right cause of a weight's move; `at`: the move and its access to the weight."""
    row, access = at
    buffer = int(program.access_buffer[access])
    tensor = int(program.buffers.tensor[buffer])
    shape = program.plan.semantics.graph.tensors[program.tensors[tensor]].shape
    cluster = program.plan.cluster_of(int(program.kernel[row]))
    key = int(program.buffers.memory[buffer]), tensor, cluster
    lo, hi = program.access_lo[access], program.access_hi[access]
    size = int(program.size_bytes[row])
    width = bytes_per_element(program.plan, program.tensors[tensor])
    box_bytes = prod((int64(hi) - lo).tolist()) * width
    if size < box_bytes:
        before = fetched.looked_up.get(key, 0)
        fetched.looked_up[key] = before + size
        return Cause.WEIGHT_AGAIN if before >= box_bytes else Cause.WEIGHT_FIRST
    there = fetched.elements.setdefault(key, np.zeros(shape, dtype=np.bool_))
    inside = tuple(slice(a, b) for a, b in zip(lo[: len(shape)], hi[: len(shape)], strict=True))
    is_again = bool(there[inside].all())
    there[inside] = True
    return Cause.WEIGHT_AGAIN if is_again else Cause.WEIGHT_FIRST
