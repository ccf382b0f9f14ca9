"""Algorithms 1 to 4 as pictures that are played step by step, and tables of the same rows."""

from __future__ import annotations

from functools import partial

import streamlit as st

from graphturbo_ui.components.algorithms import screen
from graphturbo_ui.figures.canvases import algorithms_bytes
from graphturbo_ui.figures.pass_tables import (
    binding_table,
    decision_table,
    product_rows,
    ready_table,
    split_table,
)
from graphturbo_ui.jobs import Runs
from graphturbo_ui.shown import table, view

TABLES = {
    "splits": split_table,
    "merges": decision_table,
    "the ready list": ready_table,
    "bindings": binding_table,
    "steps with their seconds": product_rows,
}
"""A table per algorithm, and one of all steps from the model to the trace."""


def passes(runs: Runs) -> None:
    """The pictures, and below them the tables, closed."""
    st.subheader("Algorithms")
    keys = " ".join(run.key[:16] for run in runs.values())
    screen.draw(view(f"algorithms {keys}", partial(algorithms_bytes, keys=keys), runs))
    for name, make in TABLES.items():
        table(name, make, runs)
