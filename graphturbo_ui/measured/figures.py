"""Comparisons with measured times -> dots of shares, the line of equal shares, tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, log10

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from graphturbo_core.report.measured.comparison import LayerShare, MeasuredComparison
from graphturbo_core.report.measured.texts import RATIO, ratio_text, share_row
from graphturbo_core.units import format_seconds
from graphturbo_ui.figures.tables import Table
from graphturbo_ui.palette import CAPACITY_COLOUR, GREY, RUN_COLOURS
from graphturbo_ui.session.selection import Selection
from graphturbo_ui.text import Sink, safe_text

EMPTY = "no layer has a time on both sides"
SYMBOLS = {"A": "circle", "B": "diamond"}
HEIGHT_PX, SPACING = 540, 0.06
LABELLED = 5
"""Layers per run with their name in the panel: those whose shares differ most."""
LINE, WIDTH, NAME = 0.05, 0.4, 28
"""Of labels: distance of two and width, as shares of an axis; characters."""
ROOM = 0.15
"""Around the dots, in decades."""
Comparisons = Mapping[str, MeasuredComparison]


def share_figure(found: Comparisons) -> go.Figure:
    """A square panel per run with a dot per layer, on equal logarithmic axes.

    The first traces are the dots of each run; the lines of equal shares follow.
    """
    drawn = {name: drawn_shares(each) for name, each in found.items()}
    ends = _ends([share for shares in drawn.values() for share in shares])
    titles = [_title(name, each) for name, each in found.items()]
    figure = make_subplots(
        cols=max(len(found), 1), subplot_titles=titles, horizontal_spacing=SPACING
    )
    for column, (name, shares) in enumerate(drawn.items(), 1):
        figure.add_trace(_dots(name, shares), row=1, col=column)
    for column, name in enumerate(drawn, 1):
        figure.add_trace(_line([10**end for end in ends]), row=1, col=column)
        _label(figure, column, _worst(found[name]), ends)
    axis = {"type": "log", "range": ends, "dtick": 1, "tickformat": "~g", "constrain": "domain"}
    figure.update_xaxes(title_text="simulated share of the time (%)", **axis)
    figure.update_yaxes(title_text="measured share (%)", scaleratio=1, **axis)
    for column in range(1, len(found) + 1):
        anchor = "x" if column == 1 else f"x{column}"
        figure.update_yaxes(scaleanchor=anchor, row=1, col=column)
    figure.update_layout(
        height=HEIGHT_PX, margin={"l": 8, "r": 8, "t": 56, "b": 8}, showlegend=False
    )
    if not any(drawn.values()):
        figure.add_annotation(text=EMPTY, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
    return figure


def _title(name: str, found: MeasuredComparison) -> str:
    if found.correlation is None:
        return f"{name}: no rank correlation"
    return f"{name}: rank correlation {found.correlation:.3f}"


def _line(ends: list[float]) -> go.Scatter:
    """Equal shares: what a dot on it has."""
    return go.Scatter(
        name="equal shares", mode="lines", x=ends, y=ends, hoverinfo="skip",
        line={"color": CAPACITY_COLOUR, "width": 2, "dash": "dash"},
    )  # fmt: skip


def _label(
    figure: go.Figure, column: int, shares: Sequence[LayerShare], ends: Sequence[float]
) -> None:
    """Names of layers: those with a larger measured share at the upper left, others lower right."""
    span = ends[1] - ends[0]
    sides = {True: [s for s in shares if (s.ratio or 0) > 1]}
    sides[False] = [s for s in shares if s not in sides[True]]
    for is_above, own in sides.items():
        own.sort(key=lambda share: share.measured, reverse=is_above)
        for place, share in enumerate(own):
            away = LINE * (place + 0.6) * span
            figure.add_annotation(
                text=safe_text(share.layer.name, Sink.HTML, NAME),
                x=log10(100 * share.simulated), y=log10(100 * share.measured),
                ax=ends[0] + WIDTH * span if is_above else ends[1] - WIDTH * span,
                ay=ends[1] - away if is_above else ends[0] + away,
                axref="x" if column == 1 else f"x{column}",
                ayref="y" if column == 1 else f"y{column}",
                xanchor="right" if is_above else "left", showarrow=True, arrowhead=0,
                arrowwidth=1, arrowcolor=GREY, standoff=6, row=1, col=column,
            )  # fmt: skip


def drawn_shares(found: MeasuredComparison) -> list[LayerShare]:
    """Layers with a time on both sides: a logarithmic axis has no 0."""
    return [share for share in found.shares if share.simulated and share.measured]


def share_targets(found: Comparisons) -> list[list[Selection]]:
    """The layer that every dot stands for."""
    return [
        [Selection(name, "layer", share.layer.index) for share in drawn_shares(each)]
        for name, each in found.items()
    ]


def _worst(found: MeasuredComparison) -> list[LayerShare]:
    several = found.worst(len(found.shares))
    return [share for share in several if share.distance < inf][:LABELLED]


def _ends(shares: Sequence[LayerShare]) -> list[float]:
    """First and last exponent of ten of both axes, in percent."""
    values = [100 * each for share in shares for each in (share.simulated, share.measured)]
    known = values or [1.0, 100.0]
    return [log10(min(known)) - ROOM, log10(max(known)) + ROOM]


def _dots(name: str, shares: Sequence[LayerShare]) -> go.Scatter:
    return go.Scatter(
        name=f"{name}'s layers",
        mode="markers",
        x=[100 * share.simulated for share in shares],
        y=[100 * share.measured for share in shares],
        customdata=[_hover(name, share) for share in shares],
        hovertemplate="%{customdata}<extra></extra>",
        marker={
            "color": RUN_COLOURS[name],
            "symbol": SYMBOLS[name],
            "size": 10,
            "line": {"width": 1, "color": "#ffffff"},
        },
    )


def _hover(name: str, share: LayerShare) -> str:
    layer = share.layer
    return (
        f"{name}, layer {layer.index + 1}: {safe_text(layer.name, Sink.HTML)}<br>"
        f"simulated {format_seconds(layer.simulated_ms / 1e3)}, {100 * share.simulated:.3g} %<br>"
        f"measured {format_seconds(layer.measured_ms / 1e3)}, {100 * share.measured:.3g} %<br>"
        f"measured share {ratio_text(share)} of the simulated one"
    )


def share_table(found: Comparisons) -> Table:
    """A row per matched layer and run, those whose shares differ most first."""
    return [
        {
            "run": name,
            **{
                key: safe_text(value) if isinstance(value, str) else value
                for key, value in share_row(share).items()
            },
            RATIO: share.ratio if share.distance < inf else None,
        }
        for name, each in found.items()
        for share in _by_distance(each)
    ]


def _by_distance(found: MeasuredComparison) -> list[LayerShare]:
    """All matched layers, the farthest from equal shares first."""
    return sorted(found.shares, key=lambda each: (-each.distance, each.layer.index))
