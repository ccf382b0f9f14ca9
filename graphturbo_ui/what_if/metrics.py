"""Figures of a point that can be drawn: what each is, its unit, and whether more is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.units import format_bytes, format_percent, format_seconds, format_si
from graphturbo_ui.what_if.point_desk import Answer

MIB = 2**20
Figures = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure: its name, the title of its axis, its value in the axis' unit, and its text.

    `short`: the text for a cell of a map, whose title names the unit.
    """

    name: str
    axis: str
    value: Callable[[Figures], float]
    text: Callable[[float], str]
    short: Callable[[float], str]


def _number(figures: Figures, name: str) -> float:
    return float(str(figures[name]))


def speed(figures: Figures) -> float:
    """Samples per second."""
    return _number(figures, "throughput_per_s")


def dram_bytes(figures: Figures) -> float:
    """Bytes over DRAM per sample, read and written."""
    moved = _number(figures, "dram_read_bytes") + _number(figures, "dram_write_bytes")
    return moved / _number(figures, "batch")


METRICS = (
    Metric(
        "Speed", "speed (samples/s)", speed,
        lambda value: f"{format_si(value)} samples/s", format_si,
    ),
    Metric(
        "Time", "time of the whole batch (ms)",
        lambda figures: 1e3 * _number(figures, "latency_s"),
        lambda value: format_seconds(value / 1e3), lambda value: format_seconds(value / 1e3),
    ),
    Metric(
        "DRAM traffic", "DRAM traffic (MiB/sample)",
        lambda figures: dram_bytes(figures) / MIB,
        lambda value: f"{format_bytes(value * MIB)}/sample",
        lambda value: format_bytes(value * MIB),
    ),
    Metric(
        "Matrix utilisation", "multiply-accumulates of the peak (%)",
        lambda figures: 100 * _number(figures, "mac_utilization"),
        lambda value: format_percent(value / 100), lambda value: format_percent(value / 100),
    ),
    Metric(
        "Share of the bound", "lower bound over time (%)",
        lambda figures: 100 * _number(figures, "lower_bound_s") / _number(figures, "latency_s"),
        lambda value: format_percent(value / 100), lambda value: format_percent(value / 100),
    ),
)  # fmt: skip


def values_of(metric: Metric, answers: Sequence[Answer | None]) -> list[float | None]:
    """Per point, the metric's value; None where it is still to come or was refused."""
    return [metric.value(a.figures) if a is not None and a.figures else None for a in answers]


def speeds_of(answers: Sequence[Answer | None]) -> list[float | None]:
    """Per point, samples per second; None as in `values_of`."""
    return values_of(METRICS[0], answers)
