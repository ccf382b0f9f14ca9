"""Placements, FarMemory -> a check that tensors are in the memories that a plan file fixes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from graphturbo_core.errors import CapacityError
from graphturbo_core.lowering.global_buffer.far_memory import FarMemory
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.products.plan import Plan, Residency, Scope


def check_fixed(plan: Plan, placements: Sequence[KernelPlacement], far: FarMemory) -> None:
    """Refuse a plan if a fixed tensor or weight has no room in its memory.

    Raises:
        CapacityError: PLAN_NOT_HELD.
    """
    if not plan.fixed and not plan.fixed_pieces:
        return
    for index, placement in enumerate(placements):
        held, kernel = far.environments[index].held, placement.kernel
        elsewhere = (*_lost(placement, far), *_streamed(placement, held.keys(), far))
        fixed = plan.fixed_in(kernel)
        unmet = [(name, memory) for name, memory in elsewhere if name in fixed]
        if unmet:
            name, memory = unmet[0]
            raise CapacityError(
                "PLAN_NOT_HELD",
                f"{name!r} of kernel {kernel.name!r} found no room in {memory}",
                "where the plan fixes it",
                "choose a farther memory under `edits`, or more pieces",
            )


def _lost(placement: KernelPlacement, far: FarMemory) -> Iterator[tuple[str, str]]:
    """Tensors in a farther memory than planned."""
    for tensor, scope in placement.kernel.scopes.items():
        if scope is Scope.LB and placement.scope(tensor) is not Scope.LB:
            yield tensor, scope.value
        if scope is Scope.GB and (tensor, placement.kernel.name) in far.spilled:
            yield tensor, scope.value


def _streamed(
    placement: KernelPlacement, held: Collection[str], far: FarMemory
) -> Iterator[tuple[str, str]]:
    """Weights that are streamed but planned in LB or GB, or as shards."""
    for weight in sorted(far.without_shards):
        if placement.kernel.residency.get(weight) is Residency.SHARDED:
            yield weight, "the LBs as shards"
    for weight in placement.demoted:
        yield weight, Residency.LB.value
    for items in placement.items:
        weight = items.operand.tensor if items is not None else ""
        if placement.kernel.residency.get(weight) is Residency.GB and weight not in held:
            yield weight, Residency.GB.value
