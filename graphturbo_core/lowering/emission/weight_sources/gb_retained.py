"""GbRetained: weight boxes retained in GB over several kernels, where lowering found room."""

from __future__ import annotations

from collections.abc import Mapping

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.lowering.emission.mover import Mover
from graphturbo_core.lowering.emission.weight_sources.dram_shares import DramShares
from graphturbo_core.lowering.emission.weight_sources.source import Held, Wanted, WeightSource
from graphturbo_core.lowering.global_buffer.sites import RetainedBox
from graphturbo_core.lowering.instructions.code import Where
from graphturbo_core.lowering.instructions.local_buffers import SharedKey
from graphturbo_core.lowering.stages.stage import tensor_bytes
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Memory


class GbRetained(WeightSource):
    """The first kernel that reads a box fetches it, or one before it (`prefetch`)."""

    def __init__(
        self,
        plan: Plan,
        mover: Mover,
        shares: DramShares,
        retained: Mapping[tuple[str, Box], RetainedBox],
    ) -> None:
        """Create the path; `retained`: boxes that this kernel reads, by tensor and box."""
        super().__init__(plan, mover)
        self._shares = shares
        self._retained = retained
        self._fetched: set[SharedKey] = set()

    def bring(self, wanted: Wanted) -> Held:
        """Buffers of the retained boxes; other boxes have no entry."""
        return {
            box: self.prefetch(wanted.where, self._retained[wanted.tensor, box])
            for box in wanted.boxes
            if (wanted.tensor, box) in self._retained
        }

    def prefetch(self, where: Where, box: RetainedBox) -> int:
        """The buffer of a retained box; fetches the box if this kernel must."""
        size = box.alike * aligned(tensor_bytes(self.plan, box.tensor, box.box))
        buffer = self.mover.local((Memory.GB, -1, 0), box.tensor, box.box, box.key, size)
        if box.is_first and box.key not in self._fetched:
            self._fetched.add(box.key)
            what = self._shares.site(box.tensor), box.box
            self.mover.prefetch(where, what, buffer, alike=box.alike)
        return buffer
