"""Kernels in order -> Residency of each weight: LB, GB, sharded, or streamed.

Closed forms (our choice): lowering may demote a weight that its allocator cannot place. Capacities
are those of `MemoryBudget`.

1. If adjacent instances of one section run, all its weights are resident in GB, if they fit beside
   the outputs there: the second instance need not fetch them. If they do not fit, lowering retains
   parts of them for it, independent of the rules below.
2. Else a layer's weights are resident in LB if they fit its weight part.
3. Else in GB, if they fit beside the outputs there and the ring of weight tiles
   (`graphturbo.gb_room=whole`: beside the outputs alone).
4. Else they are streamed.

A weight of an engine that the cores share is never in LB: rule 3 or 4. If each core fetches its own
copy, weights are in LB or streamed. On a chip that shards weights over its LBs, weights that
several kernels read are sharded before rule 2, while all LBs together have room from the first of
these kernels to the last: most refetched bytes first. Weights that are loaded neither tile by tile
nor whole (a table, a large constant) are not sharded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np

from graphturbo_core.errors import PlanError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.boxes import volume
from graphturbo_core.products.plan import Residency, Scope
from graphturbo_core.products.shards import shard_part
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.steps.instances import InstanceGraph
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.legal import OWN_FETCHES, SHARED_ENGINE, SHARED_PLACES
from graphturbo_core.strategies.steps.placement import Placement
from graphturbo_core.units import bytes_beside


def weight_residencies(
    graph: InstanceGraph,
    order: Sequence[int],
    placements: Sequence[Placement],
    target: Target,
) -> tuple[dict[str, Residency], ...]:
    """Returns per kernel in order the residency of each weight that it reads.

    Raises:
        PlanError: PLAN_RESIDENCY: a memory has no room for a weight that a plan file puts there.
    """
    hardware, element_bytes = target.hardware, target.element_bytes
    parked = _parked_bytes(graph, order, placements, element_bytes)
    layer_bytes = [
        _layer_weights(graph.semantics, s.layer_ops, element_bytes) for s in graph.sections
    ]
    sections = [graph.instances[number].section for number in order]
    kernels = [_joined(layer_bytes[section]) for section in sections]
    shards = _sharded(kernels, target)
    wanted = [{name: kernel[name] for name in kernel.keys() & shards} for kernel in kernels]
    budget = target.budget
    part = budget.lb_weight_bytes - min(budget.shard_bytes, shard_part(wanted, hardware.cores))
    found = []
    for place, section in enumerate(sections):
        room = target.gb_room_bytes - parked[place]
        shared = 0 if target.feeding.has_own_fetches else room
        weights = layer_bytes[section]
        total = sum(kernels[place].values())
        has_neighbour = section in (
            *sections[max(0, place - 1) : place],
            *sections[place + 1 : place + 2],
        )
        if has_neighbour and 0 < total <= shared:
            found.append({name: Residency.GB for layer in weights for name in layer})
        else:
            found.append(
                _by_layer(weights, shared, part) | _on_cluster(graph.semantics, weights, room)
            )
        own = found[-1].keys() & shards
        found[-1].update(dict.fromkeys(sorted(own), Residency.SHARDED))
        found[-1].update(_constrained(target, weights, part, room))
    return tuple(found)


def _joined(layers: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Bytes of each weight that some layer reads."""
    return {name: size for layer in layers for name, size in layer.items()}


def _sharded(kernels: Sequence[Mapping[str, int]], target: Target) -> frozenset[str]:
    """Weights to shard over the LBs; `kernels`: bytes per weight that each kernel reads.

    Weights that a plan file shards come first.
    """
    hardware, constrained = target.hardware, target.constraints.residencies
    if not hardware.shards_weights or target.feeding.has_own_fetches:
        return frozenset()
    users: dict[str, list[int]] = {}
    sizes: dict[str, int] = {}
    for place, weights in enumerate(kernels):
        for name, size in weights.items():
            users.setdefault(name, []).append(place)
            sizes[name] = size
    part = target.budget.shard_bytes
    small = part // target.rules.small_weight_share
    tiled = {s.contraction.weight for s in target.semantics.by_op.values() if s.contraction}
    rank = {
        name: (
            constrained.get(name) is not Residency.SHARDED,
            (1 - len(at)) * sizes[name],
            at[0],
            name,
        )
        for name, at in users.items()
        if constrained.get(name, Residency.SHARDED) is Residency.SHARDED
        and (name in constrained or len(at) > 1)
        and (name in tiled or sizes[name] <= small)
    }
    held = np.zeros(len(kernels), dtype=np.int64)
    found = []
    for name in sorted(rank, key=rank.__getitem__):
        span = held[users[name][0] : users[name][-1] + 1]
        if int(span.max()) + sizes[name] <= hardware.cores * part:
            span += sizes[name]
            found.append(name)
    return frozenset(found)


def _on_cluster(
    sem: GraphSemantics, weights: Sequence[Mapping[str, int]], room: int
) -> dict[str, Residency]:
    """Rules 3 and 4 per weight, for weights of an engine that the cores share."""
    read = cluster_weights(sem)
    return {
        weight: Residency.GB if size <= room else Residency.STREAM
        for layer in weights
        for weight, size in layer.items()
        if weight in read
    }


