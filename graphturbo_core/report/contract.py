"""Outcome -> the contract: the JSON that `run --json` prints (design, section 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from graphturbo_core import __version__
from graphturbo_core.products.program import Memory
from graphturbo_core.products.split_text import axes_text
from graphturbo_core.report.bounds.bounds import bounds
from graphturbo_core.report.bounds.need import ModelNeed, model_need
from graphturbo_core.report.outcome import REPLAY_STEPS, Outcome
from graphturbo_core.report.rows.assumed_rules import ASSUMED_RULES, NO_ALTERNATIVE
from graphturbo_core.report.rows.halo import halo_macs
from graphturbo_core.report.rows.layer_rows import LayerEntry, LayerRow
from graphturbo_core.report.rows.memory import Memories
from graphturbo_core.report.rows.overlap_rows import OverlapEntry, overlap
from graphturbo_core.report.rows.run_rows import layer_counts
from graphturbo_core.report.rows.traffic import stall_shares, traffic
from graphturbo_core.report.rows.verify_rows import VerifyEntry, verify_rows
from graphturbo_core.semantics.cost import product_peaks
from graphturbo_core.sim.critical_path import Resource
from graphturbo_core.strategies.options import strategy_options
from graphturbo_core.units import per_second, seconds_from_cycles

SCHEMA = 1
"""Version of the contract; rises when a key changes its meaning."""
MemoryKey = Literal["lb", "gb"]
MEMORY_KEYS: tuple[MemoryKey, ...] = ("lb", "gb")
"""Keys of the contract that describe a memory."""


class Assumption(TypedDict):
    """One assumed number, choice or rule."""

    key: str
    value: float | int | str
    source: str


class _Identity(TypedDict):
    """Identity of the run: versions, names and choices."""

    schema: int
    model: str
    profile: str
    strategy: str
    options: Mapping[str, str]
    dtype: str
    batch: int
    cluster_batch: int
    rounds: int
    notes: Sequence[str]
    assumptions: Sequence[Assumption]
    version: str
    program_sha256: str


class BoundStepsEntry(TypedDict):
    """From the lower bound to the latency: the bound's resource, and seconds per step."""

    resource: str
    steps: Mapping[str, float]


class _Times(TypedDict):
    """Latency, the bounds below it, and the seconds per resource on the critical path."""

    latency_s: float
    throughput_per_s: float
    cycles: int
    lower_bound_s: float
    lower_bound_terms: Mapping[str, float]
    plan_bound_s: float
    program_critical_path_s: float
    gap: float
    bound_steps: BoundStepsEntry
    critical_path: Mapping[str, float]
    compulsory_dram_bytes: int


class _Sizes(TypedDict):
    """Counts of the largest round."""

    kernels: int
    instructions: int
    sub_graphs_fine: int


class _FurtherSplits(TypedDict, total=False):
    """Further split axes of a group with their parts, where it has some."""

    further_splits: Sequence[Sequence[int]]


class GroupEntry(_FurtherSplits):
    """One group in the contract."""

    name: str
    ops: Sequence[str]
    layers: int
    split_axis: int
    pieces: int
    covered_ops: int
    peak_bytes: int


class _Lists(TypedDict):
    """Groups, and the kernels in their order."""

    groups: Sequence[GroupEntry]
    order: Sequence[str]


class NeededMacs(TypedDict):
    """MACs that the outputs need; a lower bound of them where not exact."""

    macs: int
    is_exact: bool


class _BytesAndWork(TypedDict):
    """Bytes and MACs of the whole batch; `dram_ledger` by cause."""

    dram_read_bytes: int
    dram_write_bytes: int
    gb_read_bytes: int
    gb_write_bytes: int
    core_to_core_bytes: int
    dram_ledger: Mapping[str, int]
    macs: int
    needed_macs: NeededMacs
    halo_macs: int


class _Busy(TypedDict):
    """Shares of the makespan by engine kind; `stalls` also by wait."""

    utilization: Mapping[str, float]
    mac_utilization: float
    stalls: Mapping[str, Mapping[str, float]]
    cross_layer_overlap: float
    overlap: OverlapEntry


class MemoryEntry(TypedDict):
    """Capacity and peak of one memory."""

    capacity_bytes: int
    peak_bytes: int


class _Memory(TypedDict):
    lb: MemoryEntry
    gb: MemoryEntry


