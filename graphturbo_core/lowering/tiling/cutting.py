"""Stage -> Tiling: granularity of a core's share for the given room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from math import prod

from graphturbo_core.errors import CapacityError
from graphturbo_core.hardware.tile_rules import TileRules
from graphturbo_core.ir.boxes import Box, extents, hull, part_of, volume, with_interval
from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.lowering.stages.stage import (
    Operand,
    Stage,
    bytes_per_element,
    cut_reduced,
    fetched_bytes,
    tensor_bytes,
)
from graphturbo_core.lowering.tiling.array_passes import array_passes, square_cuts
from graphturbo_core.lowering.tiling.loop_order import TilingCost, innermost_axis
from graphturbo_core.lowering.tiling.tile_sizes import TileSizes
from graphturbo_core.lowering.tiling.tile_space import TileSpace
from graphturbo_core.lowering.tiling.tiling import (
    LoopOrder,
    Tiling,
    column_count,
    compute_count,
    row_axes,
    staging_slot_bytes,
    tile_count,
)
from graphturbo_core.products.plan import Plan
from graphturbo_core.units import format_bytes

PER_CENT = 100

Parts = tuple[int, ...]
"""Pieces per output axis."""


@dataclass(frozen=True, slots=True)
class Grain:
    """Granularity of tiles.

    `tile_share`: a streamed tile has at most 1/`tile_share` of the LB's data part, a pair twice
    that. `tiles`: most tiles of a core's share, and most loads of its part of an input, so that
    moves and computes overlap. `staging_sets`: most tiles between matrix and vector engine at a
    time. `is_wide`: a weight tile has more columns and less of K if that needs fewer instructions.
    `staging_parts`: a product of two computed operands has at most 1/`staging_parts` of the staging
    buffer. `has_tile_exchange`: without room for a tensor, cores keep what they
    computed and read of it apart, or get tiles of it from each other.
    """

    tile_share: int
    tiles: int
    staging_sets: int
    is_wide: bool = False
    staging_parts: int = 1
    has_tile_exchange: bool = False


COARSEST = Grain(1, 1, 1)
WIDEST = replace(COARSEST, is_wide=True)
LAST_GRAINS = (COARSEST, WIDEST)
"""Grains with the higher cap on instructions (`Limits.instructions_coarsest`)."""


def staging_sets(plan: Plan, grain: Grain) -> int:
    """Sets of slots between the engines; one if operands have one tile buffer."""
    return min(grain.staging_sets, plan.feeding.tiles)


def grains(rules: TileRules) -> tuple[Grain, ...]:
    """Grains from fine to coarse; the first within the cap on instructions is used."""
    finest = Grain(rules.tile_share, rules.tiles, 2)
    return (finest, Grain(max(1, rules.tile_share // 2), 1, 2), *LAST_GRAINS)


def choose_tiling(plan: Plan, stage: Stage, space: TileSpace) -> Tiling:
    """Returns the coarsest cut that fits, then finer rows for overlap while padding permits.

    Of wider weight tiles, that of fewest instructions if the grain asks for it, else of least cost.

    Raises:
        CapacityError: not even single rows fit; with the op and the bytes.
    """
    for tile_bytes in (space.tile_bytes, space.even_tile_bytes, space.ring_bytes // space.turns):
        room = replace(space, tile_bytes=tile_bytes)
        cutter = _Cutter(plan, stage, room)
        found = cutter.tiling()
        if found is not None:
            wider = _wider(cutter, found)
            price = partial(_instructions, stage) if space.is_wide else cutter.cost.cycles
            return min((found, *wider), key=price) if wider else found
    raise cutter.does_not_fit()


def _wider(narrow: _Cutter, found: Tiling) -> Sequence[Tiling]:
    """Weight tiles of twice the columns, four times, … up to all, with as much of K as fits.

    They need fewer instructions. Without a need for that, they pay only where each tile of columns
    refetches streamed data: a core's 64 rows of 3,072 numbers for each 32 of 768 columns are 24
    fetches, with 128 columns and less of K at a time 6.
    """
    contraction, space = narrow.stage.contraction, narrow.space
    if contraction is None or not contraction.is_cut_over_k or not found.columns:
        return ()
    if not space.is_wide and not narrow.refetches_data():
        return ()
    cutter = _Cutter(narrow.plan, narrow.stage, space)
    lo, hi = cutter.share[contraction.n_axis]
    array = narrow.plan.hardware.matrix_columns
    columns = max(array, found.columns // array * array)
    tilings = []
    while columns < hi - lo:
        columns = min(2 * columns, hi - lo)
        cutter.widen(columns)
        tilings.append(cutter.tiling())
    return [tiling for tiling in tilings if tiling is not None]


def _instructions(stage: Stage, tiling: Tiling) -> int:
    """Computes and weight tiles of the stage; other moves are proportional to the latter."""
    return compute_count(stage, tiling) + tile_count(stage, tiling)


class _Cutter:
    """Cuts the largest share of a stage; the other cores follow the same grid."""

    def __init__(self, plan: Plan, stage: Stage, space: TileSpace) -> None:
        self.plan = plan
        self.stage = stage
        self.space = space
        self.share = max(stage.shares.values(), key=volume)
        self.columns, self.reduced = self._weight_tile()
        self.is_data_whole = False

    def tiling(self) -> Tiling | None:
        """Rows as coarse as fits, then finer for overlap; None: not even single rows fit.

        If K is cut for the weights, every tile of columns would refetch streamed data. Data with
        all of K are fetched once for all columns, but fewer rows fit, and each row tile refetches
        the weights. The variant of lower cost is used.
        """
        found = self._of_rows()
        if found is None or not self.reduced or not self.refetches_data():
            return found
        self.is_data_whole = True
        whole = self._of_rows()
        self.is_data_whole = False
        return found if whole is None else min(found, whole, key=self.cost.cycles)

    def _of_rows(self) -> Tiling | None:
        fitting = next((p for p in self._grids() if self._fits(p)), None)
        if fitting is None:
            return None
        parts = self._pipelined(fitting)
        innermost = innermost_axis(self.plan, self.stage, (self.share, parts), self._readers)
        orders = self._loop_orders(parts)
        found = [self._tiling(parts, order, innermost) for order in orders]
        return found[0] if len(found) == 1 else min(found, key=self.cost.cycles)

    def _tiling(self, parts: Parts, order: LoopOrder, innermost: int = -1) -> Tiling:
        return Tiling(parts, self.columns, self.reduced, order, self.is_data_whole, innermost)

    @cached_property
    def cost(self) -> TilingCost:
        """Cost of the stage's tilings in this room."""
        return TilingCost(self.plan, self.stage, self.space, self.share, self._readers)

    def refetches_data(self) -> bool:
        """Whether there is streamed data and more than one tile of columns."""
        return (
            self.stage.tile_weight() is not None
            and column_count(self.stage, self.columns, self.share) > 1
            and self._streamed_data() is not None
        )

    def _streamed_data(self) -> Operand | None:
        """The streamed operand that is multiplied with the weights; else None."""
        found = (o for o in self.stage.operands if o.is_reduced_data)
        return next((o for o in found if o.tensor in self.space.streamed), None)

    def _weight_tile(self) -> tuple[int, int]:
        """Columns and reduced elements of a weight tile; 0 for an uncut axis."""
        contraction = self.stage.contraction
        if contraction is None or contraction.n_axis < 0:
            return 0, 0
        lo, hi = self.share[contraction.n_axis]
        array = self.plan.hardware.matrix_columns
        slot, column_bytes = self.space.weight_slot_bytes, self._column_bytes()
        if not contraction.is_cut_over_k:
            return min(hi - lo, max(1, slot // column_bytes)), 0
        narrowest = self.plan.rules.narrow_percent * array / PER_CENT
        least = array
        if self.space.tiles == 1 and slot // column_bytes >= narrowest:
            least = slot // column_bytes
        columns = min(hi - lo, max(least, slot // column_bytes // array * array))
        if columns * column_bytes <= slot:
            return columns, self._cut_depth()
        return columns, self._depth(columns)

    def widen(self, columns: int) -> None:
        """Use weight tiles of `columns` columns, and cut K to fit a slot."""
        self.columns, self.reduced = columns, self._depth(columns)

    def _depth(self, columns: int) -> int:
        """Reduced elements of a weight tile of `columns` columns that fit a slot."""
        contraction = self.stage.contraction
        assert contraction is not None
        room = self.space.weight_slot_bytes * contraction.reduce_size
        depth = room // (columns * self._column_bytes())
        return max(1, min(depth, contraction.reduce_size))

    def _cut_depth(self) -> int:
        """Reduced elements per tile so that one streamed data row fits its tile; 0: not cut."""
        contraction = self.stage.contraction
        data = next((o for o in self.stage.operands if o.is_reduced_data), None)
        if contraction is None or not contraction.is_cut_over_k or data is None:
            return 0
        if data.tensor not in self.space.streamed:
            return 0
        cell = tuple((lo, lo + 1) for lo, _ in self.share)
        demand = tensor_bytes(self.plan, data.tensor, data.access.box(cell))
        if demand <= self.space.tile_bytes:
            return 0
        return max(1, contraction.reduce_size * self.space.tile_bytes // demand)

    def _column_bytes(self) -> int:
        """Bytes of the weights of one output column, all of K."""
        weight, contraction = self.stage.tile_weight(), self.stage.contraction
        if weight is None or contraction is None:
            return 1
        return contraction.k * bytes_per_element(self.plan, weight.tensor)

    def _grids(self) -> Iterator[Parts]:
        """Grids from coarse to fine: the outermost axis is cut to single elements first.

        If passes cover squares, maps are cut to squares first.
        """
        parts = [1] * len(self.share)
        yield tuple(parts)
        sizes = extents(self.share)
        single = ((axis, sizes[axis]) for axis in row_axes(self.stage))
        for axis, most in (*square_cuts(self.plan, self.stage, self.share), *single):
            while parts[axis] < most:
                parts[axis] = min(most, parts[axis] + max(1, parts[axis] // 4))
                yield tuple(parts)

    def _largest_tile(self, parts: Parts) -> Box:
        return tuple(part_of(i, count, 0) for i, count in zip(self.share, parts, strict=True))

    def _cut_columns(self, box: Box) -> Box:
        if not self.columns or self.stage.contraction is None:
            return box
        axis = self.stage.contraction.n_axis
        lo, hi = box[axis]
        return with_interval(box, axis, (lo, min(hi, lo + self.columns)))

    def _fits(self, parts: Parts) -> bool:
        tile = self._cut_columns(self._largest_tile(parts))
        if self._staging_bytes(tile, 1) > self.space.staging_bytes:
            return False
        limit = self.space.tile_bytes
        output_bytes = tensor_bytes(self.plan, self.stage.output, tile)
        if self.space.is_output_streamed and output_bytes > limit:
            return False
        weight = self.stage.tile_weight()
        if weight is not None:
            read = tensor_bytes(self.plan, weight.tensor, self._read(weight, tile))
            if read > self.space.weight_slot_bytes:
                return False
        sizes = [self._fetched_bytes(group, tile) for group in self._readers.values()]
        return all(size <= limit for size in sizes) and self._has_room(parts)

    @cached_property
    def _readers(self) -> Mapping[str, Sequence[Operand]]:
        """Reading operands per streamed tensor."""
        found: dict[str, list[Operand]] = {}
        for operand in self.stage.operands:
            if operand.tensor in self.space.streamed and not operand.is_tiled_weight:
                found.setdefault(operand.tensor, []).append(operand)
        return found

    def _fetched_bytes(self, readers: Sequence[Operand], tile: Box) -> int:
        box = reduce(hull, (self._read(operand, tile) for operand in readers))
        return fetched_bytes(self.plan, readers, box, tile)

    def _has_room(self, parts: Parts) -> bool:
        """Whether the largest tile buffers of all streamed tensors fit together.

        The first tile need not be the largest: rows of a reshape with blocks that do not nest begin
        anywhere in rows of its input. If only a list of all tiles would determine the largest, the
        first tile is used (our choice: a list per evaluated cut costs too much).
        """
        largest = TileSizes(self.plan, self.stage, self._tiling(parts, LoopOrder.ROWS))
        first = self._cut_columns(self._largest_tile(parts))
        sizes = []
        if self.space.is_output_streamed:
            sizes.append(largest.output_bytes())
        for readers in self._readers.values():
            size = largest.read_bytes_by_axes(readers)
            sizes.append(self._fetched_bytes(readers, first) if size is None else size)
        return self.space.turns * sum(aligned(size) for size in sizes) <= self.space.ring_bytes

    def _staging_bytes(self, tile: Box, rows: int) -> int:
        """Bytes of all sets of slots, with partial sums of `rows` row tiles."""
        slots = max(self.stage.slots, 1 if self.reduced else 0)
        return staging_slot_bytes(volume(tile)) * slots * rows * self.space.staging_sets

    def _read(self, operand: Operand, tile: Box) -> Box:
        box = operand.access.box(tile)
        if not self.reduced or (self.is_data_whole and not operand.is_tiled_weight):
            return box
        return cut_reduced(operand, self.stage.contraction, box, (0, self.reduced))

    def does_not_fit(self) -> CapacityError:
        """The refusal if not even single rows fit."""
        *_, finest = self._grids()
        tile = self._cut_columns(self._largest_tile(finest))
        sizes = [(self._fetched_bytes(group, tile), name) for name, group in self._readers.items()]
        sizes.append((tensor_bytes(self.plan, self.stage.output, tile), self.stage.output))
        _, name = max(sizes)
        return CapacityError(
            "TILE_TOO_LARGE",
            f"a single tile of {self.stage.ops[0].name!r} needs more than "
            f"{format_bytes(self.space.tile_bytes)} of LB, most of it for {name!r}",
            where=f"chip {self.plan.hardware.name}",
            change="choose a chip with a larger LB, a smaller input or a smaller cluster batch",
        )

    def _pipelined(self, parts: Parts) -> Parts:
        """Finer rows until there are enough tiles, while padding permits."""
        best = parts
        column_tiles = column_count(self.stage, self.columns, self.share)
        for finer in self._grids():
            if prod(finer) * column_tiles > self.space.tiles:
                break
            is_finer = all(a >= b for a, b in zip(finer, parts, strict=True))
            if is_finer and self._is_cheap(finer, parts) and self._has_room(finer):
                best = finer
        return best

    def _is_cheap(self, finer: Parts, parts: Parts) -> bool:
        if self.stage.contraction is None:
            return volume(self._largest_tile(finer)) >= self.plan.rules.vector_tile_elements
        padded = PER_CENT + self.plan.rules.padding_percent
        passes = partial(array_passes, self.plan, self.stage, self.share)
        return PER_CENT * passes(finer) <= padded * passes(parts)

    def _loop_orders(self, parts: Parts) -> tuple[LoopOrder, ...]:
        """The possible loop orders; among orders of equal cost the first is used.

        Weights outermost need room for the partial sums of all rows.
        """
        if self.stage.tile_weight() is None or prod(parts) == 1:
            return (LoopOrder.ROWS,)
        largest = self._cut_columns(self._largest_tile(parts))
        sums = self._staging_bytes(largest, prod(parts))
        if self.reduced and sums > self.space.staging_bytes:
            return (LoopOrder.ROWS,)
        is_streamed = self._streamed_data() is not None
        rows_first = LoopOrder.ROWS, LoopOrder.WEIGHTS
        return rows_first if is_streamed else rows_first[::-1]
