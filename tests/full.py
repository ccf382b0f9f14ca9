"""How much of a sweep a run looks at: a covering part, less of it every day, or all.

GRAPHTURBO_FULL=1 (`make test-full`): all combinations and examples, whole models; hours.
Neither (`make test-all`): every pair of values, half of the random examples.
GRAPHTURBO_QUICK=1 (`make test`): no `slow` ones, an eighth of the random examples.
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
CI_SHARE, QUICK_SHARE = 2, 8
"""One of so many random examples is run."""
FEWEST_EXAMPLES = 4


def share_of(is_full: bool = IS_FULL, is_quick: bool = IS_QUICK) -> int:
    """One of how many random examples this run draws."""
    if is_full:
        return 1
    return QUICK_SHARE if is_quick else CI_SHARE


def examples(count: int, share: int | None = None) -> int:
    """Random examples of a property that has `count`: one of `share`, at least four.

    They are drawn from a fixed seed, so the few are the first of the many.
    """
    return min(count, max(FEWEST_EXAMPLES, count // (share or share_of())))


def often(values: Iterable[object], kept: Collection[object]) -> list[object]:
    """Parameters: all values; those that are not `kept` are `slow`."""
    return [value if value in kept else pytest.param(value, marks=SLOW) for value in values]


def paired(*axes: Iterable[object], is_full: bool = IS_FULL) -> list[object]:
    """Parameters: one of each axis, in some combinations; in all with GRAPHTURBO_FULL=1.

    Each combination of the axes before the last one meets one value of the last one: the values in
    turn. So every value of an axis meets each of another one, where the last axis has no more
    values than any other.
    """
    *others, last = (list(axis) for axis in axes)
    if is_full:
        return list(product(*others, last))
    rows = product(*(enumerate(axis) for axis in others))
    return [
        (*(value for _, value in row), last[sum(number for number, _ in row) % len(last)])
        for row in rows
    ]
