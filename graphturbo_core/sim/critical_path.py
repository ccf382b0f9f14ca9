"""Trace -> its critical path: from the last cycle back to the first, what each cycle waited for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from graphturbo_core.compiled import compiled, compiled_part
from graphturbo_core.errors import InvariantError
from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.products.arrays import Integer, int64
from graphturbo_core.products.program import ChannelKind, IntArray, Program
from graphturbo_core.sim.trace import Trace, Wait


class Resource(IntEnum):
    """Resource that an interval of the critical path occupies.

    A move occupies its slowest channel, or the one that the next instruction queued for. LATENCY:
    bytes are in transit and occupy no resource.
    """

    MATRIX = 0
    VECTOR = 1
    MOVE = 2
    DRAM = 3
    GB = 4
    LB = 5
    LINK = 6
    LATENCY = 7
    LAUNCH = 8
    BARRIER = 9


RESOURCE_OF_ENGINE = {
    EngineKind.MATRIX: Resource.MATRIX,
    EngineKind.VECTOR: Resource.VECTOR,
    EngineKind.MOVE: Resource.MOVE,
    EngineKind.DMA: Resource.MOVE,
}
RESOURCE_OF_CHANNEL = {
    ChannelKind.DRAM_SHARE: Resource.DRAM,
    ChannelKind.GB_PORT: Resource.GB,
    ChannelKind.LB_PORT: Resource.LB,
    ChannelKind.LINK_IN: Resource.LINK,
    ChannelKind.LINK_OUT: Resource.LINK,
}
WORK, LATENCY, LAUNCH, BARRIER = range(4)
"""Parts of the path, for compiled code: hold and latency of an instruction, ends of a segment."""
NO_CHANNEL = -1


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """Consecutive intervals [start, end) in cycles that cover [0, makespan).

    `instruction`: the instruction of the interval (-1: launch or barrier). `resource`: a
    `Resource`. `holds_up`: why the next instruction of the path waited for it, as a `Wait`: BUSY
    for its engine, BARRIER at the end of a segment.
    """

    instruction: IntArray
    start: IntArray
    end: IntArray
    resource: IntArray
    holds_up: IntArray

    def check(self, makespan: int) -> None:
        """Check that the intervals are consecutive from 0 to the makespan.

        Raises:
            InvariantError: naming the first gap.
        """
        ends = np.append(0, self.end)
        begins = np.append(self.start, makespan)
        is_bad = ends != begins
        if is_bad.any():
            at = int(is_bad.argmax())
            what = f"interval {at} of the critical path begins at {begins[at]}, not at {ends[at]}"
            raise InvariantError("CRITICAL_PATH", what)

    def cycles_by_resource(self) -> dict[Resource, int]:
        """Cycles of every resource; their sum is the makespan."""
        cycles = np.zeros(len(Resource), np.int64)
        np.add.at(cycles, self.resource, self.end - self.start)
        return {resource: int(cycles[resource]) for resource in Resource}


class _WalkInput(NamedTuple):
    """Input of the walk.

    Per instruction: start, hold, end, wait, and the instruction that it waited for (`before`; -1:
    none). Per segment: the instruction that ends last (-1: none), cycles at which it opens and
    closes. Channels as CSR.
    """

    start: IntArray
    hold: IntArray
    end: IntArray
    wait: IntArray
    before: IntArray
    last: IntArray
    opens: IntArray
    closes: IntArray
    channel_at: IntArray
    channel: IntArray
    channel_cycles: IntArray


def critical_path(trace: Trace) -> CriticalPath:
    """Walk back from the end of the round, at each start to the reason that ended last.

    1. The barrier of a segment waited for its instruction that ended last; ties: lowest number.
    2. An instruction that waited has its reason in `Trace.wait` and `wait_on`: data or buffer space
       of an earlier instruction, or a channel that another instruction left.
    3. An instruction that did not wait started when its predecessor left the engine.
    4. An instruction that started when its segment opened follows the launch, and the barrier of
       the segment before it.

    Ties between reasons that end in the same cycle are broken as in `sim/stalls.py` (our choice).
    Linear.

    Raises:
        InvariantError: the intervals do not cover the makespan.
    """
    program = trace.program
    instruction, start, part, reason, channel = _walk(
        _WalkInput(
            start=int64(trace.start),
            hold=int64(program.hold_cycles),
            end=int64(trace.end),
            wait=int64(trace.wait),
            before=_befores(trace),
            last=_lasts(trace),
            opens=int64(trace.segment_open),
            closes=int64(trace.segment_close),
            channel_at=int64(program.channel_at),
            channel=int64(program.channel),
            channel_cycles=int64(program.channel_cycles),
        )
    )
    order = slice(None, None, -1)
    end = np.append(start[order][1:], trace.makespan) if len(start) else start
    is_real = end > start[order]
    path = CriticalPath(
        instruction=int64(instruction[order][is_real]),
        start=int64(start[order][is_real]),
        end=int64(end[is_real]),
        resource=int64(_resources(program, instruction, part, channel)[order][is_real]),
        holds_up=int64(reason[order][is_real]),
    )
    path.check(trace.makespan)
    return path


def _befores(trace: Trace) -> IntArray:
    """The instruction that each one waited for, by rule 2, else by rule 3; -1: none."""
    program = trace.program
    order = np.argsort(program.engine, kind="stable")
    before = np.full(program.size, -1, np.int64)
    is_next = program.engine[order[1:]] == program.engine[order[:-1]]
    before[order[1:][is_next]] = order[:-1][is_next]
    return int64(np.where(trace.wait == Wait.BUSY, before, trace.wait_on))


def _lasts(trace: Trace) -> IntArray:
    """Per segment, the instruction that ends last; ties: lowest number; -1: no instruction."""
    last = np.full(len(trace.segment_open), -1, np.int64)
    segment = trace.program.segment
    order = np.lexsort((-np.arange(len(segment)), trace.end, segment))
    last[segment[order]] = order
    return last


def _resources(
    program: Program, instruction: IntArray, part: IntArray, channel: IntArray
) -> IntArray:
    """The resource of every interval."""
    engines = [RESOURCE_OF_ENGINE[engine.kind] for engine in program.engines]
    channels = [RESOURCE_OF_CHANNEL[one.kind] for one in program.channels]
    of_engine = np.array([*engines, Resource.MOVE], np.int64)
    of_channel = np.array([*channels, Resource.MOVE], np.int64)
    engine = np.append(program.engine, -1)[instruction]
    resources = np.where(channel == NO_CHANNEL, of_engine[engine], of_channel[channel])
    for other, resource in (
        (LATENCY, Resource.LATENCY),
        (LAUNCH, Resource.LAUNCH),
        (BARRIER, Resource.BARRIER),
    ):
        resources[part == other] = resource
    return int64(resources)


@compiled_part
def _channel_until(
    channel_at: IntArray,
    channel: IntArray,
    channel_cycles: IntArray,
    i: Integer,
    cycles: Integer,
) -> Integer:
    """The first channel that instruction i leaves after `cycles`, else its slowest; -1: none."""
    slowest = np.int64(-1)
    longest = np.int64(-1)
    for row in range(channel_at[i], channel_at[i + 1]):
        if channel_cycles[row] == cycles:
            return np.int64(channel[row])
        if channel_cycles[row] > longest:
            longest = channel_cycles[row]
            slowest = channel[row]
    return slowest


@compiled
def _walk(walked: _WalkInput) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Instruction, start, part, reason and channel of every interval, the last one first."""
    start, hold, end, wait, before, last, opens, closes, channel_at, channel, cycles = walked
    most = 2 * len(start) + 2 * len(opens)
    row = np.full(most, -1, np.int64)
    begin = np.zeros(most, np.int64)
    part = np.zeros(most, np.int64)
    reason = np.full(most, 4, np.int64)  # trace.Wait.BARRIER
    on = np.full(most, -1, np.int64)
    found = 0
    for segment in range(len(opens) - 1, -1, -1):
        i = last[segment]
        until = opens[segment]
        if i >= 0:
            until = end[i]
        begin[found] = until
        part[found] = BARRIER
        found += 1
        why = np.int64(4)
        while i >= 0:
            if until > start[i] + hold[i]:
                row[found] = i
                begin[found] = start[i] + hold[i]
                part[found] = LATENCY
                reason[found] = why
                found += 1
                until = start[i] + hold[i]
            row[found] = i
            begin[found] = start[i]
            reason[found] = why
            on[found] = _channel_until(channel_at, channel, cycles, i, until - start[i])
            found += 1
            until = start[i]
            why = wait[i]
            i = before[i] if until > opens[segment] else np.int64(-1)
        begin[found] = closes[segment - 1] if segment > 0 else 0
        part[found] = LAUNCH
        found += 1
    return row[:found], begin[:found], part[:found], reason[:found], on[:found]
