"""The graph view alone on a page, with made-up runs, for tests in the browser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from graphturbo_core.report.report import Report
from graphturbo_ui.components.graph import GRAPH
from graphturbo_ui.figures.canvases import graph_bytes
from tests.ui.canvas_page import LIGHT, CanvasPage, only
from tests.ui.synthetic import synthetic_report

LAYERS = 8
FINE = synthetic_report(layers=LAYERS)
COARSE = synthetic_report("graphturbo@16", layers=LAYERS, layers_per_group=4)
"""24 ops in a chain: A's sub-graph g holds ops 3g to 3g + 2, B's first holds ops 0 to 11."""


def show(shown: CanvasPage, *reports: Report, theme: Mapping[str, str] = LIGHT) -> CanvasPage:
    """The graph view of these runs, of `FINE` and `COARSE` where none is given."""
    shown.show(GRAPH, theme)
    give(shown, *(reports or (FINE, COARSE)))
    return shown


def give(shown: CanvasPage, *reports: Report) -> None:
    """Other runs for the graph view that is shown."""
    shown.give(graph_bytes(*reports))


def wide(report: Report) -> Report:
    """The same in twelve columns, which no pane has room for."""
    nodes = tuple(
        {**row, "x_coarse": float(12 * (place % 2))}
        for place, row in enumerate(report.tables["graph_nodes"])
    )
    return replace(report, tables={**report.tables, "graph_nodes": nodes})


def box_of(scene: dict, pane: int, group: int) -> dict:
    """The box of a sub-graph in sight."""
    return only(scene["panes"][pane]["boxes"], lambda box: box["group"] == group)


def op_of(scene: dict, pane: int, op: int) -> dict:
    """The box of an op in sight, of an opened sub-graph."""
    return only(scene["panes"][pane]["ops"], lambda box: box["op"] == op)
