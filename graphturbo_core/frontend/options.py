"""Options of import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from graphturbo_core.limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True)
class ImportOptions:
    """Displayed name of the model, batch and symbolic dimensions, and skipped passes."""

    name: str
    batch: int | None = None
    dims: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    skip_passes: tuple[str, ...] = ()
    limits: Limits = DEFAULT_LIMITS
