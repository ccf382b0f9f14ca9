"""Program -> the first instruction whose fields disagree with its accesses or the plan."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.lowering.box_bytes import box_bytes
from graphturbo_core.lowering.instructions.machine import far_core
from graphturbo_core.products.arrays import int64, owners
from graphturbo_core.products.program import InstructionKind, IntArray, Memory, Program
from graphturbo_core.semantics.cost import engine_cycles
from graphturbo_core.semantics.work import work_of
from graphturbo_core.verify.local import TileTask
from graphturbo_core.verify.static.channel_claims import wrong_channels
from graphturbo_core.verify.static.claim_rows import (
    BEYOND_LB,
    Claim,
    access_bytes,
    ends_of,
    first_claim,
    moves_of,
)
from graphturbo_core.verify.static.lookups import looked_up_elements
from graphturbo_core.verify.static.ports import chip_numbering


def wrong_claim(program: Program) -> Claim | None:
    """The first rule that an instruction breaks; None if there is none.

    1. A compute writes one box. A move reads one box, and writes one unless it is a broadcast.
    2. The ends of a move decide its kind: load (GB or DRAM to LB), store (LB to GB or DRAM, GB to
       DRAM), exchange (LB to another core's LB), broadcast (GB, DRAM or an LB to several LBs), copy
       (within an LB) or prefetch (DRAM to GB).
    3. Engines: the receiver's move engine for a load or exchange; the sender's for a store or a
       broadcast from an LB; that of core (tile mod cores) of the kernel or branch for other
       broadcasts; a system DMA for moves between DRAM and GB.
    4. A move's bytes are those of the box that it reads, or of the elements of a lookup. It
       occupies the channels of its route for bytes over bandwidth, its engine for the slowest, and
       has the route's latency.
    5. An instruction's op belongs to its layer and kernel. Exception: a prefetch for a later kernel
       within a GB retention. Segments follow kernels (or their layers), with launch and barrier.
    6. A move's op reads the tensor that it loads, or writes the tensor that it stores.
    7. A move accesses a buffer as the buffer's own tensor. Computes may use another name, but at
       least one access of each buffer has its own.
    8. A buffer's first writer and last access are the recorded ones.
    9. A cooperating cluster runs its own kernels in its own memories; it may only read DRAM of
       others.
    """
    rules = (
        _shape, _ends, _clusters, _engines, _bytes, wrong_channels, _places, _segments, _users,
        _names, _lifetimes,
    )  # fmt: skip
    for rule in rules:
        found = rule(program)
        if found is not None:
            return found
    return None


def wrong_cost(program: Program, row: int, task: TileTask) -> str | None:
    """Text on a compute's engine, cycles or work if they disagree with its box; else None."""
    plan, semantics = program.plan, task.semantics
    hardware = plan.hardware
    work = work_of(semantics, task.box, task.index, task.cut)
    ways = engine_cycles(work, semantics, hardware, plan.number_format, plan.feeding)
    engine = program.engines[int(program.engine[row])].kind
    kind, cycles = next((way for way in ways if way[0] is engine), ways[0])
    operations = work.vector_ops + work.transcendentals * hardware.transcendental_ops
    ports = slice(program.channel_at[row], program.channel_at[row + 1])
    hold = max(1, cycles, int(program.channel_cycles[ports].max(initial=0)))
    wanted = (
        kind.value, hold, _latency_of(program, row), work.macs, operations,
        _far_bytes_of(program, row),
    )  # fmt: skip
    stated = (
        engine.value, int(program.hold_cycles[row]),
        int(program.latency_cycles[row]), int(program.macs[row]), int(program.vector_ops[row]),
        int(program.size_bytes[row]),
    )  # fmt: skip
    if stated == wanted:
        return None
    return f"(engine, cycles, latency, MACs, operations, bytes) are {stated}, not {wanted}"


def _far_bytes_of(program: Program, row: int) -> int:
    """Bytes that a compute reads from GB and DRAM and writes to them."""
    accesses = np.arange(program.access_at[row], program.access_at[row + 1])
    is_there = program.buffers.memory[program.access_buffer[accesses]] >= Memory.GB
    return int(access_bytes(program, accesses[is_there]).sum()) if is_there.any() else 0


def _latency_of(program: Program, row: int) -> int:
    """Largest latency of the memories of an op larger than LB; 0 for other computes."""
    plan = program.plan
    if plan.semantics.graph.ops[int(program.op[row])].name not in plan.semantics.passing_ops:
        return 0
    buffers = program.access_buffer[program.access_at[row] : program.access_at[row + 1]]
    numbering, own = chip_numbering(program), plan.cluster_of(int(program.kernel[row]))
    clusters = numbering.cluster_of(int64(program.buffers.core[buffers])).tolist()
    memories = map(Memory, program.buffers.memory[buffers].tolist())
    far = (
        numbering.machine.latency((memory, far_core(int(cluster != own))))
        for memory, cluster in zip(memories, clusters, strict=True)
        if memory in BEYOND_LB
    )
    return max(far, default=0)


def _shape(program: Program) -> Claim | None:
    """Rule 1."""
    owner, is_write = owners(program.access_at), program.access_write
    writes = np.bincount(owner[is_write], minlength=program.size)
    reads = np.bincount(owner[~is_write], minlength=program.size)
    is_one = np.where(program.kind == InstructionKind.BROADCAST, writes > 1, writes == 1)
    is_bad = ~is_one | ((program.kind != InstructionKind.COMPUTE) & (reads != 1))
    rows = np.arange(program.size)
    return first_claim(
        is_bad, rows, "SHAPE", lambda at: f"reads {reads[at]} and writes {writes[at]} boxes"
    )


def _ends(program: Program) -> Claim | None:
    """Rule 2."""
    moves, (read, write) = moves_of(program), ends_of(program)
    buffers, kind = program.buffers, program.kind[moves]
    source = buffers.memory[program.access_buffer[read]]
    target = buffers.memory[program.access_buffer[write]]
    is_from, is_to = np.isin(source, BEYOND_LB), np.isin(target, BEYOND_LB)
    core = buffers.core
    is_within = core[program.access_buffer[read]] == core[program.access_buffer[write]]
    wanted = np.select(
        [~is_from & ~is_to & is_within & (kind != InstructionKind.BROADCAST),
         ~is_to & (kind == InstructionKind.BROADCAST), is_from & ~is_to, ~is_from & is_to,
         ~is_from & ~is_to, (source == Memory.DRAM) & (target == Memory.GB),
         (source == Memory.GB) & (target == Memory.DRAM)],
        [InstructionKind.COPY, InstructionKind.BROADCAST, InstructionKind.LOAD,
         InstructionKind.STORE, InstructionKind.EXCHANGE, InstructionKind.PREFETCH,
         InstructionKind.STORE],
        default=-1,
    )  # fmt: skip
    is_bad = (program.source[moves] != source) | (program.target[moves] != target)
    is_bad |= kind != wanted
    return first_claim(
        is_bad, moves, "ENDS",
        lambda at: f"moves from {Memory(source[at]).name} to {Memory(target[at]).name}",
    )  # fmt: skip


def _engines(program: Program) -> Claim | None:
    """Rule 3."""
    moves, (read, write) = moves_of(program), ends_of(program)
    kind, core_of = program.kind[moves], program.buffers.core
    from_core = int64(core_of[program.access_buffer[read]])
    to_core = int64(core_of[program.access_buffer[write]])
    core = np.where(kind == InstructionKind.STORE, from_core, to_core)
    is_broadcast = kind == InstructionKind.BROADCAST
    is_from_lb = ~np.isin(program.source[moves], BEYOND_LB)
    own = program.plan.hardware.cores
    core = np.where(is_broadcast, _issuers(program, moves) + to_core // own * own, core)
    core = np.where(is_broadcast & is_from_lb, from_core, core)
    cores = np.array([engine.core for engine in program.engines])[program.engine[moves]]
    names = np.array([engine.kind.value for engine in program.engines])[program.engine[moves]]
    is_prefetch = np.isin(program.source[moves], BEYOND_LB) & np.isin(
        program.target[moves], BEYOND_LB
    )
    wanted = np.where(is_prefetch, EngineKind.DMA.value, EngineKind.MOVE.value)
    is_bad = (names != wanted) | (~is_prefetch & (cores != core))
    sender = np.full(program.size, -1, dtype=np.int64)
    sender[moves[is_from_lb]] = from_core[is_from_lb]
    owner, core_of_access = owners(program.access_at), core_of[program.access_buffer]
    is_own = program.access_write & (core_of_access == sender[owner]) & (core_of_access >= 0)
    is_own &= program.kind[owner] == InstructionKind.BROADCAST
    is_bad |= np.isin(moves, owner[is_own])
    return first_claim(
        is_bad, moves, "ENGINE",
        lambda at: f"is issued by the {names[at]} engine of core {cores[at]}, not of {core[at]}",
    )  # fmt: skip


def _issuers(program: Program, moves: IntArray) -> IntArray:
    """The core of a cluster that issues each move if it is a broadcast: (tile mod cores).

    In a branch, one of the branch's cores.
    """
    plan = program.plan
    found = int64(program.tile[moves]) % plan.hardware.cores
    number = {op.name: place for place, op in enumerate(plan.semantics.graph.ops)}
    for place, kernel in enumerate(plan.kernels):
        for branch in plan.branches_of(kernel):
            numbers = [number[name] for name in branch.ops]
            is_own = (program.kernel[moves] == place) & np.isin(program.op[moves], numbers)
            cores = np.array(sorted(branch.cores))
            found[is_own] = cores[program.tile[moves][is_own] % len(cores)]
    return found


def _bytes(program: Program) -> Claim | None:
    """Rule 4: bytes."""
    moves, (read, write) = moves_of(program), ends_of(program)
    tensor, lo = program.buffers.tensor[program.access_buffer[read]], program.access_lo[read]
    wanted, one = access_bytes(program, read), box_bytes(program, tensor, lo, lo + 1)
    elements = looked_up_elements(program)[program.access_buffer[write]]
    wanted = np.where(elements < 0, wanted, np.minimum(wanted, elements * one))
    stated, halo = program.size_bytes[moves], program.halo_bytes[moves]
    is_bad = (stated != wanted) | (halo < 0) | (halo > wanted)
    return first_claim(
        is_bad, moves, "BYTES", lambda at: f"moves {stated[at]} bytes, its box has {wanted[at]}"
    )


def _places(program: Program) -> Claim | None:
    """Rule 5: op, layer and kernel."""
    plan = program.plan
    ops = plan.semantics.graph.ops
    number = {op.name: place for place, op in enumerate(ops)}
    layer_of = np.array([plan.layer_of_op[op.name] for op in ops], dtype=np.int64)
    is_inside = np.zeros((len(plan.kernels), len(ops)), dtype=np.bool_)
    for place, kernel in enumerate(plan.kernels):
        is_inside[place, [number[name] for name in kernel.ops]] = True
    is_bad = ~is_inside[program.kernel, program.op] & ~_prefetches(program)
    is_bad |= (program.layer != layer_of[program.op]) | (program.op < 0)
    return first_claim(
        is_bad, np.arange(program.size), "PLACE",
        lambda at: f"op {program.op[at]} is not of layer {program.layer[at]} and kernel "
        f"{program.kernel[at]}",
    )  # fmt: skip


def _prefetches(program: Program) -> NDArray[np.bool_]:
    """Per instruction: a prefetch into GB by a retention's first kernel, for an op of a later one.

    That op reads the retained weight, and its kernel is one of those of the retention.
    """
    plan, first = program.plan, program.access_at[:-1]
    found = np.zeros(program.size, dtype=np.bool_)
    if not plan.stays:
        return found
    tensor = program.buffers.tensor[program.access_buffer[first]]
    is_prefetch = (program.kind == InstructionKind.PREFETCH) & (program.target == Memory.GB)
    fetches: dict[tuple[int, str], list[int]] = {}
    for row in np.flatnonzero(is_prefetch).tolist():
        key = int(program.kernel[row]), program.tensors[tensor[row]]
        fetches.setdefault(key, []).append(row)
    ops = plan.semantics.graph.ops
    for stay in plan.stays:
        later = {name for own in plan.kernels[stay.first + 1 : stay.last + 1] for name in own.ops}
        for row in fetches.get((stay.first, stay.weight), ()):
            op = ops[program.op[row]]
            found[row] |= op.name in later and stay.weight in op.inputs
    return found


def _segments(program: Program) -> Claim | None:
    """Rule 5: segments."""
    chip = program.plan.hardware
    is_new_kernel = np.diff(program.plan.steps_of(program.kernel), prepend=-1) != 0
    is_new = is_new_kernel.copy()
    if program.plan.scheduling.has_fence:
        ops = program.plan.semantics.graph.ops
        unit_of = np.array([program.plan.unit_of_op[op.name] for op in ops], dtype=np.int64)
        is_new |= np.diff(unit_of[program.op], prepend=-1) != 0
    heads = np.flatnonzero(is_new)
    rows = np.arange(program.size)
    is_bad = program.segment != np.cumsum(is_new) - 1
    if is_bad.any():
        return first_claim(
            is_bad, rows, "SEGMENT", lambda at: f"is in segment {program.segment[at]}"
        )
    opens = np.where(is_new_kernel[heads], chip.launch_cycles, 0)
    is_last = np.append(is_new_kernel[heads][1:], True)
    closes = np.where(is_last, chip.barrier_cycles, 0)
    if len(opens) != len(program.segment_open_cycles):
        return 0, "SEGMENT", f"{len(program.segment_open_cycles)} segments, not {len(opens)}"
    is_bad = (program.segment_open_cycles != opens) | (program.segment_close_cycles != closes)
    return first_claim(
        is_bad,
        heads,
        "SEGMENT",
        lambda at: f"must open in {opens[at]} cycles and close in {closes[at]}",
    )


def _users(program: Program) -> Claim | None:
    """Rule 6."""
    ops, count = program.plan.semantics.graph.ops, len(program.tensors)
    number = {name: place for place, name in enumerate(program.tensors)}
    read = {at * count + number[name] for at, op in enumerate(ops) for name in op.inputs if name}
    given = {at * count + number[name] for at, op in enumerate(ops) for name in op.outputs if name}
    moves, (_, write) = moves_of(program), ends_of(program)
    tensor = program.buffers.tensor[program.access_buffer[write]]
    key = int64(program.op[moves]) * count + tensor
    is_store = program.kind[moves] == InstructionKind.STORE
    is_right = np.where(is_store, np.isin(key, [*given]), np.isin(key, [*read]))
    return first_claim(
        ~is_right, moves, "USER",
        lambda at: f"op {program.op[moves[at]]} does not use {program.tensors[tensor[at]]!r}",
    )  # fmt: skip


def _names(program: Program) -> Claim | None:
    """Rule 7."""
    owner, buffer = owners(program.access_at), program.access_buffer
    is_own = program.access_tensor == program.buffers.tensor[buffer]
    is_named = np.zeros(len(program.buffers.memory), dtype=np.bool_)
    is_named[buffer[is_own]] = True
    is_bad = ~is_own & (program.kind[owner] != InstructionKind.COMPUTE) | ~is_named[buffer]
    return first_claim(
        is_bad, owner, "NAME",
        lambda at: f"uses buffer {buffer[at]} as {program.tensors[program.access_tensor[at]]!r}",
    )  # fmt: skip


def _lifetimes(program: Program) -> Claim | None:
    """Rule 8."""
    count, never = len(program.buffers.memory), program.size
    buffer, row, is_write = program.access_buffer, owners(program.access_at), program.access_write
    written, touched, last = np.full(count, never), np.full(count, never), np.full(count, -1)
    np.minimum.at(written, buffer[is_write], row[is_write])
    np.minimum.at(touched, buffer, row)
    np.maximum.at(last, buffer, row)
    first = np.where(written < never, written, touched)
    is_bad = (program.buffers.first != first) | (program.buffers.last != last)
    is_bad &= touched < never
    return first_claim(
        is_bad, last, "LIFETIME", lambda at: f"buffer {at} is used from {first[at]} to {last[at]}"
    )


def _clusters(program: Program) -> Claim | None:
    """Rule 9."""
    numbering, owner = chip_numbering(program), owners(program.access_at)
    own = program.plan.clusters_of(program.kernel)
    engine = program.engine.astype(np.int64) // (len(program.engines) // numbering.clusters)
    is_bad = engine != own
    buffer = program.access_buffer
    is_other = numbering.cluster_of(int64(program.buffers.core))[buffer] != own[owner]
    is_read = ~program.access_write & (program.buffers.memory[buffer] == Memory.DRAM)
    is_bad[owner[is_other & ~is_read]] = True
    return first_claim(
        is_bad, np.arange(program.size), "CLUSTER",
        lambda at: f"of cluster {own[at]} runs on cluster {engine[at]}, or in another's memory",
    )  # fmt: skip
