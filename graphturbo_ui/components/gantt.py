"""The Gantt chart's component: a buffer in."""

from __future__ import annotations

from functools import cache

import streamlit as st

from graphturbo_ui.components import sources

TOOLS = """
    <label>colour by
      <select data-act="colour" aria-label="colour by">
        <option value="kind">kind</option><option value="layer">layer</option>
        <option value="group">sub-graph</option>
      </select></label>
    <label class="lock"><input type="checkbox" data-act="lock" checked> same time axis</label>
    <label><input type="checkbox" data-act="fold"> one row an engine kind</label>"""


@cache
def _component():  # Streamlit names no public type for it
    return st.components.v2.component(
        "graphturbo_gantt",
        html=sources.frame(TOOLS, "Gantt chart"),
        css=sources.style(),
        js=sources.script("gantt_rows.js", "gantt.js"),
    )


def gantt_chart(buffer: bytes, key: str) -> None:
    """Draw the chart; the time in sight reaches the page by `components/link.py`."""
    _component()(data=sources.stamped(key, buffer), key=key)
