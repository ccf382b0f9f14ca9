"""Cluster-parallel plans: numbers in the code of one cluster become numbers of the chip.

Emission numbers cores, engines and channels of a cluster from 0. GB and DRAM of the cluster are
`CLUSTER_CORE`. The DRAM of another cluster is numbered by its distance. So kernels of different
clusters can be copies of one template. If one cluster runs alone, both numberings are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from graphturbo_core.hardware.hardware import CLUSTER_CORE, EngineKind
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.lowering.global_buffer.dram import RemoteBoxes
from graphturbo_core.lowering.global_buffer.far_memory import FarMemory, place_far
from graphturbo_core.lowering.global_buffer.sites import KernelEnvironment, Site
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.instructions.local_buffers import LocalBuffers, SharedKey
from graphturbo_core.lowering.instructions.machine import End, Machine, Route, far_core
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Cause, Channel, Engine, IntArray, Memory


@dataclass(frozen=True)
class ChipNumbering:
    """Numbering of engines and channels over all cooperating clusters, cluster by cluster."""

    machine: Machine

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return self.machine.clusters

    @cached_property
    def _own_engines(self) -> tuple[Engine, ...]:
        return self.machine.engines()

    def engines(self) -> tuple[Engine, ...]:
        """Engines of cluster 0, then of cluster 1 ...; cores and DMA engines count on."""
        return tuple(
            replace(engine, core=self.core(engine.core, cluster), index=index)
            if engine.core >= 0
            else replace(engine, index=index)
            for cluster in range(self.clusters)
            for engine in self._own_engines
            for index in (self._index(engine, cluster),)
        )

    def _index(self, engine: Engine, cluster: int) -> int:
        is_dma = engine.kind is EngineKind.DMA
        return engine.index + is_dma * cluster * self.machine.hardware.dma_engines

    def channels(self) -> tuple[Channel, ...]:
        """`Machine.channels` of each cluster in turn; each DRAM share occurs once."""
        return tuple(
            self._channel(channel, cluster)
            for cluster in range(self.clusters)
            for channel in self.machine.channels()
            if channel.away == 0
        )

    def _channel(self, channel: Channel, cluster: int) -> Channel:
        """The channel of the chip that is this `channel` of a cluster."""
        core = channel.core if channel.core < 0 else self.core(channel.core, cluster)
        owner = (cluster + channel.away) % self.clusters if self.clusters > 1 else None
        return replace(channel, core=core, cluster=owner, away=0)

    @cached_property
    def _channel_numbers(self) -> IntArray:
        """Per cluster and channel of `machine`, the chip's number of the channel."""
        number = {channel: place for place, channel in enumerate(self.channels())}
        own = self.machine.channels()
        numbers = [[number[self._channel(o, at)] for o in own] for at in range(self.clusters)]
        return np.array(numbers, dtype=np.int64)

    def core(self, core: int, cluster: int) -> int:
        """The chip's number of a cluster's core, GB or DRAM share."""
        if core >= 0:
            return cluster * self.machine.hardware.cores + core
        return far_core((cluster + CLUSTER_CORE - core) % self.clusters)

    def cluster_of(self, cores: IntArray) -> IntArray:
        """The cluster of each core, GB or DRAM share by the chip's numbers."""
        far = CLUSTER_CORE - cores
        return np.asarray(np.where(cores >= 0, cores // self.machine.hardware.cores, far))

    def engine_numbers(self, engines: IntArray, cluster: int) -> IntArray:
        """The chip's numbers of a cluster's engines."""
        return engines + cluster * len(self._own_engines)

    def channel_numbers(self, channels: IntArray, cluster: int) -> IntArray:
        """The chip's numbers of a cluster's channels."""
        return np.asarray(self._channel_numbers[cluster][channels])

    def port(self, end: End) -> int:
        """`Machine.port` by the chip's numbers."""
        cluster = self._cluster(end)
        own = self.machine.port(self._own_end(end, cluster))
        return int(self._channel_numbers[cluster, own])

    def route(self, source: End, target: End) -> Route:
        """`Machine.route` by the chip's numbers, in the cluster of the end first in `Memory`."""
        cluster = self._cluster(min(source, target))
        ends = self._own_end(source, cluster), self._own_end(target, cluster)
        return self._on_chip(self.machine.route(*ends), cluster)

    def copy_route(self, end: End) -> Route:
        """`Machine.copy_route` by the chip's numbers."""
        cluster = self._cluster(end)
        return self._on_chip(self.machine.copy_route(self._own_end(end, cluster)), cluster)

    def _on_chip(self, route: Route, cluster: int) -> Route:
        channels = self._channel_numbers[cluster][list(route.channels)]
        return replace(route, channels=tuple(channels.tolist()))

    def _cluster(self, end: End) -> int:
        return int(self.cluster_of(np.array(end[1])))

    def _own_end(self, end: End, cluster: int) -> End:
        """An end in a cluster's numbers; `end` has the chip's."""
        memory, core = end
        if core >= 0:
            return memory, core - cluster * self.machine.hardware.cores
        return memory, far_core((CLUSTER_CORE - core - cluster) % self.clusters)

    def key(self, key: SharedKey, cluster: int) -> SharedKey:
        """Key of a shared buffer in the chip's numbers."""
        memory, tensor, core, maker = key
        return (memory, tensor, self.core(core, cluster), maker)

    def code(self, code: KernelCode, cluster: int) -> KernelCode:
        """A cluster's code in the chip's numbers."""
        engine = self.engine_numbers(code.engine.astype(np.int64), cluster).astype(np.int16)
        channel = self.channel_numbers(code.channel.astype(np.int64), cluster)
        buffers = self._buffers(code.buffers, cluster)
        return replace(code, engine=engine, channel=channel.astype(np.int32), buffers=buffers)

    def _buffers(self, buffers: LocalBuffers, cluster: int) -> LocalBuffers:
        core = np.array([self.core(each, cluster) for each in buffers.core.tolist()], np.int16)
        shared = {row: self.key(key, cluster) for row, key in buffers.shared.items()}
        return replace(buffers, core=core, shared=shared)


def own_plan(plan: Plan, cluster: int) -> Plan:
    """The plan of one of the cooperating clusters, as if it ran alone."""
    assert plan.cooperation is not None
    own = tuple(plan.kernels[kernel] for kernel in plan.cooperation.kernels_of(cluster))
    return replace(plan, kernels=own, cooperation=None)


def place_clusters_far(
    plan: Plan, placements: list[KernelPlacement], numbering: ChipNumbering
) -> FarMemory:
    """`place_far` cluster by cluster; environments in the order of the plan's kernels."""
    if plan.cooperation is None:
        return place_far(plan, placements)
    around: dict[int, KernelEnvironment] = {}
    offsets: dict[SharedKey, int] = {}
    spilled: dict[tuple[str, str], None] = {}
    without: frozenset[str] = frozenset()
    for cluster in plan.cooperation.working:
        kernels = plan.cooperation.kernels_of(cluster)
        own = [placements[kernel] for kernel in kernels]
        far = place_far(own_plan(plan, cluster), own, _remote_boxes(plan, cluster))
        around |= dict(zip(kernels, far.environments, strict=True))
        offsets |= {numbering.key(key, cluster): offset for key, offset in far.offsets.items()}
        spilled |= dict.fromkeys(far.spilled)
        without |= far.without_shards
    ordered = tuple(
        replace(around[kernel], dram_shares=plan.cooperation.dram_shares(kernel))
        for kernel in range(len(plan.kernels))
    )
    offsets = _weights_everywhere(plan, offsets, numbering) | offsets
    return FarMemory(ordered, offsets, tuple(spilled), without)


def _weights_everywhere(
    plan: Plan, offsets: Mapping[SharedKey, int], numbering: ChipNumbering
) -> dict[SharedKey, int]:
    """DRAM offsets of weights in all clusters: those of the first cluster that runs kernels."""
    assert plan.cooperation is not None
    first = plan.cooperation.working[0]
    tensors = plan.semantics.graph.tensors.items()
    weights = [name for name, tensor in tensors if tensor.kind is TensorKind.WEIGHT]
    keys = [(Memory.DRAM.name, name, CLUSTER_CORE, -1) for name in weights]
    return {
        numbering.key(own, cluster): offsets[numbering.key(own, first)]
        for own, cluster in product(keys, range(plan.clusters))
    }


def _remote_boxes(plan: Plan, cluster: int) -> RemoteBoxes:
    """Boxes that a cluster exchanges with others. Graph inputs are in cluster 0's DRAM (ours)."""
    outputs = plan.semantics.graph.output_names
    read: set[str] = set()
    sites: dict[str, dict[int, Site]] = {}
    for crossing in plan.crossings:
        tensor, maker = crossing.tensor, plan.cluster_of(crossing.maker)
        if maker == cluster:
            read.add(tensor)
        elif plan.cluster_of(crossing.reader) == cluster:
            cause = Cause.OUTPUT if tensor in outputs else Cause.ACTIVATION
            box, away = plan.kernels[crossing.maker].outputs[tensor], maker - cluster
            sites.setdefault(tensor, {})[crossing.maker] = Site(
                tensor, Memory.DRAM, box, -1, cause, away=away % plan.clusters
            )
    by_tensor = {tensor: tuple(by_maker.values()) for tensor, by_maker in sites.items()}
    return RemoteBoxes(frozenset(read), by_tensor, -cluster % plan.clusters)
