"""Invariants of every Trace, checked by sorting and sweeping; near-linear."""

from __future__ import annotations

import numpy as np

from graphturbo_core.errors import InvariantError
from graphturbo_core.ir.boxes import Box
from graphturbo_core.products.arrays import owners
from graphturbo_core.products.program import InstructionKind, IntArray, Memory, Program
from graphturbo_core.sim.checks.ordering import unordered_accesses
from graphturbo_core.sim.checks.written import unwritten_output, unwritten_read
from graphturbo_core.sim.sweeps import overlapping_pair

Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


def check_engines(program: Program, start: IntArray) -> None:
    """Check that every engine runs one instruction at a time, in sequence order."""
    order = np.argsort(program.engine, kind="stable")
    before, after = order[:-1], order[1:]
    free = start[before] + program.hold_cycles[before]
    is_bad = (program.engine[before] == program.engine[after]) & (start[after] < free)
    if (at := _first(is_bad)) is not None:
        i, j = before[at], after[at]
        what = f"{label(program, j)} starts at {start[j]}, {label(program, i)} holds its engine"
        raise InvariantError("TRACE_ENGINE", f"{what} until {free[at]}")


def check_conflicts(program: Program, start: IntArray, end: IntArray) -> None:
    """Check that no instruction starts before its conflicts have ended."""
    owner = owners(program.conflict_at)
    if (at := _first(start[owner] < end[program.conflict])) is not None:
        j, i = owner[at], program.conflict[at]
        what = f"{label(program, j)} starts at {start[j]}, its conflict {label(program, i)} ends"
        raise InvariantError("TRACE_CONFLICT", f"{what} at {end[i]}")


def check_order(program: Program) -> None:
    """Check that dependences of the Program, not its cycles, order conflicting accesses."""
    pair = unordered_accesses(program)
    if pair is None:
        return
    owner = owners(program.access_at)
    first, second = (
        f"{label(program, owner[at])} at {buffer_label(program, program.access_buffer[at])}"
        for at in pair
    )
    raise InvariantError("TRACE_ORDER", f"no dependence orders {second} after {first}")


def check_reads(program: Program) -> None:
    """Check that every box that is read, and every graph output, was written before."""
    read = unwritten_read(program)
    if read is not None:
        buffer = program.access_buffer[read.access]
        reader = label(program, int(owners(program.access_at)[read.access]))
        what = f"{reader} reads {_box_text(program, program.buffers.tensor[buffer], read.box)} of"
        what = f"{what} {buffer_label(program, buffer)}"
        raise InvariantError("TRACE_UNWRITTEN", f"{what}, which {_writer(program, read.writer)}")
    output = unwritten_output(program)
    if output is not None:
        part, missing = output
        name = program.plan.kernels[part.kernel].name
        box = missing.box[: len(part.box)]
        what = f"kernel {name!r} must write {part.box} of output {part.tensor!r} to DRAM"
        raise InvariantError("TRACE_UNWRITTEN", f"{what}, and no instruction writes {box}")


def check_channels(program: Program, start: IntArray) -> None:
    """Check that no channel is used by two moves at once."""
    rows = np.flatnonzero(program.channel_cycles > 0)
    owner = owners(program.channel_at)[rows]
    begin, channel = start[owner], program.channel[rows]
    stop = begin + program.channel_cycles[rows]
    order = np.lexsort((owner, begin, channel))
    before, after = order[:-1], order[1:]
    is_bad = (channel[before] == channel[after]) & (begin[after] < stop[before])
    if (at := _first(is_bad)) is not None:
        first, second = before[at], after[at]
        name = program.channels[channel[first]].name
        what = f"{label(program, owner[second])} uses channel {name!r} from {begin[second]}"
        other = f"{label(program, owner[first])} uses it until {stop[first]}"
        raise InvariantError("TRACE_CHANNEL", f"{what}, {other}")


def check_segments(
    program: Program, start: IntArray, end: IntArray, opens: IntArray, closes: IntArray
) -> None:
    """Check that segments are consecutive and contain all of their instructions."""
    launched = np.append(0, closes[:-1])[: len(opens)] + program.segment_open_cycles
    if (at := _first(opens != launched)) is not None:
        what = f"segment {at} opens at {opens[at]}, not at {launched[at]}"
        raise InvariantError("TRACE_SEGMENT", what)
    ended = closes - program.segment_close_cycles
    segment = program.segment
    if (at := _first((start < opens[segment]) | (end > ended[segment]))) is not None:
        limits = f"[{opens[segment[at]]}, {ended[segment[at]]}]"
        what = f"{label(program, at)} runs in [{start[at]}, {end[at]}]"
        raise InvariantError("TRACE_SEGMENT", f"{what}, its segment {segment[at]} in {limits}")


