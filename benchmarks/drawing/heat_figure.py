"""Numbers -> SVG: panels of coloured cells, one panel per series, all on one scale from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LEFT, TOP, CELL, ROW, GAP, FOOT = 112, 60, 56, 26, 20, 30
FONT = 'font-family="sans-serif" font-size="11"'
PALE, DEEP = (240, 244, 250), (12, 62, 120)
"""Colours of 0 and of 1."""
EMPTY = "#d8d8d8"
DARK = 0.5
"""Above it a cell's text is white."""


@dataclass(frozen=True)
class Panel:
    """A title, and values by row and column; a text where there is no value."""

    title: str
    cells: Mapping[tuple[str, str], float | str]


def heat_svg(
    rows: Sequence[str], columns: Sequence[str], panels: Sequence[Panel], remark: str
) -> str:
    """SVG of all panels side by side; a cell shows its value with two digits."""
    wide = CELL * len(columns) + GAP
    width = LEFT + wide * len(panels)
    height = TOP + ROW * len(rows) + FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {FONT}>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for place, row in enumerate(rows):
        y = TOP + ROW * (place + 0.5) + 4
        parts.append(f'<text x="{LEFT - 8}" y="{y:.1f}" text-anchor="end">{row}</text>')
    for number, panel in enumerate(panels):
        parts += _panel(LEFT + wide * number, rows, columns, panel)
    parts.append(f'<text x="{LEFT}" y="{height - 10}">{remark}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(left: int, rows: Sequence[str], columns: Sequence[str], panel: Panel) -> list[str]:
    parts = [f'<text x="{left}" y="28" font-weight="bold">{panel.title}</text>']
    for across, column in enumerate(columns):
        x = left + CELL * (across + 0.5)
        parts.append(
            f'<text x="{x:.1f}" y="{TOP - 8}" text-anchor="middle" font-size="9">{column}</text>'
        )
        for down, row in enumerate(rows):
            parts.append(_cell(left + CELL * across, TOP + ROW * down, panel.cells[row, column]))
    return parts


def _cell(x: int, y: int, value: float | str) -> str:
    is_value = isinstance(value, float)
    share = value if isinstance(value, float) else 0.0
    fill = _colour(share) if is_value else EMPTY
    ink = "#ffffff" if is_value and share > DARK else "#222222"
    text = f"{share:.2f}" if is_value else str(value)
    return (
        f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{ROW - 2}" fill="{fill}"/>'
        f'<text x="{x + CELL / 2 - 1:.1f}" y="{y + ROW / 2 + 3:.1f}" text-anchor="middle" '
        f'fill="{ink}">{text}</text>'
    )


def _colour(share: float) -> str:
    mixed = (round(low + (high - low) * share) for low, high in zip(PALE, DEEP, strict=True))
    return "#" + "".join(f"{each:02x}" for each in mixed)
