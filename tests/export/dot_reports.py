"""Reports with hostile names, for DOT files."""

from __future__ import annotations

from graphturbo_core.report.report import Report

Row = dict[str, object]

CONTRACT = {"model": "m", "strategy": "graphturbo@8", "profile": "chip", "batch": 8}

HOSTILE = [
    'say "hi"',
    '"',
    '"quoted"',
    '"]; evil [label="x"]; "',
    "two\nlines",
    "back\\slash",
    "ends in \\",
    "\\N and \\G and \\n",
    "port:n:sw",
    "<b>bold</b>",
    "<<b>bold</b>>",
    "a & b &amp; &lt;b&gt;",
    "digraph",
    "0.5",
    "a -> b; // c",
    "/* # */",
    "名前 é",
    "",
]


def node(index: int, op: str, group: int, op_type: str = "Relu") -> Row:
    return {"index": index, "op": op, "op_type": op_type, "group": group}


def edge(source: int, target: int, tensor: str, shape: str = "8x4") -> Row:
    return {"source": source, "target": target, "tensor": tensor, "shape": shape}


def report_of(nodes: list[Row], edges: list[Row], groups: list[Row]) -> Report:
    tables = {"graph_nodes": nodes, "graph_edges": edges, "groups": groups}
    return Report(CONTRACT, {name: tuple(rows) for name, rows in tables.items()}, {})


def group(index: int, pieces: int = 1, axis: int = -1, name: str | None = None) -> Row:
    return {
        "index": index,
        "name": f"g{index + 1}" if name is None else name,
        "pieces": pieces,
        "split_axis": axis,
        "along": f"axis {axis}",
    }
