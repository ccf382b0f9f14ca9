"""Explore: one model, one chip, two runs side by side."""

from __future__ import annotations

import streamlit as st

from graphturbo_ui import controls, frame, plans, sections

INTRO = """
A model runs on a many-core chip as **sub-graphs**. **A** cuts it finely, as ordinary compilers do;
**B** merges coarsely and splits what it merged, so that tensors stay in the cores' buffers.
Both schedules are computed, simulated cycle by cycle, and shown on the same scale.
"""
WEIGHTS = (
    "The structure is enough: export with external data and leave the .onnx.data file where it is. "
    "Dimensions without a size appear in the sidebar."
)


def show(choices: controls.Choices) -> None:
    """The whole page."""
    st.title("Fine against coarse sub-graphs")
    left, right = st.columns([5, 1], vertical_alignment="center")
    left.markdown(INTRO)
    with right.popover("Use my model", icon=":material/upload_file:"):
        st.caption(WEIGHTS)
        controls.offer_model_upload()
    runs = frame.runs_of(choices)
    frame.wait_for_first(runs)
    drawn, pending = frame.outcome(runs)
    sections.banner(drawn)
    sections.verdict(drawn, pending)
    sections.groupings(drawn)
    sections.memory(drawn)
    sections.gantt(drawn)
    sections.steps(drawn)
    plans.plans(drawn)
    sections.sharing(choices)
    frame.finish(pending)
