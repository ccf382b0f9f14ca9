"""KernelPlacements -> weights in GB that adjacent instances of a group need not refetch.

The paper refetches weights for every instance that does not follow one of its group. If all weights
of such neighbours fit GB, they are resident there. If not, some boxes are retained from the first
to the last of them, while GB has free room (our choice). The retained boxes are spread evenly over
a kernel's fetches: DRAM delivers the boxes between them while cores compute with the retained ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.boxes import Box, full_box
from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.lowering.global_buffer.gb_places import SharedWeights
from graphturbo_core.lowering.global_buffer.sites import ResidentWeight
from graphturbo_core.lowering.global_buffer.stays import (
    Found,
    Read,
    Stays,
    What,
    boxes_read,
    is_cut_otherwise,
    staying_bytes,
)
from graphturbo_core.lowering.instructions.local_buffers import SharedKey
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.stage import tensor_bytes
from graphturbo_core.products.branches import runs_with
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.products.program import Memory

Runs = list[tuple[int, int]]
"""First and last kernel of each run."""


def neighbour_runs(placements: Sequence[KernelPlacement]) -> Runs:
    """Runs of adjacent kernels that are instances of one group; a branch is a run of its own."""
    runs: Runs = []
    for index, placement in enumerate(placements):
        is_next = index and placement.kernel.group == placements[index - 1].kernel.group
        if is_next and not placement.kernel.branches:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return runs


def neighbours_weights(plan: Plan, placements: Sequence[KernelPlacement]) -> list[SharedWeights]:
    """Returns the weights that adjacent kernels of a group all stream."""
    return [
        SharedWeights(first, last, sum(_whole_bytes(plan, weight) for weight in weights))
        for first, last in neighbour_runs(placements)
        if first < last and (weights := _streamed_weights(placements[first]))
    ]


def held_weights(
    plan: Plan,
    placements: Sequence[KernelPlacement],
    taken: tuple[NDArray[np.int64], Stays],
    offsets: dict[SharedKey, int],
) -> list[dict[str, ResidentWeight]]:
    """Returns per kernel the weights that are resident in GB whole over a run of one group.

    `taken`: used bytes from below, which these weights increase, and retained weights at the end of
    GB. A weight with retained boxes has no second place. If the weights of several kernels do not
    all fit, only those that a plan file places are resident; `with_neighbours` retains parts. The
    weights of a kernel's branches are in GB at the same time, one branch above the other.
    """
    tops, stays = taken
    held: list[dict[str, ResidentWeight]] = [{} for _ in placements]
    at_once = runs_with(placement.kernel for placement in placements)
    for first, last in neighbour_runs(placements):
        free = int(tops[at_once[first][0] : last + 1].max())
        end = int(stays.floors[first : last + 1].min())
        weights = _streamed_weights(placements[first])
        sizes = {tensor: _whole_bytes(plan, tensor) for tensor in weights}
        is_whole = first == last or free + sum(sizes.values()) <= end
        for tensor in weights if is_whole else sorted(plan.fixed & sizes.keys()):
            if not _may_be_held(plan, placements[first : last + 1], tensor):
                continue
            size = sizes[tensor]
            if stays.has(tensor, first, last) or free + size > end:
                continue
            offsets[(Memory.GB.name, tensor, -1, first)] = free
            free += size
            fetched: frozenset[Box] = frozenset()
            for index in range(first, last + 1):
                held[index][tensor] = ResidentWeight(first, fetched)
                fetched |= _read_boxes(placements[index], tensor)
        tops[first : last + 1] = free
    return held


def _may_be_held(plan: Plan, run: Sequence[KernelPlacement], tensor: str) -> bool:
    """Whether the plan has a weight in GB and its kernels can share it there."""
    if run[0].kernel.residency.get(tensor) is not Residency.GB:
        return False
    if len(run) == 1 and _is_streamed_ahead(plan, run[0], tensor):
        return False
    return not is_cut_otherwise(frozenset().union(*(_read_boxes(each, tensor) for each in run)))


def _is_streamed_ahead(plan: Plan, placement: KernelPlacement, tensor: str) -> bool:
    """Whether a weight is streamed ahead instead of resident in GB as planned.

    If instructions move across layers, a weight's bytes can be reused as soon as its layer has
    ended. So a weight read by one layer of one kernel is streamed as far ahead as room permits,
    unless the kernel would refetch it. Our choice; a place that a plan file fixes is not changed.
    """
    if plan.scheduling.has_fence or tensor in plan.fixed or _is_refetched(placement, tensor):
        return False
    readers = [stage.tile_weight() for stage in placement.stages]
    return sum(operand is not None and operand.tensor == tensor for operand in readers) == 1


def _is_refetched(placement: KernelPlacement, tensor: str) -> bool:
    """Whether a kernel that streams a weight fetches one of its boxes several times, by row."""
    boxes = list(_fetched_boxes(placement, tensor))
    return len(set(boxes)) < len(boxes)


def _read_boxes(placement: KernelPlacement, tensor: str) -> frozenset[Box]:
    """The distinct boxes of a streamed weight that a kernel fetches."""
    return frozenset(_fetched_boxes(placement, tensor))


def _fetched_boxes(placement: KernelPlacement, tensor: str) -> Iterator[Box]:
    """The box of each fetch of a streamed weight, in order."""
    for items in placement.items:
        if items is not None and items.operand.tensor == tensor:
            yield from (box for box, _ in items.box_fetches())


def _streamed_weights(placement: KernelPlacement) -> list[str]:
    operands = (stage.tile_weight() for stage in placement.stages)
    return list(dict.fromkeys(operand.tensor for operand in operands if operand is not None))


def _whole_bytes(plan: Plan, tensor: str) -> int:
    return aligned(tensor_bytes(plan, tensor, full_box(plan.semantics.graph.tensors[tensor].shape)))


def with_neighbours(
    plan: Plan,
    placements: Sequence[KernelPlacement],
    taken: tuple[NDArray[np.int64], Stays],
    held: Sequence[Mapping[str, ResidentWeight]],
) -> Stays:
    """Returns the plan's retained weights, and below them, per run, boxes that neighbours share.

    `taken`: bytes of GB that kernels use from below, and the plan's retained weights. Excludes
    weights that a plan file places or that are resident whole (`held`). Linear in fetched boxes.
    """
    tops, stays = taken
    found = Found.of(stays)
    floors = stays.floors.copy()
    for first, last in neighbour_runs(placements):
        kernels = slice(first, last + 1)
        end = int(floors[kernels].min())
        room = end - int(tops[kernels].max())
        if first == last or room <= 0:
            continue
        boxes = _shared_boxes(placements, (first, last), stays, plan.fixed | held[first].keys())
        sizes = {what: staying_bytes(plan, *what, reads) for what, reads in boxes.items()}
        for what in _evenly(sizes, room):
            end -= sizes[what]
            found.add(what, boxes[what], end)
        floors[kernels] = np.minimum(floors[kernels], end)
    return found.stays(floors)


def _shared_boxes(
    placements: Sequence[KernelPlacement],
    run: tuple[int, int],
    stays: Stays,
    barred: Collection[str],
) -> dict[What, list[Read]]:
    """Boxes that several kernels of a run fetch, in order, without barred weights."""
    first, last = run
    there = {what for staying in stays.of_kernel[first : last + 1] for what in staying}
    return {
        (weight, box): reads
        for weight, reads_of in boxes_read(placements, range(first, last + 1)).items()
        if weight not in barred
        for box, reads in reads_of.items()
        if len(reads) > 1 and (weight, box) not in there
    }


def _evenly(sizes: Mapping[What, int], room_bytes: int) -> Iterator[What]:
    """As many boxes as fit, evenly spread: every prefix has an equal share."""
    total = sum(sizes.values())
    passed = taken = 0
    for what, size in sizes.items():
        passed += size
        if (taken + size) * total <= passed * room_bytes:
            taken += size
            yield what
