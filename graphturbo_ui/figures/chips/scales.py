"""Two chips -> the scales that both pictures share, and shapes of a given area."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10, sqrt

from graphturbo_core.report.chips.chip_view import ChipShape
from graphturbo_ui.figures.chips.svg import Box

GB_ROOM = (130.0, 104.0)
CORES_ROOM = (196.0, 104.0)
LB_ROOM = 368.0
ENGINE_ROOM = (112.0, 64.0)
"""Width and height that the largest of each may have, in the picture's units."""
GAP = 1.14
"""Pitch of core tiles, as a multiple of their side."""
SHRINK = 0.97
TRIES = 400
GIGA = 1e9
THINNEST, WIDEST, PER_DECADE = 2.0, 34.0, 6.0
"""Width of an arrow of 1 GB/s or less, of the widest, and what ten times more bandwidth adds."""
FLATTEST = 2.0
"""Largest ratio of an engine's sides; a narrower array is drawn with it, its area to scale."""


@dataclass(frozen=True, slots=True)
class ChipScales:
    """Scales of all pictures side by side.

    `area_per_byte`: of GB and of cores, whose area is their LB. `width_per_byte`: of a core's LB
    and staging buffer. `area_per_op`: of engines, by operations per cycle.
    """

    area_per_byte: float
    width_per_byte: float
    area_per_op: float


@dataclass(frozen=True, slots=True)
class TileGrid:
    """Core tiles: `columns` x `rows` squares of this side and pitch; the last row may be short."""

    side: float
    pitch: float
    columns: int
    rows: int


def chip_scales(shapes: Sequence[ChipShape]) -> ChipScales:
    """The largest scales at which every part of every chip fits its room."""
    room = GB_ROOM[0] * GB_ROOM[1]
    area = min(room / max(shape.gb_bytes, shape.lb_bytes) for shape in shapes)
    for _ in range(TRIES):
        grids = [core_grid(shape, area) for shape in shapes]
        if all(grid.rows * grid.pitch <= CORES_ROOM[1] for grid in grids):
            break
        area *= SHRINK
    longest = max(shape.lb_bytes + shape.staging_bytes for shape in shapes)
    per_op = min(
        min(
            _largest_area(flatness(shape.matrix_rows, shape.matrix_columns)) / shape.macs,
            _largest_area(1.0) / shape.vector_ops,
        )
        for shape in shapes
    )
    return ChipScales(area, LB_ROOM / longest, per_op)


def _largest_area(ratio: float) -> float:
    """Of a shape whose width is `ratio` times its height."""
    width, height = ENGINE_ROOM
    return min(height**2 * ratio, width**2 / ratio)


def flatness(rows: int, columns: int) -> float:
    """Width of an engine's shape, as a multiple of its height."""
    return min(FLATTEST, max(1 / FLATTEST, columns / rows))


def core_grid(shape: ChipShape, area_per_byte: float) -> TileGrid:
    """Tiles of a cluster's cores in the width that they have."""
    side = sqrt(shape.lb_bytes * area_per_byte)
    pitch = side * GAP
    columns = max(1, min(shape.cores, floor(CORES_ROOM[0] / pitch)))
    if shape.cores <= columns * 2:  # two even rows
        columns = ceil(shape.cores / 2) if shape.cores > columns else columns
    return TileGrid(side, pitch, columns, ceil(shape.cores / columns))


def gb_box(x: float, middle: float, area: float) -> Box:
    """GB as a square, as wide as needed above its greatest height; in the middle of its level."""
    height = min(GB_ROOM[1], sqrt(area))
    return Box(x, middle - height / 2, area / height if height else 0.0, height)


def engine_box(middle: float, bottom: float, ratio: float, area: float) -> Box:
    """An engine of this area and flatness."""
    height = sqrt(area / ratio)
    width = area / height
    return Box(middle - width / 2, bottom - height, width, height)


def arrow_width(bandwidth: int) -> float:
    """Width of an arrow, on a logarithmic scale."""
    decades = log10(max(1.0, bandwidth / GIGA))
    return min(WIDEST, THINNEST + PER_DECADE * decades)
