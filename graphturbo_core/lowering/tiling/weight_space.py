"""Division of an LB's weight part, and weights loaded whole instead of by tile."""

from __future__ import annotations

from functools import reduce

from graphturbo_core.ir.boxes import Box, full_box, hull
from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.lowering.stages.stage import Operand, Stage, needs, tensor_bytes
from graphturbo_core.products.plan import Plan


def weight_capacity(plan: Plan) -> int:
    """Bytes of an LB for a kernel's weights, without the shards after them."""
    return plan.budget.lb_weight_bytes - plan.shard_bytes


def shard_range(plan: Plan) -> tuple[int, int]:
    """Half-open byte range of the shards in an LB's weight part."""
    base = plan.budget.lb_data_bytes if plan.hardware.is_pooled else 0
    end = base + plan.budget.lb_weight_bytes
    return aligned(end - plan.shard_bytes), end


def is_small_weight(plan: Plan, operand: Operand) -> bool:
    """Whether a weight is loaded whole, once per stage."""
    if not operand.is_weight or operand.is_tiled_weight:
        return False
    shape = plan.semantics.graph.tensors[operand.tensor].shape
    size = tensor_bytes(plan, operand.tensor, full_box(shape))
    return size <= weight_capacity(plan) // plan.rules.small_weight_share


def small_weights(plan: Plan, stage: Stage) -> dict[str, tuple[Operand, Box]]:
    """Weights loaded whole, once per stage, with the hull of all cores' needs.

    Empty if all operands of a stage stream through LB.
    """
    if stage.is_passing:
        return {}
    found: dict[str, tuple[Operand, Box]] = {}
    for operand in stage.operands:
        if is_small_weight(plan, operand) and (boxes := needs(stage, operand)):
            is_all = stage.classes is None
            box = reduce(hull, boxes.values()) if is_all else operand.access.box(stage.box)
            found[operand.tensor] = operand, box
    return found


def small_bytes(plan: Plan, stage: Stage) -> int:
    """Bytes of the weights that a stage loads whole, in GB and in LB."""
    return sum(
        aligned(tensor_bytes(plan, tensor, box))
        for tensor, (_, box) in small_weights(plan, stage).items()
    )


def fetches_own(plan: Plan, stage: Stage) -> bool:
    """Whether each core of a stage fetches its own weights; a shared engine cannot.

    A shared engine reads GB, filled by system DMA.
    """
    return plan.feeding.has_own_fetches and not stage.is_on_cluster
