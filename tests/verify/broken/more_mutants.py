"""Kinds of faults in order, buffers, segments and times; and the list of all kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np

from graphturbo_core.ir.boxes import volume
from graphturbo_core.lowering.stages.stage import tensor_bytes
from graphturbo_core.products.program import Memory, Program
from graphturbo_core.sim.trace import Trace, Wait
from graphturbo_core.verify.replay.replay import ACCUMULATOR_BYTES
from tests.verify.broken import move_mutants as moves
from tests.verify.broken import mutants as computes
from tests.verify.broken.picking import Kind, local_buffers
from tests.verify.draft import Draft, Row

# Order


def _row_with_conflicts(draft: Draft, random: Random) -> Row:
    return random.choice([row for row in draft.rows if row.after])


def dependence_removed(draft: Draft, random: Random) -> str | None:
    """a dependence removed"""
    row = _row_with_conflicts(draft, random)
    other = random.choice(list(row.after))
    del row.after[other]
    return f"{draft.rows.index(row)} no longer after {draft.rows.index(other)}"


def dependences_removed(draft: Draft, random: Random) -> str | None:
    """all dependences of an instruction removed"""
    row = _row_with_conflicts(draft, random)
    told = [draft.rows.index(other) for other in row.after]
    row.after = {}
    return f"{draft.rows.index(row)} no longer after {told}"


def dependence_misdirected(draft: Draft, random: Random) -> str | None:
    """a dependence on the instruction before the right one"""
    found = [
        (row, other) for row in draft.rows for other in row.after if draft.rows.index(other) > 0
    ]
    row, other = random.choice(found)
    before = draft.rows[draft.rows.index(other) - 1]
    row.after[before] = row.after.pop(other)
    return f"{draft.rows.index(row)} after {draft.rows.index(before)}, not the next"


def before_its_producer(draft: Draft, random: Random) -> str | None:
    """an instruction before its producer"""
    found = [
        (row, other)
        for row in draft.rows
        for other, is_address in row.after.items()
        if not is_address and row.at["segment"] == other.at["segment"]
    ]
    row, other = random.choice(found)
    told = f"{draft.rows.index(row)} put before {draft.rows.index(other)}"
    draft.rows.remove(row)
    draft.rows.insert(draft.rows.index(other), row)
    return told


def neighbours_exchanged(draft: Draft, random: Random) -> str | None:
    """two sequence numbers exchanged"""
    places = [
        i
        for i in range(1, len(draft.rows))
        if draft.rows[i].at["segment"] == draft.rows[i - 1].at["segment"]
    ]
    i = random.choice(places)
    draft.rows[i - 1 : i + 1] = [draft.rows[i], draft.rows[i - 1]]
    return f"{i - 1} and {i} exchanged"


# Buffers


def buffers_overlap(draft: Draft, random: Random) -> str | None:
    """two buffers that overlap"""
    life = _lives(draft)
    local = local_buffers(draft)
    found = [
        (one, other)
        for one in local
        for other in local
        if one != other
        and all(draft.buffers[n][one] == draft.buffers[n][other] for n in ("memory", "core"))
        and life[one][0] <= life[other][1]
        and life[other][0] <= life[one][1]
    ]
    if not found:
        return None
    one, other = random.choice(found)
    draft.buffers["offset"][one] = draft.buffers["offset"][other]
    return f"buffer {one} at the offset of buffer {other}"


def buffer_elsewhere(draft: Draft, random: Random) -> str | None:
    """a buffer at another offset"""
    buffer = random.choice(local_buffers(draft))
    step = random.choice([-64, 64, 128, 1024])
    offset = draft.buffers["offset"][buffer] + step
    if offset < 0:
        return None
    draft.buffers["offset"][buffer] = offset
    return f"buffer {buffer} moved by {step}"


def buffer_far_out(draft: Draft, random: Random) -> str | None:
    """a buffer beyond the end of its memory"""
    buffer = random.choice(local_buffers(draft))
    draft.buffers["offset"][buffer] += 1 << 20
    return f"buffer {buffer} moved by 1 MiB"


def buffer_too_small(draft: Draft, random: Random) -> str | None:
    """a buffer smaller than its box"""
    buffer = random.choice(local_buffers(draft))
    size = tensor_bytes(draft.program.plan, draft.name_of(buffer), draft.boxes[buffer])
    if draft.buffers["memory"][buffer] == Memory.STAGING:
        size = ACCUMULATOR_BYTES * volume(draft.boxes[buffer])
    draft.buffers["size_bytes"][buffer] = size - 1
    return f"buffer {buffer} has one byte of {size} too few"


def buffer_of_another_core(draft: Draft, random: Random) -> str | None:
    """a buffer in another core"""
    buffer = random.choice(local_buffers(draft))
    cores = draft.program.plan.hardware.cores
    draft.buffers["core"][buffer] = (draft.buffers["core"][buffer] + 1) % cores
    return f"buffer {buffer} one core on"


def buffer_box_shifted(draft: Draft, random: Random) -> str | None:
    """a buffer with another box"""
    buffer = random.choice(local_buffers(draft))
    box = draft.boxes[buffer]
    axis = random.choice(range(len(box)))
    lo, hi = box[axis]
    draft.boxes[buffer] = (*box[:axis], (lo + 1, hi + 1), *box[axis + 1 :])
    return f"buffer {buffer} holds {draft.boxes[buffer]}"


def buffer_of_another_tensor(draft: Draft, random: Random) -> str | None:
    """a buffer of another tensor"""
    tensors = draft.program.plan.semantics.graph.tensors
    ranks = [len(tensors[name].shape) for name in draft.names]
    buffer = random.choice(local_buffers(draft))
    old = draft.buffers["tensor"][buffer]
    same = [t for t, rank in enumerate(ranks) if rank == ranks[old] and t != old]
    if not same:
        return None
    draft.buffers["tensor"][buffer] = random.choice(same)
    return f"buffer {buffer} said to hold {draft.name_of(buffer)!r}"


def _lives(draft: Draft) -> dict[int, tuple[int, int]]:
    """First and last row that uses each buffer."""
    found: dict[int, tuple[int, int]] = {}
    for i, row in enumerate(draft.rows):
        for access in row.accesses:
            found[access.buffer] = (found.get(access.buffer, (i, i))[0], i)
    return found


# Kernels, layers, segments: these change the Program's arrays as they are


def freed_early(program: Program, random: Random) -> tuple[Program, str] | None:
    """a buffer freed early"""
    lasting = np.flatnonzero(program.buffers.last > program.buffers.first)
    buffer = int(random.choice(lasting.tolist()))
    last = program.buffers.last.copy()
    last[buffer] -= 1
    return replace(program, buffers=replace(program.buffers, last=last)), f"buffer {buffer}"


def barrier_removed(program: Program, random: Random) -> tuple[Program, str] | None:
    """a barrier removed"""
    count = len(program.segment_open_cycles)
    if count < 2:
        return None
    at = random.randrange(1, count)
    segment = program.segment.copy()
    segment[segment >= at] -= 1
    changed = replace(
        program,
        segment=segment,
        segment_open_cycles=np.delete(program.segment_open_cycles, at),
        segment_close_cycles=np.delete(program.segment_close_cycles, at - 1),
    )
    return changed, f"segments {at - 1} and {at} are one"


def launch_free(program: Program, random: Random) -> tuple[Program, str] | None:
    """a launch or a barrier that costs nothing"""
    name = random.choice(["segment_open_cycles", "segment_close_cycles"])
    cycles = getattr(program, name).copy()
    at = random.choice(np.flatnonzero(cycles).tolist())
    cycles[at] = 0
    return replace(program, **{name: cycles}), f"{name} of {at}"


def wrong_layer(program: Program, random: Random) -> tuple[Program, str] | None:
    """an instruction of another layer"""
    layers = len(program.plan.layers)
    if layers < 2:
        return None
    layer, row = program.layer.copy(), random.randrange(program.size)
    layer[row] = (layer[row] + random.randrange(1, layers)) % layers
    return replace(program, layer=layer), f"instruction {row} in layer {layer[row]}"


# Times: these change the Trace

Changed = tuple[Trace, str] | None


def _at(trace: Trace, row: int, cycle: int) -> Trace:
    start, end = trace.start.copy(), trace.end.copy()
    start[row], end[row] = cycle, end[row] - start[row] + cycle
    return replace(trace, start=start, end=end)


def starts_too_early(trace: Trace, random: Random) -> Changed:
    """a start before a conflict has ended"""
    is_held = (trace.wait == Wait.DATA) | (trace.wait == Wait.ADDRESS)
    row = random.choice(np.flatnonzero(is_held).tolist())
    return _at(trace, row, int(trace.start[row]) - 1), f"instruction {row} starts one cycle early"


def two_at_once(trace: Trace, random: Random) -> Changed:
    """two instructions on an engine at once"""
    order = np.argsort(trace.program.engine, kind="stable")
    engine = trace.program.engine[order]
    place = random.choice(np.flatnonzero(engine[1:] == engine[:-1]).tolist())
    before, row = int(order[place]), int(order[place + 1])
    return _at(trace, row, int(trace.start[before])), f"instruction {row} with {before}"


def ends_late(trace: Trace, random: Random) -> Changed:
    """an end that is not start, hold and latency"""
    row, end = random.randrange(trace.program.size), trace.end.copy()
    end[row] += 1
    return replace(trace, end=end), f"instruction {row} ends one cycle later"


def beyond_its_segment(trace: Trace, random: Random) -> Changed:
    """a segment that opens too early"""
    at, opens = random.randrange(len(trace.segment_open)), trace.segment_open.copy()
    opens[at] -= 1
    return replace(trace, segment_open=opens), f"segment {at}"


def cycles_unaccounted(trace: Trace, random: Random) -> Changed:
    """an engine's cycle that is not accounted for"""
    stalls = trace.stalls.copy()
    at = random.randrange(len(stalls))
    stalls[at, random.randrange(stalls.shape[1])] += 1
    return replace(trace, stalls=stalls), f"engine {at}"


