"""A Program run on identities instead of numbers: which tensor's elements lie in which buffer.

Everything is worked out anew from the op semantics and the Trace's times; lowering's own stages,
tiles and placements are not looked at.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from graphturbo_core.ir.boxes import Box, contains, is_empty, volume, with_interval
from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.ir.graph import Op, TensorKind
from graphturbo_core.products.program import InstructionKind, Memory, Program
from graphturbo_core.semantics.access import InputAccess, OpSemantics
from graphturbo_core.sim.trace import Trace
from graphturbo_core.verify.replay.script import Touch
from tests.lowering.asked import carried_elements
from tests.lowering.identities import Identities, is_same, slices

UNDEFINED = 0
DEPTHS = 1 << 20
"""More than the largest reduced axis; tells partial sums of one element apart."""
ACCUMULATOR_BYTES = 4
COMPUTE = InstructionKind.COMPUTE


class ReplayError(AssertionError):
    """A rule is broken; the message names the instruction and the buffer."""


class Result(NamedTuple):
    """Output number, its tensor, and the box of it that a compute works on."""

    index: int
    tensor: str
    box: Box


class View:
    """A Program's rows as Python values."""

    def __init__(self, program: Program) -> None:
        self.program = program
        buffers, names = program.buffers, program.tensors
        self.ids = Identities(program.plan.semantics.graph)
        self.tensors = [names[number] for number in buffers.tensor]
        self.boxes = self._boxes(self.tensors, buffers.lo, buffers.hi)
        owners = program.access_buffer.tolist()
        boxes = self._boxes(
            [self.tensors[buffer] for buffer in owners], program.access_lo, program.access_hi
        )
        writes = program.access_write.tolist()
        taken_for = [names[number] for number in program.access_tensor]
        accesses = [Touch(*row) for row in zip(owners, writes, boxes, taken_for, strict=True)]
        ends = program.access_at.tolist()
        self.touches = [accesses[a:b] for a, b in pairwise(ends)]

    def _boxes(self, tensors: list[str], lo: np.ndarray, hi: np.ndarray) -> list[Box]:
        """Boxes of as many axes as their tensor has; the others must say [0, 1)."""
        known = self.program.plan.semantics.graph.tensors
        ranks = np.array([len(known[name].shape) for name in tensors], dtype=np.int64)
        is_extra = np.arange(lo.shape[1]) >= ranks[:, None]
        assert (lo[is_extra] == 0).all()
        assert (hi[is_extra] == 1).all()
        return [
            tuple(zip(a[:rank], b[:rank], strict=True))
            for a, b, rank in zip(lo.tolist(), hi.tolist(), ranks.tolist(), strict=True)
        ]

    def op(self, row: int) -> Op:
        return self.program.plan.semantics.graph.ops[int(self.program.op[row])]

    def cut(self, row: int) -> tuple[int, int] | None:
        """The cut of the reduced axis; None where all of it is summed at once."""
        lo, hi = int(self.program.reduce_lo[row]), int(self.program.reduce_hi[row])
        return None if hi < 0 else (lo, hi)

    def result(self, row: int) -> Result:
        """What a compute works on."""
        name = self.written(row).tensor
        rank = len(self.program.plan.semantics.graph.tensors[name].shape)
        lo, hi = self.program.result_lo[row].tolist(), self.program.result_hi[row].tolist()
        assert not any(lo[rank:])
        assert set(hi[rank:]) <= {1}
        box = tuple(zip(lo[:rank], hi[:rank], strict=True))
        return Result(self.op(row).outputs.index(name), name, box)

    def written(self, row: int) -> Touch:
        (write,) = (touch for touch in self.touches[row] if touch.is_write)
        return write


def label(program: Program, row: int) -> str:
    kind = InstructionKind(int(program.kind[row])).name
    op = program.plan.semantics.graph.ops[int(program.op[row])].name
    return f"#{row} {kind} of {op!r} tile {program.tile[row]} in kernel {program.kernel[row]}"


def needed(
    semantics: OpSemantics, access: InputAccess, out_box: Box, cut: tuple[int, int] | None
) -> Box:
    """The box of an input that a tile reads, the cut of K applied."""
    box = access.box(out_box)
    contraction = semantics.contraction
    if cut is None or contraction is None:
        return box
    if access.tensor == contraction.weight:
        return with_interval(box, contraction.weight_reduce_axis, cut)
    if access.tensor == contraction.data:
        return with_interval(box, contraction.data_reduce_axis, cut)
    return box


def replay(trace: Trace) -> None:
    """Run a Trace: every read finds what it needs, nothing is overwritten while in use.

    Raises:
        ReplayError: at the first instruction that breaks a rule.
    """
    _Replay(trace).run()


