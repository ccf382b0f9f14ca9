"""Instructions -> the time of one round, divided among the layers in flight, and their colours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.report.report import Report

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def cycles_by_hue(report: Report, hue_of_layer: Sequence[int], hues: int) -> list[float]:
    """Cycles of the drawn round per hue; the last entry is time without any layer in flight.

    The sum is the round; each layer has its part of `cycles_by_layer`.
    """
    cycles = cycles_by_layer(report)
    found = np.bincount(np.asarray(hue_of_layer, np.int64), cycles, hues)
    whole = float(report.tables["round"][0]["cycles"])
    return [*found.tolist(), max(0.0, whole - float(found.sum()))]


def cycles_by_layer(report: Report) -> Floats:
    """Cycles of the drawn round per layer: where several are in flight, each has an equal part.

    n log n in instructions.
    """
    layers = len(report.tables["layers"])
    start, end, layer = layer_spans(report)
    if not len(start):
        return np.zeros(layers)
    times = np.concatenate([start, end])
    order = np.argsort(times, kind="stable")
    in_flight = np.cumsum(np.where(order < len(start), 1, -1))[:-1]
    parts = np.diff(times[order]) / np.maximum(in_flight, 1)  # of one layer
    until = np.empty(len(times))
    until[order] = np.concatenate([[0.0], np.cumsum(np.where(in_flight > 0, parts, 0.0))])
    found = np.bincount(layer, until[len(start) :] - until[: len(start)], layers)
    return np.asarray(found, np.float64)


def seconds_by_layer(report: Report) -> Floats:
    """The same in seconds of the whole run."""
    return cycles_by_layer(report) * seconds_of_run_per_cycle(report)


def seconds_of_run_per_cycle(report: Report) -> float:
    """Seconds of the whole run per cycle of the drawn round."""
    return report.contract["latency_s"] / max(1, report.tables["round"][0]["cycles"])


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
