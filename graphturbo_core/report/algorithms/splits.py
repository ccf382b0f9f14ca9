"""Report -> pieces of each sub-graph and layer by Algorithm 1, as the picture of slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.report.canvases.canvas import Show
from graphturbo_core.report.overview.axis_names import AxisNames
from graphturbo_core.report.overview.hues import layers_of_groups
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.group_rows import GroupRow
from graphturbo_core.report.rows.split_rows import SplitRow
from graphturbo_core.report.sample_noun import sample_noun

Shape = list[int]
_ByAxis = Mapping[int, SplitRow]


def capacity_bytes(report: Report) -> int:
    """The bytes that a piece may have by Algorithm 1; 0 where no table names them."""
    return next((row["capacity_bytes"] for row in report.tables["splits"]), 0)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is read once: rows by part, number and axis; the shape of each layer's last result.

    `axis_names`: of each sub-graph's results.
    """

    report: Report
    rows: Mapping[tuple[str, int], _ByAxis]
    shapes: Mapping[int, Shape]
    axis_names: AxisNames
    show: Show


def split_picture(report: Report, hue_of: Sequence[int], show: Show) -> dict[str, object] | None:
    """Sub-graphs in order, equivalent ones once; None where the run has no Algorithm 1."""
    if not report.tables["splits"]:
        return None
    axis_names = AxisNames(report, sample_noun(report))
    known = _Known(report, _rows(report), _shapes(report), axis_names, show)
    members = layers_of_groups(report)
    found: dict[object, dict[str, object]] = {}
    groups: dict[object, list[int]] = {}
    for group in report.tables["groups"]:
        index = group["index"]
        key = _likeness(report, group, members[index], hue_of[index])
        groups.setdefault(key, []).append(index)
        if key not in found:
            found[key] = _part(known, group, members[index])
    parts = [{**part, "groups": groups[key]} for key, part in found.items()]
    return {"capacity_bytes": capacity_bytes(report), "parts": parts}


def _rows(report: Report) -> Mapping[tuple[str, int], _ByAxis]:
    found: dict[tuple[str, int], dict[int, SplitRow]] = {}
    for row in report.tables["splits"]:
        found.setdefault((row["part"], row["index"]), {})[row["axis"]] = row
    return found


def _shapes(report: Report) -> Mapping[int, Shape]:
    nodes = report.tables["graph_nodes"]
    return {node["layer"]: node["output_shapes"][-1] for node in nodes if node["output_shapes"]}


def _likeness(report: Report, group: GroupRow, layers: Sequence[int], hue: int) -> object:
    """Equal for sub-graphs that differ by names alone."""
    types = tuple(report.tables["layers"][layer]["op_types"] for layer in layers)
    return types, group["pieces"], group["along"], group["peak_bytes"], hue


def _part(known: _Known, group: GroupRow, layers: Sequence[int]) -> dict[str, object]:
    """One sub-graph: its cut, and that of each of its layers alone along the same axis."""
    axis = group["split_axis"]
    row = known.rows.get(("sub-graph", group["index"]), {}).get(axis)
    shape = known.shapes.get(layers[-1], []) if layers else []
    names = known.axis_names.of_result(len(shape), group["index"])
    cuts = known.axis_names.cuts(group, group["index"])
    return {
        "name": known.show(group["name"]),
        "axis": axis,
        "along": known.axis_names.along(group, group["index"]),
        "shape": shape,
        "axis_names": names,
        "final_cuts": [[names.index(name), parts] for name, parts in cuts if name in names],
        "pieces": row["pieces"] if row and row["pieces"] else 1,
        "final_pieces": group["pieces"],
        "whole_bytes": group["peak_bytes"],
        "piece_bytes": row["peak_bytes"] if row and row["pieces"] else group["peak_bytes"],
        "layers": [_layer(known, layer, axis) for layer in layers],
    }


def _layer(known: _Known, layer: int, axis: int) -> dict[str, object]:
    """One layer alone along the axis, along its first possible one where the sub-graph has none.

    `pieces` 0: no count fits, or the report has no row of it.
    """
    rows = known.rows.get(("layer", layer), {})
    row = rows.get(axis) if axis >= 0 else next(filter(_is_possible, rows.values()), None)
    whole = next((other["whole_peak_bytes"] for other in rows.values()), 0)
    return {
        "layer": layer,
        "name": known.show(known.report.tables["layers"][layer]["name"]),
        "pieces": row["pieces"] if row and row["possible"] else 0,
        "whole_bytes": whole,
        "piece_bytes": row["peak_bytes"] if row and row["possible"] else whole,
    }


def _is_possible(row: SplitRow) -> bool:
    return row["possible"]
