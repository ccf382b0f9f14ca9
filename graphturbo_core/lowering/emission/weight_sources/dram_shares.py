"""DramShares: in whose DRAM the next fetch finds a weight."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.lowering.emission.weight_sources.source import dram_site
from graphturbo_core.lowering.global_buffer.sites import Site
from graphturbo_core.products.plan import Plan


class DramShares:
    """The own cluster's DRAM, and that of idle clusters in turn where the plan shares theirs."""

    def __init__(self, plan: Plan, shares: int) -> None:
        """`shares`: how many DRAMs are read in turn, the own one first."""
        self._plan = plan
        self._shares = shares
        self._next = 0

    def site(self, tensor: str) -> Site:
        """Where the next fetch reads the weight."""
        away = self._next % self._shares
        self._next += 1
        return replace(dram_site(self._plan, tensor), away=away)
