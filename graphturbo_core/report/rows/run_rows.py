"""Outcome -> flat rows: engines, kernels, decisions, order, bindings, stalls, ledger, chip."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypedDict

import numpy as np

from graphturbo_core.products.plan import Binding, Decision, KernelPlan, Plan
from graphturbo_core.products.program import Memory
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows.overlap_rows import RoundOverlap, overlap_round_row
from graphturbo_core.report.rows.traffic import traffic
from graphturbo_core.sim.kernels.kernel_bounds import least_cycles
from graphturbo_core.sim.trace import Wait
from graphturbo_core.units import format_bytes

PIECES_OF_PARTS = "pieces_of_parts"

MOST_TEXTS = 256
"""Cached texts of bindings (our choice: thousands of tensors share one)."""


class RoundRow(RoundOverlap):
    """The round that arrays and engines describe."""

    cycles: int
    longest_chain_cycles: int
    cross_layer_overlap: float
    repeats: int
    clusters: int


def round_rows(outcome: Outcome) -> Iterator[RoundRow]:
    """One row: the round that arrays and engines describe."""
    trace, size = outcome.largest, outcome.largest_size
    yield {
        "cycles": trace.makespan,
        "longest_chain_cycles": trace.longest_chain_cycles,
        "cross_layer_overlap": outcome.overlaps[size].ratio,
        **overlap_round_row(trace, outcome),
        "repeats": outcome.repeats[size],
        "clusters": outcome.division.clusters,
    }


class RoundSizeRow(TypedDict):
    """The rounds of one size: their number, and the cycles of each."""

    samples: int
    count: int
    cycles: int
    is_drawn: bool


def rounds_rows(outcome: Outcome) -> Iterator[RoundSizeRow]:
    """Rounds of a cluster with the largest share, one row per distinct size, in running order."""
    for size, count in outcome.division.shares[0].rounds:
        yield {
            "samples": size,
            "count": count,
            "cycles": outcome.traces[size].makespan,
            "is_drawn": size == outcome.largest_size,
        }


class EngineRow(TypedDict):
    """One simulated engine."""

    index: int
    kind: str
    core: int
    cores: int
    label: str


def engine_rows(outcome: Outcome) -> Iterator[EngineRow]:
    """Simulated engines of one cluster; `cores`: number of equivalent cores each represents."""
    for index, engine in enumerate(outcome.program.engines):
        yield {
            "index": index,
            "kind": engine.kind.value,
            "core": engine.core,
            "cores": engine.cores,
            "label": engine.label,
        }


class KernelRow(TypedDict):
    """One kernel; `group` is the group's name."""

    index: int
    name: str
    group: str
    start_cycle: int
    end_cycle: int
    least_cycles: int
    layers: int


def kernel_rows(outcome: Outcome) -> Iterator[KernelRow]:
    """Kernels in running order: first start, last end, and the lower bound of their cycles."""
    trace, kernels = outcome.largest, outcome.plan.kernels
    start = np.full(len(kernels), trace.makespan, np.int64)
    end = np.zeros(len(kernels), np.int64)
    np.minimum.at(start, trace.program.kernel, trace.start)
    np.maximum.at(end, trace.program.kernel, trace.end)
    layers = layer_counts(outcome.plan, [kernel.ops for kernel in kernels])
    least = least_cycles(trace.program).tolist()
    for index, kernel in enumerate(kernels):
        yield {
            "index": index,
            "name": kernel.name,
            "group": outcome.plan.groups[kernel.group].name,
            "start_cycle": int(min(start[index], end[index])),
            "end_cycle": int(end[index]),
            "least_cycles": least[index],
            "layers": layers[index],
        }


def layer_counts(plan: Plan, parts: Sequence[Sequence[str]]) -> list[int]:
    """Number of layers that the ops of each part (a kernel, a group) belong to.

    Layers are Relay's partition of the undecomposed graph for every strategy (design, section 7).
    A layer counts in each part that has one of its ops. So where parts are smaller than a layer
    (`layerwise`), the counts sum to more than the number of layers. Our choice: a count of 0 would
    mislead.
    """
    return [len({plan.layer_of_op[op] for op in ops}) for ops in parts]


class DecisionRow(TypedDict):
    """One merge or refusal.

    `numbers` is text for readers. From the same numbers: `counts`: pieces of the parts, joined by
    `+`, "" if unknown. `pieces`, `axis` and `peak_bytes` of the whole: 0, -1 and 0 if it was not
    split.
    """

    index: int
    step: str
    rule: str
    subject: str
    taken: bool
    numbers: str
    counts: str
    pieces: int
    axis: int
    peak_bytes: int


def decision_rows(outcome: Outcome) -> Iterator[DecisionRow]:
    """Every merge and refusal, in the order of decision."""
    for index, decision in enumerate(outcome.plan.decisions):
        yield {
            "index": index,
            "step": decision.step,
            "rule": decision.rule,
            "subject": " + ".join(decision.subject),
            "taken": decision.is_taken,
            "numbers": numbers_text(decision.numbers),
            "counts": "+".join(map(str, piece_counts(decision))),
            "pieces": count_of(decision, "pieces", 0),
            "axis": count_of(decision, "axis", -1),
            "peak_bytes": count_of(decision, "peak_bytes", 0),
        }


