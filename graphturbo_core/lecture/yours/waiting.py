"""Report -> when kernels run, and how much waits in GB as each ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphturbo_core.lecture.pictured import WEIGHT
from graphturbo_core.products.arrays import int64
from graphturbo_core.report.report import Report

MOST_KERNELS = 60
"""Most kernels of a picture (our choice: 14 units of width each)."""


@dataclass(frozen=True, slots=True)
class KernelEnd:
    """A kernel with its sub-graph's number; `waiting_bytes`: of results in GB as it ends."""

    name: str
    group: int
    start: int
    end: int
    waiting_bytes: int


@dataclass(frozen=True, slots=True)
class YourOrder:
    """Kernels of one cluster in the order in which they run."""

    cycles: int
    gb_bytes: int
    kernels: tuple[KernelEnd, ...]

    @property
    def peak_bytes(self) -> int:
        """The most that waits as a kernel ends."""
        return max(kernel.waiting_bytes for kernel in self.kernels)


def is_listed(report: Report) -> bool:
    """Whether the report lists every buffer in GB, and has few enough kernels for a picture."""
    spaces = [row for row in report.tables["spaces"] if row["memory"] == "GB"]
    has_all = all(row["listed"] == row["buffers"] for row in spaces)
    return has_all and bool(spaces) and len(report.tables["kernels"]) <= MOST_KERNELS


def order_of(report: Report) -> YourOrder:
    """The kernels of the round that the report draws; `is_listed` holds."""
    names = [group["name"] for group in report.tables["groups"]]
    kernels = report.tables["kernels"]
    ends = [kernel["end_cycle"] for kernel in kernels]
    return YourOrder(
        cycles=max(ends),
        gb_bytes=sum(
            row["capacity_bytes"] for row in report.tables["spaces"] if row["memory"] == "GB"
        ),
        kernels=tuple(
            KernelEnd(row["name"], names.index(row["group"]), row["start_cycle"], end, waiting)
            for row, end, waiting in zip(kernels, ends, _waiting(report, ends), strict=True)
        ),
    )


def _waiting(report: Report, cycles: list[int]) -> list[int]:
    """Bytes of activations that are in GB after each of these cycles."""
    arrays = report.arrays
    spaces = [row["index"] for row in report.tables["spaces"] if row["memory"] == "GB"]
    flows = [row["index"] for row in report.tables["tensors"] if row["kind"] != WEIGHT]
    is_own = np.isin(arrays["buffer_space"], spaces) & np.isin(arrays["buffer_tensor"], flows)
    sizes = int64(arrays["buffer_size_bytes"])[is_own]
    found = np.zeros(len(cycles), np.int64)
    for name, sign in (("buffer_from", 1), ("buffer_to", -1)):
        moments = int64(arrays[name])[is_own]
        order = np.argsort(moments, kind="stable")
        sums = np.concatenate([[0], np.cumsum(sizes[order])])
        found += sign * sums[np.searchsorted(moments[order], cycles, side="right")]
    return [int(each) for each in found.tolist()]
