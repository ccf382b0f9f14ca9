"""DRAM addresses, and boxes that clusters of a cluster-parallel plan read from each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

from graphturbo_core.errors import CapacityError
from graphturbo_core.ir.boxes import Box, full_box, intersect, is_empty
from graphturbo_core.ir.graph import Graph, TensorKind
from graphturbo_core.lowering.addresses.allocator import OffsetAllocator
from graphturbo_core.lowering.global_buffer.sites import KernelEnvironment, Site
from graphturbo_core.lowering.instructions.local_buffers import SharedKey
from graphturbo_core.lowering.stages.stage import tensor_bytes
from graphturbo_core.products.branches import runs_with
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Memory
from graphturbo_core.units import bytes_beside


@dataclass(frozen=True)
class RemoteBoxes:
    """Boxes that a cluster of a cluster-parallel plan reads from other clusters, and they from it.

    `read`: its tensors that other clusters read. `sites`: boxes in other clusters' DRAM, by tensor.
    `inputs`: distance to the cluster with the graph's inputs.
    """

    read: frozenset[str] = frozenset()
    sites: Mapping[str, tuple[Site, ...]] = field(default_factory=dict)
    inputs: int = 0

    def meeting(self, tensor: str, box: Box) -> list[Site]:
        """Remote sites that intersect the box."""
        sites = self.sites.get(tensor, ())
        return [site for site in sites if not is_empty(intersect(site.box, box))]


NO_REMOTE_BOXES = RemoteBoxes()
"""Value for a round of one cluster."""


def dram_offsets(
    plan: Plan, environments: tuple[KernelEnvironment, ...], remote_inputs: frozenset[str]
) -> dict[SharedKey, int]:
    """Returns DRAM offsets: weights, inputs, outputs for the whole round, others while live.

    Tensors that other clusters read (`remote_inputs`) are live to the end of the round: DRAM has
    room for them.
    """
    graph = plan.semantics.graph
    at_once = runs_with(plan.kernels)
    spans = {
        key: (at_once[begin][0], at_once[end][1] if end < len(at_once) else end)
        for key, (begin, end) in _dram_spans(graph, environments, remote_inputs).items()
    }
    dram = OffsetAllocator(plan.hardware.dram_bytes)
    offsets: dict[SharedKey, int] = {}
    for key, (begin, end) in sorted(spans.items(), key=lambda item: (item[1][0], item[0])):
        name = key[1]
        size = tensor_bytes(plan, name, full_box(graph.tensors[name].shape))
        offset = dram.place(size, begin, end)
        if offset is None:
            raise _without_room(plan, name, size)
        offsets[key] = offset
    return offsets


def _without_room(plan: Plan, tensor: str, size: int) -> CapacityError:
    """The refusal of a tensor; weights that exceed DRAM by themselves do so at any batch."""
    tensors = plan.semantics.graph.tensors
    weight_bytes = sum(
        tensor_bytes(plan, name, full_box(each.shape))
        for name, each in tensors.items()
        if each.kind is TensorKind.WEIGHT
    )
    at_any_batch = weight_bytes > plan.hardware.dram_bytes
    demand, room = bytes_beside(weight_bytes if at_any_batch else size, plan.hardware.dram_bytes)
    where = f"DRAM share of a cluster of {plan.hardware.name}: {room}"
    if at_any_batch:
        what = f"all weights have {demand}, so {tensor!r} does not fit"
        change = "choose a chip with more DRAM"
    else:
        what, change = f"tensor {tensor!r} of {demand} does not fit", "choose a smaller batch"
    return CapacityError("DRAM_FULL", what, where, change, at_any_batch=at_any_batch)


def _dram_spans(
    graph: Graph, environments: tuple[KernelEnvironment, ...], remote_inputs: frozenset[str]
) -> dict[SharedKey, tuple[int, int]]:
    """The first and the last kernel that need each tensor in DRAM."""
    spans: dict[SharedKey, tuple[int, int]] = {}
    last = len(environments)
    for index, around in enumerate(environments):
        sites = (*chain.from_iterable(around.sources.values()), *around.targets.values())
        for site in (site for site in sites if site.memory is Memory.DRAM and not site.away):
            first, _ = spans.get(site.key, (index, index))
            spans[site.key] = (first, last if site.tensor in remote_inputs else index)
    for name, tensor in graph.tensors.items():
        if tensor.kind is not TensorKind.ACTIVATION or name in graph.output_names:
            spans[(Memory.DRAM.name, name, -1, -1)] = (0, last)
    return spans
