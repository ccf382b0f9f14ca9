"""How much of a sweep a run looks at: all, what `make test` leaves out, whole models.

GRAPHTURBO_FULL=1 (`make test-full`): whole models, every chip, every strategy; hours.
GRAPHTURBO_QUICK=1 (`make test`): fewer random examples and strategies; `make test-all` has all.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from itertools import product

import pytest

IS_FULL = os.environ.get("GRAPHTURBO_FULL") == "1"
IS_QUICK = os.environ.get("GRAPHTURBO_QUICK") == "1"
EVERY_DAY = ("tvm", "graphturbo:full")
"""Strategies of the slower tests on other days."""
SLOW = pytest.mark.slow
QUICK_SHARE = 4
FEWEST_EXAMPLES = 4


def examples(count: int, is_quick: bool = IS_QUICK) -> int:
    """Random examples of a property that has `count`; a quarter of them, four at least, if quick.

    They are drawn from a fixed seed, so the few are the first of the many.
    """
    return min(count, max(FEWEST_EXAMPLES, count // QUICK_SHARE)) if is_quick else count


def often(values: Iterable[object], kept: Collection[object]) -> list[object]:
    """Parameters: all values; those that are not `kept` are `slow`."""
    return [value if value in kept else pytest.param(value, marks=SLOW) for value in values]


def in_turn(*axes: Iterable[object]) -> list[object]:
    """Parameters: one of each axis, in all combinations, all but some of which are `slow`.

    Each combination of the axes before the last one has one value of the last one that is not:
    the values in turn, so that a value of any axis meets several of the last one, if it has them.
    """
    *others, last = (list(enumerate(axis)) for axis in axes)
    cases = []
    for row in product(*others):
        turn = sum(number for number, _ in row) % len(last)
        for number, value in last:
            marks = () if number == turn else (SLOW,)
            cases.append(pytest.param(*(v for _, v in row), value, marks=marks))
    return cases


def paired(*axes: Iterable[object], is_full: bool = IS_FULL) -> list[object]:
    """Parameters: those of `in_turn` that are not `slow`; all with GRAPHTURBO_FULL=1.

    For sweeps that are slow as a whole: every value of an axis meets each of another one, where
    the last axis has no more values than any other.
    """
    *others, last = (list(axis) for axis in axes)
    if is_full:
        return list(product(*others, last))
    rows = product(*(enumerate(axis) for axis in others))
    return [
        (*(value for _, value in row), last[sum(number for number, _ in row) % len(last)])
        for row in rows
    ]
