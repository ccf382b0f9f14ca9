"""LbShards: without a GB, a shard in one LB serves all cores; other boxes come from DRAM."""

from __future__ import annotations

from collections.abc import Mapping

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.emission.mover import Mover, Targets
from graphturbo_core.lowering.emission.weight_sources.source import (
    Held,
    Wanted,
    WeightSource,
    dram_site,
)
from graphturbo_core.lowering.global_buffer.sites import Shard
from graphturbo_core.lowering.instructions.code import Where
from graphturbo_core.lowering.instructions.local_buffers import SharedKey
from graphturbo_core.lowering.stages.fetches import Fetch
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Memory


class LbShards(WeightSource):
    """A shard is filled at its first use; later kernels read it there."""

    def __init__(self, plan: Plan, mover: Mover, shards: Mapping[tuple[str, Box], Shard]) -> None:
        """Create the path; `shards`: by tensor and box."""
        super().__init__(plan, mover)
        self._shards = shards
        self._filled: set[SharedKey] = set()

    def bring(self, wanted: Wanted) -> Held:
        """The LB buffers of the boxes that are shards; None for other boxes."""
        return {
            box: self._shard(wanted.where, wanted.tensor, box, fetch.alike)
            for box, fetch in wanted.boxes.items()
        }

    def _shard(self, where: Where, tensor: str, box: Box, alike: int) -> int | None:
        shard = self._shards.get((tensor, box))
        if shard is None:
            return None
        buffer = self.mover.shard(shard, alike)
        if shard.is_first and shard.key not in self._filled:
            self._filled.add(shard.key)
            targets = Targets({shard.core: buffer}, 1, alike)
            self.mover.broadcast(where, dram_site(self.plan, tensor), box, None, targets)
        return buffer

    def deliver(self, wanted: Wanted, held: Held, offset: int) -> dict[int, int]:
        """Fill LBs from a box's shard, or from DRAM."""
        found: dict[int, int] = {}
        for box, fetch in wanted.boxes.items():
            shard, source = self._shards.get((wanted.tensor, box)), held[box]
            if shard is None or source is None:
                one = Wanted(wanted.where, wanted.tensor, {box: fetch})
                found.update(super().deliver(one, {box: None}, offset))
            else:
                found.update(self._spread(wanted.where, shard, source, (fetch, offset)))
        return found

    def _spread(
        self, where: Where, shard: Shard, source: int, what: tuple[Fetch, int]
    ) -> dict[int, int]:
        """Fill the other LBs from one LB.

        The core with the shard reads it in place; a core that represents others receives it as they
        do.
        """
        fetch, offset = what
        served = len(fetch.needers[0]) - (shard.core in fetch.needers[0])
        is_alone = self.mover.machine.classes.sizes.get(shard.core) == 1
        holder = (shard.core, shard.box) if is_alone or not served else None
        buffers = {
            core: self.mover.local((Memory.LB_WEIGHT, core, offset), shard.tensor, box)
            for core, box in fetch.targets.items()
            if (core, box) != holder
        }
        if buffers:
            self.mover.spread(where, shard, source, Targets(buffers, served, fetch.alike))
        is_held = holder is not None and holder in fetch.targets.items()
        return buffers | ({shard.core: source} if is_held else {})
