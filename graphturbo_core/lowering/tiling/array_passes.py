"""Matrix passes of row tiles, and cuts that fill the matrix array."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from graphturbo_core.ir.boxes import Box, extents
from graphturbo_core.lowering.stages.stage import Stage
from graphturbo_core.lowering.tiling.tiling import row_axes, row_boxes
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.cost import ceil_div, rows_taken, square_of


def array_passes(plan: Plan, stage: Stage, share: Box, parts: tuple[int, ...]) -> int:
    """Returns the row passes of a core's share, cut into these parts per axis, for all products.

    A product with a batch is several products, each with its own rows.
    """
    contraction, hardware = stage.contraction, plan.hardware
    assert contraction is not None
    others = [axis for axis in row_axes(stage) if axis not in contraction.m_axes]
    passes = 0
    for box in row_boxes(share, parts):
        sizes = extents(box)
        rows = prod(sizes[axis] for axis in contraction.m_axes)
        rows = rows_taken(rows, contraction.pixels(sizes), hardware, plan.feeding)
        passes += prod(sizes[axis] for axis in others) * ceil_div(rows, hardware.matrix_rows)
    return passes


def square_cuts(plan: Plan, stage: Stage, share: Box) -> Iterator[tuple[int, int]]:
    """Yields axes with the most parts into which each may be cut without cutting squares.

    Yields nothing if a pass covers any pixels.
    """
    square, contraction = square_of(plan.hardware, plan.feeding), stage.contraction
    if square is None or contraction is None or not contraction.map_axes:
        return
    sizes = extents(share)
    for axis in row_axes(stage):
        if axis not in contraction.map_axes:
            yield axis, sizes[axis]
    for axis, side in zip(contraction.map_axes, square, strict=True):
        yield axis, ceil_div(sizes[axis], side)
