"""What is worked out once and kept is what each tile, box or stage gives by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.ir.boxes import Box, extents
from graphturbo_core.lowering.emission.costs import OpCosts, TileCost
from graphturbo_core.lowering.emission.emit import Common
from graphturbo_core.lowering.instructions.machine import Machine
from graphturbo_core.lowering.instructions.weight_causes import WeightMoves, weight_causes
from graphturbo_core.lowering.stages.classes import every_core
from graphturbo_core.lowering.stages.expected import expected_times, stage_load
from graphturbo_core.lowering.stages.stage import Cut, used_shares
from graphturbo_core.lowering.tiling.cutting import choose_tiling, grains
from graphturbo_core.lowering.tiling.stage_cuts import StageCuts
from graphturbo_core.lowering.tiling.stage_memo import StageMemo
from graphturbo_core.lowering.tiling.tile_sizes import TileSizes
from graphturbo_core.lowering.tiling.tiling import Tiling, stage_tiles
from graphturbo_core.lowering.tiling.weight_items import weight_items
from graphturbo_core.products.program import Cause
from graphturbo_core.semantics.access import Reads
from graphturbo_core.semantics.table import analyse
from graphturbo_core.semantics.work import is_work_by_extents, work_of
from tests.lowering.nets import chip, placements_of, plan_of
from tests.models import graph_of
from tests.semantics.models import graph_of as checked_graph_of
from tests.semantics.models import model
from tests.semantics.op_cases.all_cases import ALL_CASES as CASES
from tests.strategies.samples import weighted

LAYERS = """
g (float[8,64] x, float[64,64] w0, float[64,64] w1, float[64,64] w2, float[64,96] w3)
    => (float[8,96] y) {
  a = MatMul (x, w0) b = Relu (a) c = MatMul (b, w1) d = Relu (c) e = MatMul (d, w2) f = Relu (e)
  h = MatMul (f, w3) y = Relu (h)
}"""
"""The second and third layer differ by names alone: the first reads the input, the last is wide."""


def drawn_boxes(draw: Random, shape: tuple[int, ...]) -> tuple[Box, Box]:
    """Two boxes of the same extents, wherever they lie."""
    lengths = [draw.randint(0, size) for size in shape]
    one, other = (
        tuple(
            (lo, lo + length)
            for size, length in zip(shape, lengths, strict=True)
            for lo in (draw.randint(0, size - length),)
        )
        for _ in range(2)
    )
    return one, other


HALVED = "g (float[8] x) => (float[8] y) { y = Relu (x) }"


def test_kept_boxes_and_work_of_every_op() -> None:
    """Of two boxes of the same extents in turn, so that the second finds what the first left."""
    draw = Random(0)
    for case in CASES:
        sem = analyse(checked_graph_of(model(case.text, case.opset)))
        (semantics,) = sem.by_op.values()
        for index, shape in enumerate(semantics.output_shapes):
            reads = [(access, Reads(access.axes)) for access in semantics.accesses[index]]
            for one, other in (drawn_boxes(draw, shape) for _ in range(8)):
                for access, kept in reads:
                    for box in (one, other):
                        assert kept.box(box) == access.box(box), case
                if is_work_by_extents(semantics, index):
                    assert work_of(semantics, one, index) == work_of(semantics, other, index), case


def test_a_full_memory_of_intervals_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two: the third and the fifth clear them, and what was known is worked out again."""
    monkeypatch.setattr("graphturbo_core.semantics.access.KEPT_INTERVALS", 2)
    (read,) = next(iter(analyse(graph_of(HALVED)).by_op.values())).accesses[0]
    kept = Reads(read.axes)
    boxes = [((lo, lo + 1),) for lo in (0, 1, 2, 0, 3)]
    assert [kept.box(box) for box in boxes] == [read.box(box) for box in boxes]
    assert [len(known) for _, known in kept._axes] == [1]


def test_groups_that_a_box_touches_are_its_own_affair() -> None:
    """Groups of 4 channels: channels 0 to 4 are one product, 2 to 6 touch two groups."""
    text = "g (float[1,8,4,4] x, float[8,4,1,1] w) => (float[1,8,4,4] y) {y = Conv<group=2>(x, w)}"
    semantics = next(iter(analyse(graph_of(text)).by_op.values()))
    assert not is_work_by_extents(semantics)
    counts = [work_of(semantics, ((0, 1), c, (0, 4), (0, 4))).count for c in ((0, 4), (2, 6))]
    assert counts == [1, 2]


