"""Shares, tiles and cuts of K: every element once, within the memories; one case by hand."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.lowering.tiling.tiling import LoopOrder
from graphturbo_core.semantics.table import GraphSemantics
from tests.full import examples
from tests.lowering.nets import STRATEGIES, chip, conv_nets, placements_of, plan_of
from tests.lowering.small_plans import CONV, one_conv
from tests.lowering.tiling.placements import (
    check_placements,
)
from tests.semantics.models import semantics
from tests.strategies.samples import weighted

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
