"""Algorithm 2: which parts merge, on graphs whose counts a table gives."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from graphturbo_core.strategies.graphturbo import grouping
from graphturbo_core.strategies.graphturbo.grouping import (
    RULE_ABOVE,
    RULE_ANY,
    RULE_BLOCK,
    RULE_COUNT,
    RULE_CYCLE,
    RULE_EQUAL,
    RULE_GROWS,
    RULE_LARGEST,
    RULE_REFETCH,
    RULE_SPLIT,
    RULE_UNEQUAL,
    Grouping,
    MergeRule,
    Merging,
    group_layers,
)
from graphturbo_core.strategies.steps.splitting import SplitInfo, SubGraph
from tests.strategies.samples import layers_of

MAP = "float[8,4,6,6]"
WEIGHT = "float[4,4,1,1] w"

CHAIN = f"""g ({MAP} x, {WEIGHT}) => ({MAP} d) {{
    a = Conv(x, w)
    b = MaxPool <kernel_shape = [1,1]> (a)
    c = Conv(b, w)
    d = Conv(c, w) }}"""

RESIDUAL = f"""g ({MAP} x, {WEIGHT}) => ({MAP} z) {{
    a = Conv(x, w)
    b = Conv(a, w)
    c = Conv(b, w)
    d = Conv(c, w)
    z = Add(d, a) }}"""
"""Layers a, b, c and {d, z}; a is the fork, {d, z} the join."""

SIBLINGS = f"""g ({MAP} x, {WEIGHT}) => ({MAP} b, {MAP} c) {{
    a = Conv(x, w)
    b = Conv(a, w)
    c = Conv(a, w) }}"""


class Table:
    """Piece counts of single layers by what they write; a merged part takes the largest.

    `merged` gives other counts for what ends there; 0 is no split.
    """

    def __init__(self, counts: Mapping[str, int], merged: Mapping[str, int] | None = None) -> None:
        self.counts, self.merged = counts, merged or {}

    def __call__(self, part: SubGraph) -> SplitInfo | None:
        writes = [part.graph.writes[layer][-1] for layer in part.layers]
        pieces = max(self.counts[name] for name in writes)
        if len(writes) > 1:
            pieces = self.merged.get(writes[-1], pieces)
        return SplitInfo(True, len(part.ops), pieces, 0, 0) if pieces else None


def grouped(
    text: str, table: Table, has_block_step: bool = True, rule: MergeRule = MergeRule.WEIGHTS
) -> tuple[list[str], Grouping]:
    """The parts by the letters they write, and the whole answer."""
    layers = layers_of(text)
    found = group_layers(layers, table, Merging(has_block_step, rule))
    return ["".join(layers.writes[i][-1] for i in part.layers) for part in found.parts], found


def rules(grouping: Grouping, step: str) -> list[tuple[bool, str]]:
    return [(d.is_taken, d.rule) for d in grouping.decisions if d.step == step]


def test_straight_equal_counts() -> None:
    parts, _ = grouped(CHAIN, Table({"a": 4, "b": 4, "c": 4, "d": 4}))
    assert parts == ["abcd"]


def test_part_with_weights_is_not_raised_and_one_without_is() -> None:
    parts, found = grouped(CHAIN, Table({"a": 4, "b": 2, "c": 8, "d": 8}))
    # The pooling b has no weights: it is raised to 4 with a. a has some: it is not raised to 8,
    # neither beside c nor, in the next turn, beside cd.
    assert parts == ["ab", "cd"]
    assert rules(found, "straight") == [
        (True, RULE_COUNT),
        (False, RULE_REFETCH),
        (True, RULE_COUNT),
        (False, RULE_REFETCH),
    ]


def test_merged_count_may_not_grow() -> None:
    parts, found = grouped(CHAIN, Table({"a": 4, "b": 4, "c": 4, "d": 4}, {"b": 8}))
    # a and b alone would need 8; the next turn merges a with bcd, which does not.
    assert parts == ["abcd"]
    assert rules(found, "straight")[0] == (False, RULE_GROWS)
    assert found.decisions[0].numbers["pieces"] == 8
    assert found.decisions[0].numbers["pieces_of_parts"] == "4+4"


def test_equal_counts_alone() -> None:
    parts, found = grouped(CHAIN, Table({"a": 4, "b": 2, "c": 8, "d": 8}), rule=MergeRule.EQUAL)
    # The pooling b has no weights, and stays apart all the same.
    assert parts == ["a", "b", "cd"]
    assert rules(found, "straight") == [
        (False, RULE_UNEQUAL),
        (False, RULE_UNEQUAL),
        (True, RULE_EQUAL),
        (False, RULE_UNEQUAL),
    ]
    parts, found = grouped(
        CHAIN, Table({"a": 4, "b": 4, "c": 4, "d": 4}, {"b": 8}), rule=MergeRule.EQUAL
    )
    assert parts == ["abcd"]
    assert rules(found, "straight")[0] == (False, RULE_UNEQUAL)


def test_up_to_the_largest_count() -> None:
    table = Table({"a": 4, "b": 2, "c": 8, "d": 8}, {"b": 8})
    # a and b alone would need 8, above 4; b with c, then a with bc, need no more than c has.
    parts, found = grouped(CHAIN, table, rule=MergeRule.LARGEST)
    assert parts == ["abcd"]
    assert rules(found, "straight")[:2] == [(False, RULE_ABOVE), (True, RULE_LARGEST)]


def test_whatever_has_a_split() -> None:
    table = Table({"a": 4, "b": 2, "c": 1, "d": 1}, {"b": 8, "d": 0})
    # a and b take 8, and c with them; with d there is no split.
    parts, found = grouped(CHAIN, table, rule=MergeRule.ANY)
    assert parts == ["abc", "d"]
    taken = [(True, RULE_ANY), (True, RULE_ANY), (False, RULE_SPLIT)]
    assert rules(found, "straight")[:3] == taken


def test_count_may_grow_where_no_part_has_weights() -> None:
    pools = f"""g ({MAP} x) => ({MAP} b) {{
        a = MaxPool <kernel_shape = [1,1]> (x)
        b = MaxPool <kernel_shape = [1,1]> (a) }}"""
    parts, found = grouped(pools, Table({"a": 2, "b": 2}, {"b": 4}))
    assert parts == ["ab"]
    (split,) = (part.split for part in found.parts)
    assert split is not None
    assert split.pieces == 4


def test_a_scalar_is_no_weight() -> None:
    for size, has_weights in ((1, False), (6, True)):
        layers = layers_of(f"g ({MAP} x, float[{size}] w) => ({MAP} y) {{ y = Mul(x, w) }}")
        assert layers.has_weights == (has_weights,)


def test_diamond_leaves_its_fork_where_that_has_weights_and_another_count() -> None:
    text = f"""g ({MAP} x, {WEIGHT}) => ({MAP} z) {{
        a = Conv(x, w)
        b = MaxPool <kernel_shape = [1,1]> (a)
        c = MaxPool <kernel_shape = [1,1]> (b)
        z = Add(c, a) }}"""
    parts, found = grouped(text, Table({"a": 1, "b": 2, "z": 2}), has_block_step=False)
    assert parts == ["a", "bz"]
    assert rules(found, "diamond")[:2] == [(False, RULE_REFETCH), (True, RULE_COUNT)]


def test_merged_part_without_split_is_refused() -> None:
    parts, found = grouped(CHAIN, Table({"a": 4, "b": 4, "c": 4, "d": 4}, {"d": 0}))
    assert parts == ["abc", "d"]
    assert (False, RULE_SPLIT) in rules(found, "straight")


def test_block_step_merges_unequal_counts_without_the_fork() -> None:
    parts, found = grouped(RESIDUAL, Table({"a": 2, "b": 4, "c": 2, "z": 8}))
    assert parts == ["a", "bcz"]
    assert rules(found, "block") == [(True, RULE_BLOCK)]
    assert len(found.decisions[0].subject) == 3


def test_without_block_step_unequal_counts_stay_apart() -> None:
    parts, _ = grouped(RESIDUAL, Table({"a": 2, "b": 4, "c": 2, "z": 8}), has_block_step=False)
    assert parts == ["a", "b", "c", "z"]


def test_diamond_merges_fork_and_join() -> None:
    # Without the block step, b and c may not merge alone (no split): a, b, c, z form a diamond.
    table = Table({"a": 4, "b": 4, "c": 4, "z": 4}, {"c": 0})
    parts, found = grouped(RESIDUAL, table, has_block_step=False)
    assert parts == ["abcz"]
    assert rules(found, "straight") == [(False, RULE_SPLIT)]
    assert rules(found, "diamond") == [(True, RULE_COUNT)]


def test_branch_merges_siblings() -> None:
    counts = {"a": 2, "b": 4, "c": 4}
    parts, found = grouped(SIBLINGS, Table(counts))
    assert parts == ["a", "bc"]
    assert (True, RULE_COUNT) in rules(found, "branch")


def test_siblings_with_a_path_between_them_are_refused() -> None:
    text = f"""g ({MAP} x, {WEIGHT}) => (float[16,4,6,6] e) {{
        a = Conv(x, w)
        b = Conv(a, w)
        c = Conv(b, w)
        e = Concat <axis = 0> (a, c) }}"""
    _, found = grouped(text, Table({"a": 4, "b": 2, "c": 4, "e": 2}), has_block_step=False)
    # a and c both feed e, and a reaches c over b: merged, they and b would need each other.
    assert (False, RULE_CYCLE) in rules(found, "branch")


def test_every_layer_is_in_one_part_and_order_is_topological() -> None:
    _, found = grouped(RESIDUAL, Table({"a": 4, "b": 2, "c": 4, "z": 4}), False)
    layers = [layer for part in found.parts for layer in part.layers]
    assert sorted(layers) == [0, 1, 2, 3]


def test_a_part_is_asked_so_often_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every merge is refused: each sibling asks the first of those before it until 16 have."""
    merger = object.__new__(grouping._Merger)
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(
        merger, "_merge_counts", lambda _, parts: asked.append(tuple(parts)), raising=False
    )
    merger._merge_siblings(range(20))
    assert [pair for pair in asked if pair[0] == 0] == [(0, other) for other in range(1, 17)]
