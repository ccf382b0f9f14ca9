"""Stage -> its tiling, tiles and weight tiles, memoised for equivalent stages."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from graphturbo_core.ir.boxes import Interval
from graphturbo_core.lowering.stages.expected import StageLoad, expected_times, stage_load
from graphturbo_core.lowering.stages.stage import Stage
from graphturbo_core.lowering.tiling.cutting import choose_tiling
from graphturbo_core.lowering.tiling.expected_places import ExpectedPlaces, Spilled
from graphturbo_core.lowering.tiling.tile_sizes import TileSizes
from graphturbo_core.lowering.tiling.tile_space import TileSpace
from graphturbo_core.lowering.tiling.tiling import Steps, Tiling, stage_tiles
from graphturbo_core.lowering.tiling.weight_items import WeightItems, weight_items
from graphturbo_core.products.plan import KernelPlan, Plan


@dataclass
class StageValues:
    """The small values of a `StageMemo`, which other lowerings may share."""

    tilings: dict[Hashable, Tiling] = field(default_factory=dict)
    bytes: dict[Hashable, int] = field(default_factory=dict)
    fetches: dict[Hashable, int] = field(default_factory=dict)
    loads: dict[Hashable, StageLoad] = field(default_factory=dict)

    def clear(self) -> None:
        """Forget all values."""
        for each in (self.tilings, self.bytes, self.fetches, self.loads):
            each.clear()


class StageMemo:
    """Memo of values that follow from a stage's kinds of ops, box, binding and tiling alone.

    Equivalent stages differ only by names. Valid for one lowering, whose core classes are the same
    for all stages.
    """

    def __init__(
        self, plan: Plan, spilled: Spilled = frozenset(), values: StageValues | None = None
    ) -> None:
        """Start with an empty memo but for `values`.

        `spilled`: tensors that are known to be in DRAM.
        """
        self._plan, self._spilled = plan, spilled
        self._values = StageValues() if values is None else values
        self._tiles: dict[Hashable, Steps] = {}
        self._items: dict[Hashable, WeightItems] = {}
        self._sizes: dict[Hashable, TileSizes] = {}
        self._expected: dict[int, tuple[Sequence[Stage], list[Interval]]] = {}

    @cached_property
    def places(self) -> ExpectedPlaces:
        """Expected memories of operands."""
        return ExpectedPlaces(self._plan, self._spilled)

    def tiling(self, stage: Stage, space: TileSpace) -> Tiling:
        """As `choose_tiling`."""
        place: dict[str, int] = {}
        read = tuple(
            (
                place.setdefault(operand.tensor, len(place)),
                operand.tensor in space.streamed,
                operand.tensor in space.in_dram,
            )
            for operand in stage.operands
        )
        key = self._kinds(stage), stage.cut, read, space
        known = self._values.tilings
        if key not in known:
            known[key] = choose_tiling(self._plan, stage, space)
        return known[key]

    def expected(self, stages: tuple[Stage, ...]) -> list[Interval]:
        """As `expected_times`."""
        known = self._expected.get(id(stages))
        if known is None:
            times = expected_times(stages, [self._load(stage) for stage in stages])
            known = self._expected[id(stages)] = stages, times
        return known[1]

    def _load(self, stage: Stage) -> StageLoad:
        key = self._kinds(stage), stage.cut
        known = self._values.loads
        if key not in known:
            known[key] = stage_load(self._plan, stage)
        return known[key]

    def tiles(self, stage: Stage, tiling: Tiling) -> Steps:
        """As `stage_tiles`."""
        key = self._key(stage, tiling)
        if key not in self._tiles:
            self._tiles[key] = stage_tiles(stage, tiling)
        return self._tiles[key]

    def weight_tile_bytes(self, stage: Stage, tiling: Tiling) -> int:
        """Bytes of the largest tile of its tiled weight; 0 without one."""
        operand = stage.tile_weight()
        return 0 if operand is None else self.read_tile_bytes(stage, tiling, operand.tensor)

    def output_tile_bytes(self, stage: Stage, tiling: Tiling) -> int:
        """As `TileSizes.output_bytes`."""
        kind = self._key(stage, tiling)
        key, known = (kind, ()), self._values.bytes
        if key not in known:
            known[key] = self._tile_sizes(kind, stage, tiling).output_bytes()
        return known[key]

    def read_tile_bytes(self, stage: Stage, tiling: Tiling, tensor: str) -> int:
        """As `TileSizes.read_bytes`, for all operands that read a tensor."""
        places, kind = stage.places[tensor], self._key(stage, tiling)
        key, known = (kind, places), self._values.bytes
        if key not in known:
            readers = [stage.operands[at] for at in places]
            known[key] = self._tile_sizes(kind, stage, tiling).read_bytes(readers)
        return known[key]

    def fewest_fetches(self, stage: Stage, tiling: Tiling, tensor: str) -> int:
        """As `TileSizes.fewest_fetches`; 0 if several operands read the tensor."""
        places, kind = stage.places[tensor], self._key(stage, tiling)
        if len(places) > 1:
            return 0
        key, known = (kind, places), self._values.fetches
        if key not in known:
            sizes = self._tile_sizes(kind, stage, tiling)
            known[key] = sizes.fewest_fetches(stage.operands[places[0]])
        return known[key]

    def _tile_sizes(self, kind: Hashable, stage: Stage, tiling: Tiling) -> TileSizes:
        if kind not in self._sizes:
            self._sizes[kind] = TileSizes(self._plan, stage, tiling)
        return self._sizes[kind]

    def items(
        self, kernel: KernelPlan, stage: Stage, tiling: Tiling, room_bytes: int
    ) -> WeightItems | None:
        """As `weight_items`."""
        operand = stage.tile_weight()
        if operand is None:
            return None
        residency = kernel.residency.get(operand.tensor)
        key = self._key(stage, tiling), residency, room_bytes
        if key not in self._items:
            room = residency, room_bytes
            self._items[key] = weight_items(self._plan, stage, self.tiles(stage, tiling), room)
        return replace(self._items[key], operand=operand)

    def _key(self, stage: Stage, tiling: Tiling) -> Hashable:
        return self._kinds(stage), stage.cut, tiling

    def _kinds(self, stage: Stage) -> Hashable:
        kinds = self._plan.semantics.kinds
        return tuple([kinds[op.name] for op in stage.ops]), stage.output_index
