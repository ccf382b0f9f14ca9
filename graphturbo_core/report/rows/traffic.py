"""Outcome -> bytes and stalls of the chip for the whole batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.errors import InvariantError
from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.products.program import Cause, IntArray, Memory
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.sim.ledger import Ledger, ledger
from graphturbo_core.sim.trace import Trace, Wait

STALL_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes of the whole batch on the chip; `causes[memory]` sums to its reads and writes."""

    dram_read_bytes: int
    dram_write_bytes: int
    gb_read_bytes: int
    gb_write_bytes: int
    core_to_core_bytes: int
    causes: Mapping[Memory, Mapping[Cause, int]]

    def check(self) -> None:
        """Compares the bytes of each memory with the sum of its causes.

        Raises:
            InvariantError: they differ; names the memory and both sums.
        """
        counters = {
            Memory.DRAM: self.dram_read_bytes + self.dram_write_bytes,
            Memory.GB: self.gb_read_bytes + self.gb_write_bytes,
        }
        for memory, counted in counters.items():
            booked = sum(self.causes[memory].values())
            if booked != counted:
                raise InvariantError("REPORT_LEDGER", f"{memory.name}: {booked} of {counted} bytes")


def traffic(outcome: Outcome) -> Traffic:
    """Traffic of the whole batch: the bytes of each round size times its repeats."""
    ledgers = {size: ledger(trace.program) for size, trace in outcome.traces.items()}
    for one in ledgers.values():
        one.check()
    rows = [(outcome.repeats[size], one) for size, one in ledgers.items()]
    found = Traffic(
        dram_read_bytes=sum(times * one.dram_read_bytes for times, one in rows),
        dram_write_bytes=sum(times * one.dram_write_bytes for times, one in rows),
        gb_read_bytes=sum(times * one.gb_read_bytes for times, one in rows),
        gb_write_bytes=sum(times * one.gb_write_bytes for times, one in rows),
        core_to_core_bytes=sum(times * one.core_to_core_bytes for times, one in rows),
        causes={memory: _causes(outcome, ledgers, memory) for memory in (Memory.DRAM, Memory.GB)},
    )
    found.check()
    return found


def _causes(outcome: Outcome, ledgers: Mapping[int, Ledger], memory: Memory) -> dict[Cause, int]:
    """Bytes per cause, zeros too; first fetches after a cluster's first round are refetches."""
    causes: dict[Cause, int] = {
        cause: sum(
            outcome.repeats[size] * one.causes[memory].get(cause, 0)
            for size, one in ledgers.items()
        )
        for cause in Cause
        if cause is not Cause.NONE
    }
    first = sum(
        share.clusters * ledgers[share.rounds[0][0]].causes[memory].get(Cause.WEIGHT_FIRST, 0)
        for share in outcome.division.shares
    )
    causes[Cause.WEIGHT_AGAIN] += causes[Cause.WEIGHT_FIRST] - first
    causes[Cause.WEIGHT_FIRST] = first
    return causes


def stall_shares(outcome: Outcome) -> dict[str, dict[str, float]]:
    """Per engine kind, the shares of the makespan by `Wait`: mean over its engines on the chip.

    A cluster that has ended or has no work counts as idle.

    Raises:
        InvariantError: the shares of a kind do not sum to 1.
    """
    per_engine = outcome.makespan * outcome.division.clusters // outcome.plan.clusters
    shares = {}
    for kind in EngineKind:
        cycles, engines = np.zeros(len(Wait), np.int64), 0
        for size, trace in outcome.traces.items():
            times = np.array([e.cores * (e.kind is kind) for e in trace.program.engines], np.int64)
            cycles += outcome.repeats[size] * wait_cycles(trace, outcome.busy[size], times)
            engines = int(times.sum())
        shares[kind.value] = _shares(cycles, per_engine * engines)
    _check_shares(shares)
    return shares


def wait_cycles(trace: Trace, busy: IntArray, times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cycles by `Wait` of all engines; `times`: number of cores that each engine represents.

    Cycles in which a simulated engine is occupied but the represented engines are not busy count as
    waiting for a channel. `busy`: cycles by instruction.
    """
    found = times @ trace.stalls
    cycles = int(busy[times[trace.program.engine] > 0].sum())
    found[Wait.CHANNEL] += found[Wait.BUSY] - cycles
    found[Wait.BUSY] = cycles
    return np.asarray(found, np.int64)


def _shares(cycles: NDArray[np.int64], total: int) -> dict[str, float]:
    counted = {wait.name.lower(): int(cycles[wait]) for wait in Wait}
    if not total:
        return {**{name: 0.0 for name in counted}, "idle": 1.0}
    counted["idle"] += total - sum(counted.values())
    return {name: count / total for name, count in counted.items()}


def _check_shares(shares: Mapping[str, Mapping[str, float]]) -> None:
    for kind, parts in shares.items():
        is_whole = abs(sum(parts.values()) - 1) <= STALL_TOLERANCE
        if not is_whole or min(parts.values()) < 0:
            raise InvariantError("REPORT_STALLS", f"{kind} engines: {dict(parts)}")


def overlap_ratio(outcome: Outcome) -> float:
    """Share of the makespan with two or more layers at once, mean over the chip's cores."""
    cycles = sum(
        outcome.repeats[size]
        * outcome.overlaps[size].ratio
        * trace.makespan
        * trace.program.plan.clusters
        for size, trace in outcome.traces.items()
    )
    return cycles / max(1, outcome.makespan * outcome.division.clusters)
