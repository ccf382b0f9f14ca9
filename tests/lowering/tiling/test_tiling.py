"""Shares, tiles and cuts of K: every element once, within the memories; one case by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.ir.boxes import Box, contains, extents
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.stage import Stage, tensor_bytes
from graphturbo_core.lowering.tiling.tiling import LoopOrder, Steps, operand_box
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.table import GraphSemantics
from tests.full import examples
from tests.lowering.identities import slices
from tests.lowering.nets import STRATEGIES, chip, conv_nets, placements_of, plan_of
from tests.semantics.models import semantics
from tests.strategies.samples import weighted


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


chips = st.sampled_from(["tiny", "generic-4x4", "stcp920", "stcp920-10mib"])


@settings(max_examples=examples(40))
@given(conv_nets(), st.sampled_from(STRATEGIES), chips)
def test_every_element_is_computed_by_one_tile(
    sem: GraphSemantics, strategy: str, name: str
) -> None:
    try:
        check_placements(plan_of(sem, strategy, chip(name)))
    except CapacityError:
        assert name == "tiny"


CONV = (
    "g (float[4,{c},16,16] x, float[{c},{c},3,3] w, float[{c}] wb) => (float[4,{c},16,16] y)"
    "{{ y = Conv <pads = [1,1,1,1]> (x, w, wb) }}"
)


def one_conv(channels: int, strategy: str = "graphturbo:lb") -> tuple[Plan, KernelPlacement]:
    """A convolution of four samples on the four cores of generic-4x4, one each."""
    plan = plan_of(weighted(CONV.format(c=channels)), strategy, chip("generic-4x4"))
    (placement,) = placements_of(plan)
    return plan, placement


def test_rows_are_cut_for_overlap() -> None:
    """16 channels: 16 * 16 * 9 * 2 = 4,608 bytes of weights, far below half of the 64 KiB: K and N
    stay whole. A core's 256 positions are 8 passes of 32 rows; in four tiles of 64 they still are.
    """
    _, placement = one_conv(16)
    (tiling,) = placement.tilings
    assert (tiling.parts, tiling.columns, tiling.reduced) == ((1, 1, 4, 1), 16, 0)
    rows = [(0, 4), (4, 8), (8, 12), (12, 16)]
    expected = [
        {core: ((core, core + 1), (0, 16), row, (0, 16)) for core in range(4)} for row in rows
    ]
    steps = [{core: tile.box for core, tile in step.items()} for step in placement.tiles[0]]
    assert steps == expected
    assert all(tile.reduce is None for step in placement.tiles[0] for tile in step.values())


def test_weights_too_large_for_a_slot_cut_columns_and_k() -> None:
    """64 channels: a column of K = 64 * 9 = 576 takes 1,152 bytes.

    The weight part has 65,536; twice the bias (128) leaves 65,280, a slot is half: 32,640. 28
    columns fit, less than the array's 32: 32 columns, and of K floor(32,640 * 64 / 36,864) = 56
    input channels. Two column tiles: two rows give the four tiles wanted. The data stays in LB,
    and the partial sums of 256 positions x 32 columns x 4 bytes, twice, are the staging buffer's
    65,536: weights go outermost, each tile meets both rows.
    """
    plan, placement = one_conv(64)
    (tiling,) = placement.tilings
    assert (tiling.parts, tiling.columns, tiling.reduced) == ((1, 1, 2, 1), 32, 56)
    assert tiling.order is LoopOrder.WEIGHTS
    found = [(step[0].box[1], step[0].reduce, step[0].box[2]) for step in placement.tiles[0]]
    assert found == [
        (columns, depth, rows)
        for columns in [(0, 32), (32, 64)]
        for depth in [(0, 56), (56, 64)]
        for rows in [(0, 8), (8, 16)]
    ]
    assert plan.hardware.staging_bytes == 2 * 256 * 32 * 4


def test_halo_of_a_share() -> None:
    """Two cores for one sample: each reads the row beyond its half, and the padding is no row."""
    two = replace(chip("generic-4x4"), cores=2)
    text = CONV.format(c=16).replace("[4,", "[1,").replace("16,16]", "10,16]")
    plan = plan_of(weighted(text), "graphturbo:lb", two)
    (placement,) = placements_of(plan)
    (stage,) = placement.stages
    assert {core: share[2] for core, share in stage.shares.items()} == {0: (0, 5), 1: (5, 10)}
    read = {core: box[2] for core, box in placement.residents["x"].boxes.items()}
    assert read == {0: (0, 6), 1: (4, 10)}


def test_a_product_with_a_batch_is_cut_between_its_products() -> None:
    """One core, an array of 32 rows: six products of 32 rows take a pass each, in any four tiles.

    One product of them is one pass, and two tiles of it were two: it stays whole. 64 rows are two
    passes either way.
    """
    cases = ((6, 32, (1, 4, 1, 1)), (1, 32, (1, 1, 1, 1)), (1, 64, (1, 1, 2, 1)))
    for heads, rows, parts in cases:
        text = f"""g (float[1,{heads},{rows},32] x, float[1,{heads},32,32] w)
          => (float[1,{heads},{rows},32] y) {{ y = MatMul (x, w) }}"""
        alone = replace(chip("generic-4x4"), cores=1, lb_data_bytes=2**20)
        (placement,) = placements_of(plan_of(semantics(text), "graphturbo", alone))
        assert [tiling.parts for tiling in placement.tilings] == [parts]
