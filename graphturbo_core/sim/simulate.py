"""Program -> Trace: discrete events in integer cycles (design, section 5)."""

from __future__ import annotations

import numpy as np

from graphturbo_core.errors import InvariantError
from graphturbo_core.products.arrays import frozen, int64, owners
from graphturbo_core.products.program import IntArray, Program
from graphturbo_core.sim.data_sources import data_sources
from graphturbo_core.sim.longest_chain import longest_chain_cycles
from graphturbo_core.sim.stalls import Timing, account
from graphturbo_core.sim.trace import Trace
from graphturbo_core.timing.events import State, run_segments
from graphturbo_core.timing.queues import queues_of


def simulate(program: Program) -> Trace:
    """Trace of the Program: start, end and wait of every instruction.

    Near-linear in instructions, conflicts and channel entries.

    Raises:
        InvariantError: the Program is malformed (`check_runnable`).
    """
    check_runnable(program)
    work, state = queues_of(program, len(program.channels))
    segments = np.arange(len(program.segment_open_cycles) + 1)
    opens, closes = run_segments(
        work,
        state,
        int64(np.searchsorted(program.segment, segments)),
        int64(program.segment_open_cycles),
        int64(program.segment_close_cycles),
    )
    return _trace(program, state, opens, closes)


def check_runnable(program: Program) -> None:
    """Check the preconditions of the compiled loop, and the rules that exclude a deadlock.

    Raises:
        InvariantError: naming the instruction and the wrong number.
    """
    program.check_columns()
    rows, conflicts = owners(program.channel_at), owners(program.conflict_at)
    segments = len(program.segment_open_cycles)
    _refuse("engine", (program.engine < 0) | (program.engine >= len(program.engines)))
    _refuse("segment", (program.segment < 0) | (program.segment >= segments))
    _refuse("segment before its predecessor's", np.diff(program.segment, prepend=0) < 0)
    _refuse("negative hold or latency", (program.hold_cycles < 0) | (program.latency_cycles < 0))
    is_bad = (program.channel < 0) | (program.channel >= len(program.channels))
    _refuse("channel", is_bad, rows)
    is_bad = (program.channel_cycles < 0) | (program.channel_cycles > program.hold_cycles[rows])
    _refuse("channel cycles (negative or above its hold)", is_bad, rows)
    is_bad = np.zeros(len(rows), dtype=np.bool_)
    order = np.lexsort((program.channel, rows))
    is_bad[1:] = np.diff(rows[order] * max(1, len(program.channels)) + program.channel[order]) == 0
    _refuse("channel named twice", is_bad, rows[order])
    is_bad = (program.conflict < 0) | (program.conflict >= conflicts)
    _refuse("conflict that is not earlier", is_bad, conflicts)
    if segments != len(program.segment_close_cycles):
        what = "segments that open and that close differ in number"
        raise InvariantError("PROGRAM_SEGMENT", what)
    if (program.segment_open_cycles < 0).any() or (program.segment_close_cycles < 0).any():
        raise InvariantError("PROGRAM_SEGMENT", "a segment opens or closes in negative cycles")


def _refuse(
    what: str, is_bad: np.ndarray[tuple[int], np.dtype[np.bool_]], owner: IntArray | None = None
) -> None:
    if is_bad.any():
        row = int(is_bad.argmax())
        i = row if owner is None else int(owner[row])
        raise InvariantError("PROGRAM_RUN", f"instruction {i} has a wrong {what}", instruction=i)


def _trace(program: Program, state: State, opens: IntArray, closes: IntArray) -> Trace:
    start = state.start
    end = start + program.hold_cycles + program.latency_cycles
    makespan = int(closes[-1]) if len(closes) else 0
    timing = Timing(
        engine=int64(program.engine),
        start=start,
        hold=int64(program.hold_cycles),
        end=int64(end),
        opening=int64(opens[program.segment]),
        admitted_by=state.admitted_by,
        conflict_at=int64(program.conflict_at),
        conflict=int64(program.conflict),
        is_address=int64(program.is_address_conflict),
        data_source=data_sources(program),
    )
    wait, wait_on, channel_wait, *by_engine = account(timing, len(program.engines), makespan)
    stalls, data_waits = map(frozen, by_engine)
    return Trace(
        program=program,
        start=frozen(start),
        end=frozen(end),
        wait=frozen(wait.astype(np.int8)),
        wait_on=frozen(wait_on.astype(np.int32)),
        channel_wait_cycles=frozen(channel_wait),
        stalls=stalls,
        data_waits=data_waits,
        segment_open=frozen(opens),
        segment_close=frozen(closes),
        makespan=makespan,
        longest_chain_cycles=longest_chain_cycles(program),
    )
