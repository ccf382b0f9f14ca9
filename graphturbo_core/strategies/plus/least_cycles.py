"""Plan -> lower bound on the cycles of its programs, from the plan alone."""

from __future__ import annotations

from graphturbo_core.products.plan import KernelPlan, Plan
from graphturbo_core.semantics.cost import product_peaks
from graphturbo_core.semantics.work import work_of
from graphturbo_core.strategies.plus.weight_bytes import fetch_cycles, fetched


def least_cycles(plan: Plan) -> int:
    """Returns a lower bound in cycles without lowering.

    Kernels of one cluster run one after the other. Each takes its launch and barrier, and the
    larger of two: DRAM cycles for its weights, and all engines' cycles for its products. A kernel
    without either counts 0, since lowering may emit no instruction for it. For cluster-parallel
    plans: DRAM cycles for all weights.
    """
    if plan.cooperation is not None:
        return fetch_cycles(plan)
    hardware = plan.hardware
    matrix, vector = product_peaks(plan.semantics, hardware, plan.number_format)
    peak = hardware.matrix_engines * matrix + hardware.cores * vector
    total = 0
    for kernel, size in fetched(plan):
        cycles = hardware.transfer_cycles(size, hardware.dram_bandwidth)
        cycles = max(cycles, _products(plan, kernel) // peak)
        if cycles:
            total += cycles + hardware.launch_cycles + hardware.barrier_cycles
    return total


def _products(plan: Plan, kernel: KernelPlan) -> int:
    """Multiply-accumulates of a kernel, recomputed halos included."""
    graph, semantics = plan.semantics.graph, plan.semantics.by_op
    return sum(
        work_of(semantics[name], kernel.boxes[output], index).macs
        for name in kernel.ops
        for index, output in enumerate(graph.op_by_name[name].outputs)
        if output in kernel.boxes
    )
