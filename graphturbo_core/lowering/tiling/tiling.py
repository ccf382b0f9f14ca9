"""Stage -> Tiling: cuts of a core's share into tiles, and their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from itertools import product
from math import prod
from typing import NamedTuple

from graphturbo_core.errors import CapacityError
from graphturbo_core.ir.boxes import Box, Interval, divide, hull, volume, with_interval
from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.lowering.stages.stage import (
    Operand,
    Stage,
    cut_reduced,
)
from graphturbo_core.products.plan import Plan

ACCUMULATOR_BYTES = 4
"""Bytes of a partial sum: fp32."""
TileKey = tuple[int, int, int]
"""Row, column, depth."""


ROW, COLUMN, DEPTH = range(3)
"""Loops over tiles, as places in a `TileKey`."""


class LoopOrder(Enum):
    """The outermost loop."""

    WEIGHTS = "weights"
    ROWS = "rows"

    __hash__ = object.__hash__
    """Enum's own hash runs Python code."""

    @property
    def loops(self) -> TileKey:
        """The loops, outermost first."""
        is_by_weight = self is LoopOrder.WEIGHTS
        return (COLUMN, DEPTH, ROW) if is_by_weight else (ROW, COLUMN, DEPTH)


class Tiling(NamedTuple):
    """`parts` per output axis (1 on the N axis), columns per tile, reduced elements per tile.

    `columns` 0: the N axis is not cut. `reduced` 0: the K axis is not cut. `is_data_whole`: the K
    axis of streamed data is not cut: they are fetched with all of K for all columns of their rows.
    `innermost`: the axis whose parts follow each other directly; -1: the last.
    """

    parts: tuple[int, ...]
    columns: int
    reduced: int
    order: LoopOrder
    is_data_whole: bool = False
    innermost: int = -1


class Tile(NamedTuple):
    """One tile of a core: its output box and its cut of the reduced axis (None: all).

    `fetched`: the cut of K of the data in LB for it, at least `reduce`.
    """

    row: int
    column: int
    depth: int
    box: Box
    reduce: Interval | None
    fetched: Interval | None
    is_first: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class Cuts:
    """Cuts of a core's share: one interval per axis, and one cut of K, make a tile.

    `depths` is empty if K is not cut; `is_data_whole`: data are fetched with all of K.
    """

    axes: tuple[tuple[Interval, ...], ...]
    depths: tuple[Interval, ...]
    is_data_whole: bool = False


Steps = tuple[Mapping[int, Tile], ...]
"""A stage's tiles in lockstep: step -> core -> tile."""


def row_axes(stage: Stage) -> tuple[int, ...]:
    """Output axes that row tiles cut, outermost first."""
    if stage.contraction is not None:
        batch = [a for a in range(len(stage.box)) if a not in stage.contraction.m_axes]
        outer = [a for a in batch if a != stage.contraction.n_axis]
        return (*outer, *stage.contraction.m_axes)
    return tuple(a for a in range(len(stage.box)) if a not in stage.first.uncut_axes)


def row_boxes(share: Box, parts: tuple[int, ...], innermost: int = -1) -> list[Box]:
    """The row tiles of a share, row-major but for axis `innermost`; callers drop empty ones."""
    cuts = [divide(interval, count) for interval, count in zip(share, parts, strict=True)]
    if innermost < 0:
        return [tuple(cell) for cell in product(*cuts)]
    inner = cuts.pop(innermost)
    outer = product(*cuts)
    return [(*cell[:innermost], part, *cell[innermost:]) for cell in outer for part in inner]


def staging_slot_bytes(elements: int) -> int:
    """Bytes of a staging slot for a value of `elements` elements."""
    return aligned(elements * ACCUMULATOR_BYTES)


def stage_tiles(stage: Stage, tiling: Tiling) -> Steps:
    """The tiles of every core in lockstep: step -> core -> tile; a core may have none."""
    per_core = {core: _core_tiles(stage, tiling, share) for core, share in stage.shares.items()}
    keys = sorted({key for tiles in per_core.values() for key in tiles}, key=_order_key(tiling))
    by_core = sorted(per_core.items())
    return tuple({core: tiles[key] for core, tiles in by_core if key in tiles} for key in keys)


TOO_MANY_INSTRUCTIONS = "TOO_MANY_INSTRUCTIONS"
"""Code of the refusal after which coarser tiles are attempted."""


def too_many_instructions(plan: Plan, op: str, fewest: int) -> CapacityError:
    """The refusal of a program above its cap; `op`: the op at which the cap was reached.

    `fewest`: lower bound on a sufficient cap.
    """
    printed = "graphturbo.binding=literal and graphturbo.candidates=literal, "
    return CapacityError(
        TOO_MANY_INSTRUCTIONS,
        "the schedule needs too many instructions even with the coarsest tiles",
        where=f"the limit is reached at op {op!r} on chip {plan.hardware.name}",
        change="choose a smaller batch or cluster batch, smaller dimensions, "
        f"{printed if plan.strategy.startswith('graphturbo') else ''}"
        "or a chip with larger buffers",
        fewest=fewest,
    )


