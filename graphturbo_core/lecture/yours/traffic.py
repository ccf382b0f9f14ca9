"""Report -> bytes over DRAM in one cluster, by runs of kernels and by cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from graphturbo_core.lecture.pictured import BOOKED_CAUSES, DRAM, KINDS
from graphturbo_core.report.report import Report

MOST_COLUMNS = 12
"""Most piles of a picture (our choice); kernels that follow each other share one."""
NEEDED = ("input", "weight_first", "output")
"""Causes of bytes that every schedule moves: images, weights once, results."""


@dataclass(frozen=True, slots=True)
class KernelPile:
    """Kernels `first` to `last`, from 1, with bytes per cause; `layer`: of a kernel alone."""

    first: int
    last: int
    layer: str
    reads: Mapping[str, int]
    writes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class YourTraffic:
    """Bytes over DRAM of one cluster while it computes `samples` at once."""

    samples: int
    kernels: int
    causes: Mapping[str, int]
    piles: tuple[KernelPile, ...]

    @property
    def dram_bytes(self) -> int:
        """All of them."""
        return sum(self.causes.values())

    @property
    def needed_bytes(self) -> int:
        """Those that every schedule moves."""
        return sum(self.causes.get(cause, 0) for cause in NEEDED)

    @property
    def between_bytes(self) -> int:
        """Results that another kernel reads, and those that did not fit elsewhere."""
        return self.causes.get("activation", 0) + self.causes.get("spill", 0)


def traffic_of(report: Report) -> YourTraffic:
    """The bytes of the round that the report draws."""
    sums = _sums(report)
    count = len(report.tables["kernels"])
    ends = sorted({round(count * part / MOST_COLUMNS) for part in range(MOST_COLUMNS + 1)})
    piles = [_pile(report, sums, *span) for span in pairwise(ends)]
    total = sums.sum(axis=(0, 1))
    return YourTraffic(
        samples=next(row["samples"] for row in report.tables["rounds"] if row["is_drawn"]),
        kernels=count,
        causes=_by_cause(total.tolist()),
        piles=tuple(piles),
    )


def _sums(report: Report) -> np.ndarray:
    """Bytes by kernel, way (0: read, 1: write) and cause."""
    arrays = report.arrays
    is_dram = arrays["booked_memory"] == DRAM
    instruction = arrays["booked_instruction"][is_dram]
    is_write = arrays["kind"][instruction] == KINDS.index("store")
    sums = np.zeros((len(report.tables["kernels"]), 2, len(BOOKED_CAUSES)), np.int64)
    place = arrays["kernel"][instruction], is_write.astype(int), arrays["booked_cause"][is_dram]
    np.add.at(sums, place, arrays["booked_bytes"][is_dram])
    return sums


def _pile(report: Report, sums: np.ndarray, first: int, end: int) -> KernelPile:
    reads, writes = sums[first:end].sum(axis=0).tolist()
    layer = ""
    if end - first == 1:
        layers = np.unique(report.arrays["layer"][report.arrays["kernel"] == first])
        layer = report.tables["layers"][int(layers[0])]["name"] if len(layers) == 1 else ""
    return KernelPile(first + 1, end, layer, _by_cause(reads), _by_cause(writes))


def _by_cause(sizes: Sequence[int]) -> Mapping[str, int]:
    return {cause: size for cause, size in zip(BOOKED_CAUSES, sizes, strict=True) if size}
