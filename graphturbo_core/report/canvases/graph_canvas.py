"""Report -> bytes of the op graph for the graph view, in the layout of `canvas.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from graphturbo_core.report.canvases.canvas import Array, Show, column, pack
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.graph_rows import shapes_text
from graphturbo_core.report.rows.layout import stacked


def graph_buffer(
    *reports: Report,
    show: Show = str,
    show_long: Show = str,
    extra: Mapping[str, object] | None = None,
) -> bytes:
    """The op graph of one or two runs with each run's own sub-graphs.

    Vertical places are topological ranks, equal in every run of one model. Where one run decomposes
    an op, the others leave the same height. Horizontal places are the run's own (`x_coarse`, in
    columns), so that opening a sub-graph moves nothing. `show_long`: for attributes, which are
    longer than names.
    """
    runs, arrays = [], {}
    for number, (report, ranks) in enumerate(zip(reports, _ranks(reports), strict=True)):
        header, own = _graph_run(report, ranks, show)
        nodes = report.tables["graph_nodes"]
        header["op_attributes"] = [show_long(row["attributes"]) for row in nodes]
        runs.append(header)
        arrays.update({f"{number}.{name}": array for name, array in own.items()})
    return pack({"runs": runs, **(extra or {})}, arrays)


def _ranks(reports: Sequence[Report]) -> list[list[int]]:
    """The vertical places of every run's ops."""
    return stacked(
        *(
            [(row["rank"], row["part_rank"]) for row in nodes]
            for nodes in (report.tables["graph_nodes"] for report in reports)
        )
    )


def _graph_run(
    report: Report, ranks: Sequence[int], show: Show
) -> tuple[dict[str, object], dict[str, Array]]:
    nodes, edges = report.tables["graph_nodes"], report.tables["graph_edges"]
    inner = [row for row in edges if row["source"] >= 0]
    header: dict[str, object] = {
        "title": show(report.contract["strategy"]),
        "groups": _group_boxes(report, ranks, show),
        "ops": [show(row["op"]) for row in nodes],
        "op_types": [show(row["op_type"]) for row in nodes],
        "op_shapes": [show(shapes_text(row["output_shapes"])) for row in nodes],
        "layers": [show(row["name"]) for row in report.tables["layers"]],
        "tensors": [show(row["tensor"]) for row in inner],
        "shapes": [show(row["shape"]) for row in inner],
    }
    return header, {
        "rank": np.array(ranks, "<i4"),
        "op_group": column(row["group"] for row in nodes),
        "op_layer": column(row["layer"] for row in nodes),
        "op_origin": column(row["origin"] for row in nodes),
        "x": np.array(_places(report), dtype="<f8"),
        "source": column(row["source"] for row in inner),
        "target": column(row["target"] for row in inner),
        "edge_bytes": np.array([row["bytes"] for row in inner], dtype="<f8"),
    }


def _places(report: Report) -> list[float]:
    """Horizontal places of the ops, in columns, the leftmost at 0."""
    places = [row["x_coarse"] for row in report.tables["graph_nodes"]]
    leftmost = min(places, default=0.0)
    return [place - leftmost for place in places]


def _group_boxes(report: Report, ranks: Sequence[int], show: Show) -> list[dict[str, object]]:
    """Boxes of the sub-graphs: the ranks and columns of their ops."""
    members: dict[int, list[int]] = {}
    for index, row in enumerate(report.tables["graph_nodes"]):
        members.setdefault(row["group"], []).append(index)
    places = _places(report)
    boxes: list[dict[str, object]] = []
    for index, group in enumerate(report.tables["groups"]):
        ops = members.get(index, [])
        boxes.append(
            {
                "name": show(group["name"]),
                "pieces": group["pieces"],
                "ops": len(ops),
                "first": min((ranks[op] for op in ops), default=0),
                "last": max((ranks[op] for op in ops), default=-1),
                "left": min((places[op] for op in ops), default=0.0),
                "right": 1 + max((places[op] for op in ops), default=0.0),
            }
        )
    return boxes
