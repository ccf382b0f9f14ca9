"""A Trace that breaks a rule is refused, with both offenders by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphturbo_core.errors import InvariantError
from graphturbo_core.products.program import Memory, Program
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace

from .programs import MATRIX, MOVE, VECTOR, Block, Step, build, hardware


def _moved(program: Program, starts: dict[int, int], **changes: object) -> Trace:
    """The Trace with some starts moved and everything else as it was."""
    trace = simulate(program)
    start = trace.start.copy()
    for i, cycle in starts.items():
        start[i] = cycle
    end = start + program.hold_cycles + program.latency_cycles
    return replace(trace, start=start, end=end, **changes)  # type: ignore[arg-type]


def test_an_engine_does_one_thing_at_a_time() -> None:
    program = build([Step((MATRIX, 0), hold=5), Step((MATRIX, 0), hold=5)])
    what = r"instruction 1 .* starts at 4, instruction 0 \(COMPUTE on core 0 matrix\) .* until 5"
    with pytest.raises(InvariantError, match=what):
        _moved(program, {1: 4}).check()


def test_an_engine_keeps_the_sequence() -> None:
    program = build([Step((MATRIX, 0), hold=5), Step((MATRIX, 0), hold=5)])
    with pytest.raises(InvariantError, match=r"instruction 1 .* starts at 0"):
        _moved(program, {0: 5, 1: 0}).check()


def test_a_conflict_ends_first() -> None:
    steps = [Step((MOVE, 0), channels={"gb": 3}, latency=4), Step((MATRIX, 0), hold=5, data=[0])]
    with pytest.raises(InvariantError, match=r"instruction 1 .* starts at 6, .* 0 .* ends at 7"):
        _moved(build(steps), {1: 6}).check()


def test_a_channel_is_used_once() -> None:
    steps = [Step((MOVE, 0), channels={"gb": 3}), Step((MOVE, 1), channels={"gb": 3, "lb 1": 1})]
    with pytest.raises(InvariantError, match=r"1 .* uses channel 'gb' from 2, .* 0 .* until 3"):
        _moved(build(steps), {1: 2}).check()


def test_a_segment_holds_its_instructions() -> None:
    steps = [Step((MATRIX, 0), hold=5), Step((VECTOR, 0), hold=5, segment=1)]
    program = build(steps, segments=[(1, 2), (3, 4)])
    # segment 1 opens at 1 + 5 + 2 + 3 = 11 and its instruction ends at 16
    with pytest.raises(InvariantError, match=r"instruction 1 .* \[10, 15\], .* 1 in \[11, 16\]"):
        _moved(program, {1: 10}).check()
    opens = np.array([1, 10])
    with pytest.raises(InvariantError, match="segment 1 opens at 10, not at 11"):
        _moved(program, {}, segment_open=opens).check()


def test_stalls_sum_to_the_makespan() -> None:
    trace = simulate(build([Step((MATRIX, 0), hold=5)]))
    with pytest.raises(InvariantError, match="core 0 matrix accounts for 6 of 5 cycles"):
        replace(trace, stalls=trace.stalls + np.array([1, 0, 0, 0, 0, 0])).check()


def test_waits_for_data_sum_to_their_class() -> None:
    trace = simulate(build([Step((MATRIX, 0), hold=5), Step((VECTOR, 0), hold=1, data=[0])]))
    assert trace.data_waits.tolist() == [[0] * 5, [5, 0, 0, 0, 0]]
    more = trace.data_waits + np.array([[0] * 5, [0, 0, 1, 0, 0]])
    with pytest.raises(InvariantError, match="core 0 vector waits 5 cycles for data"):
        replace(trace, data_waits=more).check()


def test_end_follows_from_start() -> None:
    trace = simulate(build([Step((MATRIX, 0), hold=5)]))
    with pytest.raises(InvariantError, match="ends at 6, not at 5"):
        replace(trace, end=trace.end + 1).check()


def test_no_trace_is_shorter_than_the_longest_chain() -> None:
    trace = simulate(build([Step((MATRIX, 0), hold=5)]))
    with pytest.raises(InvariantError, match="5 cycles are less than the chain of 6"):
        replace(trace, longest_chain_cycles=6).check()


SHARED = (
    Step((VECTOR, 0), hold=4, writes=[0]),
    Step((MATRIX, 0), hold=4, writes=[1]),
)


def test_live_buffers_share_no_byte() -> None:
    blocks = [Block(Memory.GB, 0, 10, tensor="x"), Block(Memory.GB, 9, 10, tensor="y")]
    what = r"buffer 0 \('x', GB, bytes \[0, 10\)\) live in \[0, 4\) .* buffer 1 \('y', GB"
    with pytest.raises(InvariantError, match=what):
        simulate(build(SHARED, blocks=blocks)).check()


def test_bytes_may_be_reused_in_the_cycle_they_are_free() -> None:
    blocks = [Block(Memory.GB, 0, 10), Block(Memory.GB, 9, 10)]
    steps = [SHARED[0], replace(SHARED[1], address=[0])]
    simulate(build(steps, blocks=blocks)).check()


def test_cores_and_parts_have_addresses_of_their_own_unless_pooled() -> None:
    data = Block(Memory.LB_DATA, 0, 10, core=0)
    simulate(build(SHARED, blocks=[data, replace(data, core=1)])).check()
    weight = replace(data, memory=Memory.LB_WEIGHT)
    simulate(build(SHARED, blocks=[data, weight])).check()
    with pytest.raises(InvariantError, match="shares bytes"):
        simulate(build(SHARED, blocks=[data, weight], chip=hardware(is_pooled=True))).check()


@pytest.mark.parametrize(
    ("memory", "capacity"),
    [
        (Memory.LB_DATA, 100),
        (Memory.LB_WEIGHT, 50),
        (Memory.STAGING, 20),
        (Memory.GB, 200),
        (Memory.DRAM, 1000),
    ],
)
def test_a_buffer_lies_inside_its_memory(memory: Memory, capacity: int) -> None:
    fits = Block(memory, capacity - 4, 4, core=0)
    simulate(build(SHARED[:1], blocks=[fits])).check()
    with pytest.raises(InvariantError, match=rf"is not inside \[0, {capacity}\)"):
        simulate(build(SHARED[:1], blocks=[replace(fits, size=5)])).check()


def test_a_kernel_takes_the_segments_of_its_layers() -> None:
    """Each layer has a launch of 2 and a barrier of 1: 2 + 12 + 1, 2 + 14 + 1, and 2 + 5 + 1."""
    steps = [
        Step((MATRIX, 0), hold=12),
        Step((VECTOR, 0), hold=14, segment=1, layer=1),
        Step((VECTOR, 0), hold=5, segment=2, layer=2, kernel=1),
    ]
    trace = simulate(build(steps, segments=[(2, 1), (2, 1), (2, 1)]))
    trace.check()
    assert trace.segment_close.tolist() == [15, 32, 40]
    assert trace.kernel_cycles == (32, 8)
