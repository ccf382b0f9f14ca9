"""Boxes of a weight, by core -> Fetches: transfers and their receivers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.stages.classes import CoreClasses
from graphturbo_core.lowering.stages.stage import Cut, Operand, Stage, used_shares
from graphturbo_core.semantics.access import AxisMap

Needers = tuple[tuple[int, ...], ...]
"""Per box all cores that need it."""

_Group = tuple[tuple[int, ...], list[tuple[int, ...]]]
"""Simulated cores that one transfer serves; needing cores of its box and of equivalents."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """One transfer of a box, or of several equivalent ones.

    `targets`: the receiving simulated cores, each with its own box. `needers`: all cores that need
    this box, then those of each equivalent box.
    """

    targets: Mapping[int, Box]
    needers: Needers

    @property
    def alike(self) -> int:
        """Number of boxes that it represents."""
        return len(self.needers)


def whole_fetch(stage: Stage, box: Box) -> Fetch:
    """A box that all cores of a stage need."""
    return Fetch(dict.fromkeys(stage.shares, box), (stage.all_cores,))


def fetches(stage: Stage, operand: Operand, boxes: Mapping[int, Box]) -> Mapping[Box, Fetch]:
    """The distinct boxes, sorted; `boxes`: the operand's box that each simulated core needs."""
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
    """Groups equivalent boxes: their lowest cores are of one class, so extents are equal.

    A group is represented by the box that the class's simulated core needs. If a lower core of
    another class needs that box too, the box itself belongs to another group. Memoised by the
    arguments.
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
    """The cores that need each distinct box of a weight, rising; memoised by axes and cut."""
    found: dict[Box, list[int]] = {}
    for core, share in used_shares(cut).items():
        found.setdefault(tuple([axis.interval(share) for axis in axes]), []).append(core)
    return tuple(tuple(sorted(cores)) for cores in found.values())
