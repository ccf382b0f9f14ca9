"""Edits as a list: each has a text, is added with its own names, and is removed completely."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.errors import PlanError
from graphturbo_core.export import edit_list
from graphturbo_core.export.edit_list import NO_EDITS, EditEntry, Edits
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import Residency, Scope
from graphturbo_core.strategies.plan_files.edits import EditedCuts

MODEL, STRATEGY, CHIP = "teaching-resnet", "graphturbo@16", "generic-4x4"
FULL = Edits(
    names={"g1": ("a", "b"), "g2": ("c",)},
    merge=(("g1", "c"),),
    keep_apart=(("g2", "d"),),
    pieces={"g1": 4},
    axis={"d": 2},
    binding={"t": EditedCuts((2,), (8,))},
    scope={"t": Scope.GB, "u": {10: Scope.LB, 2: Scope.DRAM}},
    residency={"g2": Residency.STREAM},
)


def test_every_edit_is_told_in_words():
    assert [entry.text for entry in edit_list.edit_entries(FULL)] == [
        "merge g1 + c",
        "keep apart g2 | d",
        "pieces of g1: 4",
        "axis of d: 2",
        "binding of t: axes (2,), grid (8,), cores None",
        "scope of t: GB",
        "scope of u: piece 2 DRAM, piece 10 LB",
        "residency of g2: stream",
    ]


def test_parts_are_shown_in_other_words_and_tensors_are_not():
    edits = replace(FULL, binding={"g1": EditedCuts((2,), (8,))}, scope={})
    words = {"g1": "layers 1 to 2", "g2": "layer 3"}
    assert [entry.text for entry in edit_list.edit_entries(edits, words)] == [
        "merge layers 1 to 2 + c",
        "keep apart layer 3 | d",
        "pieces of layers 1 to 2: 4",
        "axis of d: 2",
        "binding of g1: axes (2,), grid (8,), cores None",
        "residency of layer 3: stream",
    ]


def test_pieces_and_their_axis_are_one_edit():
    edits = Edits(names={"g1": ("a",)}, pieces={"g1": 4}, axis={"g1": 0})
    (entry,) = edit_list.edit_entries(edits)
    assert entry.text == "pieces of g1: 4, along axis 0"
    assert edit_list.without(edits, entry) == NO_EDITS


def test_what_is_taken_out_one_by_one_leaves_nothing():
    edits = FULL
    for entry in reversed(edit_list.edit_entries(FULL)):
        edits = edit_list.without(edits, entry)
        assert entry not in edit_list.edit_entries(edits)
    assert edits == NO_EDITS


def test_a_name_goes_with_the_last_edit_that_speaks_of_it():
    less = edit_list.without(FULL, EditEntry("keep_apart", "0", ""))
    assert set(less.names) == {"g1", "g2"}
    less = edit_list.without(less, EditEntry("residency", "g2", ""))
    assert set(less.names) == {"g1"}


def test_parts_get_names_that_no_op_and_no_other_part_has():
    edits = edit_list.with_merge(NO_EDITS, {"g1": ("a",), "g2": ("b",)}, taken={"g2"})
    assert edits.names == {"g1": ("a",), "g2-": ("b",)}
    assert edits.merge == (("g1", "g2-"),)
    again = edit_list.with_apart(edits, {"g1": ("a", "c"), "g2": ("b",)}, taken={"g2"})
    assert again.names == {"g1": ("a",), "g2-": ("b",), "g1-": ("a", "c")}
    assert again.keep_apart == (("g1-", "g2-"),)
    assert edit_list.with_merge(edits, {"g1": ("a",), "g2": ("b",)}, {"g2"}) == edits


def test_the_last_word_on_a_cut_counts():
    edits = edit_list.with_cut(NO_EDITS, ("g1", ("a",)), {"pieces": 2, "axis": 0})
    edits = edit_list.with_cut(edits, ("g1", ("a",)), {"pieces": 4})
    assert (edits.pieces, edits.axis) == ({"g1": 4}, {"g1": 0})


@pytest.fixture(scope="module")
def head() -> str:
    request = RunRequest(MODEL, STRATEGY, CHIP, 64, emit=("edits",))
    return run_report(load_sample(MODEL), request).text("edits")


def test_a_head_without_edits_is_no_plan_yet(head: str):
    assert edit_list.edits_in(head) == NO_EDITS
    with pytest.raises(PlanError, match="neither edits nor a record"):
        read_plan(head.encode(), "p")


def test_edits_written_below_a_head_are_followed(head: str):
    """docs/plan-files.md: merging g1 and g2 leaves two groups and three kernels."""
    plan = RunRequest(MODEL, STRATEGY, CHIP, 64, emit=("plan",))
    report = run_report(load_sample(MODEL), plan)
    assert len(report.tables["groups"]) == 3
    first, second = (
        tuple(node["op"] for node in report.tables["graph_nodes"] if node["group"] == group)
        for group in (0, 1)
    )
    edits = edit_list.with_merge(NO_EDITS, {"g1": first, "g2": second})
    text = edit_list.plan_with(head, edits)
    assert edit_list.edits_in(text) == edits
    again = run_report(
        load_sample(MODEL), RunRequest(MODEL, STRATEGY, CHIP, 64, plan=text, emit=("edits",))
    )
    assert len(again.tables["groups"]) == 2
    assert again.contract["kernels"] == 3
    assert edit_list.edits_in(again.text("edits")) == edits


LAYERS = {op: layer for layer, op in enumerate("abcdef")}
"""The layer of each op of a model of six layers."""


def at_odds(**lists: object) -> list[str]:
    edits = Edits(names={"ab": ("a", "b"), "cd": ("c", "d")}, **lists)  # type: ignore[arg-type]
    return [entry.text for entry in edit_list.conflicting(edits, LAYERS)]


def test_edits_that_contradict_each_other_are_found_among_others():
    assert at_odds(merge=(("ab", "c"),), keep_apart=(("a", "b"),), pieces={"f": 2}) == [
        "merge ab + c",
        "keep apart a | b",
    ]
    # Two merges with a layer in common are one group.
    assert at_odds(merge=(("e", "f"), ("a", "b"), ("b", "c")), keep_apart=(("a", "c"),)) == [
        "merge a + b",
        "merge b + c",
        "keep apart a | c",
    ]
    assert at_odds(merge=(("a", "b"),), pieces={"a": 2, "b": 4}) == [
        "merge a + b",
        "pieces of a: 2",
        "pieces of b: 4",
    ]
    assert at_odds(keep_apart=(("ab", "b"),)) == ["keep apart ab | b"]


def test_edits_that_agree_and_names_that_are_unknown_are_not_at_odds():
    assert at_odds(merge=(("ab", "cd"),), keep_apart=(("d", "e"),), pieces={"ab": 2}) == []
    assert at_odds(merge=(("a", "x"),)) == []
