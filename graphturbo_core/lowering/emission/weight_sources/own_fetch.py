"""OwnFetch: each core fetches its weights from DRAM, whoever else needs the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from operator import itemgetter

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.emission.mover import Targets
from graphturbo_core.lowering.emission.weight_sources.source import (
    Held,
    Wanted,
    WeightSource,
    dram_site,
)
from graphturbo_core.lowering.stages.fetches import Fetch, fetches
from graphturbo_core.lowering.stages.stage import Operand, Stage, merge_needs, needs
from graphturbo_core.products.program import Cause, Memory


class OwnFetch(WeightSource):
    """DRAM -> LB, once per core."""

    def bring(self, wanted: Wanted) -> Held:
        """Nothing lies on the way."""
        return dict.fromkeys(wanted.boxes)

    def deliver(self, wanted: Wanted, held: Held, offset: int) -> dict[int, int]:
        """Each core's box by a load of its own.

        A core that stands for others loads for them too: in one move for those that are the first
        to need their box, in another for those that need what another core has fetched, since a
        move has one cause. Our choice: the second waits for the first, a latency more than without
        classes.
        """
        del held
        classes, every = self.mover.machine.classes, tuple(wanted.boxes.values())
        site = dram_site(self.plan, wanted.tensor)
        lowest = [classes.leader(cores[0]) for fetch in every for cores in fetch.needers]
        found: dict[int, int] = {}
        for core, box in sorted(pair for fetch in every for pair in fetch.targets.items()):
            found[core] = self.mover.local((Memory.LB_WEIGHT, core, offset), site.tensor, box)
            first = lowest.count(core) if classes.is_folded else 1
            causes = (first, site.cause), (classes.size(core) - first, Cause.WEIGHT_AGAIN)
            for count, cause in filter(itemgetter(0), causes):
                targets = Targets({core: found[core]}, 1, count)
                booked = replace(site, cause=cause)
                self.mover.broadcast(wanted.where, booked, box, None, targets)
        return found

    def whole(self, stage: Stage, operand: Operand, box: Box) -> Mapping[Box, Fetch]:
        """Of a weight that comes whole a core fetches no more than it reads."""
        del box
        boxes: dict[int, Box] = {}
        for reader in stage.operands:
            if reader.tensor == operand.tensor:
                merge_needs(boxes, needs(stage, reader))
        return fetches(stage, operand, boxes)
