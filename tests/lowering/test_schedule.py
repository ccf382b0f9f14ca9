"""Instruction scheduling: a permutation that keeps every conflict; the shortest of those tried."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering import schedule as scheduling
from graphturbo_core.lowering.code import KernelCode
from graphturbo_core.lowering.conflicts import Conflicts, find_conflicts
from graphturbo_core.lowering.program import IntArray
from graphturbo_core.lowering.schedule import KernelQueues, schedule
from graphturbo_core.sim.simulate import simulate
from tests.lowering.codes import Row, csr_edges, kernel_code, kernel_codes, local
from tests.lowering.nets import chip, plan_of, small_model

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


def test_what_all_wait_for_goes_before_longer_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """A weight of 2 cycles, then three tiles: 10 cycles to load on the same engine, 10 to compute.

    A tile's load has a path of 20, the weight's is 12: the list scheduler loads all tiles first,
    [0, 30), the weight until 32, and computes until 62. Backward from the end, what ended last
    first: computes take the last 10, 20 and 30 cycles, two loads the 10 before the first two of
    these; the weight, which ended after all loads, the 2 before the third, and its load the 10
    before that. Forward that load goes first, until 10, then the weight until 12, and a compute
    starts every 10 cycles from then on: 42. A kernel of too many instructions keeps the list's.
    """
    tiles = range(1, 4)
    rows = [_load(0, 2), *(_load(tile) for tile in tiles)]
    rows += [Row([(0, False, BOX), (tile, False, BOX)], MATRIX, 10) for tile in tiles]
    code = kernel_code(rows, [local(32 * place, 32) for place in range(4)])
    kernel = KernelQueues(code, find_conflicts(code, False), 3, 2)
    listed = np.argsort(kernel.forward(-kernel.paths()), kind="stable")
    assert kernel.run(listed)[0] == 62
    assert _schedule(code).index(0) == 1
    assert kernel.run(np.array(_schedule(code)))[0] == 42
    for most, cycles in ((len(rows), 42), (len(rows) - 1, 62)):
        monkeypatch.setattr(scheduling, "MOST_ROWS", most)
        assert kernel.run(np.array(_schedule(code)))[0] == cycles


@given(kernel_codes())
def test_no_kernel_is_longer_than_the_lists(code: KernelCode) -> None:
    conflicts = find_conflicts(code, False)
    kernel = KernelQueues(code, conflicts, 3, 2)
    listed = np.argsort(kernel.forward(-kernel.paths()), kind="stable")
    assert kernel.run(schedule(code, conflicts, 3, 2))[0] <= kernel.run(listed)[0]


@pytest.mark.parametrize("model", ["resnet", "mobilenet"])
def test_a_kernel_alone_takes_what_it_takes_in_the_program(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What orders are compared by is what the simulator finds, launch and barrier apart."""
    found: dict[int, set[int]] = {}

    def spied(code: KernelCode, conflicts: Conflicts, engines: int, channels: int) -> IntArray:
        order = schedule(code, conflicts, engines, channels)
        cycles, _ = KernelQueues(code, conflicts, engines, channels).run(order)
        found.setdefault(len(order), set()).add(cycles)
        return order

    monkeypatch.setattr(lowering, "schedule", spied)
    plan = plan_of(small_model(model), "graphturbo:full", chip("tiny"))
    assert len(plan.kernels) > 1
    program = lowering.lower(plan)
    trace = simulate(program)
    steps = np.searchsorted(program.kernel, np.arange(len(plan.kernels) + 1)).tolist()
    for segment, (begin, end) in enumerate(pairwise(steps)):
        span = trace.segment_close[segment] - trace.segment_open[segment]
        assert span - plan.hardware.barrier_cycles in found[end - begin]
