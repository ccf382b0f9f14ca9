"""States, groups and endings of small graphs by hand; pruning on both sides of each limit."""

from __future__ import annotations

import pytest

from graphturbo_core.strategies.ios.endings import Endings, Pruning, Stage, endings_of

DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]
"""Op 0 is read by 1 and 2, and both by 3."""
CHAINS = [(0, 1), (2, 3)]
"""Two chains of two ops."""


def endings(edges: list[tuple[int, int]], n: int, pruning: Pruning | None = None) -> Endings:
    return endings_of(edges, n, pruning or Pruning())


def stages(of: Endings, *ops: int) -> set[Stage]:
    """Stages that can run last in a state; ops of these graphs lie at the place of their number."""
    listed = of.of(sum(1 << op for op in ops))
    assert len(listed) == len(set(listed))
    return {of.stage(ending) for ending in listed}


def test_a_group_is_an_op_with_all_its_successors_in_the_state() -> None:
    """In the diamond, the groups of 1 and of 2 share op 3, so that no ending has both."""
    diamond = endings(DIAMOND, 4)
    assert stages(diamond, 0, 1, 2, 3) == {((3,),), ((1, 3),), ((2, 3),), ((0, 1, 2, 3),)}
    assert stages(diamond, 0, 1, 2) == {((1,),), ((2,),), ((1,), (2,)), ((0, 1, 2),)}
    assert stages(diamond, 0, 1) == {((1,),), ((0, 1),)}


def test_a_group_holds_indirect_successors() -> None:
    chain = endings([(0, 1), (1, 2)], 3)
    assert stages(chain, 0, 1, 2) == {((2,),), ((1, 2),), ((0, 1, 2),)}


def test_an_ending_joins_disjoint_groups() -> None:
    assert stages(endings(CHAINS, 4), 0, 1, 2, 3) == {
        ((1,),), ((3,),), ((0, 1),), ((2, 3),),
        ((1,), (3,)), ((1,), (2, 3)), ((0, 1), (3,)), ((0, 1), (2, 3)),
    }  # fmt: skip


def test_states_have_all_predecessors_and_larger_ones_come_first() -> None:
    """0 | 0, 1 | 0, 2 | 0, 1, 2 | all."""
    listed = [state for state, _ in endings(DIAMOND, 4).states()]
    assert listed == [0b1111, 0b0111, 0b0011, 0b0101, 0b0001]


def test_states_of_equally_many_ops_come_in_ascending_order() -> None:
    """Two chains of 20 ops: 21 * 21 prefixes, one of them empty."""
    edges = [(op, op + 1) for op in range(39) if op != 19]
    listed = [state for state, _ in endings(edges, 40).states()]
    assert len(listed) == 21 * 21 - 1
    assert listed == sorted(listed, key=lambda state: (-state.bit_count(), state))


def test_a_group_of_exactly_r_ops_is_allowed_and_one_more_is_not() -> None:
    chain = [(0, 1), (1, 2)]
    assert stages(endings(chain, 3, Pruning(most_ops=2)), 0, 1, 2) == {((2,),), ((1, 2),)}
    assert stages(endings(chain, 3, Pruning(most_ops=1)), 0, 1, 2) == {((2,),)}


def test_r_limits_each_group_and_not_the_stage() -> None:
    two = endings(CHAINS, 4, Pruning(most_ops=2))
    assert ((0, 1), (2, 3)) in stages(two, 0, 1, 2, 3)


def test_a_stage_of_exactly_s_groups_is_allowed_and_one_more_is_not() -> None:
    for most in (1, 2, 3):
        listed = stages(endings([], 3, Pruning(most_groups=most)), 0, 1, 2)
        assert max(len(stage) for stage in listed) == most
    assert stages(endings([], 2, Pruning(most_groups=1)), 0, 1) == {((0,),), ((1,),)}


def test_both_limits_hold_together() -> None:
    single = Pruning(most_ops=1, most_groups=1)
    assert stages(endings(CHAINS, 4, single), 0, 1, 2, 3) == {((1,),), ((3,),)}


@pytest.mark.parametrize("pruning", [Pruning(1, 1), Pruning(1, None), Pruning(2, 8)])
def test_a_pruning_changes_no_state(pruning: Pruning) -> None:
    every = [state for state, _ in endings(DIAMOND, 4).states()]
    assert [state for state, _ in endings(DIAMOND, 4, pruning).states()] == every


def test_a_stage_is_written_in_topological_order() -> None:
    """3 -> 0 and 2 -> 1: the order is 2, 1, 3, 0."""
    turned = endings([(3, 0), (2, 1)], 4)
    assert turned.order == (2, 1, 3, 0)
    assert turned.stage(turned.full) == ((2, 1), (3, 0))
