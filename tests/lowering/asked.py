"""What a move out of a table carries: the rows that the tile asks for, by the model alone."""

from __future__ import annotations

import numpy as np

from graphturbo_core.ir.boxes import Box, volume
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.products.program import InstructionKind, Memory, Program


def is_lookup(program: Program, row: int, tensor: str) -> bool:
    """Whether the move brings rows of a Gather's table of weights to a core's data part."""
    graph = program.plan.semantics.graph
    op = graph.ops[int(program.op[row])]
    is_table = op.op_type == "Gather" and op.inputs[0] == tensor
    is_weight = graph.tensors[tensor].kind is TensorKind.WEIGHT
    return is_table and is_weight and int(program.target[row]) == Memory.LB_DATA


def carried_elements(program: Program, row: int, tensor: str, box: Box) -> int:
    """An element for each of the result that the core computes in this step, at most the box."""
    if not is_lookup(program, row, tensor):
        return volume(box)
    core = program.engines[int(program.engine[row])].core
    cores = np.array([engine.core for engine in program.engines])[program.engine]
    is_mine = (program.kind == InstructionKind.COMPUTE) & (cores == core)
    is_mine &= (program.op == program.op[row]) & (program.kernel == program.kernel[row])
    (compute,) = np.flatnonzero(is_mine & (program.tile == program.tile[row]))
    sizes = program.result_hi[compute].astype(np.int64) - program.result_lo[compute]
    return min(volume(box), int(sizes.prod()))
