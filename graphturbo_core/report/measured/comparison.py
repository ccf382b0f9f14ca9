"""Times per layer -> rank correlation, totals, and the layers whose shares differ most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isclose, log2

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.report.measured.matching import LayerTimes, MatchedLayers, matched
from graphturbo_core.report.measured.table import MeasuredRow
from graphturbo_core.report.report import Report

FEWEST = 3
"""Layers below which a rank correlation has no meaning (our choice)."""


@dataclass(frozen=True, slots=True)
class LayerShare:
    """A layer's shares of the sums of all matched layers, and their ratio.

    `ratio`: the measured share over the simulated one, infinite where only the latter is 0; None
    where both are.
    """

    layer: LayerTimes
    simulated: float
    measured: float
    ratio: float | None

    @property
    def distance(self) -> float:
        """Distance from equal shares, in factors of two."""
        if self.ratio is None:
            return 0.0
        return abs(log2(self.ratio)) if 0 < self.ratio < inf else inf


@dataclass(frozen=True, slots=True)
class MeasuredComparison:
    """Measured beside simulated times of one run; `shares` in the order of layers.

    `correlation`: Spearman's; None for fewer than `FEWEST` layers, or equal times everywhere.
    `samples`: those of the simulated round, on one cluster.
    """

    matched: MatchedLayers
    shares: tuple[LayerShare, ...]
    correlation: float | None
    simulated_ms: float
    measured_ms: float
    samples: int

    def worst(self, count: int) -> tuple[LayerShare, ...]:
        """The layers whose shares differ most, then by the order of layers."""
        apart = [share for share in self.shares if share.ratio is not None and share.ratio != 1]
        return tuple(sorted(apart, key=lambda each: (-each.distance, each.layer.index))[:count])


def compared(rows: Sequence[MeasuredRow], report: Report) -> MeasuredComparison:
    """The comparison of a run with measured rows; without a matched layer all of it is empty."""
    found = matched(rows, report)
    simulated = [layer.simulated_ms for layer in found.layers]
    measured = [layer.measured_ms for layer in found.layers]
    totals = sum(simulated), sum(measured)
    return MeasuredComparison(
        matched=found,
        shares=tuple(_share(layer, *totals) for layer in found.layers),
        correlation=spearman(simulated, measured),
        simulated_ms=totals[0],
        measured_ms=totals[1],
        samples=next(row["samples"] for row in report.tables["rounds"] if row["is_drawn"]),
    )


def _share(layer: LayerTimes, simulated_ms: float, measured_ms: float) -> LayerShare:
    simulated = layer.simulated_ms / simulated_ms if simulated_ms else 0.0
    measured = layer.measured_ms / measured_ms if measured_ms else 0.0
    ratio = measured / simulated if simulated else (inf if measured else None)
    if ratio is not None and isclose(ratio, 1):
        ratio = 1.0
    return LayerShare(layer, simulated, measured, ratio)


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's rank correlation: Pearson's of the ranks, equal values with their mean rank.

    None for fewer than `FEWEST` values, or where all values of one side are equal.
    """
    if len(first) < FEWEST:
        return None
    one, other = (_ranks(values) - (len(values) + 1) / 2 for values in (first, second))
    scale = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / scale if scale else None


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Ranks from 1; equal values have the mean of theirs."""
    _, group, counts = np.unique(np.asarray(values, float), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    means: NDArray[np.float64] = last - (counts - 1) / 2
    return means[group]
