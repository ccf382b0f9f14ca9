"""DMA emission: issuing engine, channels and booked bytes of a kernel's moves."""

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
    Move,
    Use,
    Where,
)
from graphturbo_core.lowering.instructions.local_buffers import LocalBuffer, SharedKey
from graphturbo_core.lowering.instructions.machine import End, Machine, Route, far_core
from graphturbo_core.lowering.stages.owners import Owners, Part, joined
from graphturbo_core.lowering.stages.stage import Cut, Stage, tensor_bytes
from graphturbo_core.products.plan import KernelPlan, Plan
from graphturbo_core.products.program import Cause, InstructionKind, Memory

Spot = tuple[Memory, int, int]
"""Memory, core (-1: none), byte offset."""
_OWN_GB: End = (Memory.GB, far_core(0))


class Targets(NamedTuple):
    """What one weight transfer fills. `buffers`: by simulated core.

    `cores`: number of receivers, except one that already has the box; `alike`: number of transfers
    that this one stands for; the others move other boxes to other cores.
    """

    buffers: Mapping[int, int]
    cores: int
    alike: int


class _Path(NamedTuple):
    """All stores of a core to one memory: their engine, latency, channels and cores."""

    engine: int
    latency_cycles: int
    channels: tuple[Use, ...]
    cores: int


