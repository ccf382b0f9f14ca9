"""Estimated and simulated cycles of a stage, and the layers that each cluster runs."""

from __future__ import annotations

from graphturbo_core.strategies.ios.stage_times import StageTimes

CYCLES = [10, 20, 30, 5]


def test_groups_run_on_clusters_of_their_own_and_steps_wait() -> None:
    """Steps: max(30, 10, 5), then 20: the second layer of the group (0, 1)."""
    times = StageTimes(CYCLES, 4)
    stage = ((0, 1), (2,), (3,))
    assert times.queues(stage) == [(0, 1), (2,), (3,)]
    assert times(stage) == 30 + 20
    assert times(((2,),)) == 30


def test_more_groups_than_clusters_follow_each_other() -> None:
    """The longest first: 2 and 1; then 0 after 1, then 3 after 0 or 2 (each at 30 cycles)."""
    times = StageTimes(CYCLES, 2)
    assert times.queues(((0,), (1,), (2,), (3,))) == [(2, 3), (1, 0)]
    assert times(((0,), (1,), (2,), (3,))) == 30 + 10


def test_one_cluster_runs_all_in_turn() -> None:
    times = StageTimes(CYCLES, 1)
    assert times(((0,), (1,), (2,))) == 60
    assert times.cycles_of((0, 1, 2)) == 60


def test_simulated_cycles_come_before_the_estimate() -> None:
    times = StageTimes(CYCLES, 4, {((0,), (1,)): 33})
    assert times(((0,), (1,))) == 33
    assert times(((0,), (2,))) == 30
