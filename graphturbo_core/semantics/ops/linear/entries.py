"""The entries of this folder, joined: (domain, op type) -> entry."""

from __future__ import annotations

from collections.abc import Mapping

from graphturbo_core.semantics.ops.linear import (
    attention,
    channels_last,
    convolution,
    einsum,
    fused,
    fused_attention,
    products,
    quantised,
    recurrent,
    states,
)
from graphturbo_core.semantics.ops.maps import Entry

ENTRIES: Mapping[tuple[str, str], Entry] = {
    **convolution.ENTRIES,
    **products.ENTRIES,
    **quantised.ENTRIES,
    **einsum.ENTRIES,
    **recurrent.ENTRIES,
    **attention.ENTRIES,
    **states.ENTRIES,
    **fused.ENTRIES,
    **fused_attention.ENTRIES,
    **channels_last.ENTRIES,
}
