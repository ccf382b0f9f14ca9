"""Target -> Plan: an op a kernel, everything through DRAM; the naive baseline."""

from __future__ import annotations

from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.baselines.relay import relay_layers
from graphturbo_core.strategies.graphturbo.placement import Nearest
from graphturbo_core.strategies.steps.assemble import Recipe, assemble_whole
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.whole import op_graph, whole_groups, whole_sections


def layerwise_plan(target: Target) -> Plan:
    """Ops in the order of the layers, each handing its result to the next through DRAM."""
    layers = relay_layers(target.semantics)
    graph, owners = op_graph(target, layers)
    recipe = Recipe("layerwise", layers, whole_groups(graph, owners), Nearest.DRAM)
    return assemble_whole(target, recipe, whole_sections(graph))
