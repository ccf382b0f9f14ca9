"""How a core's LB is divided, and which weights come whole instead of tile by tile."""

from __future__ import annotations

from functools import reduce

from graphturbo_core.ir.boxes import Box, full_box, hull
from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.lowering.stages.stage import Operand, Stage, needs, tensor_bytes
from graphturbo_core.products.plan import Plan


def weight_capacity(plan: Plan) -> int:
    """Bytes of a core's LB that hold a kernel's weights: shards, behind them, have their own."""
    return plan.budget.lb_weight_bytes - plan.shard_bytes


def shard_range(plan: Plan) -> tuple[int, int]:
    """First and last byte + 1 of the shards in a core's weight part."""
    base = plan.budget.lb_data_bytes if plan.hardware.is_pooled else 0
    end = base + plan.budget.lb_weight_bytes
    return aligned(end - plan.shard_bytes), end


def is_small_weight(plan: Plan, operand: Operand) -> bool:
    """Whether a weight comes whole, once per stage."""
    shape = plan.semantics.graph.tensors[operand.tensor].shape
    size = tensor_bytes(plan, operand.tensor, full_box(shape))
    limit = weight_capacity(plan) // plan.rules.small_weight_share
    return operand.is_weight and not operand.is_tiled_weight and size <= limit


def small_weights(plan: Plan, stage: Stage) -> dict[str, tuple[Operand, Box]]:
    """Weights that come whole, once per stage: the hull of what all cores need.

    None where all operands of a stage stream through LB.
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
    """Bytes of a stage's whole weights, in GB as in LB."""
    return sum(
        aligned(tensor_bytes(plan, tensor, box))
        for tensor, (_, box) in small_weights(plan, stage).items()
    )


def fetches_own(plan: Plan, stage: Stage) -> bool:
    """Whether the cores of a stage fetch their own weights; an engine that they share cannot.

    It reads GB, where system DMA brings what it needs.
    """
    return plan.feeding.has_own_fetches and not stage.is_on_cluster
