"""Outcome -> overlap of layers, and the longest stretch of memory under compute.

Figures are shares of the latency on a cluster that ends last, over all its rounds. Clusters that
share a round count as one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

import numpy as np

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.products.arrays import int64
from graphturbo_core.products.produced import first_writes, moved_tensors
from graphturbo_core.products.program import IntArray, Memory, Program
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows.traffic import overlap_ratio
from graphturbo_core.sim.trace import Trace

LEAVING = (Memory.GB, Memory.DRAM)
"""Targets of moves that leave the cores' buffers; all other moves arrive there."""
WORDS: Mapping[TensorKind, str] = {
    TensorKind.WEIGHT: "weights",
    TensorKind.INPUT: "inputs",
    TensorKind.ACTIVATION: "activations",
}


class LayersInFlight(TypedDict):
    """Layers in flight: share of the time with two or more, mean, and histogram."""

    share: float
    mean: float
    histogram: Mapping[str, float]


class OverlapEntry(TypedDict):
    """The contract's `overlap`: shares of the latency."""

    layers_in_flight: LayersInFlight
    memory_under_compute: float
    vector_under_matrix: float
    within_core: float


class RoundOverlap(TypedDict):
    """The overlap of one round: shares of its cycles."""

    layers_in_flight: float
    memory_under_compute: float


class StretchRow(TypedDict):
    """The longest stretch of memory work under the compute of another layer."""

    start_cycle: int
    end_cycle: int
    moved: str
    memory_layers: str
    compute_layers: str


def overlap(outcome: Outcome) -> OverlapEntry:
    """The contract's `overlap`: four figures and the histogram of layers in flight.

    `histogram`: share of the time per number of layers in flight (as text, from 0); sums to 1.
    """
    flights = [(count, outcome.flights[size]) for size, count in outcome.slowest_share.rounds]
    total = max(1, outcome.makespan)
    most = max(len(flight.cycles_by_layers) for _, flight in flights)
    cycles = np.zeros(most, np.int64)
    for count, flight in flights:
        cycles[: len(flight.cycles_by_layers)] += count * flight.cycles_by_layers
    memory = sum(count * flight.memory_under_compute_cycles for count, flight in flights)
    vector = sum(count * flight.vector_under_matrix_cycles for count, flight in flights)
    return {
        "layers_in_flight": {
            "share": int(cycles[2:].sum()) / total,
            "mean": int((np.arange(most) * cycles).sum()) / total,
            "histogram": {str(n): int(cycles[n]) / total for n in range(most)},
        },
        "memory_under_compute": memory / total,
        "vector_under_matrix": vector / total,
        "within_core": overlap_ratio(outcome),
    }


def overlap_round_row(trace: Trace, outcome: Outcome) -> RoundOverlap:
    """Overlap of the drawn round: shares of its cycles."""
    flight = outcome.flights[outcome.largest_size]
    total = max(1, trace.makespan)
    return {
        "layers_in_flight": int(flight.cycles_by_layers[2:].sum()) / total,
        "memory_under_compute": flight.memory_under_compute_cycles / total,
    }


def stretch_rows(outcome: Outcome) -> list[StretchRow]:
    """The longest stretch of memory work under the compute of another layer: one row, or none.

    `moved`: kind of tensor and direction with the largest memory time. `memory_layers`: the layers
    of these moves; layers that also compute in the stretch are left out if others remain.
    `compute_layers`: the layers that compute. Layers are text (`46`, `37-39`), counted from 1.
    Ties: the first stretch.
    """
    flight, trace = outcome.flights[outcome.largest_size], outcome.largest
    if not len(flight.under_start):
        return []
    at = int((flight.under_end - flight.under_start).argmax())
    begin, stop = int(flight.under_start[at]), int(flight.under_end[at])
    program = trace.program
    inside = np.minimum(trace.start + program.hold_cycles, stop) - np.maximum(trace.start, begin)
    is_inside = (inside > 0) & (program.layer >= 0)
    kinds = [engine.kind in (EngineKind.MATRIX, EngineKind.VECTOR) for engine in program.engines]
    is_compute = np.array(kinds)[program.engine]
    moves = np.flatnonzero(is_inside & ~is_compute)
    moved, chosen = _most_moved(program, moves, inside)
    computes = np.unique(program.layer[is_inside & is_compute])
    moving = np.unique(program.layer[chosen])
    ahead = np.setdiff1d(moving, computes)
    return [
        {
            "start_cycle": begin,
            "end_cycle": stop,
            "moved": moved,
            "memory_layers": ranges_text(int64(ahead if len(ahead) else moving)),
            "compute_layers": ranges_text(int64(computes)),
        }
    ]


def _most_moved(program: Program, moves: IntArray, inside: IntArray) -> tuple[str, IntArray]:
    """Kind and direction with the largest time (such as `weights arrive`), and its moves."""
    tensors = program.plan.semantics.graph.tensors
    of_tensor = [WORDS[tensors[name].kind] for name in program.tensors]
    numbers = moved_tensors(program, first_writes(program))[moves]
    is_leaving = np.isin(program.target[moves], LEAVING) & ~_is_prefetch(program, moves)
    words = np.array(
        [
            f"{of_tensor[number] if number >= 0 else 'activations'} "
            f"{'leave' if leaving else 'arrive'}"
            for number, leaving in zip(numbers.tolist(), is_leaving.tolist(), strict=True)
        ]
    )
    cycles = {word: int(inside[moves[words == word]].sum()) for word in sorted(set(words.tolist()))}
    most = max(cycles, key=lambda word: cycles[word])
    return most, moves[words == most]


def _is_prefetch(program: Program, moves: IntArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether a move is a prefetch from DRAM to GB: it arrives, although its target is GB."""
    return np.asarray(program.source[moves] == Memory.DRAM)


def ranges_text(layers: IntArray) -> str:
    """Text of sorted 0-based indices as 1-based ranges: [36, 37, 38, 45] gives `37-39, 46`."""
    if not len(layers):
        return ""
    breaks = np.flatnonzero(np.diff(layers) > 1) + 1
    parts = (part.tolist() for part in np.split(layers + 1, breaks))
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)
