"""Section -> work and outside reads of its pieces: closed forms, before binding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphturbo_core.hardware.hardware import EngineKind, Hardware
from graphturbo_core.ir.boxes import Box
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.semantics.cost import compute_cycles
from graphturbo_core.semantics.propagate import needed_boxes
from graphturbo_core.semantics.work import work_of
from graphturbo_core.strategies.steps.instances import Section
from graphturbo_core.strategies.steps.kernels import Target

Boxes = Mapping[str, Box]


@dataclass(frozen=True, slots=True)
class PieceWork:
    """Cost of one piece: cycles of all matrix and of all vector work, and the boxes it reads."""

    matrix_cycles: int
    vector_cycles: int
    activations: Boxes
    weights: Boxes

    def cycles(self, cores: int) -> int:
        """Compute cycles, divided evenly over the cores, each with engines of its own."""
        return max(self.matrix_cycles, self.vector_cycles) // cores

    def engine_cycles(self, hardware: Hardware) -> int:
        """Compute cycles, divided evenly over a cluster's engines; cores may share them."""
        matrix = self.matrix_cycles // hardware.matrix_engines
        return max(matrix, self.vector_cycles // hardware.cores)


def piece_work(target: Target, section: Section, piece: int) -> PieceWork:
    """Returns the work of one piece, halos included, and its reads; linear in the ops."""
    sem, graph = target.semantics, target.semantics.graph
    ops = [graph.op_by_name[name] for name in section.ops]
    boxes = needed_boxes(sem, ops, section.piece_outputs(sem, piece))
    own = {name for op in ops for name in op.outputs}
    work = {EngineKind.MATRIX: 0, EngineKind.VECTOR: 0}
    computed = (op for op in ops if not sem.by_op[op.name].is_view)
    results = ((op, index) for op in computed for index, name in enumerate(op.outputs) if name)
    for op, index in results:
        semantics = sem.by_op[op.name]
        done = work_of(semantics, boxes[op.outputs[index]], index)
        kind, cycles = compute_cycles(done, semantics, target.hardware, target.number_format)
        work[kind] += cycles
    read = {name: box for name, box in boxes.items() if name not in own}
    weights = {n: b for n, b in read.items() if graph.tensors[n].kind is TensorKind.WEIGHT}
    activations = {name: box for name, box in read.items() if name not in weights}
    return PieceWork(work[EngineKind.MATRIX], work[EngineKind.VECTOR], activations, weights)
