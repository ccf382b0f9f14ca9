"""GbStreamed: weights pass through a ring of slots in GB, one item per slot."""

from __future__ import annotations

from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.lowering.emission.mover import Mover
from graphturbo_core.lowering.emission.weight_sources.dram_shares import DramShares
from graphturbo_core.lowering.emission.weight_sources.gb_retained import GbRetained
from graphturbo_core.lowering.emission.weight_sources.source import Held, Wanted, WeightSource
from graphturbo_core.lowering.global_buffer.sites import GbRing
from graphturbo_core.lowering.stages.stage import tensor_bytes
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Memory


class GbStreamed(WeightSource):
    """Each item is fetched by its reading kernel, without boxes that are retained in GB."""

    def __init__(
        self, plan: Plan, mover: Mover, shares: DramShares, ring: GbRing, retained: GbRetained
    ) -> None:
        """Create the path; `retained`: boxes that need not pass through the ring."""
        super().__init__(plan, mover)
        self._shares = shares
        self._ring, self._retained = ring, retained
        self._end = 0

    def bring(self, wanted: Wanted) -> Held:
        """Fetch the boxes of an item to consecutive bytes."""
        tensor = wanted.tensor
        found = self._retained.bring(wanted)
        boxes = {box: fetch.alike for box, fetch in wanted.boxes.items() if box not in found}
        sizes = {
            box: alike * aligned(tensor_bytes(self.plan, tensor, box))
            for box, alike in boxes.items()
        }
        offset = self._take(sum(sizes.values())) if sizes else 0
        for box, size in sizes.items():
            buffer = self.mover.local((Memory.GB, -1, offset), tensor, box, size_bytes=size)
            found[box] = buffer
            what = self._shares.site(tensor), box
            self.mover.prefetch(wanted.where, what, buffer, alike=boxes[box])
            offset += size
        return found

    def _take(self, size_bytes: int) -> int:
        """GB offset of an item: after the item before, or at the start if no room is left.

        With two slots an item uses a whole slot, so that it waits only for the second-last item.
        """
        base, room = self._ring.turn
        taken = size_bytes if self._ring.is_ahead else self._ring.slot_bytes
        if self._end + taken > room:
            self._end = 0
        self._end += taken
        return base + self._end - taken
