"""The figures of the verdict: value in a contract, format, and which way is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from graphturbo_core.report.contract import Contract
from graphturbo_core.units import (
    format_bytes,
    format_count,
    format_percent,
    format_seconds,
    format_si,
)


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of the verdict: its value in a contract, its format, and which way is better."""

    key: str
    label: str
    term: str
    is_higher_better: bool
    value: Callable[[Contract], float]
    text: Callable[[float], str]


def dram_bytes(contract: Contract) -> int:
    """Bytes over DRAM for the whole batch, read and written."""
    return contract["dram_read_bytes"] + contract["dram_write_bytes"]


def _gb_bytes(contract: Contract) -> float:
    return contract["gb_read_bytes"] + contract["gb_write_bytes"]


def in_flight(contract: Contract) -> float:
    """Share of the time with two or more layers in flight."""
    overlap = contract["overlap"]
    return overlap["layers_in_flight"]["share"]


def launches(contract: Contract) -> float:
    """Kernels that one cluster launches for the whole batch."""
    return float(contract["kernels"] * contract["rounds"])


def times_text(ratio: float) -> str:
    """A multiple: `7.95×`."""
    return f"{format_si(ratio)}×"


def rate_text(per_second: float) -> str:
    """A rate in the digits of the first screen: four from a thousand on, `13,020`, else three."""
    if not THOUSAND <= per_second < inf:
        return format_si(per_second)
    return format_count(int(float(f"{per_second:.4g}")))


THOUSAND = 1000
MATRIX = "matrix"
THROUGHPUT = "Throughput"
"""Label of the figure that has what a sample is called in its unit."""
MEASURES: tuple[Measure, ...] = (
    Measure(
        "throughput",
        THROUGHPUT,
        "throughput",
        True,
        lambda contract: contract["throughput_per_s"],
        rate_text,
    ),
    Measure(
        "latency",
        "Latency",
        "latency",
        False,
        lambda contract: contract["latency_s"],
        format_seconds,
    ),
    Measure(
        "kernels",
        "Kernels launched",
        "kernel",
        False,
        launches,
        lambda value: format_count(int(value)),
    ),
    Measure("dram", "DRAM traffic", "DRAM", False, dram_bytes, format_bytes),
    Measure("gb", "GB traffic", "GB", False, _gb_bytes, format_bytes),
    Measure(
        MATRIX,
        "Matrix busy",
        "utilisation",
        True,
        lambda contract: contract["utilization"]["matrix"],
        format_percent,
    ),
    Measure(
        "in_flight", "2+ layers in flight", "layers in flight", True, in_flight, format_percent
    ),
    Measure("gap", "Gap to bound", "gap", False, lambda contract: contract["gap"], times_text),
)
