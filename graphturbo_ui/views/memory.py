"""What every layer holds of LB and GB."""

from __future__ import annotations

import streamlit as st

from graphturbo_ui.figures import tables
from graphturbo_ui.figures.memory import memory_figure
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import Runs
from graphturbo_ui.shown import table, view


def memory(runs: Runs) -> None:
    """LB and GB of every layer as bars under their capacity lines."""
    st.subheader("Memory", help=f"{define('LB')} {define('GB')}")
    figure = view("memory", memory_figure, runs)
    st.plotly_chart(figure, key="memory", alt="LB and GB use of every layer with capacity lines")
    table("memory", tables.memory_table, runs)