def piece_counts(decision: Decision) -> tuple[int, ...]:
    """Pieces of the parts of a decision; empty if its numbers, which may be a file's, lack them."""
    texts = str(decision.numbers.get(PIECES_OF_PARTS, "")).split("+")
    return (
        tuple(map(int, texts)) if all(re.fullmatch(r"[0-9]{1,9}", text) for text in texts) else ()
    )


def count_of(decision: Decision, name: str, unknown: int) -> int:
    """One of a decision's numbers; `unknown` if its numbers, which may be a file's, lack it."""
    value = decision.numbers.get(name)
    return value if isinstance(value, int) else unknown


def numbers_text(numbers: Mapping[str, int | float | str]) -> str:
    """Text of a decision's numbers: `pieces 8, axis 0, peak 6.89 MiB`."""
    return ", ".join(_number_text(name, value) for name, value in numbers.items())


def _number_text(name: str, value: int | float | str) -> str:
    words = name.replace("_", " ")
    if name.endswith("_bytes") and isinstance(value, int):
        return f"{words.removesuffix(' bytes')} {format_bytes(value)}"
    return f"{words} {value}"


class ReadyRow(TypedDict):
    """One step of Algorithm 3."""

    index: int
    run: str
    ready: str


def ready_rows(outcome: Outcome) -> Iterator[ReadyRow]:
    """One row per step of Algorithm 3, in order."""
    for index, step in enumerate(outcome.plan.ready_steps):
        yield {"index": index, "run": step.run, "ready": ", ".join(step.ready)}


class BindingRow(TypedDict):
    """The binding of one tensor in one kernel."""

    kernel: str
    tensor: str
    op: str
    binding: str
    axes: str
    scope: str


def binding_rows(outcome: Outcome) -> Iterator[BindingRow]:
    """One row per kernel and bound tensor."""
    producer = outcome.plan.semantics.graph.producer
    for kernel in outcome.plan.kernels:
        for tensor, binding in kernel.bindings.items():
            yield {
                "kernel": kernel.name,
                "tensor": tensor,
                "op": producer[tensor].name,
                "binding": nested_text(binding),
                "axes": ", ".join(str(axis) for axis in binding.axes),
                "scope": scope_text(kernel, tensor),
            }


@lru_cache(maxsize=MOST_TEXTS)
def nested_text(binding: Binding) -> str:
    """Text of a binding's cores as the vendor's nested list: `[[0,1],[2,3]]`."""

    def level(cores: Sequence[int], grid: Sequence[int]) -> str:
        if not grid:
            return str(cores[0])
        step = len(cores) // grid[0]
        parts = (cores[at : at + step] for at in range(0, len(cores), step))
        return f"[{','.join(level(part, grid[1:]) for part in parts)}]"

    return level(binding.cores, binding.grid)


def scope_text(kernel: KernelPlan, tensor: str) -> str:
    """The memory of a tensor; empty for one that only exists within its loop nest."""
    scope = kernel.scopes.get(tensor)
    also = " and LB" if tensor in kernel.kept and scope is not None and scope.value != "LB" else ""
    return f"{scope.value}{also}" if scope else ""


class StallCyclesRow(TypedDict):
    """Cycles of one engine by `Wait`."""

    engine: str
    kind: str
    busy: int
    data: int
    address: int
    channel: int
    barrier: int
    idle: int


def stall_rows(outcome: Outcome) -> Iterator[StallCyclesRow]:
    """Cycles by `Wait` of every engine of one cluster in one round."""
    for engine, cycles in zip(outcome.program.engines, outcome.largest.stalls, strict=True):
        yield {
            "engine": engine.label,
            "kind": engine.kind.value,
            "busy": int(cycles[Wait.BUSY]),
            "data": int(cycles[Wait.DATA]),
            "address": int(cycles[Wait.ADDRESS]),
            "channel": int(cycles[Wait.CHANNEL]),
            "barrier": int(cycles[Wait.BARRIER]),
            "idle": int(cycles[Wait.IDLE]),
        }


class LedgerRow(TypedDict):
    """Bytes that cross one memory's port for one cause."""

    memory: str
    cause: str
    bytes: int


def ledger_rows(outcome: Outcome) -> Iterator[LedgerRow]:
    """Bytes of the whole batch that cross DRAM and GB, by cause."""
    causes = traffic(outcome).causes
    for memory in (Memory.DRAM, Memory.GB):
        for cause, size_bytes in causes[memory].items():
            yield {"memory": memory.name, "cause": cause.name.lower(), "bytes": size_bytes}


class ChipRow(TypedDict):
    """One number of the profile."""

    key: str
    value: float | int | str
    source: str
    is_assumption: bool


def chip_rows(outcome: Outcome) -> Iterator[ChipRow]:
    """Every number of the profile with its source."""
    for number in outcome.hardware.numbers:
        yield {
            "key": number.key,
            "value": number.value,
            "source": number.source,
            "is_assumption": number.is_assumption,
        }
