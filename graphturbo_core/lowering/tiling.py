"""Stage -> Tiling: how a core's share is cut into tiles, and in which order they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import product
from math import prod

from graphturbo_core.errors import CapacityError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.boxes import Box, Interval, divide, extents, volume, with_interval
from graphturbo_core.lowering.stages import (
    Operand,
    Stage,
    bytes_per_element,
    cut_reduced,
    tensor_bytes,
)
from graphturbo_core.strategies.plan import Plan

ACCUMULATOR_BYTES = 4
"""A partial sum is fp32."""
TILE_SHARE = 16
"""A streamed tile takes at most 1/16 of the LB's data part, its pair 1/8 (our choice: reserved
tiles must leave room for stage 1 of ResNet-50, which holds 882 of 1,024 KiB)."""
PIPELINE_TILES = 4
"""A share is cut into up to this many tiles so that moves and computes overlap (our choice)."""
PADDING_TOLERANCE = 1.1
"""... as long as padding to whole passes costs at most a tenth (our choice)."""
VECTOR_TILE_ELEMENTS = 4096
"""A vector stage is not cut below this for overlap alone (our choice)."""


TileKey = tuple[int, int, int]
"""Row, column, depth."""


class LoopOrder(Enum):
    """Which loop is outermost."""

    WEIGHTS = "weights"
    ROWS = "rows"


@dataclass(frozen=True)
class Tiling:
    """`parts` per output axis (1 on the N axis), columns per tile, reduced elements per tile.

    `columns` 0: the N axis is not cut. `reduced` 0: the K axis is not cut.
    """

    parts: tuple[int, ...]
    columns: int
    reduced: int
    order: LoopOrder
    is_held: bool
    """In the ROWS order: weight tiles are fetched once and held for all rows."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile of a core: its output box and its cut of the reduced axis (None: all)."""

    row: int
    column: int
    depth: int
    box: Box
    reduce: Interval | None
    is_first: bool
    is_last: bool


Steps = tuple[Mapping[int, Tile], ...]
"""A stage's tiles in lockstep: step -> core -> tile."""


@dataclass(frozen=True, slots=True)
class Space:
    """What a stage may use: bytes of a core's memories, and which operands stream."""

    tile_bytes: int
    staging_bytes: int
    weight_slot_bytes: int
    weight_bytes: int
    streamed: frozenset[str]
    is_output_streamed: bool


def tile_limit_bytes(hardware: Hardware) -> int:
    """Largest streamed tile, see TILE_SHARE."""
    return hardware.lb_data_bytes // TILE_SHARE


def choose_tiling(plan: Plan, stage: Stage, space: Space) -> Tiling:
    """The coarsest cut that fits, then finer rows for overlap where padding allows.

    Raises:
        CapacityError: not even single rows fit; names the op and the bytes.
    """
    share = max(stage.shares.values(), key=volume)
    columns, reduced = _weight_tile(plan, stage, share, space)
    axes = row_axes(stage)
    fitting = next(
        (
            parts
            for parts in _grids(share, axes)
            if _fits(plan, stage, share, parts, (columns, reduced), space)
        ),
        None,
    )
    if fitting is None:
        raise _does_not_fit(plan, stage, share, space)
    columns_cut = len(_column_boxes(stage, columns, share))
    parts = _pipelined(plan, stage, share, fitting, columns_cut)
    order, is_held = _loop_order(plan, stage, share, parts, (columns, reduced), space)
    return Tiling(parts, columns, reduced, order, is_held)


def row_axes(stage: Stage) -> tuple[int, ...]:
    """Output axes that row tiles cut, outermost first."""
    if stage.contraction is not None:
        batch = [a for a in range(len(stage.box)) if a not in stage.contraction.m_axes]
        outer = [a for a in batch if a != stage.contraction.n_axis]
        return (*outer, *stage.contraction.m_axes)
    return tuple(a for a in range(len(stage.box)) if a not in stage.first.uncut_axes)


def _weight_tile(plan: Plan, stage: Stage, share: Box, space: Space) -> tuple[int, int]:
    """Columns and reduced elements of a weight tile; 0 where that axis is not cut."""
    contraction = stage.contraction
    if contraction is None or contraction.n_axis < 0:
        return 0, 0
    width = share[contraction.n_axis][1] - share[contraction.n_axis][0]
    array = plan.hardware.matrix_columns
    if contraction.groups > 1 and width // contraction.groups < array:
        return 0, 0
    column_bytes = _column_bytes(plan, stage)
    roomy = space.weight_slot_bytes // column_bytes // array * array
    columns = min(width, max(array, roomy))
    if contraction.groups > 1 or columns * column_bytes <= space.weight_slot_bytes:
        return columns, _cut_depth(plan, stage, columns, space)
    depth = space.weight_slot_bytes * contraction.reduce_size // (columns * column_bytes)
    return columns, max(1, min(depth, contraction.reduce_size))


