"""Numbers -> SVG: one line of dots per row on a logarithmic axis, with a highlighted band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

WIDTH, ROW, TOP, LEFT, RIGHT, BOTTOM = 760, 26, 24, 150, 150, 44
RADIUS = 5
FONT = 'font-family="sans-serif" font-size="12"'


@dataclass(frozen=True)
class Dots:
    """One series: a value per row (above 0) and a colour; `is_hollow`: drawn as rings."""

    name: str
    colour: str
    values: Mapping[str, float]
    is_hollow: bool = False


def dots_svg(
    rows: Mapping[str, str],
    series: Sequence[Dots],
    axis: str,
    band: tuple[float, float] | None = None,
) -> str:
    """SVG of all series: rows (name and text) from top to bottom, values along the x axis.

    `axis`: title of the x axis.
    """
    every = [value for dots in series for value in dots.values.values()]
    low, high = floor(log10(min(every)) * 2) / 2, ceil(log10(max(every)) * 2) / 2
    across = _Across(low, max(high, low + 0.5))
    foot = TOP + ROW * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {foot + BOTTOM}" {FONT}>',
        f'<rect width="{WIDTH}" height="{foot + BOTTOM}" fill="#ffffff"/>',
    ]
    if band:
        left, right = (across.place(value) for value in band)
        parts.append(
            f'<rect x="{left:.1f}" y="{TOP}" width="{right - left:.1f}" height="{foot - TOP}" '
            'fill="#eef3ee"/>'
        )
    parts += _grid(across, foot, axis)
    for place, (row, words) in enumerate(rows.items()):
        y = TOP + ROW * (place + 0.5)
        parts.append(f'<text x="{LEFT - 10}" y="{y + 4:.1f}" text-anchor="end">{words}</text>')
        parts += [
            f'<circle cx="{across.place(dots.values[row]):.1f}" cy="{y:.1f}" r="{RADIUS}" '
            f"{_look(dots)}/>"
            for dots in series
            if row in dots.values
        ]
    return "\n".join([*parts, *_legend(series), "</svg>"]) + "\n"


@dataclass(frozen=True)
class _Across:
    """The x axis, with powers of ten at its ends."""

    low: float
    high: float

    def place(self, value: float) -> float:
        share = (log10(value) - self.low) / (self.high - self.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def ticks(self) -> list[float]:
        """1, 2 and 5 of every decade that lie on the axis."""
        powers = range(floor(self.low), ceil(self.high) + 1)
        marks = (digit * 10.0**power for power in powers for digit in (1, 2, 5))
        return [mark for mark in marks if self.low - 1e-9 <= log10(mark) <= self.high + 1e-9]


def _grid(across: _Across, foot: float, axis: str) -> list[str]:
    parts = []
    for mark in across.ticks():
        x, colour = across.place(mark), "#888888" if mark == 1 else "#dddddd"
        parts.append(
            f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{foot}" stroke="{colour}"/>'
            f'<text x="{x:.1f}" y="{foot + 16}" text-anchor="middle">{mark:g}</text>'
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{foot + 36}" text-anchor="middle">{axis}</text>')
    return parts


def _look(dots: Dots) -> str:
    fill = "none" if dots.is_hollow else dots.colour
    return f'fill="{fill}" stroke="{dots.colour}" stroke-width="2"'


def _legend(series: Sequence[Dots]) -> list[str]:
    x = WIDTH - RIGHT + 20
    parts = []
    for place, dots in enumerate(series):
        y = TOP + 14 + 20 * place
        parts.append(f'<circle cx="{x}" cy="{y - 4}" r="{RADIUS}" {_look(dots)}/>')
        parts.append(f'<text x="{x + 12}" y="{y}">{dots.name}</text>')
    return parts
