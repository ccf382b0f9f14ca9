"""Program -> how its engines and channels are numbered, and the channel of every buffer."""

from __future__ import annotations

import numpy as np

from graphturbo_core.lowering.instructions.code import Machine
from graphturbo_core.lowering.stages.classes import every_core
from graphturbo_core.lowering.team import Team
from graphturbo_core.products.arrays import int64
from graphturbo_core.products.program import IntArray, Memory, Program


def team_of(program: Program) -> Team:
    """The numbering of engines and channels where each core is simulated."""
    plan = program.plan
    return Team(Machine(plan.hardware, every_core(plan.hardware.cores), plan.clusters))


def ports(program: Program, team: Team) -> IntArray:
    """The channel of every buffer's memory."""
    memory, core = int64(program.buffers.memory), int64(program.buffers.core)
    machine, cluster = team.machine, team.cluster_of(core)
    far = np.where(memory == Memory.DRAM, machine.far(Memory.DRAM), machine.far(Memory.GB))
    own = np.where(memory >= Memory.GB, far, core % machine.hardware.cores)
    return int64(own + cluster * (machine.far(Memory.DRAM) + 1))
