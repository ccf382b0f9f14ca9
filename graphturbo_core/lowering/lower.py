"""Plan -> Program: kernels become instructions with addresses and sequence numbers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from graphturbo_core.errors import CapacityError
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.lowering.assemble import NumberedKernel, assemble
from graphturbo_core.lowering.code import KernelCode, Machine
from graphturbo_core.lowering.conflicts import find_conflicts
from graphturbo_core.lowering.cutting import GRAINS, Grain
from graphturbo_core.lowering.emit import emit_kernel
from graphturbo_core.lowering.far_memory import FarMemory, place_far
from graphturbo_core.lowering.placement import (
    KernelPlacement,
    PlacementTask,
    Resident,
    place_kernel,
)
from graphturbo_core.lowering.program import Program
from graphturbo_core.lowering.schedule import list_schedule
from graphturbo_core.lowering.stages import Stage, holdings, kernel_stages
from graphturbo_core.lowering.template import Setting, copied, template_key
from graphturbo_core.strategies.plan import Plan


def lower(plan: Plan, limits: Limits = DEFAULT_LIMITS) -> Program:
    """Lower every kernel of a plan, as finely as the cap on instructions allows.

    Raises:
        CapacityError: a tile, or all of DRAM's tensors, do not fit; or even the coarsest tiles need
            more than `limits.max_instructions`.
    """
    layer_of = {name: layer.index for layer in plan.layers for name in layer.ops}
    stages = [kernel_stages(plan, kernel, layer_of) for kernel in plan.kernels]
    for grain in GRAINS:
        is_last = grain == GRAINS[-1]
        cap = limits.max_instructions_coarsest if is_last else limits.max_instructions
        placements = _place_all(plan, stages, grain)
        if not is_last and sum(map(_computes, placements)) > cap:
            continue
        far = place_far(plan, placements)
        settings = [
            Setting(placement, around)
            for placement, around in zip(placements, far.surroundings, strict=True)
        ]
        kernels = _number_all(plan, settings, cap)
        if kernels is not None:
            return assemble(plan, kernels, far.offsets, _notes(placements, far, limits))
    raise CapacityError(
        "TOO_MANY_INSTRUCTIONS",
        f"{plan.strategy} needs more than {limits.max_instructions_coarsest} instructions even "
        "with the coarsest tiles",
        where=f"chip {plan.hardware.name}",
        change="choose a smaller batch or cluster batch, or a chip with larger buffers",
    )


def _computes(placement: KernelPlacement) -> int:
    """Compute instructions of a kernel."""
    return sum(
        len(stage.ops) if tile.is_last else 1
        for stage, steps in zip(placement.stages, placement.tiles, strict=True)
        if stage.index not in placement.views.skipped
        for step in steps
        for tile in step.values()
    )


def _notes(placements: list[KernelPlacement], far: FarMemory, limits: Limits) -> tuple[str, ...]:
    """What the plan asked for and did not get."""
    notes: list[str] = []
    spilled = sum(
        len(placement.spilled & placement.computed - placement.kernel.kept)
        for placement in placements
    )
    if spilled:
        notes.append(f"{spilled} tensors of kernels did not fit in LB and went to GB")
    if far.spilled:
        notes.append(f"{len(far.spilled)} tensors did not fit in GB and went to DRAM")
    streamed = sum(len(placement.demoted) for placement in placements)
    if streamed:
        notes.append(f"streamed, as their place in LB was too small: {streamed} weights")
    grain = placements[0].grain
    if grain != GRAINS[0]:
        notes.append(
            f"tiles are coarser than usual (1/{grain.tile_share} of LB, {grain.tiles} a share): "
            f"finer ones need more than {limits.max_instructions} instructions"
        )
    return tuple(notes)


def _number_all(
    plan: Plan, settings: list[Setting], max_instructions: int
) -> list[NumberedKernel] | None:
    """Emit and number one kernel of each class, the others are its copies; None: too many."""
    op_index = {op.name: place for place, op in enumerate(plan.semantics.graph.ops)}
    total = 0
    known: dict[Hashable, tuple[Setting, NumberedKernel]] = {}
    kernels: list[NumberedKernel] = []
    for setting in settings:
        key = template_key(setting)
        if key not in known:
            code = emit_kernel(plan, setting.placement, setting.around, op_index)
            known[key] = (setting, _numbered(plan, code))
            kernels.append(known[key][1])
        else:
            model, numbered = known[key]
            kernels.append(replace(numbered, code=copied(numbered.code, model, setting)))
        total += len(kernels[-1].order)
        if total > max_instructions:
            return None
    return kernels


def _place_all(plan: Plan, stages: list[tuple[Stage, ...]], grain: Grain) -> list[KernelPlacement]:
    """Place kernel after kernel.

    Where one finds no room beside what the kernel before left in LB, that one is placed again and
    parks its outputs.
    """
    placements: list[KernelPlacement] = []
    parked: dict[int, frozenset[str]] = {}
    while len(placements) < len(stages):
        index = len(placements)
        kernel = plan.kernels[index]
        inherited = _handed_over(placements[-1], stages[index]) if placements else {}
        wanted = holdings(stages[index + 1]) if kernel.kept and index + 1 < len(stages) else {}
        none: frozenset[str] = frozenset()
        task = PlacementTask(
            plan, kernel, stages[index], inherited, wanted, parked.get(index, none), grain
        )
        placement = place_kernel(task)
        if placement is None:
            parked[index - 1] = placements.pop().kernel.kept
        else:
            placements.append(placement)
    return placements


def _handed_over(placement: KernelPlacement, stages: tuple[Stage, ...]) -> dict[str, Resident]:
    """What stays in LB for the next kernel, seen from there."""
    last = {operand.tensor: stage.index for stage in stages for operand in stage.operands}
    return {
        name: Resident(
            name, held.offset, held.size_bytes, held.boxes, held.shares, 0, last.get(name, 0), True
        )
        for name, held in placement.residents.items()
        if name in placement.kept
    }


def _numbered(plan: Plan, code: KernelCode) -> NumberedKernel:
    conflicts = find_conflicts(code, plan.hardware.is_pooled)
    machine = Machine(plan.hardware)
    if plan.is_scheduled_across_layers:
        order = list_schedule(code, conflicts, len(machine.engines()), len(machine.channels()))
    else:
        order = np.arange(len(code.rows))
    return NumberedKernel(code, conflicts, order)
