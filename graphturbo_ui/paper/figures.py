"""Rows about the paper -> dot plots of published numbers beside ours, and bars of effects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf, log10

import plotly.graph_objects as go

from graphturbo_core.report.paper.comparisons import PaperComparison, PaperTable
from graphturbo_core.report.paper.movers import FACTORS, Effect, Tornado
from graphturbo_core.report.paper.sentences import number_text, published_text, verdict
from graphturbo_core.units import format_si
from graphturbo_ui.palette import CAPACITY_COLOUR, GREY, NAVY, OCHRE, PETROL
from graphturbo_ui.text import Sink, safe_text

NO_ROWS = "no row passes the filters"
NO_EFFECTS = "nothing was changed one at a time for this step"
ROW_PX, TWO_LINES_PX, FRAME_PX, BAR_PX = 31, 38, 80, 26
LEGEND_PX = 22
"""Height of a legend of one line within the picture."""
RATIO_PX = 64
"""Right of the plot: ours over the published number."""
LABEL_PX = 11
"""Of the smaller second line of a label."""
CHOSEN = "rgba(126, 155, 177, 0.22)"
"""Ground of the selected row."""
PUBLISHED_COLOUR, OURS_COLOUR = GREY, {"light": NAVY, "dark": "#a6b1e0"}
OUTSIDE_COLOUR = {"light": "#795e2e", "dark": "#cdac99"}
"""By theme: lines and ratios of rows that are not reproduced."""
SIZE_PX = 11
STEPS: Sequence[tuple[float, Sequence[float]]] = (
    (0.7, (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)),
    (3, (1, 2, 5)),
    (inf, (1,)),
)
"""Below so many decades, the ticks of a decade."""
MOST_DECADES = 4
"""Above so many, every second tick has a number: all of them have no room on a phone."""


@dataclass(frozen=True, slots=True)
class DotRow:
    """A comparison with the two lines of its label; the second may be empty."""

    row: PaperComparison
    title: str
    under: str


def dot_figure(
    rows: Sequence[DotRow], table: PaperTable, selected: str, theme: str = "light"
) -> go.Figure:
    """One line per row: the published number hollow, ours filled, their ratio at the right.

    The first two traces have a point per row: the published numbers and ours.
    """
    figure = go.Figure()
    places = list(range(len(rows)))
    figure.add_trace(_published(rows, table))
    figure.add_trace(_ours(rows, table, theme))
    figure.add_trace(_bounds(rows))
    for place, each in enumerate(rows):
        _add_row(figure, place, each.row, each.row.key == selected, theme)
    figure.update_xaxes(title_text=table.unit, **_axis(rows, table))
    figure.update_yaxes(
        tickvals=places, ticktext=[_label(each) for each in rows],
        range=[len(rows) - 0.5, -0.5], showgrid=False, zeroline=False,
    )  # fmt: skip
    row_px = TWO_LINES_PX if any(each.under for each in rows) else ROW_PX
    figure.update_layout(
        height=row_px * max(len(rows), 1) + FRAME_PX,
        margin={"l": 8, "r": RATIO_PX, "t": 26, "b": 4},
        legend={"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0},
        clickmode="event+select",
    )
    if not rows:
        figure.add_annotation(
            text=NO_ROWS, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper"
        )
    return figure


def with_legend_above(figure: go.Figure, theme: str) -> tuple[str, go.Figure]:
    """HTML of the legend, and the figure without it: a legend within takes rows' room on a phone.

    The figure is changed in place.
    """
    marks = (
        ("hollow", PUBLISHED_COLOUR),
        ("filled", OURS_COLOUR[theme]),
        ("line", CAPACITY_COLOUR),
    )
    shown = "".join(
        f'<span><i class="{mark}" style="color: {colour}"></i>{trace.name}</span>'
        for (mark, colour), trace in zip(marks, figure.data, strict=True)
        if trace.showlegend is not False
    )
    figure.update_layout(
        showlegend=False, margin_t=4, height=figure.layout.height - LEGEND_PX,
    )  # fmt: skip
    return f'<div class="paper-legend">{shown}</div>', figure


def _axis(rows: Sequence[DotRow], table: PaperTable) -> dict[str, object]:
    """The axis of numbers: percent from 0 to 100, else logarithmic with ticks to count by."""
    if not table.is_log:
        return {"range": [0, 100]}
    numbers = [number for each in rows for number in (each.row.published, each.row.ours)]
    found = ticks(min(numbers, default=1.0), max(numbers, default=10.0))
    every = 2 if log10(found[-1] / found[0]) > MOST_DECADES else 1
    texts = [
        "" if place % every else format_si(tick).replace(" ", "")
        for place, tick in enumerate(found)
    ]
    return {"type": "log", "tickvals": found, "ticktext": texts}


def ticks(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis around both numbers: the more decades, the fewer of each."""
    span = log10(high / low)
    steps = next(steps for most, steps in STEPS if span < most)
    first, last = floor(log10(low)), floor(log10(high)) + 1
    return [step * 10.0**place for place in range(first, last + 1) for step in steps]


