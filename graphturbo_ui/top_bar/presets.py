"""Settings of both runs by one click: the paper's batches, or the same cluster batch for both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from graphturbo_ui.session import query


@dataclass(frozen=True, slots=True)
class PaperBatches:
    """Batch of the chip, and samples that a cluster takes at once in either run.

    Source: GraphTurbo (OSDI 2023), its table of the ten configurations.
    """

    batch: int
    tvm: int
    graphturbo: int


RESNET, DENSENET = PaperBatches(64, 2, 16), PaperBatches(32, 4, 8)
VIT, DLRM, CONFORMER = PaperBatches(32, 4, 8), PaperBatches(1024, 64, 256), PaperBatches(12, 1, 3)
BY_MODEL: Mapping[str, PaperBatches] = {
    "resnet50-slim": RESNET,
    "resnet50-v1": RESNET,
    "resnet50-v15": RESNET,
    "mobilenet-v2": PaperBatches(128, 2, 32),
    "densenet-121": DENSENET,
    "densenet-169": DENSENET,
    "densenet-201": DENSENET,
    "vit-b16": VIT,
    "vit-l16": VIT,
    "dlrm": DLRM,
    "dlrm-random": DLRM,
    "dlrm-rm1": DLRM,
    "dlrm-rm2": DLRM,
    "dlrm-rm3": DLRM,
    "conformer": CONFORMER,
    "conformer-s": CONFORMER,
    "conformer-l": CONFORMER,
}
BERT = ("bert-base", "bert-large")
BY_TOKENS: Mapping[int, PaperBatches] = {
    128: PaperBatches(32, 4, 8),
    256: PaperBatches(16, 2, 4),
    384: PaperBatches(8, 1, 2),
    512: PaperBatches(8, 1, 2),
}
"""Of BERT, by the length of a sentence."""
TOKENS = "sequence"


def paper_batches(model: str, dims: Mapping[str, int]) -> PaperBatches | None:
    """What the paper took for a model; None for one that it did not run."""
    if model in BERT:
        return BY_TOKENS.get(dims.get(TOKENS, 0))
    return BY_MODEL.get(model)


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
