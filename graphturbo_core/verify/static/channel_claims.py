"""Program -> the first instruction whose channels, hold or latency disagree with its accesses."""

from __future__ import annotations

import numpy as np

from graphturbo_core.lowering.chip_numbering import ChipNumbering
from graphturbo_core.products.arrays import int64, owners
from graphturbo_core.products.program import InstructionKind, IntArray, Memory, Program
from graphturbo_core.verify.static.claim_rows import (
    Claim,
    access_bytes,
    ends_of,
    first_claim,
    moves_of,
)
from graphturbo_core.verify.static.ports import chip_numbering, engine_ports, far_ports, routes


def _compute_ways(program: Program, numbering: ChipNumbering) -> tuple[IntArray, IntArray]:
    """Rows and channels of computes' accesses to GB and DRAM, and the bytes of each pair.

    The bytes of an op larger than LB also pass the LB port of its engine's core.
    """
    owner = owners(program.access_at)
    is_there = program.buffers.memory[program.access_buffer] >= Memory.GB
    found = np.flatnonzero(is_there & (program.kind[owner] == InstructionKind.COMPUTE))
    rows, size = owner[found], access_bytes(program, found)
    passing = program.plan.semantics.passing_ops
    is_passing = np.array([op.name in passing for op in program.plan.semantics.graph.ops])
    through = np.flatnonzero(is_passing[program.op[rows]])
    port = engine_ports(program, numbering)[program.engine[rows[through]]]
    pairs = np.column_stack((
        np.concatenate((rows, rows[through])),
        np.concatenate((far_ports(program, numbering)[program.access_buffer[found]], port)),
    ))  # fmt: skip
    ways, place = np.unique(pairs, axis=0, return_inverse=True)
    sums = np.zeros(len(ways), dtype=np.int64)
    np.add.at(sums, place.ravel(), np.concatenate((size, size[through])))
    return ways, sums


def wrong_channels(program: Program) -> Claim | None:
    """Rule 4: channels, their cycles, holds and latencies."""
    chip, moves, numbering = program.plan.hardware, moves_of(program), chip_numbering(program)
    wanted, times, latency = _move_ways(program, numbering)
    ways, sums = _compute_ways(program, numbering)
    size = np.concatenate((program.size_bytes[wanted[:, 0]], sums))
    wanted = np.concatenate((wanted, ways))
    order = np.lexsort((wanted[:, 1], wanted[:, 0]))
    times = np.concatenate((times, np.ones_like(sums)))[order]
    wanted, size = wanted[order], size[order]
    stated = _sorted(owners(program.channel_at), int64(program.channel))
    if len(wanted) != len(stated) or (wanted != stated).any():
        return _difference(wanted, stated)
    bandwidth = np.array([channel.bandwidth for channel in numbering.channels()], dtype=np.int64)
    owner = owners(program.channel_at)
    cycles = np.zeros(len(owner), dtype=np.int64)
    cycles[np.lexsort((program.channel, owner))] = times * -(
        -size * chip.clock_hz // bandwidth[wanted[:, 1]]
    )
    slowest = np.zeros(program.size, dtype=np.int64)
    np.maximum.at(slowest, owner, cycles)
    is_bad = program.channel_cycles != cycles
    if is_bad.any():
        return first_claim(
            is_bad, owner, "CHANNEL", lambda at: f"must occupy a channel for {cycles[at]} cycles"
        )
    latency = latency[moves]
    is_bad = (program.hold_cycles[moves] != slowest[moves]) | (
        program.latency_cycles[moves] != latency
    )
    return first_claim(
        is_bad, moves, "CHANNEL",
        lambda at: f"must hold for {slowest[moves[at]]} cycles, with a latency of {latency[at]}",
    )  # fmt: skip


def _move_ways(program: Program, numbering: ChipNumbering) -> tuple[IntArray, IntArray, IntArray]:
    """Rows and channels of moves' routes, the passes per pair, and the latency per row.

    A channel on the routes to several targets carries the bytes once.
    """
    owner, moves, (read, _) = owners(program.access_at), moves_of(program), ends_of(program)
    source = np.full(program.size, -1, dtype=np.int64)
    source[moves] = program.access_buffer[read]
    writes = np.flatnonzero(program.access_write & (source[owner] >= 0))
    row = owner[writes]
    found = routes(program, numbering, (source[row], int64(program.access_buffer[writes])))
    latency = np.zeros(program.size, dtype=np.int64)
    np.maximum.at(latency, row, found.latency_cycles)
    pairs = np.column_stack((row[found.move], found.channel))
    wanted, place = np.unique(pairs, axis=0, return_inverse=True)
    times = np.zeros(len(wanted), dtype=np.int64)
    np.maximum.at(times, place.ravel(), found.times)
    return wanted, times, latency


def _sorted(rows: IntArray, channels: IntArray) -> IntArray:
    order = np.lexsort((channels, rows))
    return np.column_stack((rows[order], channels[order]))


def _difference(wanted: IntArray, stated: IntArray) -> Claim:
    """The first row whose channels differ from its route's."""
    pairs = {tuple(pair) for pair in wanted.tolist()} ^ {tuple(pair) for pair in stated.tolist()}
    row, channel = min(pairs, default=(int(wanted[0, 0]), -1))
    return row, "CHANNEL", f"channel {channel} is listed or on its route, but not both"