def _label(each: DotRow) -> str:
    title = safe_text(each.title, Sink.HTML)
    if not each.under:
        return title
    under = safe_text(each.under, Sink.HTML)
    return f"{title}<br><span style='font-size:{LABEL_PX}px'>{under}</span>"


def _hover(each: DotRow, table: PaperTable) -> str:
    row = each.row
    lines = [
        f"<b>{safe_text(row.label, Sink.HTML)}</b>",
        f"published {published_text(table, row)}",
        f"ours {number_text(table, row.ours)}",
        verdict(table, row),
    ]
    if row.bound is not None:
        lines.append(f"bound {number_text(table, row.bound)}")
    return "<br>".join(lines)


def _published(rows: Sequence[DotRow], table: PaperTable) -> go.Scatter:
    errors = [each.row.error for each in rows]
    low = [min(each.row.error, 0.9 * each.row.published) for each in rows]
    return go.Scatter(
        name="published",
        mode="markers",
        x=[each.row.published for each in rows],
        y=list(range(len(rows))),
        error_x={
            "type": "data", "array": errors, "arrayminus": low, "color": PUBLISHED_COLOUR,
            "thickness": 1.5, "width": 4,
        },
        marker={
            "symbol": "circle-open", "size": SIZE_PX + 2, "color": PUBLISHED_COLOUR,
            "line": {"width": 2.5},
        },
        hovertext=[_hover(each, table) for each in rows],
        hovertemplate="%{hovertext}<extra></extra>",
    )  # fmt: skip


