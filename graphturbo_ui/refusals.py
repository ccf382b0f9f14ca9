"""Refusals on the page: which run, what, where, and what to change."""

from __future__ import annotations

import streamlit as st

from graphturbo_core.errors import GraphTurboError
from graphturbo_ui.session import state
from graphturbo_ui.text import Sink, safe_text

OF_BATCH = frozenset({"BATCH_DEPENDENT", "BATCH_FIXED", "BATCH_MISMATCH", "BATCH_RESHAPE"})
"""Refusals of a model at this batch, which its own batch may not meet with."""


def show_refusal(error: GraphTurboError, run: str = "") -> None:
    """A refusal, calmly: of which run, what, where, and what to change."""
    parts = [
        f"{run} cannot be computed." if run else "",
        f"**{safe_text(error.what, Sink.MARKDOWN, 1000)}**",
        safe_text(error.where, Sink.MARKDOWN, 1000),
        safe_text(error.change, Sink.MARKDOWN, 1000),
        f"Code {safe_text(error.code, Sink.MARKDOWN)}",
    ]
    st.warning("  \n".join(part for part in parts if part), icon=":material/info:")
    if error.code in OF_BATCH and st.session_state.get("batch", 1) != 1:
        st.button(
            "Use batch 1", key=f"batch_of_one {run}", on_click=state.set_sizes,
            args=({"batch": 1},),
            help="Most exports are made for one sample; the whole page then runs one.",
        )  # fmt: skip
