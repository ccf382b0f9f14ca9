"""The moves of a kernel: which engine issues one, which channels it takes, what it books."""

from __future__ import annotations

from collections.abc import Mapping

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.ir.boxes import Box, full_box
from graphturbo_core.lowering.allocator import aligned
from graphturbo_core.lowering.code import (
    Access,
    CodeBuilder,
    LocalBuffer,
    Machine,
    Move,
    SharedKey,
    Where,
)
from graphturbo_core.lowering.program import Cause, InstructionKind, Memory
from graphturbo_core.lowering.sites import Shard, Site
from graphturbo_core.lowering.stages import tensor_bytes
from graphturbo_core.strategies.plan import Plan

Spot = tuple[Memory, int, int]
"""Memory, core (-1: none), byte offset."""


class Mover:
    """Appends moves to a builder.

    A load or exchange is issued by the receiving core, a store by the sending one, a broadcast by
    core (tile mod cores) or by the one whose LB it comes from, a prefetch by the DMA engines in
    turn, as is a store from GB.
    """

    def __init__(self, plan: Plan, builder: CodeBuilder) -> None:
        """`builder` collects the instructions."""
        self.plan = plan
        self.builder = builder
        self.machine: Machine = builder.machine
        self._next_dma = 0

    def local(
        self,
        spot: Spot,
        tensor: str,
        box: Box,
        shared: SharedKey | None = None,
        size_bytes: int | None = None,
    ) -> int:
        """A new buffer of this kernel, in LB or in the GB ring; by default as large as the box."""
        size = aligned(tensor_bytes(self.plan, tensor, box) if size_bytes is None else size_bytes)
        return self.builder.buffer(LocalBuffer(*spot, size, tensor, box, shared))

    def shared(self, site: Site) -> int:
        """The buffer of a site; a DRAM buffer holds the whole tensor."""
        box = site.whole().box
        if site.memory is Memory.DRAM:
            box = full_box(self.plan.semantics.graph.tensors[site.tensor].shape)
        size = aligned(tensor_bytes(self.plan, site.tensor, box))
        return self.builder.buffer(
            LocalBuffer(site.memory, -1, 0, size, site.tensor, box, site.key, site.is_spill)
        )

    def prefetch(
        self, where: Where, site: Site, box: Box, target: int, halo_bytes: int = 0
    ) -> None:
        """DRAM -> GB by a DMA engine."""
        move = self._move(
            (site.tensor, box), (Memory.DRAM, Memory.GB), site.cause,
            (self.machine.far(Memory.DRAM), self.machine.far(Memory.GB)), halo_bytes,
        )  # fmt: skip
        accesses = (Access(self.shared(site), False, box), Access(target, True, box))
        self.builder.move(self._dma(), InstructionKind.PREFETCH, where, move, accesses)

    def write_back(self, where: Where, site: Site, box: Box, source: int) -> None:
        """GB -> DRAM by a DMA engine."""
        move = self._move(
            (site.tensor, box), (Memory.GB, Memory.DRAM), site.cause,
            (self.machine.far(Memory.GB), self.machine.far(Memory.DRAM)),
        )  # fmt: skip
        accesses = (Access(source, False, box), Access(self.shared(site), True, box))
        self.builder.move(self._dma(), InstructionKind.STORE, where, move, accesses)

    def _dma(self) -> int:
        engine = self.machine.engine(EngineKind.DMA, self._next_dma)
        self._next_dma = (self._next_dma + 1) % self.machine.hardware.dma_engines
        return engine

    def broadcast(
        self, where: Where, weight: Site, box: Box, source: int | None, targets: Mapping[int, int]
    ) -> None:
        """GB -> the LBs of `targets` (core -> buffer), once over the GB port.

        `weight` is where it lies in DRAM; without `source`, a buffer in GB, it comes from there.
        """
        cores = tuple(targets)
        issuer = cores[0] if len(cores) == 1 else where.tile % self.machine.hardware.cores
        kind = InstructionKind.LOAD if len(cores) == 1 else InstructionKind.BROADCAST
        memory = Memory.DRAM if source is None else Memory.GB
        move = self._move(
            (weight.tensor, box), (memory, Memory.LB_WEIGHT), weight.cause,
            (self.machine.far(memory), *(self.machine.lb(core) for core in cores)),
        )  # fmt: skip
        accesses = (
            Access(self.shared(weight) if source is None else source, False, box),
            *(Access(buffer, True, box) for buffer in targets.values()),
        )
        engine = self.machine.engine(EngineKind.MOVE, issuer)
        self.builder.move(engine, kind, where, move, accesses)

    def spread(self, where: Where, shard: Shard, source: int, targets: Mapping[int, int]) -> None:
        """A shard -> the LBs of `targets` (core -> buffer), once out of its core's link.

        Its own core issues it; what only one core needs is an exchange, which that one issues.
        """
        what, kind, issuer = (shard.tensor, shard.box), InstructionKind.BROADCAST, shard.core
        if len(targets) == 1:
            kind, (issuer,) = InstructionKind.EXCHANGE, targets
        links = [self.machine.link(shard.core, core) for core in targets]
        channels = (
            self.machine.lb(shard.core), links[0][0], *(link for _, link in links),
            *(self.machine.lb(core) for core in targets),
        )  # fmt: skip
        size, latency = tensor_bytes(self.plan, *what), self.machine.hardware.link_latency_cycles
        ends = (Memory.LB_WEIGHT, Memory.LB_WEIGHT)
        move = Move(size, 0, *ends, Cause.NONE, latency, channels)
        accesses = (
            Access(source, False, shard.box),
            *(Access(buffer, True, shard.box) for buffer in targets.values()),
        )
        self.builder.move(self.machine.engine(EngineKind.MOVE, issuer), kind, where, move, accesses)

    def load(
        self, where: Where, site: Site, box: Box, halo_bytes: int, target: tuple[int, int]
    ) -> None:
        """GB or DRAM -> LB; `target` is (core, buffer)."""
        core, buffer = target
        move = self._move(
            (site.tensor, box), (site.memory, Memory.LB_DATA), site.cause,
            (self.machine.far(site.memory), self.machine.lb(core)), halo_bytes,
        )  # fmt: skip
        accesses = (Access(self.shared(site), False, box), Access(buffer, True, box))
        engine = self.machine.engine(EngineKind.MOVE, core)
        self.builder.move(engine, InstructionKind.LOAD, where, move, accesses)

    def look_up(
        self, where: Where, table: Site, box: Box, size_bytes: int, target: tuple[int, int]
    ) -> None:
        """So many bytes out of the box of a table, by index -> LB; `target` is (core, buffer)."""
        core, buffer = target
        ends = (table.memory, Memory.LB_DATA)
        channels = (self.machine.far(table.memory), self.machine.lb(core))
        latency = self.machine.latency(max(ends))
        move = Move(size_bytes, 0, *ends, table.cause, latency, channels)
        accesses = (Access(self.shared(table), False, box), Access(buffer, True, box))
        engine = self.machine.engine(EngineKind.MOVE, core)
        self.builder.move(engine, InstructionKind.LOAD, where, move, accesses)

    def store(self, where: Where, site: Site, box: Box, source: tuple[int, int]) -> None:
        """LB -> GB or DRAM; `source` is (core, buffer)."""
        core, buffer = source
        move = self._move(
            (site.tensor, box), (Memory.LB_DATA, site.memory), site.cause,
            (self.machine.lb(core), self.machine.far(site.memory)),
        )  # fmt: skip
        accesses = (Access(buffer, False, box), Access(self.shared(site), True, box))
        engine = self.machine.engine(EngineKind.MOVE, core)
        self.builder.move(engine, InstructionKind.STORE, where, move, accesses)

    def exchange(
        self, where: Where, tensor: str, box: Box, source: tuple[int, int], target: tuple[int, int]
    ) -> None:
        """LB -> another core's LB; both ends are (core, buffer)."""
        size = tensor_bytes(self.plan, tensor, box)
        cores = source[0], target[0]
        channels = (
            self.machine.lb(cores[0]), *self.machine.link(*cores), self.machine.lb(cores[1])
        )  # fmt: skip
        latency = self.machine.hardware.link_latency_cycles
        move = Move(size, 0, Memory.LB_DATA, Memory.LB_DATA, Cause.NONE, latency, channels)
        accesses = (Access(source[1], False, box), Access(target[1], True, box))
        engine = self.machine.engine(EngineKind.MOVE, target[0])
        self.builder.move(engine, InstructionKind.EXCHANGE, where, move, accesses)

    def _move(
        self,
        what: tuple[str, Box],
        ends: tuple[Memory, Memory],
        cause: Cause,
        channels: tuple[int, ...],
        halo_bytes: int = 0,
    ) -> Move:
        """A move between LB, GB and DRAM; the farther end sets the latency."""
        size = tensor_bytes(self.plan, *what)
        return Move(size, halo_bytes, *ends, cause, self.machine.latency(max(ends)), channels)
