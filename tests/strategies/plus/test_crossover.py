"""Which segment comes from which grouping, against sums by hand and all choices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.crossover import (
    LayerSegment,
    Timed,
    cheapest_segments,
    crossover_cuts,
)
from graphturbo_core.strategies.plus.cuts import GroupCut, cut_plan
from graphturbo_core.strategies.steps.binding import Binder, plain_by_kind
from graphturbo_core.strategies.steps.kernels import Target
from tests.strategies.samples import hardware, layers_of

CHAIN = """g (float[8,64] x, float[64,64] w0, float[64,64] w1, float[64,64] w2, float[64,64] w3)
  => (float[8,64] z) { a = MatMul (x, w0) b = MatMul (a, w1) c = MatMul (b, w2) z = MatMul (c, w3)}
"""
"""Four layers in a row; each hands on 8 x 64 numbers of 2 bytes: 1,024."""
FRONT, BACK = ((0, 1), (2,), (3,)), ((0,), (1,), (2, 3))


@cache
def chain() -> LayerGraph:
    return layers_of(CHAIN)


def grouping(groups: Sequence[tuple[int, ...]], cycles: Sequence[int], name: str = "one") -> Timed:
    chip = hardware()
    target = Target(chain().semantics, chip, "fp16", Binder(chip.cores, plain_by_kind))
    plan = cut_plan(target, chain(), [GroupCut(layers, -1, 1) for layers in groups])
    plan.check()
    return Timed(name, chain(), plan, tuple(cycles))


def test_a_column_knows_its_boundaries_times_and_what_it_hands_on() -> None:
    """b and c pass from kernel to kernel in LB, a stays inside the first one."""
    front = grouping(FRONT, (100, 50, 40))
    assert front.is_boundary == (True, False, True, True, True)
    assert front.cycles_before == (0, 0, 100, 150, 190)
    assert front.handed_bytes == (0, 0, 1024, 1024, 0)


@pytest.mark.parametrize(
    ("gb_bytes", "last", "expected"),
    [
        # Front 100 + 50 + 50 = 200. Front, then back: 2 x 1,024 at 256 bytes a cycle are 8.
        (2**23, 91, (LayerSegment(0, 0, 2), LayerSegment(1, 2, 4))),
        # 100 + 8 + 92 = 200: a tie, no change.
        (2**23, 92, (LayerSegment(0, 0, 4),)),
        # 1,024 bytes do not fit: 2,048 at 27 bytes a cycle are 76, and 100 + 76 + 24 = 200.
        (1000, 23, (LayerSegment(0, 0, 2), LayerSegment(1, 2, 4))),
        (1000, 24, (LayerSegment(0, 0, 4),)),
    ],
    ids=["gains a cycle", "a tie", "through DRAM", "a tie through DRAM"],
)
def test_a_change_pays_for_what_was_handed_on_in_lb(
    gb_bytes: int, last: int, expected: tuple[LayerSegment, ...]
) -> None:
    groupings = [grouping(FRONT, (100, 50, 50)), grouping(BACK, (80, 150, last))]
    chip = replace(hardware(), gb_bytes=gb_bytes)
    assert cheapest_segments(groupings, chip) == expected


def test_the_mixture_takes_each_stretch_from_its_column() -> None:
    groupings = [grouping(FRONT, (100, 50, 50)), grouping(BACK, (80, 80, 60))]
    cuts = crossover_cuts(groupings, cheapest_segments(groupings, hardware()))
    assert [cut.layers for cut in cuts] == [(0, 1), (2, 3)]


def test_no_change_inside_a_group() -> None:
    """Place 2 lies in a group of the second grouping: all or nothing, 150 against 160."""
    groupings = [grouping(FRONT, (10, 70, 70)), grouping(((0,), (1, 2), (3,)), (100, 50, 10))]
    assert cheapest_segments(groupings, hardware()) == (
        LayerSegment(0, 0, 3),
        LayerSegment(1, 3, 4),
    )
    groupings = [grouping(FRONT, (10, 70, 70)), grouping(((0,), (1, 2, 3)), (100, 60))]
    assert cheapest_segments(groupings, hardware()) == (LayerSegment(0, 0, 4),)


GROUPINGS = (FRONT, BACK, ((0,), (1,), (2,), (3,)), ((0, 1, 2), (3,)), ((0, 1), (2, 3)))


@pytest.mark.parametrize("seed", range(12))
def test_no_other_choice_of_stretches_costs_less(seed: int) -> None:
    random = Random(seed)
    groupings = [
        grouping(groups, [random.randint(1, 60) for _ in groups], str(number))
        for number, groups in enumerate(random.sample(GROUPINGS, 3))
    ]
    chosen = cheapest_segments(groupings, hardware())
    assert total(groupings, chosen, hardware()) == min(
        total(groupings, choice, hardware()) for choice in every_choice(groupings, 0, -1)
    )


def every_choice(
    groupings: Sequence[Timed], first: int, before: int
) -> Iterator[list[LayerSegment]]:
    """All ways to go on from a place; neighbouring segments have different groupings."""
    if first == 4:
        yield []
    for number, own in enumerate(groupings):
        for last in range(first + 1, 5):
            if number != before and own.is_boundary[first] and own.is_boundary[last]:
                for rest in every_choice(groupings, last, number):
                    yield [LayerSegment(number, first, last), *rest]


def total(groupings: Sequence[Timed], segments: Sequence[LayerSegment], chip: Hardware) -> int:
    """What the segments sum to, written out once more; all that crosses fits GB."""
    cycles = 0
    for before, each in zip([None, *segments], segments, strict=False):
        own = groupings[each.grouping]
        cycles += own.cycles_before[each.last] - own.cycles_before[each.first]
        if before is not None:
            moved = (
                groupings[before.grouping].handed_bytes[each.first] + own.handed_bytes[each.first]
            )
            cycles += -(-moved * chip.clock_hz // chip.gb_bandwidth)
    return cycles
