"""Rows of pieces and of reasons: pieces tile their sub-graph, reasons are the plan's decisions."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import Decision
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.overview.hues import layers_of_groups
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.partition.pieces import _span
from graphturbo_core.report.rows.partition.reasons import (
    CAUSES,
    MOST_REFUSALS,
    reason_rows,
)
from graphturbo_core.report.rows.run_rows import PIECES_OF_PARTS
from graphturbo_core.strategies.graphturbo import grouping
from tests.report.overview.reports import report_of
from tests.report.overview.reports import split as split_along_two_axes


@cache
def in_pieces() -> Report:
    """A run on the small chip, with sub-graphs in several pieces and refused merges."""
    request = RunRequest("teaching-resnet", "graphturbo@16", "generic-4x4", 64)
    return run_report(load_sample("teaching-resnet"), request)


def boxes_of(report: Report) -> dict[str, list[dict[str, Any]]]:
    """Rows of pieces of each sub-graph."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    kernels, pieces = report.tables["kernels"], report.tables["pieces"]
    for kernel, piece in zip(kernels, pieces, strict=True):
        found[kernel["group"]].append(piece)
    return found


@pytest.mark.parametrize(
    "report",
    [in_pieces, split_along_two_axes, lambda: report_of("tvm@2")],
    ids=["one axis", "two axes", "whole"],
)
def test_the_pieces_of_a_sub_graph_tile_it(report: Any) -> None:
    for pieces in boxes_of(report()).values():
        (extents,) = {
            (p["axis"], p["extent"], p["second_axis"], p["second_extent"]) for p in pieces
        }
        cells = Counter(
            (at, second)
            for p in pieces
            for at in range(p["first"], p["end"])
            for second in range(p["second_first"], p["second_end"])
        )
        assert set(cells.values()) == {1}
        assert len(cells) == extents[1] * extents[3]
        assert all(p["first"] < p["end"] and p["second_first"] < p["second_end"] for p in pieces)


def test_pieces_are_as_many_as_the_sub_graph_has() -> None:
    report = in_pieces()
    boxes = boxes_of(report)
    rows = report.tables["groups"]
    assert {name: len(found) for name, found in boxes.items()} == {
        row["name"]: row["pieces"] for row in rows
    }
    assert max(row["pieces"] for row in rows) > 1
    for row in rows:
        assert {p["axis"] for p in boxes[row["name"]]} == {row["split_axis"]}
    assert [p["kernel"] for p in report.tables["pieces"]] == list(
        range(len(report.tables["pieces"]))
    )


def test_two_axes_of_a_split_are_both_rows() -> None:
    report = split_along_two_axes()
    (row,) = [row for row in report.tables["groups"] if " and " in row["along"]]
    pieces = boxes_of(report)[row["name"]]
    assert row["along"].startswith("axes ")
    assert all(p["axis"] >= 0 and p["second_axis"] >= 0 for p in pieces)
    assert len({(p["first"], p["second_first"]) for p in pieces}) == row["pieces"]


def test_a_part_is_counted_from_where_the_whole_begins() -> None:
    # Rows 2 to 10 are computed; the kernel has 6 to 8 of them.
    assert _span(((0, 4), (6, 8)), ((0, 4), (2, 10)), 1) == (1, 4, 6, 8)
    assert _span(((0, 4), (6, 8)), ((0, 4), (2, 10)), -1) == (-1, 0, 1, 1)


def test_an_uncut_sub_graph_is_one_whole() -> None:
    (piece, *_) = report_of("tvm@2").tables["pieces"]
    assert piece == {
        "kernel": 0, "cluster": 0, "axis": -1, "first": 0, "end": 1, "extent": 1,
        "second_axis": -1, "second_first": 0, "second_end": 1, "second_extent": 1,
    }  # fmt: skip


def test_reasons_count_the_merges_of_each_sub_graph() -> None:
    # Every merge that was taken joined parts of one sub-graph; of `fit` each has one decision more.
    report = in_pieces()
    decisions = report.tables["decisions"]
    taken = sum(row["taken"] and row["step"] != "fit" for row in decisions)
    merged = [row for row in report.tables["reasons"] if row["is_merged"]]
    assert sum(row["times"] for row in merged) == taken > 0
    assert all(row["other_layer"] == -1 for row in merged)
    assert len({row["group"] for row in merged}) == len(merged)


