"""Program -> the first move whose halo bytes disagree with the plan's pieces.

Halos are computed from the plan and from the computes' results, without lowering's stages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.boxes import Box, Interval, hull, intersect, volume
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.products.program import InstructionKind, Memory, Program
from graphturbo_core.semantics.access import AxisKind, AxisMap
from graphturbo_core.verify.static.causes import Wrong

_BEYOND_LB = (Memory.GB, Memory.DRAM)
_LOADS = (InstructionKind.LOAD, InstructionKind.PREFETCH)


def wrong_halo(program: Program) -> Wrong | None:
    """The first move whose halo is not the bytes beyond its reader's own part; None if none.

    1. Weights, stores and moves between cores have no halo.
    2. A load of an activation serves one tile if its buffer is one of several, else the core's
       share; a prefetch for a later kernel serves all of that kernel's part. Elements that the
       tile or share computes beyond its piece count as halo.
    """
    count = _HaloCount(program)
    for row in np.flatnonzero(program.kind != InstructionKind.COMPUTE).tolist():
        stated, wanted = int(program.halo_bytes[row]), count.of(row)
        if stated not in wanted:
            return row, f"has {stated} halo bytes, not {' or '.join(map(str, sorted(wanted)))}"
    return None


class _HaloCount:
    """Halo bytes of a program's moves; caches readers, shares and tiles."""

    def __init__(self, program: Program) -> None:
        self.program, self.plan = program, program.plan
        self.graph = program.plan.semantics.graph
        self._reads: dict[int, dict[str, list[tuple[tuple[AxisMap, ...], str]]]] = {}
        self._owned: dict[int, dict[str, Box]] = {}
        self._shares: dict[tuple[int, str], Mapping[int, Box]] = {}

    def of(self, row: int) -> set[int]:
        """Possible halo bytes of a move; several where readers of its tensor differ."""
        program = self.program
        read, write = self._ends(row)
        source, target = (int(program.access_buffer[access]) for access in (read, write))
        name = program.tensors[int(program.buffers.tensor[source])]
        is_load = program.kind[row] in _LOADS and program.buffers.memory[source] in _BEYOND_LB
        if not is_load or self.graph.tensors[name].kind is TensorKind.WEIGHT:
            return {0}
        box = self._box(program.access_lo[read], program.access_hi[read], name)
        kernel, whole = int(program.kernel[row]), volume(box)
        reads = [
            (kernel, axes, output, out_box)
            for axes, output in self._readers(kernel, name)
            for out_box in self._computed(row, target, output)
        ]
        found = set()
        for reader, axes, output, out_box in (*reads, *self._later_reads(row, name)):
            own = self._own(axes, output, intersect(out_box, self._answered(reader)[output]))
            beyond = whole - volume(intersect(box, own))
            found.add(int(program.size_bytes[row]) * beyond // whole)
        return found

    def _later_reads(
        self, row: int, name: str
    ) -> Iterator[tuple[int, tuple[AxisMap, ...], str, Box]]:
        """Kernel, axis maps, output and its box of reads for which a kernel prefetches an input."""
        if self.program.kind[row] != InstructionKind.PREFETCH:
            return
        for stay in self.plan.stays:
            if stay.first == int(self.program.kernel[row]) and stay.weight == name:
                for axes, output in self._readers(stay.last, name):
                    yield stay.last, axes, output, self.plan.kernels[stay.last].boxes[output]

    def _ends(self, row: int) -> tuple[int, int]:
        """The access that a move reads, and the first one that it writes."""
        at = range(int(self.program.access_at[row]), int(self.program.access_at[row + 1]))
        read = next(access for access in at if not self.program.access_write[access])
        return read, next(access for access in at if self.program.access_write[access])

    def _box(self, lo: NDArray[np.int32], hi: NDArray[np.int32], name: str) -> Box:
        rank = len(self.graph.tensors[name].shape)
        return tuple(zip(lo[:rank].tolist(), hi[:rank].tolist(), strict=True))

    def _readers(self, kernel: int, name: str) -> Sequence[tuple[tuple[AxisMap, ...], str]]:
        """Reads of a tensor in a kernel: axis maps, and the output of the reading op."""
        if kernel not in self._reads:
            self._reads[kernel] = self._all_reads(kernel)
        return self._reads[kernel].get(name, ())

    def _all_reads(self, kernel: int) -> dict[str, list[tuple[tuple[AxisMap, ...], str]]]:
        """`_readers` of every tensor."""
        found: dict[str, list[tuple[tuple[AxisMap, ...], str]]] = {}
        boxes = self.plan.kernels[kernel].boxes
        for op in self.plan.kernels[kernel].ops:
            outputs = self.graph.op_by_name[op].outputs
            reads = zip(outputs, self.plan.semantics.by_op[op].accesses, strict=False)
            pairs = ((each, output) for output, group in reads if output in boxes for each in group)
            for access, output in pairs:
                found.setdefault(access.tensor, []).append((access.axes, output))
        return found

    def _computed(self, row: int, target: int, output: str) -> Iterator[Box]:
        """Boxes of a result for which a move may fetch the operand: its tile's, or a share."""
        kernel, core = int(self.program.kernel[row]), int(self.program.buffers.core[target])
        if self._is_tile(kernel, target):
            boxes = self._reading_tile(kernel, output, int(self.program.tile[row]))
            yield from boxes.values() if core not in boxes else (boxes[core],)
            return
        box = self.plan.kernels[kernel].boxes[output]
        if (kernel, output) not in self._shares:
            self._shares[kernel, output] = self.plan.kernels[kernel].bindings[output].shares(box)
        yield self._shares[kernel, output].get(core % self.plan.hardware.cores, box)

    def _is_tile(self, kernel: int, target: int) -> bool:
        """Whether the core has several buffers of the tensor (a ring)."""
        buffers = self.program.buffers
        key = kernel, int(buffers.tensor[target]), int(buffers.core[target])
        return len(self._targets[key]) > 1

    @cached_property
    def _targets(self) -> dict[tuple[int, int, int], set[int]]:
        """Buffers that loads write, by kernel, tensor and core."""
        program, found = self.program, dict[tuple[int, int, int], set[int]]()
        for row in np.flatnonzero(np.isin(program.kind, _LOADS)).tolist():
            buffer = int(program.access_buffer[self._ends(row)[1]])
            tensor, core = (int(x[buffer]) for x in (program.buffers.tensor, program.buffers.core))
            found.setdefault((int(program.kernel[row]), tensor, core), set()).add(buffer)
        return found

    def _reading_tile(self, kernel: int, output: str, tile: int) -> Mapping[int, Box]:
        """Box of a result that each core computes with an operand that was fetched for a tile.

        A product cut along K numbers a tile per cut. Operands of the ops after it may come with
        the first cut, and these ops compute with the last one: theirs is the next tile.
        """
        tiles = self._tiles.get((kernel, self.graph.producer[output].name), {})
        last = max(tiles, default=-1)
        return next((tiles[each] for each in range(tile, last + 1) if each in tiles), {})

    @cached_property
    def _tiles(self) -> dict[tuple[int, str], dict[int, dict[int, Box]]]:
        """Box that each core computes, by kernel, op and tile; tiles run in any order."""
        program, found = self.program, dict[tuple[int, str], dict[int, dict[int, Box]]]()
        for row in np.flatnonzero(program.kind == InstructionKind.COMPUTE).tolist():
            op = self.graph.ops[int(program.op[row])]
            core = program.engines[int(program.engine[row])].core
            box = self._box(program.result_lo[row], program.result_hi[row], op.outputs[0])
            tiles = found.setdefault((int(program.kernel[row]), op.name), {})
            tiles.setdefault(int(program.tile[row]), {})[core] = box
        return found

    def _answered(self, kernel: int) -> dict[str, Box]:
        """A kernel's own boxes: its outputs, and the parts of inner tensors that belong to them."""
        if kernel not in self._owned:
            self._owned[kernel] = self._answers(kernel)
        return self._owned[kernel]

    def _answers(self, number: int) -> dict[str, Box]:
        kernel = self.plan.kernels[number]
        if self.plan.groups[kernel.group].pieces == 1:
            return dict(kernel.boxes)
        found = dict(kernel.outputs)
        made = [out for op in kernel.ops for out in self.graph.op_by_name[op].outputs]
        for name in reversed([out for out in made if out in kernel.boxes]):
            parts = [
                intersect(self._own(axes, output, found[output]), kernel.boxes[name])
                for axes, output in self._readers(number, name)
            ]
            if name not in found:
                found[name] = reduce(hull, parts) if parts else kernel.boxes[name]
        return found

    def _own(self, axes: tuple[AxisMap, ...], output: str, out_box: Box) -> Box:
        """The part of an operand that belongs to a part of a result; such parts do not overlap."""
        shape = self.graph.tensors[output].shape
        own = []
        for axis in axes:
            part: Interval = (0, axis.size)
            lo, hi = out_box[axis.out_axis] if axis.out_axis >= 0 else (0, 0)
            is_offset = axis.kind is AxisKind.OFFSET
            # A slice of a whole axis: the rest belongs to other readers.
            if is_offset and hi - lo < shape[axis.out_axis]:
                part = axis.interval(out_box)
            # Of a reshape's inner axes every part has all: its first axis is divided.
            elif not is_offset and axis.kind is not AxisKind.INNER and axis.out_axis >= 0:
                rows = max(1, shape[axis.out_axis])
                part = lo * axis.size // rows, hi * axis.size // rows
            own.append(part)
        return tuple(own)
