"""Sections and their order -> Plan: the steps that all strategies share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphturbo_core.errors import PlanError
from graphturbo_core.products.cooperation import Cooperation
from graphturbo_core.products.plan import (
    Binding,
    Decision,
    Group,
    KernelPlan,
    Layer,
    Plan,
    ReadyStep,
    Residency,
    Scope,
)
from graphturbo_core.products.scheduling import BY_LAYER, Scheduling
from graphturbo_core.strategies.layers.model_layers import groups_of_layers, layers_of_model
from graphturbo_core.strategies.steps.handing import bind_all
from graphturbo_core.strategies.steps.instances import InstanceGraph, Section, instance_graph
from graphturbo_core.strategies.steps.kernels import BoundKernel, Target
from graphturbo_core.strategies.steps.legal import SHARED_ENGINE
from graphturbo_core.strategies.steps.placement import Nearest, Placement, place_outputs
from graphturbo_core.strategies.steps.redistribution import relabel
from graphturbo_core.strategies.steps.residency import weight_residencies


@dataclass(frozen=True)
class Recipe:
    """Choices of a strategy beyond its sections: memories, scheduling, recorded decisions.

    `units`, and the indices in `Group.layers`: of the plan's own graph. `has_gb_inside`: a tensor
    inside a kernel whose readers have another binding goes through GB.
    """

    strategy: str
    units: tuple[Layer, ...]
    groups: tuple[Group, ...]
    nearest: Nearest
    scheduling: Scheduling = BY_LAYER
    has_gb_inside: bool = False
    decisions: tuple[Decision, ...] = ()
    notes: tuple[str, ...] = ()


def assemble(
    target: Target,
    recipe: Recipe,
    graph: InstanceGraph,
    order: Sequence[int],
    ready_steps: tuple[ReadyStep, ...] = (),
) -> Plan:
    """Bind, place and number the kernels of `graph` in this order."""
    bound = bind_all(target, graph)
    placements = place_outputs(graph, bound, order, recipe.nearest)
    residencies = weight_residencies(graph, order, placements, target)
    inner = _conflict_scope(target, recipe)
    kernels = tuple(
        kernel_plan(graph, bound[number], placement, residency, inner)
        for number, placement, residency in zip(order, placements, residencies, strict=True)
    )
    return plan_of_kernels(target, recipe, kernels, ready_steps)


def _conflict_scope(target: Target, recipe: Recipe) -> Scope | None:
    """Memory of a tensor inside a kernel whose readers bind it differently; None: LB."""
    if not (recipe.has_gb_inside and target.gb_use.has_conflicts):
        return None
    return Scope.GB if target.hardware.gb_bytes else Scope.DRAM


def assemble_cluster_parallel(
    target: Target,
    recipe: Recipe,
    graph: InstanceGraph,
    steps: Sequence[Mapping[int, int]],
    *,
    has_remote_dram: bool = False,
) -> Plan:
    """Bind, place and number the kernels of a cluster-parallel plan.

    `steps`: per step of the chip, the instance of each cluster. LB and GB contents between kernels
    are decided as for a single cluster, but tensors that another cluster reads go to DRAM.
    `has_remote_dram`: see `Cooperation`.
    """
    bound = bind_all(target, graph)
    cluster_of = {number: cluster for step in steps for cluster, number in step.items()}
    inner = _conflict_scope(target, recipe)
    made: dict[int, KernelPlan] = {}
    for cluster in sorted(set(cluster_of.values())):
        order = [step[cluster] for step in steps if cluster in step]
        placements = [
            replace(placement, scopes=_crossing(graph, number, placement.scopes, cluster_of))
            for number, placement in zip(
                order, place_outputs(graph, bound, order, recipe.nearest), strict=True
            )
        ]
        residencies = weight_residencies(graph, order, placements, target)
        for number, placement, held in zip(order, placements, residencies, strict=True):
            made[number] = kernel_plan(graph, bound[number], placement, held, inner)
    places = [(at, cluster) for at, step in enumerate(steps) for cluster in sorted(step)]
    return replace(
        plan_of_kernels(target, recipe, tuple(made[steps[at][cluster]] for at, cluster in places)),
        cooperation=Cooperation(
            target.clusters,
            tuple(c for _, c in places),
            tuple(at for at, _ in places),
            has_remote_dram,
        ),
    )


def _crossing(
    graph: InstanceGraph, number: int, scopes: Mapping[str, Scope], cluster_of: Mapping[int, int]
) -> dict[str, Scope]:
    """Scopes of an instance's outputs: DRAM for tensors that another cluster reads."""
    own = cluster_of[number]
    return {
        tensor: Scope.DRAM
        if any(cluster_of[reader] != own for reader in graph.readers[tensor][number])
        else scope
        for tensor, scope in scopes.items()
    }


def plan_of_kernels(
    target: Target,
    recipe: Recipe,
    kernels: tuple[KernelPlan, ...],
    ready_steps: tuple[ReadyStep, ...] = (),
) -> Plan:
    """The plan of these kernels in their order."""
    layers = layers_of_model(target.semantics, recipe.units)
    return Plan(
        strategy=recipe.strategy,
        semantics=target.semantics,
        hardware=target.hardware,
        number_format=target.number_format,
        rules=target.rules,
        feeding=target.feeding,
        layers=layers,
        units=recipe.units,
        groups=groups_of_layers(recipe.groups, layers, target.semantics),
        kernels=kernels,
        scheduling=recipe.scheduling,
        decisions=recipe.decisions,
        ready_steps=ready_steps,
        notes=recipe.notes,
    )


def kernel_plan(
    graph: InstanceGraph,
    bound: BoundKernel,
    placement: Placement,
    residency: dict[str, Residency],
    inner: Scope | None,
) -> KernelPlan:
    """Tensors inside are in LB; those that readers bind differently go to `inner` (3.4)."""
    instance = bound.instance
    inside = {
        tensor: _inner_scope(scope, Scope.GB if tensor in bound.binding.in_gb else inner)
        for tensor, scope in bound.binding.scopes.items()
        if tensor in instance.boxes
    }
    for tensor in tuple(inside):
        constrained = bound.target.constraints.scope_of(tensor, instance.piece)
        if constrained is not None:
            inside[tensor] = constrained
        if constrained is Scope.LB and tensor in bound.binding.in_gb:
            what = f"{tensor!r} of {instance.name} cannot wait in LB: {SHARED_ENGINE}"
            raise PlanError("PLAN_SCOPE", what, f"edits.scope.{tensor}", "choose GB, or drop it")
    bindings: dict[str, Binding] = {
        tensor: relabel(binding, placement.cores)
        for tensor, binding in bound.binding.bindings.items()
        if tensor in instance.boxes
    }
    return KernelPlan(
        name=instance.name,
        group=instance.section,
        piece=instance.piece,
        ops=graph.sections[instance.section].ops,
        boxes=instance.boxes,
        outputs=instance.outputs,
        bindings=bindings,
        scopes={**inside, **placement.scopes},
        kept=placement.kept,
        residency=residency,
    )


def _inner_scope(scope: Scope, inner: Scope | None) -> Scope:
    return Scope.LB if inner is None or scope is Scope.LB else inner


def assemble_whole(target: Target, recipe: Recipe, sections: Sequence[Section]) -> Plan:
    """Returns a plan of uncut sections in the given order."""
    graph = instance_graph(target.semantics, sections)
    return assemble(target, recipe, graph, range(len(graph.instances)))
