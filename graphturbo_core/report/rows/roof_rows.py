"""Outcome -> peak rates of one cluster: the roofs of a roofline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from graphturbo_core.report.outcome import Outcome
from graphturbo_core.semantics.cost import product_peaks


class RoofRow(TypedDict):
    """Peak rates of one cluster."""

    matrix_macs_per_s: float
    vector_macs_per_s: float
    dram_bytes_per_s: float
    gb_bytes_per_s: float


def roof_rows(outcome: Outcome) -> Iterator[RoofRow]:
    """Peak rates in MAC/s and byte/s from the profile's numbers, as in the bounds; one row.

    `matrix`, `vector`: sum of all engines of the kind, for products in the run's number format.
    `dram`: the cluster's share. `gb`: its port; 0 without a GB.
    """
    hardware = outcome.hardware
    matrix, vector = product_peaks(outcome.model, hardware, outcome.named.number_format)
    cycles = hardware.clock_hz
    yield {
        "matrix_macs_per_s": matrix * hardware.matrix_engines * cycles,
        "vector_macs_per_s": vector * hardware.cores * cycles,
        "dram_bytes_per_s": hardware.dram_bandwidth,
        "gb_bytes_per_s": hardware.gb_bandwidth,
    }
