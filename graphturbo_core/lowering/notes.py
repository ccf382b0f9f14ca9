"""Plan, placements -> notes on deviations of a Program from its plan, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from graphturbo_core.limits import Limits
from graphturbo_core.lowering.global_buffer.far_memory import FarMemory
from graphturbo_core.lowering.instructions.machine import Machine
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.folding import has_many_cores, may_fold
from graphturbo_core.lowering.tiling.cutting import grains
from graphturbo_core.products.plan import Plan


def longer_note(size: int, cap: int) -> str:
    """Note on a program above the default cap."""
    return (
        f"{size} instructions, as --max-instructions {cap} allows: "
        "even the coarsest tiles need more than the default limit"
    )


def fold_notes(machine: Machine) -> Iterator[str]:
    """Note on the number of simulated cores."""
    classes = machine.classes
    simulated, cores = len(classes.simulated), len(classes.leaders)
    if classes.is_folded:
        yield f"{simulated} of {cores} cores per cluster are simulated, each for its class"
    elif may_fold(machine.hardware) and has_many_cores(machine.hardware):
        why = "no two are equivalent, or a replay needs each"
        yield f"each of the {cores} cores of a cluster is simulated: {why}"


def notes_of(
    plan: Plan, placements: list[KernelPlacement], far: FarMemory, limits: Limits
) -> tuple[str, ...]:
    """Notes on deviations from the plan."""
    notes: list[str] = []
    spilled = sum(
        len(placement.spilled & placement.computed - placement.kernel.kept)
        for placement in placements
    )
    if spilled:
        next_level = "GB" if plan.hardware.has_gb else "DRAM"
        notes.append(f"{spilled} tensors of kernels did not fit in LB and went to {next_level}")
    if far.spilled and plan.hardware.has_gb:
        notes.append(f"{len(dict(far.spilled))} tensors did not fit in GB and went to DRAM")
    if passing := len(plan.semantics.passing_ops):
        notes.append(f"{passing} op(s) larger than LB: their bytes stream through one core's LB")
    streamed = sum(len(placement.demoted) for placement in placements)
    if streamed:
        notes.append(f"streamed, as their place in LB was too small: {streamed} weights")
    if far.without_shards:
        count = len(far.without_shards)
        notes.append(f"{count} weights found no room for all their shards in the LBs")
    finest = grains(plan.rules)[0]
    coarse = [p.grain for p in placements if replace(p.grain, has_tile_exchange=False) != finest]
    if coarse:
        form = ", wide weight tiles with less of K" if coarse[0].is_wide else ""
        kernels = len(placements)
        which = "" if len(coarse) == kernels else f" of {len(coarse)} of {kernels} kernels"
        most = limits.instructions(len(plan.semantics.graph.ops))
        notes.append(
            f"tiles{which} are coarser than usual "
            f"(1/{coarse[0].tile_share} of LB, {coarse[0].tiles} per share{form}): "
            f"finer ones need more than {most} instructions"
        )
    return tuple(notes)
