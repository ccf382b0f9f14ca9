"""Hues: which of the four rules fits a plan, one hue per layer, and time divided among them."""

from __future__ import annotations

import numpy as np
import pytest

from graphturbo_core.report.overview.hues import (
    BANDED,
    HUES,
    Hues,
    hues_of,
    layers_of_groups,
    titles_of_groups,
)
from graphturbo_core.report.overview.shares import cycles_by_hue, cycles_by_layer, layer_spans
from graphturbo_core.report.report import Report
from tests.report.overview.made import DMA, MATRIX, Issued, made_report
from tests.report.overview.reports import report_of

STAGES = (("stem", 0, 1), ("stage 1", 2, 5), ("stage 2", 6, 9))


def hues(b: Report, window_s: list[float] | None = None) -> Hues:
    """The hues of B, where A takes these seconds per layer."""
    layers = len(b.tables["layers"])
    return hues_of(made_report([[n] for n in range(layers)], window_s or [1.0] * layers), b)


def test_up_to_five_sub_graphs_have_a_hue_each() -> None:
    found = hues(made_report([[0, 1], [2, 3, 4, 5], [6, 7], [8], [9]], stages=STAGES))
    titles = ("stem", "stage 1", "stage 2 (3)", "stage 2 (4)", "stage 2 (5)")
    assert found == Hues("group", titles, (0, 0, 1, 1, 1, 1, 2, 2, 3, 4), (0, 1, 2, 3, 4))


def test_a_sub_graph_is_titled_by_all_its_stages() -> None:
    of_two = hues(made_report([[0, 1, 2, 3], [4, 5, 6, 7, 8, 9]], stages=STAGES))
    assert of_two.titles == ("stem + stage 1", "stage 1 + stage 2")
    of_three = hues(made_report([[1, 2, 6, 7], [0, 3, 4, 5, 8, 9]], stages=STAGES))
    assert of_three.titles == ("stem – stage 2 (1)", "stem – stage 2 (2)")
    assert hues(made_report([[0], [1]])).titles == ("sub-graph 1", "sub-graph 2")


def test_a_sub_graph_of_most_of_the_time_is_banded_by_stages() -> None:
    b = made_report([list(range(8)), [8], [9]], stages=STAGES)
    seconds = [1.0] * 4 + [0.5] * 4 + [2.0, 1.9]
    # 6 of 9.9 s are 60.6 %, more than 60 %.
    found = hues(b, seconds)
    assert found.meaning == "stage"
    assert found.titles == ("stem", "stage 1", "stage 2")
    assert found.of_layer == (0, 0, 1, 1, 1, 1, 2, 2, 2, 2)
    assert found.of_group == (BANDED, 2, 2)
    # 6 of 10 s are not, and two stages would say too little.
    assert hues(b, [*seconds[:9], 2.0]).meaning == "group"
    two = made_report([list(range(8)), [8], [9]], stages=STAGES[1:])
    assert hues(two, seconds).meaning == "group"


def test_a_head_that_takes_long_in_either_run_is_a_stage_of_its_own() -> None:
    stages = [("stem", 0, 0), *((f"layer {n}", n + 1, n + 1) for n in range(8)), ("head", 9, 9)]
    # A twentieth of A's time; half of B's, or a twentieth too.
    whole, small = [[*range(10)]], [1.0] * 8
    seconds = [0.05, *small, 0.4]
    long = hues(made_report(whole, [0.05, *small, 8.0], stages=stages), seconds)
    assert long.titles[-1] == "head"
    assert long.of_layer[-2:] == (3, 4)
    short = hues(made_report(whole, seconds, stages=stages), seconds)
    assert short.titles[-1].endswith("+ head") or short.titles[-1].endswith("– head")


def test_a_sub_graph_has_the_name_of_its_hue_or_of_its_stages() -> None:
    b = made_report([list(range(8)), [8], [9]], stages=STAGES)
    banded = hues(b, [1.0] * 4 + [0.5] * 4 + [2.0, 1.9])
    assert titles_of_groups(b, banded) == ["stem – stage 2", "stage 2", "stage 2"]
    whole = made_report([list(range(10))], stages=STAGES)
    assert titles_of_groups(whole, hues(whole)) == ["whole model"]
    groups = made_report([[0, 1], [2, 3, 4, 5], [6, 7, 8, 9]], stages=STAGES)
    assert titles_of_groups(groups, hues(groups)) == ["stem", "stage 1", "stage 2"]
    kinds = repeated()
    assert titles_of_groups(kinds, hues(kinds)) == [*FIRST, *SECOND, "tail"]


