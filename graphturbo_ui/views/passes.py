"""Every step from the model to the trace, with what it made."""

from __future__ import annotations

import streamlit as st

from graphturbo_ui.figures import tables
from graphturbo_ui.jobs import Runs
from graphturbo_ui.shown import told


def passes(runs: Runs) -> None:
    """Every step with its seconds."""
    st.subheader("Steps")
    st.dataframe(told(tables.step_rows, runs), hide_index=True, key="steps")
