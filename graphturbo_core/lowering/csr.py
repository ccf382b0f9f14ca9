"""CSR tables (rows `at[i]:at[i + 1]` belong to entry i): joined in an order, transposed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.lowering.program import IntArray

CsrPart = tuple[IntArray, IntArray, tuple[NDArray[Any], ...]]
"""Row offsets, the order that the entries shall have, and the columns of a CSR table."""


def joined(parts: Sequence[CsrPart]) -> tuple[NDArray[Any], ...]:
    """Concatenate CSR tables with their entries put in order: offsets, then columns."""
    counts: list[IntArray] = []
    columns: list[tuple[NDArray[Any], ...]] = []
    for at, order, values in parts:
        lengths = np.diff(at)[order]
        begin = np.repeat(at[:-1][order] - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
        picked = begin + np.arange(lengths.sum())
        counts.append(lengths)
        columns.append(tuple(value[picked] for value in values))
    at = np.concatenate(([0], np.cumsum(np.concatenate(counts)))).astype(np.int64)
    return at, *(np.concatenate(column) for column in zip(*columns, strict=True))


def transposed(at: IntArray, earlier: NDArray[np.int32]) -> tuple[IntArray, NDArray[np.int32]]:
    """Successors in CSR from predecessors in CSR."""
    count = len(at) - 1
    later = np.repeat(np.arange(count, dtype=np.int32), np.diff(at))
    order = np.argsort(earlier, kind="stable")
    later_at = np.searchsorted(earlier[order], np.arange(count + 1)).astype(np.int64)
    return later_at, later[order]


def ranks(order: IntArray) -> IntArray:
    """The place of each entry in `order`."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank
