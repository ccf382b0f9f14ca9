"""Trace -> numbers of the graph outputs: every instruction run in simulated time on its own boxes.

Instructions read at their start and write at their end. Within a cycle, ends precede starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from graphturbo_core.hardware.hardware import CLUSTER_CORE
from graphturbo_core.ir.boxes import Box, contains, extents, intersect, is_empty, volume
from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.products.program import Memory
from graphturbo_core.verify.faults import Fault, ReplayFaultError
from graphturbo_core.verify.local import LocalOperand, TileTask, slices, tile_result
from graphturbo_core.verify.replay.memory import Shadow, Values
from graphturbo_core.verify.replay.script import Script, Touch, Touched
from graphturbo_core.verify.single_op import Array, OpRunner
from graphturbo_core.verify.static.lookups import looked_up_elements

ACCUMULATOR_BYTES = 4
"""Bytes of a partial sum, which is fp32 (design, section 4)."""
PROGRESS_EVERY = 256
"""Instructions per progress report."""

OnProgress = Callable[[int, int], None]
"""Callback with the numbers of replayed instructions and of all instructions."""
Given = Mapping[str, Array]
"""Numbers of graph inputs and weights by name."""
Watch = Callable[[Touched, Array], tuple[float, float] | None]
"""Compares the finished result of a compute; returns (expected, got) where it differs."""


def replay(
    script: Script,
    given: Given,
    runner: OpRunner,
    watch: Watch | None = None,
    on_progress: OnProgress | None = None,
) -> dict[str, Array]:
    """The numbers of every graph output that instructions write.

    Raises:
        ReplayFaultError: the first instruction that reads missing numbers, overwrites bytes in use,
            or (with `watch`) has a different result.
        ModelError: NO_KERNEL for an op that no runtime supports.
    """
    return _Replay(script, given, runner, watch).run(on_progress)


class _Replay:
    def __init__(self, script: Script, given: Given, runner: OpRunner, watch: Watch | None) -> None:
        self.script = script
        self.program = script.program
        self.runner = runner
        self.watch = watch
        self.shadow = Shadow(script.program)
        self.values = Values(script.program)
        self.flying: dict[int, list[tuple[int, Touch]]] = {}
        self.results: dict[int, list[Array]] = {}
        self.left = np.bincount(
            script.program.access_buffer, minlength=len(script.program.buffers.memory)
        ).tolist()
        self.outputs: dict[str, dict[int, int]] = {}
        self._fill(given)

    def _fill(self, given: Given) -> None:
        """Puts graph inputs and weights into DRAM; outputs' buffers never close."""
        buffers, graph = self.program.buffers, self.script.graph
        for buffer in np.flatnonzero(buffers.memory == Memory.DRAM).tolist():
            name = self.program.tensors[int(buffers.tensor[buffer])]
            if graph.tensors[name].kind is not TensorKind.ACTIVATION:
                self.shadow.take(buffer)
                self.values.give(buffer, given[name])
            elif name in graph.outputs:
                core = int(buffers.core[buffer])
                self.outputs.setdefault(name, {})[CLUSTER_CORE - core] = buffer
                self.left[buffer] += 1

    def run(self, on_progress: OnProgress | None) -> dict[str, Array]:
        total, done = self.program.size, 0
        self.script.check()
        self._check_sizes()
        for is_start, row in self.script.events:
            if is_start:
                self._start(row)
                continue
            self._end(row)
            done += 1
            if on_progress is not None and done % PROGRESS_EVERY == 0:
                on_progress(done, total)
        return {name: self._output(name, found) for name, found in self.outputs.items()}

    def _check_sizes(self) -> None:
        """Checks that every buffer has the bytes of its box in the run's number format.

        A buffer that a lookup fills has the bytes of the looked-up elements.
        """
        program, tensors = self.program, self.script.graph.tensors
        looked_up = looked_up_elements(program).tolist()
        by_row = enumerate(self.script.touches)
        for row, touch in ((row, touch) for row, touches in by_row for touch in touches):
            name = program.tensors[int(program.buffers.tensor[touch.buffer])]
            size = element_bytes(tensors[name].dtype, program.plan.number_format)
            if program.buffers.memory[touch.buffer] == Memory.STAGING:
                size = ACCUMULATOR_BYTES
            there = int(program.buffers.size_bytes[touch.buffer])
            elements = volume(self.values.boxes[touch.buffer])
            if looked_up[touch.buffer] >= 0:
                elements = min(elements, looked_up[touch.buffer])
            wanted = size * elements
            if there < wanted:
                what = f"buffer {touch.buffer} has {there} bytes for {wanted}"
                raise self.script.fault("BUFFER_SIZE", what, row, touch)

    def _start(self, row: int) -> None:
        touches = self.script.touches[row]
        for touch in touches:
            self._check_inside(row, touch)
            if not touch.is_write:
                self._check_there(row, touch)
        is_compute = row in self.script.tasks
        self.results[row] = self._compute(row) if is_compute else self._move(row)
        for touch in touches:
            if touch.is_write and not self.values.is_open(touch.buffer):
                self._open(row, touch)
            self._check_free(row, touch)
        for touch in touches:
            self.flying.setdefault(touch.buffer, []).append((row, touch))

    def _check_inside(self, row: int, touch: Touch) -> None:
        if not contains(self.values.boxes[touch.buffer], touch.box):
            what = f"{touch.box} is not in buffer {touch.buffer}: {self.values.boxes[touch.buffer]}"
            raise self.script.fault("OUTSIDE", what, row, touch)

    def _check_there(self, row: int, touch: Touch) -> None:
        if not self.values.is_open(touch.buffer) or not self.shadow.owns(touch.buffer):
            what = f"{touch.tensor!r} is read from bytes with other content, or with none"
            raise self.script.fault("NOT_THERE", what, row, touch)

    def _open(self, row: int, touch: Touch) -> None:
        """Gives the bytes to their first writer; previous owners must not be in use."""
        for other in sorted(self.shadow.take(touch.buffer)):
            if self.flying.get(other):
                what = f"takes bytes of buffer {other}, which is in use"
                raise self.script.fault("IN_USE", what, row, touch)
            self.values.close(other)
        self.values.open(touch.buffer)

    def _check_free(self, row: int, touch: Touch) -> None:
        for other, flying in self.flying.get(touch.buffer, ()):
            is_pair = touch.is_write or flying.is_write
            if is_pair and not is_empty(intersect(touch.box, flying.box)):
                what = f"{touch.tensor!r} {touch.box} is still in use by instruction {other}"
                raise self.script.fault("IN_USE", what, row, touch)

    def _read(self, row: int, touch: Touch) -> Array:
        numbers = self.values.read(touch.buffer, touch.box)
        if numbers is None:
            what = f"{touch.tensor!r} {touch.box} was never written"
            raise self.script.fault("NOT_WRITTEN", what, row, touch)
        return numbers

    def _move(self, row: int) -> list[Array]:
        """One copy of the source's numbers per target."""
        touches = self.script.touches[row]
        source = next(touch for touch in touches if not touch.is_write)
        numbers = self._read(row, source)
        found = []
        for touch in touches:
            if not touch.is_write:
                continue
            if volume(touch.box) != numbers.size or not self._is_same(source, touch):
                what = f"{source.tensor!r} {source.box} is moved to {touch.tensor!r} {touch.box}"
                raise self.script.fault("MOVE", what, row, touch)
            found.append(numbers.copy())
        return found

    @staticmethod
    def _is_same(source: Touch, target: Touch) -> bool:
        """Whether both ends name the same box, where both name the same tensor."""
        return source.tensor != target.tensor or source.box == target.box

    def _compute(self, row: int) -> list[Array]:
        task, write = self.script.tasks[row]
        reads = [touch for touch in self.script.touches[row] if not touch.is_write]
        self._check_core(row)
        sums = [touch for touch in reads if touch.tensor == write.tensor]
        if bool(sums) != task.is_partial:
            what = "adds to no partial sum" if task.is_partial else "adds to an earlier sum"
            raise self.script.fault("PARTIAL_SUM", what, row, write)
        operands = self._operands(row, task, [touch for touch in reads if touch not in sums])
        if not self._is_result(write, task.box):
            raise self.script.fault("RESULT", f"{task.box} goes to {write.box}", row, write)
        result = tile_result(task, operands, self.runner)
        for touch in sums:
            result = result + self._read(row, touch).reshape(result.shape)
        if self.watch is not None and self._is_finished(task):
            self._check_result(row, write, task, result)
        return [result]

    def _is_result(self, write: Touch, box: Box) -> bool:
        """Whether a result goes to its own box; in another tensor's buffer, to one of its size."""
        name = self.program.tensors[int(self.program.buffers.tensor[write.buffer])]
        is_own = name == write.tensor
        return write.box == box if is_own else volume(write.box) == volume(box)

    def _check_core(self, row: int) -> None:
        """Checks a compute's memories: its core's own; GB or DRAM for an op larger than LB."""
        core = self.program.engines[int(self.program.engine[row])].core
        buffers, is_passing = self.program.buffers, self._is_passing(row)
        for touch in self.script.touches[row]:
            is_beyond_lb = int(buffers.memory[touch.buffer]) >= Memory.GB
            if is_beyond_lb if is_passing else int(buffers.core[touch.buffer]) == core:
                continue
            what = f"core {core} computes in buffer {touch.buffer} of another memory"
            raise self.script.fault("OTHER_CORE", what, row, touch)

    def _is_passing(self, row: int) -> bool:
        """Whether the op is larger than LB, so that its bytes stream through an LB."""
        semantics = self.program.plan.semantics
        return semantics.graph.ops[int(self.program.op[row])].name in semantics.passing_ops

    @staticmethod
    def _is_finished(task: TileTask) -> bool:
        contraction = task.semantics.contraction
        return task.cut is None or contraction is None or task.cut[1] == contraction.reduce_size

    def _check_result(self, row: int, write: Touch, task: TileTask, result: Array) -> None:
        assert self.watch is not None
        differing = self.watch(Touched(row, write.tensor, task.box), result)
        if differing is not None:
            expected, got = differing
            what = f"{write.tensor!r} {task.box} should be {expected:.6g} and is {got:.6g}"
            fault = self.script.fault("RESULT", what, row, write).fault
            raise ReplayFaultError(_with_numbers(fault, task.box, expected, got))

    def _operands(self, row: int, task: TileTask, reads: Sequence[Touch]) -> list[LocalOperand]:
        """Numbers of each box that the op needs, from the matching reads.

        A tensor that is needed several times is matched in order; one read may serve all of them.
        """
        by_name: dict[str, list[Touch]] = {}
        for touch in reads:
            by_name.setdefault(touch.tensor, []).append(touch)
        found = []
        served: set[Touch] = set()
        for access, box in task.reads():
            known = by_name.get(access.tensor, [])
            if not known:
                write = self.script.tasks[row][1]
                what = f"needs {access.tensor!r} {box} and does not read it"
                raise self.script.fault("OPERAND", what, row, write)
            parts = self._parts_of(row, known, box)
            if parts:
                served.update(parts)
                found.append(LocalOperand(access, box, self._assembled(row, parts, box)))
                continue
            touch = known.pop(0) if len(known) > 1 else known[0]
            served.add(touch)
            self._check_box(row, touch, box)
            numbers = self._read(row, touch).reshape(extents(box))
            found.append(LocalOperand(access, box, numbers))
        for touch in reads:
            if touch not in served:
                what = f"reads {touch.tensor!r} {touch.box}, which it does not need"
                raise self.script.fault("OPERAND", what, row, touch)
        return found

    def _parts_of(self, row: int, known: Sequence[Touch], box: Box) -> list[Touch]:
        """Reads of several buffers that together cover a box; empty where one read covers it.

        Only ops that read GB or DRAM directly do so: their operand has one buffer per writer.
        """
        core = self.program.engines[int(self.program.engine[row])].core
        is_beyond_lb = core == CLUSTER_CORE or self._is_passing(row)
        if not is_beyond_lb or any(touch.box == box for touch in known):
            return []
        parts = [touch for touch in known if contains(box, touch.box)]
        is_whole = sum(volume(touch.box) for touch in parts) == volume(box)
        return parts if is_whole else []

    def _assembled(self, row: int, parts: Sequence[Touch], box: Box) -> Array:
        """The numbers of a box from the reads that cover it; an element read twice is a fault."""
        first = self._read(row, parts[0])
        numbers = np.empty(extents(box), dtype=first.dtype)
        there = np.zeros(extents(box), dtype=np.bool_)
        for touch in parts:
            inside = tuple(
                slice(lo - base, hi - base)
                for (lo, hi), (base, _) in zip(touch.box, box, strict=True)
            )
            if there[inside].any():
                what = f"{touch.tensor!r} {touch.box} is read twice"
                raise self.script.fault("OPERAND", what, row, touch)
            there[inside] = True
            numbers[inside] = self._read(row, touch).reshape(extents(touch.box))
        return numbers

    def _check_box(self, row: int, touch: Touch, box: Box) -> None:
        """Checks that the box read is the box needed; in another tensor's buffer, only its size."""
        name = self.program.tensors[int(self.program.buffers.tensor[touch.buffer])]
        is_right = touch.box == box if name == touch.tensor else volume(touch.box) == volume(box)
        if not is_right:
            what = f"needs {touch.tensor!r} {box} and reads {touch.box}"
            raise self.script.fault("OPERAND", what, row, touch)

    def _end(self, row: int) -> None:
        results = iter(self.results.pop(row))
        touches = self.script.touches[row]
        for touch in touches:
            flying = self.flying[touch.buffer]
            flying[:] = [pair for pair in flying if pair[0] != row]
            if touch.is_write:
                self.values.write(touch.buffer, touch.box, next(results))
        for touch in touches:
            self.left[touch.buffer] -= 1
            if not self.left[touch.buffer]:
                self.values.close(touch.buffer)

    def _output(self, name: str, buffers: Mapping[int, int]) -> Array:
        """An output joined from its kernels' parts; `buffers`: its buffer per cluster."""
        plan = self.program.plan
        found: Array = np.empty(0)
        parts = [
            (buffers.get(plan.cluster_of(number), -1), kernel.outputs[name])
            for number, kernel in enumerate(plan.kernels)
            if name in kernel.outputs
        ]
        for place, (buffer, box) in enumerate(parts):
            numbers = None
            if self.values.is_open(buffer) and self.shadow.owns(buffer):
                numbers = self.values.read(buffer, box)
            if numbers is None:
                what = f"output {name!r} is not complete in DRAM"
                raise ReplayFaultError(Fault("OUTPUT", what, -1, "", name, (), -1, -1))
            if not place:
                found = np.empty(self.script.graph.tensors[name].shape, numbers.dtype)
            found[slices(box)] = numbers
        return found


def _with_numbers(fault: Fault, box: Box, expected: float, got: float) -> Fault:
    return Fault(
        fault.rule, fault.what, fault.instruction, fault.op, fault.tensor, box, fault.core,
        fault.cycle, expected, got,
    )  # fmt: skip
