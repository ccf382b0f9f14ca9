"""Scheduling: in which order a plan's instructions are issued, and where a cluster waits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scheduling:
    """The two parts of across-layer instruction scheduling.

    `has_fence`: nothing of a layer, DMA included, starts before all of the layer before it has
    ended. `is_listed`: a list scheduler orders the instructions, between fences where there are
    any; else they keep the order in which they are emitted, layer by layer.

    Source: the paper interleaves the instructions of different layers, which takes both and which
    it counts as one step (section 3.6 and its breakdown). To tell them apart is our choice: most of
    that step's gain is the fence's.
    """

    has_fence: bool
    is_listed: bool


BY_LAYER = Scheduling(has_fence=True, is_listed=False)
"""Layer after layer, as all strategies but `graphturbo:full` and beyond it run."""
ACROSS_LAYERS = Scheduling(has_fence=False, is_listed=True)
"""Instructions of different layers interleaved."""
