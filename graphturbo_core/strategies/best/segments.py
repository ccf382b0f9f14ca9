"""LayerGraph -> segments with their splits: the space of a dynamic program over the layers.

A segment is a run of blocks, or one layer. Segments of equal template have equal splits, so blocks
that a model repeats are priced once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, takewhile
from typing import NamedTuple

from graphturbo_core.strategies.best.blocks import block_starts
from graphturbo_core.strategies.best.segment_cycles import Estimate, SegmentCycles, Split
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.cuts import GroupCut
from graphturbo_core.strategies.plus.second_axis import CarriedAxis, axes_of
from graphturbo_core.strategies.steps.splitting import SubGraph

RUN_LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Blocks per segment (our choice)."""
MOST_AXES = 3
"""Outermost axes that are combined (our choice: samples, rows, columns)."""
MOST_PIECES = 256
"""Pieces of a segment (our choice: launches cost more than smaller pieces save)."""


class Option(NamedTuple):
    """A segment's layers in one split, its closed form, and whether it is made of whole blocks."""

    cut: GroupCut
    estimate: Estimate
    is_of_blocks: bool


@dataclass(frozen=True)
class Segment:
    """Layers [first, last) with all splits."""

    first: int
    last: int
    options: tuple[Option, ...]


def segments_of(
    graph: LayerGraph, price: SegmentCycles, *, is_for_time: bool = True
) -> tuple[Segment, ...]:
    """All segments, by first and last layer."""
    known: dict[Hashable, tuple[tuple[GroupCut, Estimate], ...]] = {}
    starts = block_starts(graph)
    of_blocks = {
        (starts[at], starts[min(at + run, len(starts) - 1)])
        for at in range(len(starts) - 1)
        for run in RUN_LENGTHS
    }
    found = []
    for first, last in sorted(of_blocks | {(at, at + 1) for at in range(len(graph.layers))}):
        part = SubGraph(graph, tuple(range(first, last)))
        if part.likeness not in known:
            known[part.likeness] = tuple(_priced(part, price, is_for_time))
        options = (
            Option(replace(cut, layers=part.layers), estimate, (first, last) in of_blocks)
            for cut, estimate in known[part.likeness]
        )
        found.append(Segment(first, last, tuple(options)))
    return tuple(found)


def _priced(
    part: SubGraph, price: SegmentCycles, is_for_time: bool
) -> Iterator[tuple[GroupCut, Estimate]]:
    """The splits worth a look, priced.

    In a family with rising piece counts, after one that fits LB more pieces gain nothing; nor does
    for time, a split whose launches alone take longer than one that fits. Nor do pieces along two
    axes, of which as many along one fit without halo.
    """
    launch = price.target.hardware.launch_cycles + price.target.hardware.barrier_cycles
    axes = axes_of(part)[:MOST_AXES]
    least, enough = None, MOST_PIECES + 1
    for family in _split_families(part, axes):
        for split in family:
            if is_for_time and least is not None and split.pieces * launch >= least:
                break
            if len(split.axes) > 1 and split.pieces >= enough:
                break
            estimate = price(split)
            yield _cut(split), estimate
            if not estimate.overflow_class:
                least = min(least or estimate.cycles, estimate.cycles)
                if not any(axis.carry.has_halo for axis, _ in split.axes):
                    enough = min(enough, split.pieces)
                break


def _split_families(part: SubGraph, axes: Sequence[CarriedAxis]) -> Iterator[Iterator[Split]]:
    """Whole; along each axis; along each two, per number of parts of the second."""
    yield iter([Split(part)])
    for axis in axes:
        yield _along(part, axis, ())
    for first, second in combinations(axes, 2):
        for parts in second.counts:
            yield _along(part, first, ((second, parts),))


def _along(
    part: SubGraph, axis: CarriedAxis, further: tuple[tuple[CarriedAxis, int], ...]
) -> Iterator[Split]:
    splits = (Split(part, ((axis, count), *further)) for count in axis.counts)
    return takewhile(lambda split: split.pieces <= MOST_PIECES, splits)


def _cut(split: Split) -> GroupCut:
    axis = split.axes[0][0].axis if split.axes else -1
    further = tuple((other.axis, parts) for other, parts in split.axes[1:])
    return GroupCut(split.part.layers, axis, split.pieces, further)