FIRST, SECOND = ["op 0 – op 2"] * 3, ["op 9 – op 11"] * 3
"""Every block `a0`, `a1` … has the first kind: its name says nothing of it."""
KINDS = [[3 * n, 3 * n + 1, 3 * n + 2] for n in range(6)]
TYPES = ["Conv", "Conv+Relu", "Add"] * 3 + ["Gemm", "Gemm", "Add"] * 3


def repeated(**more: object) -> Report:
    """Six sub-graphs of two kinds, and a layer of a third kind."""
    made = {
        "names": [f"{'ab'[n > 8]}{n // 3}/op{n}" for n in range(18)] + ["x/tail"],
        "types": [*TYPES, "Softmax"],
        "pieces": [4] * 3 + [2] * 3 + [1],
        "along": ["axis 0"] * 6 + [""],
        **more,
    }
    return made_report([*KINDS, [18]], **made)


def test_kinds_that_repeat_have_a_hue_each() -> None:
    found = hues(repeated())
    assert found.meaning == "kind"
    assert found.titles == (FIRST[0], SECOND[0], "tail")
    assert found.of_group == (0, 0, 0, 1, 1, 1, 2)
    assert found.of_layer == (0,) * 9 + (1,) * 9 + (2,)


def test_kinds_of_one_path_are_told_apart_by_what_is_below_it() -> None:
    block = ("attention/query", "attention/key", "attention/scores", "attention/softmax",
             "ffn/up", "ffn/down", "norm")  # fmt: skip
    groups = [[7 * n + at for at in own] for n in range(3) for own in ([0, 1], [2, 3], [4, 5], [6])]
    made = made_report(
        groups,
        names=[f"layer{n}/{name}" for n in range(3) for name in block],
        types=["MatMul", "MatMul", "Add", "Softmax", "Gemm", "Gemm", "Mul"] * 3,
    )
    titles = ("attention: query – key", "attention: scores – softmax", "ffn", "norm")
    assert hues(made).titles == titles


def test_another_count_of_pieces_or_axis_is_another_kind() -> None:
    assert hues(repeated(pieces=[4, 4, 8, 2, 2, 2, 1])).of_group == (0, 0, 1, 2, 2, 2, 3)
    along = [*["axis 0"] * 2, *["axis 1"] * 4, ""]
    assert hues(repeated(along=along)).of_group == (0, 0, 1, 2, 2, 2, 3)


def test_kinds_beyond_five_are_the_rest() -> None:
    # Kinds of 3, 1, 1, 1, 1, 1, 1 sub-graphs; the two lightest are 2 of 100 s.
    groups = [[n] for n in range(8)] + [[8, 9]]
    types = ["A", "A", "A", "B", "C", "D", "E", "F", "G", "G"]
    b = made_report(groups, types=types)
    found = hues(b, [20.0, 20.0, 20.0, 10.0, 10.0, 1.0, 10.0, 1.0, 4.0, 4.0])
    assert found.meaning == "kind"
    assert found.of_layer == (0, 0, 0, 1, 2, HUES, 3, HUES, 4, 4)
    assert found.of_group == (0, 0, 0, 1, 2, HUES, 3, HUES, 4)
    # The other two at 10.5 of 100 s: the five hold less than 90 %, stages instead.
    heavy = [20.0, 20.0, 20.0, 8.0, 8.0, 5.5, 8.0, 5.5, 2.5, 2.5]
    assert hues(b, heavy).meaning == "stage"


