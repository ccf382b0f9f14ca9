"""Whether every box that an instruction reads, and every graph output, was written before.

Replay checks this on numbers. This check uses the Program's arrays only and runs every time. It
compares sequence numbers: `ordering.py` checks that an earlier write has ended.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.hardware.hardware import CLUSTER_CORE
from graphturbo_core.ir.boxes import Box, is_empty
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.products.arrays import int64, owners, pack_boxes, rows_of
from graphturbo_core.products.program import Memory, Program
from graphturbo_core.sim.checks.first_writes import NEVER, Accesses, Flags, first_unwritten


class Unwritten(NamedTuple):
    """A box that is read before it is written.

    `access`: a row of the access table, or an index of the graph's outputs. `writer`: the first
    instruction that writes a part of `box`; None: none does.
    """

    access: int
    box: Box
    writer: int | None


class OutputPart(NamedTuple):
    """A part of a graph output that a kernel writes to DRAM; `buffer` -1: it has no buffer."""

    kernel: int
    tensor: str
    box: Box
    buffer: int


def unwritten_read(program: Program) -> Unwritten | None:
    """The first read of a box that no earlier instruction wrote, buffer by buffer; None: none.

    1. Graph inputs and weights are in DRAM from the start.
    2. If cores represent equivalent ones, GB and DRAM are not checked: the writes of the cores that
       are not simulated are unknown.
    3. In all other buffers an element is written by its first writer. An instruction reads before
       it writes.

    Cost: writes times the depth of the tree that divides a buffer, plus reads times the parts that
    they intersect.
    """
    accesses = (owners(program.access_at), program.access_write)
    boxes = (program.access_lo, program.access_hi)
    return _first(program.access_buffer, (*accesses, boxes), ~_is_unchecked(program))


def unwritten_output(program: Program) -> tuple[OutputPart, Unwritten] | None:
    """The first part of a graph output that is not in DRAM at the end; None: there is none.

    Not checked if cores represent equivalent ones (rule 2 of `unwritten_read`).
    """
    parts = () if _is_folded(program) else _output_parts(program)
    if not parts:
        return None
    buffer = np.array([part.buffer for part in parts], dtype=np.int64)
    lo, hi = pack_boxes([part.box for part in parts])
    is_used = np.zeros(len(program.buffers.memory) + 1, dtype=np.bool_)
    is_used[buffer] = True
    rows = np.flatnonzero(program.access_write & is_used[program.access_buffer])
    both = np.concatenate((program.access_buffer[rows], buffer))
    instruction = np.append(owners(program.access_at)[rows], [program.size] * len(parts))
    boxes = (
        np.concatenate((program.access_lo[rows], lo)),
        np.concatenate((program.access_hi[rows], hi)),
    )
    write = np.arange(len(both)) < len(rows)
    found = _first(both, (instruction, write, boxes), is_used)
    if found is None:
        return None
    at = found.access - len(rows)
    return parts[at], found._replace(access=at)


def _is_folded(program: Program) -> bool:
    """Whether some cores represent equivalent ones, whose instructions are not in the Program."""
    return any(engine.cores > 1 for engine in program.engines)


def _output_parts(program: Program) -> tuple[OutputPart, ...]:
    """Non-empty parts of graph outputs that kernels compute."""
    plan, buffers = program.plan, program.buffers
    graph = plan.semantics.graph
    in_dram = np.flatnonzero(buffers.memory == Memory.DRAM)
    place = {(int(buffers.tensor[row]), int(buffers.core[row])): int(row) for row in in_dram}
    number = {name: at for at, name in enumerate(program.tensors)}
    outputs = graph.output_names
    computed = {name for name in outputs if graph.tensors[name].kind is TensorKind.ACTIVATION}
    parts = []
    for at, kernel in enumerate(plan.kernels):
        for name in sorted(kernel.outputs.keys() & computed):
            key = number.get(name, -1), CLUSTER_CORE - plan.cluster_of(at)
            parts.append(OutputPart(at, name, kernel.outputs[name], place.get(key, -1)))
    return tuple(part for part in parts if not is_empty(part.box))


def _is_unchecked(program: Program) -> Flags:
    """Per buffer, whether rule 1 or 2 of `unwritten_read` excludes it."""
    memory, tensors = program.buffers.memory, program.plan.semantics.graph.tensors
    is_given = np.array(
        [tensors[name].kind is not TensorKind.ACTIVATION for name in program.tensors], np.bool_
    )
    is_far = (memory == Memory.GB) | (memory == Memory.DRAM)
    is_full = (memory == Memory.DRAM) & is_given[program.buffers.tensor]
    return np.asarray(is_full | (is_far & _is_folded(program)))


def _first(buffer: NDArray[Any], accesses: Accesses, is_checked: Flags) -> Unwritten | None:
    """The first access of the checked buffers that reads an unwritten box; None: there is none."""
    order = np.argsort(buffer, kind="stable")
    order = order[is_checked[buffer[order]]]
    if not len(order):
        return None
    run_at = np.flatnonzero(np.diff(buffer[order], prepend=-2) != 0)
    # Copies, so that the accesses of a buffer are contiguous: without them, reads miss the cache.
    instruction, write, (lo, hi) = accesses
    boxes = (rows_of(lo, order), rows_of(hi, order))
    run = (int64(instruction[order]), np.array(write[order], dtype=np.bool_), boxes)
    found, writer, part = first_unwritten(int64(np.append(run_at, len(order))), run)
    if found < 0:
        return None
    least, most = np.maximum(part[0], boxes[0][found]), np.minimum(part[1], boxes[1][found])
    box = tuple(zip(least.tolist(), most.tolist(), strict=True))
    return Unwritten(int(order[found]), box, None if writer == NEVER else int(writer))
