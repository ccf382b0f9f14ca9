"""Algorithms 1 to 4 as pictures that are played step by step, and tables of the same rows."""

from __future__ import annotations

from functools import partial

import streamlit as st

from graphturbo_ui.components.sources import ALGORITHMS
from graphturbo_ui.figures.canvases import algorithms_bytes
from graphturbo_ui.figures.pass_tables import TABLES, product_rows
from graphturbo_ui.jobs import Runs
from graphturbo_ui.shown import reports_of, table, view


def passes(runs: Runs) -> None:
    """The pictures, and below them the tables that have rows, closed."""
    st.subheader("Algorithms")
    keys = " ".join(run.key[:16] for run in runs.values())
    ALGORITHMS.draw(view(f"algorithms {keys}", partial(algorithms_bytes, keys=keys), runs))
    for name, (rows, make) in TABLES.items():
        if any(report.tables[rows] for report in reports_of(runs)):
            table(name, make, runs)
    table("steps", product_rows, runs)
