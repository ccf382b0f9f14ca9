"""The graph with the sub-graphs of both runs, side by side."""

from __future__ import annotations

import streamlit as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.export.group_dot import group_dot_text
from graphturbo_ui.charts import text_colour
from graphturbo_ui.components.graph import GRAPH
from graphturbo_ui.figures.canvases import graph_bytes
from graphturbo_ui.figures.group_tables import (
    facts,
    graph_summary,
    group_selections,
    group_table,
    group_title,
)
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import Runs
from graphturbo_ui.session import state
from graphturbo_ui.session.selection import Selection
from graphturbo_ui.shown import of_runs, table_to_pick, view
from graphturbo_ui.text import Sink, safe_text

COLUMNS = (4, 1)
"""Shares of the graph, and of what is selected in it."""
UNSELECTED = "Select a sub-graph or an op: its shapes, attributes and neighbours are listed here."
MAX_FACT = 1000
"""Characters of a fact that the page tells."""
HINT = (
    "A click selects a sub-graph, or an op of an opened one, in all views; a double click opens "
    "and closes. Keys: W A S D, arrows, + and -; [ and ] step through sub-graphs, Enter opens, "
    "N and P step through its ops, X goes to the other run, F shows what is selected, / searches."
)


def groupings(runs: Runs) -> None:
    """The graph with A's sub-graphs left and B's right, and what the selected one is."""
    summary = of_runs(graph_summary, runs)
    st.subheader("Graph", help=f"{summary}\n\n{HINT}\n\n{define('sub-graph')}")
    canvas, beside = st.columns(COLUMNS)
    with canvas:
        GRAPH.draw(view("graph", graph_bytes, runs))
    with beside:
        _facts(runs, state.selection())
    with st.container():  # its own place, however much is in it
        _drawing(runs, state.selection())
    table_to_pick("sub-graphs", group_table, group_selections, runs)


def _facts(runs: Runs, selected: Selection | None) -> None:
    """What is known of the selected sub-graph, op or layer; without one, what can be selected."""
    reports = {name: run.report for name, run in runs.items()}
    title, known = facts(selected, reports) if selected is not None else ("", {})
    if not title:
        st.caption(UNSELECTED)
        return
    lines = [
        f"- {label}: {safe_text(text, Sink.MARKDOWN, MAX_FACT)}" for label, text in known.items()
    ]
    st.markdown("\n".join([f"**{safe_text(title, Sink.MARKDOWN)}**", "", *lines]))


def _drawing(runs: Runs, selected: Selection | None) -> None:
    """The selected sub-graph drawn with all names and shapes, when somebody opens it."""
    if selected is None or selected.kind != "group" or selected.run not in runs:
        return
    report = runs[selected.run].report
    if selected.index >= len(report.tables["groups"]):
        return
    title = group_title(selected, {name: run.report for name, run in runs.items()})
    with st.expander(
        f"Drawing of {safe_text(title, Sink.MARKDOWN)}", on_change="rerun", key="drawing"
    ) as box:
        if not box.open:
            return
        try:
            drawn = group_dot_text(report, selected.index, safe_text, text_colour())
        except CapacityError as error:
            st.caption(f"{safe_text(error.what, Sink.MARKDOWN)}, {error.where}: {error.change}.")
        else:
            st.graphviz_chart(drawn, width="content")
