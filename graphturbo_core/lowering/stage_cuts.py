"""Tiling, tiles and rings of a stage by the room it has, kept while a kernel's placement is tried.

A kernel is tried anew for each tensor that finds no place in LB, and all but a few stages have the
same room as before: without keeping, a kernel of a thousand ops takes a thousand times all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, reduce

from graphturbo_core.ir.boxes import Box, hull
from graphturbo_core.lowering.allocator import aligned
from graphturbo_core.lowering.cutting import Space, choose_tiling
from graphturbo_core.lowering.stages import (
    Stage,
    core_stages,
    fetched_bytes,
    holdings,
    tensor_bytes,
)
from graphturbo_core.lowering.tiling import Steps, Tiling, operand_box, stage_tiles, tile_count
from graphturbo_core.lowering.weight_space import small_bytes
from graphturbo_core.strategies.plan import Plan


class StageCuts:
    """What follows from a stage and its room alone, each computed once."""

    def __init__(self, plan: Plan, stages: tuple[Stage, ...]) -> None:
        """Nothing is cut yet."""
        self._plan = plan
        self._stages = stages
        self._tilings: dict[tuple[int, Space], Tiling] = {}
        self._counts: dict[tuple[int, Tiling], int] = {}
        self._steps: dict[tuple[int, Tiling], Steps] = {}
        self._rings: dict[tuple[int, Space], Mapping[str, int]] = {}

    @cached_property
    def holdings(self) -> Mapping[str, Mapping[int, Box]]:
        """For every activation that cores read: the hull that each core's stages need."""
        return holdings(self._stages)

    @cached_property
    def uses(self) -> Mapping[str, Sequence[int]]:
        """Of every tensor read the stages that do, in order."""
        found: dict[str, list[int]] = {}
        for stage in self._stages:
            for operand in stage.operands:
                found.setdefault(operand.tensor, []).append(stage.index)
        return found

    @cached_property
    def small_bytes(self) -> int:
        """Bytes of the whole weights of the stage that has most of them."""
        return max((small_bytes(self._plan, s) for s in core_stages(self._stages)), default=0)

    def tiling(self, stage: Stage, space: Space) -> Tiling:
        """How the stage is cut.

        Raises:
            CapacityError: not even single rows fit.
        """
        key = stage.index, space
        if key not in self._tilings:
            self._tilings[key] = choose_tiling(self._plan, stage, space)
        return self._tilings[key]

    def tile_count(self, stage: Stage, space: Space) -> int:
        """How many tiles the stage has; none is listed."""
        key = stage.index, self.tiling(stage, space)
        if key not in self._counts:
            self._counts[key] = tile_count(stage, key[1])
        return self._counts[key]

    def steps(self, stage: Stage, space: Space) -> Steps:
        """The stage's tiles."""
        key = stage.index, self.tiling(stage, space)
        if key not in self._steps:
            self._steps[key] = stage_tiles(stage, key[1])
        return self._steps[key]

    def ring_bytes(self, stage: Stage, space: Space) -> Mapping[str, int]:
        """Bytes of the largest tile of each streamed tensor."""
        key = stage.index, space
        if key not in self._rings:
            self._rings[key] = self._largest_tiles(stage, space)
        return self._rings[key]

    def _largest_tiles(self, stage: Stage, space: Space) -> Mapping[str, int]:
        sizes: dict[str, int] = {}
        tiles = [tile for step in self.steps(stage, space) for tile in step.values()]
        if space.is_output_streamed:
            sizes[stage.output] = aligned(
                max(tensor_bytes(self._plan, stage.output, tile.box) for tile in tiles)
            )
        for name in sorted(space.streamed):
            readers = [o for o in stage.operands if o.tensor == name]
            boxes = (reduce(hull, (operand_box(stage, o, t) for o in readers)) for t in tiles)
            sizes[name] = aligned(
                max(
                    fetched_bytes(self._plan, readers, box, tile.box)
                    for box, tile in zip(boxes, tiles, strict=True)
                )
            )
        return sizes
