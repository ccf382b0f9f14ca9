"""Algorithm 3: the published order, and that any order is topological."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.strategies.graphturbo.ordering import order_instances
from tests.strategies.chains import PUBLISHED

BREADTH_FIRST = "a1 a2 a3 a4 a5 a6 a7 a8 b1 b2 b3 b4 c1 c2 d1"


@pytest.mark.parametrize(
    ("is_breadth_first", "wanted"), [(False, PUBLISHED), (True, BREADTH_FIRST)]
)
def test_published_order(is_breadth_first: bool, wanted: str) -> None:
    """Four groups of 8, 4, 2, 1; each instance needs two of the group before (Fig. 7(f))."""
    groups = [("a", 8, 0), ("b", 4, 8), ("c", 2, 12), ("d", 1, 14)]
    names = [f"{group}{piece + 1}" for group, count, _ in groups for piece in range(count)]
    needs: list[list[int]] = [[] for _ in range(8)]
    for (_, _, before), (_, count, _) in pairwise(groups):
        needs += [[before + 2 * piece, before + 2 * piece + 1] for piece in range(count)]
    found = order_instances(names, needs, is_breadth_first=is_breadth_first)
    assert " ".join(names[number] for number in found.order) == wanted
    assert [step.run for step in found.steps] == wanted.split()


def test_first_steps_by_hand() -> None:
    """Two groups of two: a2 lets b2 in (it waits for nothing else), which runs before a1."""
    found = order_instances(["a1", "a2", "b1", "b2"], [[], [], [0], [1]])
    assert [(step.run, step.ready) for step in found.steps] == [
        ("a2", ("a1", "b2")),
        ("b2", ("a1",)),
        ("a1", ("b1",)),
        ("b1", ()),
    ]


def test_of_those_that_enter_together_the_last_numbered_runs_first() -> None:
    """Four consumers of one instance are ready at once: they enter as numbered, and leave last in.

    Breadth first the first in leaves first. Neither goes by names.
    """
    names, needs = ["s", "d", "b", "c", "a"], [[], [0], [0], [0], [0]]
    found = order_instances(names, needs)
    assert found.order == (0, 4, 3, 2, 1)
    assert found.steps[0].ready == ("d", "b", "c", "a")
    assert order_instances(names, needs, is_breadth_first=True).order == (0, 1, 2, 3, 4)


def test_an_entry_that_waits_is_passed_over() -> None:
    # b needs both; it enters after a2, below nothing, but a1 is the newest that can run.
    found = order_instances(["a1", "a2", "b"], [[], [], [0, 1]])
    assert found.steps[0].ready == ("a1", "b")
    assert found.order == (1, 0, 2)


@given(st.data())
def test_order_is_topological_and_complete(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 30))
    needs = [
        sorted(data.draw(st.sets(st.integers(0, number - 1), max_size=3))) if number else []
        for number in range(size)
    ]
    is_breadth_first = data.draw(st.booleans())
    names = [str(number) for number in range(size)]
    found = order_instances(names, needs, is_breadth_first=is_breadth_first)
    place = {number: index for index, number in enumerate(found.order)}
    assert sorted(found.order) == list(range(size))
    assert all(place[need] < place[number] for number in range(size) for need in needs[number])
