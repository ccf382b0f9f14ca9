"""Plan -> Program: kernels become instructions with addresses and sequence numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

from graphturbo_core.errors import CapacityError
from graphturbo_core.ir.boxes import Box, contains
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.lowering.alternatives import alternatives
from graphturbo_core.lowering.assemble import assemble
from graphturbo_core.lowering.caps import check_fewest, check_moves, compute_total
from graphturbo_core.lowering.emission.emit import Common, Room
from graphturbo_core.lowering.emission.template import Setting
from graphturbo_core.lowering.global_buffer.far_memory import FarMemory
from graphturbo_core.lowering.global_buffer.fixed import check_fixed
from graphturbo_core.lowering.instructions.machine import Machine
from graphturbo_core.lowering.local_buffer.placement import (
    KernelPlacement,
    PlacementTask,
    Resident,
)
from graphturbo_core.lowering.local_buffer.places import Places
from graphturbo_core.lowering.numbering import KnownKernels, number_all
from graphturbo_core.lowering.stages.folding import classes_of, folded, has_many_cores, may_fold
from graphturbo_core.lowering.stages.stage import Stage, holdings, kernel_stages
from graphturbo_core.lowering.team import Team, own_plan, place_team_far
from graphturbo_core.lowering.tiling.cutting import LAST_GRAINS, Grain, grains
from graphturbo_core.lowering.tiling.stage_memo import StageMemo
from graphturbo_core.lowering.tiling.tiling import (
    TOO_MANY_INSTRUCTIONS,
    too_many_instructions,
)
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Program


def lower(
    plan: Plan,
    limits: Limits = DEFAULT_LIMITS,
    *,
    is_each_core_simulated: bool = False,
    max_instructions: int | None = None,
    known: KnownKernels | None = None,
) -> Program:
    """Lower every kernel of a plan, with the finest tiles that the cap on instructions permits.

    Equivalent cores are simulated once on a chip of many cores, and elsewhere if the program of all
    cores is too long; not with `is_each_core_simulated`. If all of that is refused, up to
    `max_instructions` are permitted. `known`: cache of templates of the same model's plans; this
    plan's templates are added.

    Raises:
        CapacityError: a tile, or all of DRAM's tensors, do not fit; or even the coarsest tiles need
            more than `limits.instructions_coarsest`.
    """
    every = [kernel_stages(plan, kernel, plan.unit_of_op) for kernel in plan.kernels]
    refused: list[tuple[_Attempt, CapacityError]] = []
    ways = _ways(plan, every, is_each_core_simulated)
    known = KnownKernels() if known is None else known
    for attempt in _attempts(plan, ways, limits, max_instructions):
        try:
            return _lowered(plan, attempt, known)
        except CapacityError as error:
            if error.code != TOO_MANY_INSTRUCTIONS:
                raise
            # Its frames reference this attempt's tiles while the next attempt lists its own.
            refused.append((attempt, error.with_traceback(None)))
    refusal = _longer_offered(refused)
    raise _replay_left_out(plan, every, refusal) if is_each_core_simulated else refusal


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Stages cut by a grain within limits; `is_longer`: only by `--max-instructions`.

    `few`: grain of kernels with few computes; None: the same grain.
    """

    stages: list[tuple[Stage, ...]]
    grain: Grain
    limits: Limits
    is_longer: bool = False
    few: Grain | None = None


def _attempts(
    plan: Plan,
    ways: Iterable[list[tuple[Stage, ...]]],
    limits: Limits,
    max_instructions: int | None,
) -> Iterator[_Attempt]:
    """Yields each way from fine to coarse, then the coarsest tiles of each for a longer program.

    So a result without `--max-instructions` is the same with it. Each coarser grain is attempted
    first with the finest one for kernels of few computes.
    """
    tried = []
    finest, *coarser = grains(plan.rules)
    for stages in ways:
        tried.append(stages)
        yield _Attempt(stages, finest, limits)
        for grain in coarser:
            yield _Attempt(stages, grain, limits, few=finest)
            yield _Attempt(stages, grain, limits)
    if max_instructions is None:
        return
    longer = limits.longer(max_instructions)
    for stages in tried:
        yield from (_Attempt(stages, grain, longer, is_longer=True) for grain in LAST_GRAINS)


