"""Layer: ops that Relay would fuse; of the model as it is, and of the graph that a plan is of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphturbo_core.ir.graph import Graph


@dataclass(frozen=True, slots=True)
class Layer:
    """Ops of one layer in topological order; named after its contraction, else its last op."""

    index: int
    name: str
    ops: tuple[str, ...]


def with_parts(layers: Sequence[Layer], graph: Graph) -> tuple[Layer, ...]:
    """Layers of `graph.whole` with the ops of `graph` that its ops became, in topological order."""
    layer_of = {op: layer.index for layer in layers for op in layer.ops}
    members: list[list[str]] = [[] for _ in layers]
    for op in graph.ops:
        members[layer_of[op.origin_name]].append(op.name)
    return tuple(
        Layer(layer.index, layer.name, tuple(ops))
        for layer, ops in zip(layers, members, strict=True)
    )
