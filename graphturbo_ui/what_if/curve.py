"""One number over a range -> a line per strategy, with the chip, knees, cliffs and winners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10, sqrt

import plotly.graph_objects as go

from graphturbo_core.sweep.findings import changes_of_winner, cliffs, knee
from graphturbo_core.sweep.knobs import text_of
from graphturbo_ui.palette import CAPACITY_COLOUR, GREY, KHAKI, LAVENDER, OCHRE, PETROL, STEEL
from graphturbo_ui.text import Sink, safe_text
from graphturbo_ui.what_if.metrics import Metric, speeds_of, values_of
from graphturbo_ui.what_if.point_desk import Answer
from graphturbo_ui.what_if.points import Span, Variant

HEIGHT_PX = 420
OTHERS = (OCHRE, PETROL, KHAKI, LAVENDER, STEEL)
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "star")
MOST_TICKS = 12
LABEL_PX = 13


@dataclass(frozen=True, slots=True)
class Ink:
    """The visitor's theme, `light` or `dark`, and the colour of its texts."""

    theme: str
    text: str


@dataclass(frozen=True)
class Series:
    """A variant's answers over a span, its points' keys, and its colour."""

    variant: Variant
    colour: str
    answers: Sequence[Answer | None]
    keys: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The variant's name for legends; as text, not yet made safe."""
        return self.variant.name


def colours_of(variants: Sequence[Variant], ink: str) -> list[str]:
    """A colour per variant: B's the text's, A's grey, as on the first page; others their own."""
    own = {"A": GREY, "B": ink}
    rest = iter(OTHERS * len(variants))
    return [own.get(variant.letter) or next(rest) for variant in variants]


def curve_figure(span: Span, series: Sequence[Series], metric: Metric, ink: str) -> go.Figure:
    """Lines first, one per series, so that a picked point's trace is the series."""
    figure = go.Figure(
        [_line(span, each, metric, SYMBOLS[place]) for place, each in enumerate(series)]
    )
    values = [values_of(metric, each.answers) for each in series]
    for each, found in zip(series, values, strict=True):
        _add_cliffs(figure, span, each, found)
        _add_knee(figure, span, each, found)
    _add_refusals(figure, span, series, ink)
    _add_own(figure, span, ink)
    _add_winners(figure, span, series, ink)
    _lay_out(figure, span, metric)
    return figure


def _line(span: Span, series: Series, metric: Metric, symbol: str) -> go.Scatter:
    values = values_of(metric, series.answers)
    said = [
        point_text(series.name, text, answer, metric)
        for text, answer in zip(span.texts, series.answers, strict=True)
    ]
    return go.Scatter(
        name=safe_text(series.name, Sink.HTML),
        mode="lines+markers",
        x=list(span.numbers),
        y=values,
        customdata=said,
        hovertemplate="%{customdata}<extra></extra>",
        line={"color": series.colour, "width": 2.5},
        marker={"color": series.colour, "symbol": symbol, "size": 9},
    )


def point_text(name: str, text: str, answer: Answer | None, metric: Metric) -> str:
    """What hovering over a point says."""
    head = f"<b>{safe_text(name, Sink.HTML)}</b>, {text}"
    if answer is None or not answer.figures:
        return head
    figures = answer.figures
    return (
        f"{head}<br>{metric.name}: {metric.text(metric.value(figures))}"
        f"<br>{figures['kernels']} kernels, {figures['instructions']:,} instructions"
        f"<br>cluster batch {figures['cluster_batch']}, gap {float(figures['gap']):.2f}"
    )


def _add_cliffs(
    figure: go.Figure, span: Span, series: Series, values: Sequence[float | None]
) -> None:
    x: list[float | None] = []
    y: list[float | None] = []
    for step in cliffs(span.numbers, speeds_of(series.answers)):
        x += [span.numbers[step.below], span.numbers[step.above], None]
        y += [values[step.below], values[step.above], None]
    if x:
        figure.add_trace(
            go.Scatter(
                name="cliff: speed changes by more than the number", mode="lines", x=x, y=y,
                line={"color": CAPACITY_COLOUR, "width": 9}, opacity=0.45, hoverinfo="skip",
                legendgroup="cliff",
                showlegend=not any(each.legendgroup == "cliff" for each in figure.data),
            )
        )  # fmt: skip


def faulty_places(series: Sequence[Series]) -> set[int]:
    """Places of numbers at which a run of any series met a bug of ours."""
    return {
        place
        for each in series
        for place, answer in enumerate(each.answers)
        if answer is not None and answer.fault
    }


def comparable_speeds(series: Sequence[Series]) -> list[list[float | None]]:
    """Speeds per series; none where a run met a bug of ours, which makes no other one faster."""
    faulty = faulty_places(series)
    return [
        [None if place in faulty else speed for place, speed in enumerate(speeds_of(each.answers))]
        for each in series
    ]