def test_refusals_name_a_layer_of_the_neighbour() -> None:
    report = in_pieces()
    rows = [row for row in report.tables["reasons"] if not row["is_merged"]]
    assert rows
    layers_of = defaultdict(set)
    for node in report.tables["graph_nodes"]:
        layers_of[node["group"]].add(node["layer"])
    for row in rows:
        assert row["other_layer"] not in layers_of[row["group"]]
        assert 0 <= row["other_layer"] < len(report.tables["layers"])
        assert row["times"] == 0
        assert 0 <= row["fewest_pieces"] <= row["most_pieces"]
    assert max(Counter(row["group"] for row in rows).values()) <= MOST_REFUSALS


def test_the_pieces_in_a_reason_are_those_of_the_decision() -> None:
    """`pieces of parts 8+4`: 4 and 8."""
    report = in_pieces()
    counted = [row for row in report.tables["decisions"] if row["counts"]]
    assert all(f"pieces of parts {row['counts']}," in f"{row['numbers']}," for row in counted)
    counts = [[int(count) for count in row["counts"].split("+")] for row in counted]
    ends = {(min(found), max(found)) for found in counts}
    reasons = {(row["fewest_pieces"], row["most_pieces"]) for row in report.tables["reasons"]}
    assert reasons == {(1, 1), (1, 2), (2, 2)} <= ends


def refused(parts: tuple[str, ...], rule: str, pieces: str) -> Decision:
    return Decision("straight", rule, parts, False, {PIECES_OF_PARTS: pieces})


def reasons_of(layers: str, decisions: list[Decision]) -> list[dict[str, Any]]:
    """Rows of reasons where each layer, named by a letter, is a sub-graph of its own."""
    named = [*enumerate(layers)]
    plan = SimpleNamespace(
        strategy="made",
        layers=[SimpleNamespace(index=n, name=name, ops=[name]) for n, name in named],
        groups=[SimpleNamespace(layers=[n], ops=[name], name=f"g{n}") for n, name in named],
        decisions=decisions,
        layer_of_op={},
    )
    rows = reason_rows(cast(Outcome, SimpleNamespace(plan=plan)))
    return [cast(dict[str, Any], row) for row in rows]


def test_of_one_neighbour_the_last_refusal_counts() -> None:
    decisions = [
        refused(("a", "b"), grouping.RULE_REFETCH, "8+4"),
        refused(("b", "c"), grouping.RULE_SPLIT, "2+2"),
        refused(("a", "b"), grouping.RULE_CYCLE, "1+6"),
    ]
    rows = reasons_of("abc", decisions)
    assert [(row["group"], row["other_layer"], row["cause"]) for row in rows] == [
        (0, 1, "cycle"),
        (1, 0, "cycle"),
        (1, 2, "split"),
        (2, 1, "split"),
    ]
    assert (rows[0]["fewest_pieces"], rows[0]["most_pieces"]) == (1, 6)


def test_refusals_of_the_next_layers_come_first_and_of_many_parts_last() -> None:
    """`d` is refused with everything in turn; without an order, `a` and `f` hid its neighbours."""
    others = ["e", "c", "b", "abcef", "a", "f"]
    decisions = [refused(("d", *other), grouping.RULE_CYCLE, "2+2") for other in others]
    rows = [row for row in reasons_of("abcdef", decisions) if row["group"] == 3]
    assert [(row["other_layer"], row["other_parts"]) for row in rows] == [(2, 1), (4, 1), (5, 1)]
    (row,) = (row for row in reasons_of("abcdef", decisions[3:4]) if row["group"] == 3)
    assert (row["other_layer"], row["other_parts"]) == (2, 5)


def test_a_reason_of_bert_is_about_the_sub_graph_next_to_it() -> None:
    """All blocks read the mask, so a merge with each of them was refused after the neighbours'."""
    report = run_report(load_sample("bert-base"), RunRequest("bert-base", "graphturbo@8", batch=32))
    layers_of = layers_of_groups(report)
    for group, layers in enumerate(layers_of):
        rows = [row for row in report.tables["reasons"] if row["group"] == group]
        refusals = [row["other_layer"] for row in rows if not row["is_merged"]]
        if len(layers) > 2:
            assert refusals[0] in (layers[0] - 1, layers[-1] + 1)


def test_every_rule_of_the_grouping_has_a_cause() -> None:
    rules = {value for name, value in vars(grouping).items() if name.startswith("RULE_")}
    assert rules <= set(CAUSES)
    assert report_of("tvm@2").tables["reasons"] == ()