def too_short(trace: Trace, random: Random) -> Changed:
    """a run shorter than its longest path"""
    return replace(trace, makespan=trace.longest_chain_cycles - 1), "makespan"


def channel_shared(trace: Trace, random: Random) -> Changed:
    """two moves on a channel at once"""
    waited = np.flatnonzero(trace.wait == Wait.CHANNEL).tolist()
    if not waited:
        return None
    row = random.choice(waited)
    return _at(trace, row, int(trace.start[row]) - 1), f"instruction {row} starts one cycle early"


ROW_KINDS: tuple[Kind, ...] = (
    moves.move_dropped, moves.exchange_dropped, moves.move_short, moves.halo_short,
    moves.move_from_elsewhere, moves.move_shifted_source, moves.store_shifted,
    moves.weights_of_another_tile, moves.target_dropped, moves.move_repeated,
    moves.move_by_another_engine, moves.wrong_width, moves.channel_not_taken,
    moves.latency_forgotten, moves.wrong_cause, moves.called_another_kind,
    computes.compute_dropped, computes.compute_repeated, computes.operand_short,
    computes.operand_shifted, computes.other_slot, computes.operands_swapped,
    computes.operand_left_out, computes.operand_too_many, computes.read_turned_write,
    computes.result_shifted, computes.write_shifted, computes.concat_offset,
    computes.compute_on_another_core, computes.compute_too_fast, computes.wrong_op,
    computes.not_cleared, computes.sum_lost, computes.cut_shifted, dependence_removed,
    dependences_removed, dependence_misdirected, before_its_producer, neighbours_exchanged,
    buffers_overlap, buffer_elsewhere, buffer_far_out, buffer_too_small, buffer_of_another_core,
    buffer_box_shifted, buffer_of_another_tensor,
)  # fmt: skip
PROGRAM_KINDS: tuple[Callable[[Program, Random], tuple[Program, str] | None], ...] = (
    freed_early, barrier_removed, launch_free, wrong_layer,
)  # fmt: skip
TRACE_KINDS: tuple[Callable[[Trace, Random], Changed], ...] = (
    starts_too_early, two_at_once, ends_late, beyond_its_segment, cycles_unaccounted, too_short,
    channel_shared,
)  # fmt: skip
