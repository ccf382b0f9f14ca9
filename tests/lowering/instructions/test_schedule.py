"""Instruction scheduling: a permutation that keeps every conflict; the shortest of those tried."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering import numbering
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.instructions.conflicts import find_conflicts
from graphturbo_core.lowering.instructions.schedule import KernelQueues, schedule, schedule_by_layer
from graphturbo_core.products.program import IntArray
from graphturbo_core.sim.simulate import simulate
from tests.lowering.codes import Row, csr_edges, kernel_code, kernel_codes, local
from tests.lowering.nets import chip, plan_of, small_model

BOX = ((0, 4), (0, 4))
MOVE, MATRIX = 0, 1


def _schedule(code: KernelCode) -> list[int]:
    return schedule(code, find_conflicts(code, False), 3, 2)[0].tolist()


@given(kernel_codes())
def test_every_conflict_keeps_its_direction(code: KernelCode) -> None:
    conflicts = find_conflicts(code, False)
    order, cycles = schedule(code, conflicts, 3, 2)
    assert cycles == KernelQueues(code, conflicts, 3, 2).run(order)[0]
    assert sorted(order.tolist()) == list(range(code.size))
    rank = np.argsort(order)
    edges = csr_edges(conflicts.conflict_at, conflicts.conflict)
    assert all(rank[earlier] < rank[later] for later, earlier in edges)
    assert schedule(code, conflicts, 3, 2)[0].tolist() == order.tolist()


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
    starts every 10 cycles from then on: 42.
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


def _one_by_one(
    code: KernelCode, edges: list[tuple[int, int]], rank: list[int], *, is_backward: bool = False
) -> list[int]:
    """What a list scheduler that looks at every row again each time would find."""
    latency, hold = code.latency_cycles.tolist(), code.hold_cycles.tolist()
    engine = code.engine.tolist()
    start, free = dict[int, int](), dict[tuple[str, int], int]()

    def ready(row: int) -> int:
        lags = [
            start[earlier] + hold[earlier] + (0 if is_backward else latency[earlier])
            for later, earlier in edges
            if later == row
        ]
        return max(lags, default=0) + (latency[row] if is_backward else 0)

    def begin(row: int) -> int:
        held = [("engine", engine[row]), *(("channel", number) for number, _ in channels(row))]
        return max(ready(row), *(free.get(each, 0) for each in held))

    def channels(row: int) -> list[tuple[int, int]]:
        some = slice(code.channel_at[row], code.channel_at[row + 1])
        return list(
            zip(code.channel[some].tolist(), code.channel_cycles[some].tolist(), strict=True)
        )

    while len(start) < len(hold):
        able = [
            (begin(row), rank[row], row)
            for row in range(len(hold))
            if row not in start and all(one in start for other, one in edges if other == row)
        ]
        now, _, row = min(able)
        start[row] = now
        free["engine", engine[row]] = now + hold[row]
        free |= {("channel", number): now + cycles for number, cycles in channels(row)}
    return [start[row] for row in range(len(hold))]


@given(kernel_codes(), st.data())
def test_of_each_line_only_the_first_is_looked_at(code: KernelCode, data: st.DataObject) -> None:
    """Rows that hold the same engine and channels: starts are what a look at each row gives."""
    count = code.size
    rank, hold = np.array(
        [data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count)) for _ in range(2)]
    )
    code = replace(code, hold_cycles=hold)
    conflicts = find_conflicts(code, False)
    kernel = KernelQueues(code, conflicts, 3, 2)
    edges = csr_edges(conflicts.conflict_at, conflicts.conflict)
    assert kernel.forward(rank).tolist() == _one_by_one(code, edges, rank.tolist())
    edges = [(earlier, later) for later, earlier in edges]
    ends = hold + _one_by_one(code, edges, (-rank - hold).tolist(), is_backward=True)
    assert kernel.latest_starts(rank).tolist() == (ends.max() - ends).tolist()


def test_rows_of_no_cycles_start_once() -> None:
    """Engine 0 is taken until 2 by row 1. Rows 2 and 3 wait for it from 0 on, row 4 from 1 on.

    Row 4 is first in order and comes to the front of row 2, which so stands in the clock twice at
    2, before row 4 and behind it: the second time row 3 is in front.
    """
    rows = [
        Row([(0, True, BOX)], MATRIX, 1),
        Row((), MOVE, 2),
        Row((), MOVE, 0),
        Row((), MOVE, 0),
        Row([(0, False, BOX)], MOVE, 0),
    ]
    code = kernel_code(rows, [local(0, 32)])
    kernel = KernelQueues(code, find_conflicts(code, False), 3, 2)
    assert kernel.forward(np.array([0, 0, 2, 3, 1])).tolist() == [0, 0, 2, 2, 2]


def test_the_next_of_a_line_stands_where_its_engine_is_free() -> None:
    """Rows 1 to 3 take engine 0 for 2 cycles each, so does row 4, of another line.

    Row 4 can start from 3 on, when row 0 has ended, but is last in order: it waits until 6.
    """
    rows = [
        Row([(0, True, BOX)], MATRIX, 3),
        *(Row((), MOVE, 2) for _ in range(3)),
        Row([(0, False, BOX)], MOVE, 2, 0, [(0, 2)]),
    ]
    code = kernel_code(rows, [local(0, 32)])
    kernel = KernelQueues(code, find_conflicts(code, False), 3, 2)
    assert kernel.forward(np.array([0, 0, 1, 2, 3])).tolist() == [0, 0, 2, 4, 6]


@pytest.mark.parametrize("count", [4, 64])
def test_what_starts_in_one_cycle_stays_in_layer_order(count: int) -> None:
    """Rows on two engines in turn, equally long: two start every 10 cycles, the lower row first.

    Their paths are the same too; with 64 rows a sort that breaks ties otherwise shows.
    """
    rows = [Row([(place, True, BOX)], place % 2, 10) for place in range(count)]
    code = kernel_code(rows, [local(32 * place, 32) for place in range(count)])
    assert _schedule(code) == list(range(count))


@given(kernel_codes())
def test_between_fences_layers_stay_in_order(code: KernelCode) -> None:
    """Each run of a layer keeps its place; a permutation within it, every conflict kept."""
    layers = np.arange(code.size) // 3
    code = replace(code, layer=(layers % 2).astype(np.int32))
    conflicts = find_conflicts(code, False)
    order = schedule_by_layer(code, conflicts, 3, 2)
    assert layers[order].tolist() == layers.tolist()
    assert sorted(order.tolist()) == list(range(code.size))
    rank = np.argsort(order)
    edges = csr_edges(conflicts.conflict_at, conflicts.conflict)
    assert all(rank[earlier] < rank[later] for later, earlier in edges)


def test_between_fences_the_longest_path_of_a_layer_goes_first() -> None:
    """As `test_longest_path_first`, twice over: of each layer load 1 is first, and compute 3."""
    own = [_load(0), _load(1), _compute(0, 5), _compute(1, 100)]
    again = [_load(2), _load(3), _compute(2, 5), _compute(3, 100)]
    code = kernel_code([*own, *again], [local(32 * place, 32) for place in range(4)])
    code.layer[4:] = 1
    order = schedule_by_layer(code, find_conflicts(code, False), 3, 2)
    assert order.tolist() == [1, 0, 3, 2, 5, 4, 7, 6]


@given(kernel_codes())
def test_no_kernel_is_longer_than_the_lists(code: KernelCode) -> None:
    conflicts = find_conflicts(code, False)
    kernel = KernelQueues(code, conflicts, 3, 2)
    listed = np.argsort(kernel.forward(-kernel.paths()), kind="stable")
    assert schedule(code, conflicts, 3, 2)[1] <= kernel.run(listed)[0]


@pytest.mark.parametrize("model", ["resnet", "mobilenet"])
def test_a_kernel_alone_takes_what_it_takes_in_the_program(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What orders are compared by is what the simulator finds, launch and barrier apart."""
    found: dict[int, set[int]] = {}

    def spied(code: KernelCode, *rest: Any) -> tuple[IntArray, int]:
        order, cycles = schedule(code, *rest)
        found.setdefault(len(order), set()).add(cycles)
        return order, cycles

    monkeypatch.setattr(numbering, "schedule", spied)
    plan = plan_of(small_model(model), "graphturbo:full", chip("tiny"))
    assert len(plan.kernels) > 1
    program = lowering.lower(plan)
    trace = simulate(program)
    steps = np.searchsorted(program.kernel, np.arange(len(plan.kernels) + 1)).tolist()
    for segment, (begin, end) in enumerate(pairwise(steps)):
        span = trace.segment_close[segment] - trace.segment_open[segment]
        assert span - plan.hardware.barrier_cycles in found[end - begin]
