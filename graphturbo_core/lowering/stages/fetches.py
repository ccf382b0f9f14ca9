"""Boxes of a weight, by core -> Fetches: which transfers bring them, and to whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.stages.classes import CoreClasses
from graphturbo_core.lowering.stages.stage import Cut, Operand, Stage, used_shares
from graphturbo_core.semantics.access import AxisMap

Needers = tuple[tuple[int, ...], ...]
"""Of each of several boxes all cores that need it."""

_Group = tuple[tuple[int, ...], list[tuple[int, ...]]]
"""Simulated cores that one transfer serves; the cores that need its box, and those alike."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """One transfer of a box, or of several that are alike.

    `targets`: the simulated cores that get one, each with its own box. `needers`: of this box, then
    of each that is alike, all cores that need it.
    """

    targets: Mapping[int, Box]
    needers: Needers

    @property
    def alike(self) -> int:
        """How many boxes it stands for."""
        return len(self.needers)


def whole_fetch(stage: Stage, box: Box) -> Fetch:
    """A box that all cores of a stage need."""
    return Fetch(dict.fromkeys(stage.shares, box), (stage.all_cores,))


def fetches(stage: Stage, operand: Operand, boxes: Mapping[int, Box]) -> Mapping[Box, Fetch]:
    """The distinct boxes, sorted; `boxes`: what each simulated core needs of the operand now."""
    groups = _groups(stage, operand, boxes)
    needers: dict[Box, list[tuple[int, ...]]] = {}
    targets: dict[Box, dict[int, Box]] = {}
    for cores, group in groups:
        box = boxes[group[0][0]]
        needers.setdefault(box, []).extend(group)
        targets.setdefault(box, {}).update((core, boxes[core]) for core in cores)
    return {box: Fetch(targets[box], tuple(needers[box])) for box in sorted(needers)}


def _groups(stage: Stage, operand: Operand, boxes: Mapping[int, Box]) -> list[_Group]:
    if stage.classes is not None:
        return list(_alike(operand.access.axes, stage.cut, frozenset(boxes), stage.classes))
    cores: dict[Box, list[int]] = {}
    for core, box in boxes.items():
        cores.setdefault(box, []).append(core)
    return [(tuple(sorted(some)), [tuple(sorted(some))]) for some in cores.values()]


@lru_cache(maxsize=1024)
def _alike(
    axes: tuple[AxisMap, ...], cut: Cut, present: frozenset[int], classes: CoreClasses
) -> tuple[_Group, ...]:
    """Boxes whose lowest cores are of one class are alike: they have the same extents.

    The box that stands for them is the one which the core that stands for the class needs; where a
    lower core of another class needs that one too, it is itself alike to another. Kept, since items
    of a stage and layers of a model are alike.
    """
    shares = _needers(axes, cut)
    all_needers = [
        tuple(core for core in cores if classes.leader(core) in present) for cores in shares
    ]
    needers = [cores for cores in all_needers if cores]
    place = {core: at for at, cores in enumerate(needers) for core in cores}
    roots: list[int] = []
    for at in range(len(needers)):
        root = at
        while (leader := classes.leader(needers[root][0])) != needers[root][0]:
            root = place[leader]
        roots.append(root)
    alike: dict[int, list[tuple[int, ...]]] = {}
    for at in sorted(range(len(needers)), key=lambda at: (roots[at], at != roots[at], at)):
        alike.setdefault(roots[at], []).append(needers[at])
    served: dict[int, list[int]] = {root: [] for root in alike}
    for core in sorted(present):
        served[roots[place[core]]].append(core)
    return tuple((tuple(served[root]), group) for root, group in alike.items())


@lru_cache(maxsize=512)
def _needers(axes: tuple[AxisMap, ...], cut: Cut) -> Needers:
    """The cores that need each distinct box of a weight, rising; kept, as layers are alike."""
    found: dict[Box, list[int]] = {}
    for core, share in used_shares(cut).items():
        found.setdefault(tuple([axis.interval(share) for axis in axes]), []).append(core)
    return tuple(tuple(sorted(cores)) for cores in found.values())
