"""Region: the part of a tensor that outputs need, as a union of products of places.

A region is exact up to `MOST_PARTS` disjoint products. Beyond that, or where the read places depend
on data, it is a lower bound: some places, and a number of elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from graphturbo_core.errors import CapacityError
from graphturbo_core.report.bounds.places import Places, is_same, shared, united, without

Need = tuple[Places, ...]
"""Product of places: rising places per axis."""

MOST_PARTS = 32
"""Most disjoint products of a region (our choice: exports of transformers need four)."""
MOST_STEPS = 16 * MOST_PARTS
"""Most comparisons of products in a union; after them the region is inexact (our choice)."""


@dataclass(frozen=True)
class Region:
    """Needed elements of a tensor.

    `parts`: disjoint products, all needed. `elements`: lower bound of the needed elements; it
    exceeds the parts where further elements at unknown places are needed. `is_exact`: nothing
    outside the parts is needed.
    """

    parts: tuple[Need, ...]
    elements: int
    is_exact: bool = True

    @property
    def listed(self) -> int:
        """Elements of the parts."""
        return sum(map(size_of, self.parts))


def size_of(need: Need) -> int:
    """Elements of a product of places."""
    return prod(len(places) for places in need)


def whole_region(shape: Sequence[int]) -> Region:
    """Region of a whole tensor."""
    return Region((tuple(range(size) for size in shape),), prod(shape))


def region_of(shape: Sequence[int], parts: Sequence[Need], counted: int, is_exact: bool) -> Region:
    """Region of disjoint parts with at least `counted` elements; a full one is the whole tensor."""
    elements = max(counted, sum(map(size_of, parts)))
    if elements >= prod(shape):
        return whole_region(shape)
    return Region(tuple(parts), elements, is_exact)


def joined(op: str, shape: Sequence[int], first: Region, second: Region) -> Region:
    """The union of two regions of a tensor of this shape; `op` is named in refusals.

    Elements at unknown places may be the same in both, so the larger number counts.
    """
    for one, other in ((first, second), (second, first)):
        if one.is_exact and one.elements == prod(shape):
            return one
        if one.is_exact and _covers(one.parts, other):
            return one
    counted = max(first.elements, second.elements)
    try:
        parts, is_complete = _union(op, first.parts, second.parts)
    except CapacityError:
        parts, is_complete = max(first, second, key=lambda region: region.listed).parts, False
    return region_of(shape, parts, counted, is_complete and first.is_exact and second.is_exact)


def _covers(parts: Sequence[Need], other: Region) -> bool:
    """Whether every part is among `parts`: the usual case of two readers of one tensor."""
    return other.is_exact and all(
        any(all(map(is_same, part, own)) for own in parts) for part in other.parts
    )


def _union(op: str, first: Sequence[Need], second: Sequence[Need]) -> tuple[tuple[Need, ...], bool]:
    """Disjoint products of the union, and whether they are complete."""
    parts, waiting = list(first), list(second)
    for _ in range(MOST_STEPS):
        if not waiting:
            break
        waiting += _placed(op, parts, waiting.pop())
    parts.sort(key=size_of, reverse=True)
    return tuple(parts[:MOST_PARTS]), not waiting and len(parts) <= MOST_PARTS


def _placed(op: str, parts: list[Need], new: Need) -> list[Need]:
    """Adds a product to disjoint parts, or returns the products to add in its place.

    1. A product within one part adds nothing.
    2. A product that differs from a part on one axis only is merged with it.
    3. A product that overlaps a part is replaced by its rest, one product per axis.
    """
    for place, old in enumerate(parts):
        common = tuple(shared(op, a, b) for a, b in zip(old, new, strict=True))
        if size_of(common) == size_of(new):
            return []
        differing = [
            axis for axis, (a, b) in enumerate(zip(old, new, strict=True)) if not is_same(a, b)
        ]
        if len(differing) == 1:
            axis = differing[0]
            del parts[place]
            return [(*old[:axis], united(op, old[axis], new[axis]), *old[axis + 1 :])]
        if size_of(common):
            return _rest(op, new, common)
    parts.append(new)
    return []


def _rest(op: str, new: Need, common: Need) -> list[Need]:
    """The product `new` without `common`, as disjoint products."""
    rest = []
    for axis, (places, own) in enumerate(zip(new, common, strict=True)):
        left = without(op, places, own)
        if len(left):
            rest.append((*common[:axis], left, *new[axis + 1 :]))
    return rest
