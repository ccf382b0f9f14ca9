"""Settings of both runs by one click: the paper's batches, or the same cluster batch for both."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from graphturbo_core.comparison.published import PaperBatches, paper_batches
from graphturbo_ui.session import query


def offer_presets(model: str, dims: Mapping[str, int]) -> None:
    """Two buttons; the paper's is off where the paper did not run the model."""
    found = paper_batches(model, dims)
    with st.container(horizontal=True):
        st.button(
            "Same cluster batch", key="preset_equal", on_click=_take_equal,
            help="A takes as many samples at once as B: what differs is the strategy alone.",
        )  # fmt: skip
        st.button(
            "As in the paper", key="preset_paper", on_click=_take_paper, args=(found,),
            disabled=found is None, help=_paper_help(found),
        )  # fmt: skip


def _paper_help(found: PaperBatches | None) -> str:
    if found is None:
        return "The paper did not run this model (of BERT: this length of a sentence)."
    return (
        f"Batch {found.batch:,}; in the paper TVM takes {found.tvm} samples per cluster at once, "
        f"GraphTurbo {found.graphturbo}."
    )


def _take_equal() -> None:
    """A's strategy at B's cluster batch."""
    session = st.session_state
    head, _ = query.split_strategy(str(session["a"]))
    _, samples = query.split_strategy(str(session["b"]))
    session["a"] = head if samples is None else f"{head}@{samples}"


def _take_paper(found: PaperBatches) -> None:
    """Both strategies and the batch as the paper has them."""
    st.session_state["a"] = f"tvm@{found.tvm}"
    st.session_state["b"] = f"graphturbo@{found.graphturbo}"
    st.session_state["batch"] = found.batch
