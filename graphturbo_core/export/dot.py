"""Report -> DOT: the graph of ops with one DOT cluster per group, for Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphturbo_core.errors import CapacityError
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.graph_rows import GraphEdgeRow, GraphNodeRow
from graphturbo_core.report.rows.group_rows import GroupRow

MAX_OPS = 5_000
"""Most ops of a DOT file; `dot` needs over 25 s for DenseNet-121's (our choice)."""
MAX_EDGES = 20_000
"""Most edges of a DOT file, edges from graph inputs included (our choice)."""
GRAPH_INPUT = -1
"""Source of an edge from a graph input."""
UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"
ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "&": "&amp;", "\n": r"\n"})


def dot_text(report: Report) -> str:
    """DOT text of the largest share's graph; equal reports give equal bytes.

    One node per op (its type, below it its name), one DOT cluster per group, one node without a
    frame per graph input. Edges are labelled with the shape of the tensor that is read.

    Raises:
        CapacityError: DOT_TOO_LARGE, more than `MAX_OPS` ops or `MAX_EDGES` edges.
    """
    import pydot  # noqa: PLC0415  # some 60 ms that no other command needs

    check_drawable(report)
    edges = report.tables["graph_edges"]
    graph = pydot.Dot("run", graph_type="digraph", label=quoted(_title(report)))
    graph.set_node_defaults(shape="box")
    for group, ops in _members(report):
        cluster = pydot.Subgraph(f"cluster_{group['index']}", label=quoted(_group_label(group)))
        for row in ops:
            label = quoted(f"{row['op_type']}\n{row['op']}")
            cluster.add_node(pydot.Node(f"op{row['index']}", label=label))
        graph.add_subgraph(cluster)
    inputs = _input_ids(edges)
    for tensor, node_id in inputs.items():
        graph.add_node(pydot.Node(node_id, label=quoted(tensor), shape="plaintext"))
    for edge in edges:
        source = edge["source"]
        start = inputs[edge["tensor"]] if source == GRAPH_INPUT else f"op{source}"
        graph.add_edge(pydot.Edge(start, f"op{edge['target']}", label=quoted(edge["shape"])))
    return graph.to_string()


def quoted(text: str) -> str:
    """A name as a quoted DOT string that Graphviz draws literally.

    1. Within double quotes a backslash and a quote are escaped with a backslash.
    2. Labels resolve HTML entities, so an ampersand is written as an entity.
    3. A line break is written as DOT's escape; other unprintable characters are replaced.
    Markup, ports and keywords have no meaning within quotes.
    """
    shown = "".join(c if c == "\n" or c.isprintable() else UNPRINTABLE for c in text)
    return f'"{shown.translate(ESCAPES)}"'


def check_drawable(report: Report) -> None:
    """Refuses a report that is too large for `dot_text`.

    Raises:
        CapacityError: DOT_TOO_LARGE.
    """
    _check_size(len(report.tables["graph_nodes"]), "ops", MAX_OPS)
    _check_size(len(report.tables["graph_edges"]), "edges", MAX_EDGES)


def _check_size(count: int, what: str, most: int) -> None:
    if count > most:
        raise CapacityError(
            "DOT_TOO_LARGE",
            f"the graph has {count} {what}",
            f"a DOT file may have {most}",
            "leave --dot out; --json lists the groups",
        )


def _title(report: Report) -> str:
    contract = report.contract
    return (
        f"{contract['model']}, {contract['strategy']} on {contract['profile']}, "
        f"batch {contract['batch']}"
    )


def _members(report: Report) -> Iterator[tuple[GroupRow, list[GraphNodeRow]]]:
    """The groups with their ops, both in the plan's order."""
    members: dict[int, list[GraphNodeRow]] = {}
    for row in report.tables["graph_nodes"]:
        members.setdefault(row["group"], []).append(row)
    for group in report.tables["groups"]:
        yield group, members.get(group["index"], [])


def _group_label(group: GroupRow) -> str:
    """Label of a group: `g2: 8 pieces along axis 0`."""
    if group["pieces"] == 1:
        return f"{group['name']}: not split"
    return f"{group['name']}: {group['pieces']} pieces along {group['along']}"


def _input_ids(edges: Sequence[GraphEdgeRow]) -> dict[str, str]:
    """Node ids of the graph inputs that ops read, in order of first read."""
    names = dict.fromkeys(row["tensor"] for row in edges if row["source"] == GRAPH_INPUT)
    return {name: f"input{number}" for number, name in enumerate(names)}
