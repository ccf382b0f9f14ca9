"""Sub-graph -> SplitInfo: the axis and piece count with which it fits the cores.

Algorithm 1 of GraphTurbo (OSDI 2023), as the reference page reconstructs it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from math import isqrt

from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.semantics.kinds import by_place
from graphturbo_core.strategies.layers.carry import (
    Carry,
    carry_axis,
    carry_to_outputs,
    piece_intervals,
    piece_numbers,
)
from graphturbo_core.strategies.layers.layer_graph import LayerGraph

LITERAL_CANDIDATES = (1, 2, 4)
"""Start of the paper's printed list; from 8 on the list has every integer."""

LITERAL_FROM = 8

MOST_TIMES_PIECES = 16
"""Times as many pieces as the bytes need, at most, along an axis without halos that is not asked
for (our choice: 197 tokens have no divisor but 1 and 197, where two pieces would do). Single rows
of a map, with halos, gain: without them Inception-v3 is 1 to 3 % slower on `generic-4x4`."""

MOST_PARTIAL_OPS = 1024
"""Larger sub-graphs are split only along axes that carry through all of them (our choice: a partial
carry is recomputed per merge, quadratic in the length of a chain)."""


@dataclass(frozen=True, slots=True)
class SplitInfo:
    """The paper's quadruple (split_d, n_d, f_d, d), and the peak of the largest piece."""

    is_split: bool
    covered_ops: int
    pieces: int
    axis: int
    peak_bytes: int


Best = Callable[[Iterable[SplitInfo], int], SplitInfo | None]
"""Eq. 1: picks the best quadruple of a sub-graph with this many ops, one per axis."""

Candidates = Callable[[int], Sequence[int]]
"""Candidate piece counts for an axis of this size, rising."""


