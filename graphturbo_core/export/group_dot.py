"""One sub-graph of a Report -> DOT: its ops, and the tensors that come in and go out."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Literal

from graphturbo_core.errors import CapacityError
from graphturbo_core.export.dot import quoted
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.graph_rows import GraphEdgeRow

MAX_OPS = 60
"""Ops of a drawing: with more, Graphviz in a browser takes long and nobody reads it (ui.md)."""
End = Literal["source", "target"]
ENDS: tuple[End, End] = ("source", "target")
"""Of an edge."""


def group_dot_text(
    report: Report, group: int, show: Callable[[str], str] = str, ink: str = "black"
) -> str:
    """The sub-graph's drawing; node ids are integers, names pass `show`, lines and texts are `ink`.

    Edges carry the shape of the tensor that is read. A tensor from outside, or that an op outside
    reads, is a text without a frame, drawn once for either.

    Raises:
        CapacityError: GROUP_TOO_LARGE, more than `MAX_OPS` ops.
    """
    import pydot  # noqa: PLC0415  # some 60 ms that no other command needs

    ops = [row for row in report.tables["graph_nodes"] if row["group"] == group]
    if len(ops) > MAX_OPS:
        raise CapacityError(
            "GROUP_TOO_LARGE",
            f"{report.tables['groups'][group]['name']} has {len(ops)} ops",
            f"a drawing takes {MAX_OPS}",
            "open it in the graph view",
        )
    graph = pydot.Dot("group", graph_type="digraph", bgcolor="transparent")
    graph.set_node_defaults(shape="box", color=quoted(ink), fontcolor=quoted(ink))
    graph.set_edge_defaults(color=quoted(ink), fontcolor=quoted(ink))
    for row in ops:
        label = quoted(f"{row['op_type']}\n{show(str(row['op']))}")
        graph.add_node(pydot.Node(str(row["index"]), label=label))
    inside, first = {row["index"] for row in ops}, len(report.tables["graph_nodes"])
    outside: dict[tuple[str, str], str] = {}
    edges: dict[tuple[str, str, str], str] = {}
    for edge in report.tables["graph_edges"]:
        if edge["source"] in inside or edge["target"] in inside:
            source, target = (_end(edge, end, inside, outside, first) for end in ENDS)
            edges[source, target, edge["tensor"]] = edge["shape"]
    for (source, target, _), shape in edges.items():
        graph.add_edge(pydot.Edge(source, target, label=quoted(shape)))
    for (_, tensor), number in outside.items():
        graph.add_node(pydot.Node(number, label=quoted(show(tensor)), shape="plaintext"))
    return graph.to_string()


def _end(
    row: GraphEdgeRow,
    end: End,
    inside: Container[int],
    outside: dict[tuple[str, str], str],
    first: int,
) -> str:
    """The node at one end of an edge; outside, tensors are numbered from `first` on."""
    if row[end] in inside:
        return str(row[end])
    return outside.setdefault((end, row["tensor"]), str(first + len(outside)))
