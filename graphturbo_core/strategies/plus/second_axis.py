"""Plan -> Cuts: groups whose pieces are cut along two axes, where that saves work or moves.

The paper names one axis per group as a limit (section 5). A piece cut along rows and columns has
less halo than a piece of the same size cut along rows alone. And layers may fit in pieces of two
axes that, along one axis, overflow or become several groups. Our choice: a proposal is simulated
before it is taken.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import NamedTuple

from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.strategies.graphturbo.fitting import held_bytes, section_of
from graphturbo_core.strategies.layers.carry import (
    Carry,
    carry_axis,
    piece_intervals,
    piece_numbers,
)
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.crossover import Timed
from graphturbo_core.strategies.plus.cuts import GroupCut, carry_of
from graphturbo_core.strategies.plus.section_cycles import SectionCycles, handed_in_lb
from graphturbo_core.strategies.steps.instances import Section
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import (
    Span,
    SubGraph,
    carried_sizes,
    divides,
    divisors,
)

ANY_AXES: frozenset[int] = frozenset()
MOST_JOINED = 4
"""Most neighbouring groups merged under two axes (our choice: halos grow with every window, and
each segment of up to this many groups is evaluated)."""


@dataclass(frozen=True)
class CarriedAxis:
    """An axis of the last result that carries through all of a sub-graph."""

    part: SubGraph
    axis: int
    carry: Carry

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The size of each split tensor along it."""
        return carried_sizes(self.part, self.carry)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Candidate parts, rising: above one, and dividing all tensors inside."""
        size = self.sizes[self.part.outputs[-1]]
        return tuple(n for n in divisors(size) if n > 1 and divides(self.part, self.carry, n))

    def extents(self, parts: int) -> dict[str, int]:
        """Largest extent of each split tensor over the parts."""
        if parts not in self._known:
            self._known[parts] = self._extents(parts)
        return self._known[parts]

    @cached_property
    def _known(self) -> dict[int, dict[str, int]]:
        return {}

    def _extents(self, parts: int) -> dict[str, int]:
        found: dict[str, int] = {}
        for piece in piece_numbers(parts) if self.carry.has_halo else (0,):  # else all are equal
            needed = piece_intervals(self.carry, self.sizes, self.part.outputs, parts, piece)
            for tensor, (lo, hi) in needed.items():
                found[tensor] = max(found.get(tensor, 0), hi - lo)
        return found


def carried_axes(part: SubGraph) -> tuple[int, ...]:
    """Axes of the last result that a sub-graph can be cut along, outermost first."""
    return tuple(own.axis for own in axes_of(part))


def axes_of(part: SubGraph) -> tuple[CarriedAxis, ...]:
    """Axes that carry through all of a sub-graph and that some count divides, outermost first."""
    tensors, found = part.graph.semantics.graph.tensors, []
    for axis, size in enumerate(tensors[part.outputs[-1]].shape if part.outputs else ()):
        carry = carry_axis(part.graph, part.ops, part.outputs[-1], axis) if size > 1 else None
        if carry and carry.is_complete and carry.axis_of.keys() >= set(part.outputs):
            found.append(CarriedAxis(part, axis, carry))
    return tuple(own for own in found if own.counts)


Extents = tuple[Mapping[str, int], Mapping[str, int]]
"""Sizes of tensors along an axis, and their largest extents over its parts."""


def piece_bytes(cuts: Iterable[Extents], span: Span) -> int:
    """Bytes of a tensor in the largest piece."""
    size = span.size_bytes
    for sizes, extents in cuts:
        if span.tensor in extents:
            size = size * extents[span.tensor] // max(1, sizes[span.tensor])
    return size


@dataclass(frozen=True, order=True)
class _Trial:
    """Candidate parts of two axes, each by its place; sorted by the order of evaluation."""

    cycles: int
    first: int
    second: int
    parts: int
    place: int


@dataclass(frozen=True)
class Crossed:
    """Layers as one group, cut along two axes."""

    price: SectionCycles
    part: SubGraph
    capacity_bytes: int

    @cached_property
    def axes(self) -> tuple[CarriedAxis, ...]:
        """Axes that carry through all of it and that some count divides, outermost first."""
        return axes_of(self.part)

    def best(
        self, limit_cycles: int, having: frozenset[int] = ANY_AXES
    ) -> tuple[GroupCut, int] | None:
        """Returns the fitting split with the fewest cycles below the limit; None: there is none.

        `having`: axes that must be among its two.

        1. For each count of the second axis, the least count of the first with which the largest
        piece's live activations are within capacity. 2. The cheapest of these first: it is taken
        if every core's part of the middle piece fits its LB. Else the next count of the first axis
        replaces it (our choice: pieces at an end have halos on one side only).
        """
        waiting: list[_Trial] = []
        for first, second in combinations(range(len(self.axes)), 2):
            if not having <= {self.axes[first].axis, self.axes[second].axis}:
                continue
            for parts in self.axes[second].counts:
                waiting += self._trial(first, second, parts, 0)
        heapq.heapify(waiting)
        target = self.price.target
        while waiting and waiting[0].cycles < limit_cycles:
            trial = heapq.heappop(waiting)
            section = self._section(trial)
            held = held_bytes(target, section, (section.middle,))
            if held <= target.budget.lb_data_bytes:
                further = ((self.axes[trial.second].axis, trial.parts),)
                axis = self.axes[trial.first].axis
                return GroupCut(self.part.layers, axis, section.pieces, further), trial.cycles
            for after in self._trial(trial.first, trial.second, trial.parts, trial.place + 1):
                heapq.heappush(waiting, after)
        return None

    def _trial(self, first: int, second: int, parts: int, least: int) -> Iterator[_Trial]:
        """Rule 1 from count `least` on; yields nothing if no count is within capacity."""
        counts = self.axes[first].counts
        for place in range(least, len(counts)):
            if counts[place] * parts > DEFAULT_LIMITS.max_pieces:
                return
            if self.peak_bytes(first, counts[place], second, parts) <= self.capacity_bytes:
                section = self._section(_Trial(0, first, second, parts, place))
                yield _Trial(self.price(section), first, second, parts, place)
                return

    def _section(self, trial: _Trial) -> Section:
        first, second = self.axes[trial.first], self.axes[trial.second]
        pieces = first.counts[trial.place] * trial.parts
        return section_of(self.part, "", first.carry, pieces, [(second.carry, trial.parts)])

    def peak_bytes(self, first: int, count: int, second: int, parts: int) -> int:
        """Peak live activations of a piece, each tensor at its largest extent over the pieces."""
        cuts = [(self.axes[first].sizes, self.axes[first].extents(count))]
        cuts.append((self.axes[second].sizes, self.axes[second].extents(parts)))
        return self.part.peak_bytes(partial(piece_bytes, cuts))


class _Link(NamedTuple):
    """The fewest cycles of the groups so far; the last of them begins at `first`."""

    cycles: int
    first: int
    cut: GroupCut | None


def _followed(links: Sequence[_Link]) -> tuple[GroupCut, ...]:
    """The groups, from the last link back to the first."""
    found, link = [], links[-1]
    while link.cut is not None:
        found.append(link.cut)
        link = links[link.first]
    return tuple(reversed(found))


@dataclass(frozen=True)
class SecondAxis:
    """A simulated plan, and the choice of its groups to cut along two axes."""

    target: Target
    timed: Timed
    capacity_bytes: int

    @property
    def graph(self) -> LayerGraph:
        """The layers."""
        return self.timed.graph

    def cheapest(self, least_gain: int = 0) -> tuple[GroupCut, ...]:
        """Returns the groups in order with the least sum of cycles.

        A group is unchanged, with its simulated cycles. Or up to `MOST_JOINED` neighbours become
        one group cut along two axes, if `is_wanting` holds for one of them. Their simulated cycles
        are then scaled by the ratio of the closed forms. Ties: unchanged. Returns the plan's own
        groups if the gain is at most `least_gain` cycles.
        """
        cuts = self.timed.cuts
        if not any(self._wanting):
            return cuts
        best = [_Link(0, 0, None)]
        for last in range(1, len(cuts) + 1):
            best.append(min(self._ways(best, last), key=lambda way: way.cycles))
        return _followed(best) if sum(self._took) - best[-1].cycles > least_gain else cuts

    def _ways(self, best: Sequence[_Link], last: int) -> Iterator[_Link]:
        """Ways to the end of the group before `last`: unchanged, then joined with others."""
        yield _Link(best[-1].cycles + self._took[last - 1], last - 1, self.timed.cuts[last - 1])
        for first in range(last - 1, max(-1, last - 1 - MOST_JOINED), -1):
            made = self._crossed(first, last) if any(self._wanting[first:last]) else None
            if made is not None:
                cut, cycles = made
                yield _Link(best[first].cycles + cycles, first, cut)

    def _crossed(self, first: int, last: int) -> tuple[GroupCut, int] | None:
        """The groups from `first` to before `last` as one; None if no gain is estimated."""
        layers = tuple(sorted(n for cut in self.timed.cuts[first:last] for n in cut.layers))
        part, old = SubGraph(self.graph, layers), sum(self._estimates[first:last])
        key = part.likeness, old
        if key not in self._known:
            self._known[key] = Crossed(self._price, part, self.capacity_bytes).best(old)
        found = self._known[key]
        if found is None:
            return None
        return replace(found[0], layers=layers), sum(self._took[first:last]) * found[1] // old

    @cached_property
    def _known(self) -> dict[tuple[Hashable, int], tuple[GroupCut, int] | None]:
        """Results memoised by the sub-graph's template and its present cycles."""
        return {}

    @cached_property
    def _price(self) -> SectionCycles:
        return SectionCycles(self.target)

    @cached_property
    def _took(self) -> Sequence[int]:
        """Simulated cycles of each group's kernels."""
        took = [0] * len(self.timed.cuts)
        for kernel, cycles in zip(self.timed.plan.kernels, self.timed.kernel_cycles, strict=True):
            took[kernel.group] += cycles
        return took

    @cached_property
    def _estimates(self) -> Sequence[int]:
        """Closed-form cycles of each group, unchanged."""
        handed = handed_in_lb(self.timed.plan)
        return [self._price.of_cut(self.graph, cut, handed) for cut in self.timed.cuts]

    @cached_property
    def _wanting(self) -> Sequence[bool]:
        parts = ((SubGraph(self.graph, cut.layers), cut) for cut in self.timed.cuts)
        return [is_wanting(part, cut, self.capacity_bytes) for part, cut in parts]


def is_wanting(part: SubGraph, cut: GroupCut, capacity_bytes: int) -> bool:
    """Whether a second axis may help a group; other groups are not evaluated.

    1. It has no split axis and exceeds the cores. 2. Its pieces have halos. 3. Its axis is cut at
    the largest count.
    """
    if cut.axis < 0:
        return part.whole_peak_bytes > capacity_bytes
    carry = carry_of(part, cut)
    is_at_end = cut.pieces == carried_sizes(part, carry)[part.outputs[-1]]
    return cut.pieces > 1 and not cut.further and (carry.has_halo or is_at_end)
