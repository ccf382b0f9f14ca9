"""Before the first visitor: what pages need is imported, workers start, the first runs begin."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module

from streamlit import App

from graphturbo_ui.jobs import shared_desk
from graphturbo_ui.pages import (
    chips,
    compare,
    explore,
    learn,
    paper,
    schedulers,
    verification,
    what_if,
)

__all__ = [
    "chips",
    "compare",
    "explore",
    "learn",
    "paper",
    "schedulers",
    "verification",
    "warmed",
    "what_if",
]

FIRST_USED = ("pandas", "plotly.graph_objs.bar", "plotly.graph_objs.layout")
"""What Streamlit and Plotly would import while the first visitor waits."""


@asynccontextmanager
async def warmed(app: App) -> AsyncIterator[None]:
    """The server's lifespan: its one desk is there, with the default comparison on its way.

    Streamlit looks for garbage after each run of a script, which keeps the page from what is new;
    it need not look through what has been imported.
    """
    for name in FIRST_USED:
        import_module(name)
    gc.freeze()
    shared_desk()
    yield
