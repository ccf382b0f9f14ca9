"""A kernel's task and placement -> alternative placements, of which the fastest is chosen.

Reused bytes wait for their last use, in the order of stages. So the overlap of stages depends on
that order and on the staging bytes per stage, not only on the instructions' order. If instructions
move across layers, both are varied (our choice; the vendor's manual has the wait, the paper names
only the aim).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from graphturbo_core.errors import CapacityError
from graphturbo_core.lowering.local_buffer.place_kernel import PlacementTask
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.local_buffer.places import Places
from graphturbo_core.products.scheduling import ACROSS_LAYERS

STAGING_PARTS = 2
"""In alternatives, a product of computed operands uses at most 1/N of the staging buffer, so that
another nest has room beside it (our choice)."""

MOST_COMPUTES = 5_000
"""Most computes of a kernel with alternatives (our choice: emitting one takes seconds above it, and
of the paper's rows only J's improves, by 1 %)."""


def alternatives(
    task: PlacementTask, placed: KernelPlacement, places: Places
) -> tuple[KernelPlacement, ...]:
    """Returns placements that differ from `placed` only inside the kernel; none with a fence.

    Stages in the order of expected begins, then in the order of layers; both with half of the
    staging buffer for products of computed operands. Buffers shared with other kernels are as in
    `placed`.
    """
    if task.plan.scheduling != ACROSS_LAYERS or placed.computes > MOST_COMPUTES:
        return ()
    found = []
    for other in (_expected(task), task):
        halved = replace(other, grain=replace(other.grain, staging_parts=STAGING_PARTS))
        placement = _placed(halved, places)
        if placement is not None and _outside(placement) == _outside(placed):
            found.append(placement)
    return tuple(each for each in found if _inside(each) != _inside(placed))


def _placed(task: PlacementTask, places: Places) -> KernelPlacement | None:
    """The placement; None also if a product does not fit its part of the staging buffer."""
    try:
        return places.place(task)
    except CapacityError:
        return None


def _expected(task: PlacementTask) -> PlacementTask:
    """The task with stages in the order of their expected begins; ties by present order."""
    times = task.alike.expected(task.stages)
    order = sorted(task.stages, key=lambda stage: times[stage.index][0])
    stages = tuple(replace(stage, index=place) for place, stage in enumerate(order))
    last = {operand.tensor: stage.index for stage in stages for operand in stage.operands}
    inherited = {
        name: replace(held, last=last.get(name, 0)) for name, held in task.inherited.items()
    }
    return replace(task, stages=stages, inherited=inherited)


def _inside(placement: KernelPlacement) -> Hashable:
    """Values read by emission that may differ between alternatives."""
    return tuple(stage.output for stage in placement.stages), placement.tilings


def _outside(placement: KernelPlacement) -> Hashable:
    """Values read by other kernels, GB and DRAM placement that alternatives must not change."""
    skipped = {placement.stages[index].output for index in placement.views.skipped}
    kept = (held for name, held in placement.residents.items() if name in placement.kept)
    return (
        placement.spilled,
        placement.in_place,
        frozenset(skipped),
        frozenset((held.tensor, held.offset, held.size_bytes) for held in kept),
    )
