"""Reports -> sections of the document: figures, tables, and the canvases as they are in the app."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import plotly.graph_objects as go

from graphturbo_core.report.report import Report
from graphturbo_core.units import format_bytes
from graphturbo_ui.components import sources
from graphturbo_ui.components.addresses import ADDRESSES
from graphturbo_ui.components.gantt import GANTT
from graphturbo_ui.components.graph import GRAPH
from graphturbo_ui.components.sources import Canvas
from graphturbo_ui.figures import tables
from graphturbo_ui.figures.accounting import (
    busy_figure,
    ledger_figure,
    ledger_rows,
    path_figure,
    path_rows,
    stall_figure,
    stall_table,
)
from graphturbo_ui.figures.bound_steps import bound_step_figure, bound_step_rows
from graphturbo_ui.figures.buffers import address_summary
from graphturbo_ui.figures.canvases import address_bytes, gantt_bytes, graph_bytes
from graphturbo_ui.figures.group_tables import graph_summary, group_table
from graphturbo_ui.figures.instructions import gantt_summary
from graphturbo_ui.figures.layer_tables import layer_table, samples_text
from graphturbo_ui.figures.memory import memory_figure
from graphturbo_ui.figures.roofline import left_out_text, roofline_figure
from graphturbo_ui.figures.tables import Table
from graphturbo_ui.page_file.packing import SHOWN_SINCE, packed

MAX_CANVAS_BYTES = 48 * 2**20
"""A canvas with more is left out, and the document says so: a browser opens it slowly (ours)."""

FEW_ROWS = 500
"""Of a table in a document that is too large without canvases (our choice)."""
LED_TO = ("Every core",)
"""Sections that a button of the first screen leads to, by the name of its view."""


@dataclass(frozen=True)
class Figure:
    """A chart of the document: its data and layout as JSON, packed, and what it is in words."""

    title: str
    alt: str
    words: str
    packed: str


@dataclass(frozen=True)
class Drawing:
    """A canvas of the document: its buffer packed, or why it is left out."""

    canvas: Canvas
    title: str
    summary: str
    packed: str
    left_out: str


@dataclass(frozen=True)
class Listing:
    """A table of the document, closed until somebody opens it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int


def sections_of(reports: Sequence[Report], names: str) -> list[Mapping[str, object]]:
    """What the document shows under each heading, in the app's order and words."""

    def told(make: Callable[..., str]) -> str:
        return make(*reports, names=names)

    def drawing(canvas: Canvas, title: str, summary: str, make: Callable[..., bytes]) -> Drawing:
        return _drawing(canvas, title, summary, make(*reports, names=names))

    def figure(title: str, alt: str, make: Callable[..., go.Figure], words: str = "") -> Figure:
        return Figure(title, alt, words, _packed_figure(make(*reports, names=names)))

    def listing(title: str, make: Callable[..., Table]) -> Listing:
        return _listing(title, make(*reports, names=names))

    groupings = [
        drawing(GRAPH, "", told(graph_summary), graph_bytes),
        listing("sub-graphs", group_table),
    ]
    memory = [
        figure("", "LB and GB use of every layer", memory_figure),
        listing("memory", tables.memory_table),
        drawing(ADDRESSES, "Addresses over time", told(address_summary), address_bytes),
    ]
    time = [
        figure("Roofline", "MAC/s of layers under the roofs", roofline_figure, told(left_out_text)),
        figure(
            "From the lower bound to the time",
            "What separates each run from its lower bound",
            bound_step_figure,
        ),
        listing("steps from the lower bound", bound_step_rows),
        figure("Critical path", "Time of each resource on the critical path", path_figure),
        listing("critical path", path_rows),
        figure("What the engines did", "Shares of the makespan", stall_figure),
        listing("stalls", stall_table),
        figure("Why bytes moved", "Bytes over DRAM and GB by cause", ledger_figure),
        listing("bytes by cause", ledger_rows),
        figure("Layer by layer", "Busy time of every layer", busy_figure, told(samples_text)),
        listing("layers", layer_table),
    ]
    parts = {
        "Groupings": groupings,
        "Memory": memory,
        "Every core": [drawing(GANTT, "", told(gantt_summary), gantt_bytes)],
        "Why": time,
        "Steps": [listing("steps", tables.step_rows)],
    }
    return [
        {"title": title, "view": title if title in LED_TO else "", "parts": each}
        for title, each in parts.items()
    ]


def lighter(
    sections: Sequence[Mapping[str, object]], excess: int, most: int
) -> list[Mapping[str, object]]:
    """The sections with canvases left out that have `excess` bytes together, where there are some.

    The smallest that suffices, else the largest and more; then tables have `FEW_ROWS`. `most`: what
    a document takes.
    """
    parts = [part for section in sections for part in cast(Sequence[object], section["parts"])]
    left = sorted(
        (part for part in parts if isinstance(part, Drawing)), key=lambda part: len(part.packed)
    )
    dropped: list[Drawing] = []
    while excess > 0 and left:
        part = next((each for each in left if len(each.packed) >= excess), left[-1])
        left.remove(part)
        dropped.append(part)
        excess -= len(part.packed)

    def shown(part: object) -> object:
        if isinstance(part, Drawing) and any(part is each for each in dropped):
            return _without(part, most)
        return _shorter(part) if isinstance(part, Listing) and excess > 0 else part

    return [
        {**section, "parts": [shown(part) for part in cast(Sequence[object], section["parts"])]}
        for section in sections
    ]


def _shorter(part: Listing) -> Listing:
    rows = part.rows[:FEW_ROWS]
    return replace(part, rows=rows, left_out=part.left_out + len(part.rows) - len(rows))


def _without(part: Drawing, most: int) -> Drawing:
    """The drawing left out, in words."""
    said = (
        f"{part.canvas.role}: {format_bytes(len(part.packed))} are left out, a document takes "
        f"{format_bytes(most)}; the app draws it."
    )
    return replace(part, packed="", left_out=said)


def _packed_figure(figure: go.Figure) -> str:
    """A chart without a template: its colours are the document's theme, set by its script."""
    text: str = go.Figure(figure).update_layout(template="none").to_json()
    return packed(text.encode())


def _drawing(canvas: Canvas, title: str, summary: str, buffer: bytes) -> Drawing:
    """A canvas with its buffer packed, or why it is left out."""
    if len(buffer) > MAX_CANVAS_BYTES:
        said = (
            f"{canvas.role}: {format_bytes(len(buffer))} to draw are left out, a document takes "
            f"{format_bytes(MAX_CANVAS_BYTES)}; the app draws it."
        )
        return Drawing(canvas, title, summary, "", said)
    text = packed(sources.with_time(buffer, SHOWN_SINCE))
    return Drawing(canvas, title, summary, text, "")


def _listing(title: str, rows: Table) -> Listing:
    """A table's rows as texts, capped as in the app."""
    shown = rows[: tables.MAX_ROWS]
    columns = tuple(rows[0]) if rows else ()
    cells = tuple(tuple(_cell(row.get(column)) for column in columns) for row in shown)
    return Listing(title, columns, cells, len(rows) - len(shown))


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
