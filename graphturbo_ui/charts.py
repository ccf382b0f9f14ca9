"""A Plotly figure on the page: texts readable in either theme, points selected and marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from graphturbo_core.report.report import Report
from graphturbo_ui.figures.legend import legend_html, without_legend
from graphturbo_ui.jobs import Runs, shared_desk
from graphturbo_ui.palette import LIT
from graphturbo_ui.session import state
from graphturbo_ui.session.selection import Selection, marks

Targets = Sequence[Sequence[Selection]]
"""What every point of every trace stands for."""
DIMMED = 0.25
"""Opacity of what is not selected while something is."""
PRESENTED_PX = 18
"""Least size of type in front of an audience."""
TALLER = 1.3
"""Height of a figure in front of an audience, over that at a desk."""


def chart(figure: go.Figure, key: str, alt: str, runs: Runs) -> None:
    """The figure, with `alt` for those who do not see it."""
    readable, legend = _readable(figure, key, runs)
    st.plotly_chart(readable, key=key, alt=alt)
    _show_legend(legend)


def chart_to_pick(figure: go.Figure, key: str, alt: str, targets: Targets, runs: Runs) -> None:
    """The same; a click on a point selects in all views what it stands for.

    Points of what is selected are marked: all others are pale.
    """
    reports = {name: run.report for name, run in runs.items()}
    readable, legend = _readable(figure, key, runs)
    points = [_marked(points, reports) for points in targets]
    drawn = _drawn_key(key, state.selection())
    st.plotly_chart(
        readable if all(chosen is None for chosen in points) else marked(readable, points),
        key=drawn,
        alt=alt,
        on_select=partial(_pick, drawn, targets),
        selection_mode="points",
    )
    _show_legend(legend)


def _show_legend(legend: str) -> None:
    if legend:
        st.html(legend)


def _readable(figure: go.Figure, key: str, runs: Runs) -> tuple[go.Figure, str]:
    """The figure in the theme's colour without its legend, and the legend as HTML; made once.

    Plotly takes some 0.1 s to copy one, and every click draws the page.
    """
    ink, names = text_colour(), "".join(runs)
    return shared_desk().view(
        f"inked {key} {ink} {names}",
        lambda *_: _apart(_in_theme(inked(figure, ink))),
        *runs.values(),
    )


def _apart(figure: go.Figure) -> tuple[go.Figure, str]:
    return without_legend(figure), legend_html(figure)


def _in_theme(figure: go.Figure) -> go.Figure:
    return on_dark(figure) if theme() == "dark" else figure


def on_dark(figure: go.Figure) -> go.Figure:
    """The figure, changed in place: in the colours for a dark ground, where darker ones fade."""
    for trace in figure.data:
        colour = getattr(trace.marker, "color", None) if "marker" in trace else None
        if isinstance(colour, str):
            trace.marker.color = LIT.get(colour, colour)
        elif colour is not None:
            trace.marker.color = [LIT.get(each, each) for each in colour]
    return figure


def _marked(points: Sequence[Selection], reports: Mapping[str, Report]) -> list[int] | None:
    """The points of what is selected; None where nothing is."""
    selected = state.selection()
    if selected is None or selected.run not in reports:
        return None
    found = marks(selected, points, reports)
    return [index for index, mark in enumerate(found) if mark]


def _drawn_key(key: str, selected: Selection | None) -> str:
    """The key of a chart while that is selected.

    A figure with other marks is another chart to Streamlit, and a browser may tell once more what
    was picked in the one before. Under one key for all that would be read as the new one's nothing.
    """
    return f"{key} {selected.text()}" if selected else key


def _pick(key: str, targets: Targets) -> None:
    place = state.picked_point(key)
    if place is None:
        state.select(None)
        return
    trace, point = place
    if trace < len(targets) and point < len(targets[trace]):
        state.select(targets[trace][point])


def theme() -> str:
    """The visitor's theme, `light` or `dark`."""
    return "dark" if st.context.theme.type == "dark" else "light"


def text_colour() -> str:
    """The text colour of the visitor's theme."""
    return str(st.get_option(f"theme.{theme()}.textColor"))


def inked(figure: go.Figure, ink: str) -> go.Figure:
    """The figure with all of its texts in one colour: Streamlit's own grey is at 3.7:1 on white."""
    shown = go.Figure(figure)
    shown.update_layout(font_color=ink, legend_font_color=ink, legend_title_font_color=ink)
    axis = {"tickfont_color": ink, "title_font_color": ink}
    shown.update_xaxes(**axis)
    shown.update_yaxes(**axis)
    shown.update_annotations(font_color=ink)
    return shown


def enlarged(figure: go.Figure) -> go.Figure:
    """The same figure, changed in place: type that an audience can read, and more room for it."""
    large = {"size": PRESENTED_PX}
    legend = {"legend_font": large, "legend_title_font": large}
    figure.update_layout(font=large, height=int(TALLER * figure.layout.height), **legend)
    figure.update_xaxes(tickfont=large, title_font=large)
    figure.update_yaxes(tickfont=large, title_font=large)
    figure.update_annotations(font=large)
    figure.update_traces(textfont=large, selector={"type": "bar"})
    figure.update_traces(textfont=large, selector={"type": "heatmap"})
    return figure


def marked(figure: go.Figure, points: Sequence[Sequence[int] | None]) -> go.Figure:
    """The figure with these points of its first traces marked; None: the trace stays as it is."""
    shown = go.Figure(figure)
    for trace, chosen in zip(shown.data, points, strict=False):
        if chosen is not None:
            trace.update(selectedpoints=list(chosen), unselected={"marker": {"opacity": DIMMED}})
    return shown
