"""Outcome -> rows of layers: memory, time and work of each, in one round of the largest share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

import numpy as np

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.ir.graph import Graph
from graphturbo_core.products.plan import Layer
from graphturbo_core.products.program import InstructionKind, IntArray, Memory, Program
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows.memory import Memories
from graphturbo_core.semantics.work import op_macs
from graphturbo_core.sim.occupancy import layer_windows
from graphturbo_core.units import seconds_from_cycles


class LayerEntry(TypedDict):
    """One layer in the contract."""

    name: str
    op_types: str
    lb_peak_bytes: int
    lb_mean_bytes: float
    gb_peak_bytes: int
    start_s: float
    end_s: float
    group: str


class LayerRow(LayerEntry):
    """One layer; bytes and cycles are those of one round on one cluster."""

    index: int
    macs: int
    model_macs: int
    dram_bytes: int
    gb_bytes: int
    matrix_cycles: int
    vector_cycles: int
    move_cycles: int
    dma_cycles: int
    matrix_utilization: float
    window_s: float


def layer_rows(outcome: Outcome, memories: Memories) -> Iterator[LayerRow]:
    """One row per layer of the undecomposed graph, in order; layers are equal for every strategy.

    `*_cycles`: busy cycles of all engines of the kind. `window_s`: total length of the layer's
    windows (first start to last end in each kernel). `matrix_utilization`: share of these windows
    in which the matrix engines work. `macs`: computed, halos included. `model_macs`: those of the
    undecomposed model at the whole batch, equal in all runs. `group`: the group of the layer's
    first op; a strategy may make groups smaller than a layer.
    """
    plan, found, program = outcome.plan, memories.layers, outcome.program
    graph, clock_hz = plan.semantics.graph, outcome.hardware.clock_hz
    cycles = {kind: _busy_cycles(outcome, kind) for kind in EngineKind}
    macs = _sums(program, program.macs)
    crossing = {
        memory: _sums(program, _crossing(program, memory)) for memory in (Memory.DRAM, Memory.GB)
    }
    in_model = _model_macs(outcome)
    window = _window_cycles(outcome)
    group_of = {op: group.name for group in reversed(plan.groups) for op in group.ops}
    for layer in plan.layers:
        at = layer.index
        matrix = int(cycles[EngineKind.MATRIX][at])
        yield {
            "index": at,
            "name": layer.name,
            "op_types": "+".join(_op_types(graph, layer)),
            "group": group_of[layer.ops[0]],
            "lb_peak_bytes": int(found.lb_peak[at]),
            "lb_mean_bytes": round(float(found.lb_mean[at]), 3),
            "gb_peak_bytes": int(found.gb_peak[at]),
            "start_s": seconds_from_cycles(int(found.start[at]), clock_hz),
            "end_s": seconds_from_cycles(int(found.end[at]), clock_hz),
            "macs": int(macs[at]),
            "model_macs": in_model[at],
            "dram_bytes": int(crossing[Memory.DRAM][at]),
            "gb_bytes": int(crossing[Memory.GB][at]),
            "matrix_cycles": matrix,
            "vector_cycles": int(cycles[EngineKind.VECTOR][at]),
            "move_cycles": int(cycles[EngineKind.MOVE][at]),
            "dma_cycles": int(cycles[EngineKind.DMA][at]),
            "matrix_utilization": matrix
            / max(1, int(window[at]) * outcome.hardware.matrix_engines),
            "window_s": seconds_from_cycles(int(window[at]), clock_hz),
        }


def _op_types(graph: Graph, layer: Layer) -> Iterator[str]:
    """Types of the layer's ops in the undecomposed graph."""
    names = dict.fromkeys(graph.op_by_name[op].origin_name for op in layer.ops)
    return (graph.whole.op_by_name[name].op_type for name in names)


def _model_macs(outcome: Outcome) -> list[int]:
    """Per layer, the sum over its ops in the undecomposed model."""
    plan = outcome.plan
    layer_of = {op.origin_name: plan.layer_of_op[op.name] for op in plan.semantics.graph.ops}
    found = [0] * len(plan.layers)
    for name, semantics in outcome.model.by_op.items():
        found[layer_of[name]] += op_macs(semantics)
    return found


def _sums(program: Program, values: IntArray) -> IntArray:
    """Per layer, the sum of a value over its instructions."""
    sums = np.zeros(len(program.plan.layers), np.int64)
    rows = np.flatnonzero(program.layer >= 0)
    np.add.at(sums, program.layer[rows], values[rows])
    return sums


def _busy_cycles(outcome: Outcome, kind: EngineKind) -> IntArray:
    program, busy = outcome.program, outcome.busy[outcome.largest_size]
    is_kind = np.array([engine.kind is kind for engine in program.engines])
    return _sums(program, np.where(is_kind[program.engine], busy, 0))


def _crossing(program: Program, memory: Memory) -> IntArray:
    """Per instruction, the bytes that it reads from and writes to a memory."""
    crossings = (program.source == memory) * 1 + (program.target == memory) * 1
    if memory is Memory.GB:
        crossings += program.kind == InstructionKind.COMPUTE
    return np.asarray(program.size_bytes * crossings, np.int64)


def _window_cycles(outcome: Outcome) -> IntArray:
    layer, begin, stop = layer_windows(outcome.largest)
    cycles = np.zeros(len(outcome.plan.layers), np.int64)
    np.add.at(cycles, layer, stop - begin)
    return cycles
