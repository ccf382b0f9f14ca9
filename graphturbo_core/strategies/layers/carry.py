"""LayerGraph -> Carry: the axis of each tensor that follows one axis of a sub-graph's result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from graphturbo_core.ir.boxes import Interval, part_of
from graphturbo_core.semantics.access import AxisKind, AxisMap
from graphturbo_core.strategies.layers.layer_graph import AxisLink, LayerGraph, LinkedOutput

EXACT_PIECES = 4
"""Up to this piece count all pieces are evaluated; above it the first, middle and last."""

KEPT_MAPS = 4096
"""Cached maps of one axis, over all models (our choice: a model has some dozens)."""


@dataclass(frozen=True)
class Carry:
    """The axis of each tensor that corresponds to one axis of the sub-graph's last result.

    `axis_of`: tensors computed inside, and those read from outside that split along.
    `is_complete`: every tensor inside has such an axis; for a carry to the outputs, every output.
    `covered_ops`: ops reached before the first tensor without one. `has_halo`: some read exceeds
    the tensor's own share.
    """

    axis_of: Mapping[str, int]
    is_complete: bool
    covered_ops: int
    has_halo: bool
    links: tuple[LinkedOutput, ...] = field(repr=False)

    def intervals(self, outputs: Mapping[str, Interval]) -> dict[str, Interval]:
        """Interval that a piece needs of each split tensor, for given output intervals."""
        needed = dict(outputs)
        for tensor, follow in self._followed:
            wanted = needed.get(tensor)
            if wanted is None:
                continue
            for name, axis in follow:
                interval = axis.interval((wanted,))
                known = needed.get(name)
                if known is None or known == interval:
                    needed[name] = interval
                else:
                    needed[name] = min(known[0], interval[0]), max(known[1], interval[1])
        return needed

    @cached_property
    def _followed(self) -> tuple[tuple[str, tuple[tuple[str, AxisMap], ...]], ...]:
        """Results with an axis, last first: the operands that have one, and how theirs follows."""
        return tuple(
            (
                output.tensor,
                tuple(
                    (link.tensor, _of_interval(link.maps[own], self.axis_of[output.tensor]))
                    for link in output.links
                    if (own := self.axis_of.get(link.tensor, -1)) >= 0
                ),
            )
            for output in reversed(self.links)
            if output.tensor in self.axis_of
        )


@lru_cache(maxsize=KEPT_MAPS)
def _of_interval(axis: AxisMap, followed: int) -> AxisMap:
    """The map of an interval of one axis: as a box that is empty along all others."""
    if axis.out_axis < 0 or axis.out_axis == followed:
        return axis.alone
    return AxisMap(AxisKind.SAME, 0, 0)  # of no elements, so every interval of it is empty


def carry_axis(layers: LayerGraph, ops: Sequence[str], main: str, axis: int) -> Carry:
    """Follow `axis` of `main` through all of `ops`, backwards and, to siblings, forwards.

    A tensor inside must have an axis of kind same, window, permuted or grouped. An outside tensor
    with none, or two, is read whole (reference, 3.1). Linear in the reads times the number of
    alternating passes, which is one if all results lead to `main`.
    """
    links = tuple(output for op in ops for output in layers.links[op])
    walk = Walk({output.tensor for output in links}, {main: axis})
    while walk.backwards(links) and not walk.is_known() and walk.forwards(links):
        pass
    is_complete = walk.is_legal and walk.is_known()
    reached = sum(all(output.tensor in walk.axis_of for output in layers.links[op]) for op in ops)
    axis_of = {t: a for t, a in walk.axis_of.items() if t not in walk.read_whole}
    return Carry(axis_of, is_complete, reached, reads_halo(links, axis_of), links)


def carry_to_outputs(
    layers: LayerGraph, ops: Sequence[str], outputs: Sequence[str], axis: int
) -> Carry:
    """Follow `axis` of the last output as far as it carries; pieces compute the rest whole.

    Algorithm 1's coverage as printed (reference, 3.1): ops whose results have no such axis, and
    their producers, are not split; only the outputs must be. Complete if they are. Linear in the
    reads times the number of outputs that no backward walk reaches.
    """
    links = tuple(output for op in ops for output in layers.links[op])
    seeds = {outputs[-1]: axis}
    while True:
        walk = PartialWalk({output.tensor for output in links}, dict(seeds))
        walk.backwards(links)
        while not all(tensor in walk.axis_of for tensor in outputs) and walk.forwards(links):
            pass
        reached = {t: walk.axis_of[t] for t in outputs if t in walk.axis_of}
        if reached.keys() == seeds.keys() or not reached.keys() - walk.read_whole:
            break
        seeds = reached
    axis_of = {t: a for t, a in walk.axis_of.items() if t not in walk.read_whole}
    covered = sum(all(output.tensor in axis_of for output in layers.links[op]) for op in ops)
    is_complete = all(tensor in axis_of for tensor in outputs)
    return Carry(axis_of, is_complete, covered, reads_halo(links, axis_of), links)


def split_carry(layers: LayerGraph, ops: Sequence[str], outputs: Sequence[str], axis: int) -> Carry:
    """Carry of a decided split axis: through all tensors, else to the outputs."""
    carry = carry_axis(layers, ops, outputs[-1], axis)
    return carry if carry.is_complete else carry_to_outputs(layers, ops, outputs, axis)


class Walk:
    """Walk that maps tensors to axes; illegal from the first tensor without an axis."""

    def __init__(self, inside: set[str], axis_of: dict[str, int]) -> None:
        """Start from `axis_of`; `inside`: tensors that must have an axis."""
        self.inside, self.axis_of = inside, axis_of
        self.read_whole: set[str] = set()
        self.is_legal = True

    def is_known(self) -> bool:
        """Whether every tensor inside has its axis."""
        return all(tensor in self.axis_of for tensor in self.inside)

    def backwards(self, links: tuple[LinkedOutput, ...]) -> bool:
        """Hand axes from results to operands; returns whether the walk is still legal."""
        for output in reversed(links):
            axis = self.axis_of.get(output.tensor)
            if axis is None:
                continue
            if axis in output.uncut:
                self.is_legal = False
            for link in output.links:
                if not self.is_legal:
                    return False
                self.is_legal = self._hand_down(link, axis)
            if not self.is_legal:
                return False
        return True

    def _hand_down(self, link: AxisLink, axis: int) -> bool:
        own = link.follows[axis]
        is_same = self.axis_of.setdefault(link.tensor, own) == own if own >= 0 else False
        if link.tensor not in self.inside and not is_same:
            self.read_whole.add(link.tensor)
            return True
        return is_same

    def forwards(self, links: tuple[LinkedOutput, ...]) -> bool:
        """Hand axes from operands to results without one; returns whether any was added."""
        found = False
        for output in links:
            if output.tensor in self.axis_of:
                continue
            for link in output.links:
                own = self.axis_of.get(link.tensor, -1)
                if own >= 0 and own in link.follows:
                    self.axis_of[output.tensor] = link.follows.index(own)
                    found = True
                    break
        return found


class PartialWalk(Walk):
    """A walk that continues where an axis ends; `read_whole`: tensors whole in every piece."""

    def backwards(self, links: tuple[LinkedOutput, ...]) -> bool:
        """Hand axes from results to operands; a tensor with differing readers is whole."""
        for output in reversed(links):
            axis = self.axis_of.get(output.tensor)
            if axis is None and output.tensor not in self.read_whole:
                continue
            if axis is None or axis in output.uncut:
                self.read_whole.add(output.tensor)
            is_whole = output.tensor in self.read_whole
            for link in output.links:
                own = -1 if axis is None or is_whole else link.follows[axis]
                if own < 0 or self.axis_of.setdefault(link.tensor, own) != own:
                    self.read_whole.add(link.tensor)
        return True


def reads_halo(links: tuple[LinkedOutput, ...], axis_of: Mapping[str, int]) -> bool:
    """Whether some read along these axes exceeds the tensor's own share."""
    plain = (AxisKind.SAME, AxisKind.PERMUTED)
    return any(
        link.maps[axis_of[link.tensor]].kind not in plain
        for output in links
        for link in output.links
        if link.tensor in axis_of
    )


def piece_numbers(pieces: int) -> tuple[int, ...]:
    """Returns the pieces that may be the largest.

    All pieces up to a limit; else the first, the middle and the last: inner pieces have equal
    extents, and a halo clipped at an end is whole in the middle.
    """
    return tuple(range(pieces)) if pieces <= EXACT_PIECES else (0, pieces // 2, pieces - 1)


def piece_intervals(
    carry: Carry, sizes: Mapping[str, int], outputs: Sequence[str], pieces: int, piece: int
) -> dict[str, Interval]:
    """The interval of each split tensor in one piece; `sizes` along the carried axis."""
    return carry.intervals({t: part_of((0, sizes[t]), pieces, piece) for t in outputs})
