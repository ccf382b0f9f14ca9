"""What rows of a sweep show: hand-worked curves."""

from __future__ import annotations

import pytest

from graphturbo_core.sweep.findings import (
    Change,
    SpeedStep,
    changes_of_winner,
    cliffs,
    fastest,
    knee,
    pareto,
    smallest,
    worst_shares,
)


@pytest.mark.parametrize(
    ("speeds", "expected"),
    [
        ([10, 50, 95, 100], 2),  # 95 of 100 is kept, 50 is not
        ([10, 50, 94.9, 100], 3),
        ([10, 100, 50], 1),  # what comes after may be slower
        ([100, 100], 0),
        ([None, 96, 100], 1),
        ([100, None], 0),
        ([None, None], None),
        ([], None),
    ],
)
def test_knee(speeds: list[float | None], expected: int | None) -> None:
    assert knee(speeds) == expected


def test_a_cliff_is_steeper_than_the_number() -> None:
    # 1 -> 2 doubles the speed (slope 1, a bandwidth that binds); 2 -> 4 triples it (a cliff);
    # 4 -> 8 divides it by 2.5 (a cliff down); 8 -> 8.5 gains 9 % with 6 % more: too little.
    found = cliffs([1, 2, 4, 8, 8.5], [1, 2, 6, 2.4, 2.62])
    assert found == (SpeedStep(1, 2, 3.0), SpeedStep(2, 3, 2.4 / 6))


def test_no_cliff_beside_a_refused_value() -> None:
    assert cliffs([1, 2, 4], [1, None, 9]) == ()


def test_winners() -> None:
    a, b = [4, 4, None, 4], [1, 4, 5, 6]
    assert changes_of_winner([a, b]) == (Change(0, 2, 0, 1),)  # at place 1 they are equal
    assert changes_of_winner([[4, None, 1], [1, None, 4]]) == (Change(0, 2, 0, 1),)
    assert changes_of_winner([[10, 20], [12, 20]]) == ()
    assert changes_of_winner([]) == ()


def test_the_fastest() -> None:
    assert fastest([None, None]) is None
    assert fastest([None, 3]) == 1
    assert fastest([100, 99.6]) is None  # 0.4 %: equal
    assert fastest([100, 99.4]) == 0
    assert fastest([99, 100, 98]) == 1


def test_pareto_front() -> None:
    costs = [(4, 1), (1, 9), (2, 5), (3, 5), (2, 5), (5, 1)]
    assert pareto(costs) == (1, 2, 0)
    assert pareto([]) == ()


def test_the_worst_model_decides() -> None:
    speeds = {"m": [50, 96, 100], "n": [10, 9.6, None]}
    shares = worst_shares(speeds, {"m": 100, "n": 10})
    assert shares == [0.5, 0.96, None]
    assert smallest(shares, [1, 2, 3]) == 1
    assert smallest(shares, [1, 2, 3], kept=0.5) == 0
    assert smallest(shares, [1, 2, 3], kept=0.99) is None
    assert worst_shares(speeds, {"m": 100, "n": None}) == [None, None, None]


def test_equal_bytes_take_the_faster() -> None:
    assert smallest([0.96, 0.99, 0.97], [8, 8, 8]) == 1
