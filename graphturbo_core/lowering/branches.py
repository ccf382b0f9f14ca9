"""Branches of kernels: each is lowered as a kernel, and their instructions are joined again.

LB offsets, lifetimes and tile buffers of a branch are those of its own cores. GB and DRAM are
divided among the branches of a kernel (`global_buffer/`), since they use them at the same time. So
no instruction of a branch waits for bytes of another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from graphturbo_core.lowering.assemble import IssueOrder, NumberedKernel, assemble
from graphturbo_core.lowering.chip_numbering import ChipNumbering
from graphturbo_core.lowering.instructions.local_buffers import SharedKey
from graphturbo_core.lowering.instructions.machine import Machine
from graphturbo_core.lowering.instructions.schedule import KernelQueues
from graphturbo_core.products.branches import KernelBranch, runs_with
from graphturbo_core.products.plan import KernelPlan, Plan
from graphturbo_core.products.program import IntArray, Program


def branch_plan(plan: Plan) -> Plan:
    """The plan with each branch as a kernel of its own; the plan itself if there are none."""
    if not any(kernel.branches for kernel in plan.kernels):
        return plan
    return replace(
        plan,
        kernels=tuple(
            part
            for kernel in plan.kernels
            for part in (_parts(plan, kernel) if kernel.branches else (kernel,))
        ),
    )


def joined_program(
    plan: Plan,
    parts: Plan,
    numbering: ChipNumbering,
    kernels: Sequence[NumberedKernel],
    found: tuple[Mapping[SharedKey, int], tuple[str, ...]],
) -> Program:
    """`assemble` of a plan; `kernels`: those of `parts`, its `branch_plan`."""
    kernel_of = [n for n, kernel in enumerate(plan.kernels) for _ in (kernel.branches or ((),))]
    issue = IssueOrder(kernel_of, _issued(parts.kernels, kernels, numbering.machine))
    return assemble(plan, numbering, kernels, issue, found)


def _parts(plan: Plan, kernel: KernelPlan) -> tuple[KernelPlan, ...]:
    return tuple(
        _part(plan, kernel, number, branch)
        for number, branch in enumerate(plan.branches_of(kernel), 1)
    )


def _part(plan: Plan, kernel: KernelPlan, number: int, branch: KernelBranch) -> KernelPlan:
    """A branch as a kernel; its `branches` has one entry, which marks it."""
    graph, used = plan.semantics.graph, branch.computed | branch.read
    weights = {weight for op in branch.ops for weight in graph.weights_in(graph.op_by_name[op])}
    return replace(
        kernel,
        name=f"{kernel.name}.{number}",
        ops=branch.ops,
        boxes={tensor: box for tensor, box in kernel.boxes.items() if tensor in used},
        outputs={t: box for t, box in kernel.outputs.items() if t in branch.computed},
        bindings={t: own for t, own in kernel.bindings.items() if t in branch.computed},
        scopes={t: scope for t, scope in kernel.scopes.items() if t in branch.computed},
        residency={name: how for name, how in kernel.residency.items() if name in weights},
        branches=((branch.ops,),),
    )


def _issued(
    kernels: Sequence[KernelPlan], numbered: Sequence[NumberedKernel], machine: Machine
) -> IntArray | None:
    """Rows of all kernels' sequences in the order of issue; None: one kernel after the other.

    Branches of a kernel are merged by the cycle at which an instruction starts if its branch runs
    alone (our choice). An engine keeps the order of each branch. The system DMA engines, which
    branches share, serve all of them in turn.
    """
    if not any(kernel.branches for kernel in kernels):
        return None
    sizes = [len(each.order) for each in numbered]
    begins = np.cumsum([0, *sizes])
    found = np.arange(begins[-1])
    for first, last in sorted(set(runs_with(kernels))):
        if first < last:
            starts = [_alone(each, machine) for each in numbered[first : last + 1]]
            order = np.argsort(np.concatenate(starts), kind="stable")
            found[begins[first] : begins[last + 1]] = begins[first] + order
    return found


def _alone(numbered: NumberedKernel, machine: Machine) -> IntArray:
    """The start of each row in sequence order, if the branch runs alone; in cycles."""
    engines, channels = len(machine.engines()), len(machine.channels())
    queues = KernelQueues(numbered.code, numbered.conflicts, engines, channels)
    return np.asarray(queues.run(numbered.order)[1][numbered.order])
