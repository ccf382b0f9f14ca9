"""Outcome -> occupancy of LB and GB, computed once for tables, arrays and contract."""

from __future__ import annotations

from dataclasses import dataclass, field

from graphturbo_core.errors import InvariantError
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.sim.occupancy import LayerMemory, Occupancy, layer_memory, occupancy


@dataclass(frozen=True)
class Memories:
    """Live bytes of the largest round in total and per layer, and the peaks over all rounds."""

    largest: Occupancy = field(repr=False)
    layers: LayerMemory = field(repr=False)
    lb_peak_bytes: int
    gb_peak_bytes: int


def memories(outcome: Outcome) -> Memories:
    """Live bytes of the largest round, and the peaks of all.

    Raises:
        InvariantError: a memory is over its capacity.
    """
    found = [occupancy(trace) for trace in outcome.traces.values()]
    lb_peak = max(live.lb_worst.peak_bytes for live in found)
    gb_peak = max(live.gb.peak_bytes for live in found)
    hardware = outcome.hardware
    capacities = {"LB": (lb_peak, hardware.lb_bytes), "GB": (gb_peak, hardware.gb_bytes)}
    for memory, (peak, capacity) in capacities.items():
        if peak > capacity:
            raise InvariantError("REPORT_CAPACITY", f"{memory} uses {peak} of {capacity} bytes")
    return Memories(found[0], layer_memory(outcome.largest, found[0]), lb_peak, gb_peak)
