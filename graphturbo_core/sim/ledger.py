"""Program -> bytes that cross DRAM and GB, each booked to its cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from graphturbo_core.errors import InvariantError
from graphturbo_core.lowering.program import (
    Cause,
    InstructionKind,
    IntArray,
    Memory,
    Program,
)

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
    """
    size = program.size_bytes
    is_move = program.kind != InstructionKind.COMPUTE
    is_exchange = program.kind == InstructionKind.EXCHANGE
    reads = {m: is_move & (program.source == m) for m in (Memory.DRAM, Memory.GB)}
    writes = {m: is_move & (program.target == m) for m in (Memory.DRAM, Memory.GB)}
    return Ledger(
        dram_read_bytes=int(size[reads[Memory.DRAM]].sum()),
        dram_write_bytes=int(size[writes[Memory.DRAM]].sum()),
        gb_read_bytes=int(size[reads[Memory.GB]].sum()),
        gb_write_bytes=int(size[writes[Memory.GB]].sum()),
        core_to_core_bytes=int(size[is_exchange].sum()),
        causes={m: _booked(program, reads[m] * 1 + writes[m] * 1) for m in reads},
    )


def _booked(program: Program, crossings: IntArray) -> dict[Cause, int]:
    """Bytes of every cause that occurs, each move counted as often as it crosses."""
    halo = np.where(program.cause == Cause.SPILL, 0, program.halo_bytes) * crossings
    rest = program.size_bytes * crossings - halo
    sums = {cause: int(rest[program.cause == cause].sum()) for cause in Cause}
    sums[Cause.HALO] += int(halo.sum())
    return {cause: total for cause, total in sums.items() if total}
