"""What the canvases share among themselves, with the session: selection and time windows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from graphturbo_ui.components import sources
from graphturbo_ui.session import state


@cache
def _component() -> ComponentRenderer:
    return st.components.v2.component("graphturbo_link", html="", js=sources.script("link.js"))


def canvas_link(marks: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Give all canvases `marks` (state.marks) and get what they tell by now: the same keys.

    What is given counts where its `serial` is above that of anything given before.
    """
    result = _component()(data=dict(marks), key=key, on_told_change=partial(_hear, key))
    return result.get("told") or {}


def _hear(key: str) -> None:
    """Keep what the canvases tell before the page is run: the bar's link is drawn first."""
    state.hear(st.session_state[key].get("told") or {})
