"""Which moves of weights fetch what was fetched before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.lowering.program import Cause

Boxes = tuple[NDArray[np.int32], NDArray[np.int32]]
"""Lower and upper corners, a row a box."""


def weight_causes(
    cause: NDArray[np.int8], of: tuple[NDArray[np.int8], NDArray[np.int32]], boxes: Boxes
) -> NDArray[np.int8]:
    """WEIGHT_FIRST becomes WEIGHT_AGAIN where earlier moves have brought all of the box.

    `of`: source memory and tensor of each instruction's first access, `boxes` its box. Bytes from
    DRAM and from GB are booked apart. A box that earlier ones cover in part is booked as first; no
    plan makes one, since pieces of a split over channels read disjoint weights.
    """
    result = cause.copy()
    moves = np.flatnonzero(cause == Cause.WEIGHT_FIRST)
    if not len(moves):
        return result
    keys = np.column_stack((of[0][moves], of[1][moves]))
    _, group = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    edges = np.flatnonzero(np.diff(group.ravel()[order])) + 1
    for rows in np.split(moves[order], edges):
        again = _covered(boxes[0][rows], boxes[1][rows])
        result[rows[again]] = Cause.WEIGHT_AGAIN
    return result


def _covered(lo: NDArray[np.int32], hi: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Per box, in order: whether the boxes before it cover it."""
    _, first = np.unique(np.column_stack((lo, hi)), axis=0, return_index=True)
    again = np.ones(len(lo), dtype=np.bool_)
    again[first] = False
    places = np.sort(first)
    cuts = [np.unique((lo[places, axis], hi[places, axis])) for axis in range(lo.shape[1])]
    is_there = np.zeros([len(cut) - 1 for cut in cuts], dtype=np.bool_)
    for place in places:
        inside = tuple(
            slice(np.searchsorted(cut, lo[place, axis]), np.searchsorted(cut, hi[place, axis]))
            for axis, cut in enumerate(cuts)
        )
        again[place] = bool(is_there[inside].all())
        is_there[inside] = True
    return again
