"""Stages and their tilings -> WeightPart: a kernel's division of an LB's weight part."""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.errors import CapacityError
from graphturbo_core.lowering.addresses.allocator import ALIGNMENT_BYTES, aligned
from graphturbo_core.lowering.stages.stage import Stage
from graphturbo_core.lowering.tiling.stage_memo import StageMemo
from graphturbo_core.lowering.tiling.tiling import Tiling
from graphturbo_core.lowering.tiling.weight_space import weight_capacity
from graphturbo_core.products.plan import Plan
from graphturbo_core.units import bytes_beside


@dataclass(frozen=True, slots=True)
class WeightPart:
    """Division of an LB's weight part: bytes for tiles, then two regions for small weights.

    Streamed tiles use slots of those bytes in turn, resident ones their own size.
    """

    base: int
    tile_bytes: int
    slot_bytes: int
    small_bytes: int

    def small_offset(self, turn: int) -> int:
        """Offset of the small weights of a stage of this turn."""
        return self.base + self.tile_bytes + turn * self.small_bytes


def weight_part(
    plan: Plan, cut: tuple[tuple[Stage, ...], tuple[Tiling, ...]], small: int, alike: StageMemo
) -> WeightPart:
    """Returns slots of the kernel's largest weight tile; all must fit beside small weights.

    Raises:
        CapacityError: WEIGHT_TILE: they do not fit.
    """
    hardware = plan.hardware
    slot = max(
        (
            aligned(alike.weight_tile_bytes(stage, tiling))
            for stage, tiling in zip(*cut, strict=True)
            if not stage.is_on_cluster
        ),
        default=0,
    )
    capacity = weight_capacity(plan)
    slots = plan.feeding.tiles
    room = (capacity - slots * small) // ALIGNMENT_BYTES * ALIGNMENT_BYTES
    if slots * slot > room:
        demand, free = bytes_beside(slots * slot, room)
        raise CapacityError(
            "WEIGHT_TILE",
            f"{slots} weight tiles of {demand} together do not fit in {free} of LB",
            where=f"chip {hardware.name}",
            change="choose a chip with a larger weight part",
        )
    base = plan.budget.lb_data_bytes if hardware.is_pooled else 0
    return WeightPart(base, room, slot, small)
