"""Figure -> its legend as HTML, which takes as many lines as the window needs.

A legend that Plotly draws has a fixed place in the figure: in a narrow window it covers the axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape, unescape

import plotly.graph_objects as go

AXIS_PX = 52
"""Below a figure without a legend: ticks and the title of the axis."""
TURNS: Mapping[str, tuple[int, ...]] = {
    "/": (135,), "\\": (45,), "-": (180,), "|": (90,), "x": (135, 45),
}  # fmt: skip
"""Degrees of the stripes of Plotly's pattern shapes; its other shape here, `.`, is dots."""
SWATCH = "display:inline-block;width:12px;height:12px;flex:none"
LINE = "display:inline-block;width:22px;height:0;flex:none"
ENTRY = "display:inline-flex;align-items:center;gap:6px"
LIST = "display:flex;flex-wrap:wrap;gap:4px 16px;padding:0 8px;font-size:13px;line-height:1.5"


def without_legend(figure: go.Figure) -> go.Figure:
    """The figure, changed in place: without its legend and the room for it."""
    foot = figure.layout.margin.b or 0
    if foot > AXIS_PX:
        figure.update_layout(height=figure.layout.height - foot + AXIS_PX, margin_b=AXIS_PX)
    return figure.update_layout(showlegend=False)


def legend_html(figure: go.Figure) -> str:
    """The legend's title, and a mark and name per trace that has an entry."""
    shown = [trace for trace in figure.data if trace.showlegend is not False and trace.name]
    title = (figure.layout.legend.title.text or "").strip()
    entries = [
        f'<span style="{ENTRY}"><i style="{_mark(trace)}"></i>{_text(trace.name)}</span>'
        for trace in shown
    ]
    head = [f"<span>{_text(title)}</span>"] if title else []
    return f'<div style="{LIST}">{"".join([*head, *entries])}</div>' if entries else ""


def _text(name: str) -> str:
    """Names in a figure are escaped already, for Plotly."""
    return escape(unescape(name))


def _mark(trace: go.Bar | go.Scatter) -> str:
    """The style of the mark: a filled or patterned square, a line, a disc or a diamond."""
    if trace.type == "scatter" and trace.mode == "lines":
        style = {"dash": "dashed", "dot": "dotted"}.get(trace.line.dash, "solid")
        return f"{LINE};border-top:2px {style} {trace.line.color}"
    colour = trace.marker.color
    colour = colour if isinstance(colour, str) else next(iter(colour))
    shape = trace.marker.pattern.shape if trace.type == "bar" else ""
    if shape:
        return f"{SWATCH};background:{_pattern(shape, colour)};outline:1px solid {colour}"
    return f"{SWATCH};background:{colour}{_turned(trace)}"


def _pattern(shape: str, colour: str) -> str:
    """The CSS background of a pattern."""
    if shape not in TURNS:
        return f"radial-gradient(circle, {colour} 1.4px, transparent 1.8px) 0 0 / 5px 5px"
    return ",".join(
        f"repeating-linear-gradient({turn}deg, {colour} 0 1.5px, transparent 1.5px 5px)"
        for turn in TURNS[shape]
    )


def _turned(trace: go.Bar | go.Scatter) -> str:
    """What makes a square a disc or a diamond."""
    symbol = trace.marker.symbol if trace.type == "scatter" else ""
    first = symbol if isinstance(symbol, str) else next(iter(symbol or ()), "")
    if first.startswith("circle"):
        return ";border-radius:50%"
    return ";transform:rotate(45deg) scale(0.8)" if first.startswith("diamond") else ""
