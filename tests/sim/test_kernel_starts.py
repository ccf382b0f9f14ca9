"""Earliest starts (heads) and remaining times (tails): by hand, and equal to their definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings

from graphturbo_core.sim.kernels import kernel_starts
from graphturbo_core.sim.kernels.kernel_starts import starts_and_remaining
from tests.full import examples
from tests.sim.programs import MATRIX, MOVE, VECTOR, Step, build, few_steps

LOAD, PRODUCT, SUM = (MOVE, 0), (MATRIX, 0), (VECTOR, 0)


def found(*steps: Step) -> tuple[list[int], list[int]]:
    """Heads and tails."""
    heads, tails = starts_and_remaining(build(steps))
    return heads.tolist(), tails.tolist()


def test_what_needs_two_loads_waits_for_both() -> None:
    """Loads of 10 and 4, visible 2 later; a sum needs both, behind products of 5 and 7.

    One load after the other ends at 14 or later; behind the last comes at least a latency and the
    shorter product: 21, where the longest chain is 10 + 2 + 5 = 17. The product of 7 needs one
    load alone. Before that sum the products take 12, behind the first load that ends, 4 + 2.
    """
    loads = [Step(LOAD, channels={"gb": hold}, latency=2) for hold in (10, 4)]
    products = [Step(PRODUCT, hold, data=[at]) for at, hold in enumerate((5, 7))]
    heads, tails = found(*loads, *products, Step(SUM, 3, data=[2, 3]))
    assert heads == [0, 0, 12, 6, 21]
    assert tails == [8, 10, 3, 3, 0]


def test_what_two_stores_need_has_both_behind_it() -> None:
    """A product, then two sums of 2 and 3, whose stores take 10 each: backwards the same.

    The stores have 20 behind the earlier of the sums, 2.
    """
    sums = [Step(SUM, hold, data=[0]) for hold in (2, 3)]
    stores = [Step(LOAD, channels={"gb": 10}, latency=1, data=[at]) for at in (1, 2)]
    heads, tails = found(Step(PRODUCT, 5), *sums, *stores)
    assert heads == [0, 5, 5, 7, 8]
    assert tails == [23, 11, 11, 0, 0]


def test_a_channel_is_left_before_the_engine() -> None:
    """Two moves hold their engines for 8, and a channel for 5 of these: 10, then 3 until the end.

    Backwards, the channel is left 3 cycles before the last end: 3 + 10.
    """
    moves = [Step((MOVE, core), channels={"gb": 5, f"lb {core}": 8}) for core in (0, 1)]
    heads, _ = found(*moves, Step(SUM, 1, data=[0, 1]))
    assert heads == [0, 0, 13]
    late = [Step((MOVE, c), channels={"gb": 5, f"lb {c}": 8}, data=[0]) for c in (0, 1)]
    _, tails = found(Step(SUM, 1), *late)
    assert tails == [13, 0, 0]


def test_a_set_of_more_than_a_word_counts_each_once() -> None:
    """70 loads of 3, two sums of halves, and one that needs both: 210 and the first sum."""
    loads = [Step(LOAD, channels={"gb": 3}) for _ in range(70)]
    halves = [Step(SUM, 1, data=range(begin, begin + 40)) for begin in (0, 30)]
    heads, _ = found(*loads, *halves, Step(PRODUCT, 9, data=[70, 71]))
    assert heads[70:] == [120, 120, 211]
    alike = [Step((VECTOR, core), 1, data=[*range(64), 64 + core]) for core in (0, 1)]
    heads, _ = found(*loads, *alike, Step(PRODUCT, 9, data=[70, 71]))
    assert heads[70:] == [195, 195, 199]


def test_without_room_heads_are_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    """The busiest users are looked at first: with room for two, the loads' engine and channel."""
    loads = [Step(LOAD, channels={"gb": 10}) for _ in range(2)]
    sums = [Step((VECTOR, core), 4, data=[0, 1]) for core in (0, 0)]
    steps = (*loads, *sums, Step(PRODUCT, 1, data=[2, 3]))
    assert found(*steps)[0] == [0, 0, 20, 20, 28]
    cost = 64 * 5 + 6
    monkeypatch.setattr(kernel_starts, "ROOM", 2 * cost)
    assert found(*steps)[0] == [0, 0, 20, 20, 24]
    monkeypatch.setattr(kernel_starts, "ROOM", cost - 1)
    assert found(*steps)[0] == [0, 0, 10, 10, 14]


