"""Cut, point -> Cut: second split axis of a group, and its parts."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property

from graphturbo_core.strategies.layers.carry import carry_axis
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.cuts import GroupCut
from graphturbo_core.strategies.plus.second_axis import ANY_AXES, Crossed, is_wanting
from graphturbo_core.strategies.plus.section_cycles import SectionCycles
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import (
    SubGraph,
    carried_sizes,
    divides,
    divisors,
)

NO_LIMIT_CYCLES = 2**62
"""Limit of the closed form: none, since the search evaluates the cheapest pieces in any case."""


def parts_of(graph: LayerGraph, layers: tuple[int, ...], axis: int) -> list[int]:
    """Legal part counts of a group's axis: all tensors inside must divide."""
    part = SubGraph(graph, layers)
    carry = carry_axis(graph, part.ops, part.outputs[-1], axis)
    size = carried_sizes(part, carry)[part.outputs[-1]]
    return [count for count in divisors(size) if divides(part, carry, count)]


def stepped(counts: list[int], count: int, step: int) -> int:
    """The count `step` places up or down in a rising list, clamped to its ends."""
    place = bisect_left(counts, count) + step
    return counts[min(max(place, 0), len(counts) - 1)]


def plain(cut: GroupCut) -> GroupCut:
    """A cut of two axes as a cut of one, if either has one part."""
    further = tuple(split for split in cut.further if split[1] > 1)
    first = cut.pieces
    for _, parts in further:
        first //= parts
    if first == 1 and further:
        return GroupCut(cut.layers, further[0][0], cut.pieces, further[1:])
    return replace(cut, further=further)


@dataclass(frozen=True)
class Crosser:
    """Cuts groups of one model along two axes; results are cached."""

    target: Target
    graph: LayerGraph

    def wanting(self, cut: GroupCut) -> GroupCut:
        """The cut along two axes if `is_wanting` holds and two fit, else unchanged."""
        part = SubGraph(self.graph, cut.layers)
        if cut.further or not is_wanting(part, cut, self._capacity_bytes):
            return cut
        return self.pair(cut.layers) or cut

    def along(self, cut: GroupCut, axis: int) -> GroupCut:
        """The cut along its axis (any, if it has none) and this one, if that fits."""
        axes = {cut.axis, *(further for further, _ in cut.further)} - {-1}
        if axis in axes:
            return cut
        return self.pair(cut.layers, frozenset({axis, *({cut.axis} - {-1})})) or cut

    def pair(self, layers: tuple[int, ...], having: frozenset[int] = ANY_AXES) -> GroupCut | None:
        """The cheapest two axes by the closed forms, `having` included; None if none fit."""
        key = (layers, having)
        if key not in self._known:
            crossed = Crossed(self._price, SubGraph(self.graph, layers), self._capacity_bytes)
            found = crossed.best(NO_LIMIT_CYCLES, having)
            self._known[key] = found[0] if found else None
        return self._known[key]

    def parted(self, cut: GroupCut, step: int) -> GroupCut:
        """The cut with its last axis in more or fewer parts; LB may overflow and spill."""
        if not cut.further:
            return cut
        axis, parts = cut.further[-1]
        count = stepped(parts_of(self.graph, cut.layers, axis), parts, step)
        further = (*cut.further[:-1], (axis, count))
        return plain(replace(cut, pieces=cut.pieces // parts * count, further=further))

    @property
    def _capacity_bytes(self) -> int:
        return self.target.budget.split_bytes

    @cached_property
    def _price(self) -> SectionCycles:
        return SectionCycles(self.target)

    @cached_property
    def _known(self) -> dict[tuple[tuple[int, ...], frozenset[int]], GroupCut | None]:
        return {}
