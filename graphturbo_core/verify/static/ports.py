"""Program -> the numbering of its engines and channels, and the routes between its buffers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from graphturbo_core.lowering.chip_numbering import ChipNumbering
from graphturbo_core.lowering.instructions.machine import End, Machine, Route
from graphturbo_core.lowering.stages.classes import every_core
from graphturbo_core.products.arrays import int64
from graphturbo_core.products.program import IntArray, Memory, Program


def chip_numbering(program: Program) -> ChipNumbering:
    """Numbering of engines and channels when every core is simulated."""
    plan = program.plan
    return ChipNumbering(Machine(plan.hardware, every_core(plan.hardware.cores), plan.clusters))


def far_ports(program: Program, numbering: ChipNumbering) -> IntArray:
    """Channel of every buffer in GB or DRAM; -1 for the others.

    A shared engine's staging buffer is outside the cores and has no port.
    """
    known, place = np.unique(_ends(program), axis=0, return_inverse=True)
    found = [
        numbering.port((Memory(memory), core)) if memory >= Memory.GB else -1
        for memory, core in known.tolist()
    ]
    return np.array(found, dtype=np.int64)[place.ravel()]


def engine_ports(program: Program, numbering: ChipNumbering) -> IntArray:
    """LB port of every engine's core; -1 for an engine outside the cores."""
    cores = [engine.core for engine in program.engines]
    found = [numbering.port((Memory.LB_DATA, core)) if core >= 0 else -1 for core in cores]
    return np.array(found, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Routes:
    """Routes of moves. `latency_cycles`: per move; the rest: one row per move and channel.

    `times`: how often the move passes the channel.
    """

    latency_cycles: IntArray
    move: IntArray
    channel: IntArray
    times: IntArray


def routes(
    program: Program, numbering: ChipNumbering, buffers: tuple[IntArray, IntArray]
) -> Routes:
    """Routes from source to target buffers; each pair of memories is looked up once."""
    ends = _ends(program)
    pairs = np.column_stack([ends[of] for of in buffers])
    known, place = np.unique(pairs, axis=0, return_inverse=True)
    ways = [
        _route(numbering, (Memory(a), core), (Memory(b), other))
        for a, core, b, other in known.tolist()
    ]
    passes = [Counter(way.channels) for way in ways]
    channel, times = np.full((2, len(ways), max(map(len, passes), default=0)), -1, dtype=np.int64)
    for row, passed in enumerate(passes):
        channel[row, : len(passed)] = list(passed)
        times[row, : len(passed)] = list(passed.values())
    place = place.ravel()
    move, hop = np.nonzero(channel[place] >= 0)
    latency = np.array([way.latency_cycles for way in ways], dtype=np.int64)
    return Routes(latency[place], move, channel[place[move], hop], times[place[move], hop])


def _route(numbering: ChipNumbering, source: End, target: End) -> Route:
    """Route between two ends; within one LB, bytes pass its port in both directions."""
    is_copy = source[1] == target[1] >= 0
    return numbering.copy_route(source) if is_copy else numbering.route(source, target)


def _ends(program: Program) -> IntArray:
    """Memory and core per buffer."""
    return np.column_stack((int64(program.buffers.memory), int64(program.buffers.core)))
