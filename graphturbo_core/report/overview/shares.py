"""Instructions -> the time of one round, divided among the colours of the layers in flight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.report.report import Report

Ints = NDArray[np.int64]


def cycles_by_hue(report: Report, hue_of_layer: Sequence[int], hues: int) -> list[float]:
    """Cycles of the drawn round per hue; the last entry is time without any layer in flight.

    While several layers are in flight, each takes an equal share of the time; so the sum is the
    round. n log n in instructions.
    """
    cycles = report.tables["round"][0]["cycles"]
    start, end, layer = layer_spans(report)
    if not len(start):
        return [*[0.0] * hues, float(cycles)]
    hue = np.asarray(hue_of_layer, np.int64)[layer]
    times = np.concatenate([start, end])
    change = np.zeros((len(times), hues), np.int64)
    change[np.arange(len(start)), hue] = 1
    change[len(start) + np.arange(len(end)), hue] = -1
    order = np.argsort(times, kind="stable")
    in_flight = np.cumsum(change[order], axis=0)[:-1]
    lengths = np.diff(times[order]).astype(np.float64)
    total = in_flight.sum(axis=1)
    share = in_flight / np.maximum(total, 1)[:, None]
    found = (share * lengths[:, None]).sum(axis=0)
    return [*found.tolist(), max(0.0, float(cycles) - float(found.sum()))]


def layer_spans(report: Report) -> tuple[Ints, Ints, Ints]:
    """Start, end and layer of each stretch in which an instruction of the layer is in flight."""
    arrays = report.arrays
    start, hold = (arrays[name].astype(np.int64) for name in ("start", "hold"))
    layer = arrays["layer"].astype(np.int64)
    rows = np.flatnonzero((layer >= 0) & (hold > 0))
    rows = rows[np.lexsort((start[rows], layer[rows]))]
    if not len(rows):
        return rows, rows, rows
    layer, start, end = layer[rows], start[rows], (start + hold)[rows]
    # A running maximum per layer: an offset per layer keeps one layer's ends from the next one's.
    span = int(end.max()) + 1
    reached = np.maximum.accumulate(end + layer * span) - layer * span
    is_first = np.ones(len(rows), bool)
    is_first[1:] = (layer[1:] != layer[:-1]) | (start[1:] > reached[:-1])
    firsts = np.flatnonzero(is_first)
    lasts = np.append(firsts[1:], len(rows)) - 1
    return start[firsts], reached[lasts], layer[firsts]
