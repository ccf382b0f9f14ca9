"""Stages and blocks: which layers are named together, from paths, from shapes, or evenly."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.report.overview.blocks import LONGEST, MOST_BLOCKS, MOST_ROWS, Block, blocks
from graphturbo_core.report.rows.partition.stages import (
    MOST_STAGES,
    ModelStage,
    fewer,
    stages,
    title_of,
)
from graphturbo_core.semantics.table import analyse
from graphturbo_core.strategies.layers.relay import relay_layers
from tests.data.exports import exported
from tests.models import imported
from tests.report.overview.reports import report_of

Shapes = Sequence[tuple[int, ...]]


def named(*runs: tuple[str, int]) -> list[str]:
    """So many names below each path: `a/op0`, `a/op1`, …"""
    return [f"{path}op{n}" for path, count in runs for n in range(count)]


def found(names: Sequence[str], shapes: Shapes | None = None) -> list[tuple[str, int, int]]:
    return [(s.title, s.first, s.last) for s in stages(names, shapes or [()] * len(names))]


@pytest.mark.parametrize("sign", ["/", "."])
def test_the_first_part_of_a_path_is_the_stage(sign: str) -> None:
    names = named((f"stem{sign}", 2), (f"stage1{sign}a{sign}", 4), (f"stage2{sign}", 5))
    assert found(names) == [("stem", 0, 1), ("stage 1", 2, 5), ("stage 2", 6, 10)]


def test_a_part_that_nearly_all_layers_share_is_looked_into() -> None:
    # 10 of 12 layers (83 %) lie below `encoder`, 70 % is the limit: its parts are the stages.
    names = named(("encoder/layer0/", 5), ("encoder/layer1/", 5), ("head/", 2))
    assert found(names) == [("layer 0", 0, 4), ("layer 1", 5, 9), ("head", 10, 11)]
    # 6 of 9 (67 %) do not.
    names = named(("encoder/layer0/", 3), ("encoder/layer1/", 3), ("head/", 3))
    assert found(names) == [("encoder", 0, 5), ("head", 6, 8)]


def test_without_paths_a_stage_begins_where_the_picture_shrinks() -> None:
    sides = [112, 112, 56, 56, 112, 112, 28, 28, 1]
    shapes = [(1, 8, side, side) for side in sides] + [(1, 1000)]
    # 112 after 56 is larger, 1 is no picture any more, (1, 1000) none at all.
    expected = [("stage 112 × 112", 0, 1), ("stage 56 × 56", 2, 5), ("stage 28 × 28", 6, 9)]
    assert found([f"Conv_{n}" for n in range(10)], shapes) == expected


def test_windows_and_heads_of_an_attention_are_no_picture() -> None:
    # Patches in both layouts; 64 windows of 49 positions; heads of one window; merged patches.
    shapes: Shapes = [
        (1, 96, 56, 56), (1, 56, 56, 96), (64, 3, 49, 32), (1, 56, 56, 96),
        (1, 28, 28, 192), (16, 6, 49, 49), (1, 28, 28, 192),
        (1, 14, 14, 384), (4, 12, 32, 49), (1, 7, 7, 768), (1, 24, 49, 32), (1, 24, 49, 49),
        (1, 768, 1, 1), (1, 1000),
    ]  # fmt: skip
    expected = [
        ("stage 56 × 56", 0, 3),
        ("stage 28 × 28", 4, 6),
        ("stage 14 × 14", 7, 8),
        ("stage 7 × 7", 9, 13),
    ]
    assert found([f"node_{n}" for n in range(14)], shapes) == expected
    # 40 × 60 is half of 80 × 121, as far as whole pixels allow.
    wide: Shapes = [(2, 8, 80, 121), (2, 8, 80, 64), (2, 8, 40, 60), (2, 40, 20, 60)]
    assert found(list("abcd"), wide) == [("stage 80 × 121", 0, 1), ("stage 40 × 60", 2, 3)]


SWIN = {
    "swin_t_ts": ["stem", "features 1", "features 3", "features 5", "features 7", "head"],
    "swin_t_fixed_dynamo": ["stage 56 × 56", "stage 28 × 28", "stage 14 × 14", "stage 7 × 7"],
}


@pytest.mark.parametrize("name", SWIN)
def test_swin_has_its_four_stages(name: str) -> None:
    sides = {"height": 224, "width": 224} if name == "swin_t_ts" else {}
    semantics = analyse(imported(exported(name), ImportOptions(name, 1, sides)))
    layers = relay_layers(semantics)
    graph = semantics.graph
    shapes = [graph.tensors[graph.op_by_name[layer.ops[-1]].outputs[0]].shape for layer in layers]
    result = stages([layer.name for layer in layers], shapes)
    assert [stage.title for stage in result] == SWIN[name]
    # Blocks 2, 2, 6 and 2: the third stage has three times the layers of the first.
    inner = [stage for stage in result if stage.title not in {"stem", "head"}]
    assert inner[2].layers > 2 * inner[0].layers


def test_paths_count_for_more_than_shapes() -> None:
    shapes = [(1, 8, 56, 56)] * 2 + [(1, 8, 28, 28)] * 4
    names = named(("a/", 3), ("b/", 3))
    assert [title for title, _, _ in found(names, shapes)] == ["a", "b"]


def test_with_neither_layers_are_divided_evenly() -> None:
    # 12 layers in five: ends at 2, 4, 7, 9 and 12.
    titles = ["layers 1–2", "layers 3–4", "layers 5–7", "layers 8–9", "layers 10–12"]
    assert [title for title, _, _ in found(["Gemm"] * 12)] == titles
    assert found(["Gemm"]) == [("layer 1", 0, 0)]


def test_small_runs_join_a_neighbour() -> None:
    # 24 layers: fewer than two are small. Before the first large one: stem; after the last: head.
    names = named(("conv/", 1), ("a1/", 10), ("pool/", 1), ("a2/", 10), ("norm/", 1), ("fc/", 1))
    assert found(names) == [("stem", 0, 0), ("a 1", 1, 11), ("a 2", 12, 21), ("head", 22, 23)]


def test_there_are_at_most_twelve_stages_besides_stem_and_head() -> None:
    names = named(*[(f"s{n}/", 3) for n in range(20)])
    result = stages(names, [()] * len(names))
    assert len(result) == MOST_STAGES
    assert all(before.last + 1 == after.first for before, after in pairwise(result))
    ends = named(("x/", 1), *[(f"s{n}/", 3) for n in range(20)], ("y/", 1))
    result = stages(ends, [()] * len(ends))
    assert (len(result), result[0].title, result[-1].title) == (MOST_STAGES + 2, "stem", "head")


def test_many_equal_runs_are_no_small_ones() -> None:
    # 32 runs of 20 of 643 layers: each has 3.1 %, below the 4 %, and all of the longest run.
    names = named(*[(f"layers.{n}/", 20) for n in range(32)], ("norm/", 3))
    result = found(names)
    assert result[0] == ("layer 0 – layer 3", 0, 79)
    assert result[-2:] == [("layer 30 + layer 31", 600, 639), ("head", 640, 642)]


def test_the_smallest_stage_joins_its_smaller_neighbour() -> None:
    four = [ModelStage(title, n, n) for n, title in enumerate(("a", "b", "c", "d"))]
    # By cost 5, 1, 2, 9: b joins c, then both (3) join a rather than d.
    assert [s.title for s in fewer(four, 3, [5, 1, 2, 9])] == ["a", "b + c", "d"]
    assert fewer(four, 2, [5, 1, 2, 9]) == [ModelStage("a – c", 0, 2), ModelStage("d", 3, 3)]


def test_a_head_that_counts_is_not_joined() -> None:
    """Of 18 in three stages, a third of an even share is 2: a head of 2 stands alone, not of 1."""
    four = [
        ModelStage(title, n, n) for n, title in enumerate(("layer 0", "layer 1", "layer 2", "head"))
    ]
    costs = ([8, 7, 1, 2], [9, 7.5, 0.5, 1])
    assert [[s.title for s in fewer(four, 3, cost)] for cost in costs] == [
        ["layer 0", "layer 1 + layer 2", "head"],
        ["layer 0", "layer 1", "layer 2 + head"],
    ]


def test_titles_are_words_and_numbers() -> None:
    cases = {
        ("stage1",): "stage 1",
        ("layer", "11"): "layer 11",
        ("encoder", "layers", "0"): "layer 0",
        ("features", "3"): "features 3",
        ("layer.03",): "layer 3",
        ("conv",): "conv",
        ("features", "5", "0"): "features 5.0",
        ("a", "layers", "5", "0", "2"): "layer 5.0.2",
        ("5", "0"): "part 5.0",
        ("5",): "part 5",
        ("mixed", "3x3"): "mixed 3x3",
        ("mixed", "4", "3x3"): "mixed 4 3x3",
        ("3x3",): "part 3x3",
        ("layer0", "attention", "value"): "attention value",
        ("layer0", "value"): "layer 0 value",
        ("input",): "input",
        ("values",): "values",
        (): "",
    }
    assert {path: title_of(path) for path in cases} == cases


@pytest.mark.parametrize("seed", range(30))
def test_every_layer_is_in_one_stage_and_at_most_one_block(seed: int) -> None:
    draw = random.Random(seed)
    parts = ["", "a/", "b.", "stage1/", "stage2/block0/", "model/x/y/"]
    names = [
        f"{path}op{n}"
        for path in draw.choices(parts, k=draw.randint(1, 20))
        for n in range(draw.randint(1, 40))
    ]
    shapes = [(1, 8, side, side) for side in draw.choices([56, 28, 14], k=len(names))]
    result = stages(names, shapes)
    assert [n for s in result for n in range(s.first, s.last + 1)] == list(range(len(names)))
    assert len(result) <= MOST_STAGES
    shut = blocks(names)
    assert all(before.last < after.first for before, after in pairwise(shut))
    assert all(0 <= block.first <= block.last < len(names) for block in shut)


def test_stages_are_those_of_a_real_model_whatever_the_strategy() -> None:
    rows = report_of("graphturbo@16").tables["stages"]
    assert rows == report_of("tvm@2").tables["stages"]
    assert [row["title"] for row in rows] == ["stem", "stage 1", "stage 2", "head"]
    layers = report_of("tvm@2").tables["layers"]
    for row in rows[1:3]:
        inside = layers[row["first_layer"] : row["last_layer"] + 1]
        assert all(row["title"].replace(" ", "") in layer["name"] for layer in inside)


def test_few_layers_have_no_blocks() -> None:
    assert blocks(named(("a/", MOST_ROWS))) == []
    assert blocks(named(("a/", MOST_ROWS + 1)))


def test_a_block_is_a_run_of_one_path() -> None:
    names = named(*[(f"enc/layer{n}/", 12) for n in range(10)], ("head/", 3))
    result = blocks(names)
    # The head has three layers, fewer than a block: they stay rows.
    assert result == [Block(f"layer {n}", 12 * n, 12 * n + 11) for n in range(10)]


def test_short_neighbours_are_one_block_together() -> None:
    # Five layers each, at most twenty together: four parts per block.
    names = named(*[(f"enc/layer{n}/", 5) for n in range(24)])
    result = blocks(names)
    assert [block.layers for block in result] == [20] * 6
    assert result[0] == Block("enc: layer 0 – layer 3", 0, 19)


def test_without_paths_blocks_are_equal_stretches() -> None:
    result = blocks([f"Conv{n}" for n in range(100)])
    assert [block.layers for block in result] == [20] * 5
    assert result[1].title == "layers 21–40"
    assert max(block.layers for block in result) <= LONGEST


def test_there_are_at_most_ninety_blocks() -> None:
    names = named(*[(f"p{n}/", 10) for n in range(100)])
    result = blocks(names)
    assert len(result) == 50 <= MOST_BLOCKS
    assert result[0] == Block("p 0 – p 1", 0, 19)


def test_many_short_runs_of_a_path_are_joined() -> None:
    """120 paths of 3 layers would be 360 rows; 30 of them are rows beside a block of 60."""
    joined = blocks(named(*((f"blk{n}/", 3) for n in range(120))))
    assert len(joined) == 20
    assert {block.layers for block in joined} == {18}
    assert joined[1].title == "blk 6 – blk 11"
    few = blocks(named(*((f"a{n}/", 3) for n in range(30)), ("long/", 40)))
    assert [block.layers for block in few] == [40]
