"""Lower bounds of the latency: of model and chip alone, of the plan's shares, of the program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from graphturbo_core.errors import InvariantError
from graphturbo_core.hardware.hardware import EngineKind, Hardware
from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.lowering.program import Program
from graphturbo_core.report.need import ModelNeed
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.semantics.cost import product_peaks
from graphturbo_core.semantics.table import GraphSemantics
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


def bounds(outcome: Outcome, need: ModelNeed) -> Bounds:
    """All three bounds for the chip and the whole batch (design, section 6).

    Raises:
        InvariantError: the run is shorter than one of them.
    """
    hardware, number_format = outcome.hardware, outcome.named.number_format
    size_bytes = compulsory_bytes(outcome.whole, need, number_format)
    found = Bounds(
        lower_bound_s=model_bound_s(
            need,
            hardware,
            (number_format, product_peaks(outcome.whole, hardware, number_format)),
            size_bytes,
        ),
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


def compulsory_bytes(sem: GraphSemantics, need: ModelNeed, number_format: str) -> int:
    """Distinct bytes that must cross DRAM: inputs and weights as far as read, and outputs."""
    return sum(
        elements * element_bytes(sem.graph.tensors[tensor].dtype, number_format)
        for tensor, elements in need.touched.items()
    )


def model_bound_s(
    need: ModelNeed,
    hardware: Hardware,
    rates: tuple[str, tuple[int, int]],
    size_bytes: int,
) -> float:
    """The largest of MACs, vector work and distinct bytes over the chip's own peaks.

    `rates`: the run's number format, and the peaks of products on either engine (`product_peaks`).

    Grouped products may run on either engine, so all MACs are held against both engines' peaks
    together, and those of the others against the matrix engines' alone.
    """
    cores = hardware.clusters * hardware.cores * hardware.clock_hz
    engines = hardware.clusters * hardware.matrix_engines * hardware.clock_hz
    number_format, (matrix_peak, vector_peak) = rates
    matrix = engines * matrix_peak
    vector = cores * hardware.peak_vector_per_cycle(number_format)
    return max(
        need.matrix_macs / matrix,
        need.macs / (matrix + cores * vector_peak),
        need.vector_ops / vector,
        size_bytes / (hardware.clusters * hardware.dram_bandwidth),
    )


def _round_bound_s(trace: Trace) -> float:
    """What this program moves and computes in a round, over the peaks of its clusters."""
    program, plan = trace.program, trace.program.plan
    hardware, moved, clusters = plan.hardware, ledger(trace.program), plan.clusters
    cores = clusters * hardware.cores * hardware.clock_hz
    engines = clusters * hardware.matrix_engines * hardware.clock_hz
    peaks = product_peaks(plan.semantics, hardware, plan.number_format)
    matrix, vector = (_work_of(program, kind) for kind in (EngineKind.MATRIX, EngineKind.VECTOR))
    return max(
        matrix / (engines * peaks[0]),
        vector / (cores * peaks[1]),
        (moved.dram_read_bytes + moved.dram_write_bytes) / (clusters * hardware.dram_bandwidth),
        (moved.gb_read_bytes + moved.gb_write_bytes) / max(1, clusters * hardware.gb_bandwidth),
    )


def _work_of(program: Program, kind: EngineKind) -> int:
    """MACs (and, on the vector engine, element-operations) that engines of this kind do."""
    is_kind = [engine.kind is kind for engine in program.engines]
    rows = [is_kind[engine] for engine in program.engine.tolist()]
    work = program.macs if kind is EngineKind.MATRIX else program.macs + program.vector_ops
    return int(work[rows].sum())
