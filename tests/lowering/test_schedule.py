"""The list scheduler: a permutation that keeps every conflict, longest path first."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from graphturbo_core.lowering.code import KernelCode
from graphturbo_core.lowering.conflicts import find_conflicts
from graphturbo_core.lowering.schedule import schedule
from tests.lowering.codes import Row, csr_edges, kernel_code, kernel_codes, local

BOX = ((0, 4), (0, 4))
MOVE, MATRIX = 0, 1


def _schedule(code: KernelCode) -> list[int]:
    return schedule(code, find_conflicts(code, False), 3, 2).tolist()


@given(kernel_codes())
def test_every_conflict_keeps_its_direction(code: KernelCode) -> None:
    conflicts = find_conflicts(code, False)
    order = schedule(code, conflicts, 3, 2)
    assert sorted(order.tolist()) == list(range(len(code.rows)))
    rank = np.argsort(order)
    assert all(
        rank[earlier] < rank[later] for later, earlier in csr_edges(conflicts.at, conflicts.earlier)
    )
    assert schedule(code, conflicts, 3, 2).tolist() == order.tolist()


def _load(buffer: int, hold: int = 10, latency: int = 0) -> Row:
    return Row([(buffer, True, BOX)], MOVE, hold, latency)


def _compute(buffer: int, hold: int) -> Row:
    return Row([(buffer, False, BOX)], MATRIX, hold)


def test_longest_path_first() -> None:
    """Both loads could start at 0. After load 1 come 100 cycles, after load 0 come 5.

    Load 1 runs [0, 10), load 0 and compute 3 start at 10, compute 2 at 110 when the engine is free.
    """
    rows = [_load(0), _load(1), _compute(0, 5), _compute(1, 100)]
    code = kernel_code(rows, [local(0, 32), local(32, 32)])
    assert _schedule(code) == [1, 0, 3, 2]


def test_what_can_start_earlier_goes_before_a_longer_path() -> None:
    """Row 1 has the longer path, but waits 50 cycles of latency for row 0: row 2 starts at 10."""
    rows = [
        _load(0, 10, 40),
        Row([(0, False, BOX), (1, True, BOX)], MOVE, 10),
        Row([(2, True, BOX)], MOVE, 10),
        _compute(1, 100),
    ]
    code = kernel_code(rows, [local(0, 32), local(32, 32), local(64, 32)])
    assert _schedule(code) == [0, 2, 1, 3]


def test_a_load_is_hoisted_until_its_bytes_are_free() -> None:
    """Buffer 2 lies where buffer 0 was: its load waits for compute 1. Buffer 1's does not.

    Layer order: load 0, compute 1 (20 cycles), load 2 into buffer 2, compute 3, load 4 into buffer
    1, compute 5. Load 4 starts at 10, when the engine is free; load 2 at 30, when compute 1 ends.
    """
    rows = [_load(0), _compute(0, 20), _load(2), _compute(2, 20), _load(1), _compute(1, 20)]
    code = kernel_code(rows, [local(0, 32), local(32, 32), local(0, 32)])
    assert _schedule(code) == [0, 1, 4, 2, 5, 3]


def test_a_taken_channel_holds_a_move_back() -> None:
    """Rows 0 and 1 share a channel for 10 cycles; row 2 uses another and goes before row 1."""
    rows = [
        Row([(0, True, BOX)], 0, 10, 0, [(0, 10)]),
        Row([(1, True, BOX)], 1, 10, 0, [(0, 10)]),
        Row([(2, True, BOX)], 2, 10, 0, [(1, 10)]),
    ]
    code = kernel_code(rows, [local(0, 32), local(32, 32), local(64, 32)])
    assert _schedule(code) == [0, 2, 1]
