"""What differs between two plans, layer by layer: hand-worked cases, real runs, properties."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise

import pytest

from graphturbo_core.comparison.layer_plans import START, before, grid_of, layered_plan
from graphturbo_core.comparison.plan_changes import (
    ASPECTS,
    CORES,
    GROUPS,
    ORDER,
    OUTPUT,
    PIECES,
    AspectSides,
    LayerDifference,
    change_counts,
    changes_sentence,
    is_one_graph,
    plan_changes,
)
from graphturbo_core.comparison.plan_picture import folds, plan_diff_buffer
from graphturbo_core.report.report import Report
from tests.comparison.plans import MadePlan, made_report
from tests.comparison.runs import report_of

BASE = MadePlan(((0,), (1, 2), (3,)), pieces=(1,))
"""Kernels: g0; g1 in two pieces; g2. Every result in GB, on cores 0 to 3 along axis 0."""


def changes(a: MadePlan, b: MadePlan) -> list[tuple[str, ...]]:
    """The aspects that differ, of each layer."""
    return [each.changed for each in plan_changes(made_report(a), made_report(b))]


def side(a: MadePlan, b: MadePlan, layer: int, aspect: str) -> AspectSides:
    row = plan_changes(made_report(a), made_report(b))[layer]
    return row.sides[list(ASPECTS).index(aspect)]


def test_a_plan_does_not_differ_from_itself() -> None:
    layers = plan_changes(made_report(BASE), made_report(BASE))
    assert all(each.changed == () for each in layers)
    assert (
        changes_sentence(layers)
        == "Both plans group, cut, place and order all 4 layers the same way."
    )
    assert folds(layers) == [[0, 3]]


def test_a_merge_is_marked_on_every_layer_of_the_new_group() -> None:
    # A: {0}, {1, 2} in two pieces, {3}. B: {0}, {1, 2, 3} in two pieces.
    merged = replace(BASE, groups=((0,), (1, 2, 3)))
    # Layer 3 ran whole and is in two pieces now; layers 1 and 2 keep their pieces.
    assert changes(BASE, merged) == [(), (GROUPS,), (GROUPS,), (GROUPS, PIECES)]
    assert side(BASE, merged, 1, GROUPS).short == "merged 2 → 3 layers"
    assert side(BASE, merged, 3, GROUPS).short == "merged 1 → 3 layers"
    assert side(BASE, merged, 3, GROUPS).a == "this layer alone"
    assert side(BASE, merged, 3, GROUPS).b == "3 layers: 2 to 4"
    assert side(BASE, merged, 3, PIECES).short == "1 → 2"
    assert side(BASE, merged, 3, PIECES).b == "2 pieces along axis 0"


def test_the_other_way_round_it_is_a_split_and_neither_is_regrouped() -> None:
    merged = replace(BASE, groups=((0,), (1, 2, 3)))
    assert side(merged, BASE, 1, GROUPS).short == "split 3 → 2 layers"
    shifted = MadePlan(((0, 1), (2,), (3,)))
    assert side(MadePlan(((0,), (1, 2), (3,))), shifted, 1, GROUPS).short == "regrouped"


def test_pieces_differ_in_number_or_in_axis() -> None:
    whole = replace(BASE, pieces=())
    assert changes(BASE, whole) == [(), (PIECES,), (PIECES,), ()]
    assert side(BASE, whole, 1, PIECES).short == "2 → 1"
    report = made_report(BASE)
    rows = [dict(row) for row in report.tables["groups"]]
    rows[1]["along"] = "axis 2"
    other = replace(report, tables={**report.tables, "groups": tuple(rows)})  # type: ignore[typeddict-item]
    row = plan_changes(report, other)[1]
    assert row.changed == (PIECES,)
    assert row.sides[1].short == "axis 0 → axis 2"


def test_cores_differ_in_number_in_axes_or_in_which_core_has_which_part() -> None:
    two = replace(BASE, cores={0: ("0", "[0,1]")})
    assert changes(BASE, two) == [(CORES,), (), (), ()]
    assert side(BASE, two, 0, CORES).short == "4 → 2 cores"
    assert side(BASE, two, 0, CORES).a == "4 cores, axis 0 in 4"
    along = replace(BASE, cores={0: ("0, 2", "[[0,1],[2,3]]")})
    assert side(BASE, along, 0, CORES).short == "axis 0 in 4 → 0 in 2, 2 in 2"
    turned = replace(BASE, cores={0: ("0", "[3,2,1,0]")})
    found = side(BASE, turned, 0, CORES)
    assert found.short == "other cores"
    assert (found.a, found.b) == (
        "4 cores, axis 0 in 4: [0,1,2,3]", "4 cores, axis 0 in 4: [3,2,1,0]",
    )  # fmt: skip
    elsewhere = replace(BASE, cluster=1)
    assert changes(BASE, elsewhere) == [(CORES,)] * 4
    assert side(BASE, elsewhere, 0, CORES).short == "cluster 0 → 1"


def test_the_memory_of_what_a_layer_hands_on_differs() -> None:
    near = replace(BASE, scopes={1: "LB", 3: "DRAM"})
    assert changes(BASE, near) == [(), (OUTPUT,), (), (OUTPUT,)]
    assert side(BASE, near, 1, OUTPUT).short == "GB → LB"
    # Layer 3 is the last one: nobody reads its result, which is the model's output.
    assert side(BASE, near, 3, OUTPUT).short == "GB → DRAM"
    fused = replace(BASE, scopes={1: ""})
    assert side(BASE, fused, 1, OUTPUT).short == "GB → loop nest"


def test_order_differs_where_another_piece_runs_before() -> None:
    # g0, g1 in two pieces, g2 in two pieces: breadth first, then depth first.
    wide = MadePlan(((0,), (1,), (2,)), (1, 2), ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1)))
    deep = replace(wide, order=((0, 0), (1, 0), (2, 0), (1, 1), (2, 1)))
    # Before 1/1: 1/0, then 2/0. Before 2/0: 1/1, then 1/0. Before 1/0 still 0/0.
    assert changes(wide, deep) == [(), (ORDER,), (ORDER,)]
    assert side(wide, deep, 1, ORDER).short == "2 to 3 → 2, 4"
    assert side(wide, deep, 2, ORDER).b == "kernels 3, 5"


def test_a_piece_that_one_plan_alone_has_changes_no_order() -> None:
    # B splits g1 in two. Its pieces are B's alone, so g2 follows g0 in both.
    whole, halves = MadePlan(((0,), (1,), (2,))), MadePlan(((0,), (1,), (2,)), (1,))
    assert changes(whole, halves) == [(), (PIECES,), ()]
    keys = layered_plan(made_report(whole)).pieces, layered_plan(made_report(halves)).pieces
    assert before(*keys) == {keys[0][0]: START, keys[0][2]: keys[0][0]}


def test_groups_smaller_than_a_layer_are_counted_within_it() -> None:
    report = made_report(MadePlan(((0,), (1,))))
    nodes = [dict(row) for row in report.tables["graph_nodes"]]
    nodes[1]["group"] = 1  # op 1 of layer 0 runs with layer 1
    other = replace(report, tables={**report.tables, "graph_nodes": tuple(nodes)})  # type: ignore[typeddict-item]
    rows = plan_changes(report, other)
    assert rows[0].sides[0].b == "2 groups within the layer"
    assert rows[0].sides[0].short == "merged 1 → 2 layers"


def test_the_sentence_counts_layers_by_aspect_and_folds_are_what_is_left() -> None:
    other = replace(BASE, scopes={0: "LB"}, pieces=())
    layers = plan_changes(made_report(BASE), made_report(other))
    assert change_counts(layers) == {GROUPS: 0, PIECES: 2, CORES: 0, OUTPUT: 1, ORDER: 0}
    said = "3 of 4 layers differ: 2 in pieces, 1 in output memory. 1 layer is the same in both."
    assert changes_sentence(layers) == said
    assert folds(layers) == [[3, 3]]


@pytest.mark.parametrize(
    ("binding", "grid", "cores"),
    [("0", (), 1), ("[0,1]", (2,), 2), ("[[0,1,2],[3,4,5]]", (2, 3), 6)],
)
def test_a_binding_has_parts_per_axis_and_cores(
    binding: str, grid: tuple[int, ...], cores: int
) -> None:
    assert grid_of(binding) == (grid, cores)


def test_two_models_have_no_plan_diff() -> None:
    own = made_report(BASE)
    assert is_one_graph(own, made_report(replace(BASE, pieces=())))
    assert not is_one_graph(own, made_report(MadePlan(((0,), (1,)))))
    assert not is_one_graph(own, made_report(BASE, model="another"))


def of_contract(report: Report) -> list[tuple[str, int]]:
    """Group and its pieces of every layer, by the contract alone."""
    pieces = {group["name"]: group["pieces"] for group in report.contract["groups"]}
    return [(row["group"], pieces[row["group"]]) for row in report.contract["layers"]]


@pytest.mark.parametrize("other", ["graphturbo@2", "graphturbo:gb@2", "layerwise@2"])
def test_marks_of_a_real_pair_agree_with_its_contracts(other: str) -> None:
    a, b = report_of("tvm@2"), report_of(other)
    rows = plan_changes(a, b)
    for row, own, counter in zip(rows, of_contract(a), of_contract(b), strict=True):
        if GROUPS not in row.changed:  # the same group has the same pieces but where it is marked
            assert (PIECES in row.changed) == (own[1] != counter[1])
    scopes = [scopes_of_layers(report) for report in (a, b)]
    for row in rows:
        assert (OUTPUT in row.changed) == (scopes[0][row.layer] != scopes[1][row.layer])


def scopes_of_layers(report: Report) -> dict[int, set[tuple[str, str]]]:
    """Tensors between layers with their memories, straight from the tables."""
    layer_of = {row["op"]: row["layer"] for row in report.tables["graph_nodes"]}
    readers: dict[str, set[int]] = {}
    for edge in report.tables["graph_edges"]:
        target = report.tables["graph_nodes"][edge["target"]]["layer"]
        readers.setdefault(edge["tensor"], set()).add(target)
    found: dict[int, set[tuple[str, str]]] = {layer: set() for layer in layer_of.values()}
    for row in report.tables["bindings"]:
        layer = layer_of[row["op"]]
        if readers.get(row["tensor"], set()) != {layer}:
            found[layer].add((row["tensor"], row["scope"]))
    return found


def test_swapping_the_runs_swaps_the_sides_and_marks_the_same_layers() -> None:
    rng = random.Random(5)
    for _ in range(40):
        a, b = (made_report(_random_plan(rng)) for _ in range(2))
        there, back = plan_changes(a, b), plan_changes(b, a)
        assert [row.changed for row in there] == [row.changed for row in back]
        for one, other in zip(there, back, strict=True):
            assert [(s.a, s.b) for s in one.sides] == [(s.b, s.a) for s in other.sides]
        covered = [n for first, last in folds(there) for n in range(first, last + 1)]
        assert covered == [row.layer for row in there if not row.changed]


def _random_plan(rng: random.Random) -> MadePlan:
    """Six layers cut at random, with random pieces, memories and order."""
    cuts = [0, *sorted(rng.sample(range(1, 6), rng.randint(0, 5))), 6]
    groups = [tuple(range(a, b)) for a, b in pairwise(cuts)]
    pieces = tuple(n for n in range(len(groups)) if rng.random() < 0.4)
    plan = MadePlan(groups, pieces, scopes={n: rng.choice(("LB", "GB")) for n in range(6)})
    order = plan.kernels
    rng.shuffle(order)
    return replace(plan, order=order)


def header_of(buffer: bytes) -> dict:
    length = int.from_bytes(buffer[:4], "little")
    return json.loads(buffer[4 : 4 + length])


def test_the_picture_has_the_rows_that_were_computed() -> None:
    a, b = report_of("tvm@2"), report_of("graphturbo:gb@2")
    layers = plan_changes(a, b)
    header = header_of(plan_diff_buffer((a, b), layers))
    assert header["sentence"] == changes_sentence(layers)
    assert header["counts"] == list(change_counts(layers).values())
    assert header["folds"] == folds(layers) == [[12, 12]]
    shorts = [[short for _, _, short in layer["sides"]] for layer in header["layers"]]
    assert shorts == [[each.short for each in layer.sides] for layer in layers]
    assert [run["kernels"] for run in header["runs"]] == [13, 13]
    # Layer 1 is in flight for 5.337 µs in A and holds 12,352 bytes at most: 12.06 KiB.
    assert header["layers"][0]["figures"][0] == ["5.34 µs", "1.65 µs"]
    assert header["layers"][0]["figures"][1][0] == "12.1 KiB"


def test_a_run_is_drawn_as_one_round() -> None:
    a, b = report_of("tvm@2"), report_of("graphturbo@2")
    header = header_of(plan_diff_buffer((a, b), plan_changes(a, b)))
    assert [[row["count"] for row in run["sequence"]] for run in header["runs"]] == [[1], [1]]


def test_names_pass_through_what_makes_them_safe() -> None:
    a, b = report_of("tvm@2"), report_of("graphturbo@2")
    header = header_of(plan_diff_buffer((a, b), plan_changes(a, b), show=lambda _: "safe"))
    assert {layer["name"] for layer in header["layers"]} == {"safe"}
    assert {run["strategy"] for run in header["runs"]} == {"safe"}


def test_a_difference_lists_its_aspects_in_order() -> None:
    sides = tuple(AspectSides(aspect, "", "", "x") for aspect in ASPECTS)
    assert LayerDifference(0, "n", sides).changed == tuple(ASPECTS)