def check_stalls(program: Program, stalls: IntArray, makespan: int) -> None:
    """Check that the stall classes of each engine sum to the makespan."""
    sums = stalls.sum(axis=1)
    if (at := _first((sums != makespan) | (stalls < 0).any(axis=1))) is not None:
        name = program.engines[at].label
        what = f"{name} accounts for {sums[at]} of {makespan} cycles: {stalls[at]}"
        raise InvariantError("TRACE_STALLS", what)


def check_data_waits(program: Program, data_waits: IntArray, waited: IntArray) -> None:
    """Check that each engine's waits for data, by what they waited for, sum to `waited`."""
    sums = data_waits.sum(axis=1)
    if (at := _first((sums != waited) | (data_waits < 0).any(axis=1))) is not None:
        what = f"{program.engines[at].label} waits {waited[at]} cycles for data: {data_waits[at]}"
        raise InvariantError("TRACE_DATA_WAITS", what)


def check_capacity(program: Program) -> None:
    """Check that every buffer is inside its memory.

    With `check_bytes` it follows that live bytes never exceed the capacity.
    """
    buffers, chip = program.buffers, program.plan.hardware
    capacity = np.zeros(len(Memory), np.int64)
    capacity[Memory.LB_DATA] = chip.lb_data_bytes
    capacity[Memory.LB_WEIGHT] = chip.lb_weight_bytes
    capacity[Memory.STAGING] = chip.staging_bytes
    capacity[Memory.GB] = chip.gb_bytes
    capacity[Memory.DRAM] = chip.dram_bytes
    ends, limit = buffers.offset + buffers.size_bytes, capacity[buffers.memory]
    if (at := _first((buffers.offset < 0) | (ends > limit))) is not None:
        what = f"{buffer_label(program, at)} is not inside [0, {limit[at]})"
        raise InvariantError("TRACE_CAPACITY", what)


def check_bytes(program: Program, live_from: IntArray, live_to: IntArray) -> None:
    """Check that no two live buffers share a byte.

    In a pooled LB, data and weight part have one address space.
    """
    buffers = program.buffers
    space = buffers.spaces(is_pooled=program.plan.hardware.is_pooled)
    ends = buffers.offset + buffers.size_bytes
    base = space * (int(ends.max(initial=0)) + 1)
    pair = overlapping_pair(live_from, live_to, base + buffers.offset, base + ends)
    if pair is None:
        return
    first, second = (
        f"{buffer_label(program, b)} live in [{live_from[b]}, {live_to[b]})" for b in pair
    )
    raise InvariantError("TRACE_BYTES", f"{first} shares bytes with {second}")


def label(program: Program, i: int) -> str:
    """A short name for messages: `instruction 12 (LOAD on core 0 move)`."""
    kind = InstructionKind(program.kind[i]).name
    return f"instruction {i} ({kind} on {program.engines[program.engine[i]].label})"


def buffer_label(program: Program, b: int) -> str:
    """A short name for messages: `buffer 3 ('x', GB, bytes [0, 64))`."""
    buffers = program.buffers
    memory, core = Memory(buffers.memory[b]).name, buffers.core[b]
    place = memory if core < 0 else f"{memory} of core {core}"
    stop = buffers.offset[b] + buffers.size_bytes[b]
    name = program.tensors[buffers.tensor[b]]
    return f"buffer {b} ({name!r}, {place}, bytes [{buffers.offset[b]}, {stop}))"


def _box_text(program: Program, tensor: int, box: Box) -> str:
    """A box as text, with the axes of its tensor only."""
    shape = program.plan.semantics.graph.tensors[program.tensors[tensor]].shape
    return str(box[: len(shape)])


def _writer(program: Program, writer: int | None) -> str:
    if writer is None:
        return "no instruction writes"
    return f"{label(program, writer)} writes, not before it"


def _first(is_bad: Flags) -> int | None:
    """The first index that is set; None: none is."""
    return int(is_bad.argmax()) if is_bad.any() else None