def _longer_offered(refused: Sequence[tuple[_Attempt, CapacityError]]) -> CapacityError:
    """The refusal with the fewest instructions among the last attempts, with the coarsest tiles.

    With the hint to permit a longer program, if that can suffice.
    """
    limits = refused[-1][0].limits
    refusal = min(
        (e for each, e in refused if each.limits is limits and each.grain in LAST_GRAINS),
        key=_fewest,
    )
    if _fewest(refusal) > limits.max_instructions_longest:
        return refusal
    return _with_change(
        refusal,
        "or on the command line allow a longer program with --max-instructions N, "
        f"at most {limits.max_instructions_longest}: at least {_fewest(refusal)} are needed",
    )


def _fewest(refusal: CapacityError) -> int:
    return cast(int, refusal.fields["fewest"])


def _with_change(refusal: CapacityError, more: str) -> CapacityError:
    """The refusal with one more proposed change."""
    change = f"{refusal.change}, {more}"
    return CapacityError(refusal.code, refusal.what, refusal.where, change, **refusal.fields)


def _ways(
    plan: Plan, stages: list[tuple[Stage, ...]], is_each_core_simulated: bool
) -> Iterator[list[tuple[Stage, ...]]]:
    """Yields the stages with all cores, with the simulated cores of classes, or both in order.

    In a cluster-parallel plan each core is simulated.
    """
    is_alone = plan.cooperation is None
    can_fold = is_alone and not is_each_core_simulated and may_fold(plan.hardware)
    is_folded_first = can_fold and has_many_cores(plan.hardware)
    if not is_folded_first:
        yield stages
    if not can_fold:
        return
    few = folded(plan, stages)
    if is_folded_first or classes_of(plan.hardware, few).is_folded:
        yield few


def _replay_left_out(
    plan: Plan, stages: list[tuple[Stage, ...]], refusal: CapacityError
) -> CapacityError:
    """The refusal; if cores are equivalent, with the hint to leave out the replay."""
    if not may_fold(plan.hardware):
        return refusal
    if not classes_of(plan.hardware, folded(plan, stages)).is_folded:
        return refusal
    return _with_change(refusal, "or leave out the replay, which needs each core")


def _lowered(plan: Plan, attempt: _Attempt, known: KnownKernels) -> Program:
    """Returns the program with tiles of this grain.

    Raises:
        CapacityError: TOO_MANY_INSTRUCTIONS, before the tiles or instructions are listed; or
            something does not fit.
    """
    stages, grain, limits = attempt.stages, attempt.grain, attempt.limits
    ops = len(plan.semantics.graph.ops)
    is_last = grain in LAST_GRAINS
    cap = limits.instructions_coarsest(ops) if is_last else limits.instructions(ops)
    check_fewest(plan, stages, cap)
    machine = Machine(plan.hardware, classes_of(plan.hardware, stages), plan.clusters)
    team = Team(machine)
    few = limits.instructions(ops) // (FEW_PARTS * len(stages))
    placed = _place_clusters(plan, stages, _Grains(grain, attempt.few, few), cap)
    placements = [each.placement for each in placed]
    far = place_team_far(plan, placements, team)
    check_fixed(plan, placements, far)
    settings = [
        Setting(each.placement, around, each.others)
        for each, around in zip(placed, far.environments, strict=True)
    ]
    counts = check_moves(machine.classes, plan, settings, cap)
    room = Room(cap, limits.accesses(ops), sum(counts))
    op_index = {op.name: place for place, op in enumerate(plan.semantics.graph.ops)}
    common = Common(plan, machine, op_index)
    kernels = number_all(common, list(zip(settings, counts, strict=True)), room, known)
    notes = [*_fold_notes(machine), *_notes(plan, placements, far, limits)]
    if attempt.is_longer:
        notes.append(_longer_note(sum(len(kernel.order) for kernel in kernels), cap))
    return assemble(plan, team, kernels, (far.offsets, tuple(notes)))


