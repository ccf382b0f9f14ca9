"""Layers or ops as uncut sections, for strategies without splitting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from graphturbo_core.products.plan import Group, Layer
from graphturbo_core.strategies.layers.layer_graph import LayerGraph, layer_graph
from graphturbo_core.strategies.steps.instances import Section
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import SubGraph


def whole_sections(graph: LayerGraph) -> tuple[Section, ...]:
    """A section per layer of the graph, uncut."""
    return tuple(
        Section(f"g{index + 1}", (layer.ops,), graph.outputs_of((index,)))
        for index, layer in enumerate(graph.layers)
    )


def whole_groups(graph: LayerGraph, layer_of: Sequence[int]) -> tuple[Group, ...]:
    """One group per uncut section; `layer_of[i]`: the plan's layer that it belongs to."""
    return tuple(
        Group(
            name=f"g{index + 1}",
            layers=(layer_of[index],),
            ops=layer.ops,
            split_axis=-1,
            pieces=1,
            covered_ops=0,
            peak_bytes=SubGraph(graph, (index,)).whole_peak_bytes,
        )
        for index, layer in enumerate(graph.layers)
    )


def op_graph(target: Target, layers: Sequence[Layer]) -> tuple[LayerGraph, tuple[int, ...]]:
    """Returns every op as its own layer, in the layers' order, and each op's original layer."""
    owners = [(op, layer.index) for layer in layers for op in layer.ops]
    single = tuple(Layer(place, op, (op,)) for place, (op, _) in enumerate(owners))
    graph = layer_graph(target.semantics, single, target.number_format)
    return graph, tuple(owner for _, owner in owners)


def op_sections(
    target: Target, layers: Sequence[Layer], kernels: Iterable[tuple[Sequence[str], Sequence[str]]]
) -> tuple[tuple[Section, ...], tuple[Group, ...]]:
    """Uncut sections of ops, `g1` on, and their groups; `kernels`: ops and handed-out tensors.

    No tensors: all that other ops or the graph's outputs need.
    """
    graph, owners = op_graph(target, layers)
    unit_of = {unit.name: unit.index for unit in graph.layers}
    layer_of = {unit.name: owner for unit, owner in zip(graph.layers, owners, strict=True)}
    sections: list[Section] = []
    groups: list[Group] = []
    for ops, outputs in kernels:
        part = SubGraph(graph, tuple(sorted(unit_of[op] for op in ops)))
        name = f"g{len(sections) + 1}"
        whole = Section(name, (part.ops,), tuple(outputs) or part.outputs)
        sections.append(in_layers(whole, layer_of))
        owned = tuple(dict.fromkeys(owners[unit] for unit in part.layers))
        groups.append(Group(name, owned, part.ops, -1, 1, 0, part.whole_peak_bytes))
    return tuple(sections), tuple(groups)


def in_layers(section: Section, layer_of: Mapping[str, int]) -> Section:
    """Returns the section with its ops grouped by layer; ops of one layer share loop nests.

    `layer_of`: of every op. The section's ops must be in the layers' order.
    """
    layer_ops = tuple(tuple(ops) for _, ops in groupby(section.ops, layer_of.__getitem__))
    return replace(section, layer_ops=layer_ops)
