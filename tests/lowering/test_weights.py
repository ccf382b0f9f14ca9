"""Weight items: what is fetched when, for whom; held tiles and streamed ones."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.lowering.tiling import LoopOrder, Tiling, operand_box, stage_tiles
from graphturbo_core.lowering.weight_items import item_gb_bytes, weight_items
from graphturbo_core.semantics.table import GraphSemantics
from tests.lowering.nets import STRATEGIES, chip, conv_nets, placements_of, plan_of
from tests.lowering.test_tiling import CONV, one_conv
from tests.strategies.samples import weighted

LEFT, RIGHT = (0, 32), (32, 64)
AREA = ((0, 3), (0, 3))
ALL = (0, 1, 2, 3)


def test_a_tile_of_weights_is_fetched_once_for_all_rows() -> None:
    """The case of `test_tiling`: columns, then K, then rows. Four items, each for two steps."""
    plan, placement = one_conv(64)
    (items,) = placement.items
    assert items is not None
    assert items.of_step == (0, 0, 1, 1, 2, 2, 3, 3)
    assert [item.step for item in items.items] == [0, 2, 4, 6]
    assert [dict(item.boxes) for item in items.items] == [
        {(columns, depth, *AREA): ALL} for columns in (LEFT, RIGHT) for depth in [(0, 56), (56, 64)]
    ]
    assert item_gb_bytes(plan, items) == 32 * 56 * 9 * 2


def test_rows_outermost_hold_tiles_where_slots_allow() -> None:
    """Four tiles of weights for each of two rows. Five slots hold all four, with one to fill; in
    four slots the fifth fetch would have to wait, so tiles are fetched again for the second row.
    """
    _, placement = one_conv(64)
    (stage,) = placement.stages
    tiling = Tiling((1, 1, 2, 1), 32, 56, LoopOrder.ROWS, is_held=True)
    steps = stage_tiles(stage, tiling)
    held = weight_items(stage, tiling, steps, 5)
    again = weight_items(stage, tiling, steps, 4)
    assert held is not None
    assert again is not None
    assert held.of_step == (0, 1, 2, 3, 0, 1, 2, 3)
    assert again.of_step == tuple(range(8))
    streamed = weight_items(stage, replace(tiling, is_held=False), steps, 5)
    assert streamed == again


def _moves(program: Program, kind: InstructionKind) -> list[tuple[int, int]]:
    """(bytes, cause) of the moves of weights of one kind."""
    rows = (program.kind == kind).nonzero()[0]
    return [(int(program.size_bytes[row]), int(program.cause[row])) for row in rows]


def test_moves_of_weights_by_hand() -> None:
    """Bias (128 bytes), then 32 x 56 x 9 x 2 = 32,256 and 32 x 8 x 9 x 2 = 4,608 for each half."""
    plan, _ = one_conv(64)
    program = lower(plan)
    sizes = [128, 32256, 4608, 32256, 4608]
    first = [(size, Cause.WEIGHT_FIRST) for size in sizes]
    assert _moves(program, InstructionKind.PREFETCH) == first
    assert _moves(program, InstructionKind.BROADCAST) == first
    broadcasts = (program.kind == InstructionKind.BROADCAST).nonzero()[0]
    targets = [program.access_at[row + 1] - program.access_at[row] - 1 for row in broadcasts]
    assert targets == [4] * 5
    assert (program.source[broadcasts] == Memory.GB).all()


@settings(max_examples=30)
@given(conv_nets(), st.sampled_from(STRATEGIES), st.sampled_from(["tiny", "generic-4x4"]))
def test_every_step_finds_its_weights(sem: GraphSemantics, strategy: str, name: str) -> None:
    try:
        placements = placements_of(plan_of(sem, strategy, chip(name)))
    except CapacityError:
        return
    for placement in placements:
        for stage, steps, items in zip(
            placement.stages, placement.tiles, placement.items, strict=True
        ):
            operand = stage.tile_weight()
            if operand is None or items is None:
                assert operand is items is None
                continue
            fetched = [item.step for item in items.items]
            assert fetched == sorted(set(fetched))
            for number, (step, item) in enumerate(zip(steps, items.of_step, strict=True)):
                assert items.items[item].step <= number
                for core, tile in step.items():
                    assert core in items.items[item].boxes[operand_box(stage, operand, tile)]
            for item in items.items:
                cores = [core for cores in item.boxes.values() for core in cores]
                assert len(cores) == len(set(cores)), "a slot holds one tile a core"


def test_a_small_convolution_needs_one_item() -> None:
    plan = plan_of(weighted(CONV.format(c=16)), "tvm", chip("generic-4x4"))
    (placement,) = placements_of(plan)
    (items,) = placement.items
    assert items is not None
    assert items.of_step == (0, 0, 0, 0)
    assert [dict(item.boxes) for item in items.items] == [{((0, 16), (0, 16), *AREA): ALL}]
