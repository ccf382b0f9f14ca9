"""Program -> the buffers with looked-up rows of a table, and their numbers of elements."""

from __future__ import annotations

import numpy as np

from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.products.arrays import int64, owners
from graphturbo_core.products.program import InstructionKind, IntArray, Memory, Program


def looked_up_elements(program: Program) -> IntArray:
    """Per buffer, elements of the largest result that is looked up in it; -1 for other buffers.

    Such a buffer is in LB's data part, has rows of a weight, and is read by lookups.
    """
    owner = owners(program.access_at)
    results = int64(program.result_hi) - program.result_lo
    tables = [_tables(program, number) for number in range(len(program.plan.semantics.graph.ops))]
    found = np.full(len(program.buffers.memory), -1, dtype=np.int64)
    is_asked = (program.kind[owner] == InstructionKind.COMPUTE) & ~program.access_write
    is_asked &= program.buffers.memory[program.access_buffer] == Memory.LB_DATA
    for access in np.flatnonzero(is_asked).tolist():
        row, buffer = owner[access], program.access_buffer[access]
        if program.tensors[program.access_tensor[access]] in tables[program.op[row]]:
            found[buffer] = max(found[buffer], results[row].prod())
    return found


def _tables(program: Program, number: int) -> frozenset[str]:
    """The weights that an op reads only by lookup."""
    sem = program.plan.semantics
    accesses = [
        access for reads in sem.by_op[sem.graph.ops[number].name].accesses for access in reads
    ]
    looked_up = {access.tensor for access in accesses if access.is_lookup}
    return frozenset(
        name
        for name in looked_up - {access.tensor for access in accesses if not access.is_lookup}
        if sem.graph.tensors[name].kind is TensorKind.WEIGHT
    )
