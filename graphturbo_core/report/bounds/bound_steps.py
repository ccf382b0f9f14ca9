"""Outcome, lower bound -> steps from the bound to the latency, in seconds that sum to it.

The bound is that of one resource: matrix engines, vector engines or DRAM. The steps are what this
resource does beyond the bound, and what it waits for. They are those of the clusters that end last,
as means over the engines of the kind. Our choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from graphturbo_core.errors import InvariantError
from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.products.program import Cause, Memory
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows.halo import halo_macs
from graphturbo_core.report.rows.traffic import wait_cycles
from graphturbo_core.sim.data_sources import DataSource
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.trace import Wait

TOLERANCE = 1e-6
"""Share of the latency by which the sum of the steps may differ from it: floating point."""
LEAST = 1e-3
"""Cycles of the smallest step that is listed: less is a rounding error."""
DRAM, ENGINES = "dram", "engines"
BOUND, REPEATED, UNFILLED, OTHER_BYTES, DRAM_IDLE, OTHER_CLUSTERS = (
    "bound", "repeated", "unfilled", "other_bytes", "dram_idle", "other_clusters"
)  # fmt: skip
WAITS = (Wait.ADDRESS, Wait.CHANNEL, Wait.BARRIER, Wait.IDLE)
MORE_BYTES = (Cause.HALO, Cause.ACTIVATION, Cause.SPILL, Cause.WEIGHT_AGAIN)
"""Causes of bytes that the bound does not contain."""


@dataclass(frozen=True, slots=True)
class BoundSteps:
    """Seconds per step, the bound first; `resource`: `matrix`, `vector` or `dram`."""

    resource: str
    seconds: Mapping[str, float]

    def check(self, latency_s: float) -> None:
        """Check that the steps sum to the latency, and that none is below 0.

        Raises:
            InvariantError: both times, or the steps.
        """
        total = sum(self.seconds.values())
        if min(self.seconds.values()) < 0:
            raise InvariantError("BOUND_STEPS", f"a step is below 0: {dict(self.seconds)}")
        if abs(total - latency_s) > TOLERANCE * latency_s:
            raise InvariantError("BOUND_STEPS", f"steps sum to {total} s, not to {latency_s} s")


def bound_steps(outcome: Outcome, terms_s: Mapping[str, float]) -> BoundSteps:
    """The steps; those of 0 seconds are left out.

    Raises:
        InvariantError: they do not sum to the latency.
    """
    clock_hz = outcome.hardware.clock_hz
    resource = _resource(outcome, terms_s)
    bound = max(terms_s.values()) * clock_hz
    if resource == DRAM:
        cycles = dict(_of_dram(outcome, bound))
    else:
        cycles = dict(_of_engines(outcome, EngineKind(resource), bound))
    steps = {BOUND: bound, **{step: own for step, own in cycles.items() if abs(own) >= LEAST}}
    found = BoundSteps(resource, {step: own / clock_hz for step, own in steps.items()})
    found.check(outcome.makespan / clock_hz)
    return found


def _resource(outcome: Outcome, terms_s: Mapping[str, float]) -> str:
    """The resource of the largest term; where both kinds share the work, the busier kind."""
    name = max(terms_s, key=lambda term: terms_s[term])
    if name != ENGINES:
        return name
    kinds = (EngineKind.MATRIX, EngineKind.VECTOR)
    return max(kinds, key=lambda kind: _engine_cycles(outcome, kind)[0][Wait.BUSY]).value


def _left_to_one(outcome: Outcome, bound: float) -> float:
    """Cycles beyond a bound for all clusters because the plan leaves others idle that may help."""
    if not outcome.hardware.can_cooperate:
        return 0.0
    return bound * max(0, outcome.division.clusters_a_round / outcome.plan.clusters - 1)


def _engine_cycles(
    outcome: Outcome, kind: EngineKind
) -> tuple[dict[Wait, float], dict[DataSource, float]]:
    """Cycles by `Wait`, and those of waits for data by `DataSource`: mean of a kind's engines."""
    waits, sources = np.zeros(len(Wait)), np.zeros(len(DataSource))
    for size, count in outcome.slowest_share.rounds:
        trace = outcome.traces[size]
        times = np.array([e.cores * (e.kind is kind) for e in trace.program.engines], np.int64)
        engines = max(1, int(times.sum()))
        waits += count * wait_cycles(trace, outcome.busy[size], times) / engines
        sources += count * (times @ trace.data_waits) / engines
    by_wait = {wait: float(waits[wait]) for wait in Wait}
    return by_wait, {source: float(sources[source]) for source in DataSource}


def _of_engines(outcome: Outcome, kind: EngineKind, bound: float) -> Iterator[tuple[str, float]]:
    """Repeated work takes the busy time in proportion to the MACs that are repeated.

    For vector engines it is part of the other work. If the share that ends last is not the largest,
    it may do less than the bound of the largest; then its waits are less by as much, idling first.
    """
    waits, sources = _engine_cycles(outcome, kind)
    beyond, short = max(0.0, waits[Wait.BUSY] - bound), max(0.0, bound - waits[Wait.BUSY])
    again = halo_macs(outcome) if kind is EngineKind.MATRIX else 0
    share = again / max(1, outcome.macs + again)
    alone = min(beyond, _left_to_one(outcome, bound))
    repeated = min(beyond - alone, share * waits[Wait.BUSY])
    yield OTHER_CLUSTERS, alone
    yield REPEATED, repeated
    yield UNFILLED, beyond - alone - repeated
    rest = [(f"data_{source.name.lower()}", cycles) for source, cycles in sources.items()]
    rest += [(wait.name.lower(), waits[wait]) for wait in WAITS]
    yield from reversed(list(_reduced(reversed(rest), short)))


def _reduced(steps: Iterable[tuple[str, float]], short: float) -> Iterator[tuple[str, float]]:
    """The steps, the first ones less by `short` in all; none is below 0."""
    for step, cycles in steps:
        less = min(short, cycles)
        short -= less
        yield step, cycles - less


def _of_dram(outcome: Outcome, bound: float) -> Iterator[tuple[str, float]]:
    """Bytes of the share by cause; first fetches of weights after its first round are refetches.

    Halos, which may be read instead of the same bytes as input, are reduced first where inputs,
    results and first fetches are less than the bound.
    """
    plan, hardware = outcome.plan, outcome.hardware
    causes: dict[Cause, int] = dict.fromkeys(Cause, 0)
    for place, (size, count) in enumerate(outcome.slowest_share.rounds):
        for cause, size_bytes in ledger(outcome.traces[size].program).causes[Memory.DRAM].items():
            is_first = cause is Cause.WEIGHT_FIRST
            first = (place == 0) if is_first else count
            causes[cause] += first * size_bytes
            causes[Cause.WEIGHT_AGAIN] += (count - first) * size_bytes
    rate = hardware.clock_hz / (plan.clusters * hardware.dram_bandwidth)
    cycles = {cause: rate * size_bytes for cause, size_bytes in causes.items()}
    moved = sum(cycles.values())
    alone = min(max(0.0, moved - bound), _left_to_one(outcome, bound))
    yield OTHER_CLUSTERS, alone
    other = moved - bound - alone - sum(cycles[cause] for cause in MORE_BYTES)
    more = [(cause.name.lower(), cycles[cause]) for cause in MORE_BYTES]
    yield from _reduced(more, max(0.0, -other))
    yield OTHER_BYTES, max(0.0, other)
    yield DRAM_IDLE, outcome.makespan - max(moved, bound)
