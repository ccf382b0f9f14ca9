"""What is selected: its text form, and the ops it stands for."""

from __future__ import annotations

import pytest

from graphturbo_ui.figures.group_tables import facts, group_selections
from graphturbo_ui.figures.instructions import shown_instructions
from graphturbo_ui.session.selection import Selection, marks, selected_in
from tests.ui.apart import NORM, NORM_PARTS, SOFTMAX, SOFTMAX_PARTS, apart
from tests.ui.synthetic import OPS_PER_LAYER, synthetic_report


def test_what_is_written_is_read():
    for text in ("a-group-0", "b-layer-12", "a-op-1234567"):
        found = Selection.read(text)
        assert found is not None
        assert found.text() == text


@pytest.mark.parametrize(
    "text", [None, 3, "", "c-group-1", "a-kernel-1", "a-group--1", "a-group-12345678", "a-group-1 "]
)
def test_anything_else_selects_nothing(text: object):
    assert Selection.read(text) is None


def test_a_selection_stands_for_the_same_ops_by_any_kind():
    report = synthetic_report(layers=6, layers_per_group=2)
    second_group = range(2 * OPS_PER_LAYER, 4 * OPS_PER_LAYER)
    assert Selection("B", "group", 1).ops(report) == frozenset(second_group)
    assert Selection("B", "layer", 2).ops(report) == frozenset(second_group[:OPS_PER_LAYER])
    assert Selection("B", "op", 7).ops(report) == {7}
    assert Selection("B", "group", 99).ops(report) == frozenset()


def test_what_comes_from_one_op_of_the_model_is_selected_in_both_runs():
    reports = dict(zip("AB", apart(), strict=True))
    whole = selected_in(Selection("B", "op", NORM), reports)
    assert whole == {"A": NORM_PARTS, "B": {NORM}}
    part = selected_in(Selection("A", "op", min(NORM_PARTS)), reports)
    assert part == {"A": {min(NORM_PARTS)}, "B": {NORM}}
    for run in "AB":
        layer = selected_in(Selection(run, "layer", 3), reports)
        assert layer == {"A": {*SOFTMAX_PARTS, max(SOFTMAX_PARTS) + 1}, "B": {SOFTMAX, 5}}


def test_rows_of_a_run_that_takes_an_op_apart_are_marked_by_its_parts():
    reports = dict(zip("AB", apart(), strict=True))
    said = marks(Selection("B", "op", NORM), group_selections(*apart()), reports)
    # of A's eleven groups three hold parts of the norm, the last of them the activation too
    assert said[:11] == [*[""] * 8, "all", "all", "part"]
    assert said[11:] == [*[""] * 8, "all", ""]


def test_instructions_of_the_parts_are_listed_with_those_of_the_whole():
    reports = dict(zip("AB", apart(), strict=True))
    ops = list(selected_in(Selection("B", "op", NORM), reports).values())
    first, second = shown_instructions(*apart(), windows=None, ops=ops)
    assert {int(op) for op in apart()[0].arrays["op"][first]} == NORM_PARTS
    assert {int(op) for op in apart()[1].arrays["op"][second]} == {NORM}


def test_a_part_tells_its_own_type_and_where_the_other_run_has_the_whole():
    reports = dict(zip("AB", apart(), strict=True))
    title, given = facts(Selection("A", "op", max(NORM_PARTS)), reports)
    assert title == "Add LayerNormalization_8/shift"
    assert given["layer"] == "LayerNormalization_8 (LayerNormalization)"
    assert given["sub-graph in A"] == "layers 6 to 7: 7 ops in 1 piece"
    assert given["sub-graph in B"] == "layer 6: 1 op in 1 piece"
    _, given = facts(Selection("B", "op", NORM), reports)
    assert given["sub-graph in A"] == "; ".join(
        ["layer 6, part 1: 1 op in 1 piece", "layer 6, part 2: 3 ops in 1 piece",
         "layers 6 to 7: 7 ops in 1 piece"]
    )  # fmt: skip
