"""Plan, stages -> PlacedKernels: every kernel's tiles and LB buffers, kernel after kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from graphturbo_core.errors import CapacityError
from graphturbo_core.ir.boxes import Box, contains
from graphturbo_core.lowering.alternatives import alternatives
from graphturbo_core.lowering.chip_numbering import own_plan
from graphturbo_core.lowering.local_buffer.place_kernel import PlacementTask
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement, Resident
from graphturbo_core.lowering.local_buffer.places import Places
from graphturbo_core.lowering.stages.stage import Stage, holdings
from graphturbo_core.lowering.tiling.cutting import Grain
from graphturbo_core.lowering.tiling.expected_places import Spilled
from graphturbo_core.lowering.tiling.stage_memo import StageMemo
from graphturbo_core.lowering.tiling.tiling import too_many_instructions
from graphturbo_core.products.plan import Plan


class KernelGrains(NamedTuple):
    """How finely kernels are cut; `few`: those of at most `computes`, None: as all others are."""

    most: Grain
    few: Grain | None
    computes: int


class PlacingLimit(NamedTuple):
    """How finely kernels are cut, and the cap on instructions."""

    cut: KernelGrains
    max_instructions: int


class PlacedKernel(NamedTuple):
    """A kernel's placement, and others of it."""

    placement: KernelPlacement
    others: tuple[KernelPlacement, ...]

    def usable(self, *, may_reorder: bool) -> tuple[KernelPlacement, ...]:
        """The others; without those in another order of stages if scratch bytes of GB fix it."""
        if may_reorder:
            return self.others
        order = [stage.output for stage in self.placement.stages]
        return tuple(o for o in self.others if [stage.output for stage in o.stages] == order)


def place_clusters(
    plan: Plan,
    stages: list[tuple[Stage, ...]],
    limit: PlacingLimit,
    places: Places,
    spilled: Spilled = frozenset(),
) -> list[PlacedKernel]:
    """`_place_all` for each of the clusters that co-operate; in the order of the plan's kernels.

    `spilled`: tensors that are known to be in DRAM.
    """
    if plan.cooperation is None:
        return _place_all(_memos(plan, spilled, places), plan, stages, limit)
    found: dict[int, PlacedKernel] = {}
    for cluster in plan.cooperation.working:
        kernels = plan.cooperation.kernels_of(cluster)
        own = [stages[kernel] for kernel in kernels]
        alone = own_plan(plan, cluster)
        placed = _place_all(_memos(alone, spilled, places), alone, own, limit)
        found |= dict(zip(kernels, placed, strict=True))
    return [found[kernel] for kernel in range(len(stages))]


def _memos(plan: Plan, spilled: Spilled, places: Places) -> tuple[StageMemo, Places]:
    return StageMemo(plan, spilled, places.values), places


def _place_all(
    memos: tuple[StageMemo, Places],
    plan: Plan,
    stages: list[tuple[Stage, ...]],
    limit: PlacingLimit,
) -> list[PlacedKernel]:
    """Place kernel after kernel, as long as their computes alone are not too many.

    Where one finds no room beside what the kernel before left in LB, that one is placed again and
    parks its outputs.

    Raises:
        CapacityError: TOO_MANY_INSTRUCTIONS, or something does not fit.
    """
    placed: list[PlacedKernel] = []
    parked: dict[int, frozenset[str]] = {}
    (alike, places), (cut, max_instructions) = memos, limit
    computes = [0]
    while len(placed) < len(stages):
        index = len(placed)
        kernel = plan.kernels[index]
        inherited = _handed_over(placed[-1].placement, stages[index]) if placed else {}
        wanted = holdings(stages[index + 1]) if kernel.kept and index + 1 < len(stages) else {}
        none: frozenset[str] = frozenset()
        task = PlacementTask(
            plan, kernel, stages[index], inherited, wanted, parked.get(index, none), cut.most,
            alike, computes[-1], max_instructions,
        )  # fmt: skip
        placement = places.place(task)
        if placement is None:
            parked[index - 1] = placed.pop().placement.kernel.kept
            computes.pop()
            continue
        task, placement = _finer(task, placement, cut, places)
        placed.append(PlacedKernel(placement, alternatives(task, placement, places)))
        computes.append(computes[-1] + placement.computes)
        if computes[-1] > max_instructions:
            raise too_many_instructions(plan, kernel.ops[-1], computes[-1])
    return placed


def _finer(
    task: PlacementTask, placed: KernelPlacement, cut: KernelGrains, places: Places
) -> tuple[PlacementTask, KernelPlacement]:
    """A kernel with finer tiles, where it has few computes then and spills nothing else."""
    if cut.few is None or placed.computes > cut.computes:
        return task, placed
    finer = replace(task, grain=cut.few)
    try:
        found = places.place(finer)
    except CapacityError:
        return task, placed
    if found is None or not found.spilled <= placed.spilled:
        return task, placed
    return (finer, found) if found.computes <= cut.computes else (task, placed)


def _handed_over(placement: KernelPlacement, stages: tuple[Stage, ...]) -> dict[str, Resident]:
    """What stays in LB for the next kernel, seen from there.

    What a stage of this kernel read, it has exchanged already: every core has all of its box, and
    where that is all that the next one reads, nothing is to be exchanged again.
    """
    if not placement.kept:
        return {}
    running = [s for s in placement.stages if s.index not in placement.views.skipped]
    exchanged = {operand.tensor for stage in running for operand in stage.operands}
    read = holdings(stages)
    last = {operand.tensor: stage.index for stage in stages for operand in stage.operands}
    return {
        name: replace(
            held,
            first=0,
            last=last.get(name, 0),
            is_inherited=True,
            shares={} if name in exchanged and _has_all(held, read.get(name, {})) else held.shares,
        )
        for name, held in placement.residents.items()
        if name in placement.kept
    }


def _has_all(held: Resident, read: Mapping[int, Box]) -> bool:
    """Whether each core finds all that it reads in its own box."""
    return all(core in held.boxes and contains(held.boxes[core], b) for core, b in read.items())
