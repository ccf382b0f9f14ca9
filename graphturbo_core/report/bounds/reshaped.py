"""Places of a reshape's result -> products of places of its input, exact if they are few.

`AxisMap` gives the bounding box of a block's reads. For scattered places (such as the triangle of
all pairs) that box is far larger than the reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from graphturbo_core.report.bounds.places import Indices, Places, shortest
from graphturbo_core.report.bounds.regions import MOST_PARTS, Need, size_of
from graphturbo_core.semantics.access import AxisKind, AxisMap

MOST_ELEMENTS = 2**16
"""Most listed elements, per place of the axes that the reshape does not change (our choice)."""


def reshaped(
    axes: Sequence[AxisMap], out_shape: Sequence[int], out: Need
) -> tuple[Need, ...] | None:
    """Disjoint products of input places for the results `out`; None where they are too many.

    SAME axes follow place by place. The elements of the other axes have the same row-major order in
    input and result.
    """
    same = {axis.out_axis for axis in axes if axis.kind is AxisKind.SAME}
    moved = [axis for axis in range(len(out)) if axis not in same]
    target = [place for place, axis in enumerate(axes) if axis.kind is not AxisKind.SAME]
    sizes = tuple(out_shape[axis] for axis in moved)
    shape = tuple(axes[place].size for place in target)
    listed = tuple(out[axis] for axis in moved)
    if prod(sizes) != prod(shape) or size_of(listed) > MOST_ELEMENTS:
        return None
    grid = np.meshgrid(*map(np.asarray, listed), indexing="ij")
    flat = np.sort(np.ravel_multi_index([own.ravel() for own in grid], sizes))
    points = np.stack(np.unravel_index(flat, shape), axis=1).astype(np.int64)
    found = list(_products(points))
    if len(found) > MOST_PARTS:
        return None
    return tuple(_put(axes, out, dict(zip(target, part, strict=True))) for part in found)


def _put(axes: Sequence[AxisMap], out: Need, moved: dict[int, Places]) -> Need:
    return tuple(
        moved[place] if place in moved else out[axis.out_axis] for place, axis in enumerate(axes)
    )


def _products(points: Indices) -> Iterator[Need]:
    """Products of rising points (n x rank): first places with equal rests form one product."""
    if points.shape[1] == 1:
        yield (shortest(points[:, 0]),)
        return
    firsts, begins = np.unique(points[:, 0], return_index=True)
    rests: dict[bytes, tuple[list[int], Indices]] = {}
    for first, rest in zip(firsts.tolist(), np.split(points[:, 1:], begins[1:]), strict=True):
        rests.setdefault(rest.tobytes(), ([], rest))[0].append(first)
    for places, rest in rests.values():
        for product in _products(rest):
            yield (shortest(np.asarray(places)), *product)
