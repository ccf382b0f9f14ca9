"""Reports -> the stretch that is magnified first, and the prefetch that is pointed out in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from graphturbo_core.report.overview.hues import HUES, Hues, layers_of_groups
from graphturbo_core.report.overview.shared_layers import layer_shares
from graphturbo_core.report.overview.shares import (
    Ints,
    cycles_by_hue,
    seconds_by_layer,
    seconds_of_run_per_cycle,
)
from graphturbo_core.report.report import Report

SHORT = 0.5
"""A run that takes at most this share of the other one's time is magnified as a whole."""
ZOOM = 12
"""Otherwise the lens shows this part of the run (our choice: a few kernels)."""
MOST_PREFETCHES = 4_000
"""Prefetches that are looked at, in order of their start."""
LEAST_SHARE = 0.01
"""Share of the round's DRAM bytes below which a prefetch leaves no mark in the picture."""


class Callout(TypedDict):
    """The prefetch that runs furthest ahead: weights of `layer` arrive while `computes` runs.

    Layers count from 0, times are cycles of the drawn round.
    """

    layer: int
    computes: int
    from_cycle: int
    to_cycle: int
    bytes: int


def callout(report: Report) -> list[Callout]:
    """The large prefetch with the largest product of lead in layers and length; one, or none."""
    best, score = [], 0
    computing = _Computing(report)
    is_dram = report.arrays["booked_memory"] == 0
    least = LEAST_SHARE * int(report.arrays["booked_bytes"][is_dram].sum())
    large = [row for row in _prefetches(report) if row[-1] >= least]
    for layer, begin, end, size in large[:MOST_PREFETCHES]:
        computes = computing.most(begin, end)
        lead = (layer - computes) * (end - begin)
        if computes >= 0 and lead > score:
            score = lead
            best = [
                Callout(layer=layer, computes=computes, from_cycle=begin, to_cycle=end, bytes=size)
            ]
    return best


def _prefetches(report: Report) -> list[tuple[int, int, int, int]]:
    """Layer, begin, end and bytes of each weight that crosses DRAM for a kernel, in order."""
    arrays = report.arrays
    is_weight = np.array([row["kind"] == "weight" for row in report.tables["tensors"]] or [False])
    is_dram = arrays["booked_memory"] == 0
    rows = arrays["booked_instruction"][is_dram].astype(np.int64)
    size = arrays["booked_bytes"][is_dram].astype(np.int64)
    moved = arrays["moved_tensor"][rows].astype(np.int64)
    is_chosen = (moved >= 0) & is_weight[np.maximum(moved, 0)]
    rows, size = rows[is_chosen], size[is_chosen]
    layer, kernel = (arrays[name][rows].astype(np.int64) for name in ("layer", "kernel"))
    begin = arrays["start"][rows].astype(np.int64)
    end = begin + arrays["hold"][rows].astype(np.int64)
    owner = kernel * (int(layer.max(initial=0)) + 2) + layer
    owner = owner * (int(moved.max(initial=0)) + 1) + moved[is_chosen]
    _, place = np.unique(owner, return_inverse=True)
    count = int(place.max(initial=-1)) + 1
    first = np.full(count, np.iinfo(np.int64).max)
    last, total, of_layer = (np.zeros(count, np.int64) for _ in range(3))
    np.minimum.at(first, place, begin)
    np.maximum.at(last, place, end)
    np.add.at(total, place, size)
    of_layer[place] = layer
    order = np.argsort(first, kind="stable").tolist()
    return [(int(of_layer[at]), int(first[at]), int(last[at]), int(total[at])) for at in order]


