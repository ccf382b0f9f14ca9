"""Operands of a stage -> those that a part of its output may read, without asking each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Generic, TypeVar

from graphturbo_core.ir.boxes import Box, BoxIndex, is_empty
from graphturbo_core.lowering.stages.stage import Operand, Stage

FEW = 16
"""Up to so many groups are all listed (our choice: an index of few takes longer than it saves)."""

_ANY = (-(1 << 62), 1 << 62)
"""Bound of an axis without one."""

_Group = TypeVar("_Group")


class Reached(Generic[_Group]):
    """Groups of operands, by the part of the stage's output for which they are read.

    A concatenation of thousands of tensors reads few of them per tile. A group of several operands
    is always listed, and so is one without a bound on any axis.
    """

    def __init__(
        self, stage: Stage, groups: Sequence[_Group], operands: Sequence[Sequence[Operand]]
    ) -> None:
        """`operands`: those of each group."""
        self._rank = len(stage.box)
        self._groups = groups
        self._operands = operands

    def by(self, box: Box) -> Sequence[_Group]:
        """The groups that a box of the output may read, in order."""
        if len(self._groups) <= FEW:
            return self._groups
        always, places, index = self._index
        found = sorted((*always, *(places[at] for at in index.meeting(box))))
        return [self._groups[place] for place in found]

    @cached_property
    def _index(self) -> tuple[list[int], list[int], BoxIndex]:
        """Groups that are always listed; the others, and their boxes."""
        boxes = [_reach(operands, self._rank) for operands in self._operands]
        always = [place for place, box in enumerate(boxes) if box is None]
        places = [place for place, box in enumerate(boxes) if box is not None]
        return always, places, BoxIndex([box for box in boxes if box is not None])


def _reach(operands: Sequence[Operand], rank: int) -> Box | None:
    """The part of the output for which a group is read; None: no axis has a bound."""
    if len(operands) != 1:
        return None
    bounds = {axis.out_axis: axis.reach for axis in operands[0].access.axes}
    found = tuple(bounds.get(axis) or _ANY for axis in range(rank))
    return None if is_empty(found) or all(bound == _ANY for bound in found) else found
