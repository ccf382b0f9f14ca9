"""KernelPlacements -> Stays: which boxes of weights stay in GB over several kernels, and where."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.boxes import Box, BoxIndex
from graphturbo_core.lowering.allocator import aligned
from graphturbo_core.lowering.local_buffers import SharedKey
from graphturbo_core.lowering.placement import KernelPlacement
from graphturbo_core.lowering.sites import EarlyFetch, StayingBox
from graphturbo_core.lowering.stages import tensor_bytes
from graphturbo_core.strategies.plan import Plan
from graphturbo_core.strategies.stays import Stay

What = tuple[str, Box]
"""A box of a weight."""


@dataclass(frozen=True)
class Stays:
    """Of each kernel what it reads that stays, what it fetches early, and where they end.

    `floors`: the lowest byte of GB that is taken by what stays while each kernel runs.
    """

    of_kernel: tuple[Mapping[What, StayingBox], ...]
    early: tuple[tuple[EarlyFetch, ...], ...]
    offsets: Mapping[SharedKey, int]
    floors: NDArray[np.int64]

    def has(self, tensor: str, first: int, last: int) -> bool:
        """Whether some box of the weight stays for one of the kernels from first to last."""
        kernels = self.of_kernel[first : last + 1]
        return any(name == tensor for found in kernels for name, _ in found)


@dataclass(frozen=True, slots=True)
class _Read:
    """Who reads a box in the kernels of a stay first: kernel, op and layer; as many are alike."""

    kernel: int
    op: str
    layer: int
    alike: int


def place_stays(
    plan: Plan, placements: Sequence[KernelPlacement], tops: NDArray[np.int64]
) -> Stays:
    """Give the boxes that stay a place, each for the kernels of its stay, from GB's end downwards.

    In the plan's order; `tops`: bytes of GB that kernels take from below. A weight whose kernels
    cut it into boxes that meet is streamed, as is what an engine that cores share reads.
    """
    found = _Found(placements, tuple({} for _ in placements), tuple([] for _ in placements))
    room = _Room(plan.hardware.gb_bytes, tops)
    for stay in plan.stays:
        left = stay.size_bytes
        for box, reads in _staying(placements, stay).items():
            if any((stay.weight, box) in found.of_kernel[read.kernel] for read in reads):
                continue
            size = reads[0].alike * aligned(tensor_bytes(plan, stay.weight, box))
            offset = room.place(size, stay) if size <= left else None
            if offset is None:
                break
            left -= size
            found.add(stay, box, reads, offset)
    return Stays(found.of_kernel, tuple(map(tuple, found.early)), found.offsets, room.floors)


def _staying(placements: Sequence[KernelPlacement], stay: Stay) -> Mapping[Box, list[_Read]]:
    """The boxes that may stay, and their reads; none where kernels disagree on them."""
    boxes: dict[Box, list[_Read]] = {}
    for box, read in _reads(placements, stay):
        boxes.setdefault(box, []).append(read)
    is_one_way = all(len({read.alike for read in reads}) == 1 for reads in boxes.values())
    is_held = is_one_way and not _is_shared(placements, stay)
    return boxes if is_held and not is_cut_otherwise(frozenset(boxes)) else {}


def _reads(placements: Sequence[KernelPlacement], stay: Stay) -> Iterator[tuple[Box, _Read]]:
    """The boxes of the weight that kernels of its stay fetch, in their order, once a kernel."""
    for kernel in range(stay.first, stay.last + 1):
        placement = placements[kernel]
        seen: set[Box] = set()
        for stage, items in zip(placement.stages, placement.items, strict=True):
            if items is None or items.operand.tensor != stay.weight:
                continue
            for item in items.items:
                for box, fetch in item.boxes.items():
                    if box not in seen:
                        seen.add(box)
                        op = items.operand.op.name
                        yield box, _Read(kernel, op, stage.layer, fetch.alike)


def _is_shared(placements: Sequence[KernelPlacement], stay: Stay) -> bool:
    """Whether an engine that cores share reads the weight: out of GB, with rules of its own."""
    return any(
        stage.is_on_cluster and any(o.tensor == stay.weight for o in stage.operands)
        for placement in placements[stay.first : stay.last + 1]
        for stage in placement.stages
    )


def is_cut_otherwise(boxes: frozenset[Box]) -> bool:
    """Whether two different boxes meet: held, the elements in both would be fetched twice."""
    listed = sorted(boxes)
    index = BoxIndex(listed)
    return any(len(index.meeting(box)) > 1 for box in listed)


@dataclass
class _Found:
    """What stays so far, by kernel."""

    placements: Sequence[KernelPlacement]
    of_kernel: tuple[dict[What, StayingBox], ...]
    early: tuple[list[EarlyFetch], ...]
    offsets: dict[SharedKey, int] = field(default_factory=dict)

    def add(self, stay: Stay, box: Box, reads: Sequence[_Read], offset: int) -> None:
        """A box at its offset, for those that read it in order."""
        number, alike = len(self.offsets), reads[0].alike
        is_early = stay.weight not in self.placements[stay.first].kernel.residency
        fetcher = stay.first if is_early else reads[0].kernel
        for read in reads:
            self.of_kernel[read.kernel][stay.weight, box] = StayingBox(
                stay.weight, box, alike, number, read.kernel == fetcher
            )
        staying = StayingBox(stay.weight, box, alike, number, is_first=is_early)
        self.offsets[staying.key] = offset
        if is_early:
            self.early[stay.first].append(EarlyFetch(staying, reads[0].op, reads[0].layer))


class _Room:
    """GB above what kernels take from below: places with lifetimes, the highest first."""

    def __init__(self, gb_bytes: int, tops: NDArray[np.int64]) -> None:
        self._end = gb_bytes
        self._tops = tops
        self._taken: list[tuple[int, int, int, int]] = []
        self.floors = np.full(len(tops), gb_bytes, dtype=np.int64)

    def place(self, size_bytes: int, stay: Stay) -> int | None:
        """The highest offset that is free in all kernels of the stay; None: there is none.

        Linear in the places taken so far, which lie from the highest to the lowest.
        """
        kernels = slice(stay.first, stay.last + 1)
        base = int(self._tops[kernels].max())
        top = self._end
        for start, end, first, last in (*self._taken, (0, base, stay.first, stay.last)):
            if first > stay.last or stay.first > last:
                continue
            if top - end >= size_bytes and top - size_bytes >= base:
                offset = top - size_bytes
                insort(self._taken, (offset, top, stay.first, stay.last), key=lambda own: -own[0])
                self.floors[kernels] = np.minimum(self.floors[kernels], offset)
                return offset
            top = min(top, start)
        return None
