"""The closed form by hand: overflow of LB, weights that remain, refetches; splits per segment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.strategies.best.segment_cycles import Estimate, SegmentCycles, Split
from graphturbo_core.strategies.best.segments import segments_of
from graphturbo_core.strategies.plus.piece_work import piece_work
from graphturbo_core.strategies.plus.second_axis import axes_of
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import SubGraph
from tests.strategies.chains import POINTWISE, feed_forward
from tests.strategies.plus.plans import made
from tests.strategies.samples import hardware, layers_of

CHIP = hardware()
LAUNCH = CHIP.launch_cycles + CHIP.barrier_cycles


def dram(size_bytes: int) -> int:
    return CHIP.transfer_cycles(size_bytes, CHIP.dram_bandwidth)


def pointwise(**changes: int) -> tuple[Target, SubGraph]:
    target, graph, _ = made(POINTWISE)
    return replace(target, hardware=replace(CHIP, **changes)), SubGraph(graph, (0, 1))


def test_a_piece_that_fits_moves_its_inputs_results_and_weights() -> None:
    """x and z 4,096 bytes each cross DRAM, both weights 256 bytes; nothing else takes as long."""
    target, part = pointwise()
    assert SegmentCycles(target)(Split(part)) == Estimate(
        LAUNCH + dram(2 * 4096) + dram(512), 0, dram(2 * 4096) + dram(512)
    )


def test_weights_that_fit_gb_are_fetched_once_by_all_pieces() -> None:
    target, part = pointwise()
    four = Split(part, ((axes_of(part)[0], 4),))
    found = SegmentCycles(target)(four)
    assert found == Estimate(
        4 * (LAUNCH + dram(2 * 1024)) + dram(512), 0, 4 * dram(2 * 1024) + dram(512)
    )


def test_without_room_in_gb_each_piece_fetches_its_weights() -> None:
    target, part = pointwise(gb_bytes=0)
    four = Split(part, ((axes_of(part)[0], 4),))
    assert SegmentCycles(target)(four).cycles == 4 * (LAUNCH + dram(2 * 1024 + 512))


def test_overflow_waits_in_gb_or_is_moved_twice_through_dram() -> None:
    """Live are 12,288 bytes at both layers; nothing more overflows at the second one."""
    near, far = (pointwise(lb_data_bytes=1_024, gb_bytes=size) for size in (2**23, 0))
    capacity = near[0].budget.lb_data_bytes * CHIP.cores
    over = 2 * (12_288 - capacity)
    assert 0 < capacity < 12_288
    fast, slow = (SegmentCycles(target)(Split(part)) for target, part in (near, far))
    assert fast.overflow_class == slow.overflow_class > 0
    assert fast.cycles == LAUNCH + dram(2 * 4096) + dram(512)
    assert slow.cycles == LAUNCH + dram(2 * 4096 + over) + dram(512)


def looked_up(
    rows: int, tokens: int = 4, more: str = "", more_type: str = ""
) -> tuple[Target, SubGraph]:
    """16 times `tokens` of the rows of a table."""
    target, graph, _ = made(
        f"g (int64[16,{tokens}] i, float[{rows},16] w) => (float[16,{tokens},16] z{more_type})"
        f"{{ e = Gather (w, i) z = Relu (e) {more} }}"
    )
    return target, SubGraph(graph, (0,))


@pytest.mark.parametrize(("rows", "elements"), [(1_000, 64 * 16), (32, 32 * 16)])
def test_of_a_table_an_element_per_looked_up_element_is_read(rows: int, elements: int) -> None:
    """64 of 1,000 rows, each by one piece; of 32 rows, no more than all."""
    target, part = looked_up(rows)
    for pieces, own in ((1, elements), (4, 16 * 16), (16, 4 * 16)):
        split = Split(part, ((axes_of(part)[0], pieces),) if pieces > 1 else ())
        work = piece_work(target, split.section, split.section.middle)
        assert work.weights == {"w": min(own, elements)}
        assert work.weight_bytes(target, pieces) == 2 * elements
    whole = SegmentCycles(target)(Split(part)).dram_cycles
    indices = 64 * target.element_bytes["i"]
    assert whole == dram(indices + 2 * 64 * 16) + dram(2 * elements)


def test_a_table_that_is_read_in_another_way_too_is_read_whole() -> None:
    target, part = looked_up(1_000, more="r = Relu (w)", more_type=", float[1000,16] r")
    assert piece_work(target, Split(part).section, 0).weights == {"w": 16_000}


def test_row_tiles_of_a_layer_that_overflows_fetch_no_table_again() -> None:
    """512 rows do not fit LB: each tile fetches its own, and what overflows is moved twice."""
    target, part = looked_up(1_000, tokens=32)
    tight = replace(CHIP, lb_data_bytes=1_024, lb_weight_bytes=16, gb_bytes=0)
    target = replace(target, hardware=tight)
    indices, result = 512 * target.element_bytes["i"], 2 * 512 * 16
    over = indices + result - target.budget.lb_data_bytes * CHIP.cores
    found = SegmentCycles(target)(Split(part))
    assert found.overflow_class > 0
    assert found.dram_cycles == dram(indices + result + 2 * over) + dram(result)


@pytest.mark.parametrize(("launch_cycles", "counts"), [(0, [1, 2, 2, 2]), (2_000, [1])])
def test_splits_that_cannot_gain_are_not_priced(launch_cycles: int, counts: list[int]) -> None:
    """More pieces than one that fits; launches that take longer than one that fits."""
    target, part = pointwise(launch_cycles=launch_cycles, barrier_cycles=0)
    found = segments_of(part.graph, SegmentCycles(target))
    whole = next(each for each in found if each.last == 2)
    assert [each.cut.pieces for each in whole.options if not each.cut.further] == counts


def test_segments_are_runs_of_blocks_and_single_layers() -> None:
    """Four equal layers of a chain, each a block, and all runs of up to four of them."""
    text = """g (float[8,16] x, float[16,16] v, float[16,16] w) => (float[8,16] z)
    { a = MatMul (x, w) b = MatMul (a, v) c = MatMul (b, w) z = MatMul (c, v) }"""
    graph = layers_of(text)
    target = made(text)[0]
    found = segments_of(graph, SegmentCycles(target))
    assert [(each.first, each.last) for each in found] == [
        (first, last) for first in range(4) for last in range(first + 1, 5)
    ]
    assert all(each.options[0].cut.pieces == 1 for each in found)
    assert all(option.is_of_blocks for each in found for option in each.options)


def test_equal_segments_have_equal_estimates() -> None:
    text = feed_forward(3072)
    target, graph, _ = made(text)
    first, second = (segments_of(graph, SegmentCycles(target)) for _ in range(2))
    assert first == second