def knee_of(span: Span, answers: Sequence[Answer | None]) -> int | None:
    """The place of the smallest number that keeps the speed; for a cost, of the largest."""
    speeds = speeds_of(answers)
    if not span.knob.is_cost:
        return knee(speeds)
    found = knee(speeds[::-1])
    return None if found is None else len(speeds) - 1 - found


def _add_knee(
    figure: go.Figure, span: Span, series: Series, values: Sequence[float | None]
) -> None:
    place = knee_of(span, series.answers)
    if place is None or None in series.answers:
        return
    figure.add_trace(
        go.Scatter(
            name="knee: 95 % of the best speed", mode="markers", x=[span.numbers[place]],
            y=[values[place]], hoverinfo="skip", legendgroup="knee",
            marker={
                "symbol": "circle-open", "size": 20,
                "line": {"width": 2.5, "color": series.colour}, "color": series.colour,
            },
            showlegend=not any(each.legendgroup == "knee" for each in figure.data),
        )
    )  # fmt: skip


def _add_refusals(figure: go.Figure, span: Span, series: Sequence[Series], ink: str) -> None:
    """A mark per point without figures: refused ones, and apart from them those with a bug."""
    answers = [
        (each, place, answer)
        for each in series
        for place, answer in enumerate(each.answers)
        if answer is not None
    ]
    refused = [(each, place, answer.refusal) for each, place, answer in answers if answer.refusal]
    faulty = [(each, place, answer.fault) for each, place, answer in answers if answer.fault]
    if refused:
        mark = {"symbol": "x", "size": 10, "color": CAPACITY_COLOUR}
        figure.add_trace(_marks("refused", span, refused, mark))
    if faulty:
        mark = {"symbol": "hexagon2", "size": 13, "color": ink}
        figure.add_trace(_marks("bug of ours", span, faulty, mark))


def _marks(
    name: str, span: Span, found: Sequence[tuple[Series, int, str]], mark: Mapping[str, object]
) -> go.Scatter:
    said = [
        f"<b>{safe_text(each.name, Sink.HTML)}</b>, {span.texts[place]}"
        f"<br>{name}: {safe_text(reason, Sink.HTML, 300)}"
        for each, place, reason in found
    ]
    return go.Scatter(
        name=name, mode="markers", x=[span.numbers[place] for _, place, _ in found],
        y=[0] * len(found), customdata=said,
        hovertemplate="%{customdata}<extra></extra>", cliponaxis=False, marker=mark,
    )  # fmt: skip


def _add_own(figure: go.Figure, span: Span, ink: str) -> None:
    if not span.numbers[0] <= span.own <= span.numbers[-1]:
        return
    noun = "now" if span.knob.is_run else "the chip"
    figure.add_vline(x=span.own, line={"color": ink, "width": 1.5, "dash": "dash"})
    figure.add_annotation(
        x=log10(span.own), y=1, yref="paper", yanchor="bottom", showarrow=False,
        font_size=LABEL_PX, text=f"{noun}: {text_of(span.knob, span.own)}",
    )  # fmt: skip


def _add_winners(figure: go.Figure, span: Span, series: Sequence[Series], ink: str) -> None:
    curves = comparable_speeds(series)
    if any(None in each.answers for each in series):
        return  # a point that is still to come may be the winner
    for change in changes_of_winner(curves):
        place = sqrt(span.numbers[change.below] * span.numbers[change.above])
        before, after = series[change.before].name, series[change.after].name
        figure.add_vline(x=place, line={"color": ink, "width": 1, "dash": "dot"})
        figure.add_annotation(
            x=log10(place), y=0.02, yref="paper", yanchor="bottom", showarrow=False,
            font_size=LABEL_PX, bgcolor="rgba(127,127,127,.18)",
            text=f"◂ {safe_text(before, Sink.HTML)} faster · {safe_text(after, Sink.HTML)} ▸",
        )  # fmt: skip


def _lay_out(figure: go.Figure, span: Span, metric: Metric) -> None:
    every = -(-len(span.numbers) // MOST_TICKS)
    unit = f" {span.knob.per}" if span.knob.per else ""
    figure.update_xaxes(
        type="log", title_text=f"{span.knob.label}{unit}", tickvals=list(span.numbers)[::every],
        ticktext=list(span.texts)[::every], showgrid=True,
        range=[log10(span.numbers[0]) - 0.06, log10(span.numbers[-1]) + 0.06],
    )  # fmt: skip
    figure.update_yaxes(title_text=metric.axis, rangemode="tozero")
    figure.update_layout(
        height=HEIGHT_PX, margin={"l": 8, "r": 8, "t": 52, "b": 8},
        legend={"orientation": "h", "y": 1.16, "yanchor": "top", "x": 0, "font_size": LABEL_PX},
        clickmode="event+select",
    )  # fmt: skip