def test_else_a_sub_graph_has_the_stage_of_most_of_its_time() -> None:
    groups = [[0], [1], [2, 3], [4, 5, 6], [7], [8], [9]]
    b = made_report(groups, stages=STAGES, types=list("ABCDEFGHIJ"))
    found = hues(b, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    assert found.meaning == "stage"
    # Layer 6 belongs to stage 2, its sub-graph mostly to stage 1: a box has one hue.
    assert found.of_group == (0, 0, 1, 1, 2, 2, 2)
    assert found.of_layer == (0, 0, 1, 1, 1, 1, 1, 2, 2, 2)
    assert hues(b, [1, 1, 1, 1, 1, 1, 3, 1, 1, 1]).of_layer[4:7] == (2, 2, 2)


def test_stages_beyond_five_are_joined_by_time() -> None:
    stages = [(f"s{n}", 2 * n, 2 * n + 1) for n in range(6)]
    b = made_report([[n] for n in range(12)], stages=stages)
    # s2 takes least of A's time and joins s3 (6 s) rather than s1 (8 s).
    found = hues(b, [9, 9, 4, 4, 1, 1, 3, 3, 9, 9, 9, 9])
    assert found.titles == ("s0", "s1", "s2 + s3", "s4", "s5")
    assert found.of_layer == (0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4)


def test_a_sub_graph_across_stages_without_names_is_named_by_its_own_layers() -> None:
    stages = Hues("stage", ("layers 1–4", "layers 5–8", "head"), (0, 0, 1, 1, 2), (0, 0, 2))
    report = made_report([[0], [1, 2, 3], [4]])
    assert titles_of_groups(report, stages) == ["layer 1", "layers 2 to 4", "head"]


def test_titles_of_stages_are_distinct() -> None:
    stages = [("block", 0, 2), ("other", 3, 5), ("block", 6, 8)]
    found = hues(made_report([list(range(9))], stages=stages))
    assert found.titles == ("block (1)", "other", "block (3)")


def test_the_hue_of_a_sub_graph_across_stages_is_named_by_all_that_it_holds() -> None:
    """B's last sub-graph has a layer of `two`, all of `three` and `four`; its hue is `four`'s."""
    stages = [("one", 0, 2), ("two", 3, 5), ("three", 6, 7), ("four", 8, 11)]
    groups, types = [[0], [1], [2], [3], [4], list(range(5, 12))], [f"Op{n}" for n in range(12)]
    found = hues(made_report(groups, stages=stages, types=types))
    assert (found.meaning, found.of_group) == ("stage", (0, 0, 0, 1, 1, 3))
    assert found.titles == ("one", "two", "three", "three + four")


def test_a_layer_that_sub_graphs_share_has_the_hue_of_the_first() -> None:
    """As everywhere on the screen: the first is the layer's sub-graph."""
    found = hues(made_report([[0, 1], [1, 2], [2, 3]]))
    assert found.of_layer == (0, 0, 1, 2)


@pytest.mark.parametrize(("a", "b"), [("tvm@16", "graphturbo@16"), ("graphturbo@5", "tvm@2")])
def test_every_layer_of_a_real_run_has_a_hue_with_a_title(a: str, b: str) -> None:
    one, two = report_of(a), report_of(b)
    found = hues_of(one, two)
    assert len(found.of_layer) == len(two.tables["layers"])
    assert set(found.of_layer) <= {*range(len(found.titles)), HUES}
    assert len(set(found.titles)) == len(found.titles) <= HUES
    for layers, hue in zip(layers_of_groups(two), found.of_group, strict=True):
        own = {found.of_layer[layer] for layer in layers}
        assert own == {hue} if hue != BANDED else len(own) > 1


def test_layers_in_flight_divide_their_time() -> None:
    issued = [
        Issued(0, 10, DMA, 0),
        Issued(5, 15, MATRIX, 0),
        Issued(10, 20, MATRIX, 1),
        Issued(40, 5, MATRIX, 2),
        Issued(42, 0, MATRIX, 0),
        Issued(45, 5, MATRIX, -1),
    ]
    report = made_report([[0], [1], [2]], issued=issued, cycles=60)
    # 0–10 layer 0, 10–20 layers 0 and 1, 20–30 layer 1, 40–45 layer 2; the rest none.
    assert cycles_by_hue(report, [0, 1, 1], 2) == [15, 20, 25]
    assert cycles_by_hue(report, [0, 0, 0], 1) == [35, 25]
    assert cycles_by_layer(report).tolist() == [15, 15, 5]
    assert [list(column) for column in layer_spans(report)] == [
        [0, 10, 40],
        [20, 30, 45],
        [0, 1, 2],
    ]


def test_two_layers_of_a_hue_count_twice_beside_a_third() -> None:
    issued = [Issued(0, 12, MATRIX, layer) for layer in range(3)]
    report = made_report([[0], [1], [2]], issued=issued, cycles=12)
    assert cycles_by_hue(report, [0, 0, 1], 2) == pytest.approx([8, 4, 0])


def test_a_round_without_instructions_is_time_without_a_layer() -> None:
    assert cycles_by_hue(made_report([[0]], cycles=7), [0], 2) == [0, 0, 7]


@pytest.mark.parametrize("strategy", ["tvm@16", "graphturbo@16", "graphturbo@5"])
def test_hues_of_a_real_run_add_up_to_its_round(strategy: str) -> None:
    report = report_of(strategy)
    cycles, layers = report.tables["round"][0]["cycles"], len(report.tables["layers"])
    in_flight = np.zeros((layers, cycles), bool)
    for start, hold, layer in zip(
        *(report.arrays[name].tolist() for name in ("start", "hold", "layer")), strict=True
    ):
        if layer >= 0:
            in_flight[layer, start : start + hold] = True
    share = in_flight / np.maximum(1, in_flight.sum(0))
    found = cycles_by_hue(report, list(range(layers)), layers)
    assert found[:-1] == pytest.approx(share.sum(1).tolist())
    assert sum(found) == pytest.approx(cycles)
