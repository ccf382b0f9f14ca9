"""Program -> the first element that is computed or moved other than once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.boxes import Box, contains, extents, is_empty
from graphturbo_core.products.arrays import owners
from graphturbo_core.products.program import InstructionKind, IntArray, Program
from graphturbo_core.verify.local import TileTask

Wrong = tuple[int, str]
"""A row and its fault; row -1: no single row."""


def wrong_coverage(program: Program, tasks: Mapping[int, TileTask]) -> Wrong | None:
    """The first result that is computed outside of the plan, not at all or more than once.

    Each element counts the summed elements of its reduced axis. Ops that only copy may be missing:
    their result is then a view, and the replay checks its numbers.
    """
    of_kernel: list[list[int]] = [[] for _ in program.plan.kernels]
    for row in tasks:
        of_kernel[int(program.kernel[row])].append(row)
    for kernel, rows in enumerate(of_kernel):
        found = _of_kernel(program, kernel, {row: tasks[row] for row in rows})
        if found is not None:
            return found
    return None


def _of_kernel(program: Program, kernel: int, tasks: Mapping[int, TileTask]) -> Wrong | None:
    plan = program.plan.kernels[kernel]
    depth: dict[str, NDArray[np.int32]] = {}
    last: dict[str, int] = {}
    for row, task in tasks.items():
        name = task.op.outputs[task.index]
        whole = plan.boxes.get(name)
        if whole is None or not contains(whole, task.box):
            return row, f"{name!r} {task.box} is computed and not planned: {whole}"
        if name not in depth:
            depth[name] = np.zeros(extents(whole), dtype=np.int32)
        lo, hi = (0, _reduce_size(task)) if task.cut is None else task.cut
        depth[name][_inside(task.box, whole)] += hi - lo
        last[name] = row
    for name, row in last.items():
        if (depth[name] != _reduce_size(tasks[row])).any():
            return row, f"elements of {name!r} are left out, or computed more than once"
    return _left_out(program, kernel, frozenset(depth))


def _reduce_size(task: TileTask) -> int:
    contraction = task.semantics.contraction
    return 1 if contraction is None else contraction.reduce_size


def _inside(box: Box, whole: Box) -> tuple[slice, ...]:
    return tuple(slice(lo - a, hi - a) for (lo, hi), (a, _) in zip(box, whole, strict=True))


def _left_out(program: Program, kernel: int, computed: frozenset[str]) -> Wrong | None:
    sem, plan = program.plan.semantics, program.plan.kernels[kernel]
    for name, box in plan.boxes.items():
        if name in computed or name not in plan.bindings or is_empty(box):
            continue
        semantics = sem.by_op[sem.graph.producer[name].name]
        if not (semantics.is_view or semantics.is_joint):
            return -1, f"kernel {plan.name!r} does not compute {name!r}"
    return None


def moved_twice(program: Program) -> tuple[int, int] | None:
    """Two moves that write the same element of a buffer; None if there are none."""
    owner = owners(program.access_at)
    is_brought = program.access_write & (program.kind[owner] != InstructionKind.COMPUTE)
    rows = np.flatnonzero(is_brought)
    if not len(rows):
        return None
    order = rows[np.argsort(program.access_buffer[rows], kind="stable")]
    buffers, starts = np.unique(program.access_buffer[order], return_index=True)
    for buffer, group in zip(buffers.tolist(), np.split(order, starts[1:]), strict=True):
        pair = _meeting(program, buffer, group) if len(group) > 1 else None
        if pair is not None:
            return int(owner[pair[0]]), int(owner[pair[1]])
    return None


def _meeting(program: Program, buffer: int, group: IntArray) -> tuple[int, int] | None:
    """Two writes of a buffer that overlap; None if there are none. Marks the buffer's elements."""
    lo, hi = program.access_lo, program.access_hi
    base, top = program.buffers.lo[buffer], program.buffers.hi[buffer]
    writer = np.full(top - base, -1, dtype=np.int32)
    for access in group.tolist():
        first, end = lo[access] - base, hi[access] - base
        part = writer[tuple(slice(a, b) for a, b in zip(first, end, strict=True))]
        if (part >= 0).any():
            return int(part[part >= 0][0]), access
        part[...] = access
    return None
