"""Program -> rows and accesses that the checks of claims use."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.lowering.box_bytes import box_bytes
from graphturbo_core.products.arrays import owners
from graphturbo_core.products.program import InstructionKind, IntArray, Memory, Program

Claim = tuple[int, str, str]
"""A row, the rule that it breaks, and a text."""
Flags = NDArray[np.bool_]
BEYOND_LB = (Memory.GB, Memory.DRAM)
"""Memories beyond LB."""


def first_claim(
    is_bad: Flags, rows: IntArray, rule: str, what: Callable[[int], str]
) -> Claim | None:
    """The first row that breaks a rule; None if no row does."""
    if not is_bad.any():
        return None
    at = int(is_bad.argmax())
    return int(rows[at]), rule, what(at)


def moves_of(program: Program) -> IntArray:
    """Rows of all moves."""
    return np.flatnonzero(program.kind != InstructionKind.COMPUTE)


def ends_of(program: Program) -> tuple[IntArray, IntArray]:
    """Per move, the access that it reads, and the first one that it writes."""
    owner = owners(program.access_at)
    accesses = np.arange(len(owner))
    read, write = np.zeros((2, program.size), dtype=np.int64)
    is_write = program.access_write
    read[owner[~is_write]] = accesses[~is_write]
    write[owner[is_write][::-1]] = accesses[is_write][::-1]
    moves = moves_of(program)
    return read[moves], write[moves]


def access_bytes(program: Program, access: IntArray) -> IntArray:
    """Bytes of the boxes of these accesses."""
    tensor = program.buffers.tensor[program.access_buffer[access]]
    return box_bytes(program, tensor, program.access_lo[access], program.access_hi[access])
