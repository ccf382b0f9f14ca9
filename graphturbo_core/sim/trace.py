"""Trace: start and end cycle of every instruction, and what it waited for."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.errors import InvariantError
from graphturbo_core.products.program import IntArray, Program
from graphturbo_core.sim.checks import invariants
from graphturbo_core.sim.lifetimes import live_intervals


class Wait(IntEnum):
    """Class of an engine's cycle (design, section 5): BUSY, or why it is not."""

    BUSY = 0
    DATA = 1
    ADDRESS = 2
    CHANNEL = 3
    BARRIER = 4
    IDLE = 5


@dataclass(frozen=True)
class Trace:
    """Integer cycles from 0. Row i belongs to instruction i of the Program.

    `end`: the result is visible (latency included); the engine is busy in [start, start + hold).
    `wait`: the class of the last reason for which the instruction waited (BUSY: it did not wait).
    `wait_on`: the instruction of that reason (-1: none). `channel_wait_cycles`: cycles in channel
    queues. `stalls[e, w]`: cycles of engine e in class w; every row sums to `makespan`.
    `data_waits[e, d]`: those in class DATA by `DataSource` of what they waited for. `segment_open`
    and `segment_close`: cycles.
    """

    program: Program = field(repr=False)
    start: IntArray
    end: IntArray
    wait: NDArray[np.int8]
    wait_on: NDArray[np.int32]
    channel_wait_cycles: IntArray
    stalls: IntArray
    data_waits: IntArray
    segment_open: IntArray
    segment_close: IntArray
    makespan: int
    longest_chain_cycles: int

    @property
    def kernel_cycles(self) -> tuple[int, ...]:
        """Per kernel of the plan, cycles from the end of the kernel before it to its own end.

        Launch and barrier included; 0 for a kernel without instructions.
        """
        kernels, segment = self.program.kernel, self.program.segment
        count = len(self.program.plan.kernels)
        first = np.full(count, len(self.segment_close), dtype=np.int64)
        last = np.full(count, -1, dtype=np.int64)
        np.minimum.at(first, kernels, segment)
        np.maximum.at(last, kernels, segment)
        closes = np.concatenate(([0], self.segment_close))
        cycles = np.where(last < 0, 0, closes[last + 1] - closes[first])
        return tuple(cycles.tolist())

    def check(self) -> None:
        """Check all invariants of `sim/checks/invariants.py`; near-linear.

        Raises:
            InvariantError: naming both offenders and the numbers.
        """
        program = self.program
        ended = self.start + program.hold_cycles + program.latency_cycles
        if (self.end != ended).any():
            i = int((self.end != ended).argmax())
            name = invariants.label(program, i)
            raise InvariantError("TRACE_END", f"{name} ends at {self.end[i]}, not at {ended[i]}")
        if self.makespan < self.longest_chain_cycles:
            what = f"{self.makespan} cycles are less than the chain of {self.longest_chain_cycles}"
            raise InvariantError("TRACE_BOUND", what)
        invariants.check_engines(program, self.start)
        invariants.check_conflicts(program, self.start, self.end)
        invariants.check_channels(program, self.start)
        invariants.check_segments(
            program, self.start, self.end, self.segment_open, self.segment_close
        )
        invariants.check_stalls(program, self.stalls, self.makespan)
        invariants.check_data_waits(program, self.data_waits, self.stalls[:, Wait.DATA])
        live = live_intervals(program, self.start, self.end, self.makespan)
        invariants.check_capacity(program)
        invariants.check_bytes(program, *live)
        invariants.check_order(program)
        invariants.check_reads(program)
