"""Weight items: what is fetched when, for whom; held tiles and streamed ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.tiling.tiling import operand_box
from graphturbo_core.lowering.tiling.weight_items import WeightItem, item_gb_bytes
from graphturbo_core.products.plan import Residency
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.simulate import simulate
from tests.full import examples
from tests.lowering.counting import check_program
from tests.lowering.nets import STRATEGIES, chip, conv_nets, placements_of, plan_of, with_residency
from tests.lowering.small_plans import CONV, one_conv
from tests.strategies.samples import weighted

LARGE = (
    "g (float[4,48,64,64] x, float[48,48,3,3] w) => (float[4,48,64,64] y)"
    "{ y = Conv <pads = [1,1,1,1]> (x, w) }"
)
LEFT, RIGHT = (0, 32), (32, 64)
AREA = ((0, 3), (0, 3))
ALL = (0, 1, 2, 3)


def _needers(item: WeightItem) -> dict[Box, tuple[tuple[int, ...], ...]]:
    return {box: fetch.needers for box, fetch in item.boxes.items()}


def test_a_tile_of_weights_is_fetched_once_for_all_rows() -> None:
    """The case of `test_tiling`: columns, then K, then rows. Four items, each for two steps."""
    plan, placement = one_conv(64)
    (items,) = placement.items
    assert items is not None
    assert items.of_step == (0, 0, 1, 1, 2, 2, 3, 3)
    assert [item.step for item in items.items] == [0, 2, 4, 6]
    assert [_needers(item) for item in items.items] == [
        {(columns, depth, *AREA): (ALL,)}
        for columns in (LEFT, RIGHT)
        for depth in [(0, 56), (56, 64)]
    ]
    assert item_gb_bytes(plan, items) == 32 * 56 * 9 * 2


@pytest.mark.parametrize(
    ("residency", "from_dram", "from_gb"),
    [(Residency.LB, 1, 1), (Residency.GB, 1, 64), (Residency.STREAM, 64, 64)],
)
def test_each_residency_takes_its_own_path(
    residency: Residency, from_dram: int, from_gb: int
) -> None:
    """A core's sample of 48 x 64 x 64, 384 KiB, does not fit in 192 KiB and streams row by row.

    The weights, 48 * 48 * 9 * 2 = 41,472 bytes, are two tiles of 32 and 16 columns; all 64 rows
    need both. Resident in LB they come once; held in GB, once to there and 64 times to the cores;
    streamed, 64 times from DRAM. The plan itself chooses LB: the weight part has 64 KiB.
    """
    own = plan_of(weighted(LARGE), "tvm", chip("generic-4x4"))
    assert set(own.kernels[0].residency.values()) == {Residency.LB}
    program = lower(with_residency(own, residency))
    fetched = [size for size, _ in _moves(program, InstructionKind.PREFETCH)]
    sent = [size for size, _ in _moves(program, InstructionKind.BROADCAST)]
    assert fetched == [27648, 13824] * from_dram
    assert sent == [27648, 13824] * from_gb
    check_program(simulate(program))


def test_a_weight_too_large_for_its_place_is_streamed_with_a_note() -> None:
    """64 * 64 * 9 * 2 = 73,728 bytes: more than the 65,536 of the weight part."""
    plan = with_residency(one_conv(64)[0], Residency.LB)
    (placement,) = placements_of(plan)
    assert placement.demoted == ("w",)
    assert "streamed, as their place in LB was too small: 1 weights" in lower(plan).notes


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


@settings(max_examples=examples(30))
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
                    fetch = items.items[item].boxes[operand_box(stage, operand, tile)]
                    assert core in fetch.targets
            for item in items.items:
                cores = [core for fetch in item.boxes.values() for core in fetch.targets]
                assert len(cores) == len(set(cores)), "a slot holds one tile a core"


def test_a_small_convolution_needs_one_item() -> None:
    plan = plan_of(weighted(CONV.format(c=16)), "tvm", chip("generic-4x4"))
    (placement,) = placements_of(plan)
    (items,) = placement.items
    assert items is not None
    assert items.of_step == (0, 0, 0, 0)
    assert [_needers(item) for item in items.items] == [{((0, 16), (0, 16), *AREA): (ALL,)}]


SCALED = """
g (float[32,32] x, float[32] u, float[32] v, float[32] w) => (float[32,32] y) {
  a = Mul (x, u)
  b = Softmax (a)
  c = Mul (b, v)
  d = Softmax (c)
  y = Mul (d, w)
}"""


@pytest.mark.parametrize("level", ["order", "full"])
def test_stages_with_whole_weights_take_turns(level: str) -> None:
    """Of two that follow each other none waits for the other's bytes, whatever lies between."""
    program = lower(plan_of(weighted(SCALED), f"graphturbo:{level}", chip("generic-4x4")))
    table, names = program.buffers, program.tensors
    for memory in (Memory.LB_WEIGHT, Memory.GB):
        places = {
            name: {
                int(offset)
                for tensor, where, offset in zip(
                    table.tensor, table.memory, table.offset, strict=True
                )
                if names[tensor] == name and where == memory
            }
            for name in "vw"
        }
        assert [len(offsets) for offsets in places.values()] == [1, 1]
        assert places["v"] != places["w"]
