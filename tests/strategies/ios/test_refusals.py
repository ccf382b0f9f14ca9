"""Refused: graphs that are none, limits below one, and blocks above the limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.errors import CapacityError, OptionError
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.strategies.ios import (
    best_schedule,
    blocks,
    greedy,
    search_space,
    sequential,
)

GRAPH_USERS = (
    search_space,
    sequential,
    greedy,
    blocks,
    lambda edges, n: best_schedule(edges, n, len),
)


@pytest.mark.parametrize("use", GRAPH_USERS)
def test_what_is_no_graph_is_refused_everywhere(use: object) -> None:
    assert callable(use)
    with pytest.raises(OptionError, match="the number of ops is -1, give 0 or more") as refusal:
        use([], -1)
    assert refusal.value.code == "BAD_OP_COUNT"
    with pytest.raises(OptionError, match="has a cycle of 2 ops, 0 -> 1 -> 0, remove") as refusal:
        use([(0, 1), (1, 0)], 2)
    assert refusal.value.code == "OP_CYCLE"
    for edge in ((0, 2), (2, 0), (-1, 0), (0, -1)):
        with pytest.raises(OptionError, match="does not exist in a graph of 2 ops") as refusal:
            use([edge], 2)
        assert (refusal.value.code, refusal.value.where) == ("BAD_EDGE", f"edge {edge}")
    with pytest.raises(CapacityError, match="200001 ops, more than 200000"):
        use([], DEFAULT_LIMITS.max_ops + 1)


def test_a_cycle_is_named_from_its_smallest_op_on() -> None:
    """5 leads into the cycle 3 -> 1 -> 2 -> 3, and 4 and 0 hang behind it."""
    edges = [(5, 3), (3, 1), (1, 2), (2, 3), (2, 4), (4, 0)]
    with pytest.raises(OptionError) as refusal:
        search_space(edges, 6)
    assert refusal.value.where == "1 -> 2 -> 3 -> 1"
    assert refusal.value.fields == {"cycle": (1, 2, 3)}


def test_an_op_that_reads_itself_is_a_cycle() -> None:
    with pytest.raises(OptionError, match="a cycle of 1 ops, 0 -> 0"):
        search_space([(0, 0)], 1)


def test_of_a_long_cycle_eight_ops_are_shown() -> None:
    edges = [(op, (op + 1) % 10) for op in range(10)]
    with pytest.raises(OptionError, match="6 -> 7 -> 2 more -> 0, remove"):
        search_space(edges, 10)


@pytest.mark.parametrize("limits", [{"r": 0}, {"s": 0}, {"r": -1, "s": 1}])
def test_a_limit_below_one_is_refused(limits: dict[str, int]) -> None:
    name = min(limits)
    with pytest.raises(OptionError, match=f"{name} is {limits[name]}, so no stage") as refusal:
        search_space([], 1, **limits)
    assert refusal.value.code == "BAD_PRUNING"
    with pytest.raises(OptionError, match="so no stage is allowed"):
        best_schedule([], 1, len, **limits)


def test_a_block_at_each_limit_is_counted_and_one_above_is_refused() -> None:
    """Three independent ops have 7 states, and 19 pairs of a state and an ending."""
    exact = replace(DEFAULT_LIMITS, max_block_ops=3, max_states=7, max_state_endings=19)
    assert search_space([], 3, limits=exact).pairs == 19
    for field, code in (
        ("max_block_ops", "BLOCK_TOO_LARGE"),
        ("max_states", "TOO_MANY_STATES"),
        ("max_state_endings", "TOO_MANY_PAIRS"),
    ):
        with pytest.raises(CapacityError) as refusal:
            search_space([], 3, limits=replace(exact, **{field: getattr(exact, field) - 1}))
        assert refusal.value.code == code


def test_states_are_refused_while_endings_are_few() -> None:
    """A stage of one op per step: the full state of four ops has 4 endings, the block 15 states."""
    exact = replace(DEFAULT_LIMITS, max_states=15)
    assert search_space([], 4, s=1, limits=exact).states == 15
    with pytest.raises(CapacityError, match="more than 14 states, 4 ops, schedule parts"):
        search_space([], 4, s=1, limits=replace(exact, max_states=14))


def test_large_blocks_are_refused_before_all_is_listed() -> None:
    """60 independent ops have 2^60 - 1 endings."""
    for use in (search_space, lambda edges, n: best_schedule(edges, n, len)):
        with pytest.raises(CapacityError, match="more than 200000 states"):
            use([], 60)
        with pytest.raises(CapacityError, match="1001 ops, more than 1000"):
            use([(op, op + 1) for op in range(1_000)], 1_001)
