"""Bytes of the largest tiles by axes are those of the tiles listed one by one."""

from __future__ import annotations

from functools import reduce
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.ir.boxes import Box, hull
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.stage import Operand, Stage
from graphturbo_core.lowering.tiling import tile_sizes
from graphturbo_core.lowering.tiling.tiling import (
    Tile,
    Tiling,
    compute_count,
    operand_box,
    stage_tiles,
    tile_count,
)
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.table import GraphSemantics, analyse
from tests.full import examples
from tests.lowering.nets import STRATEGIES, chip, conv_nets, placements_of, plan_of, small_model
from tests.models import graph_of
from tests.strategies.samples import weighted

PRODUCT = (
    "g (float[24,16] x, float[16,40] w) => (float[24,40] y) { a = MatMul (x, w) y = Tanh (a) }"
)
SQUARE = "g (float[24,24] x) => (float[24,24] y) { y = MatMul (x, x) }"
TURNED = "g (float[24,24] x) => (float[24,24] y) { t = Transpose (x) y = Add (x, t) }"
GRID = "g (float[1,1,9,9] x, float[1,7,6,2] n) => (float[1,1,7,6] y) { y = GridSample (x, n) }"
JOINED = "g (float[12,8] x) => (float[24,8] y) { y = Concat<axis=0> (x, x) }"
MANY = """
g (float[5,8] a, float[1,8] b, float[9,8] c, float[3,8] d) => (float[18,8] y) {
  y = Concat<axis=0> (a, b, c, d)
}"""
STRIDED = """
g (float[40,8] x) => (float[11,8] y)
  <int64[1] b = {5}, int64[1] e = {38}, int64[1] a = {0}, int64[1] s = {3}> {
  y = Slice (x, b, e, a, s)
}"""
TABLE = "g (float[50,8] w, int64[12] i) => (float[12,8] y) { y = Gather (w, i) }"
WINDOWS = """
g (float[1,4,21,17] x) => (float[1,4,11,9] y) {
  y = MaxPool<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]> (x)
}"""
SLANTED = "g (float[21,8] x) => (float[8,21] y) <int64[2] s = {8,21}> { y = Reshape (x, s) }"
TEXTS = (PRODUCT, SQUARE, TURNED, GRID, JOINED, MANY, STRIDED, TABLE, WINDOWS, SLANTED)


def _bytes(plan: Plan, tensor: str, box: Box) -> int:
    """Dense, axis 1 of images in whole multiples of the chip's channel padding."""
    known = plan.semantics.graph.tensors[tensor]
    sizes = [hi - lo for lo, hi in box]
    padding = plan.hardware.channel_padding
    if len(sizes) > 2 and known.kind.name != "WEIGHT" and all(sizes):
        sizes[1] = -(-sizes[1] // padding) * padding
    return prod(sizes) * (2 if known.dtype.startswith("float") else 4)


def _fetched(plan: Plan, stage: Stage, readers: list[Operand], tile: Tile) -> int:
    box = reduce(hull, (operand_box(stage, operand, tile) for operand in readers))
    size = _bytes(plan, readers[0].tensor, box)
    if len(readers) > 1 or not readers[0].is_lookup:
        return size
    return min(size, prod(hi - lo for lo, hi in tile.box) * 2)


def _check(plan: Plan, stage: Stage, tiling: Tiling) -> None:
    tiles = [tile for step in stage_tiles(stage, tiling) for tile in step.values()]
    assert len(tiles) == tile_count(stage, tiling)
    computes = sum(len(stage.ops) if tile.is_last else 1 for tile in tiles)
    assert computes == compute_count(stage, tiling)
    output = max(_bytes(plan, stage.output, tile.box) for tile in tiles)
    sizes = tile_sizes.TileSizes(plan, stage, tiling)
    assert sizes.output_bytes() == output
    for tensor in {operand.tensor for operand in stage.operands}:
        readers = [operand for operand in stage.operands if operand.tensor == tensor]
        largest = max(_fetched(plan, stage, readers, tile) for tile in tiles)
        assert sizes.read_bytes(readers) == largest, tensor


def _check_all(plan: Plan, placements: list[KernelPlacement]) -> None:
    for placement in placements:
        for stage, tiling in zip(placement.stages, placement.tilings, strict=True):
            _check(plan, stage, tiling)


@settings(max_examples=examples(15), deadline=None)
@given(conv_nets(), st.sampled_from(STRATEGIES))
def test_of_small_nets(net: GraphSemantics, strategy: str) -> None:
    plan = plan_of(net, strategy, chip("tiny"))
    _check_all(plan, placements_of(plan))


@pytest.mark.parametrize("name", ["tiny", "stcp920", "goya"])
def test_of_a_small_mobilenet(name: str) -> None:
    plan = plan_of(small_model("mobilenet"), "graphturbo", chip(name))
    _check_all(plan, placements_of(plan))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("parts", [(1, 1), (3, 2), (5, 7), (8, 1)])
def test_of_any_grid(text: str, parts: tuple[int, int]) -> None:
    """The last two axes in so many parts, though lowering might not cut them so."""
    sem = weighted(text) if " w)" in text or " w," in text else analyse(graph_of(text))
    plan = plan_of(sem, "tvm", chip("tiny"))
    for placement in placements_of(plan):
        for stage, tiling in zip(placement.stages, placement.tilings, strict=True):
            rank = len(stage.box)
            grid = [1] * max(0, rank - 2) + list(parts[:rank])
            if tiling.columns and stage.contraction is not None:
                grid[stage.contraction.n_axis] = 1
            cut = Tiling(tuple(grid[:rank]), tiling.columns, tiling.reduced, tiling.order)
            _check(plan, stage, cut)


def test_what_goes_by_axes_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products, windows and elementwise ops need no list of tiles."""

    def refused(*_: object) -> int:
        raise AssertionError("tiles are listed")

    monkeypatch.setattr(tile_sizes, "stage_tiles", refused)
    for sem in (weighted(PRODUCT), analyse(graph_of(WINDOWS))):
        placements_of(plan_of(sem, "graphturbo", chip("tiny")))