def test_what_edges_clip_is_counted_box_by_box() -> None:
    """Two zeros before 8 elements: of columns 0 to 4 two are read, of 4 to 8 four.

    No op that pads counts what it reads yet; one that did would.
    """
    text = "g (float[8] x) => (float[12] y) <int64[2] p = {2,2}> {y = Pad (x, p)}"
    (semantics,) = analyse(graph_of(text)).by_op.values()
    counting = replace(semantics, ops_per_element=0, ops_per_input=1)
    assert is_work_by_extents(semantics)
    assert not is_work_by_extents(counting)
    assert [work_of(counting, (c,)).vector_ops for c in ((0, 4), (4, 8))] == [2, 4]


SQUARE = "g (float[{0},{0}] a, float[{0},{0}] b) => (float[{0},{0}] x, float[{0},{0}] y)"


@pytest.mark.parametrize(
    ("size", "body"),
    [
        (44, "x = MatMul (a, b) y = MatMul (b, b)"),
        (
            40,
            """t = Transpose (a) u = Add (t, a) x = Add (u, b)
            v = Transpose (a) w = Add (v, b) y = Add (w, b)""",
        ),
    ],
)
def test_a_tiling_is_kept_by_what_streams_not_by_its_name(size: int, body: str) -> None:
    """Either operand in LB, both or none. Of the sums one reads `a` twice, the other `b`: what an
    operand is read for besides makes its tiles larger.
    """
    plan = plan_of(weighted(f"{SQUARE.format(size)} {{ {body} }}"), "tvm", chip("tiny"))
    alike, found = StageMemo(plan), set[Tiling]()
    for placement in placements_of(plan):
        (stage,) = placement.stages
        places = alike.places.of_kernel(placement.kernel, placement.stages)
        cuts = StageCuts(plan, placement.stages, grains(plan.rules)[0], alike, places)
        for in_lb, is_made_in_lb in product(((), ("a",), ("b",), ("a", "b")), (True, False)):
            cut = cuts.cut(stage, in_lb, is_made_in_lb)
            found.add(cut.tiling)
            assert cut.tiling == choose_tiling(plan, stage, cut.space)
    assert len(found) > 2


def test_costs_are_kept_by_kind_and_output() -> None:
    """Two ReLUs share theirs; a tangent of the same shape, and each output of a pool, do not."""
    text = """g (float[1,4,8,8] x) => (float[1,4,8,8] y, float[1,4,8,8] z, int64[1,4,8,8] i) {
      o = Neg (x) a = Relu (o) b = Relu (a) c = Tanh (b)
      y = Neg (c) z, i = MaxPool<kernel_shape=[1,1]> (a)
    }"""
    plan = plan_of(weighted(text), "layerwise", chip("tiny"))
    common = Common(plan, Machine(plan.hardware, every_core(plan.hardware.cores)), {})
    _, first, second, tangent, _, pool = plan.semantics.graph.ops
    assert common.costs(first, 0) is common.costs(second, 0)
    kept = [common.costs(op, 0) for op in (first, tangent, pool)] + [common.costs(pool, 1)]
    assert len(set(map(id, kept))) == 4


