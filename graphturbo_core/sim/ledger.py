"""Program -> bytes that cross DRAM and GB, each booked to its cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.errors import InvariantError
from graphturbo_core.lowering.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.sim.bookings import bookings

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
    """Bytes moved, counted from the moves themselves, and what `bookings` books them to.

    What computes of an engine without an LB read and write is known from the bookings alone.
    """
    booked = bookings(program)
    is_move = program.kind != InstructionKind.COMPUTE
    is_between = is_move & (np.maximum(program.source, program.target) < Memory.GB)
    is_between &= program.kind != InstructionKind.COPY
    is_computed = ~is_move[booked.instruction]
    read, written = (
        int(booked.size_bytes[is_computed & is_end].sum())
        for is_end in (~booked.is_write, booked.is_write)
    )

    def moved(end: NDArray[np.int8], memory: Memory) -> int:
        return int(program.size_bytes[is_move & (end == memory)].sum())

    return Ledger(
        dram_read_bytes=moved(program.source, Memory.DRAM),
        dram_write_bytes=moved(program.target, Memory.DRAM),
        gb_read_bytes=moved(program.source, Memory.GB) + read,
        gb_write_bytes=moved(program.target, Memory.GB) + written,
        core_to_core_bytes=int(program.size_bytes[is_between].sum()),
        causes={memory: booked.by_cause(memory) for memory in (Memory.DRAM, Memory.GB)},
    )
