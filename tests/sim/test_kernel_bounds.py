"""Lower bound of a kernel's cycles: worked by hand, and at most those of every order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings

from graphturbo_core.lowering.lower import lower
from graphturbo_core.sim.kernels.kernel_bounds import least_cycles
from graphturbo_core.sim.kernels.kernel_starts import starts_and_remaining
from graphturbo_core.sim.simulate import simulate
from tests.full import examples
from tests.lowering.chips import shared
from tests.lowering.nets import STRATEGIES, chip, plan_of, small_model
from tests.sim.programs import LOAD, MOVE, PRODUCT, SUM, Step, build, few_steps


def least(*steps: Step) -> list[int]:
    return least_cycles(build(steps)).tolist()


def test_heads_and_tails_of_a_busy_engine() -> None:
    """Two loads of 10, visible 2 later, one after the other; behind either a product of 5 or 7.

    The loads take 20, then comes the shorter of the tails, 2 + 5. The matrix engine begins at 12
    and has 12 to do: 24. Of the products that of 7 alone is a chain of 19.
    """
    loads = [Step(LOAD, channels={"gb": 10}, latency=2) for _ in range(2)]
    products = [Step(PRODUCT, hold, data=[at]) for at, hold in enumerate((5, 7))]
    assert least(*loads, *products) == [27]


def test_a_part_of_what_an_engine_does_may_say_more() -> None:
    """Two sums of 4 wait for 9, one of 1 does not: they take 9 + 8, all three as such but 9.

    Where that one is of 30 instead, all three take 38.
    """
    late = [Step(PRODUCT, 9), *(Step(SUM, 4, data=[0]) for _ in range(2))]
    assert least(*late, Step(SUM, 1)) == [17]
    assert least(*late, Step(SUM, 30)) == [38]


def test_two_engines_that_share_a_channel() -> None:
    """Each holds its engine for 8, and the channel for 5 of these: 10, and 3 behind the last."""
    moves = [Step((MOVE, core), channels={"gb": 5, f"lb {core}": 8}) for core in (0, 1)]
    assert least(*moves) == [13]


def test_addresses_do_not_count_and_kernels_are_apart() -> None:
    """What waits for bytes might have others; a kernel's data are there when it begins."""
    steps = [Step(PRODUCT, 5), Step(SUM, 6, address=[0]), Step(LOAD, 0, channels={"gb": 3})]
    assert least(*steps) == [6]
    later = Step(SUM, 9, data=[1], kernel=1, segment=1)
    assert least_cycles(build([*steps, later], [(0, 0), (0, 0)])).tolist() == [6, 9]


def test_no_instructions() -> None:
    assert least_cycles(build([])).tolist() == []


@settings(max_examples=examples(200), deadline=None)
@given(few_steps())
def test_no_order_of_few_instructions_takes_less(steps: list[Step]) -> None:
    (most,) = least(*steps)
    for order in permutations(range(len(steps))):
        place = {old: new for new, old in enumerate(order)}
        if all(place[need] < place[at] for at in order for need in steps[at].data):
            moved = [replace(steps[at], data=[place[n] for n in steps[at].data]) for at in order]
            assert simulate(build(moved)).makespan >= most


def by_definition(steps: Sequence[Step]) -> int:
    """Of each engine and channel those with at least some head, or at least some tail."""
    program = build(steps)
    heads, tails = (found.tolist() for found in starts_and_remaining(program))
    behind = [s.latency + tail for s, tail in zip(steps, tails, strict=True)]
    users: dict[object, list[tuple[int, int, int]]] = {}
    for step, head, after in zip(steps, heads, behind, strict=True):
        users.setdefault(step.engine, []).append((head, step.hold_cycles, after))
        for name, cycles in step.channels.items():
            rest = step.hold_cycles - cycles + after
            users.setdefault(name, []).append((head, cycles, rest))
    every = zip(steps, heads, behind, strict=True)
    chains = [head + step.hold_cycles + after for step, head, after in every]
    found = []
    for rows in users.values():
        for row in rows:
            for which in (0, 2):
                part = [other for other in rows if other[which] >= row[which]]
                begin, end = (min(other[at] for other in part) for at in (0, 2))
                found.append(begin + sum(other[1] for other in part) + end)
    assert max(chains) <= max(found)
    return max(found)


@settings(max_examples=examples(400), deadline=None)
@given(few_steps(12))
def test_equal_to_its_definition(steps: list[Step]) -> None:
    assert least(*steps) == [by_definition(steps)]


CHIPS = {
    "tiny": chip("tiny"),
    "generic-4x4": chip("generic-4x4"),
    "shared": shared(gb_bytes=1 << 16),
}


@pytest.mark.parametrize("name", CHIPS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_kernel_runs_for_less(name: str, strategy: str) -> None:
    program = lower(plan_of(small_model("resnet"), strategy, CHIPS[name]))
    fixed = program.plan.hardware.launch_cycles + program.plan.hardware.barrier_cycles
    assert np.all(least_cycles(program) + fixed <= np.array(simulate(program).kernel_cycles))
