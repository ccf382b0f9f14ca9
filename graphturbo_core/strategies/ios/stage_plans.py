"""Stages and their times -> Plan: kernels on clusters, or on parts of the cores of one.

`IosTrial` is such a plan when it has been simulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.products.scheduling import Scheduling
from graphturbo_core.strategies.ios.core_parts import CoreTimes, assembled_on_cores, with_cores
from graphturbo_core.strategies.ios.endings import Stage
from graphturbo_core.strategies.ios.stage_kernels import STAGE_STEP, StageKernels
from graphturbo_core.strategies.ios.stage_times import StageTimes
from graphturbo_core.strategies.steps.assemble import (
    Recipe,
    assemble_cluster_parallel,
    assemble_whole,
)
from graphturbo_core.strategies.steps.instances import instance_graph
from graphturbo_core.strategies.steps.kernels import PlanCost, Target
from graphturbo_core.strategies.steps.placement import Nearest

WITHOUT_FENCE = Scheduling(has_fence=False, is_listed=False)
"""No fence: it would keep layers of one stage apart. Other kernels have a single layer."""
RULE_TOGETHER = "these layers run at once: the sum over all stages is the least"
RULE_ALONE = "a stage of its own: with others the sum over all stages is not less"
RULE_MERGED = "several convolutions of one input, merged: the fastest simulated graph has them so"
RULE_FIXED = "no search: one layer, or all ready layers, per stage"
Made = tuple[tuple[Stage, ...], frozenset[Stage], int]
"""Stages in order, those that the dynamic program chose, and how many blocks it could not list."""


@dataclass(frozen=True)
class IosTrial:
    """A schedule's plan with its cycles, those of each stage, and the instructions simulated.

    `searched`: stages that the dynamic program chose. `wide`: blocks that were too large for it.
    """

    cycles: int
    plan: Plan
    stage_cycles: Mapping[Stage, int]
    searched: frozenset[Stage]
    wide: int
    instructions: int = 0


@dataclass(frozen=True)
class StagePlans:
    """Plans of one model's layers; `label`: of the strategy."""

    target: Target
    layers: StageKernels
    label: str

    @property
    def recipe(self) -> Recipe:
        """A kernel per layer; every result goes to DRAM."""
        layers = self.layers
        return Recipe(self.label, layers.units, layers.groups, Nearest.DRAM, WITHOUT_FENCE)

    def plan(
        self, times: StageTimes, stages: Sequence[Stage], decisions: tuple[Decision, ...]
    ) -> Plan:
        """The plan of these stages: one kernel per layer, or per stage on parts of a cluster."""
        layers, target = self.layers, self.target
        recipe = replace(self.recipe, decisions=decisions)
        if isinstance(times, CoreTimes):
            kernels = [kernel for stage in stages for kernel in times.kernels(stage)]
            return assembled_on_cores(target, recipe, layers, kernels)
        if target.clusters == 1:
            return assemble_whole(target, recipe, layers.sections)
        instances = instance_graph(target.semantics, layers.sections)
        return assemble_cluster_parallel(target, recipe, instances, list(_steps(times, stages)))

    def decisions(
        self, times: StageTimes, stages: Sequence[Stage], searched: frozenset[Stage]
    ) -> Iterator[Decision]:
        """Each stage with its cycles, and those of its layers one after the other."""
        for place, stage in enumerate(stages, 1):
            layers = tuple(layer for group in stage for layer in group)
            is_shared = len(stage) > 1
            chosen = RULE_TOGETHER if is_shared else RULE_ALONE
            rule = chosen if stage in searched else RULE_FIXED
            if not is_shared and not self.layers.merged.isdisjoint(layers):
                rule = RULE_MERGED
            numbers: dict[str, int | float | str] = {
                "stage": place,
                "groups": len(stage),
                "cycles": times(stage),
                "cycles in turn": times.cycles_of(layers),
            }
            names = tuple(self.layers.graph.layers[layer].name for layer in layers)
            decision = Decision(STAGE_STEP, rule, names, is_shared, numbers)
            yield with_cores(decision, times.cores_text(stage))


def cycles_of_stages(
    times: StageTimes, plan: Plan, cost: PlanCost, stages: Sequence[Stage]
) -> dict[Stage, int]:
    """The simulated cycles of each stage: those of its steps."""
    steps_of = map(plan.step_of, range(len(plan.kernels)))
    by_step = dict(zip(steps_of, cost.kernel_cycles, strict=True))
    found: dict[Stage, int] = {}
    first = 0
    for stage in stages:
        steps = times.steps(stage)
        found[stage] = sum(by_step[step] for step in range(first, first + steps))
        first += steps
    return found


def _steps(times: StageTimes, stages: Sequence[Stage]) -> Iterator[dict[int, int]]:
    """The layer that each cluster runs, per step."""
    for stage in stages:
        queues = times.queues(stage)
        for step in range(times.steps(stage)):
            yield {
                cluster: queue[step] for cluster, queue in enumerate(queues) if step < len(queue)
            }
