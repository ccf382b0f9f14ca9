"""The component of the first screen, from its files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from graphturbo_ui.components import sources
from graphturbo_ui.components.bundle import bundle

FOLDER = Path(__file__).parent
KEY = "overview"


def html() -> str:
    """The frame that the scripts fill."""
    return (FOLDER / "overview.html").read_text(encoding="utf-8")


def css() -> str:
    """The colours, and the style of the screen."""
    return sources.style("colours.css", "overview/overview.css")


@cache
def js() -> str:
    """All scripts as one module."""
    return bundle(FOLDER / "overview.js")


@cache
def _component() -> ComponentRenderer:
    return st.components.v2.component("graphturbo_overview", html=html(), css=css(), js=js())


def draw(buffer: bytes) -> None:
    """Draw the screen; what is selected reaches the page by `link.py`."""
    _component()(data=sources.stamped(KEY, buffer), key=KEY, height="content")
