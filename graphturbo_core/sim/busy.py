"""Program -> busy cycles of the engines of all cores, also those that others stand for."""

from __future__ import annotations

import numpy as np

from graphturbo_core.products.arrays import owners
from graphturbo_core.products.program import InstructionKind, IntArray, Program


def busy_cycles(program: Program) -> IntArray:
    """Per instruction: cycles that it keeps engines busy, summed over the cores it stands for.

    A move of a core that stands for others holds its engine until all of them are through a port
    which they share; each of their engines is busy as long as its own move takes alone.
    """
    engine_cores = np.array([engine.cores for engine in program.engines], np.int64)
    held = program.hold_cycles * engine_cores[program.engine]
    chip, owner = program.plan.hardware, owners(program.channel_at)
    bandwidth = np.array([channel.bandwidth for channel in program.channels], np.int64)
    size = (program.size_bytes // program.cores)[owner]
    cycles = -(-size * chip.clock_hz // bandwidth[program.channel])
    alone = np.zeros(program.size, np.int64)
    np.maximum.at(alone, owner, cycles)
    is_move = program.kind != InstructionKind.COMPUTE
    return np.where(is_move, np.minimum(program.cores * alone, held), held)
