"""The four levels of `graphturbo`, after the vendor's own optimisation levels."""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.strategies.graphturbo.placement import Nearest


@dataclass(frozen=True, slots=True)
class Level:
    """What a level switches on; each adds one thing to the level before it (reference, 4)."""

    name: str
    doc: str
    nearest: Nearest
    is_split: bool
    is_scheduled_across_layers: bool


LEVELS = (
    Level("gb", "layers whole, unsplit; tensors in GB where they fit", Nearest.GB, False, False),
    Level("lb", "layers whole, unsplit; tensors in LB where they fit", Nearest.LB, False, False),
    Level("order", "groups split into instances, depth first", Nearest.LB, True, False),
    Level("full", "with instructions of different layers interleaved", Nearest.LB, True, True),
)
"""In rising order; the last one is the default."""
