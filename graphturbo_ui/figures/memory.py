"""Layers' memory rows -> bars: LB and GB, A above B, each with its capacity line.

A layer has the hue that it has on the first screen, in both runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from graphturbo_core.report.contract import MemoryKey
from graphturbo_core.report.overview.hues import Hues, hues_of
from graphturbo_core.report.report import Report
from graphturbo_core.units import format_bytes
from graphturbo_ui.figures.accounting import FOOT_PX, FRAME_PX, LEGEND
from graphturbo_ui.palette import CAPACITY_COLOUR, HUE_COLOURS
from graphturbo_ui.session.selection import Selection
from graphturbo_ui.text import Sink, safe_text

KIB, MIB = 2**10, 2**20
UNITS = {"KiB": KIB, "MiB": MIB}
HEIGHT_OF_A_MEMORY_PX = 140
WORST_PATTERN = {"shape": "/", "fillmode": "replace", "size": 5}
TRACES_OF_A_RUN = 3
"""Worst core, mean core, GB."""
NO_HUES = Hues("group", (), (), ())
SWATCH_PX = 12
LEGEND_WORDS = "hatched: fullest core, full: mean core"
MEMORIES: Mapping[str, MemoryKey] = {"LB": "lb", "GB": "gb"}
"""By the words of the plots."""
EMPTY = "no layers to show"


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One layer's use of LB (KiB, fullest core and mean) and GB (MiB)."""

    number: int
    name: str
    op_types: str
    group: str
    lb_peak_kib: float
    lb_mean_kib: float
    gb_peak_mib: float


def memory_rows(report: Report) -> tuple[MemoryRow, ...]:
    """One row a layer, in order."""
    return tuple(
        MemoryRow(
            number=index + 1,
            name=safe_text(row["name"]),
            op_types=safe_text(row["op_types"]),
            group=safe_text(row["group"]),
            lb_peak_kib=row["lb_peak_bytes"] / KIB,
            lb_mean_kib=row["lb_mean_bytes"] / KIB,
            gb_peak_mib=row["gb_peak_bytes"] / MIB,
        )
        for index, row in enumerate(report.tables["layers"])
    )


