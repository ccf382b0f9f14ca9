"""Outcome -> multiply-accumulates done more than once, because pieces of a group overlap."""

from __future__ import annotations

import numpy as np

from graphturbo_core.errors import InvariantError
from graphturbo_core.ir.boxes import Box, volume
from graphturbo_core.lowering.program import Program
from graphturbo_core.report.outcome import Outcome


def halo_macs(outcome: Outcome) -> int:
    """MACs of the whole batch beyond the first time that each result is computed.

    Raises:
        InvariantError: a program does fewer than its plan's boxes ask for.
    """
    return sum(
        outcome.repeats[size] * _round_halo(trace.program) for size, trace in outcome.traces.items()
    )


def _round_halo(program: Program) -> int:
    sem = program.plan.semantics
    done = np.zeros(len(sem.graph.ops), np.int64)
    rows = np.flatnonzero(program.op >= 0)
    np.add.at(done, program.op[rows], program.macs[rows])
    boxes = _computed_boxes(program)
    total = 0
    for index, op in enumerate(sem.graph.ops):
        contraction = sem.by_op[op.name].contraction
        if contraction is None:
            continue
        once = _union(boxes.get(op.outputs[0], set())) * contraction.k
        if done[index] < once:
            what = f"op {op.name!r} does {done[index]} of {once} MACs"
            raise InvariantError("REPORT_MACS", what)
        total += int(done[index]) - once
    return total


def _computed_boxes(program: Program) -> dict[str, set[Box]]:
    """Per tensor the distinct boxes that kernels compute of it."""
    graph, found = program.plan.semantics.graph, dict[str, set[Box]]()
    for kernel in program.plan.kernels:
        for op in kernel.ops:
            for name in graph.op_by_name[op].outputs:
                if name in kernel.boxes:
                    found.setdefault(name, set()).add(kernel.boxes[name])
    return found


def _union(boxes: set[Box]) -> int:
    """Elements in any of the boxes, which differ on at most one axis: that of the split."""
    if not boxes:
        return 0
    columns = list(zip(*boxes, strict=True))
    differing = [axis for axis, column in enumerate(columns) if len(set(column)) > 1]
    if not differing:
        return volume(next(iter(boxes)))
    if len(differing) > 1:
        raise InvariantError("REPORT_HALO", f"pieces differ on axes {differing}, not on one")
    (axis,) = differing
    (first, *_) = boxes
    lo, hi = first[axis]
    return volume(first) // max(1, hi - lo) * _covered(sorted(box[axis] for box in boxes))


def _covered(intervals: list[tuple[int, int]]) -> int:
    """Places in any of the intervals, which come sorted."""
    total, reached = 0, intervals[0][0]
    for lo, hi in intervals:
        total += max(0, hi - max(lo, reached))
        reached = max(reached, hi)
    return total