def _partial(ids: np.ndarray, depth: int) -> np.ndarray:
    """Elements summed up to `depth` of the reduced axis."""
    return -(ids * DEPTHS + depth)


class _Replay:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.program = trace.program
        self.view = View(trace.program)
        self.graph = trace.program.plan.semantics.graph
        self.ids = self.view.ids
        self.content: dict[int, np.ndarray] = {}
        self.live: dict[tuple[int, int], set[int]] = {}
        self.flying: dict[int, list[tuple[int, Touch]]] = {}
        self.touches = self.view.touches
        self.results: dict[int, np.ndarray] = {}
        self._fill_given()

    def run(self) -> None:
        for _, is_start, row in self._events():
            if is_start:
                self._start(row)
            else:
                self._end(row)
        self._check_outputs()

    def _events(self) -> list[tuple[int, bool, int]]:
        """At one cycle ends come before starts."""
        rows = range(self.program.size)
        start, end = self.trace.start, self.trace.end
        assert (end > start).all()
        return sorted(
            [(int(start[row]), True, row) for row in rows]
            + [(int(end[row]), False, row) for row in rows]
        )

    def _fill_given(self) -> None:
        for buffer, tensor in enumerate(self.view.tensors):
            is_dram = self.program.buffers.memory[buffer] == Memory.DRAM
            if is_dram and self.graph.tensors[tensor].kind is not TensorKind.ACTIVATION:
                self._open(buffer)[...] = self.ids.of[tensor]

    def _space(self, buffer: int) -> tuple[int, int]:
        memory = int(self.program.buffers.memory[buffer])
        if self.program.plan.hardware.is_pooled and memory == Memory.LB_WEIGHT:
            memory = int(Memory.LB_DATA)
        return memory, int(self.program.buffers.core[buffer])

    def _open(self, buffer: int) -> np.ndarray:
        """The buffer takes its bytes: whoever had them loses its content."""
        buffers = self.program.buffers
        live = self.live.setdefault(self._space(buffer), set())
        start, size = buffers.offset[buffer], buffers.size_bytes[buffer]
        for other in sorted(live):
            is_apart = buffers.offset[other] >= start + size or (
                buffers.offset[other] + buffers.size_bytes[other] <= start
            )
            if is_apart:
                continue
            if self.flying.get(other):
                raise ReplayError(f"buffer {buffer} takes bytes of {other}, which is in use")
            live.discard(other)
            del self.content[other]
        live.add(buffer)
        shape = tuple(hi - lo for lo, hi in self.view.boxes[buffer])
        self.content[buffer] = np.zeros(shape, dtype=np.int64)  # `UNDEFINED`
        return self.content[buffer]

    def _part(self, touch: Touch) -> np.ndarray:
        """The content of a box of a buffer."""
        whole = self.view.boxes[touch.buffer]
        if not contains(whole, touch.box):
            raise ReplayError(f"{touch} does not lie in its buffer {whole}")
        inside = (
            ...,
            *(
                slice(lo - base, hi - base)
                for (lo, hi), (base, _) in zip(touch.box, whole, strict=True)
            ),
        )
        return self.content[touch.buffer][inside]

    def _start(self, row: int) -> None:
        for touch in self.touches[row]:
            if not touch.is_write and touch.buffer not in self.content:
                self._fail(row, touch, "its bytes hold something else by now, or nothing yet")
        is_compute = self.program.kind[row] == COMPUTE
        self.results[row] = self._compute(row) if is_compute else self._move(row)
        for touch in self.touches[row]:
            if touch.is_write and touch.buffer not in self.content:
                self._open(touch.buffer)
            self._check_free(row, touch)
        for touch in self.touches[row]:
            self.flying.setdefault(touch.buffer, []).append((row, touch))

    def _check_free(self, row: int, touch: Touch) -> None:
        for other, flying in self.flying.get(touch.buffer, ()):
            is_pair = touch.is_write or flying.is_write
            if is_pair and all(
                a < d and c < b for (a, b), (c, d) in zip(touch.box, flying.box, strict=True)
            ):
                self._fail(row, touch, f"{label(self.program, other)} is still at it")

    def _end(self, row: int) -> None:
        result = self.results.pop(row)
        for touch in self.touches[row]:
            self.flying[touch.buffer] = [
                pair for pair in self.flying[touch.buffer] if pair[0] != row
            ]
        for touch in self.touches[row]:
            if touch.is_write:
                part = self._part(touch)
                part[...] = result.reshape(part.shape)

    def _compute(self, row: int) -> np.ndarray:
        """What the tile holds afterwards: its elements, or partial sums up to the end of K."""
        op = self.view.op(row)
        semantics = self.program.plan.semantics.by_op[op.name]
        write = self.view.written(row)
        index, name, out_box = self.view.result(row)
        cut = self.view.cut(row)
        reads = [touch for touch in self.touches[row] if not touch.is_write]
        explained: set[int] = set()
        for access in semantics.accesses[index]:
            box = needed(semantics, access, out_box, cut)
            if not is_empty(box):
                ids = self.ids.box(access.tensor, box)
                explained |= self._find(row, reads, ids, (access.tensor, box))
        contraction = semantics.contraction
        depth = contraction.reduce_size if contraction is not None else 1
        value = self.ids.box(name, out_box)
        if cut is not None and cut[0] > 0:
            sums = _partial(value, cut[0])
            explained |= self._find(row, reads, sums, (name, out_box))
        if explained != set(range(len(reads))):
            raise ReplayError(f"{label(self.program, row)} reads what it does not need")
        is_whole = cut is None or cut[1] == depth
        self._check_place(row, write, 1 if is_whole else ACCUMULATOR_BYTES)
        return value if cut is None or is_whole else _partial(value, cut[1])

    def _find(
        self, row: int, reads: list[Touch], ids: np.ndarray, wanted: tuple[str, Box]
    ) -> set[int]:
        """The reads that give these elements and say so; several for an op of x and x."""
        found = {
            place
            for place, touch in enumerate(reads)
            if touch.tensor == wanted[0] and is_same(self._part(touch), ids)
        }
        return found or self._find_parts(row, reads, ids, wanted)

    def _find_parts(
        self, row: int, reads: list[Touch], ids: np.ndarray, wanted: tuple[str, Box]
    ) -> set[int]:
        """An engine of the cluster may read a box from several buffers, each element from one."""
        tensor, box = wanted
        corner = [lo for lo, _ in box]
        whole = np.full([hi - lo for lo, hi in box], UNDEFINED, dtype=ids.dtype)
        found: set[int] = set()
        for place, touch in enumerate(reads):
            is_part = touch.tensor == tensor and contains(box, touch.box)
            if not is_part or self.program.engines[self.program.engine[row]].core >= 0:
                continue
            shifted = tuple(
                (lo - base, hi - base) for (lo, hi), base in zip(touch.box, corner, strict=True)
            )
            part = self._part(touch)
            if (whole[slices(shifted)] != UNDEFINED).any():
                raise ReplayError(f"{label(self.program, row)} reads {touch.box} twice")
            whole[slices(shifted)] = part.reshape(whole[slices(shifted)].shape)
            found.add(place)
        if not is_same(whole, ids):
            raise ReplayError(f"{label(self.program, row)} does not find {wanted}")
        return found

    def _check_place(self, row: int, write: Touch, least_bytes: int) -> None:
        """A compute works on its own core's LB, in buffers that are large enough."""
        buffers = self.program.buffers
        core = self.program.engines[self.program.engine[row]].core
        if any(buffers.core[touch.buffer] != core for touch in self.touches[row]):
            raise ReplayError(f"{label(self.program, row)} uses another core's LB")
        if buffers.size_bytes[write.buffer] < least_bytes * volume(write.box):
            self._fail(row, write, "its buffer is too small")

    def _move(self, row: int) -> np.ndarray:
        """What a move carries: of every target's tensor, the elements of its box."""
        (source,) = (touch for touch in self.touches[row] if not touch.is_write)
        carried = self._part(source)
        for touch in self.touches[row]:
            tensor = self.view.tensors[touch.buffer]
            if touch.is_write and not is_same(carried, self.ids.box(tensor, touch.box)):
                self._fail(row, touch, "that is not, or not all, what its source holds")
            size = carried_elements(self.program, row, tensor, touch.box) * element_bytes(
                self.graph.tensors[tensor].dtype, self.program.plan.number_format
            )
            if self.program.size_bytes[row] != size or self.program.halo_bytes[row] > size:
                self._fail(row, touch, f"{self.program.size_bytes[row]} bytes, not {size}")
            if self.program.buffers.size_bytes[touch.buffer] < size:
                self._fail(row, touch, "its buffer is too small")
        return carried.copy()

    def _check_outputs(self) -> None:
        for name in self.graph.outputs:
            known = self.graph.tensors[name]
            if known.kind is not TensorKind.ACTIVATION or not known.elements:
                continue
            found = [
                buffer
                for buffer in self.live.get((int(Memory.DRAM), -1), ())
                if self.view.tensors[buffer] == name
            ]
            is_there = len(found) == 1 and np.array_equal(self.content[found[0]], self.ids.of[name])
            if not is_there:
                raise ReplayError(f"output {name!r} is not whole in DRAM")

    def _fail(self, row: int, touch: Touch, why: str) -> None:
        tensor = self.view.tensors[touch.buffer]
        what = f"{label(self.program, row)} {'writes' if touch.is_write else 'reads'} {tensor!r}"
        raise ReplayError(f"{what} {touch.box} in buffer {touch.buffer}: {why}")
