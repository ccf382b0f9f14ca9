"""Who owns which bytes, and which numbers are there: two buffers that share bytes, by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from graphturbo_core.products.program import Memory
from graphturbo_core.verify.replay.memory import Shadow, Values, boxes_of
from tests.models import graph_of


def program(
    rows: list[tuple[Memory, int, int, int]], is_pooled: bool = False, **numbers: Any
) -> Any:
    """Buffers as (memory, core, offset, bytes); `numbers` describe their content."""
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    names = ("memory", "core", "offset", "size_bytes")
    buffers = SimpleNamespace(**dict(zip(names, columns, strict=True)), **numbers)
    hardware = SimpleNamespace(is_pooled=is_pooled)
    return SimpleNamespace(buffers=buffers, plan=SimpleNamespace(hardware=hardware))


def test_who_takes_bytes_takes_them_from_their_owner() -> None:
    """0 has bytes 0 to 7, 1 has 4 to 11, 2 lies at 12; 3 is another core's."""
    lb = Memory.LB_DATA
    shadow = Shadow(program([(lb, 0, 0, 8), (lb, 0, 4, 8), (lb, 0, 12, 4), (lb, 1, 0, 8)]))
    assert not shadow.owns(0)
    assert shadow.take(0) == set()
    assert shadow.owns(0)
    assert shadow.take(3) == set()
    assert shadow.take(2) == set()
    assert shadow.take(1) == {0}
    assert [shadow.owns(buffer) for buffer in range(4)] == [False, True, True, True]
    assert shadow.take(0) == {1}
    assert shadow.take(0) == set()


def test_memories_are_apart_unless_they_are_one_pool() -> None:
    rows = [(Memory.LB_DATA, 0, 0, 8), (Memory.LB_WEIGHT, 0, 0, 8)]
    for is_pooled, losers in ((False, set()), (True, {0})):
        shadow = Shadow(program(rows, is_pooled))
        shadow.take(0)
        assert shadow.take(1) == losers
        assert shadow.owns(0) == (not is_pooled)


def values() -> Values:
    """Buffer 0: rows 2 and 3 of a float x[4,2]; 1: an int64 n[3]; 2: a scalar s; 3: all of x."""
    graph = graph_of(
        "g (float[4,2] x, int64[3] n, float s) => (float[4,2] y, int64[3] m)"
        " { y = Add(x, s) m = Neg(n) }"
    )
    row = (Memory.LB_DATA, 0, 0, 8)
    lo, hi = [[2, 0], [0, 0], [0, 0], [0, 0]], [[4, 2], [3, 0], [0, 0], [4, 2]]
    made = program([row] * 4, tensor=[0, 1, 2, 0], lo=np.array(lo), hi=np.array(hi))
    made.tensors = ["x", "n", "s"]
    made.plan.semantics = SimpleNamespace(graph=graph)
    return Values(made)


def test_boxes_lose_the_columns_that_their_rank_does_not_need() -> None:
    assert boxes_of([2, 1, 0], np.array([[2, 0]] * 3), np.array([[4, 2]] * 3)) == [
        ((2, 4), (0, 2)),
        ((2, 4),),
        (),
    ]


def test_floats_are_not_numbers_until_they_are_written() -> None:
    held = values()
    assert not held.is_open(0)
    held.open(0)
    assert np.isnan(held.whole(0)).all()
    held.write(0, ((3, 4), (0, 2)), np.array([7, 8], np.float32))
    read = held.read(0, ((3, 4), (1, 2)))
    assert read is not None
    assert read.tolist() == [[8]]
    assert np.isnan(held.whole(0)[0]).all()
    held.close(0)
    assert not held.is_open(0)


def test_integers_are_there_once_every_one_is_written() -> None:
    held = values()
    held.open(1)
    held.write(1, ((0, 2),), np.array([5, 6]))
    read = held.read(1, ((0, 2),))
    assert read is not None
    assert read.tolist() == [5, 6]
    assert held.read(1, ((1, 3),)) is None
    held.write(1, ((2, 3),), np.array([9]))
    assert held.whole(1).tolist() == [5, 6, 9]


def test_a_buffer_that_is_opened_again_is_empty_again() -> None:
    held = values()
    for _ in range(2):
        held.open(1)
        assert held.read(1, ((0, 1),)) is None
        held.write(1, ((0, 3),), np.array([1, 2, 3]))
        assert held.read(1, ((0, 1),)) is not None


def test_a_scalar_is_an_array_without_axes() -> None:
    held = values()
    held.open(2)
    held.write(2, (), np.array(3, np.float32))
    read = held.read(2, ())
    assert isinstance(read, np.ndarray)
    assert read.item() == 3


def test_given_numbers_are_read_in_the_tensors_own_coordinates() -> None:
    held = values()
    held.give(3, np.arange(8, dtype=np.float32).reshape(4, 2))
    read = held.read(3, ((1, 3), (1, 2)))
    assert read is not None
    assert read.ravel().tolist() == [3, 5]


def test_a_slot_has_the_type_of_the_value_that_fills_it() -> None:
    """2.5 written over an integer is read as 2.5."""
    held = values()
    held.open(1)
    held.write(1, ((0, 3),), np.array([0.5, 2.5, 4.5], np.float32))
    assert held.whole(1).tolist() == [0.5, 2.5, 4.5]
    assert held.read(1, ((0, 3),)) is not None
