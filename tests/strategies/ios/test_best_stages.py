"""The dynamic program: equal to enumeration, deterministic, never worse with a larger space."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from graphturbo_core.strategies.ios import IosSchedule, best_schedule, greedy, sequential
from graphturbo_core.strategies.ios.endings import Stage
from tests.strategies.ios.enumeration import Edges, Enumeration, Number, drawn, ops_of

GRAPHS = 300
PRUNINGS = [(None, None), (1, None), (None, 1), (2, 2), (3, 8)]


def times(seed: int, n: int, most: int = 1_000) -> list[Number]:
    """A latency per set of ops."""
    rng = random.Random(seed)
    return [rng.randint(1, most) for _ in range(1 << n)]


def looked_up(latencies: list[Number]) -> Callable[[Stage], Number]:
    return lambda stage: latencies[ops_of(stage)]


def check(schedule: IosSchedule, known: Enumeration, latencies: list[Number]) -> None:
    """The stages are legal in this order, run every op, and cost the total."""
    done = 0
    for stage in schedule.stages:
        assert ops_of(stage) in known.next_stages(done)
        done |= ops_of(stage)
    assert done == (1 << known.n) - 1
    assert schedule.total == sum(latencies[ops_of(stage)] for stage in schedule.stages)


@pytest.mark.parametrize(("r", "s"), PRUNINGS)
def test_it_equals_enumeration(r: int | None, s: int | None) -> None:
    for seed in range(GRAPHS):
        edges, n = drawn(seed)
        known, latencies = Enumeration(edges, n, r, s), times(seed, n)
        schedule = best_schedule(edges, n, looked_up(latencies), r, s)
        assert schedule.total == known.least(latencies), seed
        check(schedule, known, latencies)


@pytest.mark.parametrize(("r", "s"), [(None, None), (2, 2)])
def test_ties_are_broken_as_written(r: int | None, s: int | None) -> None:
    """All schedules are listed: least total, fewest stages, then the stages from the first on."""
    ties = 0
    for seed in range(150):
        edges, n = drawn(seed, most=5)
        known, latencies = Enumeration(edges, n, r, s), times(seed, n, most=3)
        place = {op: index for index, op in enumerate(known.order())}

        def key(schedule: tuple[int, ...], place: dict[int, int] = place) -> list[int]:
            return [sum(1 << place[op] for op in place if ops >> op & 1) for ops in schedule]

        def cost(schedule: tuple[int, ...], latencies: list[Number] = latencies) -> Number:
            return sum(latencies[ops] for ops in schedule)

        every = sorted(known.schedules(), key=lambda row: (cost(row), len(row), key(row)))
        found = best_schedule(edges, n, looked_up(latencies), r, s)
        assert tuple(ops_of(stage) for stage in found.stages) == every[0], seed
        ties += len(every) > 1 and cost(every[0]) == cost(every[1])
    assert ties > 10


def test_of_equal_totals_the_fewest_stages_win_then_the_first_stage() -> None:
    """Two independent ops. Together they cost what they cost one by one; or more."""
    both = best_schedule([], 2, len)
    assert both == IosSchedule(2, (((0,), (1,)),))
    apart = best_schedule([], 2, lambda stage: len(stage) ** 2)
    assert apart == IosSchedule(2, (((0,),), ((1,),)))


def test_three_ops_by_hand() -> None:
    """0 -> 1 beside 2. A stage costs 10 and its longest group's time, of 5, 5 and 8 per op.

    One stage: 10 + 10. First 0 with 2, then 1: 10 + 8 + 10 + 5. One by one: 48.
    """
    time = {0: 5, 1: 5, 2: 8}

    def latency(stage: Stage) -> int:
        return 10 + max(sum(time[op] for op in group) for group in stage)

    assert best_schedule([(0, 1)], 3, latency) == IosSchedule(20, (((0, 1), (2,)),))
    assert best_schedule([(0, 1)], 3, latency, r=1).total == 33
    assert best_schedule([(0, 1)], 3, latency, r=1, s=1).total == 48


def test_each_stage_is_requested_once_and_in_its_only_form() -> None:
    for seed in range(50):
        edges, n = drawn(seed)
        latencies, requested = times(seed, n), list[Stage]()

        def latency(
            stage: Stage, to: list[Stage] = requested, given: list[Number] = latencies
        ) -> Number:
            to.append(stage)
            return given[ops_of(stage)]

        best_schedule(edges, n, latency)
        known = Enumeration(edges, n)
        assert sorted(ops_of(stage) for stage in requested) == sorted(
            {ops for done in known.states for ops in known.next_stages(done)}
        )
        place = {op: index for index, op in enumerate(known.order())}
        for stage in requested:
            rows = [[place[op] for op in group] for group in stage]
            assert rows == sorted(sorted(row) for row in rows)


def test_latencies_may_be_fractions() -> None:
    for seed in range(50):
        edges, n = drawn(seed)
        latencies: list[Number] = [Fraction(time, 7) for time in times(seed, n)]
        found = best_schedule(edges, n, looked_up(latencies))
        assert found.total == Enumeration(edges, n).least(latencies)


def test_a_larger_pruning_is_never_worse() -> None:
    rising = [(1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (3, 8), (None, 8), (None, None)]
    for seed in range(100):
        edges, n = drawn(seed)
        latency = looked_up(times(seed, n))
        totals = [best_schedule(edges, n, latency, r, s).total for r, s in rising]
        assert totals == sorted(totals, reverse=True), seed


def test_it_is_at_least_as_good_as_greedy_and_sequential() -> None:
    """Sequential lies inside every pruning; greedy where s is at least its widest stage."""
    for seed in range(100):
        edges, n = drawn(seed)
        latency = looked_up(times(seed, n))
        in_turn, ready = sequential(edges, n), greedy(edges, n)
        widest = max(len(stage) for stage in ready)
        best = best_schedule(edges, n, latency, r=1, s=widest).total
        assert best <= sum(latency(stage) for stage in ready)
        assert best_schedule(edges, n, latency, r=1, s=1).total <= sum(map(latency, in_turn))


def shuffled(edges: Edges, seed: int) -> Edges:
    rng = random.Random(seed)
    return rng.sample([*edges, *edges[:2]], len(edges) + len(edges[:2]))


def test_the_order_of_the_edges_changes_nothing() -> None:
    """All latencies are equal, so that only the rules for ties decide; some edges stand twice."""
    for seed in range(50):
        edges, n = drawn(seed)
        found = {best_schedule(shuffled(edges, turn), n, lambda _: 1, 2, 2) for turn in range(4)}
        assert len(found) == 1


def test_no_ops_have_an_empty_schedule() -> None:
    assert best_schedule([], 0, len) == IosSchedule(0, ())
