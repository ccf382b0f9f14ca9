"""Report -> possible edits of one sub-graph: places to cut, neighbours, axes and pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphturbo_core.report.overview.axis_names import AxisNames
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.graph_rows import GraphNodeRow
from graphturbo_core.report.sample_noun import sample_noun

MAX_PIECES = 4096
"""Most pieces that are proposed: the limit of a plan file (`max_pieces`)."""


@dataclass(frozen=True)
class EditChoices:
    """Possible edits of one sub-graph.

    `layers`: its layers in order, each with its ops. `neighbours`: the sub-graphs that it shares
    tensors with, each with its ops. `extents`: sizes of its last result by axis, `axis_names`:
    what these axes are called. `axis`: -1 where it is not split. `along`: text of all split axes.
    """

    name: str
    layers: Mapping[str, tuple[str, ...]]
    neighbours: Mapping[str, tuple[str, ...]]
    extents: tuple[int, ...]
    axis_names: tuple[str, ...]
    axis: int
    pieces: int
    along: str

    @property
    def ops(self) -> tuple[str, ...]:
        """All ops of the sub-graph."""
        return tuple(op for ops in self.layers.values() for op in ops)

    def piece_counts(self, axis: int) -> tuple[int, ...]:
        """The divisors of an axis: its possible numbers of pieces."""
        extent = self.extents[axis] if 0 <= axis < len(self.extents) else 1
        return tuple(n for n in range(1, min(extent, MAX_PIECES) + 1) if extent % n == 0)

    def parts_around(self, place: int) -> dict[str, tuple[str, ...]]:
        """The two parts of a cut after the layer at `place`: names with their ops."""
        layers = tuple(self.layers.values())
        before = tuple(op for ops in layers[: place + 1] for op in ops)
        after = tuple(op for ops in layers[place + 1 :] for op in ops)
        return {f"{self.name}-before": before, f"{self.name}-after": after}


def edit_choices(report: Report, group: int) -> EditChoices:
    """Possible edits of the sub-graph with index `group`; linear in ops and edges."""
    nodes, groups = report.tables["graph_nodes"], report.tables["groups"]
    inside = [node for node in nodes if node["group"] == group]
    names = [layer["name"] for layer in report.tables["layers"]]
    layers: dict[str, tuple[str, ...]] = {}
    for node in inside:
        name = names[node["layer"]]
        layers[name] = (*layers.get(name, ()), node["op"])
    neighbours = sorted(_neighbours(report, group))
    extents = _extents(inside[-1])
    axis_names = AxisNames(report, sample_noun(report))
    return EditChoices(
        name=groups[group]["name"],
        layers=layers,
        neighbours={
            groups[other]["name"]: tuple(node["op"] for node in nodes if node["group"] == other)
            for other in neighbours
        },
        extents=extents,
        axis_names=tuple(axis_names.of_result(len(extents), group)),
        axis=groups[group]["split_axis"],
        pieces=groups[group]["pieces"],
        along=axis_names.along(groups[group], group),
    )


def _neighbours(report: Report, group: int) -> set[int]:
    nodes = report.tables["graph_nodes"]
    found = set()
    for edge in report.tables["graph_edges"]:
        ends = [edge[end] for end in ("source", "target")]
        if min(ends) < 0:
            continue
        both = {nodes[end]["group"] for end in ends}
        found |= both if group in both else set()
    return found - {group}


def _extents(node: GraphNodeRow) -> tuple[int, ...]:
    """Sizes of the last result; none where it has no axes."""
    shapes = node["output_shapes"]
    return tuple(shapes[-1]) if shapes else ()
