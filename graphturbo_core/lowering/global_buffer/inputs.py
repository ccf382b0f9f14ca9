"""Retention of an input of the model -> what an earlier kernel prefetches, and where to in GB."""

from __future__ import annotations

from collections.abc import Sequence

from graphturbo_core.ir.boxes import full_box, intersect
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.lowering.global_buffer.sites import InputFetch, Site
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.owned import own_box
from graphturbo_core.lowering.stages.stage import stage_operands
from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Cause, Memory


def is_input(plan: Plan, tensor: str) -> bool:
    """Whether it is an input of the model."""
    return plan.semantics.graph.tensors[tensor].kind is TensorKind.INPUT


def input_fetch(
    plan: Plan, placements: Sequence[KernelPlacement], stay: GbRetention
) -> InputFetch | None:
    """What the last kernel of the retention reads, fetched by the first; None: nothing of DRAM.

    The kernel before may leave the input in the LBs.
    """
    name, reader = stay.weight, placements[stay.last]
    reads = [(stage, o) for stage, o in stage_operands(reader.stages) if o.tensor == name]
    if not reads or name in placements[stay.last - 1].kept:
        return None
    whole = full_box(plan.semantics.graph.tensors[name].shape)
    source = Site(name, Memory.DRAM, whole, -1, Cause.INPUT)
    target = Site(name, Memory.GB, reader.kernel.boxes[name], stay.first, Cause.INPUT)
    stage, operand = reads[0]
    result = stage.first.output_shapes[stage.output_index]
    own = own_box(operand.access, result, intersect(stage.box, stage.owned))
    return InputFetch(source, target, own, operand.op.name, stage.layer)
