"""OwnFetch: each core fetches its weights from DRAM itself, without sharing."""

from __future__ import annotations

from collections.abc import Mapping
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
        """No intermediate buffer."""
        return dict.fromkeys(wanted.boxes)

    def deliver(self, wanted: Wanted, held: Held, offset: int) -> dict[int, int]:
        """Fill each core's LB by a separate load.

        A core that represents others loads for them too: one move for the cores that are the first
        to need their box, another for cores that need a box fetched by another core, since a move
        has one cause. Our choice: the second waits for the first, one latency more than without
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
                booked = site._replace(cause=cause)
                self.mover.broadcast(wanted.where, booked, box, None, targets)
        return found

    def whole(self, stage: Stage, operand: Operand, box: Box) -> Mapping[Box, Fetch]:
        """Fetches of a weight loaded whole: each core fetches only the box that it reads."""
        del box
        boxes: dict[int, Box] = {}
        for reader in stage.operands:
            if reader.tensor == operand.tensor:
                merge_needs(boxes, needs(stage, reader))
        return fetches(stage, operand, boxes)
