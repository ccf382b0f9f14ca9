"""Which moves bring a weight to GB for a kernel to come."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.lowering.program import InstructionKind, Memory, Program


def early_fetches(program: Program) -> NDArray[np.bool_]:
    """Per instruction: a prefetch into GB by the first kernel of a stay, for an op of a later one.

    That op reads the weight, and its kernel is one of those of the stay.
    """
    plan, first = program.plan, program.access_at[:-1]
    ops = plan.semantics.graph.ops
    tensor = program.buffers.tensor[program.access_buffer[first]]
    is_prefetch = (program.kind == InstructionKind.PREFETCH) & (program.target == Memory.GB)
    found = np.zeros(program.size, dtype=np.bool_)
    for stay in plan.stays:
        later = {name for own in plan.kernels[stay.first + 1 : stay.last + 1] for name in own.ops}
        readers = [
            place for place, op in enumerate(ops) if op.name in later and stay.weight in op.inputs
        ]
        is_own = is_prefetch & (program.kernel == stay.first)
        is_own &= tensor == program.tensors.index(stay.weight)
        found |= is_own & np.isin(program.op, readers)
    return found
