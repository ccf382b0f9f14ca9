"""Reports -> cluster batches that a search compared: a bar each, its lower bound first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import plotly.graph_objects as go

from graphturbo_core.report.canvases.canvas import seconds_per_cycle
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.partition.compared_batches import ComparedBatchRow, Status
from graphturbo_ui.figures.accounting import laid_out
from graphturbo_ui.palette import CAPACITY_COLOUR, NAVY, STEEL, STEP_COLOURS

STATUS_WORDS: Mapping[Status, str] = {
    "searched": "searched",
    "first plan": "its first plan alone was simulated",
    "refused": "refused: it has no plan",
    "gain": "not simulated: a first plan alone is far from what the search found",
    "plan bound": "not simulated: the lower bound of its first plan is not below the fastest",
    "bound": "not simulated: its lower bound is not below the fastest",
}
NO_BATCHES = "no cluster batches were compared"
SIMULATED, NOT_SIMULATED = "lower bound", "lower bound, not simulated"
BEYOND, TRAFFIC = (
    "fastest simulated schedule, beyond its bound",
    "DRAM's time for the least traffic",
)
HALF_A_BAR = 0.5
TIME_AXIS, TRAFFIC_AXIS = "time of the whole batch (ms)", "DRAM's time for the whole batch (ms)"


class BatchRow(TypedDict):
    """A cluster batch of a run, in ms of the whole batch; None where there is no such figure.

    `is_traffic`: DRAM's time.
    """

    run: str
    per_cluster: int
    time: float | None
    lower_bound: float | None
    closed_form: float | None
    status: str
    is_taken: bool
    is_traffic: bool


def batch_rows(*reports: Report, names: str = "AB") -> list[BatchRow]:
    """The smallest cluster batch first."""
    return [
        _row(name, row, 1e3 * seconds_per_cycle(report))
        for name, report in zip(names, reports, strict=False)
        for row in report.tables.get("compared_batches", ())
    ]


def _row(name: str, row: ComparedBatchRow, scale: float) -> BatchRow:
    return {
        "run": name,
        "per_cluster": row["cluster_batch"],
        "time": row["cycles"] * scale or None,
        "lower_bound": row["least_cycles"] * scale or None,
        "closed_form": row["closed_form_cycles"] * scale or None,
        "status": STATUS_WORDS[row["status"]],
        "is_taken": row["is_taken"],
        "is_traffic": row["is_traffic"],
    }


def batch_table(*reports: Report, names: str = "AB") -> list[dict[str, object]]:
    """The same in words."""
    return [
        {
            "run": row["run"],
            "per cluster": row["per_cluster"],
            "counted": "DRAM's time" if row["is_traffic"] else "time",
            "fastest simulated (ms)": row["time"],
            "lower bound (ms)": row["lower_bound"],
            "closed form (ms)": row["closed_form"],
            "what was done": row["status"],
            "taken": "yes" if row["is_taken"] else "no",
        }
        for row in batch_rows(*reports, names=names)
    ]


def batch_figure(*reports: Report, names: str = "AB") -> go.Figure:
    """A bar per cluster batch: its lower bound, then what the fastest simulated schedule adds."""
    rows = batch_rows(*reports, names=names)
    labels = [f"{row['run']} · {row['per_cluster']}" for row in rows]
    figure = go.Figure()
    for name, colour, pattern in (
        (SIMULATED, STEP_COLOURS["bound"], ""),
        (NOT_SIMULATED, STEP_COLOURS["bound"], "/"),
        (BEYOND, NAVY, ""),
        (TRAFFIC, STEEL, ""),
    ):
        lengths = [_part(name, row) for row in rows]
        if any(lengths):
            figure.add_bar(
                name=name, orientation="h", y=labels, x=lengths,
                marker={"color": colour, "pattern": {"shape": pattern}},
                customdata=[_words(row) for row in rows],
                hovertemplate="%{y} per cluster<br>%{customdata}<extra></extra>",
            )  # fmt: skip
    for label, row in zip(labels, rows, strict=True):
        if not (row["time"] or row["lower_bound"]):
            figure.add_annotation(x=0, y=label, text=row["status"], xanchor="left", showarrow=False)
    _add_taken(figure, rows)
    axes = {TRAFFIC_AXIS if row["is_traffic"] else TIME_AXIS for row in rows} or {TIME_AXIS}
    figure.update_xaxes(title_text=", or ".join(sorted(axes)), rangemode="tozero")
    figure.update_yaxes(title_text="samples per cluster", autorange="reversed", type="category")
    return laid_out(figure, len(labels), NO_BATCHES)


def _add_taken(figure: go.Figure, rows: Sequence[BatchRow]) -> None:
    """A dashed line across each run's own bars, at the schedule that was taken."""
    for taken in (row for row in rows if row["is_taken"] and row["time"]):
        own = [place for place, row in enumerate(rows) if row["run"] == taken["run"]]
        figure.add_shape(
            type="line", x0=taken["time"], x1=taken["time"],
            y0=own[0] - HALF_A_BAR, y1=own[-1] + HALF_A_BAR,
            line={"dash": "dash", "color": CAPACITY_COLOUR, "width": 2},
        )  # fmt: skip


def _part(name: str, row: BatchRow) -> float:
    """Length of a bar's part."""
    time, bound = row["time"] or 0.0, row["lower_bound"] or 0.0
    if name in (SIMULATED, NOT_SIMULATED):
        return bound if (time > 0) == (name == SIMULATED) else 0.0
    is_own = row["is_traffic"] == (name == TRAFFIC)
    return max(0.0, time - bound) if is_own else 0.0


def _words(row: BatchRow) -> str:
    figures = (("fastest simulated", row["time"]), ("lower bound", row["lower_bound"]))
    known = [f"{words} {figure:,.4g} ms" for words, figure in figures if figure]
    return "<br>".join([*known, row["status"]])
