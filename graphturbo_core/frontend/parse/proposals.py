"""Sizes that a file proposes for its own symbolic dimensions, in its metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping

import onnx

from graphturbo_core.errors import ModelError

PROPOSED_DIMS = "graphturbo.proposed_dims"
"""Key of the metadata; its value is NAME=SIZE, NAME=SIZE … (our own convention)."""

MAX_SIZE = 2**31 - 1
_PROPOSAL = re.compile(r"([^=,]{1,200})=([1-9][0-9]{0,9})")


def proposed_sizes(model: onnx.ModelProto) -> Mapping[str, int]:
    """Returns size by symbol; empty for a file without proposals, the common case.

    Raises:
        ModelError: BAD_PROPOSAL: not NAME=SIZE, or a size out of range.
    """
    texts = [entry.value for entry in model.metadata_props if entry.key == PROPOSED_DIMS]
    proposed: dict[str, int] = {}
    for part in ",".join(texts).split(",") if texts else ():
        found = _PROPOSAL.fullmatch(part.strip())
        if found is None or int(found[2]) > MAX_SIZE:
            raise ModelError(
                "BAD_PROPOSAL",
                f"{part[:80]!r} proposes no size of a dimension",
                f"metadata {PROPOSED_DIMS!r}",
                f"write NAME=SIZE with sizes from 1 to {MAX_SIZE}, or leave the metadata out",
            )
        proposed[found[1]] = int(found[2])
    return proposed
