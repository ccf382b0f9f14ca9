"""KernelPlacements -> Shards: LB and offset of each box of a sharded weight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.addresses.allocator import OffsetAllocator, aligned
from graphturbo_core.lowering.global_buffer.sites import Shard
from graphturbo_core.lowering.instructions.local_buffers import SharedKey
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.fetches import Needers, whole_fetch
from graphturbo_core.lowering.stages.stage import tensor_bytes
from graphturbo_core.lowering.tiling.weight_space import shard_range, small_weights
from graphturbo_core.products.plan import Plan, Residency

What = tuple[str, Box]
"""A box of a weight."""


@dataclass(frozen=True)
class Shards:
    """Shards that each kernel reads, their addresses, and weights without room."""

    of_kernel: tuple[Mapping[What, Shard], ...]
    offsets: Mapping[SharedKey, int]
    without_room: frozenset[str]


@dataclass
class _Use:
    """Use of a box: first and last kernel, number of fetches, and its first needing cores.

    `needers`: those cores, then those of each equivalent box.
    """

    first: int
    last: int
    needers: Needers
    fetches: int = 0


def place_shards(plan: Plan, placements: Sequence[KernelPlacement]) -> Shards:
    """Returns the places of sharded weights' boxes, from their first to their last reader.

    A box that is fetched once is not a shard. In order of first use, a box goes to the needing core
    with the fewest shard bytes at that time, which balances the bytes (our choice). Without room
    there it is streamed.
    """
    if not plan.shard_bytes:
        return Shards(({},) * len(placements), {}, frozenset())
    uses: dict[What, _Use] = {}
    read = [tuple(_fetched(plan, placement)) for placement in placements]
    for index, fetched in enumerate(read):
        for what, needers in fetched:
            use = uses.setdefault(what, _Use(index, index, needers))
            use.last, use.fetches = index, use.fetches + 1
    room, lost = _ShardRoom(plan), set()
    found: dict[What, tuple[int, int]] = {}
    offsets: dict[SharedKey, int] = {}
    for number, (what, use) in enumerate(uses.items()):
        if use.fetches == 1:
            continue
        place = room.place(tensor_bytes(plan, *what), use)
        if place is None:
            lost.add(what[0])
            continue
        found[what] = (place[0], number)
        offsets[Shard(*what, *found[what], is_first=False).key] = place[1]
    of_kernel = tuple(
        {what: Shard(*what, *found[what], index == uses[what].first)
         for what, _ in fetched if what in found}
        for index, fetched in enumerate(read)
    )  # fmt: skip
    return Shards(of_kernel, offsets, frozenset(lost))


def _fetched(plan: Plan, placement: KernelPlacement) -> Iterator[tuple[What, Needers]]:
    """Boxes of sharded weights in a kernel's fetch order, with the cores that need them."""
    for stage, items in zip(placement.stages, placement.items, strict=True):
        if stage.index in placement.views.skipped:
            continue
        small = ((tensor, box) for tensor, (_, box) in small_weights(plan, stage).items())
        for what in (what for what in small if _is_sharded(placement, what[0])):
            yield what, whole_fetch(stage, what[1]).needers
        if items is not None and _is_sharded(placement, items.operand.tensor):
            tensor = items.operand.tensor
            yield from (((tensor, box), fetch.needers) for box, fetch in items.box_fetches())


def _is_sharded(placement: KernelPlacement, tensor: str) -> bool:
    return placement.kernel.residency.get(tensor) is Residency.SHARDED


class _ShardRoom:
    """Allocator of the bytes for shards in every LB."""

    def __init__(self, plan: Plan) -> None:
        base, end = shard_range(plan)
        self._parts = [OffsetAllocator(end, base) for _ in range(plan.hardware.cores)]
        self._held: NDArray[np.int64] = np.zeros(plan.hardware.cores, dtype=np.int64)
        self._ends: list[tuple[int, int, int]] = []

    def place(self, size_bytes: int, use: _Use) -> tuple[int, int] | None:
        """(core, offset) for the time of use; None: no room for it or an equivalent box."""
        places = [self._place(size_bytes, use, cores) for cores in use.needers]
        return None if None in places else places[0]

    def _place(self, size_bytes: int, use: _Use, cores: tuple[int, ...]) -> tuple[int, int] | None:
        while self._ends and self._ends[0][0] < use.first:
            _, core, size = heappop(self._ends)
            self._held[core] -= size
        core = cores[int(self._held[list(cores)].argmin())]
        offset = self._parts[core].place(size_bytes, use.first, use.last)
        if offset is None:
            return None
        self._held[core] += aligned(size_bytes)
        heappush(self._ends, (use.last, core, aligned(size_bytes)))
        return core, offset
