"""What must hold of the shares, tiles and buffers of any placed kernel."""

from __future__ import annotations

import numpy as np

from graphturbo_core.ir.boxes import Box, contains, extents
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.stage import Stage, tensor_bytes
from graphturbo_core.lowering.tiling.tiling import Steps, operand_box
from graphturbo_core.products.plan import Plan
from tests.lowering.identities import slices
from tests.lowering.nets import placements_of


def check_shares(stage: Stage) -> None:
    """The cores' shares partition the box that the kernel computes."""
    base = [lo for lo, _ in stage.box]
    count = np.zeros(extents(stage.box), dtype=np.int64)
    for share in stage.shares.values():
        assert contains(stage.box, share)
        count[slices(_moved(share, base))] += 1
    assert (count == 1).all()


def _moved(box: Box, base: list[int]) -> Box:
    return tuple((lo - by, hi - by) for (lo, hi), by in zip(box, base, strict=True))


def check_tiles(stage: Stage, steps: Steps) -> None:
    """The tiles of a core partition its share times the reduced axis; cuts of K come in order."""
    depth = stage.contraction.reduce_size if stage.contraction is not None else 1
    for core, share in stage.shares.items():
        base = [lo for lo, _ in share]
        summed = np.zeros(extents(share), dtype=np.int64)
        for step in steps:
            if core not in step:
                continue
            tile = step[core]
            assert contains(share, tile.box)
            lo, hi = tile.reduce or (0, depth)
            here = summed[slices(_moved(tile.box, base))]
            assert (here == lo).all()
            assert (lo == 0, hi == depth) == (tile.is_first, tile.is_last)
            here[...] = hi
        assert (summed == depth).all()


def check_limits(plan: Plan, placement: KernelPlacement) -> None:
    """Streamed tiles fit their pairs of buffers, weight tiles their slots, and these the LB."""
    chip_ = plan.hardware
    weights = placement.weights
    data_bytes = chip_.lb_data_bytes
    if chip_.is_pooled:
        data_bytes = weights.base
    weight_bytes = chip_.lb_data_bytes - weights.base if chip_.is_pooled else chip_.lb_weight_bytes
    assert weights.tile_bytes + 2 * weights.small_bytes <= weight_bytes
    for ring in placement.rings.values():
        assert ring.offset + 2 * ring.tile_bytes <= data_bytes
    for stage, steps in zip(placement.stages, placement.tiles, strict=True):
        tiles = [tile for step in steps for tile in step.values()]
        operand = stage.tile_weight()
        if operand is not None:
            assert 2 * weights.slot_bytes <= weights.tile_bytes
            boxes = [operand_box(stage, operand, tile) for tile in tiles]
            assert all(tensor_bytes(plan, operand.tensor, b) <= weights.slot_bytes for b in boxes)
        ring = placement.rings.get((stage.index, stage.output))
        if ring is not None:
            sizes = [tensor_bytes(plan, stage.output, tile.box) for tile in tiles]
            assert max(sizes) <= ring.tile_bytes
        check_streamed(plan, placement, stage, steps)


def check_streamed(plan: Plan, placement: KernelPlacement, stage: Stage, steps: Steps) -> None:
    """What all ops of a nest read of a streamed tensor for one tile fits one of its two buffers."""
    for operand in stage.operands:
        ring = placement.rings.get((stage.index, operand.tensor))
        if ring is None or operand.tensor == stage.output:
            continue
        same = [o for o in stage.operands if o.tensor == operand.tensor]
        for tile in (tile for step in steps for tile in step.values()):
            read = [operand_box(stage, o, tile) for o in same]
            corners = [
                (min(lo for lo, _ in axis), max(hi for _, hi in axis))
                for axis in zip(*read, strict=True)
            ]
            assert tensor_bytes(plan, operand.tensor, tuple(corners)) <= ring.tile_bytes


def check_placements(plan: Plan) -> None:
    for placement in placements_of(plan):
        for stage, steps in zip(placement.stages, placement.tiles, strict=True):
            check_shares(stage)
            check_tiles(stage, steps)
        check_limits(plan, placement)
