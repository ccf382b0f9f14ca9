"""SubGraph, layers -> SplitInfo: a split that is updated as layers are added at its end.

A chain is merged layer by layer, and so are the readers of one tensor. Recomputing the split each
time would be quadratic in the layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from graphturbo_core.strategies.graphturbo.live.live_spans import LiveSpans
from graphturbo_core.strategies.layers.carry import Walk, reads_halo
from graphturbo_core.strategies.layers.layer_graph import LayerGraph, LinkedOutput
from graphturbo_core.strategies.steps.splitting import (
    SplitInfo,
    Splitter,
    SubGraph,
    lexicographic,
)

NOWHERE = -2
"""Default for a tensor without an axis here; -1 means that it follows no axis."""


@dataclass
class _CarriedAxes:
    """Result of a legal walk over a sub-graph: the axis of each tensor.

    `main`: the tensor from which the walk began. `illegal`: axes of `main` that no walk carries.
    """

    main: str
    axis_of: dict[str, int]
    inside: set[str]
    read_whole: set[str]
    illegal: set[int]
    source: str | None = None
    """Tensor from which one forward pass reaches all, if the walk from `main` does not."""
    unfit: set[int] = field(default_factory=set)
    """Axes of the source that carry through all and have no fitting count. More layers do not
    change that: the live bytes of a step only grow."""

    def shared(self) -> dict[str, int]:
        """The axis of each tensor that is split: all except `read_whole`."""
        return {t: axis for t, axis in self.axis_of.items() if t not in self.read_whole}


class Growing:
    """The split of a sub-graph that grows at its end.

    Equals the result of `Splitter` with `lexicographic`, or is None where that is not certain. The
    axis must carry over all reads, and the same count must fit. Fewer pieces never fit with more
    layers: tensors that a later layer reads live longer, and none is overwritten sooner.
    """

    def __init__(
        self, splitter: Splitter, part: SubGraph, split: SplitInfo, axes: _CarriedAxes
    ) -> None:
        """A sub-graph, its best split, and the axes that the split follows."""
        self._splitter = splitter
        self._graph = part.graph
        self._split = split
        self._axes = axes
        self._layers = list(part.layers)
        self._live = LiveSpans(part.graph)
        self._live.add(part.layers, self._shares(part.layers))

    def add(self, layers: tuple[int, ...]) -> SplitInfo | None:
        """The split with these later layers added; None: recompute it and discard this object."""
        links, outputs = _links(self._graph, layers), self._graph.outputs_of(layers)
        found = self._carried(links, outputs[-1]) if outputs else None
        if found is None or not self._keeps_count(links, found):
            return None
        self._axes.main = found.main
        self._axes.illegal = found.illegal
        self._axes.axis_of.update(found.axis_of)
        self._axes.inside |= found.inside
        self._axes.read_whole |= found.read_whole
        self._layers += layers
        self._live.add(layers, self._shares(layers))
        if self._live.peak_bytes > self._splitter.capacity_bytes:
            return None
        covered = self._split.covered_ops + len(self._graph.ops_of(layers))
        axis = found.axis_of[found.main]
        self._split = SplitInfo(True, covered, self._split.pieces, axis, self._live.peak_bytes)
        return self._split

    def _carried(self, links: tuple[LinkedOutput, ...], main: str) -> _CarriedAxes | None:
        """Walk along the first axis of `main` that can be split, if that is the axis so far."""
        illegal: set[int] = set()
        for axis in range(len(self._tensor_shape(main))):
            found = _walked(links, main, axis)
            if found is None or self._is_illegal(found):
                illegal.add(axis)
                continue
            if self._is_unfit(links, found):
                continue
            if not found.inside <= found.axis_of.keys():
                return None
            if not self._goes_on(found) and not self._is_beside(links, found):
                return None
            found.illegal = illegal
            return found
        return None

    def _is_illegal(self, found: _CarriedAxes) -> bool:
        """Whether the walk would stop within the existing layers."""
        main = self._axes.main
        return main in found.read_whole or found.axis_of.get(main, -1) in self._axes.illegal

    def _goes_on(self, found: _CarriedAxes) -> bool:
        """Whether the walk reaches the result so far, and all tensors by their present axis."""
        touched = (found.axis_of.keys() | found.read_whole) & self._axes.inside
        is_chain = self._axes.source is None and self._axes.main in touched
        return is_chain and all(
            name not in found.read_whole and found.axis_of[name] == self._axes.axis_of[name]
            for name in touched
        )

    def _is_unfit(self, links: tuple[LinkedOutput, ...], found: _CarriedAxes) -> bool:
        """Whether the walk reaches the other layers along an axis of the source that fits none."""
        source = self._axes.source
        return (
            source is not None
            and not found.read_whole
            and found.axis_of.keys() - found.inside == {source}
            and found.axis_of[source] in self._axes.unfit
            and found.inside <= found.axis_of.keys()
            and _leads_to_all(links, source, found.axis_of)
        )

    def _is_beside(self, links: tuple[LinkedOutput, ...], found: _CarriedAxes) -> bool:
        """Whether new and old layers share inputs, and the new ones read no result of the old.

        A forward pass from a shared input must give every result its present axis. Then the walk
        from the new result reaches all of them: one pass forwards, one backwards.
        """
        axes = self._axes
        touched = found.axis_of.keys() & axes.axis_of.keys()
        if axes.read_whole or found.read_whole or not touched or touched & axes.inside:
            return False
        if any(found.axis_of[name] != axes.axis_of[name] for name in touched):
            return False
        source = axes.source
        if source is None or source not in touched:
            source, axes.unfit = min(touched), set()
            if not _leads_to_all(_links(self._graph, self._layers), source, axes.axis_of):
                return False
        axes.source = source
        return _leads_to_all(links, source, found.axis_of)

    def _keeps_count(self, links: tuple[LinkedOutput, ...], found: _CarriedAxes) -> bool:
        """Whether the count so far is the first candidate that may fit, and divides all axes."""
        pieces, axes = self._split.pieces, self._axes
        if pieces == 1:
            return True
        size = self._tensor_shape(found.main)[found.axis_of[found.main]]
        changed = {
            name
            for name in axes.axis_of.keys() & (found.axis_of.keys() | found.read_whole)
            if (name in axes.read_whole) != (name in found.read_whole)
            or axes.axis_of[name] != found.axis_of.get(name)
        }
        return (
            size == self._tensor_shape(axes.main)[axes.axis_of[axes.main]]
            and not changed
            and _is_plain(self._splitter, links, found)
            and all(
                self._tensor_shape(name)[found.axis_of[name]] % pieces == 0 for name in found.inside
            )
        )

    def _shares(self, layers: tuple[int, ...]) -> dict[str, int]:
        """Bytes of the largest piece of every tensor that these layers read or write."""
        graph, pieces = self._graph, self._split.pieces
        names = {t for i in layers for t in (*graph.reads[i], *graph.writes[i])}
        sizes = {name: graph.tensor_bytes[name] for name in names}
        if pieces == 1:
            return sizes
        for name in names:
            if name not in self._axes.axis_of or name in self._axes.read_whole:
                continue
            extent = self._tensor_shape(name)[self._axes.axis_of[name]]
            sizes[name] = sizes[name] * -(-extent // pieces) // max(1, extent)
        return sizes

    def _tensor_shape(self, name: str) -> tuple[int, ...]:
        return self._graph.semantics.graph.tensors[name].shape


def grow(splitter: Splitter, part: SubGraph, split: SplitInfo) -> Growing | None:
    """Makes an updatable split; None where new layers alone do not determine the result.

    1. The best split is the first possible one (`lexicographic`). 2. One backward walk gives every
    tensor its axis, or one forward pass from an input of the last layer. 3. With several pieces: no
    halo, and the true peak, not the printed form.
    """
    if splitter.best is not lexicographic or not split.is_split:
        return None
    links = _links(part.graph, part.layers)
    axes = _walked(links, part.outputs[-1], split.axis)
    if axes is not None and not axes.inside <= axes.axis_of.keys():
        axes = _spread(links, axes)
    if axes is None:
        return None
    if split.pieces > 1 and not _is_plain(splitter, links, axes):
        return None
    axes.illegal = {axis for axis in range(split.axis) if _walked(links, axes.main, axis) is None}
    if axes.source is not None:
        axes.unfit = _unfit(splitter, part, axes.source, split.axis)
    return Growing(splitter, part, split, axes)


def _spread(links: tuple[LinkedOutput, ...], last: _CarriedAxes) -> _CarriedAxes | None:
    """Axes of readers of one tensor: a forward pass after the walk from the last reader."""
    walk = Walk(last.inside, dict(last.axis_of))
    outside = last.axis_of.keys() - last.inside
    if last.read_whole or not outside or not walk.forwards(links) or not walk.backwards(links):
        return None
    source = min(outside)
    if walk.read_whole or not walk.is_known() or not _leads_to_all(links, source, walk.axis_of):
        return None
    return _CarriedAxes(last.main, walk.axis_of, walk.inside, set(), set(), source)


def _unfit(splitter: Splitter, part: SubGraph, source: str, before: int) -> set[int]:
    """Axes of the source that earlier axes of the last result lead to and that do not fit."""
    links, unfit = _links(part.graph, part.layers), set()
    for found in islice(splitter.splits(part), before):
        carry = splitter.carry(part, found.axis)
        is_full = carry.is_complete and not carry.has_halo and found.pieces == 0
        if is_full and source in carry.axis_of and _leads_to_all(links, source, carry.axis_of):
            unfit.add(carry.axis_of[source])
    return unfit


def _leads_to_all(links: tuple[LinkedOutput, ...], start: str, axis_of: Mapping[str, int]) -> bool:
    """Whether a forward pass from a tensor gives each result its axis, unambiguously.

    It is ambiguous where two axes of a result follow the same axis of an operand.
    """
    walk = Walk(set(), {start: axis_of[start]})
    walk.forwards(links)
    return all(
        walk.axis_of.get(output.tensor, NOWHERE) == axis_of.get(output.tensor)
        and all(link.follows.count(axis_of.get(link.tensor, NOWHERE)) == 1 for link in output.links)
        for output in links
    )


def _links(graph: LayerGraph, layers: Sequence[int]) -> tuple[LinkedOutput, ...]:
    return tuple(output for op in graph.ops_of(layers) for output in graph.links[op])


def _walked(links: tuple[LinkedOutput, ...], main: str, axis: int) -> _CarriedAxes | None:
    """One walk backwards from `main`; None where it is not legal."""
    walk = Walk({output.tensor for output in links}, {main: axis})
    if not walk.backwards(links):
        return None
    return _CarriedAxes(main, walk.axis_of, walk.inside, walk.read_whole, set())


def _is_plain(splitter: Splitter, links: tuple[LinkedOutput, ...], axes: _CarriedAxes) -> bool:
    return not splitter.is_literal_peak and not reads_halo(links, axes.shared())
