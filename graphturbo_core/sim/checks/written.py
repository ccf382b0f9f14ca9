"""Whether all that is read, by instructions and as the graph's outputs, was written before.

Replay finds that out too, on numbers; here it follows from the arrays alone, on every run. That a
write has the lower number is enough: the check of order sees to it that it has ended by then.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.hardware.hardware import CLUSTER_CORE
from graphturbo_core.ir.boxes import Box, is_empty
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.products.arrays import int64, owners, rows_of
from graphturbo_core.products.program import MAX_RANK, Memory, Program
from graphturbo_core.sim.checks.first_writes import NEVER, Accesses, Flags, first_unwritten


class Unwritten(NamedTuple):
    """What is read too early: the access that does, the box of it, and who writes that.

    `access`: a row of the access table, or of what is handed out. `writer`: the first instruction
    that writes some of `box`; None: none does.
    """

    access: int
    box: Box
    writer: int | None


class Handed(NamedTuple):
    """A part of a graph output that a kernel leaves in DRAM; `buffer` -1: there is none for it."""

    kernel: int
    tensor: str
    box: Box
    buffer: int


def unwritten_read(program: Program) -> Unwritten | None:
    """The first read of what no earlier instruction wrote, buffer by buffer; None: there is none.

    1. Graph inputs and weights lie in DRAM from the start.
    2. Where cores stand for others, nothing is known of what the others leave in GB and DRAM.
    3. Anywhere else an element is there from the first instruction on that writes it. An
       instruction reads before it writes.
    Cost: writes times the depth of the tree that divides a buffer between them, and reads times the
    parts that they meet before all of these are written.
    """
    accesses = (owners(program.access_at), program.access_write)
    boxes = (program.access_lo, program.access_hi)
    return _first(program.access_buffer, (*accesses, boxes), ~_is_passed_over(program))


def unwritten_output(program: Program) -> tuple[Handed, Unwritten] | None:
    """The first part of a graph output that is not in DRAM at the end; None: there is none.

    Nothing is known where cores stand for others.
    """
    handed = () if _is_folded(program) else _handed_out(program)
    if not handed:
        return None
    buffer = np.array([part.buffer for part in handed], dtype=np.int64)
    corners = np.tile(np.array([[[0]], [[1]]], dtype=np.int32), (1, len(handed), MAX_RANK))
    for row, part in enumerate(handed):
        corners[:, row, : len(part.box)] = np.array(part.box, dtype=np.int32).reshape(-1, 2).T
    is_used = np.zeros(len(program.buffers.memory) + 1, dtype=np.bool_)
    is_used[buffer] = True
    rows = np.flatnonzero(program.access_write & is_used[program.access_buffer])
    both = np.concatenate((program.access_buffer[rows], buffer))
    instruction = np.append(owners(program.access_at)[rows], [program.size] * len(handed))
    boxes = (
        np.concatenate((program.access_lo[rows], corners[0])),
        np.concatenate((program.access_hi[rows], corners[1])),
    )
    write = np.arange(len(both)) < len(rows)
    found = _first(both, (instruction, write, boxes), is_used)
    if found is None:
        return None
    at = found.access - len(rows)
    return handed[at], found._replace(access=at)


def _is_folded(program: Program) -> bool:
    """Whether some cores stand for others, so that not all instructions are there."""
    return any(engine.cores > 1 for engine in program.engines)


def _handed_out(program: Program) -> tuple[Handed, ...]:
    """What kernels answer for of the graph's outputs."""
    plan, buffers = program.plan, program.buffers
    graph = plan.semantics.graph
    in_dram = np.flatnonzero(buffers.memory == Memory.DRAM)
    place = {(int(buffers.tensor[row]), int(buffers.core[row])): int(row) for row in in_dram}
    number = {name: at for at, name in enumerate(program.tensors)}
    outputs = graph.output_names
    computed = {name for name in outputs if graph.tensors[name].kind is TensorKind.ACTIVATION}
    found = []
    for at, kernel in enumerate(plan.kernels):
        handed = kernel.outputs.keys() & computed
        for name in sorted(handed):
            key = number.get(name, -1), CLUSTER_CORE - plan.cluster_of(at)
            found.append(Handed(at, name, kernel.outputs[name], place.get(key, -1)))
    return tuple(part for part in found if not is_empty(part.box))


def _is_passed_over(program: Program) -> Flags:
    """Buffers of which nothing is to be told: rules 1 and 2."""
    memory, tensors = program.buffers.memory, program.plan.semantics.graph.tensors
    is_given = np.array(
        [tensors[name].kind is not TensorKind.ACTIVATION for name in program.tensors], np.bool_
    )
    is_far = (memory == Memory.GB) | (memory == Memory.DRAM)
    is_full = (memory == Memory.DRAM) & is_given[program.buffers.tensor]
    return np.asarray(is_full | (is_far & _is_folded(program)))


def _first(buffer: NDArray[Any], accesses: Accesses, is_looked_at: Flags) -> Unwritten | None:
    """The first access of these buffers that reads what is not written yet; None: there is none."""
    order = np.argsort(buffer, kind="stable")
    order = order[is_looked_at[buffer[order]]]
    if not len(order):
        return None
    run_at = np.flatnonzero(np.diff(buffer[order], prepend=-2) != 0)
    # Copies, so that the accesses of a buffer lie side by side: each look would miss the cache.
    instruction, write, (lo, hi) = accesses
    boxes = (rows_of(lo, order), rows_of(hi, order))
    run = (int64(instruction[order]), np.array(write[order], dtype=np.bool_), boxes)
    found, writer, part = first_unwritten(int64(np.append(run_at, len(order))), run)
    if found < 0:
        return None
    least, most = np.maximum(part[0], boxes[0][found]), np.minimum(part[1], boxes[1][found])
    box = tuple(zip(least.tolist(), most.tolist(), strict=True))
    return Unwritten(int(order[found]), box, None if writer == NEVER else int(writer))
