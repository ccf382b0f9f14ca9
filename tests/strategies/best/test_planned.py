"""The dynamic program: equal to enumeration; simulated cycles correct what it knows."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from graphturbo_core.strategies.best.planned import Planned
from graphturbo_core.strategies.best.segment_cycles import Estimate, SegmentCycles
from graphturbo_core.strategies.best.segments import Option, Segment, segments_of
from graphturbo_core.strategies.plus.crossover import Timed
from graphturbo_core.strategies.plus.cuts import GroupCut, cut_plan
from tests.strategies.chains import FEED_FORWARD, NARROW
from tests.strategies.plus.plans import made, spent


def drawn(rng: random.Random) -> tuple[Segment, ...]:
    """All single layers of a model of up to seven, and some longer runs, in up to three splits."""
    count = rng.randint(1, 7)
    runs = [(at, at + 1) for at in range(count)]
    runs += [
        (first, last)
        for first in range(count)
        for last in range(first + 2, count + 1)
        if rng.random() < 0.6
    ]
    return tuple(
        Segment(first, last, tuple(
            Option(
                GroupCut(tuple(range(first, last)), 0, pieces),
                Estimate(rng.randint(1, 30) * (last - first), rng.randint(0, 2)),
                rng.random() < 0.5,
            )
            for pieces in range(1, rng.randint(2, 4))
        ))
        for first, last in runs
    )  # fmt: skip


def rows(segments: Sequence[Segment], first: int, last: int) -> Iterator[tuple[Option, ...]]:
    """Every row of options that has the layers from `first` on, each once."""
    if first == last:
        yield ()
    for segment in (each for each in segments if each.first == first):
        for option in segment.options:
            for rest in rows(segments, segment.last, last):
                yield (option, *rest)


def test_it_equals_enumeration() -> None:
    for seed in range(200):
        segments = drawn(random.Random(seed))
        cuts, cycles = Planned(segments).cheapest()
        every = list(rows(segments, 0, max(each.last for each in segments)))
        assert cycles == min(sum(each.estimate.cycles for each in row) for row in every)
        assert cuts in {tuple(each.cut for each in row) for row in every}


def test_simulated_cycles_replace_the_closed_form() -> None:
    """The plan that it makes next differs, unless simulation confirms its sum."""
    target, graph, _ = made(FEED_FORWARD)
    program = Planned(segments_of(graph, SegmentCycles(target)))
    cuts, first = program.cheapest()
    plan = cut_plan(target, graph, cuts)
    took = spent(plan).kernel_cycles
    slow = Timed("slow", graph, plan, tuple(100 * each for each in took))
    program.learn(slow)
    others, second = program.cheapest()
    assert others != cuts
    assert first < second < sum(slow.kernel_cycles)


def test_a_cut_that_was_simulated_twice_counts_with_the_mean() -> None:
    target, graph, _ = made(NARROW)
    whole = GroupCut(tuple(range(len(graph.layers))), -1, 1)
    plan = cut_plan(target, graph, [whole])
    option = Option(whole, Estimate(5, 0), is_of_blocks=True)
    program = Planned([Segment(0, len(graph.layers), (option,))])
    assert program.cheapest() == ((whole,), 5)
    for cycles in (100, 300):
        kernels = len(plan.kernels)
        program.learn(Timed("", graph, plan, (cycles, *(0 for _ in range(kernels - 1)))))
    assert program.cheapest() == ((whole,), 200)
