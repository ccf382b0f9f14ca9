"""Stage and Tiling -> bytes of its largest tiles, from the cuts per axis, without a list."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property

from graphturbo_core.ir.boxes import Box, Interval, is_empty, volume
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
from graphturbo_core.semantics.access import AxisMap


class TileSizes:
    """Bytes of the largest tiles of a stage and tiling, and of all stages equivalent to it."""

    def __init__(self, plan: Plan, stage: Stage, tiling: Tiling) -> None:
        """The cuts of the axes are computed once, for all tensors."""
        self._plan, self._stage, self._tiling = plan, stage, tiling

    @cached_property
    def _cuts(self) -> Sequence[Cuts]:
        return core_cuts(self._stage, self._tiling)

    def output_bytes(self) -> int:
        """Bytes of the stage's largest output tile: the longest interval on each axis."""
        output = self._stage.output
        longest = (tuple(_longest(axis) for axis in cuts.axes) for cuts in self._cuts)
        return max(tensor_bytes(self._plan, output, box) for box in longest)

    def read_bytes(self, readers: Sequence[Operand]) -> int:
        """Returns the bytes of the largest part of a tensor that a tile fetches for these operands.

        Tiles are listed only if the axes of that part do not follow one output axis each.
        """
        size = self.read_bytes_by_axes(readers)
        return self._listed_bytes(readers) if size is None else size

    def read_bytes_by_axes(self, readers: Sequence[Operand]) -> int | None:
        """The same without a list of tiles; None if a list is needed."""
        if not _is_by_axes(readers, self._tiling):
            return None
        boxes = [_longest_read(self._stage, readers, cuts) for cuts in self._cuts]
        if any(box is None for box in boxes):
            return None
        tensor = readers[0].tensor
        return max(tensor_bytes(self._plan, tensor, box) for box in boxes if box is not None)

    def fewest_fetches(self, operand: Operand) -> int:
        """Distinct boxes that the tiles of all cores fetch: each is loaded at least once."""
        depths = 1
        if operand.is_reduced_data and not self._tiling.is_data_whole:
            depths = max(1, len(self._cuts[0].depths))
        return depths * sum(_distinct_reads(operand, cuts) for cuts in self._cuts)

    def _listed_bytes(self, readers: Sequence[Operand]) -> int:
        steps = stage_tiles(self._stage, self._tiling)
        tiles = (tile for step in steps for tile in step.values())
        boxes = ((hull_fetched(self._stage, readers, tile), tile.box) for tile in tiles)
        return max(fetched_bytes(self._plan, readers, box, tile) for box, tile in boxes)


def _is_by_axes(readers: Sequence[Operand], tiling: Tiling) -> bool:
    """Whether each axis is cut by one output axis.

    Lookups also depend on the tile's own size, and a cut of K does not apply to every reader.
    """
    if len(readers) == 1:
        if readers[0].is_lookup:
            return False
    elif tiling.reduced:
        return False
    columns = zip(*(operand.access.axes for operand in readers), strict=True)
    followed = ({axis.out_axis for axis in column if axis.out_axis >= 0} for column in columns)
    return all(len(found) <= 1 for found in followed)


def _longest_read(stage: Stage, readers: Sequence[Operand], cuts: Cuts) -> Box | None:
    """The largest box that a tile reads; None: one of several readers is empty.

    A hull excludes readers of empty boxes, which a single axis does not show.
    """
    columns = list(zip(*(operand.access.axes for operand in readers), strict=True))
    leaders = [max(axis.out_axis for axis in column) for column in columns]
    longest: dict[int, Interval] = {}
    for leader in dict.fromkeys(leaders):
        places = [place for place, own in enumerate(leaders) if own == leader]
        boxes: list[Box] = [((0, 0),) * len(places)]
        for cut in _cuts_read(columns[places[0]], cuts.axes[leader]) if leader >= 0 else ((0, 1),):
            parts = [[each.reads.interval(place, cut) for each in readers] for place in places]
            if len(readers) > 1 and any(hi <= lo for part in parts for lo, hi in part):
                return None
            boxes.append(tuple([(min(part)[0], max(hi for _, hi in part)) for part in parts]))
        largest: Box = max(boxes, key=volume)
        longest.update(zip(places, largest, strict=True))
    box = tuple([longest[place] for place in range(len(columns))])
    if not cuts.depths or (cuts.is_data_whole and not readers[0].is_tiled_weight):
        return box
    return cut_reduced(readers[0], stage.contraction, box, _longest(cuts.depths))


def _distinct_reads(operand: Operand, cuts: Cuts) -> int:
    """Distinct boxes with elements that an operand has for the cuts of the output's axes."""
    followers: dict[int, list[int]] = {}
    for place, axis in enumerate(operand.access.axes):
        if axis.out_axis >= 0:
            followers.setdefault(axis.out_axis, []).append(place)
    found = 1
    for leader, places in followers.items():
        read = {
            tuple(operand.reads.interval(place, cut) for place in places)
            for cut in cuts.axes[leader]
        }
        found *= sum(not is_empty(box) for box in read)
    return found


def _cuts_read(column: Sequence[AxisMap], cuts: Sequence[Interval]) -> Sequence[Interval]:
    """The cuts of the followed axis from which a tensor's axis may be read, by its readers.

    Of a concatenation each input is read by few of thousands of cuts.
    """
    reach = column[0].reach if len(column) == 1 else None
    if reach is None:
        return cuts
    begin = bisect_right(cuts, reach[0], key=lambda cut: cut[1])
    return cuts[begin : bisect_left(cuts, reach[1], key=lambda cut: cut[0])]


def _longest(intervals: Iterable[Interval]) -> Interval:
    return max(intervals, key=lambda interval: interval[1] - interval[0])