class StepEntry(TypedDict):
    """One step of the run and its duration in seconds."""

    name: str
    seconds: float


class Contract(_Identity, _Times, _Sizes, _Lists, _BytesAndWork, _Busy, _Memory):
    """The JSON that `run --json` prints for one run (design, section 7)."""

    layers: Sequence[LayerEntry]
    verify: VerifyEntry
    steps: Sequence[StepEntry]
    schedule_seconds: float


def contract(outcome: Outcome, memories: Memories, layers: Sequence[LayerRow]) -> Contract:
    """The contract of one run, with every key."""
    need = model_need(outcome.model)
    return {
        **_identity(outcome, need),
        **_times(outcome, need),
        **_sizes(outcome),
        **_lists(outcome),
        **_bytes_and_work(outcome, need),
        **_busy(outcome),
        **_memory(outcome, memories),
        "layers": [_layer(row) for row in layers],
        "verify": verify_rows(outcome.verification),
        "steps": [{"name": step.name, "seconds": step.seconds} for step in outcome.steps],
        "schedule_seconds": sum(s.seconds for s in outcome.steps if s.name not in REPLAY_STEPS),
    }  # fmt: skip


def _layer(row: LayerRow) -> LayerEntry:
    """The contract's columns of a layer; the table of layers has more."""
    return {
        "name": row["name"],
        "op_types": row["op_types"],
        "lb_peak_bytes": row["lb_peak_bytes"],
        "lb_mean_bytes": row["lb_mean_bytes"],
        "gb_peak_bytes": row["gb_peak_bytes"],
        "start_s": row["start_s"],
        "end_s": row["end_s"],
        "group": row["group"],
    }


def _identity(outcome: Outcome, need: ModelNeed) -> _Identity:
    named, division = outcome.named, outcome.division
    return {
        "schema": SCHEMA,
        "model": named.model,
        "profile": named.profile,
        "strategy": named.strategy,
        "options": dict(named.options),
        "dtype": named.number_format,
        "batch": division.batch,
        "cluster_batch": division.cluster_batch,
        "rounds": sum(count for _, count in division.shares[0].rounds),
        "notes": [*_notes(outcome), *_unneeded_note(outcome, need)],
        "assumptions": _assumptions(outcome),
        "version": __version__,
        "program_sha256": outcome.program_sha256,
    }


def _notes(outcome: Outcome) -> list[str]:
    """Every note of every product, each once, in the order of the steps."""
    notes = [*outcome.hardware.notes, *outcome.whole.graph.notes, *outcome.whole.notes()]
    notes += outcome.division.notes
    for trace in outcome.traces.values():
        plan = trace.program.plan
        notes += [*plan.semantics.graph.notes, *plan.notes, *trace.program.notes]
    if outcome.verification is not None and outcome.verification.drawn_weights:
        drawn = outcome.verification.drawn_weights
        notes.append(f"verified with seeded random numbers for {drawn} weights without their own")
    return list(dict.fromkeys(notes))


def _unneeded_note(outcome: Outcome, need: ModelNeed) -> list[str]:
    """A note where the model computes rows that no op reads, as a stride may leave."""
    unneeded = outcome.macs - need.macs
    if not unneeded:
        return []
    if need.is_exact:
        return [f"no output needs the results of {unneeded} of the model's MACs"]
    return [f"outputs need at least {need.macs} of the model's MACs; bounds count no others"]


def _assumptions(outcome: Outcome) -> list[Assumption]:
    """Assumed numbers of the profile, choices that the paper leaves open, and rules."""
    docs = strategy_options()
    assumed: list[Assumption] = [
        {"key": number.key, "value": number.value, "source": number.source}
        for number in outcome.hardware.numbers
        if number.is_assumption
    ]
    for key, value in outcome.named.options.items():
        if key in docs:  # an edited plan is no assumption
            assumed.append({"key": key, "value": value, "source": docs[key].doc})
    for rule in ASSUMED_RULES:
        assumed.append({"key": rule.decides, "value": rule.rule, "source": NO_ALTERNATIVE})
    return assumed


