"""Section -> work and outside reads of its pieces: closed forms, before binding."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from graphturbo_core.hardware.hardware import EngineKind, Hardware
from graphturbo_core.ir.boxes import Box, volume
from graphturbo_core.ir.graph import Op, TensorKind
from graphturbo_core.semantics.cost import compute_cycles
from graphturbo_core.semantics.propagate import Needs, needed_boxes, needs_of
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.semantics.work import work_of
from graphturbo_core.strategies.steps.instances import Section
from graphturbo_core.strategies.steps.kernels import Target

Boxes = Mapping[str, Box]


@dataclass(frozen=True, slots=True)
class PieceWork:
    """Cost of one piece: cycles of all matrix and of all vector work, and what it reads.

    `activations`: boxes. `weights`: elements; of a table, one per element that is looked up, or all
    if these are fewer.
    """

    matrix_cycles: int
    vector_cycles: int
    activations: Boxes
    weights: Mapping[str, int]

    def weight_bytes(self, target: Target, pieces: int = 1) -> int:
        """Bytes of weights that so many pieces read, each element counted once."""
        tensors, width = target.semantics.graph.tensors, target.element_bytes
        return sum(
            min(pieces * elements, tensors[name].elements) * width[name]
            for name, elements in self.weights.items()
        )

    def cycles(self, cores: int) -> int:
        """Compute cycles, divided evenly over the cores, each with engines of its own."""
        return max(self.matrix_cycles, self.vector_cycles) // cores

    def engine_cycles(self, hardware: Hardware) -> int:
        """Compute cycles, divided evenly over a cluster's engines; cores may share them.

        Matrix and vector engines take turns, since a layer reads the one before it (our choice:
        simulated, their busy shares add up to about 1 where compute is the limit).
        """
        matrix = self.matrix_cycles // hardware.matrix_engines
        return matrix + self.vector_cycles // hardware.cores


@dataclass(frozen=True)
class PieceWorks:
    """Work of pieces of one model's sections; an op's work and needs of a box are computed once."""

    target: Target
    _needs: dict[tuple[str, int, Box], Needs] = field(default_factory=dict)
    _work: dict[tuple[int, int, Box], tuple[EngineKind, int]] = field(default_factory=dict)

    def __call__(self, section: Section, piece: int) -> PieceWork:
        """Returns the work of one piece, halos included, and its reads; linear in the ops."""
        sem, graph = self.target.semantics, self.target.semantics.graph
        ops = [graph.op_by_name[name] for name in section.ops]
        boxes = needed_boxes(sem, ops, section.piece_outputs(sem, piece), self._needs_of)
        own = {name for op in ops for name in op.outputs}
        work = {EngineKind.MATRIX: 0, EngineKind.VECTOR: 0}
        computed = (op for op in ops if not sem.by_op[op.name].is_view)
        results = ((op, index) for op in computed for index, name in enumerate(op.outputs) if name)
        for op, index in results:
            kind, cycles = self._work_of(op, index, boxes[op.outputs[index]])
            work[kind] += cycles
        read = {name: box for name, box in boxes.items() if name not in own}
        weights = {
            name: self._read_elements(name, boxes, own)
            for name in read
            if graph.tensors[name].kind is TensorKind.WEIGHT
        }
        activations = {name: box for name, box in read.items() if name not in weights}
        return PieceWork(work[EngineKind.MATRIX], work[EngineKind.VECTOR], activations, weights)

    def _read_elements(self, weight: str, boxes: Boxes, own: Collection[str]) -> int:
        """Elements of a weight that the ops with the results `own` read."""
        results = self.target.semantics.lookups.get(weight)
        size = volume(boxes[weight])
        if results is None:
            return size
        return min(size, sum(volume(boxes[name]) for name in results if name in own))

    def _needs_of(self, sem: GraphSemantics, op: Op, index: int, wanted: Box) -> Needs:
        key = op.name, index, wanted
        found = self._needs.get(key)
        if found is None:
            found = self._needs[key] = needs_of(sem, op, index, wanted)
        return found

    def _work_of(self, op: Op, index: int, box: Box) -> tuple[EngineKind, int]:
        """Engine and cycles; ops of one kind have equal work."""
        sem, chip = self.target.semantics, self.target.hardware
        key = sem.kinds[op.name], index, box
        found = self._work.get(key)
        if found is None:
            semantics = sem.by_op[op.name]
            done = work_of(semantics, box, index)
            found = compute_cycles(done, semantics, chip, self.target.number_format)
            self._work[key] = found
        return found


def piece_work(target: Target, section: Section, piece: int) -> PieceWork:
    """Returns the work of one piece; `PieceWorks` for many of one model."""
    return PieceWorks(target)(section, piece)
