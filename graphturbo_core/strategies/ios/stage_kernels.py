"""GraphSemantics -> StageKernels: what the stages of IOS consist of, one kernel per layer.

A layer is one of Relay's. Where the import merged convolutions
(`frontend/passes/substitutions/convolution_sets.py`), their layers are one: the merged convolution,
the slices of its result, and per slice what follows in its layer, such as the activation.

A merged layer reads one value, since `merge_search.py` merges no others. So two layers that need
each other would be a cycle of ops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from graphturbo_core.frontend.passes.substitutions.branches import is_merged
from graphturbo_core.ir.graph import Graph
from graphturbo_core.products.plan import Group, Layer
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.layers.layer_graph import LayerGraph, layer_graph
from graphturbo_core.strategies.layers.model_layers import layers_of_model
from graphturbo_core.strategies.layers.ranked_order import ranked_order
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.steps.instances import Section
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.whole import op_sections, whole_groups, whole_sections

STAGE_STEP = "stage"
"""Step of a plan's decisions about its stages; the subjects are layers."""


@dataclass(frozen=True)
class StageKernels:
    """The layers that stages consist of, with a section and a group of each.

    `units`: of the plan. `merged`: layers of a merged convolution.
    """

    graph: LayerGraph = field(repr=False)
    units: tuple[Layer, ...]
    sections: tuple[Section, ...]
    groups: tuple[Group, ...]
    merged: frozenset[int] = frozenset()

    @property
    def edges(self) -> list[tuple[int, int]]:
        """Pairs of layers, of which the second reads the first."""
        return [
            (layer, reader)
            for layer, readers in enumerate(self.graph.successors)
            for reader in readers
        ]

    @cached_property
    def layer_by_origin(self) -> Mapping[str, int]:
        """The layer with the parts of each op of the unchanged graph."""
        ops = self.graph.semantics.graph.op_by_name
        return {ops[op].origin_name: layer.index for layer in self.graph.layers for op in layer.ops}


def layer_kernels(target: Target) -> StageKernels:
    """Layers of Relay, whole: those of a graph without merged convolutions."""
    sem = target.semantics
    graph = layer_graph(sem, relay_layers(sem), target.number_format)
    groups = whole_groups(graph, range(len(graph.layers)))
    return StageKernels(graph, graph.layers, whole_sections(graph), groups)


def merged_kernels(target: Target) -> StageKernels:
    """The layers of a graph that may have merged convolutions.

    Kernels are sections of ops, as those of `tensorrt-like`: a slice is no whole layer of Relay.
    """
    sem = target.semantics
    layers, merged = merged_layers(sem)
    graph = layer_graph(sem, layers, target.number_format)
    units = relay_layers(sem)
    sections, groups = op_sections(target, units, [(layer.ops, ()) for layer in layers])
    return StageKernels(graph, units, sections, groups, merged)


def merged_layers(sem: GraphSemantics) -> tuple[tuple[Layer, ...], frozenset[int]]:
    """The model's layers, those of each merged convolution as one, and which these are."""
    graph = sem.graph
    layers = layers_of_model(sem, relay_layers(sem) if graph.undecomposed is None else ())
    layer_of = {op: layer.index for layer in layers for op in layer.ops}
    first_of = list(range(len(layers)))
    name_of: dict[int, str] = {}
    for op in graph.ops:
        if is_merged(graph, op):
            first = layer_of[op.name]
            name_of[first] = op.name
            for piece in graph.consumers[op.outputs[0]]:
                first_of[layer_of[piece.name]] = first
    members: dict[int, list[str]] = {}
    for op in graph.ops:
        members.setdefault(first_of[layer_of[op.name]], []).append(op.name)
    found = tuple(
        Layer(place, name_of.get(first, layers[first].name), tuple(members[first]))
        for place, first in enumerate(_in_order(graph, members))
    )
    merged_names = set(name_of.values())
    return found, frozenset(layer.index for layer in found if layer.name in merged_names)


def _in_order(graph: Graph, members: dict[int, list[str]]) -> Sequence[int]:
    """Keys of the members in topological order; of those that are ready, the earliest op first."""
    keys = list(members)
    place_of = {op: place for place, key in enumerate(keys) for op in members[key]}
    readers: list[set[int]] = [set() for _ in keys]
    for op in graph.ops:
        for name in graph.activations_in(op):
            if name in graph.producer:
                producer, reader = place_of[graph.producer[name].name], place_of[op.name]
                if producer != reader:
                    readers[producer].add(reader)
    return [keys[place] for place in ranked_order(readers, range(len(keys)))]