def _times(outcome: Outcome, need: ModelNeed) -> _Times:
    clock_hz, found = outcome.hardware.clock_hz, bounds(outcome, need)
    latency_s = seconds_from_cycles(outcome.makespan, clock_hz)
    return {
        "latency_s": latency_s,
        "throughput_per_s": per_second(outcome.division.batch, outcome.makespan, clock_hz),
        "cycles": outcome.makespan,
        "lower_bound_s": found.lower_bound_s,
        "lower_bound_terms": dict(found.terms_s),
        "plan_bound_s": found.plan_bound_s,
        "program_critical_path_s": found.critical_path_s,
        "gap": latency_s / found.lower_bound_s,
        "bound_steps": {
            "resource": found.steps.resource,
            "steps": dict(found.steps.seconds),
        },
        "critical_path": _critical_path(outcome),
        "compulsory_dram_bytes": found.compulsory_bytes,
    }


def _critical_path(outcome: Outcome) -> dict[str, float]:
    """Seconds per resource on the critical path of a cluster that ends last.

    Its rounds follow one another, so the seconds sum to the latency.
    """
    cycles = dict.fromkeys(Resource, 0)
    for size, count in outcome.slowest_share.rounds:
        for resource, own in outcome.paths[size].cycles_by_resource().items():
            cycles[resource] += count * own
    clock_hz = outcome.hardware.clock_hz
    return {
        resource.name.lower(): seconds_from_cycles(own, clock_hz)
        for resource, own in cycles.items()
    }


def _sizes(outcome: Outcome) -> _Sizes:
    return {
        "kernels": len(outcome.plan.kernels),
        "instructions": outcome.program.size,
        "sub_graphs_fine": len(outcome.plan.layers),
    }


def _lists(outcome: Outcome) -> _Lists:
    plan = outcome.plan
    layers = layer_counts(plan, [group.ops for group in plan.groups])
    groups: list[GroupEntry] = [
        {
            "name": group.name,
            "ops": list(group.ops),
            "layers": layers[index],
            "split_axis": group.split_axis,
            "pieces": group.pieces,
            "covered_ops": group.covered_ops,
            "peak_bytes": group.peak_bytes,
            **_further(group.further_splits),
        }
        for index, group in enumerate(plan.groups)
    ]
    return {"groups": groups, "order": [kernel.name for kernel in plan.kernels]}


def _further(splits: Sequence[Sequence[int]]) -> _FurtherSplits:
    """Further split axes and their parts, where the group has some (`pieces` counts all)."""
    pairs = [list(split) for split in splits]
    return {"further_splits": pairs} if pairs else {}


def split_axes(group: GroupEntry) -> str:
    """The axes that a group is split along: `0`, `2 in 8 and 3 in 4`, `none`."""
    further = group.get("further_splits", ())
    return axes_text(group["split_axis"], group["pieces"], further) or "none"


def _bytes_and_work(outcome: Outcome, need: ModelNeed) -> _BytesAndWork:
    moved = traffic(outcome)
    return {
        "dram_read_bytes": moved.dram_read_bytes,
        "dram_write_bytes": moved.dram_write_bytes,
        "gb_read_bytes": moved.gb_read_bytes,
        "gb_write_bytes": moved.gb_write_bytes,
        "core_to_core_bytes": moved.core_to_core_bytes,
        "dram_ledger": {
            cause.name.lower(): size for cause, size in moved.causes[Memory.DRAM].items()
        },
        "macs": outcome.macs,
        "needed_macs": {"macs": need.macs, "is_exact": need.is_exact},
        "halo_macs": halo_macs(outcome),
    }


def _busy(outcome: Outcome) -> _Busy:
    hardware, stalls, overlaps = outcome.hardware, stall_shares(outcome), overlap(outcome)
    peak, _ = product_peaks(outcome.model, hardware, outcome.named.number_format)
    possible = peak * hardware.matrix_engines * hardware.clusters * outcome.makespan
    return {
        "utilization": {kind: shares["busy"] for kind, shares in stalls.items()},
        "mac_utilization": outcome.macs / possible,
        "stalls": stalls,
        "cross_layer_overlap": overlaps["within_core"],
        "overlap": overlaps,
    }


def _memory(outcome: Outcome, memories: Memories) -> _Memory:
    hardware = outcome.hardware
    return {
        "lb": {"capacity_bytes": hardware.lb_bytes, "peak_bytes": memories.lb_peak_bytes},
        "gb": {"capacity_bytes": hardware.gb_bytes, "peak_bytes": memories.gb_peak_bytes},
    }
