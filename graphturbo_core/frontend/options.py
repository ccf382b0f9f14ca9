"""What a user may choose at import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from graphturbo_core.limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True)
class ImportOptions:
    """Name shown for the model, its batch and symbolic dimensions, and the passes left out.

    `extra_passes`: those that run only where asked for, after all others.
    """

    name: str
    batch: int | None = None
    dims: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    skip_passes: tuple[str, ...] = ()
    limits: Limits = DEFAULT_LIMITS
    extra_passes: tuple[str, ...] = ()
