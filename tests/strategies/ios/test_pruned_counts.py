"""Pairs of the whole of Inception-v3 under six prunings, as published; merged pairs by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.frontend.passes.substitutions.convolution_sets import convolution_sets
from graphturbo_core.strategies.ios import merged_pairs, search_space
from tests.data.exports import exported
from tests.models import imported
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


@pytest.mark.parametrize(("r", "s"), PUBLISHED)
def test_pairs_under_a_pruning_are_as_published(r: int, s: int) -> None:
    pairs = 0
    for block, (times, mergeable) in BLOCKS.items():
        net = drawn(block)
        of_stages = search_space(net.edges, net.n, r, s).pairs
        pairs += times * (of_stages + merged_pairs(net.edges, net.n, mergeable))
    assert pairs == PUBLISHED[r, s]


def test_merged_pairs_of_a_fork_by_hand() -> None:
    """0 -> 1, 0 -> 2. Last ops of {0, 1, 2}: 1 and 2; of {0, 1}: 1; of {0, 2}: 2; of {0}: 0.

    Five single ops; 1 with 2 as one convolution is one more.
    """
    edges = [(0, 1), (0, 2)]
    assert merged_pairs(edges, 3, ()) == 5
    assert merged_pairs(edges, 3, [{1, 2}]) == 5 + 1
    assert merged_pairs(edges, 3, [{0, 1}]) == 5


def test_merged_pairs_of_independent_ops_by_hand() -> None:
    """A state of k ops has k single ops and 2^k - 1 - k sets: 3 * 1, then 3 * 3, then 3 + 4."""
    assert merged_pairs([], 3, [{0, 1, 2}]) == 3 + 9 + 7
    assert merged_pairs([], 3, [{0, 1}]) == 3 + 3 * 2 + 1 + 3 + 1


def test_the_file_has_the_mergeable_convolutions_of_the_paper() -> None:
    """Largest sets: of three convolutions in A and C, of two in D, of three, two and two in E."""
    graph = imported(exported("inception_v3_ts"), ImportOptions("test", batch=1))
    largest = {each.run: len(each.ops) for each in convolution_sets(graph)}
    counts = [len(ops) for times, sets in BLOCKS.values() for ops in sets for _ in range(times)]
    assert sorted(largest.values()) == sorted(counts)
