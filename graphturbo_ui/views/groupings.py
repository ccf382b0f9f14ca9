"""The graph with the sub-graphs of both runs, side by side."""

from __future__ import annotations

import streamlit as st

from graphturbo_core.report.graph_canvas import graph_buffer
from graphturbo_core.report.report import Report
from graphturbo_ui import state
from graphturbo_ui.components.graph import graph_view
from graphturbo_ui.figures import group_tables
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import Runs
from graphturbo_ui.selection import Selection
from graphturbo_ui.shown import table, told, view
from graphturbo_ui.text import Sink, safe_text


def groupings(runs: Runs) -> None:
    """The graph with A's sub-graphs left and B's right, and what the selected one is."""
    st.subheader("Sub-graph groupings", help=define("sub-graph"))
    st.caption(
        f"{told(group_tables.graph_summary, runs)} "
        "Click a sub-graph to see its ops in the other run; double click opens it. "
        "Keys: W A S D, arrows, + and -; [ and ] step through sub-graphs, Enter opens one."
    )
    graph_view(view("graph", _graph, runs), key="graph")
    _facts(runs, state.selection())
    table("sub-graphs", group_tables.group_table, runs)


def _graph(*reports: Report, names: str) -> bytes:
    label = group_tables.graph_summary(*reports, names=names)
    return graph_buffer(*reports, show=safe_text, extra={"label": label, "names": names})


def _facts(runs: Runs, selected: Selection | None) -> None:
    """What is known of the selected sub-graph, as a list."""
    if selected is None or selected.kind != "group" or selected.run not in runs:
        return
    report = runs[selected.run].report
    if selected.index >= len(report.tables["groups"]):
        return
    name = safe_text(report.tables["groups"][selected.index]["name"], Sink.MARKDOWN)
    facts = group_tables.group_facts(report, selected.index)
    lines = [f"- {label}: {safe_text(text, Sink.MARKDOWN, 1000)}" for label, text in facts.items()]
    st.markdown("\n".join([f"**Sub-graph {name} of {selected.run}**", "", *lines]))
