"""Rows of numbers -> SVG that prints in grey: bars, lines, intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

INK, DARK, LIGHT, RULE = "#1f2328", "#57606a", "#c4cad1", "#8c959f"
WIDTH, LABEL, VALUE = 350, 122, 66
"""Of a picture, of the labels at its left, and of the values at its right, in pixels."""
LINE_LABEL = 86
"""Of the labels at the ends of lines."""
ROW, BAR, TOP = 19, 13, 4
TEXT = 11
DASHES = ("", "5 3", "1 3", "8 3 1 3")


@dataclass(frozen=True, slots=True)
class PrintedBar:
    """A bar of two parts: what is needed is dark, the rest is light."""

    label: str
    dark: float
    light: float
    value: str


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A line over common places, and what it is called."""

    label: str
    heights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """A row of intervals (start, length, text)."""

    label: str
    intervals: tuple[tuple[int, int, str], ...]


def text(x: float, y: float, content: str, anchor: str = "start") -> str:
    """A line of text; y is its base."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="{TEXT}" fill="{INK}">{escape(content)}</text>'


def rect(x: float, y: float, width: float, fill: str) -> str:
    """A bar of the usual height."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{BAR}" fill="{fill}"/>'


def svg(height: float, title: str, parts: Iterable[str]) -> str:
    """A picture with its title for those who cannot see it."""
    head = f'<svg role="img" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}"'
    body = "".join(parts)
    return f'{head} height="{height:.0f}"><title>{escape(title)}</title>{body}</svg>'


def bars(title: str, rows: Sequence[PrintedBar], limit: float = 0, limit_label: str = "") -> str:
    """Horizontal bars on one scale; a dashed line at `limit`, where there is one."""
    most = max(limit, *(row.dark + row.light for row in rows))
    scale = (WIDTH - LABEL - VALUE) / most
    parts = []
    for place, row in enumerate(rows):
        y = TOP + place * ROW
        end = LABEL + (row.dark + row.light) * scale
        parts += [
            text(LABEL - 5, y + BAR - 2, row.label, "end"),
            rect(LABEL, y, row.dark * scale, DARK),
            rect(LABEL + row.dark * scale, y, row.light * scale, LIGHT),
            text(max(end, LABEL + limit * scale) + 4, y + BAR - 2, row.value),
        ]
    height = TOP + len(rows) * ROW
    if limit:
        x = LABEL + limit * scale
        parts += [_dashed(x, TOP, x, height), text(x, height + TEXT, limit_label, "middle")]
        height += TEXT + TOP
    return svg(height, title, parts)


def rows_of_intervals(title: str, rows: Sequence[PrintedRow]) -> str:
    """Intervals on one time axis, in cycles."""
    end = max(start + length for row in rows for start, length, _ in row.intervals)
    scale = (WIDTH - LABEL - TOP) / end
    parts = []
    for place, row in enumerate(rows):
        y = TOP + place * ROW
        parts.append(text(LABEL - 5, y + BAR - 2, row.label, "end"))
        for start, length, content in row.intervals:
            x, width = LABEL + start * scale, length * scale
            box = f'x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}"'
            parts.append(f'<rect {box} fill="{LIGHT}" stroke="{DARK}" stroke-width="0.6"/>')
            parts.append(text(x + width / 2, y + BAR - 2, content, "middle"))
    height = TOP + len(rows) * ROW
    parts += [text(LABEL, height + TEXT, "0"), text(WIDTH, height + TEXT, f"{end:,} cycles", "end")]
    return svg(height + TEXT + TOP, title, parts)


def lines(
    title: str, places: Sequence[str], drawn: Sequence[PrintedLine], unit: str, has_peaks: bool
) -> str:
    """Lines over equally spaced places, from zero; named at their ends, or at their peaks."""
    left, height, base = 34, 84, 84 + TOP + TEXT
    most = max(max(line.heights) for line in drawn)
    step = (WIDTH - left - LINE_LABEL) / (len(places) - 1)
    parts = [_solid(left, base, left + step * (len(places) - 1), base)]
    parts += [
        text(left + k * step, base + TEXT + 1, place, "middle") for k, place in enumerate(places)
    ]
    parts += [
        text(left - 4, base - height + TEXT / 2, f"{most:,.0f}", "end"),
        text(left - 4, base, "0", "end"),
    ]
    ends = []
    for line, dash in zip(drawn, DASHES, strict=False):
        points = [(left + k * step, base - h / most * height) for k, h in enumerate(line.heights)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        style = f'fill="none" stroke="{INK}" stroke-width="1.4" stroke-dasharray="{dash}"'
        parts.append(f'<polyline points="{path}" {style}/>')
        x, y = min(points, key=lambda point: point[1]) if has_peaks else points[-1]
        if has_peaks:
            parts.append(text(x, y - 3, f"{line.label} {max(line.heights):,.0f}", "middle"))
        else:
            ends.append((y, line.label))
    parts += _labels_apart(left + step * (len(places) - 1) + 5, ends)
    parts.append(text(left, base + 2 * TEXT + 4, unit))
    return svg(base + 2 * TEXT + 3 * TOP, title, parts)


def _labels_apart(x: float, ends: Sequence[tuple[float, str]]) -> list[str]:
    """Labels at the lines' ends, moved down where they would overlap."""
    parts, last = [], 0.0
    for y, label in sorted(ends):
        last = max(y + TEXT / 3, last + TEXT)
        parts.append(text(x, last, label))
    return parts


def _dashed(x: float, y: float, x_end: float, y_end: float) -> str:
    return _stroke(x, y, x_end, y_end, "4 3")


def _solid(x: float, y: float, x_end: float, y_end: float) -> str:
    return _stroke(x, y, x_end, y_end, "")


def _stroke(x: float, y: float, x_end: float, y_end: float, dash: str) -> str:
    ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{x_end:.1f}" y2="{y_end:.1f}"'
    return f'<line {ends} stroke="{RULE}" stroke-dasharray="{dash}"/>'
