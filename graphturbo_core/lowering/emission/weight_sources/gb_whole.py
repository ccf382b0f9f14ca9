"""GbWhole: small weights, such as a bias, are loaded whole through a separate region of GB."""

from __future__ import annotations

from graphturbo_core.lowering.emission.mover import Mover
from graphturbo_core.lowering.emission.weight_sources.dram_shares import DramShares
from graphturbo_core.lowering.emission.weight_sources.source import Held, Wanted, WeightSource
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Memory


class GbWhole(WeightSource):
    """One weight, which passes through the bytes of GB from `offset` on."""

    def __init__(self, plan: Plan, mover: Mover, shares: DramShares, offset: int) -> None:
        """Create the path; `shares`: the DRAM shares that are read."""
        super().__init__(plan, mover)
        self._shares = shares
        self._offset = offset

    def bring(self, wanted: Wanted) -> Held:
        """One fetch per box."""
        found: Held = {}
        for box in wanted.boxes:
            buffer = self.mover.local((Memory.GB, -1, self._offset), wanted.tensor, box)
            what = self._shares.site(wanted.tensor), box
            self.mover.prefetch(wanted.where, what, buffer)
            found[box] = buffer
        return found
