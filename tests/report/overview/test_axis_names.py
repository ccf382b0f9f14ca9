"""Names of split axes: only where the shapes are sure."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.report.overview.axis_names import AxisNames
from tests.report.overview.made import made_report
from tests.report.overview.reports import report_of

PICTURE, HEADS, SEQUENCE = [1, 64, 56, 56], [1, 12, 128, 128], [1, 128, 768]
CONV, MATMUL, SOFTMAX = ("Conv", PICTURE), ("MatMul", SEQUENCE), ("Softmax", HEADS)


def named(along: str, *ops: tuple[str, list[int]], noun: str = "image") -> list[tuple[str, int]]:
    """Cuts of the last of these ops, each a sub-graph of its own."""
    return made_names(*ops, noun=noun).cuts({"along": along, "pieces": 8}, len(ops) - 1)


def made_names(*ops: tuple[str, list[int]], noun: str = "image") -> AxisNames:
    """Names of the axes of these ops, each a sub-graph of its own."""
    report = made_report([[0]])
    nodes = tuple(
        {"group": n, "op_type": kind, "output_shapes": [shape]}
        for n, (kind, shape) in enumerate(ops)
    )
    found = replace(report, tables={**report.tables, "graph_nodes": nodes})
    return AxisNames(found, noun)


@pytest.mark.parametrize(
    ("ops", "names"),
    [
        ([CONV], ["images", "channels", "rows", "columns"]),
        ([("Add", PICTURE)], ["images", "channels", "rows", "columns"]),
        ([CONV, ("MatMul", HEADS)], ["images", "axis 1", "axis 2", "axis 3"]),
        ([("MatMul", HEADS), CONV], ["images", "channels", "rows", "columns"]),
        ([SOFTMAX, MATMUL], ["images", "tokens", "axis 2"]),
        ([MATMUL], ["images", "axis 1", "axis 2"]),
        ([SOFTMAX, ("Conv", SEQUENCE)], ["images", "axis 1", "axis 2"]),
        ([("Gemm", [1, 1000])], ["images", "features"]),
        ([("ReduceMean", [1, 1000])], ["images", "axis 1"]),
    ],
    ids=[
        "conv",
        "picture",
        "heads",
        "conv beside heads",
        "tokens",
        "no attention",
        "wave",
        "gemm",
        "no gemm",
    ],
)
def test_an_axis_has_a_name_where_the_shape_is_sure(
    ops: list[tuple[str, list[int]]], names: list[str]
) -> None:
    assert [named(f"axis {n}", *ops) for n in range(len(names))] == [[(own, 8)] for own in names]


def test_axes_of_a_result_and_of_a_split_in_words() -> None:
    found = made_names(CONV)
    assert found.of_result(4, 0) == ["images", "channels", "rows", "columns"]
    assert found.of_result(3, 0) == ["images", "axis 1", "axis 2"]
    assert found.of_result(0, 0) == []
    assert found.along({"along": "axis 2", "pieces": 8}, 0) == "rows"
    assert found.along({"along": "axes 0 in 4 and 2 in 2", "pieces": 8}, 0) == (
        "images (4) and rows (2)"
    )
    assert found.along({"along": "", "pieces": 1}, 0) == ""


def test_several_axes_have_their_parts() -> None:
    assert named("axes 0 in 4 and 2 in 2", CONV) == [("images", 4), ("rows", 2)]
    assert named("", CONV) == []
    assert named("axis 2", ("Add", PICTURE), noun="sample") == [("axis 2", 8)]


def test_parts_of_a_real_sub_graph_make_its_pieces() -> None:
    report = report_of("graphturbo@16")
    names = AxisNames(report, "image")
    for row in report.tables["groups"]:
        cuts = names.cuts(row, row["index"])
        assert all(name == "images" for name, _ in cuts)
        assert [parts for _, parts in cuts] == ([row["pieces"]] if row["pieces"] > 1 else [])
