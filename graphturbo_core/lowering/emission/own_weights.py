"""Weights that each core fetches for itself: DRAM -> its LB, whoever else needs the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.emission.mover import Mover, Targets
from graphturbo_core.lowering.global_buffer.sites import Site
from graphturbo_core.lowering.instructions.code import Where
from graphturbo_core.lowering.stages.fetches import Fetch, fetches
from graphturbo_core.lowering.stages.stage import Operand, Stage, merge_needs, needs
from graphturbo_core.products.program import Cause, Memory


def own_needs(stage: Stage, operand: Operand) -> Mapping[Box, Fetch]:
    """Who needs which part of a weight that comes whole: of a core's own no more than it reads."""
    boxes: dict[int, Box] = {}
    for reader in stage.operands:
        if reader.tensor == operand.tensor:
            merge_needs(boxes, needs(stage, reader))
    return fetches(stage, operand, boxes)


def fetch_own(
    mover: Mover, where: Where, site: Site, wanted: Iterable[Fetch], offset: int
) -> dict[int, int]:
    """Each core's box by a load of its own, to this offset of its LB; its buffer by core.

    A core that stands for others loads for them too: in one move for those that are the first to
    need their box, in another for those that need what another core has fetched, since a move has
    one cause. Our choice: the second waits for the first, a latency more than without classes.
    """
    classes, every = mover.machine.classes, tuple(wanted)
    lowest = [classes.leader(cores[0]) for fetch in every for cores in fetch.needers]
    found: dict[int, int] = {}
    for core, box in sorted(pair for fetch in every for pair in fetch.targets.items()):
        found[core] = mover.local((Memory.LB_WEIGHT, core, offset), site.tensor, box)
        first = lowest.count(core) if classes.is_folded else 1
        for count, cause in (first, site.cause), (classes.size(core) - first, Cause.WEIGHT_AGAIN):
            if count:
                targets = Targets({core: found[core]}, 1, count)
                mover.broadcast(where, replace(site, cause=cause), box, None, targets)
    return found
