"""Program -> bytes that cross DRAM and GB, each booked to its cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.errors import InvariantError
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.lowering.box_bytes import box_bytes
from graphturbo_core.lowering.program import (
    Cause,
    InstructionKind,
    IntArray,
    Memory,
    Program,
)
from graphturbo_core.lowering.stages import bytes_per_element
from graphturbo_core.lowering.weight_causes import WeightMoves, weight_causes
from graphturbo_core.sim.arrays import int64, owners

Booked = Mapping[Memory, Mapping[Cause, int]]


@dataclass(frozen=True, slots=True)
class Ledger:
    """One cluster's round. `causes[memory]` sums to what is read from and written to it."""

    dram_read_bytes: int
    dram_write_bytes: int
    gb_read_bytes: int
    gb_write_bytes: int
    core_to_core_bytes: int
    causes: Booked

    def check(self) -> None:
        """Every byte is booked, once.

        Raises:
            InvariantError: naming the memory and both sums, or the bytes without a cause.
        """
        counters = {
            Memory.DRAM: self.dram_read_bytes + self.dram_write_bytes,
            Memory.GB: self.gb_read_bytes + self.gb_write_bytes,
        }
        for memory, counted in counters.items():
            parts = self.causes[memory]
            if sum(parts.values()) != counted:
                what = f"{memory.name} moved {counted} bytes, booked are {sum(parts.values())}"
                raise InvariantError("LEDGER_SUM", what)
            if parts.get(Cause.NONE, 0) or min(parts.values(), default=0) < 0:
                raise InvariantError("LEDGER_CAUSE", f"{memory.name} has bytes without a cause")


def ledger(program: Program) -> Ledger:
    """Bytes moved and why.

    1. A move reads its source once (a broadcast too) and writes its target.
    2. Of a move's bytes, those read again for a halo are booked to HALO, the rest to its cause.
    3. All bytes of a spill are booked to SPILL.
    4. A compute of an engine without an LB reads its operands from GB and writes its result there:
       a weight is read first or again, a graph input or output is that, all else an activation.
    """
    size = program.size_bytes
    is_move = program.kind != InstructionKind.COMPUTE
    is_between = is_move & (np.maximum(program.source, program.target) < Memory.GB)
    reads = {m: is_move & (program.source == m) for m in (Memory.DRAM, Memory.GB)}
    writes = {m: is_move & (program.target == m) for m in (Memory.DRAM, Memory.GB)}
    computed = _gb_accesses(program)
    causes = {m: _booked(program, reads[m] * 1 + writes[m] * 1) for m in reads}
    for cause in Cause:
        total = int(computed.size_bytes[computed.cause == cause].sum())
        if total:
            causes[Memory.GB][cause] = causes[Memory.GB].get(cause, 0) + total
    return Ledger(
        dram_read_bytes=int(size[reads[Memory.DRAM]].sum()),
        dram_write_bytes=int(size[writes[Memory.DRAM]].sum()),
        gb_read_bytes=int(size[reads[Memory.GB]].sum() + computed.read_bytes),
        gb_write_bytes=int(size[writes[Memory.GB]].sum() + computed.written_bytes),
        core_to_core_bytes=int(size[is_between].sum()),
        causes=causes,
    )


@dataclass(frozen=True, slots=True)
class _Computed:
    """What computes read from GB and write there, an entry an access."""

    size_bytes: IntArray
    cause: NDArray[np.int8]
    is_write: NDArray[np.bool_]

    @property
    def read_bytes(self) -> int:
        return int(self.size_bytes[~self.is_write].sum())

    @property
    def written_bytes(self) -> int:
        return int(self.size_bytes[self.is_write].sum())


def _gb_accesses(program: Program) -> _Computed:
    """Rule 4."""
    owner, buffer = owners(program.access_at), program.access_buffer
    is_there = (program.kind[owner] == InstructionKind.COMPUTE) & (program.size_bytes[owner] > 0)
    rows = np.flatnonzero(is_there & (program.buffers.memory[buffer] == Memory.GB))
    tensor = program.buffers.tensor[buffer[rows]]
    cause = _tensor_causes(program, np.unique(tensor))[tensor]
    cause[program.buffers.is_spill[buffer[rows]] & (cause == Cause.ACTIVATION)] = Cause.SPILL
    corners = (program.access_lo[rows], program.access_hi[rows])
    size_bytes = int64(box_bytes(program, tensor, *corners))
    moved = WeightMoves(
        cause=cause,
        size_bytes=size_bytes,
        cores=np.ones(len(rows), dtype=np.int32),
        source=np.full(len(rows), Memory.GB, dtype=np.int8),
        tensor=tensor,
        boxes=corners,
        element_bytes=np.array([bytes_per_element(program.plan, n) for n in program.tensors]),
    )
    return _Computed(
        size_bytes=size_bytes,
        cause=weight_causes(moved),
        is_write=program.access_write[rows],
    )


def _tensor_causes(program: Program, tensors: IntArray) -> NDArray[np.int8]:
    """What bytes of a tensor are booked to where an engine without an LB touches them."""
    found = np.zeros(len(program.tensors), dtype=np.int8)
    by_kind = {TensorKind.WEIGHT: Cause.WEIGHT_FIRST, TensorKind.INPUT: Cause.INPUT}
    for number in tensors.tolist():
        graph, name = program.plan.semantics.graph, program.tensors[number]
        is_output = name in graph.output_names
        other = Cause.OUTPUT if is_output else Cause.ACTIVATION
        found[number] = by_kind.get(graph.tensors[name].kind, other)
    return found


def _booked(program: Program, crossings: IntArray) -> dict[Cause, int]:
    """Bytes of every cause that occurs, each move counted as often as it crosses."""
    halo = np.where(program.cause == Cause.SPILL, 0, program.halo_bytes) * crossings
    rest = program.size_bytes * crossings - halo
    sums = {cause: int(rest[program.cause == cause].sum()) for cause in Cause}
    sums[Cause.HALO] += int(halo.sum())
    return {cause: total for cause, total in sums.items() if total}
