"""Program -> Ledger: bytes over DRAM and GB in one round, by cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from graphturbo_core.errors import InvariantError
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.sim.bookings import bookings

Booked = Mapping[Memory, Mapping[Cause, int]]


@dataclass(frozen=True, slots=True)
class Ledger:
    """Bytes of one round. `causes[memory]`: sums to the bytes read from and written to it."""

    dram_read_bytes: int
    dram_write_bytes: int
    gb_read_bytes: int
    gb_write_bytes: int
    core_to_core_bytes: int
    causes: Booked

    def check(self) -> None:
        """Check that every byte is booked to exactly one cause.

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
    """Bytes of moves, counted independently of `bookings`, and the causes of `bookings`.

    Bytes that computes access in GB and DRAM are taken from `bookings`.
    """
    booked = bookings(program)
    is_move = program.kind != InstructionKind.COMPUTE
    is_between = is_move & (np.maximum(program.source, program.target) < Memory.GB)
    is_between &= program.kind != InstructionKind.COPY
    is_computed = ~is_move[booked.instruction]

    def moved(memory: Memory, *, is_write: bool) -> int:
        end = program.target if is_write else program.source
        computed = is_computed & (booked.memory == memory) & (booked.is_write == is_write)
        moves = int(program.size_bytes[is_move & (end == memory)].sum())
        return moves + int(booked.size_bytes[computed].sum())

    return Ledger(
        dram_read_bytes=moved(Memory.DRAM, is_write=False),
        dram_write_bytes=moved(Memory.DRAM, is_write=True),
        gb_read_bytes=moved(Memory.GB, is_write=False),
        gb_write_bytes=moved(Memory.GB, is_write=True),
        core_to_core_bytes=int(program.size_bytes[is_between].sum()),
        causes={memory: booked.by_cause(memory) for memory in (Memory.DRAM, Memory.GB)},
    )
