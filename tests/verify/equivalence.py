"""Why a mutant means the same as the Program it was made from: arguments that replay nothing.

All pairs are compared and reachability is worked out with sets of bits, so that nothing is shared
with the sweeps of the library.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from graphturbo_core.products.program import Buffers, InstructionKind, Memory, Program
from tests.verify.draft import Draft, Row

SAME = "nothing changed"
IMPLIED = "what was removed follows from what is left"
COMMUTE = "the two touch nothing in common, and all that conflicts is still in order"
APART = "no byte of the new place is another's before its last access or after its first"
SYMMETRIC = "the op gives the same whichever operand is which"

COMMUTATIVE = frozenset({"Add", "Mul"})


def argument(original: Program, mutant: Program) -> str | None:
    """The reason, by what differs; None: there is none."""
    changed = _changed(original, mutant)
    if not changed:
        return SAME
    if changed <= {"conflict_at", "conflict", "is_address_conflict"}:
        return IMPLIED if is_ordered(mutant) else None
    if changed == {"buffers.offset"}:
        return APART if is_ordered(mutant) and _fits(mutant) else None
    if changed == {"access_tensor"}:
        return SYMMETRIC if _is_symmetric(original, mutant) else None
    if _is_commuted(original, mutant) and is_ordered(mutant):
        return COMMUTE
    return None


def _changed(original: Program, mutant: Program) -> set[str]:
    found = set()
    for field in fields(Program):
        if field.name in ("plan", "engines", "channels", "tensors", "notes", "buffers"):
            continue
        if not np.array_equal(getattr(original, field.name), getattr(mutant, field.name)):
            found.add(field.name)
    for field in fields(Buffers):
        one, other = (getattr(p.buffers, field.name) for p in (original, mutant))
        if not np.array_equal(one, other):
            found.add(f"buffers.{field.name}")
    return found


def ended_before(program: Program) -> list[int]:
    """For every instruction the set (bits) of those that have ended whenever it starts.

    A conflict has ended, and so have those of its engine before it that have no more latency. What
    has ended before the one before it in the queue starts has ended; that one itself too if it has
    no latency. All of the segments before have ended.
    """
    n = program.size
    queue: dict[int, list[int]] = {}
    done: list[int] = []
    for i in range(n):
        before = queue.setdefault(int(program.engine[i]), [])
        known = sum(1 << j for j in range(i) if program.segment[j] < program.segment[i])
        if before:
            known |= done[before[-1]]
            if not program.latency_cycles[before[-1]]:
                known |= 1 << before[-1]
        for at in range(program.conflict_at[i], program.conflict_at[i + 1]):
            j = int(program.conflict[at])
            known |= done[j] | 1 << j
            for k in queue[int(program.engine[j])]:
                if k < j and program.latency_cycles[k] <= program.latency_cycles[j]:
                    known |= 1 << k
        done.append(known)
        before.append(i)
    return done


def conflicting(program: Program) -> set[tuple[int, int]]:
    """All pairs (earlier, later) of instructions that must not swap: every pair is looked at."""
    owner = np.repeat(np.arange(program.size), np.diff(program.access_at))
    found: set[tuple[int, int]] = set()
    by_buffer: dict[int, list[int]] = {}
    for at, buffer in enumerate(program.access_buffer.tolist()):
        by_buffer.setdefault(buffer, []).append(at)
    lo, hi, write = program.access_lo, program.access_hi, program.access_write
    for accesses in by_buffer.values():
        rows = np.array(accesses)
        for place, one in enumerate(accesses):
            later = rows[place + 1 :]
            is_met = ((lo[one] < hi[later]) & (lo[later] < hi[one])).all(axis=1)
            is_met &= (write[one] | write[later]) & (owner[one] != owner[later])
            found |= {(int(owner[one]), int(owner[other])) for other in later[is_met]}
    for one, other in sharing(program):
        pairs = ((int(owner[a]), int(owner[b])) for a in by_buffer[one] for b in by_buffer[other])
        found |= {(min(pair), max(pair)) for pair in pairs}
    return found


def sharing(program: Program) -> list[tuple[int, int]]:
    """All pairs of used buffers that have a byte in common."""
    buffers = program.buffers
    used = np.unique(program.access_buffer)
    memory = buffers.memory[used].astype(np.int64)
    if program.plan.hardware.is_pooled:
        memory[memory == Memory.LB_WEIGHT] = Memory.LB_DATA
    place, start = memory * 1000 + buffers.core[used], buffers.offset[used]
    end = start + buffers.size_bytes[used]
    is_shared = place[:, None] == place
    is_shared &= (start[:, None] < end) & (start < end[:, None])
    return [(int(used[a]), int(used[b])) for a, b in np.argwhere(np.triu(is_shared, 1))]


def is_ordered(program: Program) -> bool:
    """Whether all that conflicts is in order, and buffers that share bytes follow one another."""
    done = ended_before(program)
    if any(not done[later] >> earlier & 1 for earlier, later in conflicting(program)):
        return False
    written = set(program.access_buffer[program.access_write].tolist())
    return all(
        _precedes(program, one, other, written) or _precedes(program, other, one, written)
        for one, other in sharing(program)
    )


def _precedes(program: Program, one: int, other: int, written: set[int]) -> bool:
    """Whether a buffer is done with before another is used; what nobody writes was there first."""
    return other in written and bool(program.buffers.last[one] < program.buffers.first[other])


def _fits(program: Program) -> bool:
    chip, buffers = program.plan.hardware, program.buffers
    sizes = {
        Memory.LB_DATA: chip.lb_data_bytes, Memory.LB_WEIGHT: chip.lb_weight_bytes,
        Memory.STAGING: chip.staging_bytes, Memory.GB: chip.gb_bytes, Memory.DRAM: chip.dram_bytes,
    }  # fmt: skip
    limits = np.array([sizes[Memory(memory)] for memory in buffers.memory])
    return bool(((buffers.offset >= 0) & (buffers.offset + buffers.size_bytes <= limits)).all())


def _is_symmetric(original: Program, mutant: Program) -> bool:
    """Whether the operands that swapped their names are an Add's or Mul's two of one shape."""
    at = np.flatnonzero(original.access_tensor != mutant.access_tensor)
    owner = np.repeat(np.arange(original.size), np.diff(original.access_at))[at]
    if len(at) != 2 or owner[0] != owner[1]:
        return False
    row = owner[0]
    op = original.plan.semantics.graph.ops[original.op[row]]
    sizes = original.access_hi[at] - original.access_lo[at]
    return (
        original.kind[row] == InstructionKind.COMPUTE
        and op.op_type in COMMUTATIVE
        and bool((sizes[0] == sizes[1]).all())
    )


def _is_commuted(original: Program, mutant: Program) -> bool:
    """Whether the rows are the same ones, and those that swapped are no conflict."""
    old, new = Draft(original), Draft(mutant)
    if old.buffers != new.buffers or old.boxes != new.boxes:
        return False
    places: dict[object, list[int]] = {}
    for i, row in enumerate(old.rows):
        places.setdefault(_content(row), []).append(i)
    order = []
    for row in new.rows:
        waiting = places.get(_content(row))
        if not waiting:
            return False
        order.append(waiting.pop(0))
    if sorted(order) != list(range(original.size)):
        return False
    rank = {row: place for place, row in enumerate(order)}
    return all(rank[earlier] < rank[later] for earlier, later in conflicting(original))


def _content(row: Row) -> object:
    accesses = tuple((a.buffer, a.is_write, a.box, a.tensor) for a in row.accesses)
    return tuple(sorted(row.at.items())), row.result, tuple(row.channels), accesses
