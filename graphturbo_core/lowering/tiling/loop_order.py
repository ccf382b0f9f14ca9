"""Tiling -> its cost: cycles of the matrix engine and of the memory ports.

An operand is refetched per tile of a loop that it does not follow, if a loop inside that one
changes its box. With rows outermost that is the weight, per row tile. With weights outermost it is
streamed data, per column tile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from operator import mul

from graphturbo_core.ir.boxes import Box, Interval, divide, extents, hull, part_of
from graphturbo_core.lowering.stages.stage import Operand, Stage, tensor_bytes
from graphturbo_core.lowering.tiling.tile_space import TileSpace
from graphturbo_core.lowering.tiling.tiling import (
    COLUMN,
    DEPTH,
    ROW,
    LoopOrder,
    Tiling,
    loop_counts,
    row_axes,
    row_boxes,
)
from graphturbo_core.lowering.tiling.weight_space import fetches_own
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.semantics.cost import compute_cycles
from graphturbo_core.semantics.work import work_of

Readers = Mapping[str, Sequence[Operand]]
"""Reading operands per streamed tensor."""


class TilingCost:
    """Cost of a stage's tilings; `share`: the largest of a core."""

    def __init__(
        self, plan: Plan, stage: Stage, space: TileSpace, share: Box, readers: Readers
    ) -> None:
        """Create the cost function of all tilings of a stage in its room."""
        self._plan, self._stage, self._space = plan, stage, space
        self._share, self._readers = share, readers

    def cycles(self, tiling: Tiling) -> int:
        """Cycles of a core's matrix engine, the DRAM port and the near port together.

        The near port is GB's; without a GB it is a link between LBs. The sum ranks tilings: tiles
        of a stage overlap in part, so fewer cycles of any of the three shorten it (our choice).
        Costs that all tilings share are left out.
        """
        counts = loop_counts(self._stage, tiling, self._share)
        dram, near = self._weight_bytes(tiling, counts)
        for tensor, readers in self._readers.items():
            size = self._data_bytes(tiling, counts, readers)
            is_far = tensor in self._space.in_dram
            dram += size * is_far
            near += size * (is_far == self._stage.is_on_cluster)
        hardware = self._plan.hardware
        near_bandwidth = hardware.gb_bandwidth if hardware.has_gb else hardware.link_bandwidth
        return (
            self._compute_cycles(tiling)
            + hardware.transfer_cycles(dram, hardware.dram_bandwidth)
            + hardware.transfer_cycles(near, near_bandwidth)
        )

    def _compute_cycles(self, tiling: Tiling) -> int:
        """Cycles of the product on one core, row tile by row tile."""
        plan, stage = self._plan, self._stage
        boxes = row_boxes(self._share, tiling.parts)
        counts, first = Counter(map(extents, boxes)), {extents(box): box for box in boxes}
        rest = stage.first, plan.hardware, plan.number_format, plan.feeding
        works = (work_of(stage.first, first[size], stage.output_index) for size in counts)
        cycles = (compute_cycles(work, *rest)[1] for work in works)
        return sum(map(mul, cycles, counts.values()))

    def _data_bytes(
        self, tiling: Tiling, counts: tuple[int, int, int], readers: Sequence[Operand]
    ) -> int:
        """Bytes of a streamed tensor that the tiles of all cores fetch, halos included."""
        followed = frozenset().union(*(self._followed(each, tiling) for each in readers))
        boxes = row_boxes(self._share, tiling.parts) if ROW in followed else [self._share]
        read = (reduce(hull, (each.reads.box(box) for each in readers)) for box in boxes)
        size = sum(tensor_bytes(self._plan, readers[0].tensor, box) for box in read)
        if not any(each.op is self._stage.ops[0] for each in readers):
            counts = counts[ROW], counts[COLUMN], 1
        return len(self._stage.all_cores) * size * refetches(tiling.order, counts, followed)

    def _weight_bytes(self, tiling: Tiling, counts: tuple[int, int, int]) -> tuple[int, int]:
        """Bytes of the tiled weight over DRAM, and over the near port."""
        operand = self._stage.tile_weight()
        if operand is None:
            return 0, 0
        plan, stage, residency = self._plan, self._stage, self._space.weight
        once, own = (
            tensor_bytes(plan, operand.tensor, operand.reads.box(box))
            for box in (stage.box, self._share)
        )
        is_resident = residency in {Residency.LB, Residency.SHARDED}
        times = refetches(tiling.order, counts, self._followed(operand, tiling))
        if is_resident and own <= self._space.weight_bytes:
            times = 1
        if fetches_own(plan, stage):
            return len(stage.all_cores) * own * times, 0
        if residency is Residency.SHARDED:
            return once, once * times
        dram = once if residency is Residency.GB else once * times
        if not plan.hardware.has_gb:
            return dram, 0
        return dram, dram + once * times * (not stage.is_on_cluster)

    def _followed(self, operand: Operand, tiling: Tiling) -> frozenset[int]:
        """The loops that change the operand's box."""
        contraction = self._stage.contraction
        assert contraction is not None
        axes = {axis.out_axis for axis in operand.access.axes}
        rows = {axis for axis in row_axes(self._stage) if tiling.parts[axis] > 1}
        is_cut = operand.is_tiled_weight or (operand.is_reduced_data and not tiling.is_data_whole)
        found = {ROW: bool(rows & axes), COLUMN: contraction.n_axis in axes, DEPTH: is_cut}
        return frozenset(loop for loop, is_followed in found.items() if is_followed)