def cluster_weights(sem: GraphSemantics) -> set[str]:
    """Weights that an engine shared by the cores reads from GB."""
    graph = sem.graph
    return {w for name in sem.cluster_ops for w in graph.weights_in(graph.op_by_name[name])}


def _constrained(
    target: Target, weights: Sequence[Mapping[str, int]], part: int, room: int
) -> dict[str, Residency]:
    """Residencies that a plan file fixes; `part`: bytes of an LB for weights, `room`: of GB.

    Raises:
        PlanError: PLAN_RESIDENCY: the weights of one layer do not fit together.
    """
    constrained, hardware = target.constraints.residencies, target.hardware
    limits = {
        Residency.LB: part,
        Residency.GB: room,
        Residency.SHARDED: hardware.cores * target.budget.shard_bytes,
    }
    found: dict[str, Residency] = {}
    for layer in weights if constrained else ():
        own = {name: constrained[name] for name in layer if name in constrained}
        if Residency.LB in own.values():
            _check_cores(target.semantics, own)
        if target.feeding.has_own_fetches:
            _check_own(target.semantics, own)
        for residency, limit in limits.items():
            sizes = {name: layer[name] for name, held in own.items() if held is residency}
            _check_room(sizes, residency, limit, hardware)
        found.update(own)
    return found


def _check_room(
    sizes: Mapping[str, int], residency: Residency, limit: int, hardware: Hardware
) -> None:
    size = sum(sizes.values())
    if not sizes or size <= limit:
        return
    demand, room = bytes_beside(size, max(0, limit))
    how = "sharded" if residency is Residency.SHARDED else f"resident in {residency.value}"
    raise PlanError(
        "PLAN_RESIDENCY",
        f"the weights {', '.join(sizes)} cannot be {how}: their "
        f"{demand} are more than the {room} that are free",
        f"edits.residency.{next(iter(sizes))}",
        "choose GB or stream, or drop it" if hardware.has_gb else "choose stream",
    )


def _check_cores(sem: GraphSemantics, constrained: Mapping[str, Residency]) -> None:
    """Refuse LB for weights of an engine that the cores share.

    Raises:
        PlanError: PLAN_RESIDENCY.
    """
    read = cluster_weights(sem)
    for name, residency in constrained.items():
        if residency is Residency.LB and name in read:
            what = f"the weights {name} cannot be resident in LB: {SHARED_ENGINE}"
            where, change = f"edits.residency.{name}", "choose GB or stream, or drop it"
            raise PlanError("PLAN_RESIDENCY", what, where, change)


def _check_own(sem: GraphSemantics, constrained: Mapping[str, Residency]) -> None:
    """Refuse shared memories for weights that each core fetches for itself.

    Raises:
        PlanError: PLAN_RESIDENCY.
    """
    on_cluster = cluster_weights(sem)
    for name, residency in constrained.items():
        if residency in SHARED_PLACES and name not in on_cluster:
            what = f"the weights {name} cannot be shared: {OWN_FETCHES}"
            where, change = f"edits.residency.{name}", "choose LB or stream, or drop it"
            raise PlanError("PLAN_RESIDENCY", what, where, change)


def _by_layer(weights: Sequence[Mapping[str, int]], room: int, part: int) -> dict[str, Residency]:
    """Rules 2 to 4, with `part` bytes of an LB and `room` bytes of GB.

    A weight that several layers read counts the largest need.
    """
    found: dict[str, Residency] = {}
    for layer in sorted(weights, key=lambda layer: sum(layer.values())):
        size = sum(layer.values())
        if size <= part:
            residency = Residency.LB
        else:
            residency = Residency.GB if size <= room else Residency.STREAM
        found.update(dict.fromkeys(layer, residency))
    return found


def _layer_weights(
    sem: GraphSemantics, layer_ops: Sequence[Sequence[str]], element_bytes: Mapping[str, int]
) -> list[dict[str, int]]:
    graph = sem.graph
    return [
        {
            weight: graph.tensors[weight].elements * element_bytes[weight]
            for name in ops
            for weight in graph.weights_in(graph.op_by_name[name])
        }
        for ops in layer_ops
    ]


def _parked_bytes(
    graph: InstanceGraph,
    order: Sequence[int],
    placements: Sequence[Placement],
    element_bytes: Mapping[str, int],
) -> list[int]:
    """Bytes of outputs in GB while each kernel runs, from their writer to their last reader."""
    place_of = {number: place for place, number in enumerate(order)}
    change = [0] * (len(order) + 1)
    for place, (number, placement) in enumerate(zip(order, placements, strict=True)):
        for tensor in (tensor for tensor, scope in placement.scopes.items() if scope is Scope.GB):
            size = volume(graph.instances[number].outputs[tensor]) * element_bytes[tensor]
            readers = graph.readers[tensor][number]
            last = max((place_of[reader] for reader in readers), default=place)
            change[place] += size
            change[last + 1] -= size
    return list(accumulate(change[:-1]))
