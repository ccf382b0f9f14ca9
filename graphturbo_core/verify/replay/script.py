"""Trace -> Script: its rows as Python values, and the checks that need no numbers."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from graphturbo_core.ir.boxes import Box
from graphturbo_core.products.program import InstructionKind, Program
from graphturbo_core.sim.trace import Trace
from graphturbo_core.verify.faults import Fault, ReplayFaultError
from graphturbo_core.verify.local import TileTask
from graphturbo_core.verify.replay.memory import boxes_of
from graphturbo_core.verify.static.causes import wrong_cause
from graphturbo_core.verify.static.claims import wrong_claim, wrong_cost
from graphturbo_core.verify.static.coverage import moved_twice, wrong_coverage
from graphturbo_core.verify.static.halo_bytes import wrong_halo


class Touch(NamedTuple):
    """One access: its buffer, its box in it, and the tensor as which it is accessed."""

    buffer: int
    is_write: bool
    box: Box
    tensor: str


class Touched(NamedTuple):
    """Result of a compute: its row, the tensor that it writes, and the box."""

    row: int
    tensor: str
    box: Box


class Script:
    """A Trace's rows as Python values; one script serves every share of the batch."""

    def __init__(self, trace: Trace) -> None:
        """Reads the arrays once."""
        self.trace = trace
        self.program: Program = trace.program
        self.semantics = trace.program.plan.semantics
        self.graph = self.semantics.graph

    @cached_property
    def touches(self) -> list[list[Touch]]:
        """Accesses of every instruction."""
        program = self.program
        names = [program.tensors[number] for number in program.buffers.tensor]
        tensors = self.graph.tensors
        owners = program.access_buffer.tolist()
        ranks = [len(tensors[names[buffer]].shape) for buffer in owners]
        boxes = boxes_of(ranks, program.access_lo, program.access_hi)
        labels = [program.tensors[number] for number in program.access_tensor]
        rows = zip(owners, program.access_write.tolist(), boxes, labels, strict=True)
        found = [Touch(*row) for row in rows]
        return [found[a:b] for a, b in pairwise(program.access_at.tolist())]

    @cached_property
    def events(self) -> list[tuple[bool, int]]:
        """Pairs (is a start, row) in order of time."""
        count = self.program.size
        cycle = np.concatenate((self.trace.end, self.trace.start))
        is_start = np.repeat([False, True], count)
        row = np.tile(np.arange(count), 2)
        order = np.lexsort((row, is_start, cycle))
        return list(zip(is_start[order].tolist(), row[order].tolist(), strict=True))

    @cached_property
    def tasks(self) -> dict[int, tuple[TileTask, Touch]]:
        """Per compute row, its task and the access that writes its result."""
        program = self.program
        found = {}
        for row in np.flatnonzero(program.kind == InstructionKind.COMPUTE).tolist():
            op = self.graph.ops[int(program.op[row])]
            write = next(touch for touch in self.touches[row] if touch.is_write)
            if write.tensor not in op.outputs:
                raise self.fault("RESULT", f"{write.tensor!r} is none of its results", row, write)
            rank = len(self.graph.tensors[write.tensor].shape)
            (box,) = boxes_of([rank], program.result_lo[[row]], program.result_hi[[row]])
            lo, hi = int(program.reduce_lo[row]), int(program.reduce_hi[row])
            index = op.outputs.index(write.tensor)
            cut = None if hi < 0 else (lo, hi)
            semantics = self.semantics.by_op[op.name]
            found[row] = (TileTask(self.graph, op, semantics, index, box, cut), write)
        return found

    def check(self) -> None:
        """Runs the checks without numbers: claims, causes, halos, costs and coverage.

        Raises:
            ReplayFaultError: a check fails; names the instruction.
        """
        claim = wrong_claim(self.program)
        if claim is not None:
            raise self._row_fault(*claim)
        cause = wrong_cause(self.program)
        if cause is not None:
            raise self._row_fault(cause[0], "CAUSE", cause[1])
        halo = wrong_halo(self.program)
        if halo is not None:
            raise self._row_fault(halo[0], "HALO", halo[1])
        tasks = {row: task for row, (task, _) in self.tasks.items()}
        for row, task in tasks.items():
            cost = wrong_cost(self.program, row, task)
            if cost is not None:
                raise self._row_fault(row, "COST", cost)
        coverage = wrong_coverage(self.program, tasks)
        if coverage is not None:
            raise self._row_fault(coverage[0], "COVERAGE", coverage[1])
        twice = moved_twice(self.program)
        if twice is not None:
            what = f"moves elements that instruction {twice[0]} moved already"
            raise self._row_fault(twice[1], "TWICE", what)

    def _row_fault(self, row: int, rule: str, what: str) -> ReplayFaultError:
        """A fault of a whole instruction, reported at its last access."""
        touches = self.touches[row] if row >= 0 else []
        if not touches:
            return ReplayFaultError(Fault(rule, what, row, "", "", (), -1, -1))
        return self.fault(rule, what, row, touches[-1])

    def fault(self, rule: str, what: str, row: int, touch: Touch) -> ReplayFaultError:
        """A fault of an instruction at one of its accesses."""
        program = self.program
        kind = InstructionKind(int(program.kind[row])).name.lower()
        op = self.graph.ops[int(program.op[row])].name if program.op[row] >= 0 else ""
        core = program.engines[int(program.engine[row])].core
        cycle = int(self.trace.start[row])
        text = f"instruction {row} ({kind} of {op!r}): {what}"
        return ReplayFaultError(Fault(rule, text, row, op, touch.tensor, touch.box, core, cycle))
