"""Stages and their times -> Plan: kernels on clusters, or on parts of the cores of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.products.scheduling import Scheduling
from graphturbo_core.strategies.ios.core_parts import CoreTimes, assembled_on_cores
from graphturbo_core.strategies.ios.endings import Stage
from graphturbo_core.strategies.ios.stage_times import StageTimes
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.steps.assemble import (
    Recipe,
    assemble_cluster_parallel,
    assemble_whole,
)
from graphturbo_core.strategies.steps.instances import instance_graph
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.placement import Nearest
from graphturbo_core.strategies.steps.whole import whole_groups, whole_sections

WITHOUT_FENCE = Scheduling(has_fence=False, is_listed=False)
"""No fence: it would keep layers of one stage apart. Other kernels have a single layer."""


@dataclass(frozen=True)
class StagePlans:
    """Plans of one model's layers; `label`: of the strategy."""

    target: Target
    graph: LayerGraph
    label: str

    @property
    def recipe(self) -> Recipe:
        """A kernel per layer; every result goes to DRAM."""
        groups = whole_groups(self.graph, range(len(self.graph.layers)))
        return Recipe(self.label, self.graph.layers, groups, Nearest.DRAM, WITHOUT_FENCE)

    def plan(
        self, times: StageTimes, stages: Sequence[Stage], decisions: tuple[Decision, ...]
    ) -> Plan:
        """The plan of these stages: one kernel per layer, or per stage on parts of a cluster."""
        graph, target = self.graph, self.target
        recipe = replace(self.recipe, decisions=decisions)
        if isinstance(times, CoreTimes):
            kernels = [kernel for stage in stages for kernel in times.kernels(stage)]
            return assembled_on_cores(target, recipe, graph, kernels)
        sections = whole_sections(graph)
        if target.clusters == 1:
            return assemble_whole(target, recipe, sections)
        instances = instance_graph(target.semantics, sections)
        return assemble_cluster_parallel(target, recipe, instances, list(_steps(times, stages)))


def _steps(times: StageTimes, stages: Sequence[Stage]) -> Iterator[dict[int, int]]:
    """The layer that each cluster runs, per step."""
    for stage in stages:
        queues = times.queues(stage)
        for step in range(times.steps(stage)):
            yield {
                cluster: queue[step] for cluster, queue in enumerate(queues) if step < len(queue)
            }
