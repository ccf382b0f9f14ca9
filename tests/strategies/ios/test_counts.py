"""Counts of IOS's table, of small graphs by hand, and of random graphs by enumeration."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from graphturbo_core.strategies.ios import IosSpace, blocks, search_space
from tests.strategies.ios import networks
from tests.strategies.ios.enumeration import Enumeration, drawn
from tests.strategies.ios.networks import Drawing, Tensor

TABLE = {
    networks.inception_e: (11, 6, 180, 4_871, 3_757_392),
    networks.complex_fire: (6, 3, 12, 51, 131),
    networks.inception_a: (9, 4, 72, 1_017, 59_892),
    networks.inception_b: (6, 3, None, 80, 232),
    networks.inception_d: (8, 3, None, 248, 3_344),
    networks.inception_stem: (7, 1, 7, 28, 64),
}
"""Ops, width, states, pairs and schedules as published; None where the table has no number."""


def counted(block: Callable[[Drawing, Tensor], Tensor]) -> tuple[int, IosSpace]:
    net = Drawing()
    block(net, None)
    return net.n, search_space(net.edges, net.n)


@pytest.mark.parametrize("block", TABLE, ids=lambda block: block.__name__)
def test_a_block_has_the_published_counts(block: Callable[[Drawing, Tensor], Tensor]) -> None:
    n, space = counted(block)
    found = (n, space.width, space.states, space.pairs, space.schedules)
    published = TABLE[block]
    assert [
        number for number, known in zip(found, published, strict=True) if known is not None
    ] == [known for known in published if known is not None]


def test_the_bound_is_exact_and_as_published() -> None:
    """Block E: C(11/6 + 2, 2)^6 = (23/6 * 17/6 / 2)^6; fire: C(4, 2)^3 = 6^3."""
    _, space = counted(networks.inception_e)
    assert space.bound == Fraction(23 * 17, 72) ** 6
    assert f"{float(space.bound):.2e}" == "2.56e+04"
    assert counted(networks.complex_fire)[1].bound == 216


def test_block_c_has_four_independent_chains() -> None:
    """States: 2 * 4 * 6 * 3 prefixes of the chains; one of them is empty, and one more is full."""
    assert counted(networks.inception_c)[1].states == 2 * 4 * 6 * 3 - 1 + 1


@pytest.mark.parametrize(
    ("net", "states", "pairs"),
    [(networks.inception_v3(), 1_206, 27_742), (networks.squeezenet(), 78, 284)],
    ids=["inception_v3", "squeezenet"],
)
def test_blocks_of_a_network_add_up_to_the_published_counts(
    net: Drawing, states: int, pairs: int
) -> None:
    spaces = [search_space(*part(net, ops)) for ops in blocks(net.edges, net.n)]
    assert sum(space.states for space in spaces) == states
    assert sum(space.pairs for space in spaces) == pairs


def part(net: Drawing, ops: tuple[int, ...]) -> tuple[list[tuple[int, int]], int]:
    """Edges within some ops, which are numbered from 0."""
    number = {op: index for index, op in enumerate(ops)}
    inner = [(a, b) for a, b in net.edges if a in number and b in number]
    return [(number[a], number[b]) for a, b in inner], len(ops)


def test_a_fork_by_hand() -> None:
    """0 -> 1, 0 -> 2. Endings of {0, 1, 2}: 1 | 2 | both | all; {0, 1}: 1 | both; {0}: itself.

    Schedules: (0)(1)(2), (0)(2)(1), (0, 1)(2), (0, 2)(1), (0)(1 with 2), (0, 1, 2).
    """
    assert search_space([(0, 1), (0, 2)], 3) == IosSpace(
        width=2, bound=Fraction(7 * 5, 8) ** 2, states=4, pairs=4 + 2 + 2 + 1, schedules=6
    )


def test_a_join_by_hand() -> None:
    """0 -> 2, 1 -> 2. Op 2 with both others is no ending: their groups share op 2.

    {0, 1, 2}: 2 | 0 with 2 | 1 with 2; {0, 1}: 0 | 1 | both; {0}: itself; {1}: itself.
    Schedules: {0, 1} has three, and {1} and {0} have one each.
    """
    space = search_space([(0, 2), (1, 2)], 3)
    assert (space.states, space.pairs, space.schedules) == (4, 3 + 3 + 1 + 1, 3 + 1 + 1)


@pytest.mark.parametrize(("r", "pairs", "schedules"), [(1, 3, 1), (2, 5, 3), (3, 6, 4), (9, 6, 4)])
def test_a_chain_with_groups_of_at_most_r_ops(r: int, pairs: int, schedules: int) -> None:
    """A chain of three: as many pairs as runs of at most r ops, schedules as compositions of 3."""
    space = search_space([(0, 1), (1, 2)], 3, r=r)
    assert (space.states, space.pairs, space.schedules) == (3, pairs, schedules)


@pytest.mark.parametrize(
    ("s", "pairs", "schedules"), [(1, 12, 6), (2, 18, 12), (3, 19, 13), (9, 19, 13)]
)
def test_independent_ops_with_at_most_s_per_stage(s: int, pairs: int, schedules: int) -> None:
    """Three ops: seven states. Stages of one op: 3 * 1 + 3 * 2 + 3; of two: 3 + 3; of three: 1."""
    space = search_space([], 3, s=s)
    assert (space.width, space.states, space.pairs) == (3, 7, pairs)
    assert space.schedules == schedules


def test_graphs_of_no_and_of_one_op() -> None:
    assert search_space([], 0) == IosSpace(0, Fraction(1), 0, 0, 1)
    assert search_space([], 1) == IosSpace(1, Fraction(3), 1, 1, 1)


@pytest.mark.parametrize(("r", "s"), [(None, None), (1, None), (None, 1), (2, 2), (3, 8)])
def test_random_graphs_have_the_counts_of_their_enumeration(r: int | None, s: int | None) -> None:
    for seed in range(60):
        edges, n = drawn(seed, most=6)
        known = Enumeration(edges, n, r, s)
        space = search_space(edges, n, r, s)
        found = (space.width, space.states, space.pairs, space.schedules)
        listed = sum(1 for _ in known.schedules())
        assert found == (known.width(), len(known.states) - 1, known.pairs(), listed), seed


def test_the_pairs_stay_within_the_bound() -> None:
    for seed in range(100):
        space = search_space(*drawn(seed))
        assert space.pairs <= space.bound, seed