def check_total(
    plan: Plan, counts: Iterable[tuple[str, int]], max_instructions: int, before: int = 0
) -> None:
    """Check that counts by op, plus `before`, are within the cap.

    The refusal reports the total.

    Raises:
        CapacityError: TOO_MANY_INSTRUCTIONS.
    """
    ops = list(counts)
    total = before + sum([count for _, count in ops])
    if total <= max_instructions:
        return
    reached = before
    for op, count in ops:
        reached += count
        if reached > max_instructions:
            raise too_many_instructions(plan, op, total)


def tile_count(stage: Stage, tiling: Tiling) -> int:
    """Number of tiles that `stage_tiles` would list, over all cores."""
    return output_tiles(stage, tiling) * max(1, len(_depths(stage, tiling)))


def compute_count(stage: Stage, tiling: Tiling) -> int:
    """Computes of the stage: one op per tile, and the other ops after the last cut of K."""
    cuts_of_k = max(1, len(_depths(stage, tiling)))
    return output_tiles(stage, tiling) * (cuts_of_k - 1 + len(stage.ops))


def output_tiles(stage: Stage, tiling: Tiling) -> int:
    """Tiles of the result over all cores, independent of cuts of K."""
    tiles = 0
    for sizes, shares in stage.share_sizes:
        count = shares
        for size, parts in zip(sizes, tiling.parts, strict=True):
            count *= parts if parts < size else size
        if tiling.columns and stage.contraction is not None:
            count *= -(-sizes[stage.contraction.n_axis] // tiling.columns)
        tiles += count
    return tiles


def loop_counts(stage: Stage, tiling: Tiling, share: Box) -> TileKey:
    """Numbers of row tiles, of column tiles, and of cuts of K of a share."""
    depths = max(1, len(_depths(stage, tiling)))
    return prod(tiling.parts), column_count(stage, tiling.columns, share), depths


def _depths(stage: Stage, tiling: Tiling) -> tuple[Interval, ...]:
    """The cuts of K; empty if it is not cut."""
    if not tiling.reduced or stage.contraction is None:
        return ()
    return tuple(_chunks((0, stage.contraction.reduce_size), tiling.reduced))


def core_cuts(stage: Stage, tiling: Tiling) -> list[Cuts]:
    """Cuts of each core's share."""
    contraction = stage.contraction
    column_axis = contraction.n_axis if tiling.columns and contraction is not None else -1
    depths = _depths(stage, tiling)
    found = []
    for share in stage.shares.values():
        axes = [
            tuple(_chunks(interval, tiling.columns))
            if axis == column_axis
            else divide(interval, min(parts, interval[1] - interval[0]))
            for axis, (interval, parts) in enumerate(zip(share, tiling.parts, strict=True))
        ]
        found.append(Cuts(tuple(axes), depths, tiling.is_data_whole))
    return found


def column_count(stage: Stage, columns: int, box: Box) -> int:
    """Number of boxes that `column_boxes` would list."""
    if not columns or stage.contraction is None:
        return 1
    lo, hi = box[stage.contraction.n_axis]
    return -(-(hi - lo) // columns)


def _order_key(tiling: Tiling) -> Callable[[TileKey], TileKey]:
    outer, middle, inner = tiling.order.loops
    return lambda key: (key[outer], key[middle], key[inner])


def _core_tiles(stage: Stage, tiling: Tiling, share: Box) -> dict[TileKey, Tile]:
    depths = _depths(stage, tiling) or (None,)
    found: dict[TileKey, Tile] = {}
    for row, column, box in _output_boxes(stage, tiling, share):
        for depth, cut in enumerate(depths):
            fetched = None if tiling.is_data_whole else cut
            is_last = depth == len(depths) - 1
            found[row, column, depth] = Tile(
                row, column, depth, box, cut, fetched, depth == 0, is_last
            )
    return found


def _output_boxes(stage: Stage, tiling: Tiling, share: Box) -> Iterator[tuple[int, int, Box]]:
    """The non-empty output boxes of a core's tiles, with row and column."""
    for row, row_box in enumerate(row_boxes(share, tiling.parts, tiling.innermost)):
        columns = enumerate(column_boxes(stage, tiling.columns, row_box))
        yield from ((row, column, box) for column, box in columns if volume(box))


def column_boxes(stage: Stage, columns: int, box: Box) -> list[Box]:
    """A row tile cut along the N axis."""
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
    return _box(stage, operand, tile, tile.reduce)


def fetched_box(stage: Stage, operand: Operand, tile: Tile) -> Box:
    """The box of an operand in LB for one tile: the box it reads, or with more of K."""
    cut = tile.reduce if operand.is_tiled_weight else tile.fetched
    return _box(stage, operand, tile, cut)


def _box(stage: Stage, operand: Operand, tile: Tile, cut: Interval | None) -> Box:
    box = operand.reads.box(tile.box)
    return box if cut is None else cut_reduced(operand, stage.contraction, box, cut)


def hull_fetched(stage: Stage, operands: Sequence[Operand], tile: Tile) -> Box:
    """Hull of the boxes in LB of operands of one tensor for a tile."""
    if len(operands) == 1:
        return fetched_box(stage, operands[0], tile)
    return reduce(hull, (fetched_box(stage, operand, tile) for operand in operands))
