"""WeightMoves -> the cause of each move: first fetch of a weight box, or refetch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.products.program import Cause

Boxes = tuple[NDArray[np.int32], NDArray[np.int32]]
"""Lower and upper corners, both (boxes, axes)."""


@dataclass(frozen=True)
class WeightMoves:
    """Per instruction: cause, bytes moved, and the memory, tensor and box of its first access.

    `size_bytes`: per core; `cores`: number of cores. `source`: number of the memory; the same
    memory has different numbers in cooperating clusters. `element_bytes`: per tensor.
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
        """Bytes of each whole box."""
        sizes = self.boxes[1].astype(np.int64) - self.boxes[0]
        return np.asarray(sizes.prod(axis=1) * self.element_bytes[self.tensor])


def weight_causes(moved: WeightMoves) -> NDArray[np.int8]:
    """Causes, with WEIGHT_AGAIN instead of WEIGHT_FIRST for boxes that earlier moves fetched.

    1. Bytes from DRAM and from GB are counted apart.
    2. A box that earlier boxes cover in part counts as first. No plan makes one: pieces of a split
       over channels read disjoint weights.
    3. The rows that a lookup reads are not known. It counts as first until lookups of the table
       have read as many bytes as the box has.
    4. The box of a core that represents equivalent ones counts for all of them.
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
    """Moves grouped by tensor and memory, in sequence order within a group."""
    if not len(moves):
        return []
    group = _groups(moved, moves)
    order = np.argsort(group, kind="stable")
    return np.split(moves[order], np.flatnonzero(np.diff(group[order])) + 1)


def _groups(moved: WeightMoves, moves: NDArray[np.intp]) -> NDArray[np.intp]:
    """Per move, a number for its pair of tensor and memory."""
    _, source = np.unique(moved.source[moves], return_inverse=True)
    tensor = moved.tensor[moves]
    pair = source * (int(tensor.max()) + 1) + tensor
    return np.asarray(np.unique(pair, return_inverse=True)[1])


def _brought_again(moved: WeightMoves, moves: NDArray[np.intp]) -> NDArray[np.intp]:
    """Moves whose box is covered by earlier boxes of the same tensor from the same memory.

    The ends of a tensor's boxes make a grid. If each box is one cell, no two different boxes
    intersect. Such tensors are handled together, the others one by one.
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
    """Per box of one tensor, in order: whether earlier boxes cover it."""
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
    """First and end cell of each interval; the ends of all intervals of a group are the cuts."""
    base = group * (int(hi.max()) + 1)
    cuts = np.unique((base + lo, base + hi))
    return np.searchsorted(cuts, base + lo), np.searchsorted(cuts, base + hi)
