"""KernelPlacements -> Stays: weight boxes retained in GB over several kernels, with offsets."""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.boxes import Box, BoxIndex
from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.lowering.global_buffer.inputs import input_fetch, is_input
from graphturbo_core.lowering.global_buffer.sites import AheadFetch, InputFetch, RetainedBox, Site
from graphturbo_core.lowering.instructions.local_buffers import SharedKey
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.stage import Stage, cluster_reads, tensor_bytes
from graphturbo_core.lowering.tiling.weight_items import WeightItems
from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Plan

What = tuple[str, Box]
"""A box of a weight."""


@dataclass(frozen=True)
class Stays:
    """Retained boxes that each kernel reads, and boxes that it prefetches.

    `floors`: lowest byte of GB used by retained boxes while each kernel runs. `inputs`: of the
    model, that each kernel finds in GB; `early_inputs`: those that it prefetches for later kernels.
    """

    of_kernel: tuple[Mapping[What, RetainedBox], ...]
    early: tuple[tuple[AheadFetch, ...], ...]
    offsets: Mapping[SharedKey, int]
    floors: NDArray[np.int64]
    inputs: tuple[Mapping[str, Site], ...]
    early_inputs: tuple[tuple[InputFetch, ...], ...]

    def has(self, tensor: str, first: int, last: int) -> bool:
        """Whether some box of the weight is retained during the kernels from first to last."""
        kernels = self.of_kernel[first : last + 1]
        return any(name == tensor for found in kernels for name, _ in found)


@dataclass(frozen=True, slots=True)
class Read:
    """First read of a box in one kernel: op and layer; `alike`: number of equivalent boxes."""

    kernel: int
    op: str
    layer: int
    alike: int


def place_stays(
    plan: Plan, placements: Sequence[KernelPlacement], tops: NDArray[np.int64]
) -> Stays:
    """Returns the places of retained boxes, each for its kernels, from GB's end downwards.

    In the plan's order; `tops`: bytes of GB that kernels use from below. A weight is streamed if
    its kernels cut it into different intersecting boxes, or if a shared engine reads it.
    """
    found = Found.nothing(len(placements))
    room = _Room(plan.hardware.gb_bytes, tops)
    for stay in plan.stays:
        place = _place_input if is_input(plan, stay.weight) else _place_stay
        place(plan, placements, stay, found, room)
    return found.stays(room.floors)


def _place_input(
    plan: Plan, placements: Sequence[KernelPlacement], stay: GbRetention, found: Found, room: _Room
) -> None:
    """Place what the last kernel reads of an input, if all of it has room."""
    fetch = input_fetch(plan, placements, stay)
    if fetch is None or stay.weight in found.inputs[stay.last]:
        return
    size = aligned(tensor_bytes(plan, stay.weight, fetch.target.box))
    offset = room.place(size, stay) if size <= aligned(stay.size_bytes) else None
    if offset is not None:
        found.add_input(fetch, stay, offset)


def _place_stay(
    plan: Plan, placements: Sequence[KernelPlacement], stay: GbRetention, found: Found, room: _Room
) -> None:
    """Place the boxes of one weight, in order, until the bytes of its retention are used."""
    left = stay.size_bytes
    kernels = range(stay.first, stay.last + 1)
    is_early = stay.weight not in placements[stay.first].kernel.residency
    reads_of = boxes_read(placements, kernels, {stay.weight}).get(stay.weight, {})
    for box, reads in reads_of.items():
        if any((stay.weight, box) in found.of_kernel[read.kernel] for read in reads):
            continue
        size = staying_bytes(plan, stay.weight, box, reads)
        offset = room.place(size, stay) if size <= left else None
        if offset is None:
            break
        left -= size
        found.add((stay.weight, box), reads, offset, stay.first if is_early else None)


def boxes_read(
    placements: Sequence[KernelPlacement], kernels: range, weights: Collection[str] | None = None
) -> dict[str, dict[Box, list[Read]]]:
    """Returns per streamed weight of these kernels its boxes in order, with their reads.

    One read per kernel. Excludes weights that may not be retained: kernels cut them differently, or
    a shared engine reads them from GB by its own rules.
    """
    found: dict[str, dict[Box, list[Read]]] = {}
    barred: set[str] = set()
    for kernel in kernels:
        placement = placements[kernel]
        barred |= cluster_reads(placement.stages)
        streamed = (
            (stage, items)
            for stage, items in zip(placement.stages, placement.items, strict=True)
            if items is not None and (weights is None or items.operand.tensor in weights)
        )
        for stage, items in streamed:
            _add_reads(found.setdefault(items.operand.tensor, {}), kernel, stage, items)
    return {n: boxes for n, boxes in found.items() if n not in barred and _is_one_way(boxes)}


