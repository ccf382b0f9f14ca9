"""Runs of one model -> the order of their times, and why each is slower than the fastest.

The critical path of a run divides its time among what the path occupies, so the differences of two
runs' paths add up to the difference of their times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from graphturbo_core.report.canvases.resources import KEY_WORDS
from graphturbo_core.report.overview.headline import times
from graphturbo_core.report.verdict.verdict import is_same
from graphturbo_core.units import counted, format_bytes, format_seconds

LEAST_SHARE = 0.1
"""A cause below this share of the difference is not named (our choice)."""
MOST_CAUSES = 2


class TimedFigures(Protocol):
    """What the sentences read of a run."""

    @property
    def latency_s(self) -> float:
        """Seconds of the whole batch."""

    @property
    def critical_path(self) -> Mapping[str, float]:
        """Those seconds by what the critical path occupies."""

    @property
    def dram_bytes(self) -> int:
        """Bytes over DRAM."""

    @property
    def launches(self) -> int:
        """Kernels that one cluster launches for the whole batch."""


class NamedRun(NamedTuple):
    """A run under the name that the page gives it."""

    name: str
    figures: TimedFigures


def ranked(runs: Sequence[NamedRun]) -> list[NamedRun]:
    """The fastest first; equal ones in the given order."""
    return sorted(runs, key=lambda run: run.figures.latency_s)


def who_wins(runs: Sequence[NamedRun]) -> str:
    """The fastest and the next one, or all that are as fast; empty with fewer than two runs."""
    if len(runs) < 2:  # noqa: PLR2004
        return ""
    order = ranked(runs)
    first = order[0]
    equal = [run for run in order if is_same(run.figures.latency_s, first.figures.latency_s)]
    if len(equal) > 1:
        names = ", ".join(run.name for run in equal[:-1])
        return f"{names} and {equal[-1].name} are the fastest, with the same time"
    ratio = times(order[1].figures.latency_s / first.figures.latency_s)
    return f"{first.name} is the fastest, {ratio} as fast as {order[1].name}"


def why_slower(run: NamedRun, best: NamedRun) -> str:
    """Where a run loses time against the fastest: on the critical path, and in bytes and kernels.

    Names at most two losses and one gain, each above a tenth of the difference.
    """
    a, b = best.figures, run.figures
    if is_same(a.latency_s, b.latency_s):
        return f"as fast as {best.name}. {_work(run, best)}"
    lost = b.latency_s - a.latency_s
    change = {
        key: b.critical_path.get(key, 0.0) - a.critical_path.get(key, 0.0) for key in KEY_WORDS
    }
    by_size = sorted(change, key=lambda key: -change[key])
    losses = [key for key in by_size if change[key] > LEAST_SHARE * lost][:MOST_CAUSES]
    gains = [key for key in reversed(by_size) if change[key] < -LEAST_SHARE * lost][:1]
    more = [f"{format_seconds(change[key])} more of {KEY_WORDS[key]}" for key in losses]
    less = [f"{format_seconds(-change[key])} less of {KEY_WORDS[key]}" for key in gains]
    parts = ", but ".join(part for part in (" and ".join(more), *less) if part)
    where = f": on the critical path {parts}" if parts else ""
    return f"{format_seconds(lost)} longer than {best.name}{where}. {_work(run, best)}"


def _work(run: NamedRun, best: NamedRun) -> str:
    """Bytes over DRAM and kernels of both."""
    a, b = best.figures, run.figures
    sizes = format_bytes(b.dram_bytes)
    if not is_same(a.dram_bytes, b.dram_bytes):
        sizes += f" instead of {format_bytes(a.dram_bytes)}"
    launches = counted(b.launches, "kernel")
    more = "" if a.launches == b.launches else f" instead of {a.launches:,}"
    return f"It moves {sizes} over DRAM, in {launches}{more}."
