"""Channels, holds and latencies that a Program states, against the ends of its accesses."""

from __future__ import annotations

import numpy as np

from graphturbo_core.lowering.team import Team
from graphturbo_core.products.arrays import int64, owners
from graphturbo_core.products.program import InstructionKind, IntArray, Memory, Program
from graphturbo_core.verify.static.claim_rows import (
    FAR,
    Claim,
    access_bytes,
    ends_of,
    first_claim,
    moves_of,
)
from graphturbo_core.verify.static.ports import ports, team_of


def _compute_ways(program: Program, team: Team) -> tuple[IntArray, IntArray]:
    """Rows and channels of what computes read and write beyond LB, and the bytes of each.

    All that an op larger than LB does passes the LB port of its engine's core as well.
    """
    owner = owners(program.access_at)
    is_there = program.buffers.memory[program.access_buffer] >= Memory.GB
    found = np.flatnonzero(is_there & (program.kind[owner] == InstructionKind.COMPUTE))
    rows, size = owner[found], access_bytes(program, found)
    passing = program.plan.semantics.passing_ops
    is_passing = np.array([op.name in passing for op in program.plan.semantics.graph.ops])
    through = np.flatnonzero(is_passing[program.op[rows]])
    core = np.array([engine.core for engine in program.engines])[program.engine[rows[through]]]
    own, each = team.machine.hardware.cores, team.machine.far(Memory.DRAM) + 1
    port = core % own + core // own * each
    pairs = np.column_stack((
        np.concatenate((rows, rows[through])),
        np.concatenate((ports(program, team)[program.access_buffer[found]], port)),
    ))  # fmt: skip
    ways, place = np.unique(pairs, axis=0, return_inverse=True)
    sums = np.zeros(len(ways), dtype=np.int64)
    np.add.at(sums, place.ravel(), np.concatenate((size, size[through])))
    return ways, sums


def wrong_channels(program: Program) -> Claim | None:
    """Rule 4: channels, their times, holds and latencies."""
    chip, moves, (read, write) = program.plan.hardware, moves_of(program), ends_of(program)
    team, owner = team_of(program), owners(program.access_at)
    memory = int64(program.buffers.memory)
    is_move = program.kind[owner] != InstructionKind.COMPUTE
    port = ports(program, team)[program.access_buffer[is_move]]
    source, target = program.access_buffer[read], program.access_buffer[write]
    linked, links = _links(program, team)
    rows = np.concatenate((owner[is_move], linked))
    both = np.column_stack((rows, np.concatenate((port, links))))
    wanted, times = np.unique(both, axis=0, return_counts=True)
    ways, sums = _compute_ways(program, team)
    size = np.concatenate((program.size_bytes[wanted[:, 0]], sums))
    wanted = np.concatenate((wanted, ways))
    order = np.lexsort((wanted[:, 1], wanted[:, 0]))
    times = np.concatenate((times, np.ones_like(sums)))[order]
    wanted, size = wanted[order], size[order]
    stated = _sorted(owners(program.channel_at), int64(program.channel))
    if len(wanted) != len(stated) or (wanted != stated).any():
        return _difference(wanted, stated)
    bandwidth = np.array([channel.bandwidth for channel in team.channels()], dtype=np.int64)
    owner = owners(program.channel_at)
    cycles = np.zeros(len(owner), dtype=np.int64)
    cycles[np.lexsort((program.channel, owner))] = times * -(
        -size * chip.clock_hz // bandwidth[wanted[:, 1]]
    )
    slowest = np.zeros(program.size, dtype=np.int64)
    np.maximum.at(slowest, owner, cycles)
    is_bad = program.channel_cycles != cycles
    if is_bad.any():
        return first_claim(is_bad, owner, "CHANNEL", lambda at: f"takes a channel not {cycles[at]}")
    latencies = np.array([chip.link_latency_cycles] * len(Memory))
    latencies[[Memory.GB, Memory.DRAM]] = chip.gb_latency_cycles, chip.dram_latency_cycles
    latency = latencies[np.maximum(memory[source], memory[target])]
    if chip.remote_dram_latency_cycles is not None:
        cluster = team.cluster_of(int64(program.buffers.core))
        latency[cluster[source] != cluster[target]] = chip.remote_dram_latency_cycles
    is_bad = (program.hold_cycles[moves] != slowest[moves]) | (
        program.latency_cycles[moves] != latency
    )
    return first_claim(
        is_bad, moves, "CHANNEL",
        lambda at: f"takes not {slowest[moves[at]]} cycles and {latency[at]} of latency",
    )  # fmt: skip


def _links(program: Program, team: Team) -> tuple[IntArray, IntArray]:
    """Rows and links of the moves between cores: one out, and one into each target."""
    machine, cores = team.machine, team.machine.hardware.cores
    owner, core = owners(program.access_at), program.buffers.core[program.access_buffer]
    is_move = program.kind != InstructionKind.COMPUTE
    is_near = is_move & ~np.isin(program.source, FAR) & ~np.isin(program.target, FAR)
    is_near &= program.kind != InstructionKind.COPY
    accesses = np.flatnonzero(is_near[owner])
    links = [
        (machine.link(0, at % cores)[1] if is_write else machine.link(at % cores, 0)[0])
        + at // cores * (machine.far(Memory.DRAM) + 1)
        for at, is_write in zip(
            core[accesses].tolist(), program.access_write[accesses].tolist(), strict=True
        )
    ]
    return owner[accesses], np.array(links, dtype=np.int64)


def _sorted(rows: IntArray, channels: IntArray) -> IntArray:
    order = np.lexsort((channels, rows))
    return np.column_stack((rows[order], channels[order]))


def _difference(wanted: IntArray, stated: IntArray) -> Claim:
    """The first row whose channels are not those at its ends."""
    pairs = {tuple(pair) for pair in wanted.tolist()} ^ {tuple(pair) for pair in stated.tolist()}
    row, channel = min(pairs, default=(int(wanted[0, 0]), -1))
    return row, "CHANNEL", f"channel {channel} is taken and not at its ends, or the other way round"
