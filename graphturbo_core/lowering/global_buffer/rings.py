"""KernelPlacements -> GbRing of each kernel: slots of GB for streamed weights.

Whole kernels follow one another and use the same slots. Branches of a kernel run at the same time:
each has slots of its own, one branch above the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.errors import CapacityError
from graphturbo_core.lowering.addresses.allocator import ALIGNMENT_BYTES
from graphturbo_core.lowering.global_buffer.sites import GbRing
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.tiling.weight_items import item_gb_bytes
from graphturbo_core.lowering.tiling.weight_space import fetches_own, small_bytes
from graphturbo_core.products.branches import runs_with
from graphturbo_core.products.plan import Plan
from graphturbo_core.units import bytes_beside


def weight_rings(plan: Plan, placements: Sequence[KernelPlacement]) -> list[GbRing]:
    """The weight slots of each kernel at the bottom of GB.

    Raises:
        CapacityError: GB_FULL: GB is smaller than the slots.
    """
    common = _ring(plan, [each for each in placements if not each.kernel.branches])
    rings, base = [], 0
    at_once = runs_with(placement.kernel for placement in placements)
    for place, placement in enumerate(placements):
        ring = common
        if placement.kernel.branches:
            base = 0 if place == at_once[place][0] else base
            ring = replace(_ring(plan, [placement]), base=base)
            base = ring.end
        if ring.end > plan.hardware.gb_bytes:
            raise _without_room(plan, ring)
        rings.append(ring)
    return rings


def _ring(plan: Plan, placements: Iterable[KernelPlacement]) -> GbRing:
    slot, small, tiles = 0, 0, 0
    if not plan.hardware.has_gb:
        return GbRing(0, 0)
    for placement in placements:
        pairs = zip(placement.stages, placement.items, strict=True)
        for stage, items in (pair for pair in pairs if not fetches_own(plan, pair[0])):
            slot = max(slot, item_gb_bytes(plan, items) if items else 0)
            small = max(small, small_bytes(plan, stage))
        tiles = max(tiles, placement.cluster_ring_bytes)
    return GbRing(slot, small, tiles, plan.feeding.tiles)


def _without_room(plan: Plan, ring: GbRing) -> CapacityError:
    """The refusal of weight tiles, whose size does not depend on the batch."""
    demand, room = bytes_beside(ring.end, plan.hardware.gb_bytes)
    return CapacityError(
        "GB_FULL",
        f"{ring.slots} weight tiles need {demand}",
        where=f"GB of chip {plan.hardware.name} has {room}",
        change="choose a chip with a larger GB",
        at_any_batch=True,
    )


def rings_ahead(
    plan: Plan,
    placements: Sequence[KernelPlacement],
    rings: Sequence[GbRing],
    taken: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> list[GbRing]:
    """The rings with the free bytes of GB; equal for the pieces of a group, which may be copies.

    `taken`: per kernel the end of GB used from below, and the begin of the retained weights.
    Branches of a kernel divide the free bytes in proportion to their slots.
    """
    if plan.scheduling.has_fence or not plan.hardware.has_gb:
        return list(rings)
    free: dict[int, tuple[int, int]] = {}
    for placement, top, floor in zip(placements, *(each.tolist() for each in taken), strict=True):
        low, high = free.get(placement.kernel.group, (top, floor))
        free[placement.kernel.group] = max(top, low), min(floor, high)
    found = []
    for place, (first, last) in enumerate(runs_with(p.kernel for p in placements)):
        lo, hi = free[placements[place].kernel.group]
        lo, hi = _share(lo, max(lo, hi), rings[first : last + 1])[place - first]
        found.append(replace(rings[place], ahead_offset=lo, ahead_bytes=hi - lo))
    return found


def _share(lo: int, hi: int, rings: Sequence[GbRing]) -> list[tuple[int, int]]:
    """The part of [lo, hi) of each ring that runs at the same time; all of it for a single one."""
    if len(rings) == 1:
        return [(lo, hi)]
    total = max(1, sum(ring.slot_bytes for ring in rings))
    before = accumulate((ring.slot_bytes for ring in rings), initial=0)
    ends = [lo + (hi - lo) * size // total // ALIGNMENT_BYTES * ALIGNMENT_BYTES for size in before]
    return list(pairwise(ends))
