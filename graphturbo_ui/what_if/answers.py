"""Each question's picture: drawn from the points that are known, again as more of them come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from graphturbo_ui.charts import enlarged, inked, text_colour, theme
from graphturbo_ui.session import state, what_if
from graphturbo_ui.text import Sink, safe_text
from graphturbo_ui.top_bar.uploads import box_names
from graphturbo_ui.what_if.buffer_sizes import Sizes, buffer_figure, sizes_of
from graphturbo_ui.what_if.controls import Question
from graphturbo_ui.what_if.curve import Ink, Series, colours_of, curve_figure
from graphturbo_ui.what_if.gain_bars import changes_of, gain_figure, gains_of, left_out
from graphturbo_ui.what_if.heat_map import heat_map_figure
from graphturbo_ui.what_if.point_desk import Answer
from graphturbo_ui.what_if.points import AskedPoint, Bench, Span
from graphturbo_ui.what_if.words import (
    buffer_sentence,
    curve_notes,
    curve_sentence,
    gain_notes,
    gain_sentence,
    map_sentence,
)

CHART = "what_if_chart"


@dataclass(frozen=True)
class Picture:
    """A sentence, notes below it, a figure, and a key for each point of its first traces."""

    sentence: str
    notes: Sequence[str]
    figure: go.Figure
    alt: str
    keys: Sequence[Sequence[str]] = ()


def asked_points(bench: Bench, question: Question) -> list[AskedPoint]:
    """All points of a question, in the order in which the pictures read their answers."""
    if question.ask == what_if.GAINS:
        axes = [change.axis for change in changes_of(bench, what_if.CHANGES[question.change])]
        found = bench.at([], question.variants)
        return found + [point for axis in axes for point in bench.at([axis], question.variants)]
    if question.ask == what_if.BUFFERS:
        return [point for label in question.models for point in _of_model(bench, question, label)]
    return bench.points(question.spans, question.variants)


def _of_model(bench: Bench, question: Question, label: str) -> list[AskedPoint]:
    """The chip as it is, then all pairs of sizes."""
    own = bench.with_model(label)
    return [*own.at([], question.variants), *own.points(question.spans, question.variants)]


def nearest_first(points: Sequence[AskedPoint], question: Question) -> list[AskedPoint]:
    """The same points in the order in which they are computed: those near the chip first."""
    places = [
        {value: abs(place - (span.own_place or 0)) for place, value in enumerate(span.axis.values)}
        for span in question.spans
    ]

    def distance(point: AskedPoint) -> int:
        values = [value for _, value in point.point.values]
        return sum(near[value] for near, value in zip(places, values, strict=False))

    return sorted(points, key=distance)


def picture(
    bench: Bench, question: Question, points: Sequence[AskedPoint], answers: Sequence[Answer | None]
) -> Picture:
    """What the answers show."""
    if question.ask == what_if.GAINS:
        return _gain_picture(bench, question, answers)
    if question.ask == what_if.BUFFERS:
        return _buffer_picture(bench, question, points, answers)
    return _range_picture(bench, question, points, answers)


def _series(
    question: Question, points: Sequence[AskedPoint], answers: Sequence[Answer | None]
) -> list[Series]:
    """The answers of each strategy; strategies of a point are neighbours."""
    variants, count = question.variants, len(question.variants)
    colours = colours_of(variants, text_colour())
    return [
        Series(
            variants[place], colours[place], answers[place::count],
            [point.key for point in points[place::count]],
        )
        for place in range(count)
    ]  # fmt: skip


def _range_picture(
    bench: Bench, question: Question, points: Sequence[AskedPoint], answers: Sequence[Answer | None]
) -> Picture:
    series = _series(question, points, answers)
    spans, metric, ink = question.spans, question.metric, text_colour()
    if len(spans) == 1:
        return Picture(
            curve_sentence(spans[0], series), curve_notes(spans[0], series),
            curve_figure(spans[0], series, metric, ink),
            f"{metric.name} over {spans[0].knob.label}, a line per strategy; the table has the "
            "same figures", [each.keys for each in series],
        )  # fmt: skip
    return Picture(
        map_sentence(spans, series), [], heat_map_figure(spans, series, metric, _ink()),
        f"{metric.name} over {spans[0].knob.label} and {spans[1].knob.label}, a map per strategy; "
        "the table has the same figures",
    )  # fmt: skip


def _gain_picture(bench: Bench, question: Question, answers: Sequence[Answer | None]) -> Picture:
    factor = what_if.CHANGES[question.change]
    changes = changes_of(bench, factor)
    count = len(question.variants)
    base, rest = answers[:count], answers[count:]
    series = _series(question, (), rest)
    gains = [gains_of(own, each.answers) for own, each in zip(base, series, strict=True)]
    said = (changes, series, base, gains)
    out = left_out(bench, factor)
    more = [f"Left out, as whole numbers that would change by more: {', '.join(out)}."]
    return Picture(
        gain_sentence(*said),
        gain_notes(*said) + (more if out else []),
        gain_figure(*said),
        "Change of speed for each number of the chip changed by itself, largest first; the table "
        "has the same figures",
    )


def _buffer_picture(
    bench: Bench, question: Question, points: Sequence[AskedPoint], answers: Sequence[Answer | None]
) -> Picture:
    names = box_names(state.model_names())
    models = [names.get(label, state.short_name(label)) for label in question.models]
    sizes = _sizes(bench, question.spans, models, points, answers)
    notes = [] if sizes.chosen is None else [_share_note(sizes)]
    return Picture(
        buffer_sentence(sizes, models), notes, buffer_figure(sizes, _ink()),
        "Share of the chip's speed per pair of LB and GB sizes, and time against bytes of buffer; "
        "the table has the same figures",
    )  # fmt: skip


def _share_note(sizes: Sizes) -> str:
    """Which model loses most at the sizes that are proposed."""
    place = sizes.chosen
    assert place is not None
    return "; ".join(
        f"{safe_text(model, Sink.MARKDOWN)} keeps {100 * share:.3g} %"
        for model, shares in sizes.per_model.items()
        if (share := shares[place]) is not None
    )


def _sizes(
    bench: Bench, spans: Sequence[Span], models: Sequence[str], points: Sequence[AskedPoint],
    answers: Sequence[Answer | None],
) -> Sizes:  # fmt: skip
    """Shares of the speed by the models' shown names, in the order of their points."""
    each = len(points) // len(models)
    parts = range(0, len(points), each)
    found = {
        name: answers[start + 1 : start + each] for name, start in zip(models, parts, strict=True)
    }
    own = {name: answers[start] for name, start in zip(models, parts, strict=True)}
    return sizes_of(bench, spans, found, own)


def _ink() -> Ink:
    return Ink(theme(), text_colour())


def draw(shown: Picture) -> None:
    """The sentence, its notes, and the figure, a point of which can be picked."""
    with st.container(key="what_if_words"):
        st.markdown(f"## {shown.sentence}")
        st.markdown("  \n".join(shown.notes) or "&nbsp;")
    figure = inked(shown.figure, text_colour())
    if state.is_presenting():
        figure = enlarged(figure)
    st.plotly_chart(
        figure, key=CHART, alt=shown.alt, selection_mode="points",
        on_select=partial(what_if.take_point, CHART, shown.keys) if shown.keys else "ignore",
        config={"displayModeBar": False},
    )  # fmt: skip
