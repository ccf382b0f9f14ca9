"""A kernel's task and placement -> other placements of it, of which the shortest run is taken.

What reuses bytes waits for what used them before, in the order of stages. So which stages may run
at once depends on that order and on how much of the staging buffer one takes, as much as on the
instructions' order: where instructions move across layers, both are tried (our choice; the vendor's
manual has the wait, the paper names only the aim).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from graphturbo_core.errors import CapacityError
from graphturbo_core.lowering.caps import compute_total
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement, PlacementTask
from graphturbo_core.lowering.local_buffer.places import Places
from graphturbo_core.products.scheduling import ACROSS_LAYERS

STAGING_PARTS = 2
"""Of so many parts of the staging buffer a product of computed operands takes one at most in other
placements, so that another nest finds room beside it (our choice)."""

MOST_COMPUTES = 5_000
"""Kernels with more computes are placed once (our choice: to emit another takes seconds, and of the
paper's rows it shortens only J's, by 1 %)."""


def alternatives(
    task: PlacementTask, placed: KernelPlacement, places: Places
) -> tuple[KernelPlacement, ...]:
    """Placements that differ from `placed` inside the kernel alone; none within layers.

    With stages in the order in which they are expected to begin, then in that of layers; both with
    half of the staging buffer for products of computed operands. Other kernels find all that they
    have in common with this one where `placed` has it.
    """
    if task.plan.scheduling != ACROSS_LAYERS or compute_total(placed) > MOST_COMPUTES:
        return ()
    found = []
    for other in (_expected(task), task):
        halved = replace(other, grain=replace(other.grain, staging_parts=STAGING_PARTS))
        placement = _placed(halved, places)
        if placement is not None and _outside(placement) == _outside(placed):
            found.append(placement)
    return tuple(each for each in found if _inside(each) != _inside(placed))


def _placed(task: PlacementTask, places: Places) -> KernelPlacement | None:
    """None too where a product does not fit its part of the staging buffer."""
    try:
        return places.place(task)
    except CapacityError:
        return None


def _expected(task: PlacementTask) -> PlacementTask:
    """The task with stages in the order of their expected begins; ties: as they were."""
    times = task.alike.expected(task.stages)
    order = sorted(task.stages, key=lambda stage: times[stage.index][0])
    stages = tuple(replace(stage, index=place) for place, stage in enumerate(order))
    last = {operand.tensor: stage.index for stage in stages for operand in stage.operands}
    inherited = {
        name: replace(held, last=last.get(name, 0)) for name, held in task.inherited.items()
    }
    return replace(task, stages=stages, inherited=inherited)


def _inside(placement: KernelPlacement) -> Hashable:
    """What emission goes by that alternatives may have otherwise."""
    return tuple(stage.output for stage in placement.stages), placement.tilings


def _outside(placement: KernelPlacement) -> Hashable:
    """What other kernels, GB and DRAM go by, of all that alternatives may have otherwise."""
    skipped = {placement.stages[index].output for index in placement.views.skipped}
    kept = (held for name, held in placement.residents.items() if name in placement.kept)
    return (
        placement.spilled,
        placement.in_place,
        frozenset(skipped),
        frozenset((held.tensor, held.offset, held.size_bytes) for held in kept),
    )
