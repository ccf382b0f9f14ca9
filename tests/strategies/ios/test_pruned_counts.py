"""Pairs of the whole of Inception-v3 under six prunings, as published."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphturbo_core.strategies.ios import search_space
from graphturbo_core.strategies.ios.endings import Pruning, endings_of
from tests.strategies.ios import networks
from tests.strategies.ios.networks import Drawing, Tensor

PUBLISHED = {
    (1, 3): 12_808,
    (1, 8): 13_356,
    (2, 3): 21_607,
    (2, 8): 23_146,
    (3, 3): 26_690,
    (3, 8): 28_874,
}
"""Pairs by (r, s). Each state's merged stages are counted too, which no pruning limits."""

Block = Callable[[Drawing, Tensor], Tensor]

BLOCKS: dict[Block, tuple[int, tuple[set[int], ...]]] = {
    networks.inception_stem: (1, ()),
    networks.inception_a: (3, ({0, 1, 3},)),
    networks.inception_b: (1, ()),
    networks.inception_c: (4, ({0, 1, 4},)),
    networks.inception_d: (1, ({0, 2},)),
    networks.inception_e: (2, ({0, 1, 4}, {2, 3}, {6, 7})),
    Drawing.op: (1, ()),
}
"""How often a block occurs, and its convolutions that read one tensor with one stride.

In A, C, D and E these are the 1x1 convolutions that read the block's input. In E the two halves of
a branch read one tensor too. In B the strides differ. The last block is the global pooling.
"""


def drawn(block: Block) -> Drawing:
    net = Drawing()
    block(net, None)
    return net


def merged_stages(net: Drawing, mergeable: tuple[set[int], ...]) -> int:
    """Over all states: last ops alone, and two or more last ops that can be one convolution."""
    endings, count = endings_of(net.edges, net.n, Pruning()), 0
    for state, _ in endings.states():
        last = {endings.order[place] for place in endings.last_ops(state)}
        sizes = [len(last & ops) for ops in mergeable]
        count += len(last) + sum(2**size - 1 - size for size in sizes)
    return count


@pytest.mark.parametrize(("r", "s"), PUBLISHED)
def test_pairs_under_a_pruning_are_as_published(r: int, s: int) -> None:
    pairs = 0
    for block, (times, mergeable) in BLOCKS.items():
        net = drawn(block)
        of_stages = search_space(net.edges, net.n, r, s).pairs
        pairs += times * (of_stages + merged_stages(net, mergeable))
    assert pairs == PUBLISHED[r, s]