class Mover:
    """Appends moves to a builder.

    Issuing engines: the receiving core for a load or exchange; the sending core for a store; core
    (tile mod cores) of the kernel, or the core of the source LB, for a broadcast; one DMA engine
    for a prefetch, another for a store from GB. A core that represents others moves for them too,
    in one move.
    """

    def __init__(
        self, plan: Plan, builder: CodeBuilder, stages: Iterable[Stage], cores: Sequence[int]
    ) -> None:
        """Create the emitter; `builder` collects the instructions of these stages' kernel.

        `cores`: those that issue broadcasts.
        """
        self.plan = plan
        self._issuers = cores
        self.builder = builder
        self.machine: Machine = builder.machine
        self._made = {stage.output: stage for stage in stages if self.machine.classes.is_folded}
        self._away, self._prefetcher = 0, 0
        self._owners: dict[Cut, Owners] = {}
        self._paths: dict[tuple[int, Memory, int], _Path] = {}

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
        """The buffer of a shard, and of its equivalents in other LBs."""
        size = aligned(tensor_bytes(self.plan, shard.tensor, shard.box))
        spot = (Memory.LB_WEIGHT, shard.core, 0)
        return self.builder.buffer(
            LocalBuffer(*spot, size, shard.tensor, shard.box, shard.key, cores=alike)
        )

    def shared(self, site: Site) -> int:
        """The buffer of a site; a DRAM buffer has the whole tensor."""
        known = self.builder.shared.get(site.key)
        if known is not None:
            return known
        box = site.whole().box
        if site.memory is Memory.DRAM:
            box = full_box(self.plan.semantics.graph.tensors[site.tensor].shape)
        size = aligned(tensor_bytes(self.plan, site.tensor, box))
        core = far_core(site.away)
        return self.builder.buffer(
            LocalBuffer(
                site.memory,
                core,
                site.scratch or 0,
                size,
                site.tensor,
                box,
                site.key,
                site.is_spill,
            )
        )

    def _reads(self, site: Site, box: Box) -> Iterator[Access]:
        """Read accesses of the box; parts of unsimulated cores map to equivalent boxes.

        Parts written before this kernel are read directly.
        """
        buffer, stage = self.shared(site), self._made.get(site.tensor)
        if stage is None:
            yield Access(buffer, False, box)
            return
        for like in self.owners(stage.cut).likes(box):
            yield Access(buffer, False, like)

    def owners(self, cut: Cut) -> Owners:
        """Owners of the parts of a cut; memoised by cut."""
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
        """DRAM -> GB by a DMA engine, of this box and `alike` - 1 equivalent ones."""
        site, box = what
        route = self.machine.route((Memory.DRAM, far_core(site.away)), _OWN_GB)
        ends = (Memory.DRAM, Memory.GB)
        move = self._move(what, ends, route, halo_bytes=halo_bytes, cores=alike)
        accesses = (Access(self.shared(site), False, box), Access(target, True, box))
        if site.away != self._away:
            self._away, self._prefetcher = site.away, 1 - self._prefetcher
        engine = self._dma(self._prefetcher)
        self.builder.move(engine, InstructionKind.PREFETCH, where, move, accesses)

    def write_back(self, where: Where, site: Site, box: Box, source: int) -> None:
        """GB -> DRAM by a DMA engine."""
        route = self.machine.route(_OWN_GB, _end(site))
        move = self._move((site, box), (Memory.GB, Memory.DRAM), route)
        accesses = (Access(source, False, box), Access(self.shared(site), True, box))
        self.builder.move(self._dma(1), InstructionKind.STORE, where, move, accesses)

    def _dma(self, number: int) -> int:
        """The engine that prefetches, 0, or writes back, 1 if there are two.

        Our choice: if both prefetched alternately, one would wait for DRAM at the head of GB's
        queue and delay moves that only need GB; one alone keeps DRAM busy. Two DRAM shares
        (remote ones) are read by two engines.
        """
        return self.machine.engine(
            EngineKind.DMA, min(number, self.machine.hardware.dma_engines - 1)
        )

    def broadcast(
        self, where: Where, weight: Site, box: Box, source: int | None, targets: Targets
    ) -> None:
        """GB -> the LBs of `targets`, one transfer over the GB port.

        `weight`: its site in DRAM; `source`: a buffer in GB, or None: the broadcast is from DRAM.
        """
        issuer = self._issuers[where.tile % len(self._issuers)]
        kind = InstructionKind.BROADCAST
        if targets.cores == 1:
            kind, issuer = InstructionKind.LOAD, next(iter(targets.buffers))
        begin = (Memory.DRAM, far_core(weight.away)) if source is None else _OWN_GB
        route = self._route_to(begin, targets)
        ends = (begin[0], Memory.LB_WEIGHT)
        move = self._move((weight, box), ends, route, cores=targets.alike)
        accesses = (
            Access(self.shared(weight) if source is None else source, False, box),
            *self._filled(targets),
        )
        engine = self.machine.engine(EngineKind.MOVE, issuer)
        self.builder.move(engine, kind, where, move, accesses)

    def spread(self, where: Where, shard: Shard, source: int, targets: Targets) -> None:
        """A shard -> the LBs of `targets`, one transfer over its core's link.

        Its own core issues it. For a single receiver it is an exchange, issued by the receiver.
        """
        kind, issuer = InstructionKind.BROADCAST, shard.core
        if targets.cores == 1:
            kind, issuer = InstructionKind.EXCHANGE, next(iter(targets.buffers))
        size = tensor_bytes(self.plan, shard.tensor, shard.box)
        route = self._route_to((Memory.LB_WEIGHT, shard.core), targets)
        uses, ends = self._uses(route, targets.alike), (Memory.LB_WEIGHT, Memory.LB_WEIGHT)
        move = Move(size, 0, *ends, Cause.NONE, route.latency_cycles, uses, targets.alike)
        accesses = (Access(source, False, shard.box), *self._filled(targets))
        self.builder.move(self.machine.engine(EngineKind.MOVE, issuer), kind, where, move, accesses)

    def _filled(self, targets: Targets) -> Iterator[Access]:
        """Writes of whole buffers."""
        for buffer in targets.buffers.values():
            yield Access(buffer, True, self.builder.buffers[buffer].box)

    def _route_to(self, source: End, targets: Targets) -> Route:
        """From a memory to the LBs of `targets`."""
        return self.machine.route(source, *((Memory.LB_WEIGHT, core) for core in targets.buffers))

    def load(
        self, where: Where, site: Site, box: Box, halo_bytes: int, target: tuple[int, int]
    ) -> None:
        """GB or DRAM -> LB; `target` is (core, buffer)."""
        core, buffer = target
        route = self.machine.route(_end(site), (Memory.LB_DATA, core))
        cores, ends = self.machine.classes.size(core), (site.memory, Memory.LB_DATA)
        move = self._move((site, box), ends, route, halo_bytes=halo_bytes, cores=cores)
        accesses = (*self._reads(site, box), Access(buffer, True, box))
        engine = self.machine.engine(EngineKind.MOVE, core)
        self.builder.move(engine, InstructionKind.LOAD, where, move, accesses)

    def look_up(
        self, where: Where, table: Site, box: Box, size_bytes: int, target: tuple[int, int]
    ) -> None:
        """`size_bytes` of the box of a table, by index -> LB; `target` is (core, buffer)."""
        core, buffer = target
        route = self.machine.route(_end(table), (Memory.LB_DATA, core))
        cores, ends = self.machine.classes.size(core), (table.memory, Memory.LB_DATA)
        uses = self._uses(route, cores)
        move = Move(size_bytes, 0, *ends, table.cause, route.latency_cycles, uses, cores)
        accesses = (Access(self.shared(table), False, box), Access(buffer, True, box))
        engine = self.machine.engine(EngineKind.MOVE, core)
        self.builder.move(engine, InstructionKind.LOAD, where, move, accesses)

    def store(self, where: Where, site: Site, box: Box, source: tuple[int, int]) -> None:
        """LB -> GB or DRAM; `source` is (core, buffer)."""
        core, buffer = source
        path = self._paths.get((core, site.memory, site.away))
        if path is None:
            path = self._paths[core, site.memory, site.away] = self._path(core, _end(site))
        size = tensor_bytes(self.plan, site.tensor, box)
        move = Move(size, 0, Memory.LB_DATA, site.memory, site.cause, *path[1:])
        accesses = (Access(buffer, False, box), Access(self.shared(site), True, box))
        self.builder.move(path.engine, InstructionKind.STORE, where, move, accesses)

    def _path(self, core: int, end: End) -> _Path:
        """From a core's LB to GB or DRAM."""
        route = self.machine.route((Memory.LB_DATA, core), end)
        cores, engine = self.machine.classes.size(core), self.machine.engine(EngineKind.MOVE, core)
        return _Path(engine, route.latency_cycles, self._uses(route, cores), cores)

    def exchange(
        self,
        where: Where,
        tensor: str,
        parts: Sequence[Part],
        ends: tuple[tuple[int, int], tuple[int, int]],
    ) -> None:
        """LB -> another core's LB; source and target are (core, buffer).

        The receivers of a class are served by the senders of another class, equally many each. One
        receiver's parts from several senders are one move. If both ends are of one class, they are
        the same simulated core, whose port carries both directions. So the channels of a class
        carry the bytes of all receivers in equal shares.
        """
        (sender, source), (receiver, target) = ends
        size = sum(tensor_bytes(self.plan, tensor, part.box) for part in parts)
        cores, sharers = self.machine.classes.size(receiver), self.machine.sharers
        route = self.machine.route((Memory.LB_DATA, sender), (Memory.LB_DATA, receiver))
        uses = tuple([Use(channel, cores, sharers[channel]) for channel in route.channels])
        memories = (Memory.LB_DATA, Memory.LB_DATA)
        move = Move(size, 0, *memories, Cause.NONE, route.latency_cycles, uses, cores)
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
        cores, memories = self.machine.classes.size(core), (Memory.LB_DATA, Memory.LB_DATA)
        route = self.machine.copy_route((Memory.LB_DATA, core))
        uses = self._uses(route, cores)
        move = Move(size, 0, *memories, Cause.NONE, route.latency_cycles, uses, cores)
        accesses = (Access(source, False, box), Access(buffer, True, box))
        engine = self.machine.engine(EngineKind.MOVE, core)
        self.builder.move(engine, InstructionKind.COPY, where, move, accesses)

    def _uses(self, route: Route, cores: int) -> tuple[Use, ...]:
        """Channel uses: each core's channel once; shared channels once per moving core."""
        is_shared = self.machine.is_shared
        return tuple([Use(each, cores if is_shared[each] else 1) for each in route.channels])

    def _move(
        self,
        what: tuple[Site, Box],
        ends: tuple[Memory, Memory],
        route: Route,
        *,
        halo_bytes: int = 0,
        cores: int = 1,
    ) -> Move:
        """A move between LB, GB and DRAM."""
        site, box = what
        size = tensor_bytes(self.plan, site.tensor, box)
        uses = self._uses(route, cores)
        return Move(size, halo_bytes, *ends, site.cause, route.latency_cycles, uses, cores)


def issuing_cores(kernel: KernelPlan, cores: int) -> Sequence[int]:
    """Cores that issue a kernel's broadcasts: all of the cluster, or those of a branch.

    A core of another branch would issue them between its own instructions.
    """
    if not kernel.branches:
        return range(cores)
    return sorted({core for binding in kernel.bindings.values() for core in binding.cores})


def _end(site: Site) -> End:
    """Endpoint of a site: GB or DRAM."""
    return site.memory, far_core(site.away)
