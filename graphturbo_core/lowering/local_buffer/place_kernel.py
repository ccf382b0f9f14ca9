"""PlacementTask -> KernelPlacement: tensors resident in LB with addresses, and streamed tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from graphturbo_core.errors import CapacityError
from graphturbo_core.ir.boxes import Box, contains
from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.lowering.addresses.packing import Request, Taken, pack, rested, unplaced
from graphturbo_core.lowering.local_buffer.giving_up import (
    SEVERAL,
    SINGLE_ATTEMPTS,
    GivingUp,
    longest_beside,
    moved_bytes,
    those_without_room,
)
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement, Resident
from graphturbo_core.lowering.local_buffer.rings import ring_bytes, ring_offsets
from graphturbo_core.lowering.local_buffer.weight_part import weight_part
from graphturbo_core.lowering.stages.stage import (
    Shares,
    Stage,
    core_stages,
    largest_bytes,
    merge_needs,
)
from graphturbo_core.lowering.stages.views import Need, NeedParts, Views, find_views
from graphturbo_core.lowering.tiling.cutting import Grain
from graphturbo_core.lowering.tiling.expected_places import OperandPlaces
from graphturbo_core.lowering.tiling.stage_cuts import StageCuts
from graphturbo_core.lowering.tiling.stage_memo import StageMemo
from graphturbo_core.lowering.tiling.tiling import check_total, compute_count
from graphturbo_core.products.plan import KernelPlan, Plan, Scope
from graphturbo_core.units import format_bytes


@dataclass(frozen=True)
class PlacementTask:
    """A kernel to place.

    `inherited`: tensors that the kernel before left in LB. `wanted_next`: boxes that the next
    kernel needs of outputs resident in LB. `parked`: planned LB outputs that must spill.
    `computes`: those of the kernels before; the cap `max_instructions` includes them.
    """

    plan: Plan
    kernel: KernelPlan
    stages: tuple[Stage, ...]
    inherited: Mapping[str, Resident]
    wanted_next: Mapping[str, Shares]
    parked: frozenset[str]
    grain: Grain
    alike: StageMemo
    computes: int
    max_instructions: int

    @cached_property
    def places(self) -> OperandPlaces:
        """Expected memories of what the stages read."""
        return self.alike.places.of_kernel(self.kernel, self.stages)


def place_kernel(task: PlacementTask) -> tuple[KernelPlacement | None, int]:
    """Place the tensors that fit in LB; others are streamed or spilled.

    None: nothing fits beside the tensors that the kernel before left. With the most tiles of all
    attempts. Where several tensors without room are given up, so is in turn what is live longest
    beside them: the placement with fewer bytes moved is taken (our choice).

    Raises:
        CapacityError: even with all tensors streamed a tile does not fit, or tiles are too many.
    """
    cuts = StageCuts(task.plan, task.stages, task.grain, task.alike, task.places)
    found = _settled(task, cuts, those_without_room)
    given_up = () if found is None else found.spilled - task.parked
    if found is not None and SEVERAL <= len(given_up) <= SINGLE_ATTEMPTS:
        found = _with_fewer_bytes(task, cuts, found)
    return found, cuts.most_tiles


def _with_fewer_bytes(
    task: PlacementTask, cuts: StageCuts, found: KernelPlacement
) -> KernelPlacement:
    """The placement, or the one that gives up what is live longest, if cores then move less."""
    try:
        other = _settled(task, cuts, longest_beside)
    except CapacityError:  # its tiles are too many
        return found
    if other is None:
        return found
    asked, parked = _asked(task, cuts), task.parked
    before, now = (moved_bytes(each.spilled - parked, asked, cuts) for each in (found, other))
    return other if now < before else found


def _settled(task: PlacementTask, cuts: StageCuts, giving_up: GivingUp) -> KernelPlacement | None:
    """The first placement in which all that is not given up has room."""
    asked = _asked(task, cuts)
    demoted = set(task.parked)
    apart: dict[str, Need] | None = None
    while True:
        wanted = {name: need for name, need in asked.items() if name not in demoted}
        attempt = _attempt(task, wanted, frozenset(demoted), cuts)
        if not isinstance(attempt, tuple):
            return attempt
        if apart is None and task.grain.has_tile_exchange:
            apart = _smaller_apart(task, wanted, cuts)
            asked |= apart
            if apart:
                continue
        if not task.inherited.keys().isdisjoint(attempt):
            return None
        free = {name: need for name, need in wanted.items() if name not in task.inherited}
        for name in giving_up(attempt, free, cuts):
            if _can_exchange_tiles(task, asked[name], cuts):
                asked[name] = _exchanged_by_tile(asked[name], cuts)
            else:
                demoted.add(name)


def _attempt(
    task: PlacementTask, wanted: Mapping[str, Need], demoted: frozenset[str], cuts: StageCuts
) -> KernelPlacement | tuple[str, ...] | None:
    """A placement, or the tensors to give up; None: inherited tensors leave no room."""
    plan, kernel, stages = task.plan, task.kernel, task.stages
    turns = plan.feeding.tiles
    written = {name for name, need in wanted.items() if need.shares}
    by_tile = {name: need for name, need in wanted.items() if need.has_tile_exchange}
    views = find_views(plan, kernel, stages, {n: wanted[n] for n in wanted if n not in by_tile})
    views = replace(views, needs={**views.needs, **by_tile})
    found = [
        cuts.cut(stage, _in_lb(task, stage, wanted), stage.output in written) for stage in stages
    ]
    tilings = tuple(cut.tiling for cut in found)
    counts = [(cut.stage.ops[0].name, cut.tile_count) for cut in found]
    cuts.most_tiles = max(cuts.most_tiles, sum(count for _, count in counts))
    check_total(plan, counts, task.max_instructions, task.computes)
    rings = [cut.ring_bytes for cut in found]
    base = _ring_base(task, rings, cuts)
    if base is None:
        return None
    is_single = len(demoted) - len(task.parked) < SINGLE_ATTEMPTS
    placed = _placed(task, views, (rings, base), cuts, is_single=is_single)
    if isinstance(placed, tuple):
        return placed
    return KernelPlacement(
        plan=plan,
        alike=task.alike,
        kernel=kernel,
        grain=task.grain,
        stages=stages,
        tilings=tilings,
        residents=placed,
        views=views,
        rings=ring_offsets(stages, rings, turns, base),
        weights=weight_part(plan, (stages, tilings), cuts.small_bytes, task.alike),
        kept=frozenset(kernel.kept - demoted),
        spilled=demoted,
        computes=sum(
            [
                compute_count(stage, tiling)
                for stage, tiling in zip(stages, tilings, strict=True)
                if stage.index not in views.skipped
            ]
        ),
        cluster_ring_bytes=turns * ring_bytes(stages, rings, is_on_cluster=True),
    )


def _in_lb(task: PlacementTask, stage: Stage, wanted: Mapping[str, Need]) -> frozenset[str]:
    """Tensors that a stage finds in LB where it reads them."""
    read = (operand.tensor for operand in stage.operands)
    return frozenset(
        name
        for name in read
        if name in task.inherited or (name in wanted and wanted[name].is_in_lb_for(stage.index))
    )


def _ring_base(task: PlacementTask, rings: list[Mapping[str, int]], cuts: StageCuts) -> int | None:
    """Offset of the tile buffers; None: inherited tensors leave no room.

    Raises:
        CapacityError: LB_FULL: they do not fit even alone.
    """
    size = task.plan.feeding.tiles * ring_bytes(task.stages, rings, is_on_cluster=False)
    request = Request("rings", size, 0, len(task.stages))
    base, _ = pack([request], _inherited(task, cuts), task.plan.budget.lb_data_bytes)
    if request.place in base:
        return base[request.place]
    if task.inherited:
        return None
    raise CapacityError(
        "LB_FULL",
        f"the {format_bytes(size)} of tiles of kernel {task.kernel.name!r} do not fit in LB",
        where=f"chip {task.plan.hardware.name}",
        change="choose a chip with a larger LB",
    )


def _inherited(task: PlacementTask, cuts: StageCuts) -> list[Taken]:
    """Bytes of the tensors that the kernel before left, until they are read or exchanged."""
    found = []
    for name, held in sorted(task.inherited.items()):
        at = _handed_on(name, held, cuts)
        found.append(Taken(held.offset, held.size_bytes, 0, held.last if at is None else at))
    return found


def _handed_on(name: str, held: Resident, cuts: StageCuts) -> int | None:
    """The stage at which cores exchange a tensor left in boxes other than those read; or None."""
    read = cuts.holdings.get(name, {})
    if all(core in held.boxes and contains(held.boxes[core], box) for core, box in read.items()):
        return None
    return min(cuts.uses[name])


def _placed(
    task: PlacementTask,
    views: Views,
    streams: tuple[list[Mapping[str, int]], int],
    cuts: StageCuts,
    *,
    is_single: bool,
) -> dict[str, Resident] | tuple[str, ...]:
    """Returns an address per requested tensor, or the first without room.

    Unless `is_single`, all without room but those that the kernel before left.

    `streams`: bytes of each stage's tiles, and the offset of their buffers.
    """
    rings, base = streams
    fixed = _inherited(task, cuts) + [
        Taken(base, task.plan.feeding.tiles * sum(sizes.values()), index, index)
        for index, sizes in enumerate(rings)
        if sizes and not task.stages[index].is_on_cluster
    ]
    needs = [part for need in views.needs.values() for part in _parts(task, need, views, cuts)]
    requests = [
        Request(
            each.tensor,
            cuts.asked_bytes(each),
            each.first,
            each.last,
            is_own=each.parts is NeedParts.COMPUTED,
        )
        for each in needs
    ]
    capacity = task.plan.budget.lb_data_bytes
    offsets, failed = pack(requests, fixed, capacity)
    if failed is not None and is_single:
        return (failed,)
    if failed is not None:
        others = unplaced(requests, fixed, capacity)
        return (failed, *(name for name in others if name not in task.inherited))
    if not task.plan.scheduling.has_fence:
        offsets = rested(requests, fixed, capacity, offsets, cuts.expected)
    found = dict(task.inherited)
    for need, request in zip(needs, requests, strict=True):
        own = found.get(need.tensor)
        made = need if own is None else own
        found[need.tensor] = Resident(
            need.tensor, offsets[request.place], aligned(request.size_bytes), need.boxes,
            made.shares, made.cut, need.first, need.last, own=own, direct=need.direct,
            has_tile_exchange=need.has_tile_exchange,
        )  # fmt: skip
    return found


def _parts(task: PlacementTask, need: Need, views: Views, cuts: StageCuts) -> tuple[Need, ...]:
    """A tensor as one request; or as two: its computed parts, and its read parts.

    Two if they need fewer bytes than one box around both, or if that is asked for. Not for tensors
    that leave the kernel, nor for views.
    """
    is_whole = need.has_tile_exchange or need.tensor in views.holders
    if is_whole or not _is_divisible(task, need, cuts):
        return (need,)
    is_asked_apart = need.parts is NeedParts.APART
    if not is_asked_apart and cuts.asked_bytes(need) <= cuts.apart_bytes(need):
        return (need,)
    return _divided(need, cuts)


def _is_divisible(task: PlacementTask, need: Need, cuts: StageCuts) -> bool:
    """Whether a tensor is computed here, read by cores, and does not leave the kernel in LB."""
    is_here = need.shares and need.tensor not in task.kernel.kept
    return bool(is_here and cuts.holdings.get(need.tensor))


def _divided(need: Need, cuts: StageCuts) -> tuple[Need, ...]:
    """The computed parts of a tensor, and its read parts: live while they are read alone.

    One need where every core reads its own share alone.
    """
    reads = cuts.shared_reads(need)
    if not reads.others:
        return (need,)
    handed_on = min(reads.others)
    last = max({handed_on, *reads.direct})
    own = replace(need, parts=NeedParts.COMPUTED, boxes=need.shares, last=last)
    read = replace(need, parts=NeedParts.READ, boxes=reads.boxes, direct=reads.direct)
    return own, replace(read, first=handed_on, last=max(reads.others))


def _smaller_apart(
    task: PlacementTask, wanted: Mapping[str, Need], cuts: StageCuts
) -> dict[str, Need]:
    """Tensors that take fewer bytes in fewer stages if computed and read parts are apart."""

    def taken(needs: Sequence[Need]) -> int:
        return sum(cuts.asked_bytes(each) * (each.last - each.first + 1) for each in needs)

    return {
        name: replace(need, parts=NeedParts.APART)
        for name, need in wanted.items()
        if _is_divisible(task, need, cuts) and taken(_divided(need, cuts)) < taken([need])
    }


def _can_exchange_tiles(task: PlacementTask, need: Need, cuts: StageCuts) -> bool:
    """Whether cores that read a tensor may get its tiles from those that computed it."""
    kernel, name = task.kernel, need.tensor
    return (
        task.grain.has_tile_exchange
        and not need.has_tile_exchange
        and _is_divisible(task, need, cuts)
        and name not in kernel.outputs
        and kernel.scopes.get(name, Scope.LB) is Scope.LB
    )


def _exchanged_by_tile(need: Need, cuts: StageCuts) -> Need:
    """The computed parts alone, to the last stage that reads some of them."""
    reads = cuts.shared_reads(need)
    return replace(
        need, parts=NeedParts.TILE_EXCHANGE, boxes=need.shares,
        last=max(cuts.uses[need.tensor]), direct=reads.direct,
    )  # fmt: skip


def _asked(task: PlacementTask, cuts: StageCuts) -> dict[str, Need]:
    """Tensors to place in LB: computed residents, and inputs loaded whole."""
    plan, kernel, stages, inherited = task.plan, task.kernel, task.stages, task.inherited
    held, uses = cuts.holdings, cuts.uses
    found: dict[str, Need] = {}
    for stage in core_stages(stages):
        name = stage.output
        if name in task.parked or not _is_resident(plan, kernel, name, held):
            continue
        boxes = dict(stage.shares)
        merge_needs(boxes, held.get(name, {}))
        merge_needs(boxes, _left_for_next(task, stage, boxes) if name in kernel.kept else {})
        last = len(stages) if name in kernel.kept else max(uses.get(name, [stage.index]))
        found[name] = Need(name, boxes, stage.shares, stage.cut, stage.index, last)
    for name, left in inherited.items():
        at = _handed_on(name, left, cuts)
        if at is not None:
            found[name] = Need(name, dict(held[name]), {}, None, at, max(uses[name]))
    for name, needs in held.items():
        is_asked = name not in found and name not in inherited and name not in task.parked
        if is_asked and plan.semantics.graph.tensors[name].elements:
            found[name] = Need(name, dict(needs), {}, None, min(uses[name]), max(uses[name]))
    return found


def _left_for_next(
    task: PlacementTask, stage: Stage, boxes: Mapping[int, Box]
) -> Mapping[int, Box]:
    """Additional boxes of an LB-resident output: all that the next kernel reads.

    Empty if one box around both needs more bytes than both: then the next kernel exchanges it into
    a separate buffer.
    """
    plan, name = task.plan, stage.output
    wanted = task.wanted_next.get(name, {})
    around = dict(boxes)
    merge_needs(around, wanted)
    both = largest_bytes(plan, name, boxes) + largest_bytes(plan, name, wanted)
    return {} if largest_bytes(plan, name, around) > both else wanted


def _is_resident(plan: Plan, kernel: KernelPlan, tensor: str, held: Mapping[str, object]) -> bool:
    """Whether a computed tensor is resident in LB: by the plan, or an output also read here.

    In a branch, only by the plan.
    """
    if tensor in kernel.kept:
        return True
    if kernel.scopes.get(tensor, Scope.LB) is Scope.LB:
        return tensor in held
    return tensor in kernel.outputs and tensor in held and not kernel.branches
