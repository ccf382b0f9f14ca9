"""A model's file -> the sizes that the form proposes, read once a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from graphturbo_core.frontend.importer import read_input_dims
from graphturbo_ui.session import query

PROPOSED_DIMENSION = 128
"""What the form proposes for a dimension other than the batch (a usual sequence length)."""
MAX_KEPT = 256
"""Models whose sizes are kept: a few numbers each."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the form proposes for a model's batch and its other symbolic dimensions."""

    batch: int
    dims: Mapping[str, int]


@st.cache_resource(max_entries=MAX_KEPT, show_spinner=False)
def proposed_sizes(name: str, _model: bytes) -> Sizes:
    """What the file proposes, else our own; the batch is the first leading symbolic dimension.

    `name` is a sample's, or an upload's with its digest, and so says which file it is: reading a
    large file again at every click would make the page slow.
    """
    found = read_input_dims(_model)
    batch = next((dim for dim in found if dim.axis == 0), None)
    proposed = (batch and batch.proposed) or query.DEFAULT_BATCH
    return Sizes(
        min(proposed, query.MAX_BATCH),
        {
            dim.symbol: dim.proposed or PROPOSED_DIMENSION
            for dim in found
            if batch is None or dim.symbol != batch.symbol
        },
    )
