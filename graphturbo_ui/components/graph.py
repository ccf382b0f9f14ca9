"""The graph view's component: a buffer in."""

from __future__ import annotations

from functools import cache

import streamlit as st

from graphturbo_ui.components import sources

TOOLS = """
    <button data-act="expand">expand all</button>
    <button data-act="collapse">collapse all</button>
    <input type="search" data-act="search" placeholder="find op name or type"
           aria-label="find ops by name or type (regular expression)">"""


@cache
def _component():  # Streamlit names no public type for it
    return st.components.v2.component(
        "graphturbo_graph",
        html=sources.frame(TOOLS, "Sub-graph view"),
        css=sources.style(),
        js=sources.script("graph_boxes.js", "graph.js"),
    )


def graph_view(buffer: bytes, key: str) -> None:
    """Draw both groupings; what is selected there reaches the page by `components/link.py`."""
    _component()(data=sources.stamped(key, buffer), key=key)
