"""Merges with the least cycles in turn: by hand, and equal to other ways to find them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from types import SimpleNamespace
from typing import cast

from graphturbo_core.frontend.passes.substitutions.convolution_sets import ConvolutionSet
from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.strategies.ios import MergeLatencies, best_merged_schedule
from graphturbo_core.strategies.ios.endings import Pruning, Stage
from graphturbo_core.strategies.ios.merge_search import (
    MergeableSet,
    SimulatedStages,
    least_merges,
)
from graphturbo_core.strategies.ios.stage_kernels import STAGE_STEP, StageKernels
from graphturbo_core.strategies.ios.stage_times import StageTimes
from graphturbo_core.strategies.steps.kernels import PlanCost
from graphturbo_core.strategies.strategy import GraphRun

IN_TURN = 100
"""Cycles of each layer."""


def able(step: int, layers: Sequence[int], cycles: int | None, run: int = 0) -> MergeableSet:
    convolutions = ConvolutionSet(tuple(f"c{layer}" for layer in layers), run)
    return MergeableSet(step, convolutions, tuple(layers), IN_TURN * len(layers), cycles)


def chosen(*sets: MergeableSet) -> list[int]:
    return [each.step for each in least_merges(sets)]


def test_pairs_and_the_set_of_three_by_hand() -> None:
    """A pair of 120 saves 80. All three of 250 save 50, of 210 they save 90."""
    pair, other = able(0, (0, 1), 120), able(1, (1, 2), 130)
    assert chosen(pair, other, able(2, (0, 1, 2), 250)) == [0]
    assert chosen(pair, other, able(2, (0, 1, 2), 210)) == [2]


def test_two_pairs_beat_the_set_of_four() -> None:
    """Twice 80 against 150; 170 are more."""
    pairs = able(0, (0, 1), 120), able(1, (2, 3), 120)
    assert chosen(*pairs, able(2, (0, 1, 2, 3), 250)) == [0, 1]
    assert chosen(*pairs, able(2, (0, 1, 2, 3), 230)) == [2]


def test_a_merge_that_saves_nothing_is_left_out() -> None:
    assert chosen(able(0, (0, 1), 200), able(1, (2, 3), 201), able(2, (4, 5), None)) == []
    assert chosen(able(0, (0, 1), 199)) == [0]


def test_of_equal_ones_the_fewest_sets_then_the_first() -> None:
    pairs = able(0, (0, 1), 120), able(1, (2, 3), 120)
    assert chosen(*pairs, able(2, (0, 1, 2, 3), 240)) == [2]
    assert chosen(able(1, (1, 2), 120), able(0, (0, 1), 120)) == [0]


def test_runs_are_independent() -> None:
    assert chosen(able(0, (0, 1), 120), able(1, (2, 3), 120, run=1)) == [0, 1]


def drawn_sets(seed: int) -> list[MergeableSet]:
    """All sets of four layers with random cycles; some are slower than the layers in turn."""
    rng = random.Random(seed)
    layers = [own for size in (2, 3, 4) for own in combinations(range(4), size)]
    return [able(step, own, rng.randint(50, 110) * len(own)) for step, own in enumerate(layers)]


def in_turn(stage: Stage) -> int:
    return IN_TURN * sum(map(len, stage))


def test_it_is_the_least_sum_and_that_of_the_dynamic_program() -> None:
    """Every family of disjoint sets is listed; the program has one group of one op per stage."""
    merges = 0
    for seed in range(200):
        sets = drawn_sets(seed)
        families = [
            family
            for count in range(3)
            for family in combinations(sets, count)
            if len({layer for each in family for layer in each.layers})
            == sum(len(each.layers) for each in family)
        ]
        most = max(sum(each.gain for each in family) for family in families)
        found = least_merges(sets)
        assert sum(each.gain for each in found) == most, seed
        merged = {each.layers: each.cycles or 0 for each in sets}
        best = best_merged_schedule([], 4, MergeLatencies(in_turn, merged), Pruning(1, 1))
        assert best.schedule.total == 4 * IN_TURN - most, seed
        merges += len(found)
    assert merges > 200


def run_of(steps: Sequence[Sequence[str]], cycles: Sequence[int]) -> GraphRun:
    """A run that simulated one plan: layers of one op by step, each step a stage."""
    numbered = [(name, step) for step, names in enumerate(steps) for name in names]
    plan = SimpleNamespace(
        kernels=[SimpleNamespace(ops=(name, f"{name} relu")) for name, _ in numbered],
        step_of=lambda number: numbered[number][1],
        decisions=[Decision(STAGE_STEP, "", tuple(names), True, {}) for names in steps],
    )
    cost = PlanCost(sum(cycles), tuple(cycles[step] for _, step in numbered))
    return GraphRun(cost.cycles, ((cast("Plan", plan), cost),))


def test_a_stage_has_the_cycles_of_the_last_plan_with_it() -> None:
    """`a` and `b` at once: 30, then 31. `c` alone: 7. All at once: estimated, 1 per layer."""
    layers = [SimpleNamespace(name=name, index=index) for index, name in enumerate("abc")]
    kernels = cast("StageKernels", SimpleNamespace(graph=SimpleNamespace(layers=layers)))
    runs = [
        run_of(["ab", "c"], (30, 7)),
        None,
        run_of(["ab", ["c/merged"]], (31, 50)),
        run_of([["a", "b", "c/merged"]], (99,)),
    ]
    cycles = SimulatedStages(kernels, StageTimes([1, 1, 1], 2), runs)
    assert cycles(((0,), (1,))) == 31
    assert cycles(((2,),)) == 7
    assert cycles(((0,), (1,), (2,))) == 2
