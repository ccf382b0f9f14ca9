"""Plan -> rows of the op graph with the places of both panes (fine and coarse)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypedDict

from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.ir.graph import AttributeValue, Graph, Op, TensorKind
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows.layout import pane_places, preferred_places, ranks, stacked

MAX_ITEMS = 8
"""Items of an attribute that its text names."""


class GraphNodeRow(TypedDict):
    """One op; `layer` and `group` are indices of their tables.

    `output_shapes`: of its results, in order. `weight_shapes`: of the weights that it reads.
    `attributes`: as the model gives them, `kernel_shape 3, 3; strides 2, 2`.
    """

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
    output_shapes: list[list[int]]
    weight_shapes: list[list[int]]
    attributes: str


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
            "output_shapes": _shapes(graph, filter(None, op.outputs)),
            "weight_shapes": _shapes(graph, _weights(graph, op)),
            "attributes": _attributes(op),
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


def shape_text(shape: Sequence[int]) -> str:
    """Text of a shape: `16x64x56x56`; `scalar` for a scalar."""
    return "x".join(str(size) for size in shape) or "scalar"


def shapes_text(shapes: Iterable[Sequence[int]]) -> str:
    """Text of several shapes: `16x64x56x56, scalar`."""
    return ", ".join(map(shape_text, shapes))


def _shapes(graph: Graph, names: Iterable[str]) -> list[list[int]]:
    return [list(graph.tensors[name].shape) for name in names]


def _weights(graph: Graph, op: Op) -> Iterator[str]:
    tensors = graph.tensors
    return (name for name in op.inputs if name and tensors[name].kind is TensorKind.WEIGHT)


def _attributes(op: Op) -> str:
    return "; ".join(f"{name} {_value_text(op.attributes[name])}" for name in sorted(op.attributes))


def _value_text(value: AttributeValue) -> str:
    """A number, a name, or the first items of a list."""
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if not isinstance(value, tuple):
        return str(value)
    more = [f"{len(value) - MAX_ITEMS} more"] if len(value) > MAX_ITEMS else []
    return ", ".join([*map(str, value[:MAX_ITEMS]), *more])


def _inner_edges(graph: Graph) -> list[tuple[int, int]]:
    return [(source, target) for source, target, _ in _edges(graph) if source >= 0]


def _edges(graph: Graph) -> Iterator[tuple[int, int, str]]:
    maker = {name: index for index, op in enumerate(graph.ops) for name in op.outputs if name}
    for target, op in enumerate(graph.ops):
        for name in graph.activations_in(op):
            yield maker.get(name, -1), target, name
