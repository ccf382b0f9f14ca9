"""The graph view's component: a buffer in, the selected sub-graph out."""

from __future__ import annotations

from collections.abc import Mapping
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


def graph_view(buffer: bytes, key: str) -> Mapping[str, int] | None:
    """Draw both groupings; `pane` and `group` of the selected sub-graph, or None."""
    result = _component()(
        data=sources.stamped(key, buffer), key=key, on_selected_change=lambda: None
    )
    return result.get("selected")