def _add_reads(boxes: dict[Box, list[Read]], kernel: int, stage: Stage, items: WeightItems) -> None:
    for box, fetch in items.box_fetches():
        reads = boxes.setdefault(box, [])
        if not reads or reads[-1].kernel != kernel:
            reads.append(Read(kernel, items.operand.op.name, stage.layer, fetch.alike))


def _is_one_way(boxes: Mapping[Box, Sequence[Read]]) -> bool:
    """Whether all kernels cut the weight equally."""
    is_alike = all(len({read.alike for read in reads}) == 1 for reads in boxes.values())
    return is_alike and not is_cut_otherwise(frozenset(boxes))


def staying_bytes(plan: Plan, weight: str, box: Box, reads: Sequence[Read]) -> int:
    """Bytes of GB for a box and its equivalents."""
    return reads[0].alike * aligned(tensor_bytes(plan, weight, box))


def is_cut_otherwise(boxes: frozenset[Box]) -> bool:
    """Whether two different boxes intersect: their common elements would be fetched twice."""
    listed = sorted(boxes)
    index = BoxIndex(listed)
    return any(len(index.meeting(box)) > 1 for box in listed)


@dataclass
class Found:
    """Retained boxes so far, by kernel."""

    of_kernel: tuple[dict[What, RetainedBox], ...]
    early: tuple[list[AheadFetch], ...]
    inputs: tuple[dict[str, Site], ...]
    early_inputs: tuple[list[InputFetch], ...]
    offsets: dict[SharedKey, int] = field(default_factory=dict)

    @classmethod
    def nothing(cls, kernels: int) -> Found:
        """Nothing for so many kernels."""
        numbers = range(kernels)
        return cls(
            tuple({} for _ in numbers),
            tuple([] for _ in numbers),
            tuple({} for _ in numbers),
            tuple([] for _ in numbers),
        )

    @classmethod
    def of(cls, stays: Stays) -> Found:
        """A copy of these."""
        return cls(
            tuple(map(dict, stays.of_kernel)),
            tuple(map(list, stays.early)),
            tuple(map(dict, stays.inputs)),
            tuple(map(list, stays.early_inputs)),
            dict(stays.offsets),
        )

    def add_input(self, fetch: InputFetch, stay: GbRetention, offset: int) -> None:
        """Add an input at its offset: the first kernel prefetches it for the last."""
        self.offsets[fetch.target.key] = offset
        self.inputs[stay.last][stay.weight] = fetch.target
        self.early_inputs[stay.first].append(fetch)

    def add(
        self, what: What, reads: Sequence[Read], offset: int, fetcher: int | None = None
    ) -> None:
        """Add a box at its offset, for its readers in order; the first reader fetches it.

        With `fetcher`, that earlier kernel prefetches it.
        """
        number, alike = len(self.offsets), reads[0].alike
        first = reads[0].kernel if fetcher is None else fetcher
        for read in reads:
            self.of_kernel[read.kernel][what] = RetainedBox(
                *what, alike, number, read.kernel == first
            )
        staying = RetainedBox(*what, alike, number, is_first=fetcher is not None)
        self.offsets[staying.key] = offset
        if fetcher is not None:
            self.early[fetcher].append(AheadFetch(staying, reads[0].op, reads[0].layer))

    def stays(self, floors: NDArray[np.int64]) -> Stays:
        """The Stays; `floors`: see there."""
        return Stays(
            self.of_kernel,
            tuple(map(tuple, self.early)),
            self.offsets,
            floors,
            self.inputs,
            tuple(map(tuple, self.early_inputs)),
        )


class _Room:
    """Allocator of GB above the kernels' own use: places with lifetimes, the highest first."""

    def __init__(self, gb_bytes: int, tops: NDArray[np.int64]) -> None:
        self._end = gb_bytes
        self._tops = tops
        self._taken: list[tuple[int, int, int, int]] = []
        self.floors = np.full(len(tops), gb_bytes, dtype=np.int64)

    def place(self, size_bytes: int, stay: GbRetention) -> int | None:
        """The highest offset that is free in all kernels of the retention; None: none.

        Linear in the used places, which are sorted from the highest to the lowest.
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