def test_kernels_have_their_own_and_alike_ones_the_same() -> None:
    """What a kernel needs of another is there when it begins; addresses do not count.

    The last sum is of the first kernel, though it has a later number than the second's.
    """
    first = [Step(LOAD, channels={"gb": 3}), Step(PRODUCT, 5, data=[0])]
    second = [
        Step(LOAD, channels={"gb": 3}, kernel=1, segment=1, data=[1]),
        Step(PRODUCT, 5, kernel=1, segment=1, data=[2]),
        Step(SUM, 1, kernel=1, segment=1, data=[0], address=[3]),
    ]
    steps = [*first, *second, Step(SUM, 4, data=[1])]
    heads, tails = starts_and_remaining(build(steps, [(0, 0), (0, 0)]))
    assert heads.tolist() == [0, 3, 0, 3, 0, 8]
    assert tails.tolist() == [9, 4, 5, 0, 0, 0]


def move(core: int, **others: int) -> Step:
    """It holds its engine for 8, and a channel for 5 of these unless told otherwise."""
    channels = {"gb": others.pop("gb", 5), f"lb {core}": 8}
    return Step((MOVE, core), channels=channels, **others)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([move(0), move(1)], [move(0), move(0)]),  # 10 + 3, or 16 of one engine
        ([move(0), move(1)], [move(0, gb=6), move(1, gb=6)]),  # or 12 + 2
        ([move(0), move(1)], [move(0, latency=1), move(1, latency=1)]),  # or 10 + 4
        ([move(0), move(1, data=[0])], [move(0), move(1)]),
    ],
)
def test_kernels_that_differ_in_one_thing_are_not_alike(one: list[Step], other: list[Step]) -> None:
    last = Step(SUM, 1, data=[0, 1])
    alone = [found(*steps, last) for steps in (one, other)]
    assert alone[0] != alone[1]
    after = [replace(s, data=[n + 3 for n in s.data], kernel=1, segment=1) for s in (*other, last)]
    heads, tails = starts_and_remaining(build([*one, last, *after], [(0, 0), (0, 0)]))
    assert (heads[:3].tolist(), tails[:3].tolist()) == alone[0]
    assert (heads[3:].tolist(), tails[3:].tolist()) == alone[1]


@dataclass(frozen=True)
class Use:
    """A user is held by a step from `lead` cycles after its start on."""

    step: int
    lead: int
    busy: int


def by_definition(
    cycles: Sequence[int], needs: Sequence[Sequence[int]], users: Sequence[Sequence[Use]]
) -> list[int]:
    """Heads, with sets and every instruction looked at."""
    heads = [0] * len(cycles)
    for uses in users:
        held = {use.step: use for use in uses}
        sets: list[set[int]] = []
        ways: list[float] = []
        for step, own in enumerate(needs):
            sets.append(set().union(*(sets[n] | ({n} & held.keys()) for n in own)))
            rests = (cycles[n] - held[n].lead - held[n].busy for n in own if n in held)
            ways.append(min([*rests, *(ways[n] + cycles[n] for n in own)], default=np.inf))
            heads[step] = max([heads[step], *(heads[n] + cycles[n] for n in own)])
            if sets[step]:
                begin = min(heads[n] + held[n].lead for n in sets[step])
                total = sum(held[n].busy for n in sets[step])
                heads[step] = max(heads[step], int(begin + total + ways[step]))
    return heads


@settings(max_examples=examples(400), deadline=None)
@given(few_steps(12))
def test_equal_to_their_definition(steps: list[Step]) -> None:
    cycles = [step.hold_cycles + step.latency for step in steps]
    program, last = build(steps), len(steps) - 1
    users = [
        [Use(n, 0, int(program.hold_cycles[n])) for n in np.flatnonzero(program.engine == engine)]
        for engine in range(len(program.engines))
    ] + [
        [Use(n, 0, s.channels[each.name]) for n, s in enumerate(steps) if each.name in s.channels]
        for each in program.channels
    ]
    users.sort(key=lambda uses: -sum(use.busy for use in uses))
    heads, tails = found(*steps)
    assert heads == by_definition(cycles, [step.data for step in steps], users)
    readers = [
        [last - n for n, s in enumerate(steps) if step in s.data] for step in range(last + 1)
    ]
    turned = [
        [Use(last - use.step, cycles[use.step] - use.busy, use.busy) for use in uses]
        for uses in users
    ]
    assert tails[::-1] == by_definition(cycles[::-1], readers[::-1], turned)
