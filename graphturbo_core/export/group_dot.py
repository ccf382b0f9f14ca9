"""One sub-graph of a Report -> DOT: its ops, and the tensors that enter and leave it."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Literal

from graphturbo_core.errors import CapacityError
from graphturbo_core.export.dot import quoted
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.graph_rows import GraphEdgeRow

MAX_OPS = 60
"""Most ops of a drawing: above it Graphviz in a browser is slow and the drawing unreadable."""
End = Literal["source", "target"]
ENDS: tuple[End, End] = ("source", "target")
"""Ends of an edge."""


def group_dot_text(
    report: Report, group: int, show: Callable[[str], str] = str, ink: str = "black"
) -> str:
    """DOT text of one sub-graph. `show` is applied to names; `ink` is the colour of lines and text.

    Node ids are integers. Edges are labelled with the shape of the tensor that is read. A tensor
    that enters or leaves the sub-graph is a text without a frame, drawn once per direction.

    Raises:
        CapacityError: GROUP_TOO_LARGE, more than `MAX_OPS` ops.
    """
    import pydot  # noqa: PLC0415  # some 60 ms that no other command needs

    ops = [row for row in report.tables["graph_nodes"] if row["group"] == group]
    if len(ops) > MAX_OPS:
        raise CapacityError(
            "GROUP_TOO_LARGE",
            f"{report.tables['groups'][group]['name']} has {len(ops)} ops",
            f"a drawing may have {MAX_OPS}",
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
    """Node id at one end of an edge; tensors outside are numbered from `first`."""
    if row[end] in inside:
        return str(row[end])
    return outside.setdefault((end, row["tensor"]), str(first + len(outside)))
