"""The dynamic program: equal to enumeration; simulated cycles correct what it knows."""

from __future__ import annotations

import random

from graphturbo_core.strategies.best.planned import Planned
from graphturbo_core.strategies.best.segment_cycles import Estimate, SegmentCycles
from graphturbo_core.strategies.best.segments import Option, Segment, segments_of
from graphturbo_core.strategies.plus.crossover import Timed
from graphturbo_core.strategies.plus.cuts import GroupCut, cut_plan
from tests.strategies.best.segments_drawn import drawn, rows
from tests.strategies.chains import FEED_FORWARD, NARROW
from tests.strategies.plus.plans import made, spent


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
