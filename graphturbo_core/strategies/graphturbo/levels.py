"""Levels of `graphturbo`: four after the vendor's optimisation levels, and `plus`, our own."""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.products.scheduling import ACROSS_LAYERS, BY_LAYER, Scheduling
from graphturbo_core.strategies.steps.placement import Nearest


@dataclass(frozen=True, slots=True)
class Level:
    """Features of one level; each level adds one to the level before it (reference, 4).

    `scheduling` and `is_breadth_first` are defaults; an option overrides them.
    """

    name: str
    doc: str
    nearest: Nearest
    is_split: bool
    scheduling: Scheduling
    is_beyond_paper: bool = False
    is_breadth_first: bool = False


LEVELS = (
    Level("gb", "layers whole, unsplit; tensors in GB where they fit", Nearest.GB, False, BY_LAYER),
    Level("lb", "layers whole, unsplit; tensors in LB where they fit", Nearest.LB, False, BY_LAYER),
    Level("order", "groups split into instances, depth first", Nearest.LB, True, BY_LAYER),
    Level(
        "full", "with instructions of different layers interleaved", Nearest.LB, True, ACROSS_LAYERS
    ),
)
"""Levels of the paper in rising order."""

DEFAULT_LEVEL = LEVELS[-1]

PLUS = Level(
    "plus",
    "full, and plans beyond the paper if they cost less: other groupings, idle clusters",
    Nearest.LB, True, ACROSS_LAYERS, is_beyond_paper=True,
)  # fmt: skip

ALL_LEVELS = (*LEVELS, PLUS)
