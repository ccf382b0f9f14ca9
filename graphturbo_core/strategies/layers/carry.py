"""LayerGraph -> Carry: where one axis of a sub-graph's result lies in each of its tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graphturbo_core.ir.boxes import Interval, part_of
from graphturbo_core.semantics.access import AxisKind
from graphturbo_core.strategies.layers.layer_graph import AxisLink, LayerGraph, LinkedOutput

EXACT_PIECES = 4
"""Up to this many pieces each is looked at; above, the first, the middle and the last one."""


@dataclass(frozen=True)
class Carry:
    """The axis of each tensor that corresponds to one axis of the sub-graph's last result.

    `axis_of`: tensors computed inside, and those read from outside that split along.
    `is_complete`: every tensor inside has such an axis, or, of a carry to the outputs, each output.
    `covered_ops`: ops reached before one had none. `has_halo`: some read is more than the tensor's
    own share.
    """

    axis_of: Mapping[str, int]
    is_complete: bool
    covered_ops: int
    has_halo: bool
    links: tuple[LinkedOutput, ...] = field(repr=False)

    def intervals(self, outputs: Mapping[str, Interval]) -> dict[str, Interval]:
        """What a piece needs of each split tensor along its axis, for wanted output intervals."""
        needed = dict(outputs)
        for output in reversed(self.links):
            if output.tensor not in needed:
                continue
            axis = self.axis_of[output.tensor]
            for link in output.links:
                own = self.axis_of.get(link.tensor, -1)
                if own >= 0:
                    interval = _through(link, own, axis, needed[output.tensor])
                    known = needed.get(link.tensor, interval)
                    needed[link.tensor] = min(known[0], interval[0]), max(known[1], interval[1])
        return needed


def _through(link: AxisLink, own: int, axis: int, wanted: Interval) -> Interval:
    box = [(0, 0)] * len(link.follows)
    box[axis] = wanted
    return link.maps[own].interval(tuple(box))


def carry_axis(layers: LayerGraph, ops: Sequence[str], main: str, axis: int) -> Carry:
    """Follow `axis` of `main` through all of `ops`, backwards and, to siblings, forwards.

    A tensor inside must have an axis of kind same, window, permuted or grouped; a tensor from
    outside that has none, or two, is read whole (reference, 3.1). Linear in the reads times the
    number of turns between backwards and forwards, which is one where all results lead to `main`.
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
    """Follow `axis` of the last output as far as it goes, for pieces that compute the rest whole.

    Algorithm 1's coverage as it is printed (reference, 3.1): ops whose results have no such axis,
    and all that these are made of, are not split; only the outputs must be. Complete where they
    are. Linear in the reads times the number of outputs that no walk backwards reaches.
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
    """How the axis of a split that was decided carries: through all, else to the outputs."""
    carry = carry_axis(layers, ops, outputs[-1], axis)
    return carry if carry.is_complete else carry_to_outputs(layers, ops, outputs, axis)


class Walk:
    """The growing map tensor -> axis; stops being legal at the first tensor without an axis."""

    def __init__(self, inside: set[str], axis_of: dict[str, int]) -> None:
        """Start from `axis_of`; `inside`: tensors that must have an axis."""
        self.inside, self.axis_of = inside, axis_of
        self.read_whole: set[str] = set()
        self.is_legal = True

    def is_known(self) -> bool:
        """Whether every tensor inside has its axis."""
        return all(tensor in self.axis_of for tensor in self.inside)

    def backwards(self, links: tuple[LinkedOutput, ...]) -> bool:
        """Hand axes from results to operands; whether all is legal still."""
        for output in reversed(links):
            axis = self.axis_of.get(output.tensor)
            if axis is None:
                continue
            self.is_legal = axis not in output.uncut and all(
                self._hand_down(link, axis) for link in output.links
            )
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
        """Hand axes from operands to results that have none; whether one was found."""
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
    """A walk that goes on where an axis ends; `read_whole`: tensors that every piece has whole."""

    def backwards(self, links: tuple[LinkedOutput, ...]) -> bool:
        """Hand axes from results to operands; what one reader wants whole or otherwise is whole."""
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
    """Whether some read along these axes is more than the tensor's own share."""
    plain = (AxisKind.SAME, AxisKind.PERMUTED)
    return any(
        link.maps[axis_of[link.tensor]].kind not in plain
        for output in links
        for link in output.links
        if link.tensor in axis_of
    )


def piece_numbers(pieces: int) -> tuple[int, ...]:
    """The pieces to look at for the largest one.

    All of few; else the first, the middle and the last: pieces between the ends have the same
    extents, and a halo that an end clips is whole in the middle.
    """
    return tuple(range(pieces)) if pieces <= EXACT_PIECES else (0, pieces // 2, pieces - 1)


def piece_intervals(
    carry: Carry, sizes: Mapping[str, int], outputs: Sequence[str], pieces: int, piece: int
) -> dict[str, Interval]:
    """The interval of each split tensor in one piece; `sizes` along the carried axis."""
    return carry.intervals({t: part_of((0, sizes[t]), pieces, piece) for t in outputs})