def _ours(rows: Sequence[DotRow], table: PaperTable, theme: str) -> go.Scatter:
    return go.Scatter(
        name="ours",
        mode="markers",
        x=[each.row.ours for each in rows],
        y=list(range(len(rows))),
        marker={"symbol": "circle", "size": SIZE_PX, "color": OURS_COLOUR[theme]},
        hovertext=[_hover(each, table) for each in rows],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _bounds(rows: Sequence[DotRow]) -> go.Scatter:
    known = [(place, each.row.bound) for place, each in enumerate(rows) if each.row.bound]
    is_gain = any(each.row.key.startswith("gains.") for each in rows)
    return go.Scatter(
        name="most by any order" if is_gain else "bound of chip and model",
        mode="markers",
        x=[bound for _, bound in known],
        y=[place for place, _ in known],
        marker={
            "symbol": "line-ns-open", "size": 18, "color": CAPACITY_COLOUR, "line": {"width": 2}
        },
        hoverinfo="skip",
        showlegend=bool(known),
    )  # fmt: skip


def _add_row(
    figure: go.Figure, place: int, row: PaperComparison, is_selected: bool, theme: str
) -> None:
    """The line between both numbers, the ratio at the right, and the ground where selected."""
    is_far = row.is_within is False
    colour = OUTSIDE_COLOUR[theme] if is_far else OURS_COLOUR[theme]
    if is_selected:
        figure.add_shape(
            type="rect", xref="paper", x0=0, x1=1, y0=place - 0.5, y1=place + 0.5,
            fillcolor=CHOSEN, line_width=0, layer="below",
        )  # fmt: skip
    figure.add_shape(
        type="line", x0=row.published, x1=row.ours, y0=place, y1=place,
        line={"color": colour, "width": 3 if is_far else 2}, layer="below",
    )  # fmt: skip
    text = f"{row.ratio:.2f}×"
    figure.add_annotation(
        text=f"<b>{text}</b>" if is_far else text, showarrow=False, xref="paper", x=1,
        xanchor="left", xshift=6, y=place,
    )  # fmt: skip


def tornado_figure(found: Tornado, theme: str = "light") -> go.Figure:
    """A bar per changed thing from the throughput as taken; the published throughput dashed."""
    labels = list(dict.fromkeys(_effect_label(effect) for effect in found.drawn))
    figure = go.Figure(
        go.Bar(
            orientation="h",
            base=1,
            x=[(effect.ratio or 1.0) - 1 for effect in found.drawn],
            y=[labels.index(_effect_label(effect)) for effect in found.drawn],
            width=0.66,
            marker={"color": [_effect_colour(effect) for effect in found.drawn]},
            hovertext=[_effect_hover(effect) for effect in found.drawn],
            hovertemplate="%{hovertext}<extra></extra>",
            showlegend=False,
        )
    )
    for effect in found.drawn:
        _add_effect_text(figure, effect, labels)
    if found.drawn:
        figure.add_vline(x=1, line={"color": GREY, "width": 1.5})
    if found.needed is not None and found.drawn:
        dashed = {"color": CAPACITY_COLOUR, "width": 2, "dash": "dash"}
        figure.add_vline(x=found.needed, line=dashed)
        figure.add_annotation(
            text=f"published {found.needed:.2f}", showarrow=False, x=log10(found.needed),
            y=1, yref="paper", yanchor="bottom",
        )  # fmt: skip
    figure.update_xaxes(
        type="log", title_text="our throughput (as taken: 1)", range=_ends(found),
        tickvals=TICKS, ticktext=[f"{tick:g}" for tick in TICKS],
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=list(range(len(labels))), ticktext=labels,
        range=[max(len(labels), 1) - 0.5, -0.5], showgrid=False, zeroline=False,
    )  # fmt: skip
    figure.update_layout(
        height=BAR_PX * max(len(labels), 2) + FRAME_PX,
        margin={"l": 8, "r": 24, "t": 28, "b": 8},
        barmode="overlay",
    )
    if not found.drawn:
        figure.update_xaxes(visible=False)
        figure.add_annotation(
            text=NO_EFFECTS, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper"
        )
    return figure


TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 50)
"""Of the axis of ratios."""
LABEL_ROOM = 0.17
"""Of the axis at both ends, in decades: for the texts beside the bars."""
OWN_OPTIONS = "graphturbo."
"""Beginning of options that a label leaves out; the pointer shows it."""


def _ends(found: Tornado) -> list[float]:
    """First and last exponent of ten: all bars, the published throughput and room for texts."""
    ratios = [effect.ratio for effect in found.drawn if effect.ratio] + [0.8, 1.25]
    ratios += [found.needed] if found.needed is not None else []
    return [log10(min(ratios)) - LABEL_ROOM, log10(max(ratios)) + LABEL_ROOM]


def _effect_label(effect: Effect) -> str:
    name = effect.name.removeprefix(OWN_OPTIONS)
    words = name if effect.value in FACTORS else f"{name}: {effect.value}"
    return safe_text(words, Sink.HTML)


def _effect_colour(effect: Effect) -> str:
    """Slower than as taken, or faster."""
    return OCHRE if (effect.ratio or 1.0) < 1 else PETROL


def _effect_hover(effect: Effect) -> str:
    rate = effect.mover.per_s or 0.0
    strategy = safe_text(effect.mover.strategy, Sink.HTML)
    return (
        f"<b>{safe_text(effect.name, Sink.HTML)}: {safe_text(effect.value, Sink.HTML)}</b><br>"
        f"{rate:,.0f} samples/s, {effect.ratio or 0.0:.3f} of as taken<br>{strategy}"
    )


def _add_effect_text(figure: go.Figure, effect: Effect, labels: list[str]) -> None:
    ratio = effect.ratio or 1.0
    words = f"{effect.value} {ratio:.2f}" if effect.value in FACTORS else f"{ratio:.2f}"
    figure.add_annotation(
        text=words, showarrow=False, x=log10(ratio), y=labels.index(_effect_label(effect)),
        xanchor="right" if ratio < 1 else "left", xshift=-4 if ratio < 1 else 4,
    )  # fmt: skip
