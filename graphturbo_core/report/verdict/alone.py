"""Report -> time in which only one kind of engine is busy, where most of it is, and its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.report.part_words import group_text
from graphturbo_core.report.report import Report
from graphturbo_core.units import format_percent

Cycles = NDArray[np.int64]
LEAST_ALONE = 0.01
"""Smallest share of time with one engine kind alone at work that is reported (our choice)."""


@dataclass(frozen=True, slots=True)
class Alone:
    """Time in which one kind of engine works and no other kind does, in the shown round.

    `share`: share of the round's time. `group`: the sub-graph with the largest part of it, empty
    where none has any. `group_share`: the size of that part.
    """

    share: float
    group: str
    group_share: float


def alone(report: Report, kind: str) -> Alone:
    """Time in which only engines of `kind` are busy; n log n in instructions."""
    arrays = report.arrays
    start = arrays["start"].astype(np.int64)
    end = start + arrays["hold"].astype(np.int64)
    if not len(start) or end.max() <= 0:
        return Alone(0.0, "", 0.0)
    times: Cycles = np.unique(np.concatenate([start, end, np.zeros(1, np.int64)]))
    is_kind = np.array([engine["kind"] == kind for engine in report.tables["engines"]])
    own = is_kind[arrays["engine"]]
    is_alone = _busy(times, start[own], end[own]) & ~_busy(times, start[~own], end[~own])
    so_far: Cycles = np.concatenate([[0], np.cumsum(np.diff(times) * is_alone)])
    total, makespan = int(so_far[-1]), int(times[-1])
    by_group: dict[str, float] = {}
    for kernel in report.tables["kernels"]:
        ends = [kernel[key] for key in ("start_cycle", "end_cycle")]
        first, last = np.interp(ends, times, so_far)
        name = kernel["group"]
        by_group[name] = by_group.get(name, 0.0) + float(last - first)
    group = max(by_group, key=lambda name: by_group[name], default="")
    part = by_group.get(group, 0.0) / total if total else 0.0
    return Alone(total / makespan, group if part else "", min(part, 1.0))


def _busy(times: Cycles, start: Cycles, end: Cycles) -> NDArray[np.bool_]:
    """Per interval between two of `times`, whether any of the spans covers it."""
    change = np.zeros(len(times), np.int64)
    np.add.at(change, np.searchsorted(times, start), 1)
    np.add.at(change, np.searchsorted(times, end), -1)
    return np.cumsum(change)[:-1] > 0


def alone_text(found: Alone, words: Mapping[str, str]) -> str:
    """Text on the time in which no other kind works; empty below `LEAST_ALONE`.

    `words`: what sub-graphs are called, by name; others by their number.
    """
    if found.share < LEAST_ALONE:
        return ""
    share = f"; for {format_percent(found.share)} of the time they work alone"
    if not found.group:
        return share
    group = words.get(found.group) or group_text(found.group)
    return f"{share}, most of all in {group} ({format_percent(found.group_share)} of it)"
