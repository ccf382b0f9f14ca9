"""Sub-graphs and parts of edits in words."""

from __future__ import annotations

import pytest

from graphturbo_core.report.part_words import group_text, layers_text, part_words
from tests.report.overview.reports import report_of

NAMES = ("a", "b", "c", "d", "e")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g4", "sub-graph 4"),
        ("g12-", "sub-graph 12"),
        ("g4-before", "first part of sub-graph 4"),
        ("g4-after-", "second part of sub-graph 4"),
        ("g4-other", "g4-other"),
        ("front", "front"),
        ("group4", "group4"),
        ("my g4", "my g4"),
    ],
)
def test_internal_names_are_sub_graphs_and_own_names_stay(name: str, text: str) -> None:
    assert group_text(name) == text


@pytest.mark.parametrize(
    ("layers", "text"),
    [
        ((2,), "layer 3 (c)"),
        ((3, 1, 2, 1), "layers 2 to 4 (b to d)"),
        ((0, 1, 4), "3 of the layers 1 to 5 (a to e)"),
    ],
)
def test_layers_are_counted_from_one(layers: tuple[int, ...], text: str) -> None:
    assert layers_text(layers, NAMES) == text


def test_a_part_is_its_layers_where_the_report_has_them() -> None:
    report = report_of("tvm@2")
    first = [node["op"] for node in report.tables["graph_nodes"] if node["layer"] in (0, 1)]
    parts = {"g1-before": tuple(first), "g2": (*first, "gone"), "mine": ()}
    assert part_words(parts, report) == {
        "g1-before": "layers 1 to 2 (stem/conv to stage1/block1/conv1)",
        "g2": "sub-graph 2",
        "mine": "mine",
    }
    assert part_words(parts, None)["g1-before"] == "first part of sub-graph 1"
