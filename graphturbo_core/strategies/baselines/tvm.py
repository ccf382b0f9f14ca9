"""Target -> Plan: a Relay layer a kernel, as TVM compiles; between kernels everything in DRAM."""

from __future__ import annotations

from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.baselines.relay import relay_layers
from graphturbo_core.strategies.graphturbo.layer_graph import layer_graph
from graphturbo_core.strategies.graphturbo.placement import Nearest
from graphturbo_core.strategies.steps.assemble import Recipe, assemble_whole
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.whole import whole_groups, whole_sections


def tvm_plan(target: Target) -> Plan:
    """Layers in topological order; what passes inside a layer stays in LB."""
    layers = relay_layers(target.semantics)
    graph = layer_graph(target.semantics, layers, target.number_format)
    groups = whole_groups(graph, range(len(layers)))
    return assemble_whole(
        target, Recipe("tvm", layers, groups, Nearest.DRAM), whole_sections(graph)
    )
