"""Array functions that lowering, simulator and replay share."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.products.program import IntArray

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


def frozen(values: A) -> A:
    """The same array, set read-only."""
    values.setflags(write=False)
    return values
