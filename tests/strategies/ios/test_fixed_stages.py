"""Sequential and greedy schedules by hand."""

from __future__ import annotations

from graphturbo_core.strategies.ios import greedy, sequential
from graphturbo_core.strategies.ios.fixed_stages import GREEDY_GROUPS
from tests.strategies.ios import networks
from tests.strategies.ios.enumeration import Enumeration, drawn, ops_of

TURNED = [(3, 0), (2, 1)]
"""The topological order is 2, 1, 3, 0."""


def test_sequential_has_one_op_per_stage() -> None:
    assert sequential(TURNED, 4) == (((2,),), ((1,),), ((3,),), ((0,),))
    assert sequential([], 0) == ()


def test_greedy_runs_all_ready_ops() -> None:
    assert greedy(TURNED, 4) == (((2,), (3,)), ((1,), (0,)))
    assert greedy([(0, 1), (0, 2), (2, 3), (1, 3)], 4) == (((0,),), ((1,), (2,)), ((3,),))
    assert greedy([], 0) == ()


def test_an_op_waits_for_its_last_producer() -> None:
    assert greedy([(0, 2), (1, 3), (0, 1), (2, 3)], 4) == (((0,),), ((1,), (2,)), ((3,),))
    assert greedy([(0, 1), (1, 2), (0, 2)], 3) == (((0,),), ((1,),), ((2,),))


def test_greedy_has_at_most_ten_ops_per_stage() -> None:
    ten = tuple((op,) for op in range(10))
    assert greedy([], 10) == (ten,)
    assert greedy([], 11) == (ten, ((10,),))
    assert GREEDY_GROUPS == 10


def test_ready_ops_that_wait_run_with_those_that_become_ready() -> None:
    """12 ops without predecessors; the last one is read by op 12, the first one by op 13.

    The topological order is 0 to 13. Ops 10 and 11 wait, and 13 becomes ready with the first stage.
    """
    stages = greedy([(11, 12), (0, 13)], 14)
    assert stages[1:] == (((10,), (11,), (13,)), ((12,),))


def test_block_e_of_inception_in_four_stages() -> None:
    """First ops of its four branches; second ops; the halves of the double branch; the concat."""
    net = networks.Drawing()
    networks.inception_e(net, None)
    assert [len(stage) for stage in greedy(net.edges, net.n)] == [4, 4, 2, 1]


def test_both_are_schedules() -> None:
    for seed in range(100):
        edges, n = drawn(seed)
        known = Enumeration(edges, n)
        for stages in (sequential(edges, n), greedy(edges, n)):
            done = 0
            for stage in stages:
                assert ops_of(stage) in known.next_stages(done)
                done |= ops_of(stage)
            assert done == (1 << n) - 1
