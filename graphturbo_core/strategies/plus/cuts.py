"""Cuts -> Plan: groups given by their layers and split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphturbo_core.products.plan import Group, Plan
from graphturbo_core.strategies.graphturbo.fitting import section_of
from graphturbo_core.strategies.graphturbo.levels import PLUS, Level
from graphturbo_core.strategies.graphturbo.ordering import order_instances
from graphturbo_core.strategies.layers.carry import Carry, carry_axis, split_carry
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.steps.assemble import Recipe, assemble
from graphturbo_core.strategies.steps.instances import InstanceGraph, Section, instance_graph
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import SubGraph


@dataclass(frozen=True, slots=True)
class GroupCut:
    """A group: layers in topological order, split axis (-1: none), and piece count.

    `further`: more axes of its last result with their parts; `pieces` is the product of all.
    """

    layers: tuple[int, ...]
    axis: int
    pieces: int
    further: tuple[tuple[int, int], ...] = ()


def cuts_of(plan: Plan) -> tuple[GroupCut, ...]:
    """The groups of a plan, in their order."""
    return tuple(
        GroupCut(group.layers, group.split_axis, group.pieces, group.further_splits)
        for group in plan.groups
    )


def carry_of(part: SubGraph, cut: GroupCut) -> Carry:
    """Carry of the first split axis of a group."""
    return split_carry(part.graph, part.ops, part.outputs, cut.axis)


def further_carries(part: SubGraph, further: Sequence[tuple[int, int]]) -> list[tuple[Carry, int]]:
    """Carry and parts of each axis of a group after the first."""
    main = part.outputs[-1] if further else ""
    return [(carry_axis(part.graph, part.ops, main, axis), parts) for axis, parts in further]


def cut_groups(
    target: Target, graph: LayerGraph, cuts: Sequence[GroupCut]
) -> tuple[InstanceGraph, tuple[Group, ...]]:
    """Returns all pieces of all groups, and the groups as plans list them.

    Raises:
        CapacityError: TOO_MANY_PIECES.
    """
    made = [_cut_group(graph, cut, f"g{number}") for number, cut in enumerate(cuts, 1)]
    instances = instance_graph(target.semantics, [section for section, _ in made])
    return instances, tuple(group for _, group in made)


def _cut_group(graph: LayerGraph, cut: GroupCut, name: str) -> tuple[Section, Group]:
    """The section of a group, and its entry in plans."""
    part = SubGraph(graph, cut.layers)
    carry = carry_of(part, cut) if cut.axis >= 0 else None
    further = further_carries(part, cut.further)
    section = section_of(part, name, carry, cut.pieces, further)
    covered = carry.covered_ops if carry else 0
    return section, Group(
        name, cut.layers, section.ops, cut.axis, cut.pieces, covered, part.whole_peak_bytes,
        cut.further,
    )  # fmt: skip


def cut_plan(
    target: Target, graph: LayerGraph, cuts: Sequence[GroupCut], level: Level = PLUS
) -> Plan:
    """Returns the plan of groups in topological order, ordered, bound and placed by this level.

    Raises:
        CapacityError: TOO_MANY_PIECES.
    """
    instances, groups = cut_groups(target, graph, cuts)
    names = [instance.name for instance in instances.instances]
    is_breadth_first = level.is_breadth_first
    order = order_instances(names, instances.producers, is_breadth_first=is_breadth_first)
    recipe = Recipe(
        f"graphturbo:{level.name}",
        graph.layers,
        groups,
        level.nearest,
        scheduling=level.scheduling,
        has_gb_inside=True,
    )
    return assemble(target, recipe, instances, order.order, order.steps)
