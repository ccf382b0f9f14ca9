"""The address map's component: a buffer in."""

from __future__ import annotations

from functools import cache

import streamlit as st

from graphturbo_ui.components import sources

NAME = "Address map"
SCRIPTS = ("time_axis.js", "addresses_rows.js", "addresses_dress.js", "addresses.js")
TOOLS = """
    <label>core <select data-act="core" aria-label="core of LB"></select></label>
    <label>colour by
      <select data-act="colour" aria-label="colour buffers by">
        <option value="kind">what they hold</option><option value="layer">layer</option>
        <option value="group">sub-graph</option>
      </select></label>"""


@cache
def _component():  # Streamlit names no public type for it
    return st.components.v2.component(
        "graphturbo_addresses",
        html=sources.frame(TOOLS, NAME),
        css=sources.style(),
        js=sources.script(*SCRIPTS),
    )


def address_map(buffer: bytes, key: str) -> None:
    """Draw the map; selection and time window reach the page by `components/link.py`."""
    _component()(data=sources.stamped(key, buffer), key=key)
