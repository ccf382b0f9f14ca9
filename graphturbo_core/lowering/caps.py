"""Lower bound on a plan's instructions: too long programs are refused before any is emitted."""

from __future__ import annotations

from collections.abc import Iterator

from graphturbo_core.ir.boxes import contains
from graphturbo_core.lowering.emission.setting import Setting
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.classes import CoreClasses
from graphturbo_core.lowering.stages.owners import Owners
from graphturbo_core.lowering.stages.stage import Cut, Stage, core_stages
from graphturbo_core.lowering.tiling.tiling import check_total
from graphturbo_core.products.plan import Plan


def fewest_instructions(plan: Plan, stages: list[tuple[Stage, ...]]) -> list[tuple[str, int]]:
    """Instructions of each stage with one tile per share, by op; 0 if it may be a view.

    A result of the model is stored tile by tile from the cores that computed it.
    """
    results = frozenset(plan.semantics.graph.outputs)
    every = [stage for kernel in stages for stage in kernel]
    return [(stage.ops[0].name, _fewest(stage, results)) for stage in every]


def _fewest(stage: Stage, results: frozenset[str]) -> int:
    if _may_vanish(stage):
        return 0
    is_stored = stage.output in results and not stage.is_on_cluster
    return len(stage.shares) * (len(stage.ops) + is_stored)


def _may_vanish(stage: Stage) -> bool:
    return len(stage.ops) == 1 and (stage.first.is_view or stage.first.is_joint)


def check_moves(
    classes: CoreClasses, plan: Plan, settings: list[Setting], max_instructions: int
) -> list[int]:
    """Returns computes, stores, exchanges and tiles fetched per kernel, if within the cap.

    Of loads only those of streamed activations are counted.

    Raises:
        CapacityError: TOO_MANY_INSTRUCTIONS, before any instruction is emitted.
    """
    owners: dict[Cut, Owners] = {}
    counts = [
        setting.placement.computes
        + sum(_stores(setting))
        + _fetches(setting.placement)
        + fewest_exchanges(setting.placement, classes, owners)
        for setting in settings
    ]
    names = (setting.placement.kernel.ops[-1] for setting in settings)
    check_total(plan, zip(names, counts, strict=True), max_instructions)
    return counts


def _stores(setting: Setting) -> Iterator[int]:
    """Stores of each stage whose whole result leaves LB."""
    placement = setting.placement
    for stage, tiles in zip(placement.stages, placement.output_tiles, strict=True):
        site = setting.around.targets.get(stage.output)
        is_left = stage.index not in placement.views.skipped and not stage.is_on_cluster
        if is_left and site is not None and contains(site.box, stage.box):
            yield tiles


def _fetches(placement: KernelPlacement) -> int:
    """The fewest loads of activations that stages stream from tile to tile."""
    shared = placement.shared
    if shared.fetches is None:
        shared.fetches = sum(_fetches_of_tensors(placement))
    return shared.fetches


def _fetches_of_tensors(placement: KernelPlacement) -> Iterator[int]:
    for stage, tiling in zip(placement.stages, placement.tilings, strict=True):
        if stage.index in placement.views.skipped or stage.is_on_cluster or stage.is_passing:
            continue
        for tensor in stage.places:
            if (stage.index, tensor) in placement.rings:
                yield placement.alike.fewest_fetches(stage, tiling, tensor)


def fewest_exchanges(
    placement: KernelPlacement, classes: CoreClasses, owners: dict[Cut, Owners]
) -> int:
    """Lower bound on core-to-core moves: one per class that owns a part of a core's box.

    Owners beyond the number of unsimulated cores are certainly in distinct classes.
    """
    alike = len(classes.leaders) - len(classes.simulated)
    running = (s for s in core_stages(placement.stages) if s.index not in placement.views.skipped)
    read = {operand.tensor for stage in running for operand in stage.operands}
    total = 0
    for name, held in placement.residents.items():
        if held.cut is None or not held.shares or name not in read:
            continue
        if held.cut not in owners:
            owners[held.cut] = Owners(held.cut, classes)
        counts = map(owners[held.cut].count, held.boxes.values())
        total += sum(max(0, count - 1 - alike) for count in counts)
    return total
