"""Record -> Plan: a recorded plan with all derived values.

A record is untrusted input: every part is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from graphturbo_core.plain_yaml import shown
from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Group, KernelPlan, Plan, ReadyStep
from graphturbo_core.products.scheduling import Scheduling
from graphturbo_core.strategies.graphturbo.fitting import section_of
from graphturbo_core.strategies.graphturbo.ordering import ready_steps_of
from graphturbo_core.strategies.layers.carry import Carry, carry_axis, split_carry
from graphturbo_core.strategies.layers.layer_graph import LayerGraph, layer_graph
from graphturbo_core.strategies.layers.model_layers import groups_of_layers, layers_of_model
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.plan_files.branches import restored_branches
from graphturbo_core.strategies.plan_files.kernels import restored_kernels
from graphturbo_core.strategies.plan_files.record import (
    GroupRecord,
    KernelRecord,
    Record,
    StayRecord,
    record_refused,
)
from graphturbo_core.strategies.plan_files.turns import check_shared
from graphturbo_core.strategies.steps.instances import InstanceGraph, Section, instance_graph
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import SubGraph, divides
from graphturbo_core.strategies.steps.whole import in_layers, op_graph


@dataclass(frozen=True, slots=True)
class Frame:
    """Properties that all plans of a strategy share.

    `is_by_op`: groups consist of ops, not of layers. `is_ordered`: Algorithm 3 or its
    breadth-first variant orders the instances. `is_partial`: a split axis must carry only to the
    outputs of a group. `is_staged`: clusters share a round on chips too where they cannot
    co-operate (`Hardware.can_cooperate`).
    """

    strategy: str
    is_by_op: bool
    is_ordered: bool
    scheduling: Scheduling
    is_breadth_first: bool = False
    is_partial: bool = False
    is_staged: bool = False


def restored_plan(target: Target, frame: Frame, record: Record) -> Plan:
    """Returns the plan that `record` describes.

    Raises:
        PlanError: PLAN_RECORD: it is not a plan of this model on this chip.
    """
    shared = record.cooperation
    units = relay_layers(target.semantics)
    owners: Sequence[int] = range(len(units))
    if frame.is_by_op:
        graph, owners = op_graph(target, units)
    else:
        graph = layer_graph(target.semantics, units, target.number_format)
    members = _members(graph, record.groups)
    cuts = [
        _cut(SubGraph(graph, own), group, frame, is_shared=shared is not None)
        for own, group in zip(members, record.groups, strict=True)
    ]
    if frame.is_by_op:
        unit_of = {op: unit.index for unit in units for op in unit.ops}
        cuts = [(in_layers(section, unit_of), covered) for section, covered in cuts]
    instances = instance_graph(target.semantics, [section for section, _ in cuts])
    if any(kernel.branches for kernel in record.kernels):
        order: tuple[int, ...] = ()
        kernels = restored_branches(target, units, record)
    else:
        order = _order(instances, record.kernels)
        check_shared(target, instances, order, shared, is_staged=frame.is_staged)
        kernels = restored_kernels(target, instances, order, record)
    layers = layers_of_model(target.semantics, units)
    groups = [
        _group(SubGraph(graph, own), cut, owners, group)
        for own, cut, group in zip(members, cuts, record.groups, strict=True)
    ]
    plan = Plan(
        strategy=frame.strategy,
        semantics=target.semantics,
        hardware=target.hardware,
        number_format=target.number_format,
        layers=layers,
        units=units,
        groups=groups_of_layers(groups, layers, target.semantics),
        kernels=kernels,
        scheduling=record.scheduling(frame.scheduling),
        decisions=record.decisions,
        ready_steps=_ready_steps(instances, order, frame),
        notes=record.notes,
        rules=target.rules,
        feeding=record.feeding(target.feeding),
        cooperation=shared,
        stays=_stays(kernels, record.stays),
    )
    if plan.branches_fault:
        raise record_refused(plan.branches_fault, "branches")
    if plan.retention_fault:
        raise record_refused(plan.retention_fault, "stays")
    return plan


def _members(graph: LayerGraph, groups: Sequence[GroupRecord]) -> list[tuple[int, ...]]:
    """The layers (or single ops) of each group; checks that each is in exactly one group."""
    unit_of = {op: index for index, layer in enumerate(graph.layers) for op in layer.ops}
    taken: dict[int, str] = {}
    found = []
    for place, group in enumerate(groups):
        if group.name != f"g{place + 1}":
            raise record_refused(f"group {place + 1} must be named g{place + 1}", group.name)
        missing = [op for op in group.ops if op not in unit_of]
        if missing or not group.ops:
            what = f"op {shown(missing[0])} is not in the model" if missing else "it has no ops"
            raise record_refused(what, group.name)
        units = tuple(sorted({unit_of[op] for op in group.ops}))
        if graph.ops_of(units) != group.ops:
            raise record_refused("its ops are not whole layers in their order", group.name)
        for unit in units:
            if taken.setdefault(unit, group.name) != group.name:
                what = f"layer {shown(graph.layers[unit].name)} is in {taken[unit]} too"
                raise record_refused(what, group.name)
        found.append(units)
    left = [layer.name for index, layer in enumerate(graph.layers) if index not in taken]
    if left:
        raise record_refused(f"layer {shown(left[0])} is in no group", "groups")
    return found


def _cut(
    part: SubGraph, group: GroupRecord, frame: Frame, *, is_shared: bool
) -> tuple[Section, int]:
    """Returns the section of a group, and how many ops its split covers.

    If clusters share a round (`is_shared`), piece sizes may differ by one.
    """
    if group.axis < 0:
        if group.pieces != 1 or group.further:
            raise record_refused(f"{group.pieces} pieces without an axis", group.name)
        return section_of(part, group.name, None, 1), 0
    first, left = divmod(group.pieces, prod(parts for _, parts in group.further))
    if left:
        raise record_refused(f"{group.pieces} pieces are not the product of all axes", group.name)
    carries = [
        _carried(part, group.name, split, (frame.is_partial, is_shared))
        for split in ((group.axis, first), *group.further)
    ]
    axes = [group.axis, *(axis for axis, _ in group.further)]
    if len(set(axes)) < len(axes):
        raise record_refused("an axis is named twice", group.name)
    counts = [parts for _, parts in group.further]
    further = list(zip(carries[1:], counts, strict=True))
    section = section_of(part, group.name, carries[0], group.pieces, further)
    return section, carries[0].covered_ops


def _carried(
    part: SubGraph, name: str, split: tuple[int, int], allowed: tuple[bool, bool]
) -> Carry:
    """Returns the carry of a group's axis that is cut into this many parts.

    `allowed`: whether the axis may end inside, and whether piece sizes may differ by one.
    """
    (axis, pieces), (is_partial, is_shared) = split, allowed
    tensors = part.graph.semantics.graph.tensors
    shape = tensors[part.outputs[-1]].shape if part.outputs else ()
    if axis >= len(shape):
        raise record_refused(f"its result has {len(shape)} axes, none is {axis}", name)
    carry = carry_axis(part.graph, part.ops, part.outputs[-1], axis)
    if is_partial:
        carry = split_carry(part.graph, part.ops, part.outputs, axis)
    if not carry.is_complete:
        raise record_refused(f"axis {axis} does not carry through its ops", name)
    least = min(tensors[output].shape[carry.axis_of[output]] for output in part.outputs)
    if not 1 <= pieces <= least or not (is_shared or divides(part, carry, pieces)):
        raise record_refused(f"{pieces} pieces do not divide axis {axis}", name)
    return carry


def _group(
    part: SubGraph, cut: tuple[Section, int], owners: Sequence[int], record: GroupRecord
) -> Group:
    section, covered_ops = cut
    return Group(
        name=section.name,
        layers=tuple(dict.fromkeys(owners[unit] for unit in part.layers)),
        ops=section.ops,
        split_axis=record.axis,
        pieces=section.pieces,
        covered_ops=covered_ops,
        peak_bytes=part.whole_peak_bytes,
        further_splits=record.further,
    )


def _order(graph: InstanceGraph, kernels: Sequence[KernelRecord]) -> tuple[int, ...]:
    """Every instance once, after those whose results it needs."""
    number_of = {instance.name: number for number, instance in enumerate(graph.instances)}
    order: dict[int, None] = {}
    for kernel in kernels:
        number = number_of.get(kernel.name)
        if number is None or number in order:
            what = "it is not a piece of a group" if number is None else "it runs twice"
            raise record_refused(what, kernel.name)
        late = [p for p in graph.producers[number] if p not in order]
        if late:
            needed = graph.instances[late[0]].name
            raise record_refused(f"it runs before {needed}, whose result it reads", kernel.name)
        order[number] = None
    if len(order) < len(number_of):
        left = next(name for name, number in number_of.items() if number not in order)
        raise record_refused(f"{left} does not run", "kernels")
    return tuple(order)


def _ready_steps(graph: InstanceGraph, order: Sequence[int], frame: Frame) -> tuple[ReadyStep, ...]:
    """Algorithm 3's steps where it gives this order; none where the strategy does not run it."""
    if not frame.is_ordered:
        return ()
    names = [instance.name for instance in graph.instances]
    is_breadth_first = frame.is_breadth_first
    return ready_steps_of(names, graph.producers, order, is_breadth_first=is_breadth_first)


def _stays(kernels: Sequence[KernelPlan], records: Sequence[StayRecord]) -> tuple[GbRetention, ...]:
    """GB retentions, by the places of the kernels that the record names."""
    place_of = {kernel.name: place for place, kernel in enumerate(kernels)}
    for name in (end for record in records for end in (record.first, record.last)):
        if name not in place_of:
            raise record_refused(f"retained weight: {shown(name)} is not a kernel", "stays")
    return tuple(
        GbRetention(record.weight, place_of[record.first], place_of[record.last], record.size_bytes)
        for record in records
    )
