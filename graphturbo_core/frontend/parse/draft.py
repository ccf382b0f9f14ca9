"""Draft: a model read from its file, without inferred shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.parse.recorded import RecordedType
from graphturbo_core.ir.graph import Op, Tensor


@dataclass(frozen=True)
class Draft:
    """Ops in topological order, typed weights and inputs; activations have no shape yet.

    `recorded`: types in the file for outputs of ops without a schema. `refused`: by op name, why it
    cannot be read.
    """

    ops: tuple[Op, ...]
    sources: Mapping[str, Tensor]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    recorded: Mapping[str, RecordedType]
    refused: Mapping[str, ModelError]
    notes: tuple[str, ...]