def memory_figure(*reports: Report, names: str = "AB") -> go.Figure:
    """LB above GB, in each A above B; both runs share each memory's scale."""
    named = dict(zip(names, reports, strict=False))
    count = len(named)
    figure = make_subplots(
        rows=max(1, 2 * count),
        shared_xaxes=True,
        vertical_spacing=0.07,
        subplot_titles=[
            f"{title} · {name}{_absent(report, memory)}"
            for title, memory in MEMORIES.items()
            for name, report in named.items()
        ],
    )
    has_layers = any(report.tables["layers"] for report in reports)
    hues = hues_of(reports[0], reports[-1]) if has_layers else NO_HUES
    unit = _unit(max((_capacity(report, "lb") for report in reports), default=MIB))
    for line, (name, report) in enumerate(named.items(), 1):
        _add_run(figure, (line, count + line), (name, report), _hues_of_layers(hues), unit)
    _add_legend(figure, _legend_entries(hues))
    figure.update_xaxes(title_text="layer, in order of execution", row=2 * count)
    for line in range(1, 2 * count + 1):
        is_lb = line <= count
        title, first = (f"{unit} per core", 1) if is_lb else ("MiB", count + 1)
        shared = {"matches": f"y{first if first > 1 else ''}"} if line > first else {}
        figure.update_yaxes(title_text=title, rangemode="tozero", row=line, **shared)
    figure.update_layout(
        height=HEIGHT_OF_A_MEMORY_PX * 2 * count + FRAME_PX,
        barmode="overlay",
        bargap=0.15,
        margin={"l": 8, "r": 8, "t": 34, "b": FOOT_PX},
        legend={
            **LEGEND,
            "title": {"text": f"{LEGEND_WORDS}  "}, "itemclick": False, "itemdoubleclick": False,
        },
    )  # fmt: skip
    if not has_layers:
        figure.add_annotation(text=EMPTY, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
    return figure


def memory_targets(*reports: Report, names: str = "AB") -> list[list[Selection]]:
    """The layer that every bar of every trace stands for."""
    found = []
    for name, report in zip(names, reports, strict=False):
        layers = [Selection(name, "layer", at) for at in range(len(report.tables["layers"]))]
        found += [layers] * TRACES_OF_A_RUN
    return found


def _absent(report: Report, memory: MemoryKey) -> str:
    """Words for a memory that the chip does not have: its plot has nothing."""
    return "" if _capacity(report, memory) else ": this chip has none"


def _hues_of_layers(hues: Hues) -> list[str]:
    """The colour of every layer on a light ground."""
    *colours, other = HUE_COLOURS["light"]
    known = dict(enumerate(colours[: len(hues.titles)]))
    return [known.get(hue, other) for hue in hues.of_layer]


def _legend_entries(hues: Hues) -> dict[str, str]:
    """A colour by what it stands for: each hue that a layer has."""
    colours = dict(zip(hues.of_layer, _hues_of_layers(hues), strict=True))
    titles = dict(enumerate(hues.titles))
    return {safe_text(titles.get(hue, "other"), Sink.HTML): colours[hue] for hue in sorted(colours)}


def _add_legend(figure: go.Figure, entries: Mapping[str, str]) -> None:
    """One entry per colour, of a trace without points: a trace of many colours shows the first."""
    for name, colour in entries.items():
        marker = {"color": colour, "symbol": "square", "size": SWATCH_PX}
        figure.add_trace(go.Scatter(name=name, x=[None], y=[None], mode="markers", marker=marker))


def _unit(capacity_bytes: int) -> str:
    """The unit of an axis up to this capacity, which is that of the capacity's own label."""
    return "MiB" if capacity_bytes >= MIB else "KiB"


def _add_run(
    figure: go.Figure,
    lines: tuple[int, int],
    run: tuple[str, Report],
    colours: Sequence[str],
    unit: str,
) -> None:
    """Bars of a run, with its name; `lines`: of LB and GB; `unit`: of LB."""
    name, report = run
    size = UNITS[unit] / KIB
    rows = memory_rows(report)
    numbers = [row.number for row in rows]
    said = [
        f"{row.number}: {safe_text(row.name, Sink.HTML)}<br>"
        f"{safe_text(row.op_types, Sink.HTML)}, sub-graph {safe_text(row.group, Sink.HTML)}"
        for row in rows
    ]
    peaks = [row.lb_peak_kib / size for row in rows]
    means = [row.lb_mean_kib / size for row in rows]
    peak = _bar(f"{name} fullest core", numbers, peaks, said, unit)
    mean = _bar(f"{name} mean core", numbers, means, said, unit)
    used = _bar(f"{name} GB", numbers, [row.gb_peak_mib for row in rows], said, "MiB")
    peak.update(marker={"pattern": WORST_PATTERN})
    lb, gb = lines
    for bar, line in ((peak, lb), (mean, lb), (used, gb)):
        bar.update(marker={"color": colours}, showlegend=False)
        figure.add_trace(bar, row=line, col=1)
    _add_capacity(figure, lb, _capacity(report, "lb"), (UNITS[unit], "LB"))
    if _capacity(report, "gb"):
        _add_capacity(figure, gb, _capacity(report, "gb"), (MIB, "GB"))


def _bar(
    name: str, numbers: Sequence[int], values: Sequence[float], said: Sequence[str], unit: str
) -> go.Bar:
    return go.Bar(
        name=name,
        x=numbers,
        y=values,
        customdata=said,
        hovertemplate=f"%{{customdata}}<br>{name}: %{{y:.4g}} {unit}<extra></extra>",
    )


def _add_capacity(figure: go.Figure, line: int, size: int, memory: tuple[int, str]) -> None:
    """A dashed line with its value; `memory`: bytes of the axis's unit, and the name."""
    unit, name = memory
    figure.add_hline(
        y=size / unit,
        line={"color": CAPACITY_COLOUR, "dash": "dash", "width": 2},
        annotation={"text": f"{name} {format_bytes(size)}", "font": {"size": 11}},
        annotation_position="top left",
        row=line,
        col=1,
    )


def _capacity(report: Report, memory: MemoryKey) -> int:
    return report.contract[memory]["capacity_bytes"]
