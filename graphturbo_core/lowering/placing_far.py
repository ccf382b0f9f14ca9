"""Plan, stages -> PlacedKernels, FarMemory: LB, then GB and DRAM, twice if GB has no room."""

from __future__ import annotations

from collections.abc import Sequence

from graphturbo_core.lowering.chip_numbering import ChipNumbering, place_clusters_far
from graphturbo_core.lowering.emission.setting import Setting
from graphturbo_core.lowering.global_buffer.far_memory import FarMemory
from graphturbo_core.lowering.global_buffer.fixed import check_fixed
from graphturbo_core.lowering.local_buffer.places import Places
from graphturbo_core.lowering.placing import PlacedKernel, PlacingLimit, place_clusters
from graphturbo_core.lowering.stages.stage import Stage
from graphturbo_core.lowering.tiling.expected_places import Spilled
from graphturbo_core.products.plan import Plan


def place_memories(
    plan: Plan,
    stages: list[tuple[Stage, ...]],
    limit: PlacingLimit,
    places: Places,
    numbering: ChipNumbering,
) -> tuple[list[PlacedKernel], FarMemory]:
    """Returns the kernels with their tiles, and the division of GB and DRAM.

    If GB has no room for some tensors, tiles are chosen once more with these tensors in DRAM: a
    stage's loop order depends on the memories of its operands.

    Raises:
        CapacityError: as `place_clusters`, `place_far` and `check_fixed`.
    """
    spilled: Spilled = frozenset()
    while True:
        placed = place_clusters(plan, stages, limit, places, spilled)
        placements = [each.placement for each in placed]
        far = place_clusters_far(plan, placements, numbering)
        if spilled or not far.spilled:
            check_fixed(plan, placements, far)
            return placed, far
        spilled = frozenset(far.spilled)


def settings_of(placed: Sequence[PlacedKernel], far: FarMemory) -> list[Setting]:
    """What the code of each kernel is made from."""
    return [
        Setting(each.placement, around, each.usable(may_reorder=not around.has_scratch))
        for each, around in zip(placed, far.environments, strict=True)
    ]