class _Computing:
    """The matrix instructions of a run, in order of start."""

    def __init__(self, report: Report) -> None:
        arrays = report.arrays
        kinds = np.array([row["kind"] == "matrix" for row in report.tables["engines"]])
        layers: Ints = arrays["layer"].astype(np.int64)
        rows = np.flatnonzero(kinds[arrays["engine"]] & (layers >= 0))
        rows = rows[np.argsort(arrays["start"][rows], kind="stable")]
        self._start = arrays["start"][rows].astype(np.int64)
        self._end = self._start + arrays["hold"][rows].astype(np.int64)
        self._layer = layers[rows]
        self._longest = int((self._end - self._start).max(initial=0))

    def most(self, begin: int, end: int) -> int:
        """The layer that computes most between two cycles; -1 for none. Ties: the later layer."""
        first, last = np.searchsorted(self._start, [begin - self._longest, end])
        inside: Ints = np.minimum(self._end[first:last], end) - np.maximum(
            self._start[first:last], begin
        )
        is_inside = inside > 0
        if not is_inside.any():
            return -1
        layers = self._layer[first:last][is_inside]
        busy = np.bincount(layers, inside[is_inside])
        return int(np.flatnonzero(busy == busy.max())[-1])


class Focus(TypedDict):
    """What is looked at before anybody chooses: a sub-graph of B, or a hue where B is one of those.

    `group`, `hue`: -1 where it is the other. `loses_s`: B's time of it less A's, where B is slower
    as a whole and so is this; else 0, and it is what takes longest in B.
    """

    group: int
    hue: int
    loses_s: float


def focus_of(a: Report, b: Report, hues: Hues) -> Focus:
    """Where B loses most against A; what takes longest in B where B is not slower."""
    groups = layers_of_groups(b)
    own_s, before_s = (_seconds(run, b, groups, hues) for run in (b, a))
    is_slower = b.contract["latency_s"] > a.contract["latency_s"]
    lost_s = [late - soon for late, soon in zip(own_s, before_s, strict=True)]
    has_loss = is_slower and max(lost_s) > 0
    place = int(np.argmax(lost_s if has_loss else own_s))
    is_group = len(groups) > 1
    return {
        "group": place if is_group else -1,
        "hue": -1 if is_group else place,
        "loses_s": lost_s[place] if has_loss else 0.0,
    }


def _seconds(run: Report, b: Report, groups: Sequence[Sequence[int]], hues: Hues) -> list[float]:
    """A run's time of the layers of each of B's sub-graphs; per hue where B has one sub-graph.

    Of a layer that several of them share, each has its part.
    """
    if len(groups) < 2:  # noqa: PLR2004  # one sub-graph says nothing
        found = cycles_by_hue(run, hues.of_layer, HUES + 1)[: len(hues.titles)]
        return [own * seconds_of_run_per_cycle(run) for own in found]
    seconds = seconds_by_layer(run)
    return [
        sum(float(seconds[layer]) * part for layer, part in zip(layers, parts, strict=True))
        for layers, parts in zip(groups, layer_shares(b, groups), strict=True)
    ]


def first_window(a: Report, b: Report, hues: Hues, focus: Focus) -> tuple[float, float]:
    """The stretch of B's drawn round, in cycles, that is magnified before anybody chooses.

    All of a short run; of a longer one the beginning of the focus.
    """
    cycles = b.tables["round"][0]["cycles"]
    if b.contract["latency_s"] <= SHORT * a.contract["latency_s"]:
        return 0.0, float(cycles)
    is_group = focus["group"] >= 0
    layers: Sequence[int] = (
        layers_of_groups(b)[focus["group"]]
        if is_group
        else np.flatnonzero(np.array(hues.of_layer) == focus["hue"]).tolist()
    )
    half = cycles / ZOOM / 2
    middle = min(max(_start(b, layers), half), cycles - half)
    return middle - half, middle + half


def _start(report: Report, layers: Sequence[int]) -> float:
    """The first cycle in which one of these layers computes; in which it moves, where none does."""
    arrays = report.arrays
    is_own = np.isin(arrays["layer"], layers)
    kinds = np.array([row["kind"] in {"matrix", "vector"} for row in report.tables["engines"]])
    computes = is_own & kinds[arrays["engine"]]
    own = arrays["start"][computes if computes.any() else is_own]
    return float(own.min(initial=report.tables["round"][0]["cycles"]))
