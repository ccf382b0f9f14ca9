"""Outcome -> multiply-accumulates that overlapping pieces of a group repeat."""

from __future__ import annotations

import numpy as np

from graphturbo_core.errors import InvariantError
from graphturbo_core.ir.boxes import Box, is_empty
from graphturbo_core.products.program import Program
from graphturbo_core.report.outcome import Outcome


def halo_macs(outcome: Outcome) -> int:
    """MACs of the whole batch beyond the first computation of each result.

    Raises:
        InvariantError: a program does fewer MACs than its plan's boxes need.
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
    """Per tensor, the distinct boxes that kernels compute."""
    graph, found = program.plan.semantics.graph, dict[str, set[Box]]()
    for kernel in program.plan.kernels:
        outputs = (name for op in kernel.ops for name in graph.op_by_name[op].outputs)
        for name in (name for name in outputs if name in kernel.boxes):
            found.setdefault(name, set()).add(kernel.boxes[name])
    return found


def _union(boxes: set[Box]) -> int:
    """Number of elements in the union of the boxes, from the grid of all their edges."""
    full = [box for box in boxes if not is_empty(box)]
    if not full:
        return 0
    edges = [sorted({end for side in column for end in side}) for column in zip(*full, strict=True)]
    places = [{end: place for place, end in enumerate(ends)} for ends in edges]
    covered = np.zeros([len(ends) - 1 for ends in edges], np.int64)
    for box in full:
        sides = zip(places, box, strict=True)
        covered[tuple(slice(place[lo], place[hi]) for place, (lo, hi) in sides)] = 1
    for ends in reversed(edges):
        covered = covered @ np.diff(ends)
    return int(covered)
