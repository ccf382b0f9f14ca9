"""Target, cost -> Plan: the fastest of `graphturbo:plus`'s proposals, uniform groupings and theirs.

Our choice; the paper has one grouping per model. docs/strategies.md says what it does not cover.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.best.uniform import uniform_cuts, whole_layers
from graphturbo_core.strategies.graphturbo.levels import Level
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.plus.cuts import cut_plan
from graphturbo_core.strategies.plus.plus import Plus, PlusTrials, Proposer, named_plan
from graphturbo_core.strategies.steps.kernels import Target


class BestSearch(Plus):
    """`Plus` with uniform groupings; crossovers before and after the second axis."""

    @property
    def proposers(self) -> tuple[Proposer, ...]:
        """Uniform groupings come before the first crossover, which takes segments of them."""
        return (
            self.fewer,
            self.merged,
            self.fewer_of_merged,
            self.uniform,
            self.mixed,
            self.axes,
            self.mixed,
            self.kept,
            self.lent,
            self.cooperating,
        )

    def uniform(self, target: Target, trials: PlusTrials) -> Iterator[tuple[str, Plan]]:
        """Uniform groupings; none if a plan file constrains groups."""
        if target.constraints.shape_groups:
            return
        for name, cuts in uniform_cuts(trials.graph, samples_of(target)):
            yield from named_plan(
                name, partial(cut_plan, target, trials.graph, cuts, self.full.level)
            )


def samples_of(target: Target) -> int:
    """Samples of the round: the leading size of the first input with two axes, 1 without one."""
    graph = target.semantics.graph
    shapes = (graph.tensors[name].shape for name in graph.inputs)
    return next((shape[0] for shape in shapes if len(shape) > 1), 1)


def layers_plan(target: Target, level: Level) -> Plan:
    """All layers alone and whole, at a level of `graphturbo`."""
    graph = layer_graph(target.semantics, relay_layers(target.semantics), target.number_format)
    return cut_plan(target, graph, whole_layers(graph), level)
