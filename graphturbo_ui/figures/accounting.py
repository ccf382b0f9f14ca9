"""Stalls, critical path, ledger and layers' busy cycles -> stacked bars: where time and bytes went.

Runs are drawn over the same work: the whole batch, or one sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from graphturbo_core.report.canvases.canvas import seconds_per_cycle
from graphturbo_core.report.canvases.resources import KEY_WORDS
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.at_work import of_all_clusters
from graphturbo_ui.palette import CAUSE_COLOURS, ENGINE_COLOURS, RESOURCE_COLOURS, WAIT_COLOURS
from graphturbo_ui.session.selection import Selection
from graphturbo_ui.text import Sink, safe_text

MIB = 2**20
NO_ENGINES, NO_BYTES, NO_LAYERS = "no engines", "no bytes crossed DRAM or GB", "no layers"
NO_PATH = "nothing runs"
BAR_PX, FRAME_PX, HEIGHT_OF_A_RUN_PX = 26, 140, 190
FOOT_PX = 92
"""Below a figure: ticks, the title of the axis, and the legend at the very foot."""
LEGEND = {
    "orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "traceorder": "normal",
}  # fmt: skip
CYCLES: Mapping[
    str, Literal["matrix_cycles", "vector_cycles", "move_cycles", "dma_cycles"]
] = {
    "matrix": "matrix_cycles", "vector": "vector_cycles", "move": "move_cycles",
    "dma": "dma_cycles",
}  # fmt: skip
"""Engine kind -> the column of the layers' busy cycles."""
KIND_WORDS: Mapping[str, str] = {"dma": "DMA"}
"""Words of engine kinds that are not their keys."""
WAIT_NAMES: Mapping[str, str] = {
    "busy": "busy",
    "data": "waits for data",
    "address": "waits for buffer space",
    "channel": "waits for a channel",
    "barrier": "launch or barrier",
    "idle": "nothing to do",
}


@dataclass(frozen=True, slots=True)
class StallRow:
    """What the engines of a kind did with the makespan: shares that sum to 1."""

    run: str
    kind: str
    shares: Mapping[str, float]


def stall_rows(*reports: Report, names: str = "AB") -> Iterator[StallRow]:
    """A row an engine kind and run, kinds that the chip has; runs of a kind together."""
    for kind in ENGINE_COLOURS:
        for name, report in zip(names, reports, strict=False):
            if any(engine["kind"] == kind for engine in report.tables["engines"]):
                stalls = report.contract["stalls"]
                yield StallRow(name, KIND_WORDS.get(kind, kind), stalls[kind])


def stall_table(*reports: Report, names: str = "AB") -> list[dict[str, object]]:
    """The same in percent, a column what the time went to."""
    return [
        {
            "engine kind": row.kind,
            "run": row.run,
            **{f"{WAIT_NAMES[wait]} (%)": 100 * row.shares[wait] for wait in WAIT_COLOURS},
        }
        for row in stall_rows(*reports, names=names)
    ]


def stall_figure(*reports: Report, names: str = "AB") -> go.Figure:
    """A bar an engine kind and run, cut by what the time went to."""
    rows = list(stall_rows(*reports, names=names))
    labels = [f"{row.kind} · {row.run}" for row in rows]
    figure = go.Figure(
        [
            go.Bar(
                name=WAIT_NAMES[wait],
                orientation="h",
                y=labels,
                x=[100 * row.shares[wait] for row in rows],
                marker={"color": colour},
                hovertemplate=f"%{{y}}: {WAIT_NAMES[wait]} %{{x:.3g}} %<extra></extra>",
            )
            for wait, colour in WAIT_COLOURS.items()
        ]
    )
    engines = f"all engines {of_all_clusters(*reports)}".rstrip()
    figure.update_xaxes(title_text=f"makespan (%), mean of {engines}", range=[0, 100.5], dtick=20)
    figure.update_yaxes(title_text="engine kind · run", autorange="reversed")
    return laid_out(figure, len(rows), NO_ENGINES)


def path_rows(*reports: Report, names: str = "AB") -> list[dict[str, object]]:
    """Milliseconds of the whole batch that each resource has on the critical path; its share."""
    rows: list[dict[str, object]] = []
    for name, report in zip(names, reports, strict=False):
        seconds = report.contract["critical_path"]
        total = sum(seconds.values())
        rows += [
            {
                "run": name,
                "resource": words,
                "time (ms)": 1e3 * seconds[key],
                "share of the latency (%)": 100 * seconds[key] / total if total else 0.0,
            }
            for key, words in KEY_WORDS.items()
            if seconds[key]
        ]
    return rows


def path_figure(*reports: Report, names: str = "AB") -> go.Figure:
    """A bar per run as long as its latency, cut by the resource on the critical path."""
    runs = [name for name, _ in zip(names, reports, strict=False)]
    rows = path_rows(*reports, names=names)
    time = {(row["run"], row["resource"]): row["time (ms)"] for row in rows}
    figure = go.Figure(
        [
            go.Bar(
                name=words,
                orientation="h",
                y=runs,
                x=[time.get((run, words), 0.0) for run in runs],
                marker={"color": RESOURCE_COLOURS[key]},
                hovertemplate=f"%{{y}}: {words} %{{x:,.4g}} ms<extra></extra>",
            )
            for key, words in KEY_WORDS.items()
            if any((run, words) in time for run in runs)
        ]
    )
    figure.update_xaxes(title_text="time of the whole batch (ms)", rangemode="tozero")
    figure.update_yaxes(title_text="run", autorange="reversed")
    return laid_out(figure, len(runs) if rows else 0, NO_PATH)


