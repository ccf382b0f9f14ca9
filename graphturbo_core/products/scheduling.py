"""Scheduling: the order in which a plan's instructions are issued, and fences between layers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scheduling:
    """The two parts of across-layer instruction scheduling.

    `has_fence`: no instruction of a layer, DMA included, starts before all instructions of the
    layer before it have ended. `is_listed`: a list scheduler orders the instructions, between
    fences if there are any. Otherwise they are issued as emitted, layer by layer.

    Source: the paper interleaves instructions of different layers. This needs both parts, and the
    paper counts them as one step (section 3.6 and its breakdown). The separation is our choice:
    most of that step's gain comes from removing the fence.
    """

    has_fence: bool
    is_listed: bool


BY_LAYER = Scheduling(has_fence=True, is_listed=False)
"""Layer after layer: all strategies except `graphturbo:full`, `graphturbo:plus` and `tuned`."""
ACROSS_LAYERS = Scheduling(has_fence=False, is_listed=True)
"""Instructions of different layers interleaved."""