def _longer_note(size: int, cap: int) -> str:
    """Note on a program above the default cap."""
    return (
        f"{size} instructions, as --max-instructions {cap} allows: "
        "even the coarsest tiles need more than the default limit"
    )


def _fold_notes(machine: Machine) -> Iterator[str]:
    """Note on the number of simulated cores."""
    classes = machine.classes
    simulated, cores = len(classes.simulated), len(classes.leaders)
    if classes.is_folded:
        yield f"{simulated} of {cores} cores per cluster are simulated, each for its class"
    elif may_fold(machine.hardware) and has_many_cores(machine.hardware):
        why = "no two are equivalent, or a replay needs each"
        yield f"each of the {cores} cores of a cluster is simulated: {why}"


def _notes(
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
    coarse = [each.grain for each in placements if each.grain != grains(plan.rules)[0]]
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


FEW_PARTS = 2
"""A kernel has few computes if it has at most its even share of this part of the default cap: all
such kernels together leave half of the cap to others (our choice)."""


class _Grains(NamedTuple):
    """Grains of kernels; `few`: of those with at most `computes`, None: the same grain."""

    most: Grain
    few: Grain | None
    computes: int


class _PlacedKernel(NamedTuple):
    """A kernel's placement and its alternatives."""

    placement: KernelPlacement
    others: tuple[KernelPlacement, ...]


def _place_clusters(
    plan: Plan, stages: list[tuple[Stage, ...]], cut: _Grains, max_instructions: int
) -> list[_PlacedKernel]:
    """`_place_all` per cluster of a cluster-parallel plan; in the order of the plan's kernels."""
    if plan.cooperation is None:
        return _place_all(plan, stages, cut, max_instructions)
    found: dict[int, _PlacedKernel] = {}
    for cluster in plan.cooperation.working:
        kernels = plan.cooperation.kernels_of(cluster)
        own = [stages[kernel] for kernel in kernels]
        placed = _place_all(own_plan(plan, cluster), own, cut, max_instructions)
        found |= dict(zip(kernels, placed, strict=True))
    return [found[kernel] for kernel in range(len(stages))]


def _place_all(
    plan: Plan, stages: list[tuple[Stage, ...]], cut: _Grains, max_instructions: int
) -> list[_PlacedKernel]:
    """Place kernel after kernel, while their computes alone are within the cap.

    If a kernel has no room beside the tensors that the kernel before left in LB, that kernel is
    placed again and spills its outputs.

    Raises:
        CapacityError: TOO_MANY_INSTRUCTIONS, or something does not fit.
    """
    placed: list[_PlacedKernel] = []
    parked: dict[int, frozenset[str]] = {}
    computes, alike, places = [0], StageMemo(plan), Places()
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
        placed.append(_PlacedKernel(placement, alternatives(task, placement, places)))
        computes.append(computes[-1] + compute_total(placement))
        if computes[-1] > max_instructions:
            raise too_many_instructions(plan, kernel.ops[-1], computes[-1])
    return placed


def _finer(
    task: PlacementTask, placed: KernelPlacement, cut: _Grains, places: Places
) -> tuple[PlacementTask, KernelPlacement]:
    """A kernel with finer tiles, if it has few computes with them and the same spills."""
    if cut.few is None or compute_total(placed) > cut.computes:
        return task, placed
    finer = replace(task, grain=cut.few)
    try:
        found = places.place(finer)
    except CapacityError:
        return task, placed
    if found is None or not found.spilled <= placed.spilled:
        return task, placed
    return (finer, found) if compute_total(found) <= cut.computes else (task, placed)


def _handed_over(placement: KernelPlacement, stages: tuple[Stage, ...]) -> dict[str, Resident]:
    """Tensors in LB for the next kernel, from its point of view.

    A tensor that a stage of this kernel read is already exchanged: every core has its whole box. If
    that contains all that the next kernel reads, no further exchange is needed.
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
    """Whether each core's own box contains all that it reads."""
    return all(core in held.boxes and contains(held.boxes[core], b) for core, b in read.items())
