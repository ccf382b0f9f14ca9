"""Array functions that lowering, simulator and replay share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.boxes import Box
from graphturbo_core.products.program import MAX_RANK, IntArray

A = TypeVar("A", bound=NDArray[np.generic])
Integer = int | np.int64
"""An index, cycles or bytes in compiled code."""


def int64(values: NDArray[np.generic]) -> IntArray:
    """A writable, contiguous copy: functions are compiled for this array type only."""
    return np.array(values, dtype=np.int64, order="C")


def owners(at: IntArray) -> IntArray:
    """Per row of a CSR table with bounds `at`, the instruction that it belongs to."""
    return np.repeat(np.arange(len(at) - 1, dtype=np.int64), np.diff(at))


def rows_of(boxes: NDArray[np.int32], rows: IntArray) -> NDArray[np.int32]:
    """Rows of a table, contiguous; `take` needs a third of the time of indexing."""
    return np.ascontiguousarray(boxes.take(rows, axis=0), dtype=np.int32)


def pack_boxes(boxes: Sequence[Box]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Corners of boxes as two arrays (boxes, MAX_RANK); an axis that a box lacks is [0, 1)."""
    lo = np.zeros((len(boxes), MAX_RANK), dtype=np.int32)
    hi = np.ones((len(boxes), MAX_RANK), dtype=np.int32)
    ranks = np.fromiter(map(len, boxes), dtype=np.int64, count=len(boxes))
    begin = 2 * (np.cumsum(ranks) - ranks)
    ends = chain.from_iterable(chain.from_iterable(boxes))
    flat = np.fromiter(ends, dtype=np.int32, count=2 * int(ranks.sum()))
    for rank in np.unique(ranks).tolist():
        rows = np.flatnonzero(ranks == rank)
        corners = flat[begin[rows, None] + np.arange(2 * rank)].reshape(len(rows), rank, 2)
        lo[rows, :rank], hi[rows, :rank] = corners[:, :, 0], corners[:, :, 1]
    return lo, hi


def frozen(values: A) -> A:
    """The same array, set read-only."""
    values.setflags(write=False)
    return values
