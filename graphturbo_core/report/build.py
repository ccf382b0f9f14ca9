"""Outcome -> Report: the contract, the tables and the arrays; near-linear in instructions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.products.program import Memory
from graphturbo_core.report.contract import contract
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.buffer_rows import Placed, buffer_arrays, placed
from graphturbo_core.report.rows.layer_rows import layer_rows
from graphturbo_core.report.rows.memory import Memories, memories
from graphturbo_core.report.rows.produced_rows import produced_arrays
from graphturbo_core.report.tables import tables
from graphturbo_core.sim.bookings import bookings
from graphturbo_core.sim.critical_path import CriticalPath
from graphturbo_core.sim.layers_in_flight import LayerConcurrency
from graphturbo_core.sim.longest_chain import longest_chain


def build_report(outcome: Outcome, *, has_pictures: bool = True) -> Report:
    """Report of one run; `has_pictures` False leaves out tables and arrays that only pictures use.

    Raises:
        InvariantError: a bound is broken, a ledger or stalls do not sum, a memory overflows.
    """
    live = memories(outcome)
    layers = tuple(layer_rows(outcome, live))
    arrays = _instructions(outcome)
    buffers = placed(outcome) if has_pictures else None
    if buffers is not None:
        arrays |= _pictured_arrays(outcome, live, buffers)
    return Report(contract(outcome, live, layers), tables(outcome, layers, buffers), arrays)


def _instructions(outcome: Outcome) -> dict[str, NDArray[np.generic]]:
    """Arrays with one entry per instruction, in sequence order."""
    trace, program = outcome.largest, outcome.program
    group_of = np.array([kernel.group for kernel in outcome.plan.kernels], np.int32)
    return {
        "start": trace.start,
        "hold": program.hold_cycles,
        "visible": trace.end,
        "engine": program.engine,
        "kind": program.kind,
        "layer": program.layer,
        "group": group_of[program.kernel],
        "kernel": program.kernel,
        "op": program.op,
        "tile": program.tile,
        "wait": trace.wait,
        "wait_on": trace.wait_on,
        "size_bytes": program.size_bytes,
        "busy": outcome.busy[outcome.largest_size],
    }


def _pictured_arrays(
    outcome: Outcome, live: Memories, buffers: Placed
) -> dict[str, NDArray[np.generic]]:
    """Arrays for pictures: longest chain, critical path, step functions, stretches and buffers."""
    program = outcome.program
    overlap, booked = outcome.overlaps[outcome.largest_size], bookings(program)
    return {
        "chain": longest_chain(program),
        **_path_arrays(outcome.paths[outcome.largest_size]),
        **_flight_arrays(outcome.flights[outcome.largest_size]),
        "booked_instruction": booked.instruction,
        "booked_memory": (booked.memory == Memory.GB).astype(np.int8),
        "booked_cause": booked.cause,
        "booked_bytes": booked.size_bytes,
        "gb_cycle": live.largest.gb.cycle,
        "gb_bytes": live.largest.gb.live_bytes,
        "lb_cycle": live.largest.lb_worst.cycle,
        "lb_bytes": live.largest.lb_worst.live_bytes,
        "overlap_core": overlap.core,
        "overlap_start": overlap.start,
        "overlap_end": overlap.end,
        **produced_arrays(program),
        **buffer_arrays(outcome, buffers),
    }


def _path_arrays(path: CriticalPath) -> dict[str, NDArray[np.generic]]:
    """The critical path of the round, one entry per stretch."""
    return {
        "path_instruction": path.instruction.astype(np.int32),
        "path_start": path.start,
        "path_end": path.end,
        "path_resource": path.resource.astype(np.int8),
        "path_holds_up": path.holds_up.astype(np.int8),
    }


def _flight_arrays(flight: LayerConcurrency) -> dict[str, NDArray[np.generic]]:
    """Layers in flight as a step function, and the stretches of memory under compute."""
    return {
        "flight_cycle": flight.cycle,
        "flight_layers": flight.layers.astype(np.int32),
        "under_start": flight.under_start,
        "under_end": flight.under_end,
    }
