"""Measured rows and a report -> times per layer, and what has no counterpart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from graphturbo_core.report.measured.table import MeasuredRow
from graphturbo_core.report.report import Report


@dataclass(frozen=True, slots=True)
class LayerTimes:
    """A layer with both times, in milliseconds.

    `simulated_ms`: the layer's windows in one round on one cluster; layers that overlap share that
    time. `rows`: measured rows that were added up.
    """

    index: int
    name: str
    simulated_ms: float
    measured_ms: float
    rows: int


@dataclass(frozen=True, slots=True)
class MatchedLayers:
    """Layers with both times in order, rows that name no layer, and layers that no row names."""

    layers: tuple[LayerTimes, ...]
    unknown: tuple[MeasuredRow, ...]
    unmeasured: tuple[str, ...]


def matched(rows: Sequence[MeasuredRow], report: Report) -> MatchedLayers:
    """Times of the run's layers. Near-linear.

    1. A row whose name is a layer's is that layer's.
    2. Otherwise a row whose name is an op's is of the op's layer.
    3. Rows of one layer are added up: a profiler may time each op of a fused layer.
    """
    table = report.tables["layers"]
    of_layer = {row["name"]: row["index"] for row in reversed(table)}
    of_op = {row["op"]: row["layer"] for row in reversed(report.tables["graph_nodes"])}
    found: dict[int, list[float]] = defaultdict(list)
    unknown = []
    for row in rows:
        index = of_layer.get(row.name, of_op.get(row.name))
        if index is None:
            unknown.append(row)
        else:
            found[index].append(row.milliseconds)
    layers = tuple(
        LayerTimes(
            layer["index"],
            layer["name"],
            1e3 * layer["window_s"],
            sum(found[layer["index"]]),
            len(found[layer["index"]]),
        )
        for layer in table
        if layer["index"] in found
    )
    unmeasured = tuple(layer["name"] for layer in table if layer["index"] not in found)
    return MatchedLayers(layers, tuple(unknown), unmeasured)
