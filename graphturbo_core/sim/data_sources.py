"""Program -> DataSource of every instruction: where the data come from that engines wait for."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.products.arrays import int64
from graphturbo_core.products.program import InstructionKind, IntArray, Memory, Program


class DataSource(IntEnum):
    """Where data come from: an engine computes them, or a move brings them.

    DRAM: one end of the move is DRAM. GB: one end is GB, none is DRAM. LB: from LB to LB.
    """

    MATRIX = 0
    VECTOR = 1
    DRAM = 2
    GB = 3
    LB = 4


def data_sources(program: Program) -> IntArray:
    """The DataSource of every instruction."""
    is_matrix = np.array([engine.kind is EngineKind.MATRIX for engine in program.engines])
    computed = np.where(is_matrix[program.engine], DataSource.MATRIX, DataSource.VECTOR)
    farther = np.maximum(program.source, program.target)
    moved = np.select(
        [farther == Memory.DRAM, farther == Memory.GB],
        [DataSource.DRAM, DataSource.GB],
        DataSource.LB,
    )
    return int64(np.where(program.kind == InstructionKind.COMPUTE, computed, moved))
