"""Tilings and tile sizes of a stage by its room, memoised while a kernel is placed.

Placement is retried for each tensor without a place in LB, and almost all stages have the same room
as before. Without the memo, a kernel of a thousand ops would recompute all stages a thousand times.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from graphturbo_core.ir.boxes import Box, Interval, contains
from graphturbo_core.lowering.addresses.allocator import ALIGNMENT_BYTES, aligned
from graphturbo_core.lowering.stages.stage import (
    Shares,
    Stage,
    core_stages,
    holdings,
    largest_bytes,
    merge_needs,
    needs,
)
from graphturbo_core.lowering.stages.views import Need, NeedParts
from graphturbo_core.lowering.tiling.cutting import Grain, staging_sets
from graphturbo_core.lowering.tiling.expected_places import OperandPlaces
from graphturbo_core.lowering.tiling.stage_memo import StageMemo
from graphturbo_core.lowering.tiling.tile_space import TileSpace
from graphturbo_core.lowering.tiling.tiling import Tiling, tile_count
from graphturbo_core.lowering.tiling.weight_space import (
    is_small_weight,
    small_bytes,
    weight_capacity,
)
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.semantics.cost import is_divisible

CLUSTER_SHARE = 8
"""Tiles and weight tiles of an engine that the cores share have at most 1/4 and 1/16 of GB (our
choice: most of GB is left for whole tensors)."""

DIVIDED_TILES = 4
"""Times as many tiles where two engines divide them (our choice: of eight pairs of model and
chip, 0.4 % faster in the geometric mean than twice, and 1.4 % than once)."""

_COMPUTED = NeedParts.COMPUTED, NeedParts.TILE_EXCHANGE
"""Needs whose boxes are the computed parts."""


@dataclass(frozen=True)
class StageCut:
    """A stage in a space, with derived values."""

    alike: StageMemo = field(repr=False, compare=False)
    stage: Stage
    space: TileSpace

    @cached_property
    def tiling(self) -> Tiling:
        """The stage's tiling.

        Raises:
            CapacityError: not even single rows fit.
        """
        return self.alike.tiling(self.stage, self.space)

    @cached_property
    def tile_count(self) -> int:
        """Number of the stage's tiles, without listing them."""
        return tile_count(self.stage, self.tiling)

    @cached_property
    def ring_bytes(self) -> Mapping[str, int]:
        """Bytes of the largest tile of each streamed tensor."""
        stage, tiling, sizes = self.stage, self.tiling, {}
        if self.space.is_output_streamed:
            sizes[stage.output] = aligned(self.alike.output_tile_bytes(stage, tiling))
        for name in sorted(self.space.streamed):
            sizes[name] = aligned(self.alike.read_tile_bytes(stage, tiling, name))
        return sizes


class SharedReads(NamedTuple):
    """Reads of a tensor that cores compute in shares.

    `direct`: stages in which each core finds all that it reads in its own share. `boxes`: what each
    core reads in the `others`.
    """

    direct: frozenset[int]
    others: tuple[int, ...]
    boxes: Mapping[int, Box]


