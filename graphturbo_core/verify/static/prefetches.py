"""Program -> the moves that prefetch a weight into GB for a later kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.products.program import InstructionKind, Memory, Program


def prefetches_for_later(program: Program) -> NDArray[np.bool_]:
    """Per instruction, whether it is such a prefetch by the first kernel of a GB retention.

    Its op reads the weight and belongs to a later kernel of the retention.
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
    for retention in plan.stays:
        kernels = plan.kernels[retention.first + 1 : retention.last + 1]
        later = {name for kernel in kernels for name in kernel.ops}
        for row in fetches.get((retention.first, retention.weight), ()):
            op = ops[program.op[row]]
            found[row] |= op.name in later and retention.weight in op.inputs
    return found
