"""CSR tables (rows `at[i]:at[i + 1]` belong to entry i): joined in an order, transposed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.products.program import IntArray

CsrPart = tuple[IntArray, IntArray, tuple[NDArray[Any], ...]]
"""Row offsets, the new order of the entries, and the columns of a CSR table."""


def joined(parts: Sequence[CsrPart]) -> tuple[NDArray[Any], ...]:
    """Concatenated CSR tables, the entries of each in its order: offsets, then columns."""
    ats, orders, values = zip(*parts, strict=True)
    entries = np.array([len(order) for order in orders])
    rows = np.array([at[-1] for at in ats])
    bounds = np.concatenate(ats)
    is_begin = np.ones(len(bounds), dtype=np.bool_)
    is_begin[np.cumsum(entries + 1) - 1] = False
    lengths = np.diff(bounds)[is_begin[:-1]]
    begins = bounds[is_begin] + np.repeat(_before(rows), entries)
    order = np.concatenate(orders) + np.repeat(_before(entries), entries)
    lengths = lengths[order]
    at = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    picked = np.repeat(begins[order] - at[:-1], lengths) + np.arange(at[-1])
    return at, *(np.concatenate(column)[picked] for column in zip(*values, strict=True))


def _before(counts: IntArray) -> IntArray:
    """Per entry, the sum of the counts before it."""
    return np.cumsum(counts) - counts


def transposed(at: IntArray, earlier: NDArray[np.int32]) -> tuple[IntArray, NDArray[np.int32]]:
    """Successors in CSR from predecessors in CSR."""
    count = len(at) - 1
    later = np.repeat(np.arange(count, dtype=np.int32), np.diff(at))
    order = np.argsort(earlier, kind="stable")
    later_at = np.searchsorted(earlier[order], np.arange(count + 1)).astype(np.int64)
    return later_at, later[order]


def ranks(order: IntArray) -> IntArray:
    """The index of each entry in `order`: the inverse permutation."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank
