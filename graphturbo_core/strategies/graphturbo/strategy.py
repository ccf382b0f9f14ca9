"""Target -> Plan: GraphTurbo, Algorithms 1 to 4 of the paper (OSDI 2023) in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from graphturbo_core.products.plan import Decision, Group, Plan
from graphturbo_core.strategies.graphturbo.constrained_splits import ConstrainedSplits
from graphturbo_core.strategies.graphturbo.fitting import FittedSection, Fitter
from graphturbo_core.strategies.graphturbo.grouping import (
    DEFAULT_MERGING,
    GroupedLayers,
    Merging,
    group_layers,
)
from graphturbo_core.strategies.graphturbo.levels import DEFAULT_LEVEL, Level
from graphturbo_core.strategies.graphturbo.live.growing import grow
from graphturbo_core.strategies.graphturbo.ordering import order_instances
from graphturbo_core.strategies.layers.layer_graph import LayerGraph, layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.steps.assemble import Recipe, assemble, assemble_whole
from graphturbo_core.strategies.steps.instances import instance_graph
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import Splitter, SubGraph
from graphturbo_core.strategies.steps.whole import whole_groups, whole_sections


@dataclass(frozen=True)
class GraphTurbo:
    """The strategy with its options; each algorithm's file explains its own."""

    splitter: Splitter
    merging: Merging = DEFAULT_MERGING
    is_fit_checked: bool = True
    level: Level = DEFAULT_LEVEL

    def __call__(self, target: Target) -> Plan:
        """Split, group, order, bind and place; levels gb and lb leave out the first three."""
        layers = relay_layers(target.semantics)
        graph = layer_graph(target.semantics, layers, target.number_format)
        return (
            self._split_plan(target, graph) if self.level.is_split else self._whole(target, graph)
        )

    @property
    def _name(self) -> str:
        return f"graphturbo:{self.level.name}"

    def _whole(self, target: Target, graph: LayerGraph) -> Plan:
        groups = whole_groups(graph, range(len(graph.layers)))
        level = self.level
        recipe = Recipe(self._name, graph.layers, groups, level.nearest, level.scheduling)
        return assemble_whole(target, recipe, whole_sections(graph))

    def _split_plan(self, target: Target, graph: LayerGraph) -> Plan:
        splits = ConstrainedSplits(self.splitter, target.constraints)
        splits.check_merges(graph)
        growing = None if target.constraints.fix_splits else partial(grow, self.splitter)
        grouping = group_layers(graph, splits, self.merging, growing, target.constraints)
        fitted: list[FittedSection] = []
        fixed: list[Decision] = []
        for number, part in enumerate(grouping.parts):
            whole = SubGraph(graph, part.layers)
            fit = Fitter(target, splits.splitter_of(whole), self.is_fit_checked)
            fitted.append(fit(whole, part.split, f"g{number + 1}"))
            fixed += splits.followed(whole, fitted[-1])
        instances = instance_graph(target.semantics, [section.section for section in fitted])
        names = [instance.name for instance in instances.instances]
        is_breadth_first = self.level.is_breadth_first
        order = order_instances(names, instances.producers, is_breadth_first=is_breadth_first)
        recipe = Recipe(
            self._name,
            graph.layers,
            _groups(graph, grouping.parts, fitted),
            self.level.nearest,
            scheduling=self.level.scheduling,
            has_gb_inside=True,
            decisions=(*grouping.decisions, *(d for s in fitted for d in s.decisions), *fixed),
            notes=tuple(note for section in fitted for note in section.notes),
        )
        return assemble(target, recipe, instances, order.order, order.steps)


def _groups(
    graph: LayerGraph, parts: Sequence[GroupedLayers], fitted: Sequence[FittedSection]
) -> tuple[Group, ...]:
    return tuple(
        Group(
            name=section.section.name,
            layers=part.layers,
            ops=section.section.ops,
            split_axis=part.split.axis if part.split else -1,
            pieces=section.section.pieces,
            covered_ops=part.split.covered_ops if part.split else 0,
            peak_bytes=SubGraph(graph, part.layers).whole_peak_bytes,
        )
        for part, section in zip(parts, fitted, strict=True)
    )