def _cut_depth(plan: Plan, stage: Stage, columns: int, space: Space) -> int:
    """Reduced elements per tile so that one streamed data row fits its tile; 0 where it does."""
    contraction = stage.contraction
    data = next((o for o in stage.operands if o.is_reduced_data), None)
    if contraction is None or contraction.groups > 1 or data is None:
        return 0
    if data.tensor not in space.streamed:
        return 0
    cell = tuple((lo, lo + 1) for lo, _ in next(iter(stage.shares.values())))
    demand = tensor_bytes(plan, data.tensor, data.access.box(cell))
    if demand <= space.tile_bytes or columns == 0:
        return 0
    return max(1, contraction.reduce_size * space.tile_bytes // demand)


def _column_bytes(plan: Plan, stage: Stage) -> int:
    """Bytes of the weights of one output column, all of K."""
    weight = stage.tile_weight()
    contraction = stage.contraction
    if weight is None or contraction is None:
        return 1
    return contraction.k * bytes_per_element(plan, weight.tensor)


def _grids(share: Box, axes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Ever finer grids: the outermost axis is cut to single elements before the next is cut."""
    parts = [1] * len(share)
    yield tuple(parts)
    sizes = extents(share)
    for axis in axes:
        count = 1
        while count < sizes[axis]:
            count = min(sizes[axis], count + max(1, count // 4))
            parts[axis] = count
            yield tuple(parts)


def row_boxes(share: Box, parts: tuple[int, ...]) -> list[Box]:
    """The row tiles of a share, row-major; empty ones are left out by the caller."""
    cuts = [divide(interval, count) for interval, count in zip(share, parts, strict=True)]
    return [tuple(cell) for cell in product(*cuts)]


def _largest_row(share: Box, parts: tuple[int, ...]) -> Box:
    return tuple(divide(i, count)[0] for i, count in zip(share, parts, strict=True))


def _fits(
    plan: Plan,
    stage: Stage,
    share: Box,
    parts: tuple[int, ...],
    cut: tuple[int, int],
    space: Space,
) -> bool:
    columns, reduced = cut
    tile = _cut_columns(stage, _largest_row(share, parts), columns)
    if _staging_tile_bytes(stage, tile, reduced) * 2 > space.staging_bytes:
        return False
    if space.is_output_streamed and tensor_bytes(plan, stage.output, tile) > space.tile_bytes:
        return False
    contraction = stage.contraction
    for operand in stage.operands:
        if operand.tensor not in space.streamed or operand.is_tiled_weight:
            continue
        box = operand.access.box(tile)
        if reduced and contraction is not None:
            box = cut_reduced(operand, contraction, box, (0, reduced))
        if tensor_bytes(plan, operand.tensor, box) > space.tile_bytes:
            return False
    return True


def _cut_columns(stage: Stage, box: Box, columns: int) -> Box:
    if not columns or stage.contraction is None:
        return box
    axis = stage.contraction.n_axis
    lo, hi = box[axis]
    return with_interval(box, axis, (lo, min(hi, lo + columns)))


def _staging_tile_bytes(stage: Stage, tile: Box, reduced: int) -> int:
    slots = max(stage.slots, 1 if reduced else 0)
    return volume(tile) * ACCUMULATOR_BYTES * slots


def _does_not_fit(plan: Plan, stage: Stage, share: Box, space: Space) -> CapacityError:
    operand = max(
        (o for o in stage.operands if o.tensor in space.streamed),
        key=lambda o: tensor_bytes(plan, o.tensor, o.access.box(share)),
        default=None,
    )
    name = operand.tensor if operand else stage.output
    return CapacityError(
        "TILE_TOO_LARGE",
        f"a single tile of {stage.ops[0].name!r} needs more than {space.tile_bytes} bytes of LB "
        f"for {name!r}",
        where=f"chip {plan.hardware.name}",
        change="choose a chip with a larger LB or a smaller input",
    )


def _pipelined(
    plan: Plan, stage: Stage, share: Box, parts: tuple[int, ...], column_tiles: int
) -> tuple[int, ...]:
    """Finer rows until there are PIPELINE_TILES tiles, while padding allows."""
    best = parts
    for finer in _grids(share, row_axes(stage)):
        if prod(finer) * column_tiles > PIPELINE_TILES:
            break
        is_finer = all(a >= b for a, b in zip(finer, parts, strict=True))
        if is_finer and _is_cheap(plan, stage, share, finer, parts):
            best = finer
    return best


def _is_cheap(
    plan: Plan, stage: Stage, share: Box, finer: tuple[int, ...], parts: tuple[int, ...]
) -> bool:
    if stage.contraction is None:
        return volume(_largest_row(share, finer)) >= VECTOR_TILE_ELEMENTS
    return _passes(plan, stage, share, finer) <= PADDING_TOLERANCE * _passes(
        plan, stage, share, parts
    )


def _passes(plan: Plan, stage: Stage, share: Box, parts: tuple[int, ...]) -> int:
    contraction = stage.contraction
    assert contraction is not None
    rows = plan.hardware.matrix_rows
    return sum(
        -(-prod(box[a][1] - box[a][0] for a in contraction.m_axes) // rows)
        for box in row_boxes(share, parts)
    )


def _loop_order(
    plan: Plan,
    stage: Stage,
    share: Box,
    parts: tuple[int, ...],
    cut: tuple[int, int],
    space: Space,
) -> tuple[LoopOrder, bool]:
    """WEIGHTS outermost where the data stays in LB (and partial sums of all rows fit), else ROWS."""
    weight = stage.tile_weight()
    if weight is None or prod(parts) == 1:
        return LoopOrder.ROWS, True
    columns, reduced = cut
    data_streams = any(
        o.tensor in space.streamed and not o.is_weight and o.is_reduced_data for o in stage.operands
    )
    rows = sum(volume(_cut_columns(stage, box, columns)) for box in row_boxes(share, parts))
    sums = rows * ACCUMULATOR_BYTES * max(stage.slots, 1)
    if not data_streams and (not reduced or 2 * sums <= space.staging_bytes):
        return LoopOrder.WEIGHTS, False
    weights = tensor_bytes(plan, weight.tensor, weight.access.box(share))
    return LoopOrder.ROWS, weights <= space.weight_bytes - space.weight_slot_bytes


def stage_tiles(stage: Stage, tiling: Tiling) -> Steps:
    """The tiles of every core in lockstep: step -> core -> tile; a core may have none."""
    per_core = {core: _core_tiles(stage, tiling, share) for core, share in stage.shares.items()}
    keys = sorted({key for tiles in per_core.values() for key in tiles}, key=_order_key(tiling))
    return tuple(
        {core: tiles[key] for core, tiles in sorted(per_core.items()) if key in tiles}
        for key in keys
    )


def _order_key(tiling: Tiling) -> Callable[[TileKey], TileKey]:
    if tiling.order is LoopOrder.WEIGHTS:
        return lambda key: (key[1], key[2], key[0])
    return lambda key: key


def _core_tiles(
    stage: Stage, tiling: Tiling, share: Box
) -> dict[TileKey, Tile]:
    contraction = stage.contraction
    depths: list[Interval | None] = [None]
    if tiling.reduced and contraction is not None:
        depths = list(_chunks((0, contraction.reduce_size), tiling.reduced))
    found: dict[TileKey, Tile] = {}
    for row, row_box in enumerate(row_boxes(share, tiling.parts)):
        for column, box in enumerate(_column_boxes(stage, tiling.columns, row_box)):
            if not volume(box):
                continue
            for depth, reduce in enumerate(depths):
                found[row, column, depth] = Tile(
                    row, column, depth, box, reduce, depth == 0, depth == len(depths) - 1
                )
    return found


def _column_boxes(stage: Stage, columns: int, box: Box) -> list[Box]:
    if not columns or stage.contraction is None:
        return [box]
    axis = stage.contraction.n_axis
    return [with_interval(box, axis, cut) for cut in _chunks(box[axis], columns)]


def _chunks(interval: Interval, size: int) -> Iterator[Interval]:
    lo, hi = interval
    for start in range(lo, hi, size):
        yield (start, min(hi, start + size))


def operand_box(stage: Stage, operand: Operand, tile: Tile) -> Box:
    """The box of an operand that one tile reads."""
    box = operand.access.box(tile.box)
    if tile.reduce is None:
        return box
    return cut_reduced(operand, stage.contraction, box, tile.reduce)
