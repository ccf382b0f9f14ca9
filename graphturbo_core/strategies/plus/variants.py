"""GraphTurbo -> variants: its options one at a time, and Algorithm 1 with less capacity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from graphturbo_core.strategies.graphturbo.strategy import GraphTurbo
from graphturbo_core.strategies.steps.splitting import (
    SplitInfo,
    fewest_pieces,
    literal_candidates,
)

FULL = "full"
"""Name of the variant that every search evaluates first."""
HALF_ROOM = "room over 2"
FEWEST = "best=fewest-pieces"
_CAPACITY_PARTS = (2, 4)
"""Divisors of the LB capacity for Algorithm 1: a half and a quarter (our choice)."""

MOST_FEWEST_OPS = 1024
"""Ops of a sub-graph with the fewest pieces (our choice: it is found along every axis, through the
whole sub-graph at each merge, which takes quadratic time)."""


def variants(full: GraphTurbo) -> dict[str, GraphTurbo]:
    """Variants by name; less capacity gives more and smaller pieces."""
    splitter = full.splitter
    less = {
        f"room over {part}": replace(splitter, capacity_bytes=splitter.capacity_bytes // part)
        for part in _CAPACITY_PARTS
    }
    splitters = {
        **less,
        FEWEST: replace(splitter, best=fewest_pieces_of_short),
        "candidates=literal": replace(splitter, candidates=literal_candidates),
        "peak=literal": replace(splitter, is_literal_peak=True),
    }
    return {
        "fit=cluster": replace(full, is_fit_checked=False),
        "blocks=none": replace(full, merging=replace(full.merging, has_block_step=False)),
        **{name: replace(full, splitter=other) for name, other in splitters.items()},
    }


def fewest_pieces_of_short(splits: Iterable[SplitInfo], ops: int) -> SplitInfo | None:
    """As `fewest_pieces`; longer sub-graphs than `MOST_FEWEST_OPS` have no split."""
    return fewest_pieces(splits, ops) if ops <= MOST_FEWEST_OPS else None
