"""The dynamic program with merged stages: equal to enumeration, and small graphs by hand."""

from __future__ import annotations

import random
from functools import cache

import pytest

from graphturbo_core.strategies.ios import (
    MergedSchedule,
    MergeLatencies,
    best_merged_schedule,
    best_schedule,
)
from graphturbo_core.strategies.ios.endings import Pruning, Stage
from tests.strategies.ios.enumeration import Edges, Enumeration, Number, drawn, members, ops_of

GRAPHS = 200
PRUNINGS = [(None, None), (1, 1), (1, None), (2, 2), (3, 8)]


class MergedEnumeration:
    """All schedules of a graph by their definition: a merged stage has no pruning."""

    def __init__(self, graph: tuple[Edges, int], pruning: Pruning, seed: int) -> None:
        self.known = Enumeration(*graph, pruning.most_ops, pruning.most_groups)
        n, rng = graph[1], random.Random(seed)
        self.apart: list[Number] = [rng.randint(1, 1_000) for _ in range(1 << n)]
        able = [ops for ops in range(1 << n) if ops.bit_count() > 1 and self.are_free(ops)]
        chosen = rng.sample(able, min(len(able), 8))
        self.merged: dict[int, Number] = {ops: rng.randint(1, 800) for ops in chosen}

    def are_free(self, ops: int) -> bool:
        """Whether no op needs another one, as convolutions of one input."""
        return not any(self.known.before[op] & ops for op in members(ops))

    @property
    def latencies(self) -> MergeLatencies:
        def apart(stage: Stage) -> Number:
            return self.apart[ops_of(stage)]

        return MergeLatencies(apart, {tuple(members(ops)): t for ops, t in self.merged.items()})

    def least(self) -> Number:
        full = (1 << self.known.n) - 1

        @cache
        def rest(done: int) -> Number:
            if done == full:
                return 0
            groups = [self.apart[ops] + rest(done | ops) for ops in self.known.next_stages(done)]
            ones = [
                latency + rest(done | ops)
                for ops, latency in self.merged.items()
                if not ops & done and self.known.is_closed(ops | done)
            ]
            return min(groups + ones)

        return rest(0)

    def check(self, found: MergedSchedule) -> None:
        """The stages are legal in this order, run every op, and cost the total."""
        done, total = 0, 0
        for stage in found.schedule.stages:
            ops = ops_of(stage)
            if stage in found.merged:
                assert not ops & done and self.known.is_closed(ops | done)
                total += self.merged[ops]
            else:
                assert ops in self.known.next_stages(done)
                total += self.apart[ops]
            done |= ops
        assert (done, total) == ((1 << self.known.n) - 1, found.schedule.total)


@pytest.mark.parametrize(("r", "s"), PRUNINGS)
def test_it_equals_enumeration(r: int | None, s: int | None) -> None:
    merges = 0
    for seed in range(GRAPHS):
        graph, pruning = drawn(seed, most=7), Pruning(r, s)
        known = MergedEnumeration(graph, pruning, seed)
        found = best_merged_schedule(*graph, known.latencies, pruning)
        assert found.schedule.total == known.least(), seed
        known.check(found)
        merges += len(found.merged)
        assert found == best_merged_schedule(*graph, known.latencies, pruning)
    assert merges > GRAPHS // 4


def test_without_mergeable_ops_it_is_the_schedule_of_groups() -> None:
    for seed in range(50):
        graph = drawn(seed)
        latency = MergedEnumeration(graph, Pruning(), seed).latencies.apart
        found = best_merged_schedule(*graph, MergeLatencies(latency, {}), Pruning(2, 2))
        assert found.schedule == best_schedule(*graph, latency, 2, 2)
        assert not found.merged


def longest(stage: Stage) -> int:
    """Ten cycles per op of the longest group."""
    return 10 * max(map(len, stage))


def one_by_one(stage: Stage) -> int:
    """Ten cycles per op: groups that run at once gain nothing."""
    return 10 * sum(map(len, stage))


FORK = [(0, 1), (0, 2)]


def test_two_readers_of_one_op_by_hand() -> None:
    """10 in turn each: merged they take 15 of 20. At once they take 10."""
    merged = {(1, 2): 15}
    found = best_merged_schedule(FORK, 3, MergeLatencies(one_by_one, merged), Pruning(1, 1))
    assert found.schedule.total == 10 + 15
    assert found.merged == {((1,), (2,))}
    at_once = best_merged_schedule(FORK, 3, MergeLatencies(longest, merged), Pruning(1, 2))
    assert at_once.schedule.total == 10 + 10
    assert not at_once.merged


def test_groups_run_at_once_where_a_merge_takes_as_long() -> None:
    same = best_merged_schedule(FORK, 3, MergeLatencies(longest, {(1, 2): 10}), Pruning(1, 2))
    less = best_merged_schedule(FORK, 3, MergeLatencies(longest, {(1, 2): 9}), Pruning(1, 2))
    assert (same.schedule.total, len(same.merged)) == (20, 0)
    assert (less.schedule.total, len(less.merged)) == (19, 1)


def test_no_pruning_limits_a_merged_stage() -> None:
    """Three independent ops, one group per stage at most: as one they take 12 of 30."""
    latencies = MergeLatencies(one_by_one, {(0, 1, 2): 12})
    found = best_merged_schedule([], 3, latencies, Pruning(1, 1))
    assert found.schedule.total == 12
    assert best_schedule([], 3, one_by_one, 1, 1).total == 30


def test_ops_that_need_each_other_are_not_merged() -> None:
    """0 -> 1 -> 2 beside 3: op 3 may be one with any other, but 1 not with 2."""
    edges = [(0, 1), (1, 2)]
    apart = MergeLatencies(one_by_one, {(1, 2): 1})
    assert best_merged_schedule(edges, 4, apart, Pruning(1, 1)).schedule.total == 40
    for mate in (0, 1, 2):
        latencies = MergeLatencies(one_by_one, {(mate, 3): 1})
        assert best_merged_schedule(edges, 4, latencies, Pruning(1, 1)).schedule.total == 21
