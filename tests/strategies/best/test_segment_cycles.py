"""The closed form by hand: overflow of LB, weights that remain, refetches; splits per segment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.strategies.best.segment_cycles import Estimate, SegmentCycles, Split
from graphturbo_core.strategies.best.segments import segments_of
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
