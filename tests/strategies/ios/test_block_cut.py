"""Blocks: by hand, of two networks, and against every path of random graphs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

from graphturbo_core.strategies.ios import blocks
from graphturbo_core.strategies.ios.block_cut import fastest_by_block
from tests.strategies.ios import networks
from tests.strategies.ios.enumeration import Edges, drawn


def test_a_diamond_ends_with_its_join() -> None:
    """Every path goes through 0, 3 and 4; 0 alone is a chain of one op, as is 4."""
    assert blocks([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)], 5) == ((0,), (1, 2, 3), (4,))


def test_a_chain_is_one_block() -> None:
    assert blocks([(0, 1), (1, 2)], 3) == ((0, 1, 2),)
    assert blocks([(2, 0), (0, 1)], 3) == ((2, 0, 1),)


def test_two_diamonds_are_two_blocks() -> None:
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)]
    assert blocks(edges, 7) == ((0,), (1, 2, 3), (4, 5, 6))


def test_a_shortcut_keeps_its_block_together() -> None:
    """0 -> 1 -> 2 -> 3 and 0 -> 3: all ops lie between, but the result of 0 passes beside them."""
    assert blocks([(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)], 5) == ((0,), (1, 2, 3), (4,))


def test_a_result_of_the_graph_passes_beside_all_later_ops() -> None:
    """1 is a result. So the paths 0, 1 and 0, 2, 3 meet in 0 only."""
    assert blocks([(0, 1), (0, 2), (2, 3)], 4) == ((0,), (1, 2, 3))


def test_a_second_input_of_the_graph_passes_beside_all_earlier_ops() -> None:
    """2 reads no op. The paths 0, 1, 3 and 2, 3 meet in 3 only."""
    assert blocks([(0, 1), (1, 3), (2, 3)], 4) == ((0, 1, 2, 3),)


def test_ops_without_edges_are_one_block() -> None:
    assert blocks([], 0) == ()
    assert blocks([], 1) == ((0,),)
    assert blocks([], 3) == ((0, 1, 2),)


def test_inception_has_its_thirteen_blocks() -> None:
    """Stem; 3 times A; B; 4 times C; D; 2 times E; pooling."""
    net = networks.inception_v3()
    sizes = [len(block) for block in blocks(net.edges, net.n)]
    assert sizes == [7, 9, 9, 9, 6, 12, 12, 12, 12, 8, 11, 11, 1]


def test_squeezenet_has_its_twelve_blocks() -> None:
    """conv1 and a pooling; fire2 to 4; a pooling; fire5 to 8; a pooling; fire9; conv10 and one."""
    net = networks.squeezenet()
    sizes = [len(block) for block in blocks(net.edges, net.n)]
    assert sizes == [2, 6, 5, 6, 1, 5, 6, 5, 6, 1, 5, 2]


def in_series(seed: int) -> tuple[Edges, int]:
    """Up to four graphs of up to four ops, most of them joined by an op; numbers are shuffled."""
    rng = random.Random(seed)
    edges, n, last = Edges(), 0, list[int]()
    for part in range(rng.randint(1, 4)):
        inner, ops = drawn(4 * seed + part, most=4)
        first = [n + op for op in range(ops) if op not in {consumer for _, consumer in inner}]
        edges += [(a + n, b + n) for a, b in inner] + [(a, b) for a in last for b in first]
        last = [n + op for op in range(ops) if op not in {producer for producer, _ in inner}]
        n += ops
        if rng.random() < 0.8:
            edges += [(op, n) for op in last]
            last, n = [n], n + 1
    number = rng.sample(range(n), n)
    return [(number[a], number[b]) for a, b in edges], n


def paths(edges: Edges, n: int, first: int | None = None) -> Iterator[set[int]]:
    """Ops of each path from an op without predecessors to one without successors."""
    read = {consumer for _, consumer in edges}
    starts = [b for a, b in edges if a == first]
    if first is None:
        starts = [op for op in range(n) if op not in read]
    if not starts:
        yield set()
    for start in starts:
        yield from ({start, *path} for path in paths(edges, n, start))


def test_blocks_end_where_every_path_meets() -> None:
    """The ops of all paths are the ends of the blocks, and the inner ops of chains."""
    cut = 0
    for seed in range(300):
        edges, n = in_series(seed)
        shared = set.intersection(*paths(edges, n))
        found = blocks(edges, n)
        assert sorted(op for block in found for op in block) == list(range(n)), seed
        is_chain = [shared.issuperset(block) for block in found]
        kept = [
            set(block) if chain else {block[-1]}
            for block, chain in zip(found, is_chain, strict=True)
        ]
        assert all(set(ends) <= shared for ends in kept[:-1]), seed
        assert shared <= set.union(*kept), seed
        assert (True, True) not in pairwise(is_chain), seed
        cut += len(found) > 2
    assert cut > 100


def test_edges_lead_into_a_block_from_its_own_ops_and_the_end_of_the_one_before() -> None:
    for seed in range(100):
        edges, n = in_series(seed)
        found = blocks(edges, n)
        block_of = {op: index for index, block in enumerate(found) for op in block}
        for producer, consumer in edges:
            before, behind = block_of[producer], block_of[consumer]
            assert before == behind or (behind == before + 1 and producer == found[before][-1]), (
                seed
            )


def test_the_fastest_stages_of_each_block_are_joined() -> None:
    """The first schedule is faster in the first block, the second in the second; a tie: first."""
    first = {((0,), (1,)): 5, ((2,),): 3, ((3,),): 4, ((4,),): 1}
    second = {((0,),): 3, ((1,),): 3, ((2,), (3,)): 6, ((4,),): 1}
    joined = fastest_by_block([(0, 1), (2, 3), (4,)], [first, second])
    assert joined == (((0,), (1,)), ((2,), (3,)), ((4,),))


def test_of_no_schedules_nothing_is_joined() -> None:
    assert fastest_by_block([(0, 1)], []) == ()
