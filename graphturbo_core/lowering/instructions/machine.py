"""Machine: numbers of a cluster's engines and channels, and routes between two memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, zip_longest

from graphturbo_core.hardware.hardware import CLUSTER_CORE, EngineKind, Hardware
from graphturbo_core.lowering.stages.classes import CoreClasses
from graphturbo_core.products.program import Channel, ChannelKind, Engine, Memory

End = tuple[Memory, int]
"""An end of a transfer: a memory, with the core of an LB or `far_core` of GB or DRAM."""
PASSING_CORE = 0
"""The core whose engine and LB run ops that are larger than an LB (our choice; one at a time)."""
_CORE_ENGINES = (EngineKind.MATRIX, EngineKind.VECTOR, EngineKind.MOVE)


def far_core(cluster: int) -> int:
    """Core number of buffers in a cluster's GB or DRAM; negative."""
    return CLUSTER_CORE - cluster


@dataclass(frozen=True, slots=True)
class Route:
    """Channels that a transfer occupies, in the order in which its bytes pass them.

    The bytes are visible `latency_cycles` after the last of them is sent.
    """

    channels: tuple[int, ...]
    latency_cycles: int


@dataclass(frozen=True)
class Machine:
    """Numbering of a cluster's engines and channels, and the channels that transfers occupy.

    Only simulated cores have engines. A core that is not simulated has the engines of its class's
    leader. `clusters`: number of cooperating clusters. After the own channels come the DRAM shares
    of the other clusters, nearest first.

    To model another interconnect, derive a class: `channels` lists its links, `links` chooses
    among them.
    """

    hardware: Hardware
    classes: CoreClasses
    clusters: int = 1

    def engines(self) -> tuple[Engine, ...]:
        """Engines core by core, then system DMA engines, then the engine that cores share."""
        chip, sizes = self.hardware, self.classes.sizes
        own = _CORE_ENGINES[1:] if chip.has_shared_matrix else _CORE_ENGINES
        cores = [
            Engine(kind, core, 0, sizes[core]) for core in self.classes.simulated for kind in own
        ]
        dma = [Engine(EngineKind.DMA, CLUSTER_CORE, index) for index in range(chip.dma_engines)]
        shared = [Engine(EngineKind.MATRIX, CLUSTER_CORE, 0)] if chip.has_shared_matrix else []
        return (*cores, *dma, *shared)

    def engine(self, kind: EngineKind, core: int) -> int:
        """Index of an engine; for DMA, `core` is the index of the DMA engine."""
        return self._engine_numbers[kind][core]

    @cached_property
    def _engine_numbers(self) -> Mapping[EngineKind, Mapping[int, int]]:
        """Index by kind and core; cached, since every instruction needs it.

        `CLUSTER_CORE` is the engine that cores share, else that of `PASSING_CORE`.
        """
        numbers: dict[EngineKind, dict[int, int]] = {kind: {} for kind in EngineKind}
        for number, engine in enumerate(self.engines()):
            is_dma = engine.kind is EngineKind.DMA
            numbers[engine.kind][engine.index if is_dma else engine.core] = number
        for kind in _CORE_ENGINES:
            by_core = numbers[kind]
            if CLUSTER_CORE not in by_core:
                leaders = enumerate(self.classes.leaders)
                by_core |= {core: by_core[leader] for core, leader in leaders}
                by_core[CLUSTER_CORE] = by_core[PASSING_CORE]
        return numbers

    def without_bandwidths(self) -> Machine:
        """Equal for machines on which the same moves differ at most in their time on channels."""
        bare = replace(
            self.hardware, name="", title="", numbers=(), notes=(), launch_cycles=0,
            barrier_cycles=0, lb_bandwidth=1, link_bandwidth=1, gb_bandwidth=1, dram_bandwidth=1,
        )  # fmt: skip
        return replace(self, hardware=bare)

    def channels(self) -> tuple[Channel, ...]:
        """LB ports, link ports in, link ports out, the GB port if any, DRAM shares."""
        chip = self.hardware
        cores = range(chip.cores)
        return (
            *(Channel(ChannelKind.LB_PORT, chip.lb_bandwidth, core) for core in cores),
            *(Channel(ChannelKind.LINK_IN, chip.link_bandwidth, core) for core in cores),
            *(Channel(ChannelKind.LINK_OUT, chip.link_bandwidth, core) for core in cores),
            *([Channel(ChannelKind.GB_PORT, chip.gb_bandwidth)] if chip.has_gb else []),
            *(
                Channel(ChannelKind.DRAM_SHARE, chip.dram_bandwidth, away=away)
                for away in range(self.clusters)
            ),
        )

    def channel(self, kind: ChannelKind, core: int = CLUSTER_CORE, away: int = 0) -> int:
        """Number of a channel by kind, core and distance in clusters."""
        return self._channel_numbers[kind, core, away]

    @cached_property
    def _channel_numbers(self) -> Mapping[tuple[ChannelKind, int, int], int]:
        return {
            (channel.kind, channel.core, channel.away): number
            for number, channel in enumerate(self.channels())
        }

    @cached_property
    def sharers(self) -> tuple[int, ...]:
        """Per channel, the number of cores with an equivalent one; 1 if cores share it."""
        leader, sizes = self.classes.leader, self.classes.sizes
        return tuple(sizes[leader(channel.core)] for channel in self.channels())

    @cached_property
    def is_shared(self) -> tuple[bool, ...]:
        """Per channel, whether the cores of a cluster share it."""
        return tuple(channel.core < 0 for channel in self.channels())

    def port(self, end: End) -> int:
        """Channel of a memory: the LB port of a core, the GB port, the DRAM share of a cluster."""
        memory, core = end
        if memory is Memory.DRAM:
            return self.channel(ChannelKind.DRAM_SHARE, away=CLUSTER_CORE - core)
        if memory is Memory.GB:
            return self.channel(ChannelKind.GB_PORT)
        return self.channel(ChannelKind.LB_PORT, core)

    def latency(self, end: End) -> int:
        """Latency of a memory in cycles; for an LB that of a link."""
        chip, (memory, core) = self.hardware, end
        if memory is Memory.DRAM:
            remote = chip.remote_dram_latency_cycles
            return chip.dram_latency_cycles if core == CLUSTER_CORE or remote is None else remote
        return chip.gb_latency_cycles if memory is Memory.GB else chip.link_latency_cycles

    def route(self, source: End, *targets: End) -> Route:
        """Route of one transfer to all targets, memoised by its ends.

        A channel that routes to several targets have in common carries the bytes once. The latency
        is that of the farther end. A transfer from an LB to the LB of the same simulated core uses
        its links: the core represents both the sender and a receiver of the same class.
        """
        ends = (source, targets)
        route = self._routes.get(ends)
        if route is None:
            channels = _united([self._way(source, target) for target in targets])
            latency = self.latency(max(source, *targets))
            route = self._routes[ends] = Route(channels, latency)
        return route

    @cached_property
    def _routes(self) -> dict[tuple[End, tuple[End, ...]], Route]:
        """Memoised routes: emission needs each of them many times."""
        return {}

    def copy_route(self, end: End) -> Route:
        """Route within one LB: out of its port and in again."""
        return Route((self.port(end), self.port(end)), self.latency(end))

    def _way(self, source: End, target: End) -> tuple[int, ...]:
        is_near = max(source, target)[0] < Memory.GB
        links = self.links(source[1], target[1]) if is_near else ()
        return (self.port(source), *links, self.port(target))

    def links(self, source: int, target: int) -> tuple[int, ...]:
        """Channels between the LB ports of two cores, from source to target."""
        return (
            self.channel(ChannelKind.LINK_OUT, source),
            self.channel(ChannelKind.LINK_IN, target),
        )


def _united(ways: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Channels of all routes, hop by hop.

    A channel that one route passes several times occurs as often as in the route that passes it
    most often.
    """
    if len(ways) == 1:
        return ways[0]
    passes = [
        [(channel, way[:hop].count(channel)) for hop, channel in enumerate(way)] for way in ways
    ]
    hops = dict.fromkeys(chain.from_iterable(zip_longest(*passes)))
    return tuple(each[0] for each in hops if each is not None)
