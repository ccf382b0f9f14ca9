"""Layers on parts of a cluster's cores -> Plan: one kernel per step, with a branch per part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphturbo_core.ir.boxes import Box, hull
from graphturbo_core.products.plan import KernelPlan, Plan, Residency
from graphturbo_core.strategies.steps.assemble import Recipe, kernel_plan, plan_of_kernels
from graphturbo_core.strategies.steps.instances import InstanceGraph
from graphturbo_core.strategies.steps.kernels import BoundKernel, Target, bind_instance
from graphturbo_core.strategies.steps.placement import Nearest, place_outputs
from graphturbo_core.strategies.steps.residency import weight_residencies


@dataclass(frozen=True, slots=True)
class CoreBranch:
    """Uncut sections that run one after the other on these cores."""

    sections: tuple[int, ...]
    cores: tuple[int, ...]


BranchStep = Sequence[CoreBranch]
"""Branches that run at the same time: one kernel."""


def assemble_branches(
    target: Target, recipe: Recipe, graph: InstanceGraph, steps: Sequence[BranchStep]
) -> Plan:
    """Returns the plan of these steps; `recipe.groups`: one per step.

    Every tensor between two sections is in DRAM, also inside a branch: our choice, so that a
    branch is no fused kernel. Weights of branches are never sharded: a shard is in the LB of a
    core that may belong to another branch.
    """
    assert recipe.nearest is Nearest.DRAM
    cores_of = {n: branch.cores for step in steps for branch in step for n in branch.sections}
    order = list(cores_of)
    bound = _bound(target, graph, cores_of)
    placements = place_outputs(graph, bound, order, recipe.nearest)
    residencies = weight_residencies(graph, order, placements, target)
    made = {
        number: kernel_plan(
            graph, bound[number], replace(placement, cores=cores_of[number]), held, None
        )
        for number, placement, held in zip(order, placements, residencies, strict=True)
    }
    kernels = tuple(joined_kernel(graph, made, place, step) for place, step in enumerate(steps))
    return plan_of_kernels(target, recipe, kernels)


def _bound(
    target: Target, graph: InstanceGraph, cores_of: Mapping[int, tuple[int, ...]]
) -> list[BoundKernel]:
    """Apply Algorithm 4 to every section, over as many cores as it has."""
    counts = sorted({len(cores) for cores in cores_of.values()})
    targets = {n: replace(target, binder=replace(target.binder, cores=n)) for n in counts}
    return [
        bind_instance(
            targets[len(cores_of[number])],
            instance,
            graph.sections[instance.section].nests(target.semantics),
        )
        for number, instance in enumerate(graph.instances)
    ]


def joined_kernel(
    graph: InstanceGraph, made: Mapping[int, KernelPlan], place: int, step: BranchStep
) -> KernelPlan:
    """One kernel of a step, by its place; `made`: the sections as kernels, by their number."""
    numbers = [number for branch in step for number in branch.sections]
    parts, name = [made[number] for number in numbers], f"g{place + 1}/1"
    if len(parts) == 1:
        return replace(parts[0], name=name, group=place)
    return replace(
        parts[0],
        name=name,
        group=place,
        ops=tuple(op for part in parts for op in part.ops),
        boxes=_boxes(parts),
        outputs={
            tensor: box
            for number in numbers
            for tensor, box in made[number].outputs.items()
            if _leaves(graph, tensor, number, numbers)
        },
        bindings={tensor: own for part in parts for tensor, own in part.bindings.items()},
        scopes={tensor: scope for part in parts for tensor, scope in part.scopes.items()},
        residency={
            weight: Residency.STREAM if how is Residency.SHARDED else how
            for part in parts
            for weight, how in part.residency.items()
        },
        branches=tuple(tuple(made[number].ops for number in branch.sections) for branch in step),
    )


def _boxes(parts: Sequence[KernelPlan]) -> dict[str, Box]:
    """Of a computed tensor its computed box, of others the hull of the boxes read."""
    found: dict[str, Box] = {}
    for part in parts:
        for tensor, box in part.boxes.items():
            found[tensor] = hull(found[tensor], box) if tensor in found else box
    for part in parts:
        found.update({t: box for t, box in part.boxes.items() if t in part.bindings})
    return found


def _leaves(graph: InstanceGraph, tensor: str, number: int, numbers: Sequence[int]) -> bool:
    """Whether an output of a section is used outside its kernel."""
    readers = graph.readers[tensor][number]
    is_result = tensor in graph.semantics.graph.output_names or not readers
    return is_result or any(reader not in numbers for reader in readers)
