"""A record with branches -> KernelPlans: the sections of each branch restored, then joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from graphturbo_core.products.plan import KernelPlan, Layer
from graphturbo_core.strategies.plan_files.kernels import restored_instances
from graphturbo_core.strategies.plan_files.record import (
    GroupRecord,
    KernelRecord,
    Record,
    record_refused,
)
from graphturbo_core.strategies.plan_files.turns import Turns
from graphturbo_core.strategies.steps.branch_kernels import CoreBranch, joined_kernel
from graphturbo_core.strategies.steps.instances import InstanceGraph, instance_graph
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.whole import op_sections

Sections = tuple[tuple[tuple[str, ...], ...], ...]
"""Per branch, the ops of each section."""


def restored_branches(
    target: Target, units: Sequence[Layer], record: Record
) -> tuple[KernelPlan, ...]:
    """The kernels of a record in which some have branches; its groups are known to be whole layers.

    Raises:
        PlanError: PLAN_RECORD, it cannot be carried out.
    """
    if record.cooperation is not None:
        raise record_refused("kernels have branches, and clusters share the round", "branches")
    if [each.name for each in record.kernels] != [f"{each.name}/1" for each in record.groups]:
        raise record_refused("with branches, each group is one kernel, in order", "kernels")
    pairs = zip(record.kernels, record.groups, strict=True)
    branches = [_sections_of(kernel, group) for kernel, group in pairs]
    listed = [ops for kernel in branches for branch in kernel for ops in branch]
    sections, _ = op_sections(target, units, [(ops, ()) for ops in listed])
    graph = instance_graph(target.semantics, sections)
    _check_order(graph)
    owners = [number for number, own in enumerate(branches) for branch in own for _ in branch]
    records = [
        _own(target, graph, place, record.kernels[owner]) for place, owner in enumerate(owners)
    ]
    _check_all_named(record.kernels, owners, records)
    turns = Turns.of(range(len(records)), None)
    made = dict(enumerate(restored_instances(target, graph, turns, records)))
    numbers = iter(range(len(records)))
    steps = [
        [CoreBranch(tuple(next(numbers) for _ in branch), ()) for branch in kernel]
        for kernel in branches
    ]
    return tuple(joined_kernel(graph, made, place, step) for place, step in enumerate(steps))


def _sections_of(kernel: KernelRecord, group: GroupRecord) -> Sections:
    """The kernel's branches, one where it has none; they divide the group's ops."""
    if group.axis >= 0:
        raise record_refused("with branches, no group is split", group.name)
    if not kernel.branches:
        return ((group.ops,),)
    ops = [op for branch in kernel.branches for section in branch for op in section]
    is_empty = not all(branch and all(branch) for branch in kernel.branches)
    if is_empty or sorted(ops) != sorted(group.ops):
        raise record_refused("its branches are not the ops of its group", kernel.name)
    if kernel.kept:
        raise record_refused("a kernel with branches keeps no output in LB", kernel.name)
    return kernel.branches


def _check_order(graph: InstanceGraph) -> None:
    for number, instance in enumerate(graph.instances):
        late = [each for each in graph.producers[number] if each >= number]
        if late:
            needed = " ".join(graph.sections[late[0]].ops[:1])
            what = f"{graph.sections[number].ops[0]} runs before {needed}, whose result it reads"
            raise record_refused(what, instance.name)


def _own(target: Target, graph: InstanceGraph, place: int, record: KernelRecord) -> KernelRecord:
    """The part of a kernel's record that is about one section."""
    model, section = target.semantics.graph, graph.sections[place]
    ops = [model.op_by_name[op] for op in section.ops]
    tensors = {tensor for op in ops for tensor in op.outputs}
    weights = {weight for op in ops for weight in model.weights_in(op)}
    return replace(
        record,
        bindings={t: own for t, own in record.bindings.items() if t in tensors},
        scopes={t: own for t, own in record.scopes.items() if t in tensors},
        residency={t: own for t, own in record.residency.items() if t in weights},
    )


def _check_all_named(
    kernels: Sequence[KernelRecord], owners: Sequence[int], parts: Sequence[KernelRecord]
) -> None:
    """A kernel names nothing that none of its sections has."""
    known: dict[int, set[str]] = {}
    for owner, part in zip(owners, parts, strict=True):
        known.setdefault(owner, set()).update(_names(part))
    for number, kernel in enumerate(kernels):
        unknown = sorted(set(_names(kernel)) - known[number])
        if unknown:
            raise record_refused(f"{unknown[0]!r} is not of this kernel", kernel.name)


def _names(record: KernelRecord) -> Iterator[str]:
    tables: tuple[Mapping[str, object], ...] = record.bindings, record.scopes, record.residency
    return (name for table in tables for name in table)
