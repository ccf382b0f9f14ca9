"""Two numbers over ranges -> a map per strategy, and one of the ratio of two strategies."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from graphturbo_ui.text import Sink, safe_text
from graphturbo_ui.what_if.curve import Ink, Series, point_text
from graphturbo_ui.what_if.metrics import Metric, speeds_of, values_of
from graphturbo_ui.what_if.point_desk import reason_of
from graphturbo_ui.what_if.points import Span

HEIGHT_PX = 440
ONE_HUE = {
    "light": ((0.0, "#f2f5f9"), (1.0, "#9db2d6")),
    "dark": ((0.0, "#18212c"), (1.0, "#4f6ba6")),
}
"""By theme: more of something is stronger; the theme's text has 4.5:1 or more on all of it."""
RATIO_HUES = {
    "light": ((0.0, "#dcc08a"), (0.5, "#f4f2ee"), (1.0, "#9db2d6")),
    "dark": ((0.0, "#6e5426"), (0.5, "#18212c"), (1.0, "#4f6ba6")),
}
"""By theme: the first strategy faster, none, the second one."""
PAIR = 2
SMALL_CELLS = 12
"""From so many cells a row on, texts in cells are left out."""


def heat_map_figure(
    spans: Sequence[Span], series: Sequence[Series], metric: Metric, ink: Ink
) -> go.Figure:
    """The first span upwards, the second to the right; cells in the points' order."""
    is_pair = len(series) == PAIR
    titles = [f"{safe_text(each.name, Sink.HTML)}: {metric.axis}" for each in series]
    titles += [ratio_title(series)] if is_pair else []
    figure = make_subplots(
        1, len(titles), subplot_titles=titles, shared_yaxes=True, horizontal_spacing=0.02
    )
    every = [values_of(metric, each.answers) for each in series]
    known = [value for values in every for value in values if value is not None]
    for column, (each, values) in enumerate(zip(series, every, strict=True), 1):
        scale = {"colorscale": ONE_HUE[ink.theme], "zmin": 0, "zmax": max(known, default=1.0)}
        figure.add_trace(_map(spans, each, values, metric).update(scale), 1, column)
    if is_pair:
        scale = {"colorscale": RATIO_HUES[ink.theme]}
        figure.add_trace(_ratio_map(spans, series).update(scale), 1, len(titles))
    up, right = spans
    unit = f" {right.knob.per}" if right.knob.per else ""
    figure.update_xaxes(title_text=f"{right.knob.label}{unit}", type="category", showgrid=False)
    figure.update_yaxes(type="category", showgrid=False)
    figure.update_yaxes(title_text=f"{up.knob.label} {up.knob.per}", col=1)
    figure.update_traces(textfont={"size": 12, "color": ink.text})
    _outline_own(figure, spans, len(titles), ink.text)
    figure.update_layout(height=HEIGHT_PX, margin={"l": 8, "r": 8, "t": 40, "b": 8})
    return figure


def ratio_title(series: Sequence[Series]) -> str:
    """What the map of two strategies' ratio shows."""
    first, second = (safe_text(each.name, Sink.HTML) for each in series)
    return f"speed: {second} over {first}"


def _rows(spans: Sequence[Span], flat: Sequence[object]) -> list[list[object]]:
    width = len(spans[1].numbers)
    return [list(flat[start : start + width]) for start in range(0, len(flat), width)]


def _map(
    spans: Sequence[Span], series: Series, values: Sequence[float | None], metric: Metric
) -> go.Heatmap:
    texts = [
        "refused" if answer is not None and answer.refusal
        else "bug" if answer is not None and answer.fault
        else "" if value is None
        else metric.short(value)
        for answer, value in zip(series.answers, values, strict=True)
    ]  # fmt: skip
    names = [f"{high}, {wide}" for high in spans[0].texts for wide in spans[1].texts]
    said = [
        point_text(series.name, name, answer, metric)
        + (f"<br>{safe_text(reason, Sink.HTML, 300)}" if (reason := reason_of(answer)) else "")
        for name, answer in zip(names, series.answers, strict=True)
    ]
    return _cells(spans, _rows(spans, values), texts, said)


def _ratio_map(spans: Sequence[Span], series: Sequence[Series]) -> go.Heatmap:
    first, second = (speeds_of(each.answers) for each in series)
    ratios = [b / a if a and b else None for a, b in zip(first, second, strict=True)]
    texts = ["" if ratio is None else f"{ratio:.3g}×" for ratio in ratios]
    logs = [None if ratio is None else log2(ratio) for ratio in ratios]
    most = max((abs(each) for each in logs if each is not None), default=1.0) or 1.0
    names = [f"{high}, {wide}" for high in spans[0].texts for wide in spans[1].texts]
    said = [f"{name}: {text or 'no two speeds'}" for name, text in zip(names, texts, strict=True)]
    return _cells(spans, _rows(spans, logs), texts, said).update(zmin=-most, zmax=most)


def _cells(
    spans: Sequence[Span], rows: Sequence[Sequence[object]], texts: Sequence[str],
    said: Sequence[str],
) -> go.Heatmap:  # fmt: skip
    is_small = len(spans[1].numbers) >= SMALL_CELLS
    return go.Heatmap(
        x=list(spans[1].texts), y=list(spans[0].texts), z=rows, showscale=False, xgap=2, ygap=2,
        text=_rows(spans, texts), texttemplate="" if is_small else "%{text}",
        customdata=_rows(spans, said),
        hovertemplate="%{customdata}<extra></extra>", hoverongaps=True,
    )  # fmt: skip


def _outline_own(figure: go.Figure, spans: Sequence[Span], columns: int, ink: str) -> None:
    """A frame around the chip as it is."""
    up, right = (span.own_place for span in spans)
    if up is None or right is None:
        return
    for column in range(1, columns + 1):
        figure.add_shape(
            type="rect", x0=right - 0.5, x1=right + 0.5, y0=up - 0.5, y1=up + 0.5,
            line={"color": ink, "width": 3}, row=1, col=column,
        )  # fmt: skip