def refetches(order: LoopOrder, counts: Sequence[int], followed: frozenset[int]) -> int:
    """Times that each byte of an operand is fetched, which follows some of the loops.

    `counts`: tiles per loop, by loop.
    """
    loops = order.loops
    changing = [at for at, loop in enumerate(loops) if loop in followed and counts[loop] > 1]
    outer = loops[: changing[-1] + 1] if changing else ()
    return prod(counts[loop] for loop in outer if loop not in followed)


LEAST_SAVING = 2
"""Times as many bytes in the usual order of row tiles as in another one, for that to be used (our
choice: later stages begin with the first rows, so it is not changed for little)."""


def innermost_axis(
    plan: Plan, stage: Stage, grid: tuple[Box, tuple[int, ...]], readers: Readers
) -> int:
    """The axis whose parts come one directly after another; -1: the last, as usual.

    A tile that reads what the tile before it read fetches nothing. So the parts of an axis that
    read the same box of a large operand are better innermost: the windows of an image, where a
    reshape has all of them in one box. For stages without a product. `grid`: the share of a core,
    and parts per axis.
    """
    share, parts = grid
    cut = [axis for axis, count in enumerate(parts) if count > 1]
    if stage.contraction is not None or not cut[:-1] or not readers:
        return -1
    tile = tuple(part_of(i, count, 0) for i, count in zip(share, parts, strict=True))
    read = []
    for tensor, own in readers.items():
        box = reduce(hull, (each.reads.box(tile) for each in own))
        boxes = {axis: _distinct(own, axis, divide(share[axis], parts[axis])) for axis in cut}
        read.append((tensor_bytes(plan, tensor, box), boxes))

    def fetched(innermost: int) -> int:
        order = [axis for axis in cut if axis != innermost] + [innermost] * (innermost >= 0)
        return sum(size * box_fetches(order, parts, boxes) for size, boxes in read)

    best = min(cut[:-1], key=fetched)
    return best if fetched(best) * LEAST_SAVING <= fetched(-1) else -1


def _distinct(readers: Sequence[Operand], axis: int, cuts: Sequence[Interval]) -> int:
    """Number of distinct boxes of a tensor that the cuts of an output axis read."""
    places = [
        (each.reads, place)
        for each in readers
        for place, own in enumerate(each.access.axes)
        if own.out_axis == axis
    ]
    return len({tuple(reads.interval(place, cut) for reads, place in places) for cut in cuts})


def box_fetches(order: Sequence[int], parts: Sequence[int], boxes: Mapping[int, int]) -> int:
    """Boxes of an operand that are fetched, with the first; `order`: cut axes, outermost first."""
    inner = max((at for at, axis in enumerate(order) if boxes[axis] > 1), default=-1)
    if inner < 0:
        return 1
    return prod(parts[axis] for axis in order[:inner]) * boxes[order[inner]]