def test_costs_are_those_of_the_work() -> None:
    """A max pool of 3 x 3 at the edge and inside: nine comparisons an element, padding too."""
    text = """g (float[1,4,8,8] x) => (float[1,4,8,8] y)
      {y = MaxPool<kernel_shape=[3,3], pads=[1,1,1,1]> (x)}"""
    plan = plan_of(analyse(graph_of(text)), "layerwise", chip("tiny"))
    op = plan.semantics.graph.ops[0].name
    costs, lanes = OpCosts(plan, op, 0), plan.hardware.peak_vector_per_cycle("fp16")
    for rows in ((0, 2), (3, 5), (6, 8)):
        operations = 4 * 2 * 8 * 9
        box = ((0, 1), (0, 4), rows, (0, 8))
        cycles = -(-operations // lanes)
        assert costs.of(box, extents(box), None) == TileCost(
            EngineKind.VECTOR, cycles, 0, operations
        )


def test_cuts_of_k_cost_what_their_length_says() -> None:
    """A whole product of 8 x 64 x 64 has 32,768 MACs, a quarter of K 8,192 wherever it lies."""
    plan = plan_of(weighted(LAYERS), "layerwise", chip("tiny"))
    costs = OpCosts(plan, plan.semantics.graph.ops[0].name, 0)
    box = ((0, 8), (0, 64))
    found = [costs.of(box, extents(box), cut).macs for cut in (None, (0, 16), (48, 64), (0, 64))]
    assert found == [32768, 8192, 8192, 32768]


def test_what_a_stage_takes_is_kept_by_kind_and_cut() -> None:
    """Two ReLUs of a kind take the same; half of one's rows, and a tangent, do not."""
    text = """g (float[64,64] x) => (float[64,64] y)
      { o = Neg (x) a = Relu (o) b = Relu (a) y = Tanh (b) }"""
    plan = plan_of(weighted(text), "layerwise", chip("generic-4x4"))
    stages = [stage for placement in placements_of(plan) for stage in placement.stages]
    (low, high), *other = stages[1].box
    box = ((low, (low + high) // 2), *other)
    half = replace(stages[1], box=box, shares=used_shares(Cut(stages[1].binding, box)))
    alike, ends = StageMemo(plan), []
    for stage in (*stages, half, *stages):
        alone = [replace(stage, index=0)]
        ends.append(alike.expected(alone)[0][1])
        assert alike.expected(alone) == expected_times(alone, [stage_load(plan, stage)])
    assert ends[1] == ends[2] == 2 * ends[4]
    assert ends[3] > ends[2]


@pytest.mark.parametrize("strategy", ["layerwise", "tvm", "graphturbo"])
def test_stages_that_are_alike_share_their_lists(strategy: str) -> None:
    plan = plan_of(weighted(LAYERS), strategy, chip("tiny"))
    placements = placements_of(plan)
    alike = StageMemo(plan)
    products = []
    for placement in placements:
        pairs = zip(placement.stages, placement.tilings, placement.tiles, strict=True)
        for (stage, tiling, tiles), items in zip(pairs, placement.items, strict=True):
            assert tiles == stage_tiles(stage, tiling) == alike.tiles(stage, tiling)
            weight = stage.tile_weight()
            if weight is None:
                assert items is None
                continue
            residency = placement.kernel.residency.get(weight.tensor)
            room = residency, placement.weights.tile_bytes
            assert items == weight_items(plan, stage, tiles, room)
            size = TileSizes(plan, stage, tiling).read_bytes((weight,))
            assert alike.weight_tile_bytes(stage, tiling) == size
            products.append((tiles, items))
    _, (one, of_one), (other, of_other), (wide, _) = products
    assert one is other and of_one is not None and of_other is not None
    assert of_one.items is of_other.items
    assert [of_one.operand.tensor, of_other.operand.tensor] == ["w1", "w2"]
    assert wide is not one


def again(boxes: list[Box], tensors: Sequence[int] = (), sources: Sequence[int] = ()) -> list[bool]:
    """Which moves of these boxes fetch what was fetched before; of one weight, unless given."""
    count = len(boxes)
    corners = np.array(boxes, dtype=np.int32).reshape(count, -1, 2)
    sizes = (corners[:, :, 1] - corners[:, :, 0]).prod(axis=1).astype(np.int64)
    moved = WeightMoves(
        cause=np.full(count, Cause.WEIGHT_FIRST, dtype=np.int8), size_bytes=sizes,
        cores=np.ones(count, dtype=np.int32),
        source=np.array(sources or [0] * count, dtype=np.int64),
        tensor=np.array(tensors or [0] * count, dtype=np.int32),
        boxes=(corners[:, :, 0], corners[:, :, 1]), element_bytes=np.ones(3, dtype=np.int64),
    )  # fmt: skip
    return (weight_causes(moved) == Cause.WEIGHT_AGAIN).tolist()


@given(
    st.lists(
        st.tuples(*[st.tuples(st.integers(0, 4), st.integers(1, 3)) for _ in range(2)]),
        min_size=1, max_size=8,
    )
)  # fmt: skip
def test_what_earlier_boxes_cover_is_fetched_again(
    drawn: list[tuple[tuple[int, int], ...]],
) -> None:
    """By element: a box is fetched again where every one of its elements was brought before."""
    boxes = [tuple((lo, lo + length) for lo, length in box) for box in drawn]
    brought: set[tuple[int, int]] = set()
    expected = []
    for (top, bottom), (left, right) in boxes:
        elements = {(row, column) for row in range(top, bottom) for column in range(left, right)}
        expected.append(elements <= brought)
        brought |= elements
    assert again(boxes) == expected


SPANS = st.tuples(st.integers(0, 3), st.integers(1, 2))


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), SPANS, SPANS), min_size=1, max_size=10)
)
def test_tensors_and_memories_are_booked_apart(
    drawn: list[tuple[int, int, tuple[int, int], tuple[int, int]]],
) -> None:
    """All moves at once are booked as those of each tensor from each memory alone."""
    boxes: list[Box] = [tuple((lo, lo + size) for lo, size in spans) for _, _, *spans in drawn]
    tensors, sources = [each[0] for each in drawn], [each[1] for each in drawn]
    found = again(boxes, tensors, sources)
    for pair in set(zip(tensors, sources, strict=True)):
        rows = [row for row, each in enumerate(drawn) if each[:2] == pair]
        assert [found[row] for row in rows] == again([boxes[row] for row in rows])


def test_tiles_of_a_grid_are_fetched_first_once() -> None:
    """Four tiles that fill one cell each, then the first of them."""
    tiles = [(rows, columns) for rows in ((0, 2), (2, 3)) for columns in ((0, 4), (4, 5))]
    assert again([*tiles, tiles[0]]) == [False] * 4 + [True]