@lru_cache(maxsize=4096)
def divisors(size: int, most: int = DEFAULT_LIMITS.max_pieces) -> tuple[int, ...]:
    """All divisors in rising order, up to `most`.

    Our choice: the printed list never finds 3 pieces for 3 samples and may pick a count that does
    not divide (reference, 3.1).
    """
    low = [number for number in range(1, isqrt(size) + 1) if size % number == 0]
    every = {*low, *(size // number for number in low)}
    return tuple(sorted(number for number in every if number <= most))


@lru_cache(maxsize=4096)
def literal_candidates(size: int, most: int = DEFAULT_LIMITS.max_pieces) -> tuple[int, ...]:
    """1, 2, 4, 8, 9, 10, ... as printed in Algorithm 1, up to the size or `most`."""
    first = (count for count in LITERAL_CANDIDATES if count <= size)
    return (*first, *range(LITERAL_FROM, min(size, most) + 1))


def lexicographic(splits: Iterable[SplitInfo], ops: int) -> SplitInfo | None:
    """Order: split possible, most ops covered, outermost axis, fewest pieces.

    Our choice: the text of Eq. 1 is unknown. Axes come outermost first, so the first one that
    covers all ops wins and the others are not computed.
    """
    best: SplitInfo | None = None
    for split in splits:
        if not split.is_split:
            continue
        if split.covered_ops >= ops:
            return split
        if best is None or split.covered_ops > best.covered_ops:
            best = split
    return best


def fewest_pieces(splits: Iterable[SplitInfo], ops: int) -> SplitInfo | None:
    """Order: split possible, fewest pieces, most ops covered, outermost axis.

    An option, to show why it is not the default: 14 rows beat 16 samples (reference, 3.2).
    """
    possible = [split for split in splits if split.is_split]
    key = [(split.pieces, -split.covered_ops, split.axis) for split in possible]
    return possible[key.index(min(key))] if possible else None


@dataclass(frozen=True, slots=True)
class Span:
    """A tensor between layers, live from step `first` to step `last` of a sub-graph."""

    tensor: str
    first: int
    last: int
    size_bytes: int


@dataclass(frozen=True)
class SubGraph:
    """Layers of a `LayerGraph` in topological order, as one unit."""

    graph: LayerGraph
    layers: tuple[int, ...]

    @cached_property
    def ops(self) -> tuple[str, ...]:
        """Its ops, layer by layer."""
        return self.graph.ops_of(self.layers)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Its outputs; split axes are numbered by the last one."""
        return self.graph.outputs_of(self.layers)

    @cached_property
    def likeness(self) -> Hashable:
        """Template key: equal for parts of a model that differ by names alone.

        Ops by kind and layer; which tensors are its outputs, and which are the model's.
        """
        graph = self.graph.semantics.graph
        place, ops = by_place(
            self.graph.semantics.kinds, [graph.op_by_name[name] for name in self.ops]
        )
        own = (*graph.inputs, *graph.output_names)
        return (
            ops,
            tuple(len(self.graph.ops_of((layer,))) for layer in self.layers),
            tuple(place[name] for name in self.outputs),
            tuple(sorted(place[name] for name in own if name in place)),
        )

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """Lifetimes of the tensors between layers; step i runs the i-th layer.

        Our choice (reference, 3.1): inputs live from the start to their last use, results to the
        end. An elementwise layer overwrites an operand of its size that it reads last.
        """
        first, last = self._first_and_last()
        outputs = set(self.outputs)
        for step, layer in enumerate(self.layers):
            if not self.graph.is_in_place[layer]:
                continue
            dying = self._overwritten(
                layer, [t for t in self.graph.reads[layer] if last[t] == step and t not in outputs]
            )
            if dying:
                last[dying] = step - 1
        size = self.graph.tensor_bytes
        return tuple(Span(t, first[t], last[t], size[t]) for t in first if last[t] >= first[t])

    def _first_and_last(self) -> tuple[dict[str, int], dict[str, int]]:
        first: dict[str, int] = {}
        last: dict[str, int] = {}
        for step, layer in enumerate(self.layers):
            for tensor in self.graph.reads[layer]:
                first.setdefault(tensor, 0)
                last[tensor] = step
            for tensor in self.graph.writes[layer]:
                first[tensor] = last[tensor] = step
        last.update(dict.fromkeys(self.outputs, len(self.layers) - 1))
        return first, last

    def _overwritten(self, layer: int, dying: Sequence[str]) -> str | None:
        size = self.graph.tensor_bytes
        results = self.graph.writes[layer]
        return next((t for t in dying if len(results) == 1 and size[t] == size[results[0]]), None)

    def live_bytes(self, share: Callable[[Span], int]) -> tuple[int, ...]:
        """Per step, the sum of `share` of the live tensors, in bytes."""
        change = [0] * (len(self.layers) + 1)
        for span in self.spans:
            size = share(span)
            change[span.first] += size
            change[span.last + 1] -= size
        return tuple(accumulate(change[:-1]))

    def peak_bytes(self, share: Callable[[Span], int]) -> int:
        """The largest sum over the steps of `share` of the live tensors, in bytes."""
        return max(self.live_bytes(share), default=0)

    @cached_property
    def whole_peak_bytes(self) -> int:
        """Peak of live activations before splitting."""
        return self.peak_bytes(lambda span: span.size_bytes)


@dataclass(frozen=True)
class Splitter:
    """Algorithm 1 with its open choices.

    `is_literal_peak`: ceil(peak / pieces) as printed. Else (our choice) the true peak of the
    largest piece, with halos and with operands that are not split: the printed form ignores both.
    `is_partial`: an axis must carry only to the outputs, as printed; Eq. 1 then chooses by covered
    ops. Else (our choice) it must carry through every tensor inside. `axis`: the only candidate, if
    a plan file names it.
    """

    capacity_bytes: int
    candidates: Candidates = divisors
    best: Best = lexicographic
    is_literal_peak: bool = False
    is_partial: bool = False
    axis: int | None = None

    def __call__(self, part: SubGraph) -> SplitInfo | None:
        """The best split of a sub-graph by Eq. 1; None if no axis fits."""
        return self.best(self.splits(part), len(part.ops))

    def splits(self, part: SubGraph) -> Iterator[SplitInfo]:
        """The quadruple of every axis of the last output, outermost first, computed lazily."""
        if not part.outputs:
            return
        shape = part.graph.semantics.graph.tensors[part.outputs[-1]].shape
        for axis, size in enumerate(shape):
            if self.axis not in (None, axis):
                continue
            yield self._split(part, self.carry(part, axis), axis, size)

    def carry(self, part: SubGraph, axis: int) -> Carry:
        """Carry of an axis of the last output, as far as `is_partial` requires."""
        is_partial = self.is_partial and len(part.ops) <= MOST_PARTIAL_OPS
        whole = carry_axis(part.graph, part.ops, part.outputs[-1], axis)
        if whole.is_complete or not is_partial:
            return whole
        return carry_to_outputs(part.graph, part.ops, part.outputs, axis)

    def _split(self, part: SubGraph, carry: Carry, axis: int, size: int) -> SplitInfo:
        """Split along one axis: the first fitting count; split_d is 0 where the axis ends (3.1)."""
        if not carry.is_complete:
            return SplitInfo(False, carry.covered_ops, 0, axis, 0)
        for pieces in self.candidates(size):
            peak = self.piece_peak_bytes(part, carry, pieces)
            if peak <= self.capacity_bytes:
                is_split = divides(part, carry, pieces) and self._is_worth(part, carry, pieces)
                return SplitInfo(is_split, carry.covered_ops, pieces, axis, peak)
        return SplitInfo(False, carry.covered_ops, 0, axis, 0)

    def _is_worth(self, part: SubGraph, carry: Carry, pieces: int) -> bool:
        """Whether these are not many times the pieces that the bytes need."""
        if self.axis is not None or carry.has_halo:
            return True
        needed = -(-part.whole_peak_bytes // max(1, self.capacity_bytes))
        return pieces <= MOST_TIMES_PIECES * max(1, needed)

    def piece_peak_bytes(self, part: SubGraph, carry: Carry, pieces: int) -> int:
        """Peak live activations of the largest piece at this count, literal or true."""
        if self.is_literal_peak or pieces == 1:
            return -(-part.whole_peak_bytes // pieces)
        sizes = carried_sizes(part, carry)
        if not carry.has_halo:
            extents = {t: -(-size // pieces) for t, size in sizes.items()}
            return _peak(part, sizes, extents)
        return max(
            _peak(part, sizes, {t: hi - lo for t, (lo, hi) in intervals.items()})
            for intervals in (
                piece_intervals(carry, sizes, part.outputs, pieces, piece)
                for piece in piece_numbers(pieces)
            )
        )


def _peak(part: SubGraph, sizes: Mapping[str, int], extents: Mapping[str, int]) -> int:
    def share(span: Span) -> int:
        extent = extents.get(span.tensor)
        if extent is None:
            return span.size_bytes
        return span.size_bytes * extent // max(1, sizes[span.tensor])

    return part.peak_bytes(share)


def carried_sizes(part: SubGraph, carry: Carry) -> dict[str, int]:
    """The size of each split tensor along the carried axis."""
    tensors = part.graph.semantics.graph.tensors
    return {tensor: tensors[tensor].shape[axis] for tensor, axis in carry.axis_of.items()}


def divides(part: SubGraph, carry: Carry, pieces: int) -> bool:
    """Whether the count divides the carried axis of every tensor inside that has one."""
    tensors = part.graph.semantics.graph.tensors
    return all(
        tensors[output.tensor].shape[carry.axis_of[output.tensor]] % pieces == 0
        for output in carry.links
        if output.tensor in carry.axis_of
    )
