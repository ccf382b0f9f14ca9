"""Outcome of a run, before it becomes text: each distinct round, and how often it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.products.arrays import owners
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import InstructionKind, IntArray, Program
from graphturbo_core.products.program_digest import program_digest
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.semantics.work import total_macs
from graphturbo_core.sim.critical_path import CriticalPath, critical_path
from graphturbo_core.sim.layers_in_flight import LayerConcurrency, layers_in_flight
from graphturbo_core.sim.overlap import LayerOverlap, layer_overlap
from graphturbo_core.sim.trace import Trace
from graphturbo_core.strategies.steps.batching import Division, Share
from graphturbo_core.verify.verify import Verification


@dataclass(frozen=True, slots=True)
class Named:
    """Names that the user chose for the run; `options` with all defaults filled in."""

    model: str
    profile: str
    strategy: str
    options: Mapping[str, str]
    number_format: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the run and its measured duration in seconds."""

    name: str
    seconds: float


REPLAY_STEPS = frozenset({"draw weights", "verify"})
"""Steps of verification; `schedule_seconds` leaves them out."""


@dataclass(frozen=True)
class Outcome:
    """One strategy on one model and chip.

    `whole`: the graph of the run at the whole batch. `traces`: one cluster's round per distinct
    round size, the largest first.
    """

    named: Named
    hardware: Hardware
    whole: GraphSemantics = field(repr=False)
    division: Division
    traces: Mapping[int, Trace] = field(repr=False)
    steps: tuple[Step, ...]
    verification: Verification | None = None

    @property
    def model(self) -> GraphSemantics:
        """The model at the whole batch before passes that decompose ops: equal in all runs."""
        return self.whole.undecomposed

    @cached_property
    def macs(self) -> int:
        """Multiply-accumulates of the model at the whole batch."""
        return total_macs(self.model)

    @property
    def largest_size(self) -> int:
        """Samples of the largest round."""
        return self.division.round_sizes[0]

    @property
    def largest(self) -> Trace:
        """The round that the report's lists and arrays describe."""
        return self.traces[self.largest_size]

    @property
    def program(self) -> Program:
        """The program of the largest round."""
        return self.largest.program

    @property
    def program_sha256(self) -> str:
        """Digest of the programs of all round sizes."""
        return program_digest({size: trace.program for size, trace in self.traces.items()})

    @cached_property
    def overlaps(self) -> Mapping[int, LayerOverlap]:
        """Per round size, the times at which a core runs two or more layers."""
        return {size: layer_overlap(trace) for size, trace in self.traces.items()}

    @cached_property
    def flights(self) -> Mapping[int, LayerConcurrency]:
        """Per round size, the number of layers in flight over time."""
        return {size: layers_in_flight(trace) for size, trace in self.traces.items()}

    @cached_property
    def paths(self) -> Mapping[int, CriticalPath]:
        """Per round size, its critical path."""
        return {size: critical_path(trace) for size, trace in self.traces.items()}

    @cached_property
    def busy(self) -> Mapping[int, IntArray]:
        """Per round size, the engine cycles of each instruction."""
        return {size: busy_cycles(trace.program) for size, trace in self.traces.items()}

    @property
    def plan(self) -> Plan:
        """The plan of the largest round."""
        return self.program.plan

    @cached_property
    def repeats(self) -> Mapping[int, int]:
        """Per round size, the number of rounds over all clusters."""
        return {
            size: sum(
                share.clusters * count
                for share in self.division.shares
                for own, count in share.rounds
                if own == size
            )
            for size in self.division.round_sizes
        }

    def share_cycles(self, share: Share) -> int:
        """Cycles of a cluster with this share: its rounds one after the other."""
        return sum(count * self.traces[size].makespan for size, count in share.rounds)

    @cached_property
    def makespan(self) -> int:
        """Cycles until the last cluster has ended."""
        return self.share_cycles(self.slowest_share)

    @cached_property
    def slowest_share(self) -> Share:
        """The share of the clusters that end last; ties: the largest share."""
        return max(self.division.shares, key=self.share_cycles)


def shared_division(division: Division, traces: Mapping[int, Trace]) -> Division:
    """The division of the batch, with what plans made of it: clusters that share one round."""
    clusters = max(trace.program.plan.clusters for trace in traces.values())
    return division if clusters == 1 else division.shared(clusters)


def busy_cycles(program: Program) -> IntArray:
    """Per instruction: cycles that it keeps engines busy, summed over the cores it stands for.

    A core may stand for equivalent ones. Its move then holds its engine until all of them have
    passed the ports that they share. Each engine is busy for the time of its own move alone.
    """
    engine_cores = np.array([engine.cores for engine in program.engines], np.int64)
    held = program.hold_cycles * engine_cores[program.engine]
    chip, owner = program.plan.hardware, owners(program.channel_at)
    bandwidth = np.array([channel.bandwidth for channel in program.channels], np.int64)
    size = (program.size_bytes // program.cores)[owner]
    cycles = -(-size * chip.clock_hz // bandwidth[program.channel])
    alone = np.zeros(program.size, np.int64)
    np.maximum.at(alone, owner, cycles)
    is_move = program.kind != InstructionKind.COMPUTE
    return np.where(is_move, np.minimum(program.cores * alone, held), held)
