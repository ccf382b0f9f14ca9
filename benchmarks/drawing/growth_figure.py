"""Points -> SVG: cost over nodes on logarithmic axes, with a reference line of exponent 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10

WIDTH, HEIGHT = 760, 460
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 30, 50
COLOURS = ("#1f3b99", "#4f7fe0", "#a3c4f7", "#8f2d2b", "#d9645f", "#ecaea6")
"""One per line: three of a model, dark to light."""
Line = Sequence[tuple[float, float]]


def figure_svg(lines: Mapping[str, Line], cost: str) -> str:
    """SVG of named lines; both coordinates are above 0. `cost`: title of the y axis."""
    assert len(lines) <= len(COLOURS), "two lines of one colour"
    every = [point for line in lines.values() for point in line]
    spans = [_decades([point[axis] for point in every]) for axis in (0, 1)]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *_grid(spans, cost),
    ]
    for number, (name, line) in enumerate(lines.items()):
        colour = COLOURS[number]
        places = [_place(point, spans) for point in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        y = TOP + 16 + 20 * number
        x = WIDTH - RIGHT + 16
        parts.append(f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{x + 16}" y="{y}">{name}</text>')
    return "\n".join([*parts, *_ideal(spans, len(lines)), "</svg>"]) + "\n"


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return low, max(high, low + 1)


def _place(point: tuple[float, float], spans: Sequence[tuple[int, int]]) -> tuple[float, float]:
    across, up = (
        (log10(value) - low) / (high - low) for value, (low, high) in zip(point, spans, strict=True)
    )
    return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)


def _grid(spans: Sequence[tuple[int, int]], cost: str) -> list[str]:
    (x_low, x_high), (y_low, y_high) = spans
    parts = []
    for power in range(x_low, x_high + 1):
        x, _ = _place((10**power, 10**y_low), spans)
        below = HEIGHT - BOTTOM + 18
        parts.append(
            f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#dddddd"/>'
            f'<text x="{x:.1f}" y="{below}" text-anchor="middle">{10**power:,}</text>'
        )
    for power in range(y_low, y_high + 1):
        _, y = _place((10**x_low, 10.0**power), spans)
        parts.append(
            f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#dddddd"/>'
            f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>'
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">nodes</text>')
    parts.append(f'<text x="{LEFT}" y="{TOP - 12}" text-anchor="middle">{cost}</text>')
    return parts


def _ideal(spans: Sequence[tuple[int, int]], lines: int) -> list[str]:
    """Line of linear scaling through the lower left corner, with its legend."""
    (x_low, x_high), (y_low, y_high) = spans
    powers = min(x_high - x_low, y_high - y_low)
    (x1, y1), (x2, y2) = (
        _place((10.0 ** (x_low + add), 10.0 ** (y_low + add)), spans) for add in (0, powers)
    )
    x, y = WIDTH - RIGHT + 16, TOP + 16 + 20 * lines
    dashes = 'stroke="#888888" stroke-dasharray="4 4"'
    return [
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {dashes}/>',
        f'<line x1="{x}" y1="{y - 4}" x2="{x + 10}" y2="{y - 4}" {dashes}/>',
        f'<text x="{x + 16}" y="{y}">exponent 1</text>',
    ]
