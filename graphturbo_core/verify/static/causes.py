"""Whether every byte that crosses DRAM or GB is booked to what it is."""

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
"""A row, and how it is wrong."""
_FAR = (Memory.GB, Memory.DRAM)


def wrong_cause(program: Program) -> Wrong | None:
    """The first move that is booked to a wrong cause; None: there is none.

    1. Computes and moves between cores have none.
    2. A weight is fetched first until all of its box has been, by each cluster and from DRAM and
       from GB apart; of what is looked up, until as many bytes have been as its box has.
    3. A graph input is INPUT, a graph output in DRAM is OUTPUT, whichever way it goes.
    4. All else is SPILL where its buffer is one, else ACTIVATION.
    """
    fetched = _Fetched({}, {})
    far = _far_accesses(program)
    for row in range(program.size):
        access = int(far[row])
        wanted = _of_move(program, (row, access), fetched) if access >= 0 else Cause.NONE
        if program.cause[row] != wanted:
            return row, f"is booked to {Cause(program.cause[row]).name}, not to {wanted.name}"
    return None


def _far_accesses(program: Program) -> IntArray:
    """Of every move the access at its farther end, DRAM where both are far; else -1."""
    owner = owners(program.access_at)
    is_move = program.kind[owner] != InstructionKind.COMPUTE
    is_far = is_move & np.isin(program.buffers.memory[program.access_buffer], _FAR)
    rows = np.flatnonzero(is_far)
    memory = program.buffers.memory[program.access_buffer[rows]]
    rows = rows[np.argsort(memory, kind="stable")]
    found = np.full(program.size, -1, dtype=np.int64)
    found[owner[rows]] = rows
    return found


@dataclass(frozen=True)
class _Fetched:
    """By memory, tensor and who fetches: which elements, and how many bytes were looked up."""

    elements: dict[tuple[int, int, int], NDArray[np.bool_]]
    looked_up: dict[tuple[int, int, int], int]


def _of_move(program: Program, at: tuple[int, int], fetched: _Fetched) -> Cause:
    """`at`: the move and its access at the farther end."""
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
    """`at`: the move and its access to the weight."""
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
