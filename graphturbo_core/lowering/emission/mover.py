"""The moves of a kernel: which engine issues one, which channels it takes, what it books."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.ir.boxes import Box, full_box, hull
from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.lowering.global_buffer.sites import Shard, Site
from graphturbo_core.lowering.instructions.code import (
    Access,
    CodeBuilder,
    Machine,
    Move,
    Use,
    Where,
    far_core,
)
from graphturbo_core.lowering.instructions.local_buffers import LocalBuffer, SharedKey
from graphturbo_core.lowering.stages.owners import Owners, Part, joined
from graphturbo_core.lowering.stages.stage import Cut, Stage, tensor_bytes
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Cause, InstructionKind, Memory

Spot = tuple[Memory, int, int]
"""Memory, core (-1: none), byte offset."""


class Targets(NamedTuple):
    """The buffers of simulated cores, by core, that one transfer of a weight fills.

    `cores`: how many cores get it, without the one that has it already; `alike`: how many such
    transfers it stands for, each of another box to other cores.
    """

    buffers: Mapping[int, int]
    cores: int
    alike: int


class Mover:
    """Appends moves to a builder.

    A load or exchange is issued by the receiving core, a store by the sending one, a broadcast by
    core (tile mod cores) or by the one whose LB it comes from, a prefetch by one DMA engine, a
    store from GB by another. A core that stands for others moves for them too, at once.
    """

    def __init__(self, plan: Plan, builder: CodeBuilder, stages: Iterable[Stage]) -> None:
        """`builder` collects the instructions of the kernel with these stages."""
        self.plan = plan
        self.builder = builder
        self.machine: Machine = builder.machine
        self._made = {stage.output: stage for stage in stages if self.machine.classes.is_folded}
        self._away, self._prefetcher = 0, 0
        self._owners: dict[Cut, Owners] = {}

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
        cores = self.machine.classes.size(spot[1])
        return self.builder.buffer(LocalBuffer(*spot, size, tensor, box, shared, cores=cores))

    def shard(self, shard: Shard, alike: int) -> int:
        """The buffer of a shard, and of as many alike in other LBs."""
        size = aligned(tensor_bytes(self.plan, shard.tensor, shard.box))
        spot = (Memory.LB_WEIGHT, shard.core, 0)
        return self.builder.buffer(
            LocalBuffer(*spot, size, shard.tensor, shard.box, shard.key, cores=alike)
        )

    def shared(self, site: Site) -> int:
        """The buffer of a site; a DRAM buffer holds the whole tensor."""
        known = self.builder.shared.get(site.key)
        if known is not None:
            return known
        box = site.whole().box
        if site.memory is Memory.DRAM:
            box = full_box(self.plan.semantics.graph.tensors[site.tensor].shape)
        size = aligned(tensor_bytes(self.plan, site.tensor, box))
        core = far_core(site.away)
        return self.builder.buffer(
            LocalBuffer(site.memory, core, 0, size, site.tensor, box, site.key, site.is_spill)
        )

    def _reads(self, site: Site, box: Box) -> Iterator[Access]:
        """What a read of the box finds written: for what this kernel's other cores wrote, the like.

        What lies there from before the kernel is read as it is.
        """
        buffer, stage = self.shared(site), self._made.get(site.tensor)
        if stage is None:
            yield Access(buffer, False, box)
            return
        for like in self.owners(stage.cut).likes(box):
            yield Access(buffer, False, like)

    def owners(self, cut: Cut) -> Owners:
        """Who computes which part of what is cut so; kept, since layers of a model are alike."""
        if cut not in self._owners:
            self._owners[cut] = Owners(cut, self.machine.classes)
        return self._owners[cut]

    def prefetch(
        self,
        where: Where,
        what: tuple[Site, Box],
        target: int,
        *,
        halo_bytes: int = 0,
        alike: int = 1,
    ) -> None:
        """DRAM -> GB by a DMA engine, of this box and of others that are `alike`."""
        site, box = what
        ways = (self.machine.far(Memory.DRAM, site.away), self.machine.far(Memory.GB))
        channels = [Use(channel, alike) for channel in ways]
        move = self._move(
            (site, box), (Memory.DRAM, Memory.GB), channels,
            halo_bytes=halo_bytes, cores=alike,
        )  # fmt: skip
        accesses = (Access(self.shared(site), False, box), Access(target, True, box))
        if site.away != self._away:
            self._away, self._prefetcher = site.away, 1 - self._prefetcher
        engine = self._dma(self._prefetcher)
        self.builder.move(engine, InstructionKind.PREFETCH, where, move, accesses)

    def write_back(self, where: Where, site: Site, box: Box, source: int) -> None:
        """GB -> DRAM by a DMA engine."""
        move = self._move(
            (site, box), (Memory.GB, Memory.DRAM),
            [Use(self.machine.far(Memory.GB)), Use(self.machine.far(Memory.DRAM))],
        )  # fmt: skip
        accesses = (Access(source, False, box), Access(self.shared(site), True, box))
        self.builder.move(self._dma(1), InstructionKind.STORE, where, move, accesses)

    def _dma(self, number: int) -> int:
        """The engine that prefetches, 0, or the one that writes back, 1 where there are two.

        Our choice: in turn, one would wait for DRAM at the head of GB's queue while the other
        moves, and hold up what only needs GB; one alone keeps DRAM busy. Two DRAMs in turn (lent
        shares) are read by two.
        """
        return self.machine.engine(
            EngineKind.DMA, min(number, self.machine.hardware.dma_engines - 1)
        )

    def broadcast(
        self, where: Where, weight: Site, box: Box, source: int | None, targets: Targets
    ) -> None:
        """GB -> the LBs of `targets`, once over the GB port.

        `weight` is where it lies in DRAM; without `source`, a buffer in GB, it comes from there.
        """
        issuer, kind = where.tile % self.machine.hardware.cores, InstructionKind.BROADCAST
        if targets.cores == 1:
            kind, issuer = InstructionKind.LOAD, next(iter(targets.buffers))
        memory = Memory.DRAM if source is None else Memory.GB
        channels = [
            Use(self.machine.far(memory), targets.alike),
            *(Use(self.machine.lb(core)) for core in targets.buffers),
        ]
        move = self._move(
            (weight, box), (memory, Memory.LB_WEIGHT), channels,
            cores=targets.alike,
        )  # fmt: skip
        accesses = (
            Access(self.shared(weight) if source is None else source, False, box),
            *self._filled(targets),
        )
        engine = self.machine.engine(EngineKind.MOVE, issuer)
        self.builder.move(engine, kind, where, move, accesses)

    def spread(self, where: Where, shard: Shard, source: int, targets: Targets) -> None:
        """A shard -> the LBs of `targets`, once out of its core's link.

        Its own core issues it; what only one core needs is an exchange, which that one issues.
        """
        kind, issuer = InstructionKind.BROADCAST, shard.core
        if targets.cores == 1:
            kind, issuer = InstructionKind.EXCHANGE, next(iter(targets.buffers))
        links = [self.machine.link(shard.core, core) for core in targets.buffers]
        channels = (
            Use(self.machine.lb(shard.core)), Use(links[0][0]), *(Use(link) for _, link in links),
            *(Use(self.machine.lb(core)) for core in targets.buffers),
        )  # fmt: skip
        size = tensor_bytes(self.plan, shard.tensor, shard.box)
        ends, latency = (Memory.LB_WEIGHT, Memory.LB_WEIGHT), self._link_latency
        move = Move(size, 0, *ends, Cause.NONE, latency, channels, targets.alike)
        accesses = (Access(source, False, shard.box), *self._filled(targets))
        self.builder.move(self.machine.engine(EngineKind.MOVE, issuer), kind, where, move, accesses)

    def _filled(self, targets: Targets) -> Iterator[Access]:
        """Writes of whole buffers."""
        for buffer in targets.buffers.values():
            yield Access(buffer, True, self.builder.buffers[buffer].box)

    @property
    def _link_latency(self) -> int:
        return self.machine.hardware.link_latency_cycles

    def load(
        self, where: Where, site: Site, box: Box, halo_bytes: int, target: tuple[int, int]
    ) -> None:
        """GB or DRAM -> LB; `target` is (core, buffer)."""
        core, buffer = target
        cores, channels = self._far_and_near(site, core)
        move = self._move(
            (site, box), (site.memory, Memory.LB_DATA), channels,
            halo_bytes=halo_bytes, cores=cores,
        )  # fmt: skip
        accesses = (*self._reads(site, box), Access(buffer, True, box))
        engine = self.machine.engine(EngineKind.MOVE, core)
        self.builder.move(engine, InstructionKind.LOAD, where, move, accesses)

    def look_up(
        self, where: Where, table: Site, box: Box, size_bytes: int, target: tuple[int, int]
    ) -> None:
        """So many bytes out of the box of a table, by index -> LB; `target` is (core, buffer)."""
        core, buffer = target
        ends = (table.memory, Memory.LB_DATA)
        cores, channels = self._far_and_near(table, core)
        latency = self.machine.latency(max(ends), table.away)
        move = Move(size_bytes, 0, *ends, table.cause, latency, channels, cores)
        accesses = (Access(self.shared(table), False, box), Access(buffer, True, box))
        engine = self.machine.engine(EngineKind.MOVE, core)
        self.builder.move(engine, InstructionKind.LOAD, where, move, accesses)

    def store(self, where: Where, site: Site, box: Box, source: tuple[int, int]) -> None:
        """LB -> GB or DRAM; `source` is (core, buffer)."""
        core, buffer = source
        cores, (far, near) = self._far_and_near(site, core)
        move = self._move((site, box), (Memory.LB_DATA, site.memory), (near, far), cores=cores)
        accesses = (Access(buffer, False, box), Access(self.shared(site), True, box))
        engine = self.machine.engine(EngineKind.MOVE, core)
        self.builder.move(engine, InstructionKind.STORE, where, move, accesses)

    def exchange(
        self,
        where: Where,
        tensor: str,
        parts: Sequence[Part],
        ends: tuple[tuple[int, int], tuple[int, int]],
    ) -> None:
        """LB -> another core's LB; source and target are (core, buffer).

        The receivers of a class are served by the senders of one, each by as many; what one gets
        from several of them comes in one move. Of one class both ends are the same simulated core:
        its port carries both.
        """
        (sender, source), (receiver, target) = ends
        size = sum(tensor_bytes(self.plan, tensor, part.box) for part in parts)
        cores, among = (self.machine.classes.size(core) for core in (receiver, sender))
        link_out, link_in = self.machine.link(sender, receiver)
        channels = (
            Use(self.machine.lb(sender), cores, among), Use(link_out, cores, among),
            Use(link_in), Use(self.machine.lb(receiver)),
        )  # fmt: skip
        memories = (Memory.LB_DATA, Memory.LB_DATA)
        move = Move(size, 0, *memories, Cause.NONE, self._link_latency, channels, cores)
        accesses = (
            Access(source, False, reduce(hull, (part.like for part in parts))),
            *(Access(target, True, box) for box in joined(part.box for part in parts)),
        )
        engine = self.machine.engine(EngineKind.MOVE, receiver)
        self.builder.move(engine, InstructionKind.EXCHANGE, where, move, accesses)

    def copy(
        self, where: Where, tensor: str, box: Box, source: int, target: tuple[int, int]
    ) -> None:
        """LB -> the same LB, through its port both ways; `target` is (core, buffer)."""
        core, buffer = target
        size = tensor_bytes(self.plan, tensor, box)
        memories, channels = (Memory.LB_DATA, Memory.LB_DATA), (Use(self.machine.lb(core), 2),)
        cores = self.machine.classes.size(core)
        move = Move(size, 0, *memories, Cause.NONE, self._link_latency, channels, cores)
        accesses = (Access(source, False, box), Access(buffer, True, box))
        engine = self.machine.engine(EngineKind.MOVE, core)
        self.builder.move(engine, InstructionKind.COPY, where, move, accesses)

    def _far_and_near(self, site: Site, core: int) -> tuple[int, tuple[Use, Use]]:
        """How many cores move at once, and through what: the port they share, an LB's each."""
        cores, far = self.machine.classes.size(core), self.machine.far(site.memory, site.away)
        return cores, (Use(far, cores), Use(self.machine.lb(core)))

    def _move(
        self,
        what: tuple[Site, Box],
        ends: tuple[Memory, Memory],
        channels: Sequence[Use],
        *,
        halo_bytes: int = 0,
        cores: int = 1,
    ) -> Move:
        """A move between LB, GB and DRAM; the farther end sets the latency."""
        site, box = what
        size = tensor_bytes(self.plan, site.tensor, box)
        latency = self.machine.latency(max(ends), site.away)
        return Move(size, halo_bytes, *ends, site.cause, latency, tuple(channels), cores)
