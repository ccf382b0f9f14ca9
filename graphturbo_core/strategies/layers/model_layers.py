"""Units of a plan's own graph -> layers of the undecomposed model, which all strategies share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphturbo_core.ir.graph import Graph
from graphturbo_core.products.plan import Group, Layer
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.layers.relay import relay_layers


def layers_of_model(sem: GraphSemantics, units: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """Returns Relay's partition of the undecomposed graph, with the ops of `sem.graph`.

    `units`: Relay's partition of `sem.graph` itself; it is returned if no op was decomposed.
    """
    if sem.graph.undecomposed is None:
        return units
    return _with_parts(relay_layers(sem.undecomposed), sem.graph)


def _with_parts(layers: Sequence[Layer], graph: Graph) -> tuple[Layer, ...]:
    """The same layers, with the ops of `graph` that theirs became, in topological order."""
    layer_of = {op: layer.index for layer in layers for op in layer.ops}
    members: list[list[str]] = [[] for _ in layers]
    for op in graph.ops:
        members[layer_of[op.origin_name]].append(op.name)
    return tuple(replace(layer, ops=tuple(ops)) for layer, ops in zip(layers, members, strict=True))


def groups_of_layers(
    groups: Sequence[Group], layers: Sequence[Layer], sem: GraphSemantics
) -> tuple[Group, ...]:
    """The groups with the layers of their ops, if these differ from the plan's units."""
    if sem.graph.undecomposed is None:
        return tuple(groups)
    layer_of = {op: layer.index for layer in layers for op in layer.ops}
    return tuple(
        replace(group, layers=tuple(sorted({layer_of[op] for op in group.ops}))) for group in groups
    )
