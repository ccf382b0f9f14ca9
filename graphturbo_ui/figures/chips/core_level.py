"""The lowest level of a chip's picture: one core with LB, staging buffer, engines and link."""

from __future__ import annotations

from graphturbo_core.units import format_count
from graphturbo_ui.figures.chips import scales, svg
from graphturbo_ui.figures.chips.memory_levels import (
    CORE,
    PADDING,
    TEXT_WIDTH,
    TEXT_X,
    TINY,
    Drawing,
    level_heading,
)
from graphturbo_ui.figures.chips.svg import Box, Span

BAR = Box(CORE.x + PADDING, CORE.y + 12, scales.LB_ROOM, 24)
FLOOR = CORE.bottom - 38
"""Lower edge of the engines; their numbers stand below it."""
MATRIX_X, VECTOR_X, LINK_X = CORE.x + 74, CORE.x + 206, CORE.x + 326


def core_level(drawing: Drawing) -> str:
    """One core: bytes as bars, engines by operations per cycle, the port and the link."""
    return (
        level_heading(CORE, "One core") + svg.rect(CORE, "frame", rx=8)
        + _lb(drawing) + _matrix(drawing) + _vector(drawing) + _link(drawing) + _kernel(drawing)
    )  # fmt: skip


def _lb(drawing: Drawing) -> str:
    shape, per_byte = drawing.view.shape, drawing.scales.width_per_byte
    pieces = [("lb", "core.lb_data_bytes", "LB pool" if shape.is_pooled else "LB data")]
    pieces += [] if shape.is_pooled else [("weight", "core.lb_weight_bytes", "LB weight")]
    pieces.append(("staging", "core.staging_bytes", "staging"))
    x, drawn = BAR.x, []
    for place, (name, key, words) in enumerate(pieces):
        width = int(drawing.numbers[key].value) * per_byte
        y = CORE.y + 24 + 17 * place
        drawn.append(svg.rect(Box(x, BAR.y, width, BAR.height), name + drawing.is_assumed(key)))
        drawn.append(svg.rect(Box(TEXT_X, y - 10, 10, 10), name))
        drawn.append(svg.line_of(TEXT_X + 16, y, drawing.spans(key, words)))
        x += width
    port = scales.arrow_width(shape.lb_bandwidth)
    y = CORE.y + 24 + 17 * len(pieces)
    return svg.part(
        "lb", drawing.label("lb"), Box(2, CORE.y + 10, TEXT_WIDTH, 20 + 17 * len(pieces)),
        *drawn,
        svg.arrow_down(_port_x(drawing), BAR.bottom + 2, BAR.bottom + 26, port),
        svg.line_of(TEXT_X, y, drawing.spans("core.lb_bandwidth_bytes_per_s", "port")),
    )  # fmt: skip


def _port_x(drawing: Drawing) -> float:
    """The port leaves from the middle of the LB, which may be short."""
    return BAR.x + max(14.0, drawing.view.shape.lb_bytes * drawing.scales.width_per_byte / 2)


def _matrix(drawing: Drawing) -> str:
    shape = drawing.view.shape
    area = shape.macs * drawing.scales.area_per_op
    ratio = scales.flatness(shape.matrix_rows, shape.matrix_columns)
    box = scales.engine_box(MATRIX_X, FLOOR, ratio, area)
    keys = ("core.matrix_rows", "core.matrix_columns", f"core.matrix_rate.{_format(drawing)}")
    guess = drawing.is_assumed(*keys)
    count = Span(format_count(shape.macs), is_number=True, is_assumption=bool(guess))
    sides = "per cluster" if shape.has_shared_matrix else _sides(drawing)
    lines = [
        svg.line_of(MATRIX_X, FLOOR + 15, [count, Span("MAC/cycle")], "middle"),
        svg.line_of(MATRIX_X, FLOOR + 31, [Span(f"matrix {sides}")], "middle"),
    ]
    hit = Box(CORE.x + 6, FLOOR - scales.ENGINE_ROOM[1], 136, scales.ENGINE_ROOM[1] + 36)
    return svg.part(
        "matrix",
        drawing.label("matrix"),
        hit,
        svg.rect(box, "matrix" + (" tiny" if box.height < TINY else guess)),
        *lines,
    )


def _format(drawing: Drawing) -> str:
    return drawing.view.number_format


def _sides(drawing: Drawing) -> str:
    """`64 × 32`, `16 × 16 × 16`."""
    keys = ("core.matrix_rows", "core.matrix_columns", "core.matrix_depth")
    found = drawing.numbers
    return " × ".join(found[key].text for key in keys if key in found)


def _vector(drawing: Drawing) -> str:
    shape = drawing.view.shape
    area = shape.vector_ops * drawing.scales.area_per_op
    box = scales.engine_box(VECTOR_X, FLOOR, 1.0, area)
    guess = drawing.is_assumed("core.vector_lanes", f"core.vector_rate.{_format(drawing)}")
    count = Span(format_count(shape.vector_ops), is_number=True, is_assumption=bool(guess))
    lines = [
        svg.line_of(VECTOR_X, FLOOR + 15, [count, Span("op/cycle")], "middle"),
        svg.line_of(VECTOR_X, FLOOR + 31, [Span("vector")], "middle"),
    ]
    hit = Box(CORE.x + 146, FLOOR - scales.ENGINE_ROOM[1], 120, scales.ENGINE_ROOM[1] + 36)
    return svg.part(
        "vector",
        drawing.label("vector"),
        hit,
        svg.rect(box, "vector" + (" tiny" if box.height < TINY else guess)),
        *lines,
    )


def _link(drawing: Drawing) -> str:
    width = scales.arrow_width(drawing.view.shape.link_bandwidth)
    hit = Box(CORE.x + 270, FLOOR - scales.ENGINE_ROOM[1], 112, scales.ENGINE_ROOM[1] + 36)
    key = "core.link_bandwidth_bytes_per_s"
    return svg.part(
        "link", drawing.label("link"), hit,
        svg.arrow_right(LINK_X - 40, LINK_X + 40, FLOOR - 30, width),
        svg.line_of(LINK_X, FLOOR + 15, [*drawing.spans(key)], "middle"),
        svg.line_of(LINK_X, FLOOR + 31, [Span("link to cores")], "middle"),
    )  # fmt: skip


def _kernel(drawing: Drawing) -> str:
    return svg.part(
        "kernel", drawing.label("kernel"), Box(2, FLOOR - 6, TEXT_WIDTH, 42),
        svg.line_of(TEXT_X, FLOOR + 12, drawing.spans("kernel.launch_cycles", "launch")),
        svg.line_of(TEXT_X, FLOOR + 29, drawing.spans("kernel.barrier_cycles", "barrier")),
    )  # fmt: skip
