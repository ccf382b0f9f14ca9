"""Which moves of weights fetch what was fetched before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.products.program import Cause

Boxes = tuple[NDArray[np.int32], NDArray[np.int32]]
"""Lower and upper corners, a row a box."""


@dataclass(frozen=True)
class WeightMoves:
    """Of every instruction: cause, bytes moved, and of its first access memory, tensor and box.

    `element_bytes`: by tensor. `cores`: how many move so many bytes each. `source` tells the same
    memory of co-operating clusters apart, by who fetches.
    """

    cause: NDArray[np.int8]
    size_bytes: NDArray[np.int64]
    cores: NDArray[np.int32]
    source: NDArray[np.int64]
    tensor: NDArray[np.int32]
    boxes: Boxes
    element_bytes: NDArray[np.int64]

    @cached_property
    def box_bytes(self) -> NDArray[np.int64]:
        """Bytes of the whole box."""
        sizes = self.boxes[1].astype(np.int64) - self.boxes[0]
        return np.asarray(sizes.prod(axis=1) * self.element_bytes[self.tensor])


def weight_causes(moved: WeightMoves) -> NDArray[np.int8]:
    """WEIGHT_FIRST becomes WEIGHT_AGAIN where earlier moves have brought all of the box.

    Bytes from DRAM and from GB are booked apart. A box that earlier ones cover in part is booked as
    first; no plan makes one, since pieces of a split over channels read disjoint weights. Which
    rows a lookup brings is not known: it is booked as first until lookups of the table have brought
    as many bytes as the box has. Where a core stands for others, its box tells for theirs.
    """
    result = moved.cause.copy()
    is_weight = moved.cause == Cause.WEIGHT_FIRST
    is_lookup = is_weight & (moved.size_bytes < moved.box_bytes)
    result[_brought_again(moved, np.flatnonzero(is_weight & ~is_lookup))] = Cause.WEIGHT_AGAIN
    for rows in _by_tensor(moved, np.flatnonzero(is_lookup)):
        size = moved.size_bytes[rows] * moved.cores[rows]
        again = np.cumsum(size) - size >= moved.box_bytes[rows]
        result[rows[again]] = Cause.WEIGHT_AGAIN
    return result


def _by_tensor(moved: WeightMoves, moves: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The moves of each tensor from each memory, in order."""
    if not len(moves):
        return []
    group = _groups(moved, moves)
    order = np.argsort(group, kind="stable")
    return np.split(moves[order], np.flatnonzero(np.diff(group[order])) + 1)


def _groups(moved: WeightMoves, moves: NDArray[np.intp]) -> NDArray[np.intp]:
    """Of each move a number for its tensor and memory."""
    _, source = np.unique(moved.source[moves], return_inverse=True)
    tensor = moved.tensor[moves]
    pair = source * (int(tensor.max()) + 1) + tensor
    return np.asarray(np.unique(pair, return_inverse=True)[1])


def _brought_again(moved: WeightMoves, moves: NDArray[np.intp]) -> NDArray[np.intp]:
    """The moves whose box those before them cover, of the same tensor from the same memory.

    Where every box of a tensor fills one cell of the grid that their ends make, no two different
    ones meet: such tensors are gone through all at once, the others one by one.
    """
    if not len(moves):
        return moves
    group = _groups(moved, moves)
    lo, hi = moved.boxes[0][moves], moved.boxes[1][moves]
    number, is_cell = group, np.ones(len(moves), dtype=np.bool_)
    for axis in range(lo.shape[1]):
        begin, end = _cells(lo[:, axis], hi[:, axis], group)
        is_cell &= end - begin == 1
        number = np.unique(number * len(moves) * 2 + begin, return_inverse=True)[1]
    again = np.ones(len(moves), dtype=np.bool_)
    again[np.unique(number, return_index=True)[1]] = False
    for other in np.unique(group[~is_cell]).tolist():
        rows = np.flatnonzero(group == other)
        again[rows] = _covered(lo[rows], hi[rows])
    return moves[again]


def _covered(lo: NDArray[np.int32], hi: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Per box of one tensor, in order: whether the boxes before it cover it."""
    _, first = np.unique(np.column_stack((lo, hi)), axis=0, return_index=True)
    again = np.ones(len(lo), dtype=np.bool_)
    places = np.sort(first)
    alone = np.zeros(len(places), dtype=np.intp)
    cells = [_cells(lo[places, axis], hi[places, axis], alone) for axis in range(lo.shape[1])]
    is_there = np.zeros([int(end.max()) for _, end in cells], dtype=np.bool_)
    slices = zip(*(map(slice, *ends) for ends in cells), strict=True)
    for place, inside in zip(places.tolist(), slices, strict=True):
        again[place] = bool(is_there[inside].all())
        is_there[inside] = True
    return again


def _cells(
    lo: NDArray[np.int32], hi: NDArray[np.int32], group: NDArray[np.intp]
) -> tuple[NDArray[np.intp], ...]:
    """First and last + 1 of the cells that each interval fills, if all ends of a group are cuts."""
    base = group * (int(hi.max()) + 1)
    cuts = np.unique((base + lo, base + hi))
    return np.searchsorted(cuts, base + lo), np.searchsorted(cuts, base + hi)
