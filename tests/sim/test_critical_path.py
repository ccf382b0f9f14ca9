"""The critical path: a round's cycles from the first to the last, and what each waited for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import InvariantError
from graphturbo_core.products.program import InstructionKind
from graphturbo_core.sim.critical_path import CriticalPath, Resource, critical_path
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace, Wait
from tests.full import examples

from .programs import MATRIX, MOVE, VECTOR, Step, build

LOAD, STORE = InstructionKind.LOAD, InstructionKind.STORE


def rows(path: CriticalPath) -> list[tuple[int, int, int, Resource, Wait]]:
    """Instruction, start, end, resource, and why the next one waited, of every stretch."""
    columns = (path.instruction, path.start, path.end, path.resource, path.holds_up)
    return [
        (i, begin, end, Resource(resource), Wait(why))
        for i, begin, end, resource, why in zip(*(c.tolist() for c in columns), strict=True)
    ]


def test_one_gemm() -> None:
    # test_simulate's: launch [0, 3), load A [3, 11), load B [11, 17) behind it on the move engine,
    # visible at 22, compute [22, 32), store [32, 36), visible at 41, barrier [41, 43).
    trace = simulate(
        build(
            [
                Step((MOVE, 0), latency=5, channels={"dram": 8, "lb 0": 2}, kind=LOAD),
                Step((MOVE, 0), latency=5, channels={"dram": 6, "lb 0": 2}, kind=LOAD),
                Step((MATRIX, 0), hold=10, data=[0, 1]),
                Step((MOVE, 0), latency=5, channels={"dram": 4, "lb 0": 1}, data=[2], kind=STORE),
            ],
            segments=[(3, 2)],
        )
    )
    path = critical_path(trace)
    assert rows(path) == [
        (-1, 0, 3, Resource.LAUNCH, Wait.BARRIER),
        (0, 3, 11, Resource.DRAM, Wait.BUSY),
        (1, 11, 17, Resource.DRAM, Wait.DATA),
        (1, 17, 22, Resource.LATENCY, Wait.DATA),
        (2, 22, 32, Resource.MATRIX, Wait.DATA),
        (3, 32, 36, Resource.DRAM, Wait.BARRIER),
        (3, 36, 41, Resource.LATENCY, Wait.BARRIER),
        (-1, 41, 43, Resource.BARRIER, Wait.BARRIER),
    ]
    cycles = {resource: n for resource, n in path.cycles_by_resource().items() if n}
    assert cycles == {
        Resource.MATRIX: 10, Resource.DRAM: 18, Resource.LATENCY: 10, Resource.LAUNCH: 3,
        Resource.BARRIER: 2,
    }  # fmt: skip


def test_a_queue_for_a_channel_is_on_the_path_until_the_channel_is_free() -> None:
    # Move 0 holds gb [0, 6) and lb 1 [0, 4). Move 1 needs lb 1 and dram: it queues for lb 1 until
    # 4 and runs [4, 14). So [0, 4) is lb 1's, although move 0 itself goes on until 6.
    trace = simulate(
        build(
            [
                Step((MOVE, 0), channels={"gb": 6, "lb 1": 4}),
                Step((MOVE, 1), channels={"dram": 10, "lb 1": 3}),
            ]
        )
    )
    assert rows(critical_path(trace)) == [
        (0, 0, 4, Resource.LB, Wait.CHANNEL),
        (1, 4, 14, Resource.DRAM, Wait.BARRIER),
    ]


def test_buffer_space_is_told_from_data() -> None:
    # The vector op [0, 5) reads what the load writes over: the load waits for space until 5. The
    # matrix op of core 1 follows another one on its engine and ends first.
    trace = simulate(
        build(
            [
                Step((VECTOR, 0), hold=5),
                Step((MOVE, 0), channels={"link in 0": 4}, address=[0]),
                Step((MATRIX, 1), hold=3),
                Step((MATRIX, 1), hold=3),
            ]
        )
    )
    assert rows(critical_path(trace)) == [
        (0, 0, 5, Resource.VECTOR, Wait.ADDRESS),
        (1, 5, 9, Resource.LINK, Wait.BARRIER),
    ]


def test_segments_follow_one_another_and_an_empty_one_counts() -> None:
    # Opens at 4; [4, 7); closes at 9. The empty segment opens at 19, closes at 24; the last opens
    # at 25 and ends at 27, closes at 33. The two instructions of the first end together: the lower.
    trace = simulate(
        build(
            [
                Step((VECTOR, 0), hold=3),
                Step((VECTOR, 1), hold=3),
                Step((MATRIX, 0), hold=2, segment=2),
            ],
            segments=[(4, 2), (10, 5), (1, 6)],
        )
    )
    assert rows(critical_path(trace)) == [
        (-1, 0, 4, Resource.LAUNCH, Wait.BARRIER),
        (0, 4, 7, Resource.VECTOR, Wait.BARRIER),
        (-1, 7, 9, Resource.BARRIER, Wait.BARRIER),
        (-1, 9, 19, Resource.LAUNCH, Wait.BARRIER),
        (-1, 19, 24, Resource.BARRIER, Wait.BARRIER),
        (-1, 24, 25, Resource.LAUNCH, Wait.BARRIER),
        (2, 25, 27, Resource.MATRIX, Wait.BARRIER),
        (-1, 27, 33, Resource.BARRIER, Wait.BARRIER),
    ]


def test_a_move_within_an_lb_occupies_its_engine() -> None:
    path = critical_path(simulate(build([Step((MOVE, 0), hold=7, kind=InstructionKind.COPY)])))
    assert rows(path) == [(0, 0, 7, Resource.MOVE, Wait.BARRIER)]


def test_a_path_with_a_gap_is_refused() -> None:
    path = critical_path(simulate(build([Step((MATRIX, 0), hold=5), Step((MATRIX, 0), hold=5)])))
    path.check(10)
    with pytest.raises(InvariantError, match="begins at 11, not at 10"):
        path.check(11)
    late = replace(path, start=path.start + np.array([0, 1]))
    with pytest.raises(
        InvariantError, match="interval 1 of the critical path begins at 6, not at 5"
    ):
        late.check(10)


def test_an_instruction_that_takes_no_time_leaves_no_stretch() -> None:
    # The middle one holds nothing: the last one waits for it from 4 to 4.
    steps = [
        Step((MATRIX, 0), hold=4),
        Step((VECTOR, 0), data=[0]),
        Step((MATRIX, 0), hold=2, data=[1]),
    ]
    path = critical_path(simulate(build(steps)))
    assert [row[:4] for row in rows(path)] == [
        (0, 0, 4, Resource.MATRIX),
        (2, 4, 6, Resource.MATRIX),
    ]


def explains(trace: Trace, path: CriticalPath, at: int) -> bool:
    """Whether the stretch's instruction is why the next stretch's instruction starts there."""
    program, cycle = trace.program, int(path.end[at])
    i, j = int(path.instruction[at]), int(path.instruction[at + 1])
    why = path.holds_up[at]
    is_whole = trace.start[i] + program.hold_cycles[i] == cycle
    if why == Wait.BUSY:
        return bool(program.engine[i] == program.engine[j] and is_whole)
    if why == Wait.CHANNEL:
        held = slice(program.channel_at[i], program.channel_at[i + 1])
        left = program.channel[held][trace.start[i] + program.channel_cycles[held] == cycle]
        wanted = program.channel[program.channel_at[j] : program.channel_at[j + 1]]
        return bool(np.isin(left, wanted).any())
    conflicts = slice(program.conflict_at[j], program.conflict_at[j + 1])
    is_address = program.is_address_conflict[conflicts][program.conflict[conflicts] == i]
    return bool(trace.end[i] == cycle and (is_address == (why == Wait.ADDRESS)).any())


CHANNELS = ("dram", "gb", "lb 0", "lb 1")
steps_of = st.lists(
    st.tuples(
        st.sampled_from([(MATRIX, 0), (VECTOR, 0), (MATRIX, 1), (MOVE, 0), (MOVE, 1), 0]),
        st.integers(1, 5),
        st.dictionaries(st.sampled_from(CHANNELS), st.integers(1, 4), max_size=2),
        st.sets(st.integers(1, 4), max_size=2),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=14,
)  # fmt: skip


@settings(max_examples=examples(300), deadline=None)
@given(steps_of, st.integers(1, 3), st.booleans())
def test_every_stretch_is_explained_and_they_sum_to_the_makespan(
    drawn: list[tuple[object, int, dict[str, int], set[int], int]], segments: int, is_address: bool
) -> None:
    steps = []
    for n, (engine, hold, channels, back, latency) in enumerate(drawn):
        is_move = not isinstance(engine, tuple) or engine[0] is MOVE
        before = sorted({n - b for b in back if n - b >= 0})
        kind = "address" if is_address else "data"
        steps.append(
            Step(
                engine,  # type: ignore[arg-type]
                hold=hold,
                latency=latency if is_move else 0,
                channels=channels if is_move else {},
                segment=n * segments // len(drawn),
                **{kind: before},  # type: ignore[arg-type]
            )
        )
    trace = simulate(build(steps, segments=[(2, 1)] * segments))
    path = critical_path(trace)
    assert sum(path.cycles_by_resource().values()) == trace.makespan
    for at in range(len(path.start) - 1):
        i, j = int(path.instruction[at]), int(path.instruction[at + 1])
        if i >= 0 and j >= 0 and i != j:
            assert explains(trace, path, at)
        elif j >= 0 and i < 0:
            assert path.resource[at] == Resource.LAUNCH
            assert path.end[at] == trace.segment_open[trace.program.segment[j]]
        elif i >= 0 and j < 0:
            ended = trace.end[trace.program.segment == trace.program.segment[i]].max()
            assert path.end[at] == ended
