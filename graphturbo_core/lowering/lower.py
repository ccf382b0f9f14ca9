"""Plan -> Program: kernels become instructions with addresses and sequence numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from graphturbo_core.errors import CapacityError
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.lowering.branches import branch_plan, joined_program
from graphturbo_core.lowering.caps import check_moves, fewest_instructions
from graphturbo_core.lowering.chip_numbering import ChipNumbering
from graphturbo_core.lowering.emission.emit import Common, Room
from graphturbo_core.lowering.instructions.machine import Machine
from graphturbo_core.lowering.known import KnownKernels
from graphturbo_core.lowering.notes import fold_notes, longer_note, notes_of
from graphturbo_core.lowering.numbering import number_all
from graphturbo_core.lowering.placing import KernelGrains, PlacingLimit
from graphturbo_core.lowering.placing_far import place_memories, settings_of
from graphturbo_core.lowering.stages.folding import classes_of, folded, has_many_cores, may_fold
from graphturbo_core.lowering.stages.stage import KernelStages, Stage
from graphturbo_core.lowering.tiling.cutting import LAST_GRAINS, Grain, grains
from graphturbo_core.lowering.tiling.tiling import TOO_MANY_INSTRUCTIONS, check_total
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
    `max_instructions` are permitted. `known`: cache of the same model's plans; this plan's kernels
    are added.

    Raises:
        CapacityError: a tile, or all of DRAM's tensors, do not fit; or even the coarsest tiles need
            more than `limits.instructions_coarsest`.
    """
    parts = branch_plan(plan)
    every = list(map(KernelStages(parts, parts.unit_of_op).of, parts.kernels))
    refused: list[tuple[_Attempt, CapacityError]] = []
    ways = _ways(parts, every, is_each_core_simulated)
    known = KnownKernels() if known is None else known
    for attempt in _attempts(parts, ways, limits, max_instructions):
        try:
            return _lowered(plan, parts, attempt, known)
        except CapacityError as error:
            if error.code != TOO_MANY_INSTRUCTIONS:
                raise
            # Its frames reference this attempt's tiles while the next attempt lists its own.
            refused.append((attempt, error.with_traceback(None)))
    refusal = _longer_offered(refused)
    raise _replay_left_out(parts, every, refusal) if is_each_core_simulated else refusal


FEW_PARTS = 2
"""A kernel has few computes if it has at most its even share of this part of the instructions that
finest tiles may take: all such kernels together leave half of them to others (our choice)."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Stages cut by a grain within limits; `is_longer`: only by `--max-instructions`.

    `fewest`: a lower bound on each stage's instructions. `few`: grain of kernels with few computes;
    None: the same grain.
    """

    stages: list[tuple[Stage, ...]]
    fewest: list[tuple[str, int]]
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
    first with the finest one for kernels of few computes. Where cores may exchange tiles, all
    attempts are first made with that, within the lower cap: it takes more instructions, and
    often much less DRAM.
    """
    tried = []
    finest, *coarser = grains(plan.rules)
    for stages in ways:
        way = stages, fewest_instructions(plan, stages)
        tried.append(way)
        for may_exchange in (True, False) if _may_exchange_tiles(plan, stages) else (False,):
            own = [replace(grain, has_tile_exchange=may_exchange) for grain in (finest, *coarser)]
            yield _Attempt(*way, own[0], limits)
            for grain in own[1:]:
                yield _Attempt(*way, grain, limits, few=own[0])
                yield _Attempt(*way, grain, limits)
    if max_instructions is None:
        return
    longer = limits.longer(max_instructions)
    for way in tried:
        yield from (_Attempt(*way, grain, longer, is_longer=True) for grain in LAST_GRAINS)


def _may_exchange_tiles(plan: Plan, stages: Sequence[tuple[Stage, ...]]) -> bool:
    """Whether `Grain.has_tile_exchange` may help: without a GB, and in kernels of several nests.

    Our choice: in a GB a tensor waits for all cores. From DRAM each would fetch its own tiles.
    """
    return not plan.hardware.has_gb and any(len(own) > 1 for own in stages)


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
        f"at most {limits.max_instructions_longest:,}: at least {_fewest(refusal):,} are needed",
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


def _lowered(whole: Plan, plan: Plan, attempt: _Attempt, known: KnownKernels) -> Program:
    """Returns the program with tiles of this grain; `plan`: `whole` with branches as kernels.

    Raises:
        CapacityError: TOO_MANY_INSTRUCTIONS, before the tiles or instructions are listed; or
            something does not fit.
    """
    stages, grain, limits = attempt.stages, attempt.grain, attempt.limits
    ops = len(plan.semantics.graph.ops)
    is_last = grain in LAST_GRAINS
    cap = limits.instructions_coarsest(ops) if is_last else limits.instructions(ops)
    check_total(plan, attempt.fewest, cap)
    machine = Machine(plan.hardware, classes_of(plan.hardware, stages), plan.clusters)
    numbering = ChipNumbering(machine)
    few = limits.instructions(ops) // (FEW_PARTS * len(stages))
    limit = PlacingLimit(KernelGrains(grain, attempt.few, few), cap)
    placed, far = place_memories(plan, stages, limit, known.places(plan, machine), numbering)
    placements = [each.placement for each in placed]
    settings = settings_of(placed, far)
    counts = check_moves(machine.classes, plan, settings, cap)
    room = Room(cap, limits.accesses(ops), sum(counts), is_ahead_counted=not is_last)
    op_index = {op.name: place for place, op in enumerate(plan.semantics.graph.ops)}
    common = Common(plan, machine, op_index)
    kernels = number_all(common, list(zip(settings, counts, strict=True)), room, known)
    notes = [*fold_notes(machine), *notes_of(plan, placements, far, limits)]
    if attempt.is_longer:
        notes.append(longer_note(sum(len(kernel.order) for kernel in kernels), cap))
    return joined_program(whole, plan, numbering, kernels, (far.offsets, tuple(notes)))
