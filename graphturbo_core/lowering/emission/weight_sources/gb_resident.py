"""GbResident: a weight with its own place in GB, which several kernels read."""

from __future__ import annotations

from collections.abc import Mapping

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.emission.mover import Mover
from graphturbo_core.lowering.emission.weight_sources.dram_shares import DramShares
from graphturbo_core.lowering.emission.weight_sources.source import (
    Held,
    Wanted,
    WeightSource,
    dram_site,
)
from graphturbo_core.lowering.global_buffer.sites import ResidentWeight, Site
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Cause, Memory


class GbResident(WeightSource):
    """Each box is fetched once, by the first kernel that needs it."""

    def __init__(
        self, plan: Plan, mover: Mover, shares: DramShares, places: Mapping[str, ResidentWeight]
    ) -> None:
        """Create the path; `places`: per tensor its first kernel, and the boxes already fetched."""
        super().__init__(plan, mover)
        self._shares = shares
        self._places = places
        self._fetched: set[tuple[str, Box]] = set()

    def bring(self, wanted: Wanted) -> Held:
        """Fetch the missing boxes."""
        tensor = wanted.tensor
        place = self._places[tensor]
        whole = dram_site(self.plan, tensor).box
        site = Site(tensor, Memory.GB, whole, place.maker, Cause.WEIGHT_FIRST)
        target = self.mover.shared(site)
        for box, fetch in wanted.boxes.items():
            if box not in place.fetched and (tensor, box) not in self._fetched:
                self._fetched.add((tensor, box))
                what = self._shares.site(tensor), box
                self.mover.prefetch(wanted.where, what, target, alike=fetch.alike)
        return dict.fromkeys(wanted.boxes, target)
