"""Simulated groupings -> Cuts: crossover: per segment of layers the grouping fastest there.

Kernels of a cluster run one after the other, so a group's time is the sum of its kernels' times.
The sum over groups only estimates a crossover: instances of different groups interleave, and a
segment changes what its neighbours find in LB and GB. The crossover is simulated before it is
taken. Our choice, not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.boxes import volume
from graphturbo_core.products.plan import Plan, Scope
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.cuts import GroupCut, cuts_of


@dataclass(frozen=True)
class Timed:
    """A grouping with the simulated cycles of its kernels.

    A place is the position before the layer of its number; the last place is after all layers.
    """

    name: str
    graph: LayerGraph
    plan: Plan
    kernel_cycles: tuple[int, ...]

    @cached_property
    def cuts(self) -> tuple[GroupCut, ...]:
        """Groups in topological order."""
        return cuts_of(self.plan)

    @cached_property
    def is_boundary(self) -> tuple[bool, ...]:
        """Per place, whether no group has layers on both sides."""
        found = [True] * (len(self.graph.layers) + 1)
        for cut in self.cuts:
            low, high = min(cut.layers) + 1, max(cut.layers) + 1
            found[low:high] = [False] * (high - low)
        return tuple(found)

    @cached_property
    def cycles_before(self) -> tuple[int, ...]:
        """Per place, cycles of the groups whose layers are all before it."""
        ending = [0] * (len(self.graph.layers) + 1)
        for kernel, cycles in zip(self.plan.kernels, self.kernel_cycles, strict=True):
            ending[max(self.cuts[kernel.group].layers) + 1] += cycles
        return tuple(accumulate(ending))

    @cached_property
    def handed_bytes(self) -> tuple[int, ...]:
        """Per place, bytes handed across it in LB alone, without a copy in GB or DRAM."""
        found = _Crossing(self.graph)
        for kernel in self.plan.kernels:
            in_lb = (t for t in kernel.outputs if kernel.scopes[t] is Scope.LB)
            for tensor in in_lb:
                size = volume(kernel.outputs[tensor]) * self.plan.element_bytes[tensor]
                found.add(tensor, size)
        return found.by_place


class _Crossing:
    """Bytes per place of tensors written before it and read after it."""

    def __init__(self, graph: LayerGraph) -> None:
        self._graph = graph
        self._writer = {t: layer for layer, own in enumerate(graph.writes) for t in own}
        self._change = [0] * (len(graph.layers) + 1)

    def add(self, tensor: str, size_bytes: int) -> None:
        """Add the bytes of a tensor; an unread tensor crosses no place."""
        readers = self._graph.readers.get(tensor, ())
        if readers and tensor in self._writer:
            self._change[self._writer[tensor] + 1] += size_bytes
            last = max(readers) + 1
            if last < len(self._change):
                self._change[last] -= size_bytes

    @property
    def by_place(self) -> tuple[int, ...]:
        return tuple(accumulate(self._change))


@dataclass(frozen=True, slots=True)
class LayerSegment:
    """Layers [first, last), grouped as in the grouping of this number."""

    grouping: int
    first: int
    last: int


def cheapest_segments(groupings: Sequence[Timed], hardware: Hardware) -> tuple[LayerSegment, ...]:
    """Returns the segments in order with the least sum of estimates.

    A segment begins and ends at boundaries of its grouping. Where the grouping changes, tensors
    handed on in LB cost one write and one read: at GB's rate, or at DRAM's if all crossing tensors
    do not fit GB. Linear in layers times groupings squared. Ties: no change, then the first
    grouping.
    """
    rates = _waiting_rates(groupings[0].graph, hardware)
    last_place = len(rates) - 1
    states = [_State(0, 0, _SegmentLink(number, 0, None)) for number in range(len(groupings))]
    for place in range(1, last_place + 1):
        here = [number for number, each in enumerate(groupings) if each.is_boundary[place]]
        arrived = {number: states[number].moved(groupings[number], place) for number in here}
        for number, own in arrived.items():
            states[number] = own
            for other, left in arrived.items() if place < last_place else ():
                moved = groupings[other].handed_bytes[place] + groupings[number].handed_bytes[place]
                total = left.cycles + hardware.transfer_cycles(moved, rates[place])
                if total < states[number].cycles:
                    states[number] = _State(total, place, _SegmentLink(number, place, left.link))
    return _segments(min(states, key=lambda state: state.cycles).link, last_place)


class _SegmentLink(NamedTuple):
    """A segment's grouping and first place, and the segment before it."""

    grouping: int
    first: int
    before: _SegmentLink | None


def _segments(link: _SegmentLink | None, last: int) -> tuple[LayerSegment, ...]:
    """The segments in order, followed from the last back to the first."""
    found: list[LayerSegment] = []
    while link is not None:
        found.append(LayerSegment(link.grouping, link.first, last))
        last, link = link.first, link.before
    return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class _State:
    """The cheapest way to a place in one grouping, and its last segment so far."""

    cycles: int
    place: int
    link: _SegmentLink

    def moved(self, grouping: Timed, place: int) -> _State:
        before = grouping.cycles_before
        return _State(self.cycles + before[place] - before[self.place], place, self.link)


def _waiting_rates(graph: LayerGraph, hardware: Hardware) -> list[int]:
    """Per place, bytes per second of the nearest memory that fits all crossing tensors."""
    crossing = _Crossing(graph)
    for tensors in graph.writes:
        for tensor in tensors:
            crossing.add(tensor, graph.tensor_bytes[tensor])
    return [
        hardware.gb_bandwidth if 0 < size <= hardware.gb_bytes else hardware.dram_bandwidth
        for size in crossing.by_place
    ]


def crossover_cuts(
    groupings: Sequence[Timed], segments: Sequence[LayerSegment]
) -> tuple[GroupCut, ...]:
    """The groups of the segments, in topological order."""
    return tuple(
        cut
        for segment in segments
        for cut in groupings[segment.grouping].cuts
        if segment.first <= min(cut.layers) < segment.last
    )
