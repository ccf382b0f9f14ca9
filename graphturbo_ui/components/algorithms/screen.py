"""The component of Algorithms 1 to 4, from its files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from graphturbo_ui.components import sources
from graphturbo_ui.components.bundle import bundle

FOLDER = Path(__file__).parent
KEY = "algorithms"


def html() -> str:
    """The frame that the scripts fill."""
    return (FOLDER / "algorithms.html").read_text(encoding="utf-8")


def css() -> str:
    """The colours, and the style of the pictures."""
    return sources.style("colours.css", "algorithms/algorithms.css")


@cache
def js() -> str:
    """All scripts as one module."""
    return bundle(FOLDER / "algorithms.js")


@cache
def _component() -> ComponentRenderer:
    return st.components.v2.component("graphturbo_algorithms", html=html(), css=css(), js=js())


def draw(buffer: bytes) -> None:
    """Draw the pictures; a sub-graph that is clicked reaches the page by `link.py`."""
    _component()(data=sources.stamped(KEY, buffer), key=KEY)
