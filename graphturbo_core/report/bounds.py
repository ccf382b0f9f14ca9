"""Lower bounds of the latency: of model and chip alone, of the plan's shares, of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from graphturbo_core.errors import InvariantError
from graphturbo_core.hardware.hardware import EngineKind, Hardware
from graphturbo_core.ir.boxes import Box, full_box, intersect, is_empty, volume
from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.lowering.program import Program
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    FusionKind,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.semantics.work import total_macs, vector_work, work_of
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.trace import Trace

ROUNDING = 1e-9
"""Share by which a bound in floating point may exceed whole cycles."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Seconds below which no schedule can come, and the distinct bytes the first one counts."""

    lower_bound_s: float
    plan_bound_s: float
    critical_path_s: float
    compulsory_bytes: int

    def check(self, latency_s: float) -> None:
        """No Trace is shorter than any of the three.

        Raises:
            InvariantError: naming the bound and both times.
        """
        bounds = {
            "lower_bound_s": self.lower_bound_s,
            "plan_bound_s": self.plan_bound_s,
            "program_critical_path_s": self.critical_path_s,
        }
        for name, bound_s in bounds.items():
            if bound_s > latency_s * (1 + ROUNDING):
                raise InvariantError("REPORT_BOUND", f"{name} {bound_s} exceeds {latency_s} s")


def bounds(outcome: Outcome) -> Bounds:
    """All three bounds for the chip and the whole batch (design, section 6)."""
    hardware, number_format = outcome.hardware, outcome.named.number_format
    size_bytes = compulsory_bytes(outcome.whole, number_format)
    found = Bounds(
        lower_bound_s=model_bound_s(outcome.whole, hardware, number_format, size_bytes),
        plan_bound_s=_slowest_share(outcome, _round_bound_s),
        critical_path_s=_slowest_share(
            outcome, lambda trace: trace.critical_path_cycles / hardware.clock_hz
        ),
        compulsory_bytes=size_bytes,
    )
    found.check(outcome.makespan / hardware.clock_hz)
    return found


def _slowest_share(outcome: Outcome, seconds_of: Callable[[Trace], float]) -> float:
    """The cluster with the largest sum over its rounds."""
    seconds = {size: seconds_of(trace) for size, trace in outcome.traces.items()}
    return max(
        sum(count * seconds[size] for size, count in share.rounds)
        for share in outcome.division.shares
    )


def model_bound_s(
    sem: GraphSemantics, hardware: Hardware, number_format: str, size_bytes: int
) -> float:
    """The largest of MACs, vector work and distinct bytes over the chip's own peaks.

    Grouped products may run on either engine, so all MACs are held against both engines' peaks
    together, and those of the others against the matrix engines' alone.
    """
    cores = hardware.clusters * hardware.cores * hardware.clock_hz
    matrix = cores * hardware.peak_macs_per_cycle(number_format)
    vector = cores * hardware.peak_vector_per_cycle(number_format)
    return max(
        _matrix_only_macs(sem) / matrix,
        total_macs(sem) / (matrix + vector),
        vector_work(sem, hardware.transcendental_ops) / vector,
        size_bytes / (hardware.clusters * hardware.dram_bandwidth),
    )


def _matrix_only_macs(sem: GraphSemantics) -> int:
    return sum(
        work_of(semantics, full_box(semantics.output_shapes[0])).macs
        for semantics in sem.by_op.values()
        if semantics.contraction is not None and semantics.contraction.groups == 1
    )


def _round_bound_s(trace: Trace) -> float:
    """What this program moves and computes in a round, over one cluster's peaks."""
    program, plan = trace.program, trace.program.plan
    hardware, moved = plan.hardware, ledger(trace.program)
    cores = hardware.cores * hardware.clock_hz
    matrix, vector = (_work_of(program, kind) for kind in (EngineKind.MATRIX, EngineKind.VECTOR))
    return max(
        matrix / (cores * hardware.peak_macs_per_cycle(plan.number_format)),
        vector / (cores * hardware.peak_vector_per_cycle(plan.number_format)),
        (moved.dram_read_bytes + moved.dram_write_bytes) / hardware.dram_bandwidth,
        (moved.gb_read_bytes + moved.gb_write_bytes) / hardware.gb_bandwidth,
    )


def _work_of(program: Program, kind: EngineKind) -> int:
    """MACs (and, on the vector engine, element-operations) that engines of this kind do."""
    is_kind = [engine.kind is kind for engine in program.engines]
    rows = [is_kind[engine] for engine in program.engine.tolist()]
    work = program.macs if kind is EngineKind.MATRIX else program.macs + program.vector_ops
    return int(work[rows].sum())


def compulsory_bytes(sem: GraphSemantics, number_format: str) -> int:
    """Distinct bytes that must cross DRAM: inputs and weights as far as they are read, outputs."""
    tensors = sem.graph.tensors
    reads: dict[str, list[tuple[Box, int]]] = {}
    for tensor, box, elements in _outer_reads(sem):
        reads.setdefault(tensor, []).append((box, elements))
    touched = {tensor: _union_at_least(parts) for tensor, parts in reads.items()}
    for tensor in sem.graph.outputs:
        if tensors[tensor].kind is TensorKind.ACTIVATION:
            touched[tensor] = tensors[tensor].elements
    return sum(
        elements * element_bytes(tensors[tensor].dtype, number_format)
        for tensor, elements in touched.items()
    )


def _outer_reads(sem: GraphSemantics) -> Iterator[tuple[str, Box, int]]:
    """Every read of a graph input or weight: its box, and the elements of it that are needed."""
    for semantics in sem.by_op.values():
        for shape, reads in zip(semantics.output_shapes, semantics.accesses, strict=True):
            for read in reads:
                if sem.graph.tensors[read.tensor].kind is not TensorKind.ACTIVATION:
                    yield read.tensor, read.box(full_box(shape)), _needed(semantics, read, shape)


def _needed(semantics: OpSemantics, read: InputAccess, shape: tuple[int, ...]) -> int:
    """Elements needed for a whole output.

    An op that only moves elements needs at most one for each of its own: of a gathered table
    min(table, rows asked for).
    """
    out_box = full_box(shape)
    elements = 1
    for axis in read.axes:
        elements *= _axis_elements(axis, out_box)
    is_mover = semantics.fusion is FusionKind.INJECTIVE
    return min(elements, volume(out_box)) if is_mover else elements


def _axis_elements(axis: AxisMap, out_box: Box) -> int:
    """Distinct places of an input axis; a stride above the window skips some."""
    lo, hi = axis.interval(out_box)
    if axis.out_axis < 0 or axis.kind not in {AxisKind.WINDOW, AxisKind.OFFSET}:
        return hi - lo
    first, last = out_box[axis.out_axis]
    per_output = axis.kernel if axis.kind is AxisKind.WINDOW else 1
    return min(hi - lo, (last - first) * per_output)


def _union_at_least(parts: Iterable[tuple[Box, int]]) -> int:
    """Elements of boxes that do not meet, largest first: no more than the union holds."""
    kept: list[Box] = []
    total = 0
    for box, elements in sorted(set(parts), key=lambda part: (-part[1], part[0])):
        if all(is_empty(intersect(box, other)) for other in kept):
            kept.append(box)
            total += elements
    return total
