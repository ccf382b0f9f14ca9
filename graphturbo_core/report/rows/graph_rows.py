"""Plan -> rows of the op graph with the places of both panes (fine and coarse)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.ir.graph import Graph
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows.layout import pane_places, preferred_places, ranks, stacked


class GraphNodeRow(TypedDict):
    """One op; `layer` and `group` are indices of their tables."""

    index: int
    op: str
    op_type: str
    origin: int
    layer: int
    group: int
    rank: int
    part_rank: int
    x_fine: float
    x_coarse: float
    output_shape: str


class GraphEdgeRow(TypedDict):
    """One activation that an op reads; `source` and `target` are indices of ops."""

    source: int
    target: int
    tensor: str
    shape: str
    bytes: int


def node_rows(outcome: Outcome) -> Iterator[GraphNodeRow]:
    """One row per op, in topological order.

    `origin`: index in the undecomposed graph of this op, or of the op that it is a part of. `rank`:
    the rank of that op. Runs of one model share both, but not always the ops. `part_rank`: its rank
    among the parts of that op, 0 where the op is not decomposed.
    """
    plan = outcome.plan
    graph = plan.semantics.graph
    edges = _inner_edges(graph)
    place_of = {op.name: place for place, op in enumerate(graph.whole.ops)}
    group_of = {op: index for index, group in enumerate(plan.groups) for op in group.ops}
    layers = [plan.layer_of_op[op.name] for op in graph.ops]
    groups = [group_of[op.name] for op in graph.ops]
    whole = ranks(len(graph.whole.ops), _inner_edges(graph.whole))
    origin = [place_of[op.origin_name] for op in graph.ops]
    part = ranks(len(graph.ops), [(s, t) for s, t in edges if origin[s] == origin[t]])
    places = [(whole[of], own) for of, own in zip(origin, part, strict=True)]
    (stack,) = stacked(places)
    wanted = preferred_places(len(graph.ops), edges)
    x_fine, x_coarse = (pane_places(stack, wanted, owner) for owner in (layers, groups))
    for index, op in enumerate(graph.ops):
        yield {
            "index": index,
            "op": op.name,
            "op_type": op.op_type,
            "origin": origin[index],
            "layer": layers[index],
            "group": groups[index],
            "rank": whole[origin[index]],
            "part_rank": part[index],
            "x_fine": x_fine[index],
            "x_coarse": x_coarse[index],
            "output_shape": ", ".join(shape_text(graph.tensors[t].shape) for t in op.outputs if t),
        }


def edge_rows(outcome: Outcome) -> Iterator[GraphEdgeRow]:
    """One row per activation that an op reads; source -1 is a graph input."""
    plan = outcome.plan
    for source, target, name in _edges(plan.semantics.graph):
        tensor = plan.semantics.graph.tensors[name]
        yield {
            "source": source,
            "target": target,
            "tensor": name,
            "shape": shape_text(tensor.shape),
            "bytes": tensor.elements * element_bytes(tensor.dtype, plan.number_format),
        }


def shape_text(shape: tuple[int, ...]) -> str:
    """Text of a shape: `16x64x56x56`; `scalar` for a scalar."""
    return "x".join(str(size) for size in shape) or "scalar"


def _inner_edges(graph: Graph) -> list[tuple[int, int]]:
    return [(source, target) for source, target, _ in _edges(graph) if source >= 0]


def _edges(graph: Graph) -> Iterator[tuple[int, int, str]]:
    maker = {name: index for index, op in enumerate(graph.ops) for name in op.outputs if name}
    for target, op in enumerate(graph.ops):
        for name in graph.activations_in(op):
            yield maker.get(name, -1), target, name