def ledger_rows(*reports: Report, names: str = "AB") -> list[dict[str, object]]:
    """Bytes of the whole batch by memory, run and cause."""
    return [
        {"run": name, **{key: row[key] for key in ("memory", "cause", "bytes")}}
        for name, report in zip(names, reports, strict=False)
        for row in report.tables["ledger"]
    ]


def ledger_figure(*reports: Report, names: str = "AB") -> go.Figure:
    """DRAM above GB: a bar a run, cut by cause."""
    titles = ["over DRAM (MiB)", "over GB (MiB)"]
    figure = make_subplots(rows=2, subplot_titles=titles, vertical_spacing=0.36)
    runs = [name for name, _ in zip(names, reports, strict=False)]
    for line, memory in enumerate(("DRAM", "GB"), 1):
        sizes = {
            (name, row["cause"]): row["bytes"]
            for name, report in zip(names, reports, strict=False)
            for row in report.tables["ledger"]
            if row["memory"] == memory
        }
        for cause, colour in CAUSE_COLOURS.items():
            said = cause_text(cause)
            bar = go.Bar(
                name=said,
                legendgroup=cause,
                showlegend=line == 1,
                orientation="h",
                y=runs,
                x=[sizes.get((run, cause), 0) / MIB for run in runs],
                marker={"color": colour},
                hovertemplate=f"%{{y}}: {said} %{{x:,.4g}} MiB<extra></extra>",
            )
            figure.add_trace(bar, row=line, col=1)
    figure.update_xaxes(title_text="bytes of the whole batch (MiB)", row=2)
    figure.update_yaxes(title_text="run", autorange="reversed")
    has_bytes = any(row["bytes"] for report in reports for row in report.tables["ledger"])
    return laid_out(figure, 2 * len(runs) + 1 if has_bytes else 0, NO_BYTES)


def cause_text(cause: str) -> str:
    """`weight, first fetch` of `weight_first`."""
    spelled = {"weight_first": "weight, first fetch", "weight_again": "weight, fetched again"}
    return spelled.get(cause, cause)


def samples_of_round(report: Report) -> int:
    """Samples that a cluster takes in the round that layers are told of."""
    return next(row["samples"] for row in report.tables["rounds"] if row["is_drawn"])


def busy_rows(report: Report) -> list[dict[str, float]]:
    """Seconds per sample that each kind's engines are busy with a layer, mean of the engines."""
    scale = seconds_per_cycle(report) / samples_of_round(report)
    engines = {
        kind: sum(e["cores"] for e in report.tables["engines"] if e["kind"] == kind)
        for kind in ENGINE_COLOURS
    }
    return [
        {kind: row[CYCLES[kind]] * scale / count for kind, count in engines.items() if count}
        for row in report.tables["layers"]
    ]


def busy_figure(*reports: Report, names: str = "AB") -> go.Figure:
    """A above B: a bar a layer, cut by engine kind; both runs on one scale."""
    named = dict(zip(names, reports, strict=False))
    titles = [f"{name}: {safe_text(r.contract['strategy'])}" for name, r in named.items()]
    figure = make_subplots(
        rows=max(1, len(named)),
        shared_xaxes=True,
        shared_yaxes="all",
        vertical_spacing=0.14,
        subplot_titles=titles,
    )
    for line, (name, report) in enumerate(named.items(), 1):
        for kind, colour in ENGINE_COLOURS.items():
            figure.add_trace(_busy_bar(name, report, kind, line == 1, colour), row=line, col=1)
    figure.update_xaxes(title_text="layer, in order of execution", row=max(1, len(named)))
    figure.update_yaxes(title_text="busy per sample<br>(µs, mean engine)", rangemode="tozero")
    count = sum(len(report.tables["layers"]) for report in reports)
    height = HEIGHT_OF_A_RUN_PX * max(1, len(named)) + FRAME_PX
    return laid_out(figure, count, NO_LAYERS).update_layout(height=height)


def busy_targets(*reports: Report, names: str = "AB") -> list[list[Selection]]:
    """The layer that every bar of every trace stands for."""
    found = []
    for name, report in zip(names, reports, strict=False):
        layers = [Selection(name, "layer", at) for at in range(len(report.tables["layers"]))]
        found += [layers] * len(ENGINE_COLOURS)
    return found


def _busy_bar(name: str, report: Report, kind: str, is_first: bool, colour: str) -> go.Bar:
    layers = report.tables["layers"]
    words = KIND_WORDS.get(kind, kind)
    return go.Bar(
        name=words,
        legendgroup=kind,
        showlegend=is_first,
        x=[row["index"] + 1 for row in layers],
        y=[1e6 * row.get(kind, 0.0) for row in busy_rows(report)],
        marker={"color": colour},
        customdata=[f"{name}, {safe_text(row['name'], Sink.HTML)}" for row in layers],
        hovertemplate=f"%{{customdata}}<br>{words} %{{y:.4g}} µs<extra></extra>",
    )


def laid_out(figure: go.Figure, bars: int, empty: str) -> go.Figure:
    """The figure with room for its bars and its legend; without bars it says that it is empty."""
    figure.update_layout(
        barmode="stack",
        height=BAR_PX * bars + FRAME_PX,
        margin={"l": 8, "r": 8, "t": 28, "b": FOOT_PX},
        legend=LEGEND,
    )
    if not bars:
        figure.add_annotation(text=empty, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
    return figure
