"""Plan -> rows of the op graph with the places of both panes."""

from __future__ import annotations

from collections.abc import Iterator

from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.report.layout import pane_places, preferred_places, ranks
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.report import Row
from graphturbo_core.report.rows import layer_of_op
from graphturbo_core.strategies.plan import Plan


def node_rows(outcome: Outcome) -> Iterator[Row]:
    """One row an op, in topological order."""
    plan = outcome.plan
    graph = plan.semantics.graph
    edges = [(source, target) for source, target, _ in _edges(plan) if source >= 0]
    layer_of = layer_of_op(plan)
    group_of = {op: index for index, group in enumerate(plan.groups) for op in group.ops}
    layers = [layer_of[op.name] for op in graph.ops]
    groups = [group_of[op.name] for op in graph.ops]
    rank = ranks(len(graph.ops), edges)
    wanted = preferred_places(len(graph.ops), edges)
    x_fine, x_coarse = (pane_places(rank, wanted, owner) for owner in (layers, groups))
    for index, op in enumerate(graph.ops):
        yield {
            "index": index,
            "op": op.name,
            "op_type": op.op_type,
            "layer": layers[index],
            "group": groups[index],
            "rank": rank[index],
            "x_fine": x_fine[index],
            "x_coarse": x_coarse[index],
            "output_shape": ", ".join(shape_text(graph.tensors[t].shape) for t in op.outputs if t),
        }


def edge_rows(outcome: Outcome) -> Iterator[Row]:
    """One row for each activation that an op reads; source -1 is a graph input."""
    plan = outcome.plan
    for source, target, name in _edges(plan):
        tensor = plan.semantics.graph.tensors[name]
        yield {
            "source": source,
            "target": target,
            "tensor": name,
            "shape": shape_text(tensor.shape),
            "bytes": tensor.elements * element_bytes(tensor.dtype, plan.number_format),
        }


def shape_text(shape: tuple[int, ...]) -> str:
    """`16x64x56x56`; a scalar is `scalar`."""
    return "x".join(str(size) for size in shape) or "scalar"


def _edges(plan: Plan) -> Iterator[tuple[int, int, str]]:
    graph = plan.semantics.graph
    maker = {name: index for index, op in enumerate(graph.ops) for name in op.outputs if name}
    for target, op in enumerate(graph.ops):
        for name in graph.activations_in(op):
            yield maker.get(name, -1), target, name