class StageCuts:
    """Memo of values that follow from a stage and its room alone."""

    def __init__(
        self,
        plan: Plan,
        stages: tuple[Stage, ...],
        grain: Grain,
        alike: StageMemo,
        places: OperandPlaces,
    ) -> None:
        """Start with an empty memo beside that of the whole lowering.

        `most_tiles`: the most tiles of all attempts to place the kernel.
        """
        self.most_tiles = 0
        self._plan = plan
        self._alike = alike
        self._places = places
        self._stages = stages
        self._grain = grain
        self._cuts: dict[tuple[int, frozenset[str], bool], StageCut] = {}
        self._asked_bytes: dict[tuple[str, bool, int], int] = {}
        self._apart_bytes: dict[str, int] = {}
        self._reads: dict[str, SharedReads] = {}

    @cached_property
    def holdings(self) -> Mapping[str, Mapping[int, Box]]:
        """Per activation that cores read: hull of the needs of each core's stages."""
        return holdings(self._stages)

    @cached_property
    def uses(self) -> Mapping[str, Sequence[int]]:
        """Reading stages per tensor, in order."""
        found: dict[str, list[int]] = {}
        for stage in self._stages:
            for operand in stage.operands:
                found.setdefault(operand.tensor, []).append(stage.index)
        return found

    @cached_property
    def expected(self) -> Sequence[Interval]:
        """As `expected_times`."""
        return self._alike.expected(self._stages)

    @cached_property
    def small_bytes(self) -> int:
        """Largest bytes of weights loaded whole, over the stages."""
        return max((small_bytes(self._plan, s) for s in core_stages(self._stages)), default=0)

    def asked_bytes(self, need: Need) -> int:
        """Bytes of the largest box over the cores; a tensor's boxes are equal in all attempts."""
        key = (need.tensor, need.parts in _COMPUTED, need.first)
        if key not in self._asked_bytes:
            self._asked_bytes[key] = largest_bytes(self._plan, need.tensor, need.boxes)
        return self._asked_bytes[key]

    def apart_bytes(self, need: Need) -> int:
        """Bytes of the largest share, and of the largest read box, over the cores."""
        name = need.tensor
        if name not in self._apart_bytes:
            boxes = need.shares, self.holdings.get(name, {})
            self._apart_bytes[name] = sum(largest_bytes(self._plan, name, each) for each in boxes)
        return self._apart_bytes[name]

    def shared_reads(self, need: Need) -> SharedReads:
        """How cores read a tensor that they compute in shares."""
        name = need.tensor
        if name not in self._reads:
            readers = (self._stages[index] for index in dict.fromkeys(self.uses[name]))
            self._reads[name] = _shared_reads(readers, name, need.shares)
        return self._reads[name]

    def cut(self, stage: Stage, in_lb: Collection[str], is_output_in_lb: bool) -> StageCut:
        """The cut of a stage that reads `in_lb` from LB, and computes its output there or not.

        A tensor that goes through GB because bindings differ may be read from LB but not written.
        """
        streamed = self._streamable[stage.index]
        if not stage.is_on_cluster:
            streamed = streamed.difference(in_lb)
        key = stage.index, streamed, is_output_in_lb
        if key not in self._cuts:
            is_cluster = stage.is_on_cluster
            space = self._cluster_space(*key[:2]) if is_cluster else self._space(*key)
            if stage.is_passing:
                space = replace(space, is_output_streamed=False)
            self._cuts[key] = StageCut(self._alike, stage, space)
        return self._cuts[key]

    @cached_property
    def _streamable(self) -> Sequence[frozenset[str]]:
        """Per stage the tensors that are streamed unless resident in LB."""
        return [
            frozenset(
                operand.tensor
                for operand in stage.operands
                if not operand.is_tiled_weight and not is_small_weight(self._plan, operand)
            )
            if not stage.is_passing
            else frozenset()
            for stage in self._stages
        ]

    def _space(self, index: int, streamed: frozenset[str], is_output_in_lb: bool) -> TileSpace:
        plan, grain, turns = self._plan, self._grain, self._plan.feeding.tiles
        parts = grain.staging_parts if self._stages[index].is_of_computed else 1
        weights = weight_capacity(plan) - turns * self.small_bytes
        tiles = turns * max(1, len(streamed) + (not is_output_in_lb))
        return TileSpace(
            tile_bytes=plan.budget.lb_data_bytes // max(grain.tile_share, tiles),
            even_tile_bytes=plan.budget.lb_data_bytes // tiles,
            ring_bytes=plan.budget.lb_data_bytes,
            tiles=self._tiles(index),
            staging_sets=staging_sets(plan, grain),
            staging_bytes=plan.hardware.staging_bytes // parts,
            weight_slot_bytes=weights // turns // ALIGNMENT_BYTES * ALIGNMENT_BYTES,
            streamed=streamed,
            in_dram=streamed & self._places.in_dram,
            weight=self._weight(index),
            weight_bytes=weights,
            is_output_streamed=not is_output_in_lb,
            is_wide=grain.is_wide,
            turns=turns,
        )

    def _tiles(self, index: int) -> int:
        """Most tiles of a core's share; more of them where two engines divide them."""
        plan, tiles = self._plan, self._grain.tiles
        is_divided = is_divisible(self._stages[index].first, plan.hardware, plan.feeding)
        return DIVIDED_TILES * tiles if is_divided and tiles > 1 else tiles

    def _weight(self, index: int) -> Residency:
        """Expected residency of a stage's tiled weight."""
        operand = self._stages[index].tile_weight()
        return Residency.STREAM if operand is None else self._places.weights[operand.tensor]

    def _cluster_space(self, index: int, streamed: frozenset[str]) -> TileSpace:
        """Room in GB for an engine that the cores share, if none of its reads is resident there."""
        plan, grain, turns = self._plan, self._grain, self._plan.feeding.tiles
        tile = plan.hardware.gb_bytes // (CLUSTER_SHARE * (1 + len(streamed)))
        return TileSpace(
            tile_bytes=tile // grain.tile_share,
            even_tile_bytes=tile,
            ring_bytes=turns * tile * (1 + len(streamed)),
            tiles=grain.tiles,
            staging_sets=staging_sets(plan, grain),
            staging_bytes=plan.hardware.staging_bytes,
            weight_slot_bytes=tile // 2 // ALIGNMENT_BYTES * ALIGNMENT_BYTES,
            streamed=streamed,
            in_dram=streamed & self._places.in_dram,
            weight=self._weight(index),
            weight_bytes=0,
            is_output_streamed=True,
            is_wide=grain.is_wide,
            turns=turns,
        )


def _shared_reads(stages: Iterable[Stage], tensor: str, shares: Shares) -> SharedReads:
    """The reads of `tensor` by those of its readers that run on cores."""
    direct: set[int] = set()
    others: list[int] = []
    boxes: dict[int, Box] = {}
    for stage in core_stages(tuple(stages)):
        read = [needs(stage, operand) for operand in stage.operands if operand.tensor == tensor]
        parts = [part for each in read for part in each.items()]
        if parts and all(core in shares and contains(shares[core], box) for core, box in parts):
            direct.add(stage.index)
        elif parts:
            others.append(stage.index)
            for each in read:
                merge_needs(boxes, each)
    return SharedReads(frozenset(direct), tuple(others), boxes)
