"""What the next best decision for a group would have cost: equal to enumeration."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import cast

from graphturbo_core.strategies.best.next_best import (
    RULE_DIVIDED,
    RULE_JOINED,
    RULE_SPLIT,
    STEP,
    next_best,
)
from graphturbo_core.strategies.best.planned import Planned
from graphturbo_core.strategies.best.segments import Option, Segment
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.crossover import Timed
from graphturbo_core.strategies.plus.cuts import GroupCut
from tests.strategies.best.segments_drawn import drawn, rows

GRAPH = cast(LayerGraph, SimpleNamespace(layers=[SimpleNamespace(name=f"l{n}") for n in range(7)]))


def timed(cuts: Sequence[GroupCut], cycles: Sequence[int]) -> Timed:
    """A simulated plan with one kernel per group."""
    kernels = [SimpleNamespace(group=group) for group in range(len(cuts))]
    plan = SimpleNamespace(cuts=cuts, kernels=kernels)
    return cast(Timed, SimpleNamespace(cuts=tuple(cuts), plan=plan, kernel_cycles=tuple(cycles)))


def others(
    segments: Sequence[Segment], cuts: Sequence[GroupCut], took: Sequence[int], place: int
) -> Iterator[tuple[int, str]]:
    """More cycles of every other decision for one group, each with its rule."""

    def cycles(option: Option) -> int:
        return took[cuts.index(option.cut)] if option.cut in cuts else option.estimate.cycles

    first, end = cuts[place].layers[0], cuts[place].layers[-1] + 1
    inside = [each for each in segments if first <= each.first and each.last <= end]
    for row in rows(inside, first, end):
        if [option.cut for option in row] != [cuts[place]]:
            rule = RULE_SPLIT if len(row) == 1 else RULE_DIVIDED
            yield sum(map(cycles, row)) - took[place], rule
    for one in (place - 1, place):
        if 0 <= one < len(cuts) - 1:
            ends = cuts[one].layers[0], cuts[one + 1].layers[-1] + 1
            for segment in (each for each in segments if (each.first, each.last) == ends):
                for option in segment.options:
                    yield cycles(option) - took[one] - took[one + 1], RULE_JOINED


def test_it_equals_enumeration() -> None:
    seen = set()
    for seed in range(200):
        segments = drawn(random.Random(seed))
        program = Planned(segments)
        cuts, _ = program.cheapest()
        every = {option.cut: option for each in segments for option in each.options}
        took = [every[cut].estimate.cycles for cut in cuts]
        program.learn(timed(cuts, took))
        found = {each.subject: each for each in next_best(program, GRAPH, cuts)}
        for place, cut in enumerate(cuts):
            ways = list(others(segments, cuts, took, place))
            names = list(dict.fromkeys(f"l{layer}" for layer in (cut.layers[0], cut.layers[-1])))
            decision = found.pop((" .. ".join(names),), None)
            assert (decision is None) == (not ways)
            if decision is not None:
                assert (decision.step, decision.is_taken) == (STEP, False)
                assert decision.numbers["more_cycles"] == min(ways)[0]
                assert (decision.numbers["more_cycles"], decision.rule) in ways
                seen.add(decision.rule)
        assert not found
    assert seen == {RULE_SPLIT, RULE_DIVIDED, RULE_JOINED}


def test_a_group_around_others_has_none() -> None:
    segments = drawn(random.Random(3))
    layers = (0, 2)
    around, between = GroupCut(layers, 0, 1), GroupCut((1,), 0, 1)
    program = Planned(segments)
    program.learn(timed((around, between), (5, 7)))
    subjects = [each.subject for each in next_best(program, GRAPH, (around, between))]
    assert ("l0 .. l2",) not in subjects


def test_one_piece_is_the_same_along_any_axis() -> None:
    segments = drawn(random.Random(5))
    whole = GroupCut((0,), -1, 1)
    program = Planned(segments)
    program.learn(timed((whole,), (5,)))
    cuts, _ = program.between(0, 1, whole)
    assert cuts == () or cuts[0].pieces > 1
