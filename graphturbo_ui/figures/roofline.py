"""Layers' work and bytes -> roofline: what each layer achieves under what the chip could do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.layer_rows import LayerRow
from graphturbo_core.report.rows.roof_rows import RoofRow
from graphturbo_core.units import format_bytes, format_seconds, format_si
from graphturbo_ui.figures.accounting import FOOT_PX, LEGEND
from graphturbo_ui.palette import CAPACITY_COLOUR, ENGINE_COLOURS, RUN_COLOURS
from graphturbo_ui.session.selection import Selection
from graphturbo_ui.text import Sink, safe_text

EMPTY = "no layer has multiply-accumulates"
SYMBOLS = {"A": "circle", "B": "diamond"}
HEIGHT_PX = 460
AT_THE_EDGE = 4.0
"""A layer without a byte over DRAM has no intensity: its dot stands so many times further right
than the rightmost other dot or ridge, and its hover says so. Our choice."""


@dataclass(frozen=True, slots=True)
class RooflinePoint:
    """A layer with multiply-accumulates, in one round on one cluster.

    `intensity`: MAC/byte over DRAM, None without any; `macs_per_s`: over its windows;
    `share`: of the roof above it; `roof`: what that is made of.
    """

    layer: int
    name: str
    op_types: str
    intensity: float | None
    macs_per_s: float
    window_s: float
    dram_bytes: int
    share: float
    roof: str


def roofline_points(report: Report) -> tuple[RooflinePoint, ...]:
    """One point a layer with multiply-accumulates, in order."""
    roofs = roofs_of(report)
    return tuple(_point(row, roofs) for row in report.tables["layers"] if row["macs"])


def roofs_of(report: Report) -> RoofRow:
    """The chip's roofs, of one cluster."""
    return report.tables["roofs"][0]


def _point(row: LayerRow, roofs: RoofRow) -> RooflinePoint:
    macs, dram_bytes = row["macs"], row["dram_bytes"]
    window_s = row["window_s"]
    achieved = macs / window_s if window_s else 0.0
    intensity = macs / dram_bytes if dram_bytes else None
    roof, limit = roof_over(intensity, roofs)
    return RooflinePoint(
        layer=row["index"],
        name=safe_text(row["name"]),
        op_types=safe_text(row["op_types"]),
        intensity=intensity,
        macs_per_s=achieved,
        window_s=window_s,
        dram_bytes=dram_bytes,
        share=achieved / limit,
        roof=roof,
    )


def roof_over(intensity: float | None, roofs: RoofRow) -> tuple[str, float]:
    """What limits a layer of this intensity, `DRAM` or `matrix engines`, and to how many MAC/s."""
    peak = roofs["matrix_macs_per_s"]
    if intensity is None:
        return "matrix engines", peak
    slope = intensity * roofs["dram_bytes_per_s"]
    return ("DRAM", slope) if slope < peak else ("matrix engines", peak)


def roofline_figure(*reports: Report, names: str = "AB") -> go.Figure:
    """A trace of dots a run, then the roofs; both axes logarithmic."""
    named = dict(zip(names, reports, strict=False))
    points = {name: roofline_points(report) for name, report in named.items()}
    figure = go.Figure()
    if reports:
        ends = _ends(roofs_of(reports[0]), [p for found in points.values() for p in found])
        for name, found in points.items():
            figure.add_trace(_dots(name, found, ends[1]))
        _add_roofs(figure, roofs_of(reports[0]), ends)
    decades = {"type": "log", "dtick": 1, "exponentformat": "SI"}
    figure.update_xaxes(title_text="operational intensity (MAC/byte over DRAM)", **decades)
    figure.update_yaxes(title_text="achieved (MAC/s, one cluster)", **decades)
    figure.update_layout(
        height=HEIGHT_PX,
        margin={"l": 8, "r": 8, "t": 16, "b": FOOT_PX},
        legend=LEGEND,
    )
    if not any(points.values()):
        figure.add_annotation(text=EMPTY, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
    return figure


def roofline_targets(*reports: Report, names: str = "AB") -> list[list[Selection]]:
    """The layer that every dot stands for."""
    return [
        [Selection(name, "layer", point.layer) for point in roofline_points(report)]
        for name, report in zip(names, reports, strict=False)
    ]


def _ends(roofs: RoofRow, points: Sequence[RooflinePoint]) -> tuple[float, float]:
    """First and last intensity that are drawn: all dots and the ridge lie between."""
    ridge = roofs["matrix_macs_per_s"] / roofs["dram_bytes_per_s"]
    known = [point.intensity for point in points if point.intensity] + [ridge]
    return min(known) / AT_THE_EDGE, max(known) * AT_THE_EDGE


def _dots(name: str, points: Sequence[RooflinePoint], edge: float) -> go.Scatter:
    said = [
        f"{name}, layer {point.layer + 1}: {safe_text(point.name, Sink.HTML)}<br>"
        f"{safe_text(point.op_types, Sink.HTML)}<br>"
        f"{format_si(point.macs_per_s, 'MAC/s')} in {format_seconds(point.window_s)}<br>"
        + (
            f"{point.intensity:.3g} MAC/byte, {format_bytes(point.dram_bytes)} over DRAM<br>"
            if point.intensity
            else "no byte over DRAM: drawn at the edge<br>"
        )
        + f"{100 * point.share:.3g} % of the roof ({point.roof})"
        for point in points
    ]
    return go.Scatter(
        name=f"{name}'s layers",
        mode="markers",
        x=[point.intensity or edge for point in points],
        y=[point.macs_per_s for point in points],
        customdata=said,
        hovertemplate="%{customdata}<extra></extra>",
        marker={
            "color": RUN_COLOURS[name],
            "symbol": [f"{SYMBOLS[name]}{'' if p.intensity else '-open'}" for p in points],
            "size": 10,
            "line": {"width": 1.5, "color": RUN_COLOURS[name]},
        },
    )


def _add_roofs(figure: go.Figure, roofs: RoofRow, ends: tuple[float, float]) -> None:
    """DRAM's slope up to the ridge and the matrix engines' peak after it; the vector engines'."""
    peak, vector = roofs["matrix_macs_per_s"], roofs["vector_macs_per_s"]
    slope = roofs["dram_bytes_per_s"]
    ridge = peak / slope
    figure.add_trace(
        go.Scatter(
            name=f"roof: DRAM {format_si(slope, 'B/s')}, matrix {format_si(peak, 'MAC/s')}",
            mode="lines",
            x=[ends[0], ridge, ends[1]],
            y=[ends[0] * slope, peak, peak],
            line={"color": CAPACITY_COLOUR, "width": 2, "dash": "dash"},
            hoverinfo="name",
        )
    )
    figure.add_trace(
        go.Scatter(
            name=f"vector engines alone {format_si(vector, 'MAC/s')}",
            mode="lines",
            x=[max(ends[0], min(vector / slope, ends[1])), ends[1]],
            y=[vector, vector],
            line={"color": ENGINE_COLOURS["vector"], "width": 2, "dash": "dot"},
            hoverinfo="name",
        )
    )


def left_out_text(*reports: Report, names: str) -> str:
    """Says how many layers have no dot."""
    counts = [
        (name, len(report.tables["layers"]) - len(roofline_points(report)))
        for name, report in zip(names, reports, strict=False)
    ]
    said = [f"{count} of {name}'s" for name, count in counts if count]
    return f"No dot for layers without MACs: {' and '.join(said)}." if said else ""
