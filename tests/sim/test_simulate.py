"""Small programs whose every cycle is worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphturbo_core.errors import InvariantError
from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.products.program import Engine, InstructionKind, Program
from graphturbo_core.sim import stalls as accounting
from graphturbo_core.sim.longest_chain import longest_chain
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace, Wait

from .programs import MATRIX, MOVE, VECTOR, Step, build

LOAD, STORE, BROADCAST = InstructionKind.LOAD, InstructionKind.STORE, InstructionKind.BROADCAST


def checked(program: Program) -> Trace:
    """The Trace, with its own invariants checked."""
    trace = simulate(program)
    trace.check()
    return trace


def stalls(trace: Trace, engine: Engine) -> dict[str, int]:
    """The classes of one engine that are not 0."""
    row = trace.stalls[trace.program.engines.index(engine)]
    return {wait.name.lower(): int(row[wait]) for wait in Wait if row[wait]}


def test_one_gemm() -> None:
    # Launch 3, barrier 2. The move engine of core 0 runs load A, load B, store; DRAM latency 5.
    # load A   dram 8, lb 2: opens at 3, held [3, 11), visible 11 + 5 = 16
    # load B   dram 6, lb 2: engine free at 11, held [11, 17), visible 22
    # compute  10: after B is visible, [22, 32)
    # store    dram 4, lb 1: after the compute, held [32, 36), visible 41; close 41 + 2 = 43
    trace = checked(
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
    assert trace.start.tolist() == [3, 11, 22, 32]
    assert trace.end.tolist() == [16, 22, 32, 41]
    assert trace.makespan == 43
    # Longest path: 3 + (8 + 5) + 10 + (4 + 5) + 2 = 37; B's queueing behind A is not in it.
    assert trace.longest_chain_cycles == 37
    assert longest_chain(trace.program).tolist() == [0, 2, 3]
    # move: launch 3, held 8 + 6 + 4 = 18, waits [17, 32) = 15, idle [36, 43) = 7
    assert stalls(trace, Engine(MOVE, 0, 0)) == {"busy": 18, "data": 15, "barrier": 3, "idle": 7}
    # matrix: all of [0, 22) goes to what ended last (load B), idle [32, 43) = 11
    assert stalls(trace, Engine(MATRIX, 0, 0)) == {"busy": 10, "data": 22, "idle": 11}
    assert trace.wait.tolist() == [Wait.BARRIER, Wait.BUSY, Wait.DATA, Wait.DATA]
    assert trace.wait_on.tolist() == [-1, -1, 1, 2]


def test_two_layers_with_a_segment_each() -> None:
    # Launch 2, barrier 1, each. Layer 0: load (dram 5, latency 3) opens at 2, held [2, 7),
    # visible 10; compute 4: [10, 14); closes 14 + 1 = 15. Layer 1 opens at 17: its load has no
    # conflict and still starts at 17, held [17, 22), visible 25; vector 6: [25, 31); closes 32.
    trace = checked(
        build(
            [
                Step((MOVE, 0), latency=3, channels={"dram": 5}),
                Step((MATRIX, 0), hold=4, data=[0]),
                Step((MOVE, 0), latency=3, channels={"dram": 5}, segment=1, layer=1),
                Step((VECTOR, 0), hold=6, data=[1, 2], segment=1, layer=1),
            ],
            segments=[(2, 1), (2, 1)],
        )
    )
    assert trace.start.tolist() == [2, 10, 17, 25]
    assert trace.segment_open.tolist() == [2, 17]
    assert trace.segment_close.tolist() == [15, 32]
    assert trace.makespan == 32
    # (2 + 5 + 3 + 4 + 1) + (2 + 5 + 3 + 6 + 1) = 15 + 17
    assert trace.longest_chain_cycles == 32
    # Of layer 1's two chains that of its own load: a segment's path begins in it.
    assert longest_chain(trace.program).tolist() == [0, 1, 2, 3]
    # move: [0, 2) launch, held 5, [7, 17) barrier, held 5, idle [22, 32)
    assert stalls(trace, Engine(MOVE, 0, 0)) == {"busy": 10, "barrier": 12, "idle": 10}
    assert trace.wait.tolist() == [Wait.BARRIER, Wait.DATA, Wait.BARRIER, Wait.DATA]


def test_launch_barrier_and_an_empty_segment() -> None:
    # Opens at 4; vector 3: [4, 7); closes 7 + 2 = 9. The empty segment opens at 9 + 10 = 19 and
    # closes at 19 + 5 = 24. The last opens at 24 + 1 = 25; vector 2: [25, 27); closes 27 + 6 = 33.
    trace = checked(
        build(
            [Step((VECTOR, 0), hold=3), Step((VECTOR, 0), hold=2, segment=2)],
            segments=[(4, 2), (10, 5), (1, 6)],
        )
    )
    assert trace.start.tolist() == [4, 25]
    assert trace.segment_close.tolist() == [9, 24, 33]
    # waits [0, 4) and [7, 25); idle [27, 33)
    assert stalls(trace, Engine(VECTOR, 0, 0)) == {"busy": 5, "barrier": 22, "idle": 6}
    assert trace.longest_chain_cycles == 33
    assert longest_chain(trace.program).tolist() == [0, 1]


def test_a_broadcast_holds_the_gb_port_and_every_target_port() -> None:
    # Broadcast by core 0: gb 6, lb 0 and lb 1 each 4. It enters all three queues at 0.
    # Core 1's load over lb 1 (and dram, 3) waits until lb 1 is free at 4: [4, 7).
    # Core 2's load over gb (2) waits until gb is free at 6: [6, 8); its own port is idle.
    trace = checked(
        build(
            [
                Step((MOVE, 0), channels={"gb": 6, "lb 0": 4, "lb 1": 4}, kind=BROADCAST),
                Step((MOVE, 1), channels={"dram": 3, "lb 1": 3}, kind=LOAD),
                Step((MOVE, 2), channels={"gb": 2, "lb 2": 2}, kind=LOAD),
            ]
        )
    )
    assert trace.start.tolist() == [0, 4, 6]
    assert trace.channel_wait_cycles.tolist() == [0, 4, 6]
    assert trace.wait_on.tolist() == [-1, 0, 0]
    assert stalls(trace, Engine(MOVE, 1, 0)) == {"busy": 3, "channel": 4, "idle": 1}


def test_moves_that_share_a_channel_are_served_in_the_order_they_became_ready() -> None:
    # Rows 0, 2 and 3 use dram. Row 3 is ready at 0 with row 0 (which goes first: lower sequence);
    # row 2 waits for a compute until 2 and then queues behind row 3, although its own sequence is
    # lower. Row 0 [0, 5), row 3 [5, 9), row 2 [9, 12).
    trace = checked(
        build(
            [
                Step((MOVE, 0), channels={"dram": 5}),
                Step((MATRIX, 1), hold=2),
                Step((MOVE, 1), channels={"dram": 3}, data=[1]),
                Step((MOVE, 2), channels={"dram": 4}),
            ]
        )
    )
    assert trace.start.tolist() == [0, 0, 9, 5]
    # core 1: data until 2, then 7 cycles in the queue, until row 3 has left
    assert stalls(trace, Engine(MOVE, 1, 0)) == {"busy": 3, "data": 2, "channel": 7}
    assert trace.wait[2] == Wait.CHANNEL
    assert trace.wait_on.tolist() == [-1, -1, 3, 0]
    assert trace.channel_wait_cycles.tolist() == [0, 0, 7, 5]


def test_moves_ready_in_one_cycle_enter_in_sequence_order() -> None:
    # Rows 1 and 2 both become ready at 3, when row 0 ends: row 1 [3, 7), row 2 [7, 9).
    trace = checked(
        build(
            [
                Step((MATRIX, 0), hold=3),
                Step((MOVE, 1), channels={"dram": 4}, data=[0]),
                Step((MOVE, 0), channels={"dram": 2}, data=[0]),
            ]
        )
    )
    assert trace.start.tolist() == [0, 3, 7]


def test_a_fast_channel_lets_the_next_move_in_before_the_engine_is_free() -> None:
    # Row 0 holds its engine 9 cycles (dram), but gb only 2: row 1 over gb starts at 2.
    # Row 2 needs dram: at 9. Row 3, same engine as row 0 and no shared channel: at 9 as well.
    trace = checked(
        build(
            [
                Step((MOVE, 0), channels={"dram": 9, "gb": 2}),
                Step((MOVE, 1), channels={"gb": 3, "lb 1": 3}),
                Step((MOVE, 2), channels={"dram": 1}),
                Step((MOVE, 0), channels={"lb 0": 1}),
            ]
        )
    )
    assert trace.start.tolist() == [0, 2, 9, 9]
    assert trace.wait.tolist() == [Wait.BUSY, Wait.CHANNEL, Wait.CHANNEL, Wait.BUSY]


def test_a_move_holds_its_place_in_every_queue() -> None:
    # Row 1 heads gb from 0 on but waits for dram until 8; row 2 wants gb only and stays behind it.
    # Row 1 [8, 10), row 2 [10, 11): it waited for row 1, which left gb at 10.
    trace = checked(
        build(
            [
                Step((MOVE, 0), channels={"dram": 8}),
                Step((MOVE, 1), channels={"dram": 2, "gb": 2}),
                Step((MOVE, 2), channels={"gb": 1}),
            ]
        )
    )
    assert trace.start.tolist() == [0, 8, 10]
    assert trace.wait_on.tolist() == [-1, 0, 1]


def test_the_queue_waited_for_longest_is_the_reason() -> None:
    # Row 2 wants gb (row 0 leaves at 3) and dram (row 1 leaves at 7): it waited on row 1.
    trace = checked(
        build(
            [
                Step((MOVE, 0), channels={"gb": 3}),
                Step((MOVE, 1), channels={"dram": 7}),
                Step((MOVE, 2), channels={"gb": 1, "dram": 1}),
                Step((MOVE, 3), channels={"lb 3": 2}),
            ]
        )
    )
    assert trace.start.tolist() == [0, 0, 7, 0]
    assert trace.wait_on[2] == 1


def test_of_two_queues_left_together_the_lower_sequence_is_the_reason() -> None:
    # gb and dram are both left at 3, by rows 0 and 1 in either way: row 2 waited on row 0.
    for first, second in (("gb", "dram"), ("dram", "gb")):
        steps = [
            Step((MOVE, 0), channels={first: 3}),
            Step((MOVE, 1), channels={second: 3}),
            Step((MOVE, 2), channels={"gb": 1, "dram": 1}),
        ]
        trace = checked(build(steps))
        assert (trace.start[2], trace.wait_on[2]) == (3, 0)


def test_an_address_reused_too_soon() -> None:
    # The second load overwrites what the compute still reads: load [0, 4), compute [4, 14), load
    # [14, 18). The move engine waits 10 cycles for the address, the matrix engine 4 for data.
    trace = checked(
        build(
            [
                Step((MOVE, 0), channels={"dram": 4}),
                Step((MATRIX, 0), hold=10, data=[0]),
                Step((MOVE, 0), channels={"dram": 4}, address=[1, 0]),
            ]
        )
    )
    assert trace.start.tolist() == [0, 4, 14]
    assert stalls(trace, Engine(MOVE, 0, 0)) == {"busy": 8, "address": 10}
    assert trace.wait[2] == Wait.ADDRESS
    assert trace.wait_on[2] == 1


def test_of_two_reasons_that_end_together_the_lower_sequence_counts() -> None:
    # Rows 0 and 1 run [2, 5) after a launch of 2 and end together. Row 2 is charged to row 0.
    steps = [
        Step((VECTOR, 0), hold=3),
        Step((VECTOR, 1), hold=3),
        Step((MATRIX, 0), hold=1, data=[1], address=[0]),
    ]
    trace = checked(build(steps, segments=[(2, 0)]))
    assert (trace.wait[2], trace.wait_on[2]) == (Wait.ADDRESS, 0)


def test_of_one_instruction_s_two_conflicts_data_counts_before_address() -> None:
    program = build([Step((VECTOR, 0), hold=3), Step((MATRIX, 0), hold=1, data=[0], address=[0])])
    for flags in ([True, False], [False, True]):
        trace = checked(replace(program, is_address_conflict=np.array(flags)))
        assert (trace.wait[1], trace.wait_on[1]) == (Wait.DATA, 0)


def test_the_segment_opening_counts_after_a_conflict_that_ends_with_it() -> None:
    # Barrier and launch of 0 cycles: segment 1 opens at 3, when row 0 ends. The conflict counts.
    steps = [Step((VECTOR, 0), hold=3), Step((MATRIX, 0), hold=1, data=[0], segment=1)]
    trace = checked(build(steps, segments=[(0, 0), (0, 0)]))
    assert (trace.wait[1], trace.wait_on[1]) == (Wait.DATA, 0)


def test_latency_occupies_nothing() -> None:
    # Latency 100: engine and channel are free at 4, so the second load runs [4, 8) and the
    # compute that reads the first waits until 104.
    trace = checked(
        build(
            [
                Step((MOVE, 0), latency=100, channels={"dram": 4}),
                Step((MOVE, 0), latency=100, channels={"dram": 4}),
                Step((MOVE, 1), channels={"dram": 2}),
                Step((MATRIX, 0), hold=1, data=[0]),
            ]
        )
    )
    # Row 2 is ready at 0, before row 1 (whose engine is busy): it takes dram first, [4, 6).
    assert trace.start.tolist() == [0, 6, 4, 104]
    assert trace.end.tolist() == [104, 110, 6, 105]
    assert stalls(trace, Engine(MOVE, 0, 0)) == {"busy": 8, "channel": 2, "idle": 100}


def test_at_one_cycle_ends_come_before_starts() -> None:
    # At 5 the compute (row 1) ends and the dram is left (row 0). Row 2 becomes ready by the
    # compute's end and finds the channel free in the same cycle.
    trace = checked(
        build(
            [
                Step((MOVE, 0), channels={"dram": 5}),
                Step((MATRIX, 0), hold=5),
                Step((MOVE, 1), channels={"dram": 1}, data=[1]),
            ]
        )
    )
    assert trace.start.tolist() == [0, 0, 5]
    assert trace.wait[2] == Wait.DATA
    assert trace.channel_wait_cycles.tolist() == [0, 0, 0]


def test_an_instruction_of_no_cycles_ends_where_it_starts() -> None:
    steps = [
        Step((VECTOR, 0), hold=0),
        Step((VECTOR, 0), hold=2, data=[0]),
        Step((MATRIX, 0), data=[1]),
    ]
    trace = checked(build(steps))
    assert trace.start.tolist() == [0, 0, 2]
    assert trace.makespan == 2


def test_an_engine_that_never_runs_is_idle_throughout() -> None:
    spare = Engine(EngineKind.DMA, -1, 0)
    trace = checked(build([Step((VECTOR, 0), hold=4)], engines=[spare], segments=[(1, 1)]))
    assert stalls(trace, spare) == {"idle": 6}


def test_a_program_without_instructions() -> None:
    trace = checked(build([], segments=[(5, 6)], engines=[Engine(MATRIX, 0, 0)]))
    assert trace.makespan == 11
    assert checked(build([], segments=[])).makespan == 0


def test_two_runs_give_the_same_bytes() -> None:
    rng = np.random.default_rng(7)
    steps = []
    for i in range(400):
        is_move = bool(rng.integers(2))
        names = rng.choice(["dram", "gb", "lb 0", "lb 1"], 2, replace=False)
        steps.append(
            Step(
                (MOVE if is_move else MATRIX, int(rng.integers(2))),
                hold=0 if is_move else int(rng.integers(1, 30)),
                latency=int(rng.integers(5)),
                channels={str(n): int(rng.integers(1, 9)) for n in names} if is_move else {},
                data=sorted({int(j) for j in rng.integers(0, i, 2)}) if i else (),
                segment=i // 100,
            )
        )
    program = build(steps, segments=[(3, 2)] * 4)
    first, second = checked(program), checked(program)
    for name in ("start", "end", "wait", "wait_on", "channel_wait_cycles", "stalls"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()


def test_the_kernel_counts_the_classes_of_wait() -> None:
    names = ("BUSY", "DATA", "ADDRESS", "CHANNEL", "BARRIER", "IDLE")
    assert [getattr(accounting, name) for name in names] == [Wait[name] for name in names]
    assert len(Wait) == len(names)


REFUSED = {
    "segment": [Step((VECTOR, 0), segment=1)],
    "segment before its predecessor's": [
        Step((VECTOR, 0), segment=1),
        Step((VECTOR, 0), segment=0),
    ],
    "conflict that is not earlier": [Step((VECTOR, 0), data=[0])],
    "negative hold or latency": [Step((VECTOR, 0), latency=-1)],
    "channel cycles": [Step((VECTOR, 0), hold=1, channels={"dram": -1})],
}
WRONG_TABLES = {
    "channel named twice": {"channel": np.zeros(2, np.int32)},
    "channel cycles": {"channel_cycles": np.array([1, 9])},
    "wrong engine": {"engine": np.array([1], np.int16)},
    "channel_at does not divide": {"channel_at": np.array([1, 2])},
    "conflict_at does not divide": {"conflict_at": np.array([0, 1, 0])},
    "conflict has 1 rows of int32, not 0": {"conflict": np.zeros(1, np.int32)},
    "hold_cycles has 2 rows": {"hold_cycles": np.zeros(2, np.int64)},
    "tile has 1 rows of int64, not 1 of int32": {"tile": np.zeros(1, np.int64)},
    "negative cycles": {"segment_open_cycles": np.array([-1])},
    "differ in number": {"segment_close_cycles": np.array([0, 0])},
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_program_that_cannot_run_is_refused(reason: str) -> None:
    segments = [(0, 0)] * (2 if "before" in reason else 1)
    with pytest.raises(InvariantError, match=f"wrong {reason}"):
        simulate(build(REFUSED[reason], segments=segments))


@pytest.mark.parametrize("reason", WRONG_TABLES)
def test_tables_that_do_not_fit_are_refused(reason: str) -> None:
    program = build([Step((MOVE, 0), channels={"gb": 1, "dram": 2})])
    with pytest.raises(InvariantError, match=reason):
        simulate(replace(program, **WRONG_TABLES[reason]))  # type: ignore[arg-type]
