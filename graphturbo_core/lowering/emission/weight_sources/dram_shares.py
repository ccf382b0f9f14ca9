"""DramShares: the DRAM share of the next weight fetch."""

from __future__ import annotations

from graphturbo_core.lowering.emission.weight_sources.source import dram_site
from graphturbo_core.lowering.global_buffer.sites import Site
from graphturbo_core.products.plan import Plan


class DramShares:
    """Round robin over the own cluster's DRAM and, with remote DRAM shares, idle clusters'."""

    def __init__(self, plan: Plan, shares: int) -> None:
        """Create the round robin over `shares` DRAM shares, the own one first."""
        self._plan = plan
        self._shares = shares
        self._next = 0

    def site(self, tensor: str) -> Site:
        """The site of the weight for the next fetch."""
        away = self._next % self._shares
        self._next += 1
        return dram_site(self._plan, tensor)._replace(away=away)
