"""Stage and Tiling -> bytes of its largest tiles, from the cuts per axis, without a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphturbo_core.ir.boxes import Box, Interval
from graphturbo_core.lowering.stages.stage import (
    Operand,
    Stage,
    cut_reduced,
    fetched_bytes,
    tensor_bytes,
)
from graphturbo_core.lowering.tiling.tiling import (
    Cuts,
    Tiling,
    core_cuts,
    hull_fetched,
    stage_tiles,
)
from graphturbo_core.products.plan import Plan


def output_tile_bytes(plan: Plan, stage: Stage, tiling: Tiling) -> int:
    """Bytes of the stage's largest output tile: the longest interval on each axis."""
    return max(
        tensor_bytes(plan, stage.output, tuple(_longest(axis) for axis in cuts.axes))
        for cuts in core_cuts(stage, tiling)
    )


def read_tile_bytes(plan: Plan, stage: Stage, tiling: Tiling, readers: Sequence[Operand]) -> int:
    """Returns the bytes of the largest part of a tensor that a tile fetches for these operands.

    Tiles are listed only if the axes of that part do not follow one output axis each.
    """
    size = read_bytes_by_axes(plan, stage, tiling, readers)
    return _listed_bytes(plan, stage, tiling, readers) if size is None else size


def read_bytes_by_axes(
    plan: Plan, stage: Stage, tiling: Tiling, readers: Sequence[Operand]
) -> int | None:
    """The same without a list of tiles; None if a list is needed."""
    if not _is_by_axes(readers, tiling):
        return None
    boxes = [_longest_read(stage, readers, cuts) for cuts in core_cuts(stage, tiling)]
    if any(box is None for box in boxes):
        return None
    return max(tensor_bytes(plan, readers[0].tensor, box) for box in boxes if box is not None)


def _is_by_axes(readers: Sequence[Operand], tiling: Tiling) -> bool:
    """Whether each axis is cut independently: by one output axis that no other axis follows.

    Lookups also depend on the tile's own size, and a cut of K does not apply to every reader.
    """
    if len(readers) == 1:
        if readers[0].is_lookup:
            return False
    elif tiling.reduced:
        return False
    columns = zip(*(operand.access.axes for operand in readers), strict=True)
    followed = [{axis.out_axis for axis in column if axis.out_axis >= 0} for column in columns]
    leaders = [leader for found in followed for leader in found]
    return all(len(found) <= 1 for found in followed) and len(set(leaders)) == len(leaders)


def _longest_read(stage: Stage, readers: Sequence[Operand], cuts: Cuts) -> Box | None:
    """The longest interval that a tile reads on each axis; None: one of several readers is empty.

    A hull excludes readers of empty boxes, which a single axis does not show.
    """
    longest: list[Interval] = []
    columns = zip(*(operand.access.axes for operand in readers), strict=True)
    for place, column in enumerate(columns):
        leader = max(axis.out_axis for axis in column)
        found: list[Interval] = []
        for cut in cuts.axes[leader] if leader >= 0 else ((0, 1),):
            intervals = [operand.reads.interval(place, cut) for operand in readers]
            if len(readers) > 1 and any(hi <= lo for lo, hi in intervals):
                return None
            found.append((min(lo for lo, _ in intervals), max(hi for _, hi in intervals)))
        longest.append(_longest(found))
    box = tuple(longest)
    if not cuts.depths or (cuts.is_data_whole and not readers[0].is_tiled_weight):
        return box
    return cut_reduced(readers[0], stage.contraction, box, _longest(cuts.depths))


def _longest(intervals: Iterable[Interval]) -> Interval:
    return max(intervals, key=lambda interval: interval[1] - interval[0])


def _listed_bytes(plan: Plan, stage: Stage, tiling: Tiling, readers: Sequence[Operand]) -> int:
    tiles = (tile for step in stage_tiles(stage, tiling) for tile in step.values())
    boxes = ((hull_fetched(stage, readers, tile), tile.box) for tile in tiles)
    return max(fetched_bytes(plan, readers, box, tile) for box, tile in boxes)
