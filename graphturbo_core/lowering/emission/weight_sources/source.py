"""WeightSource: the two legs of a weight's path from DRAM into LBs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

from graphturbo_core.ir.boxes import Box, full_box
from graphturbo_core.lowering.emission.mover import Mover, Targets
from graphturbo_core.lowering.global_buffer.sites import Site
from graphturbo_core.lowering.instructions.code import Where
from graphturbo_core.lowering.stages.fetches import Fetch, whole_fetch
from graphturbo_core.lowering.stages.stage import Operand, Stage
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Cause, Memory

Held = dict[Box, int | None]
"""Source buffer of LBs, by box; None: LBs are filled from DRAM."""


class Wanted(NamedTuple):
    """Boxes of a weight, and the cores that need each; `where`: op and layer of the moves."""

    where: Where
    tensor: str
    boxes: Mapping[Box, Fetch]


def dram_site(plan: Plan, tensor: str) -> Site:
    """The site of a weight in DRAM."""
    shape = plan.semantics.graph.tensors[tensor].shape
    return Site(tensor, Memory.DRAM, full_box(shape), -1, Cause.WEIGHT_FIRST)


class WeightSource(ABC):
    """One path of weights into LBs."""

    def __init__(self, plan: Plan, mover: Mover) -> None:
        """Create the path; `mover` emits the instructions."""
        self.plan = plan
        self.mover = mover

    @abstractmethod
    def bring(self, wanted: Wanted) -> Held:
        """Emit the moves to the memory from which LBs are filled; returns its buffers."""

    def deliver(self, wanted: Wanted, held: Held, offset: int) -> dict[int, int]:
        """Fill LBs at this offset, one broadcast per box; returns the buffer per core."""
        found: dict[int, int] = {}
        for box, fetch in wanted.boxes.items():
            buffers = {
                core: self.mover.local((Memory.LB_WEIGHT, core, offset), wanted.tensor, part)
                for core, part in fetch.targets.items()
            }
            targets = Targets(buffers, len(fetch.needers[0]), fetch.alike)
            site = dram_site(self.plan, wanted.tensor)
            self.mover.broadcast(wanted.where, site, box, held[box], targets)
            found.update(buffers)
        return found

    def whole(self, stage: Stage, operand: Operand, box: Box) -> Mapping[Box, Fetch]:
        """Boxes and receivers of a weight loaded whole: by default all cores, one box."""
        del operand
        return {box: whole_fetch(stage, box)}
