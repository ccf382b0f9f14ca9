"""Which moves bring a weight to GB for a kernel to come."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.products.program import InstructionKind, Memory, Program


def early_fetches(program: Program) -> NDArray[np.bool_]:
    """Per instruction: a prefetch into GB by the first kernel of a stay, for an op of a later one.

    That op reads the weight, and its kernel is one of those of the stay.
    """
    plan, first = program.plan, program.access_at[:-1]
    found = np.zeros(program.size, dtype=np.bool_)
    if not plan.stays:
        return found
    tensor = program.buffers.tensor[program.access_buffer[first]]
    is_prefetch = (program.kind == InstructionKind.PREFETCH) & (program.target == Memory.GB)
    fetches: dict[tuple[int, str], list[int]] = {}
    for row in np.flatnonzero(is_prefetch).tolist():
        key = int(program.kernel[row]), program.tensors[tensor[row]]
        fetches.setdefault(key, []).append(row)
    ops = plan.semantics.graph.ops
    for stay in plan.stays:
        later = {name for own in plan.kernels[stay.first + 1 : stay.last + 1] for name in own.ops}
        for row in fetches.get((stay.first, stay.weight), ()):
            op = ops[program.op[row]]
            found[row] |= op.name in later and stay.weight in op.inputs
    return found
