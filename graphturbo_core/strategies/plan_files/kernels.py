"""KernelRecords -> KernelPlans: bindings, scopes and residencies as recorded, each checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.plain_yaml import shown
from graphturbo_core.products.plan import ON_CLUSTER, Binding, KernelPlan, Residency, Scope
from graphturbo_core.semantics.fit import nest_outputs, nest_reads
from graphturbo_core.semantics.nests import LoopNest
from graphturbo_core.strategies.plan_files.record import KernelRecord, Record, record_refused
from graphturbo_core.strategies.plan_files.turns import Turns
from graphturbo_core.strategies.steps.axes import AxisRank, kernel_axes
from graphturbo_core.strategies.steps.instances import Instance, InstanceGraph
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.legal import (
    OWN_FETCHES,
    SHARED_ENGINE,
    SHARED_PLACES,
    binding_fault,
    scope_fault,
)
from graphturbo_core.strategies.steps.residency import cluster_weights


def restored_kernels(
    target: Target, graph: InstanceGraph, order: Sequence[int], record: Record
) -> tuple[KernelPlan, ...]:
    """The kernels of a record in their order.

    Raises:
        PlanError: PLAN_RECORD, a binding, scope or residency cannot be carried out.
    """
    return restored_instances(target, graph, Turns.of(order, record.cooperation), record.kernels)


def restored_instances(
    target: Target, graph: InstanceGraph, turns: Turns, records: Sequence[KernelRecord]
) -> tuple[KernelPlan, ...]:
    """The kernels of these records, in the order of `turns`.

    Raises:
        PlanError: as `restored_kernels`.
    """
    nests = [section.nests(target.semantics) for section in graph.sections]
    return tuple(
        _kernel(_Place(target, graph, number, turns, nests[graph.instances[number].section]), own)
        for number, own in zip(turns.cluster_of, records, strict=True)
    )


@dataclass(frozen=True)
class _Place:
    """An instance in its plan, by its number."""

    target: Target
    graph: InstanceGraph
    number: int
    turns: Turns
    nests: tuple[LoopNest, ...]

    @property
    def after(self) -> int | None:
        """The next instance that its cluster runs."""
        return self.turns.following[self.number]

    def is_read_elsewhere(self, tensor: str) -> bool:
        """Whether an instance on another cluster reads an output of this one."""
        readers = self.graph.readers[tensor][self.number]
        return any(not self.turns.are_together(self.number, reader) for reader in readers)

    @property
    def instance(self) -> Instance:
        return self.graph.instances[self.number]


def _kernel(place: _Place, record: KernelRecord) -> KernelPlan:
    instance, section = place.instance, place.graph.sections[place.instance.section]
    _check_bindings(place, record.bindings)
    _check_scopes(place, record)
    _check_residency(place, record.residency, section.ops)
    return KernelPlan(
        name=instance.name,
        group=instance.section,
        piece=instance.piece,
        ops=section.ops,
        boxes=instance.boxes,
        outputs=instance.outputs,
        bindings=dict(record.bindings),
        scopes=dict(record.scopes),
        kept=frozenset(record.kept),
        residency=dict(record.residency),
    )


def _check_names(what: str, given: Mapping[str, object], due: set[str], name: str) -> None:
    for tensor in sorted(due - given.keys()):
        raise record_refused(f"{shown(tensor)} has no {what}", name)
    for tensor in sorted(given.keys() - due):
        raise record_refused(f"{shown(tensor)} may have no {what} here", name)


def _check_bindings(place: _Place, bindings: Mapping[str, Binding]) -> None:
    sem, boxes = place.target.semantics, place.instance.boxes
    outputs = [
        (nest, tensor)
        for nest in place.nests
        for op in nest.ops
        for tensor in sem.graph.op_by_name[op].outputs
        if tensor in boxes
    ]
    _check_names("binding", bindings, {tensor for _, tensor in outputs}, place.instance.name)
    axes_of = dict(zip(place.nests, kernel_axes(sem, place.nests, boxes), strict=True))
    for nest, tensor in outputs:
        if nest.is_on_cluster(sem) and bindings[tensor] == ON_CLUSTER:
            continue
        if nest.is_on_cluster(sem):
            what = f"binding of {shown(tensor)}: {SHARED_ENGINE}"
            raise record_refused(what, place.instance.name)
        axes, binding = axes_of[nest], bindings[tensor]
        rank = len(sem.graph.tensors[tensor].shape)
        is_alike = rank == len(sem.graph.tensors[nest.output].shape)
        uncut = [axis for axis, kind in enumerate(axes.ranks) if kind is AxisRank.NEVER]
        sizes = axes.sizes if is_alike else (1,) * rank
        fault = binding_fault(binding, sizes, uncut, place.target.hardware.cores)
        if not fault and is_alike and nest.output in boxes and binding != bindings[nest.output]:
            fault = f"it is computed together with {nest.output!r}, which has another binding"
        if fault:
            raise record_refused(f"binding of {shown(tensor)}: {fault}", place.instance.name)


def _check_scopes(place: _Place, record: KernelRecord) -> None:
    sem, instance = place.target.semantics, place.instance
    inside = {t for nest in place.nests for t in nest_outputs(sem, nest) if t in instance.boxes}
    _check_names("scope", record.scopes, inside | instance.outputs.keys(), instance.name)
    has_gb = place.target.hardware.gb_bytes > 0
    on_cluster = {
        tensor
        for nest in place.nests
        if nest.is_on_cluster(sem)
        for tensor in (*nest_reads(sem, nest), *nest_outputs(sem, nest))
    }
    for tensor, scope in record.scopes.items():
        is_output = tensor in sem.graph.output_names and tensor in instance.outputs
        fault = scope_fault(scope, is_graph_output=is_output, has_gb=has_gb)
        if not fault and tensor in instance.outputs and scope is Scope.LB:
            readers = place.graph.readers[tensor][place.number]
            is_lost = tensor not in record.kept or any(r != place.after for r in readers)
            fault = "not only the next kernel reads it" if is_lost else ""
        if not fault and scope is Scope.LB and tensor in on_cluster:
            fault = SHARED_ENGINE
        if not fault and tensor in instance.outputs and scope is not Scope.DRAM:
            fault = "another cluster reads it" if place.is_read_elsewhere(tensor) else ""
        if fault:
            raise record_refused(f"scope {scope.value} of {shown(tensor)}: {fault}", instance.name)
    for tensor in record.kept:
        readers = place.graph.readers.get(tensor, {}).get(place.number, ())
        if place.after is None or place.after not in readers:
            what = f"{shown(tensor)} is kept in LB, but the next kernel does not read it"
            raise record_refused(what, instance.name)


def _check_residency(place: _Place, residency: Mapping[str, Residency], ops: Sequence[str]) -> None:
    graph = place.target.semantics.graph
    weights = {weight for op in ops for weight in graph.weights_in(graph.op_by_name[op])}
    _check_names("residency", residency, weights, place.instance.name)
    on_cluster = cluster_weights(place.target.semantics)
    for weight, held in sorted(residency.items()) if place.target.feeding.has_own_fetches else ():
        if held in SHARED_PLACES and weight not in on_cluster:
            what = f"{shown(weight)} cannot be shared: {OWN_FETCHES}"
            raise record_refused(what, place.instance.name)
    if Residency.GB in residency.values() and not place.target.hardware.gb_bytes:
        raise record_refused(
            "weights are resident in GB, which the chip does not have", place.instance.name
        )
    if Residency.SHARDED in residency.values() and not place.target.hardware.shards_weights:
        raise record_refused("weights are sharded, which the chip does not do", place.instance.name)
