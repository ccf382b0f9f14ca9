"""Lower bounds of the latency: of model and chip alone, of the plan's shares, of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graphturbo_core.errors import InvariantError
from graphturbo_core.hardware.hardware import EngineKind, Hardware
from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.products.program import Program
from graphturbo_core.report.bounds.bound_steps import BoundSteps, bound_steps
from graphturbo_core.report.bounds.engine_bounds import engine_load
from graphturbo_core.report.bounds.need import ModelNeed, computed_outputs, model_need
from graphturbo_core.report.bounds.regions import Region, region_of
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.semantics.cost import product_peaks
from graphturbo_core.semantics.independence import taken_as_sample_wise
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.trace import Trace
from graphturbo_core.units import seconds_from_cycles

ROUNDING = 1e-9
"""Share by which a bound in floating point may exceed whole cycles."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower bounds of the latency in seconds, and the distinct bytes of the whole batch.

    `terms_s`: lower bound per resource; the largest is the lower bound of the run. `steps`: from it
    to the latency.
    """

    lower_bound_s: float
    plan_bound_s: float
    critical_path_s: float
    compulsory_bytes: int
    terms_s: Mapping[str, float]
    steps: BoundSteps

    def check(self, latency_s: float) -> None:
        """Compares the latency with the three bounds.

        Raises:
            InvariantError: the latency is below a bound; names the bound and both times.
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

    No division is faster than all work and bytes over all clusters: that counts where the need of a
    share's samples is not known, behind a Gather by indices without numbers.

    `need`: of the whole batch.

    Raises:
        InvariantError: the run is shorter than one of them.
    """
    number_format = outcome.named.number_format
    shares = min(
        (
            model_terms_s(sem, own, outcome.hardware, (number_format, clusters))
            for sem, own, clusters in _divisions(outcome, need)
        ),
        key=lambda found: max(found.values()),
    )
    run = number_format, outcome.hardware.clusters
    whole = model_terms_s(outcome.model, need, outcome.hardware, run)
    terms = {term: max(own, whole[term]) for term, own in shares.items()}
    lower_bound_s = max(terms.values())
    found = Bounds(
        lower_bound_s=lower_bound_s,
        plan_bound_s=max(lower_bound_s, _slowest_share(outcome, _round_bound_s)),
        critical_path_s=_slowest_share(
            outcome, lambda trace: trace.longest_chain_cycles / outcome.hardware.clock_hz
        ),
        compulsory_bytes=compulsory_bytes(outcome.model, need, number_format),
        terms_s=terms,
        steps=bound_steps(outcome, terms),
    )
    found.check(outcome.makespan / outcome.hardware.clock_hz)
    return found


def _divisions(
    outcome: Outcome, need: ModelNeed
) -> Iterator[tuple[GraphSemantics, ModelNeed, int]]:
    """Ways to divide the batch: semantics, need, and the number of clusters that share them.

    1. Each cluster computes whole samples: the largest share counts, with all weights.
    2. Clusters that share a round read every weight once together (`Division.clusters_a_round`).
    """
    division = outcome.division
    yield *share_need(outcome, need), 1
    if division.clusters_a_round > 1 and outcome.hardware.can_cooperate:
        yield outcome.model, need, division.clusters_a_round


def share_need(outcome: Outcome, need: ModelNeed) -> tuple[GraphSemantics, ModelNeed]:
    """Semantics and need of a cluster's largest share, computed for the first samples.

    Samples are independent where the batch is divided, so opaque ops count sample by sample. Work
    that does not grow with the results counts in proportion to the share.
    """
    whole, batch = outcome.model, outcome.division.batch
    samples = outcome.division.shares[0].samples
    if samples == batch:
        return whole, need
    part = outcome.plan.semantics.graph
    outputs = {
        name: _of_samples(region, part.tensors[name].shape, (samples, batch))
        for name, region in computed_outputs(whole.graph).items()
    }
    sem = taken_as_sample_wise(whole) if whole.opaque_ops else whole
    by_op = {
        name: replace(op, fixed_ops=op.fixed_ops * samples // batch) if op.fixed_ops else op
        for name, op in sem.by_op.items()
    }
    sem = replace(sem, by_op=by_op)
    return sem, model_need(sem, outputs)


def _of_samples(region: Region, small: Sequence[int], samples: tuple[int, int]) -> Region:
    """Region of an output's first samples; `small`: its shape for these samples."""
    (places,) = region.parts
    if tuple(map(len, places)) == tuple(small):
        return region
    rows = len(places[0]) * samples[0] // samples[1]
    shape = tuple(map(len, places))
    return region_of(shape, ((range(rows), *places[1:]),), 0, is_exact=True)


def _slowest_share(outcome: Outcome, seconds_of: Callable[[Trace], float]) -> float:
    """The largest sum of seconds over the rounds of any cluster."""
    seconds = {size: seconds_of(trace) for size, trace in outcome.traces.items()}
    return max(
        sum(count * seconds[size] for size, count in share.rounds)
        for share in outcome.division.shares
    )


def compulsory_bytes(sem: GraphSemantics, need: ModelNeed, number_format: str) -> int:
    """Distinct bytes that must cross DRAM: the read parts of inputs and weights, and outputs."""
    return sum(
        elements * element_bytes(sem.graph.tensors[tensor].dtype, number_format)
        for tensor, elements in need.touched.items()
    )


def model_terms_s(
    sem: GraphSemantics, need: ModelNeed, hardware: Hardware, run: tuple[str, int]
) -> dict[str, float]:
    """`model_terms` in seconds."""
    cycles = model_terms(sem, need, hardware, run)
    return {term: seconds_from_cycles(n, hardware.clock_hz) for term, n in cycles.items()}


def round_bound(sem: GraphSemantics, hardware: Hardware, run: tuple[str, int]) -> int:
    """Lower bound in cycles of one round of the model; `run` as in `model_terms`.

    Raises:
        CapacityError: NEED_TOO_SCATTERED, an op reads too many places to list.
    """
    return max(model_terms(sem, model_need(sem), hardware, run).values())


def model_terms(
    sem: GraphSemantics, need: ModelNeed, hardware: Hardware, run: tuple[str, int]
) -> dict[str, int]:
    """Lower bound in cycles per resource.

    `run`: number format, and number of clusters that share the work. `matrix` and `vector`: work
    that only engines of this kind can do. `engines`: all work, with grouped (depthwise) products in
    the best division between both kinds. `dram`: each compulsory byte once (`compulsory_bytes`).
    """
    number_format, clusters = run
    load = engine_load(sem, need.regions, hardware, number_format)
    engines = clusters * hardware.matrix_engines, clusters * hardware.cores
    own = load.cycles(*engines)
    size_bytes = compulsory_bytes(sem, need, number_format)
    return {
        "matrix": own[EngineKind.MATRIX],
        "vector": own[EngineKind.VECTOR],
        "engines": load.together(*engines),
        "dram": hardware.transfer_cycles(size_bytes, clusters * hardware.dram_bandwidth),
    }


def _round_bound_s(trace: Trace) -> float:
    """Bound of one round in seconds: the program's work and bytes over its clusters' peak rates."""
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
    """MACs (on the vector engine also element operations) of the engines of this kind."""
    is_kind = [engine.kind is kind for engine in program.engines]
    rows = [is_kind[engine] for engine in program.engine.tolist()]
    work = program.macs if kind is EngineKind.MATRIX else program.macs + program.vector_ops
    return int(work[rows].sum())
