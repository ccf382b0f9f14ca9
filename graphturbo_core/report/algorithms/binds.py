"""Report -> which core computes which part of the tensors of each kernel, by Algorithm 4."""

from __future__ import annotations

from itertools import groupby

from graphturbo_core.report.canvases.canvas import Show
from graphturbo_core.report.overview.axis_names import AxisNames
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.graph_rows import GraphNodeRow
from graphturbo_core.report.sample_noun import sample_noun

MOST_KERNELS = 2000
"""Kernels in the picture; the table has all (our choice)."""
Row = tuple[str, str, int, str, str, int, int]


def bind_picture(report: Report, show: Show) -> dict[str, object] | None:
    """Kernels in order, each with a list of tensors that equivalent kernels share.

    A tensor: its name, op, number of its division in `texts`, axes, memory, number of the names of
    its axes in `axis_names`, and its layer. None where the run has no bindings.
    """
    rows = report.tables["bindings"]
    if not rows:
        return None
    nodes = {node["op"]: node for node in report.tables["graph_nodes"]}
    numbers: dict[tuple[str, ...], int] = {}
    axis_names = AxisNames(report, sample_noun(report))
    names_of = {op: _axis_names(axis_names, node) for op, node in nodes.items()}
    layer_of = {op: node["layer"] for op, node in nodes.items()}
    group_of = {row["name"]: row["group"] for row in report.tables["kernels"]}
    place = {row["name"]: row["index"] for row in report.tables["groups"]}
    texts: dict[str, int] = {}
    sheets: dict[tuple[Row, ...], int] = {}
    kernels: list[dict[str, object]] = []
    names = [name for name, _ in groupby(rows, key=lambda row: row["kernel"])]
    for name, own in groupby(rows, key=lambda row: row["kernel"]):
        if len(kernels) == MOST_KERNELS:
            break
        sheet = tuple(
            (
                show(row["tensor"]),
                show(row["op"]),
                texts.setdefault(row["binding"], len(texts)),
                row["axes"],
                row["scope"],
                numbers.setdefault(names_of.get(row["op"], ()), len(numbers)),
                layer_of.get(row["op"], 0),
            )
            for row in own
        )
        kernels.append(
            {
                "name": show(name),
                "group": place.get(group_of.get(name, ""), 0),
                "sheet": sheets.setdefault(sheet, len(sheets)),
            }
        )
    return {
        "kernels": kernels,
        "left_out": len(names) - len(kernels),
        "sheets": [list(map(list, sheet)) for sheet in sheets],
        "texts": list(texts),
        "axis_names": list(map(list, numbers)),
    }


def _axis_names(names: AxisNames, node: GraphNodeRow) -> tuple[str, ...]:
    """Of the result of an op that has most axes."""
    rank = max(map(len, node["output_shapes"]), default=0)
    return tuple(names.of_result(rank, node["group"]))
