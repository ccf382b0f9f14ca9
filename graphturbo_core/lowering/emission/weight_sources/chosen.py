"""WeightSources: the path of each weight of a stage."""

from __future__ import annotations

from graphturbo_core.lowering.emission.mover import Mover
from graphturbo_core.lowering.emission.weight_sources.dram_shares import DramShares
from graphturbo_core.lowering.emission.weight_sources.gb_resident import GbResident
from graphturbo_core.lowering.emission.weight_sources.gb_retained import GbRetained
from graphturbo_core.lowering.emission.weight_sources.gb_streamed import GbStreamed
from graphturbo_core.lowering.emission.weight_sources.gb_whole import GbWhole
from graphturbo_core.lowering.emission.weight_sources.lb_shards import LbShards
from graphturbo_core.lowering.emission.weight_sources.own_fetch import OwnFetch
from graphturbo_core.lowering.emission.weight_sources.source import WeightSource
from graphturbo_core.lowering.global_buffer.sites import KernelEnvironment
from graphturbo_core.lowering.stages.stage import Stage
from graphturbo_core.lowering.tiling.weight_space import fetches_own
from graphturbo_core.products.plan import Plan


class WeightSources:
    """All weight paths of one kernel; each records its fetched boxes."""

    def __init__(self, plan: Plan, around: KernelEnvironment, mover: Mover) -> None:
        """Create the paths; `around`: the kernel's environment, with present GB and LB contents."""
        self._plan = plan
        self._resident_tensors = around.held.keys()
        self._mover = mover
        self._shares = shares = DramShares(plan, around.dram_shares)
        self._own = OwnFetch(plan, mover)
        self._shards = LbShards(plan, mover, around.shards)
        self._resident = GbResident(plan, mover, shares, around.held)
        self.retained = GbRetained(plan, mover, shares, around.retained)
        self._streamed = GbStreamed(plan, mover, shares, around.ring, self.retained)

    def of_tiles(self, stage: Stage, tensor: str) -> WeightSource:
        """The path of a weight that is streamed tile by tile."""
        if fetches_own(self._plan, stage):
            return self._own
        if not self._plan.hardware.has_gb:
            return self._shards
        return self._resident if tensor in self._resident_tensors else self._streamed

    def of_whole(self, stage: Stage, gb_offset: int) -> WeightSource:
        """The path of a weight that is loaded whole; `gb_offset`: its bytes of GB, if used."""
        if fetches_own(self._plan, stage):
            return self._own
        if not self._plan.hardware.has_gb:
            return self._shards
        return GbWhole(self._plan, self._mover, self._shares, gb_offset)
