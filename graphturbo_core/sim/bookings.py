"""Program -> Bookings: every byte over DRAM or GB, with its instruction and its cause."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.lowering.box_bytes import box_bytes
from graphturbo_core.lowering.instructions.weight_causes import WeightMoves, weight_causes
from graphturbo_core.lowering.stages.stage import bytes_per_element
from graphturbo_core.products.arrays import int64, owners
from graphturbo_core.products.program import (
    Cause,
    InstructionKind,
    IntArray,
    Memory,
    Program,
)


@dataclass(frozen=True, slots=True)
class Bookings:
    """One entry per instruction, memory (DRAM or GB) and cause.

    `size_bytes`: sum over the equivalent cores of the instruction. `is_write`: the memory is
    written.
    """

    instruction: IntArray
    memory: NDArray[np.int8]
    cause: NDArray[np.int8]
    size_bytes: IntArray
    is_write: NDArray[np.bool_]

    def by_cause(self, memory: Memory) -> dict[Cause, int]:
        """Bytes of every cause that occurs in a memory."""
        rows = self.memory == memory
        sums = {c: int(self.size_bytes[rows & (self.cause == c)].sum()) for c in Cause}
        return {cause: total for cause, total in sums.items() if total}


def bookings(program: Program) -> Bookings:
    """Bytes over DRAM and GB, booked to causes.

    1. A move reads its source once (a broadcast too) and writes its target.
    2. Refetched halo bytes of a move are booked to HALO, the others to its cause.
    3. All bytes of a spill are booked to SPILL.
    4. Some computes read operands from GB or DRAM and write results to them. These bytes are booked
       to WEIGHT_FIRST or WEIGHT_AGAIN, INPUT, OUTPUT, or else ACTIVATION.
    """
    ends = ((program.source, False), (program.target, True))
    parts = [
        _crossings(program, memory, np.flatnonzero(end == memory), is_write)
        for memory in (Memory.DRAM, Memory.GB)
        for end, is_write in ends
    ]
    parts.append(_computed(program))
    return Bookings(
        np.concatenate([part.instruction for part in parts]),
        np.concatenate([part.memory for part in parts]),
        np.concatenate([part.cause for part in parts]),
        np.concatenate([part.size_bytes for part in parts]),
        np.concatenate([part.is_write for part in parts]),
    )


def _crossings(program: Program, memory: Memory, ends: IntArray, is_write: bool) -> Bookings:
    """Rules 1 to 3 for moves that have `memory` at one end."""
    rows = ends[program.kind[ends] != InstructionKind.COMPUTE]
    cause = program.cause[rows]
    halo = np.where(cause == Cause.SPILL, 0, program.halo_bytes[rows])
    size = np.concatenate([program.size_bytes[rows] - halo, halo])
    used = np.flatnonzero(size)
    causes = np.concatenate([cause, np.full(len(rows), Cause.HALO, np.int8)])
    return Bookings(
        int64(np.tile(rows, 2)[used]),
        np.full(len(used), memory, np.int8),
        causes[used],
        int64(size[used]),
        np.full(len(used), is_write),
    )


def _computed(program: Program) -> Bookings:
    """Rule 4: accesses of computes to GB and DRAM, one entry per access."""
    owner, buffer = owners(program.access_at), program.access_buffer
    is_far = (program.kind[owner] == InstructionKind.COMPUTE) & (program.size_bytes[owner] > 0)
    rows = np.flatnonzero(is_far & (program.buffers.memory[buffer] >= Memory.GB))
    memory = program.buffers.memory[buffer[rows]]
    tensor = program.buffers.tensor[buffer[rows]]
    cause = _tensor_causes(program, np.unique(tensor))[tensor]
    cause[program.buffers.is_spill[buffer[rows]] & (cause == Cause.ACTIVATION)] = Cause.SPILL
    corners = (program.access_lo[rows], program.access_hi[rows])
    size_bytes = int64(box_bytes(program, tensor, *corners))
    moved = WeightMoves(
        cause=cause,
        size_bytes=size_bytes,
        cores=np.ones(len(rows), dtype=np.int32),
        source=int64(memory),
        tensor=tensor,
        boxes=corners,
        element_bytes=np.array([bytes_per_element(program.plan, n) for n in program.tensors]),
    )
    return Bookings(
        instruction=int64(owner[rows]),
        memory=memory,
        cause=weight_causes(moved),
        size_bytes=size_bytes,
        is_write=program.access_write[rows],
    )


def _tensor_causes(program: Program, tensors: IntArray) -> NDArray[np.int8]:
    """Per tensor number, the cause of bytes that a compute accesses in GB or DRAM (rule 4)."""
    causes = np.zeros(len(program.tensors), dtype=np.int8)
    by_kind = {TensorKind.WEIGHT: Cause.WEIGHT_FIRST, TensorKind.INPUT: Cause.INPUT}
    for number in tensors.tolist():
        graph, name = program.plan.semantics.graph, program.tensors[number]
        is_output = name in graph.output_names
        other = Cause.OUTPUT if is_output else Cause.ACTIVATION
        causes[number] = by_kind.get(graph.tensors[name].kind, other)
    return causes
