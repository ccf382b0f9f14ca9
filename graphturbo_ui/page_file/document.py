"""Reports -> one HTML document: figures, tables, and the canvases as they are in the app."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from plotly.offline import get_plotlyjs

from graphturbo_core import __version__
from graphturbo_core.export.plan_read import read_head
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.verdict import binding_text, differences, sentence, verdict_rows
from graphturbo_core.report.verdict.verify_text import badge_text
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
from graphturbo_ui.figures.buffers import address_summary
from graphturbo_ui.figures.canvases import address_bytes, gantt_bytes, graph_bytes
from graphturbo_ui.figures.group_tables import graph_summary, group_table
from graphturbo_ui.figures.instructions import gantt_summary
from graphturbo_ui.figures.layer_tables import layer_table, samples_text
from graphturbo_ui.figures.memory import memory_figure
from graphturbo_ui.figures.roofline import left_out_text, roofline_figure
from graphturbo_ui.figures.tables import BOTH, Table
from graphturbo_ui.text import safe_text

FOLDER = Path(__file__).parent
MAX_CANVAS_BYTES = 48 * 2**20
"""A canvas with more is left out, and the document says so: a browser opens it slowly (ours)."""
MAX_SAID = 1000
"""Characters of a sentence or a note."""
SHOWN_SINCE = 0.0
"""Nothing replaces a buffer in a document: it needs no time (`sources.stamped`)."""


@dataclass(frozen=True)
class Origin:
    """What the document says of where it comes from: the app's link, and the command line."""

    link: str
    command: str


@dataclass(frozen=True)
class Figure:
    """A chart of the document: its data and layout as JSON, and what it is in words."""

    title: str
    alt: str
    words: str
    json: str


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


def page_html(
    *reports: Report, names: str = BOTH, origin: Origin, equal: Report | str | None = None
) -> str:
    """The document; the same reports, names and origin give the same bytes.

    `equal`: as the verdict is told of it (`equal_text`).

    It fetches nothing: its policy allows no address, and scripts, styles and data stand in it.
    """
    a, b = reports[0], reports[1] if len(reports) > 1 else None
    return _template().render(
        heading=_heading(reports, names),
        origin=origin,
        version=__version__,
        digests=_digests(reports[0]),
        themes={name: _theme(name) for name in ("light", "dark")},
        canvas_css=sources.style("canvas.css", "gantt.css"),
        css=(FOLDER / "document.css").read_text(encoding="utf-8"),
        script=(FOLDER / "document.js").read_text(encoding="utf-8"),
        plotly=get_plotlyjs(),
        differences=[_said(each) for each in (differences(a, b) if b else ())],
        sentence=[_said(part) for part in (sentence(a, b, equal) if b else ("", binding_text(a)))],
        verdict=verdict_rows(a, b),
        is_pair=b is not None,
        names=names,
        verified=[
            f"{name}: {badge_text(report)}" for name, report in zip(names, reports, strict=False)
        ],
        notes=[_said(note) for note in tables.notes(*reports, names=names)],
        sections=_sections(reports, names),
    )


def _heading(reports: Sequence[Report], names: str) -> Mapping[str, object]:
    """Model, chip and what each run is."""
    first = reports[0].contract
    return {
        "title": safe_text(f"{first['model']} on {first['profile']}"),
        "runs": [
            safe_text(f"{name}: {each['strategy']}, batch {each['batch']}, {each['dtype']}")
            for name, each in zip(names, (report.contract for report in reports), strict=False)
        ],
    }


def _digests(report: Report) -> str:
    """Digests of model and chip, as plan files name them; every run of the app emits a plan's head.

    Both runs are of one model and chip.
    """
    if "edits" not in report.files:
        return ""
    origin = read_head(report.text("edits").encode(), "edits").origin
    return f"model {origin.model_digest}, chip {origin.profile_digest}"


def _sections(reports: Sequence[Report], names: str) -> list[Mapping[str, object]]:
    """What the document shows under each heading, in the app's order and words."""

    def told(make: Callable[..., str]) -> str:
        return make(*reports, names=names)

    def drawing(canvas: Canvas, title: str, summary: str, make: Callable[..., bytes]) -> Drawing:
        return _drawing(canvas, title, summary, make(*reports, names=names))

    def figure(title: str, alt: str, make: Callable[..., go.Figure], words: str = "") -> Figure:
        return Figure(title, alt, words, _figure_json(make(*reports, names=names)))

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
        "Sub-graph groupings": groupings,
        "Memory": memory,
        "Gantt": [drawing(GANTT, "", told(gantt_summary), gantt_bytes)],
        "Where the time goes": time,
        "Passes": [listing("steps", tables.step_rows)],
    }
    return [{"title": title, "parts": each} for title, each in parts.items()]


def _figure_json(figure: go.Figure) -> str:
    """A chart without a template: its colours are the document's theme, set by its script.

    Plotly writes `<` as an escape, so that nothing in it ends the element it stands in.
    """
    text: str = go.Figure(figure).update_layout(template="none").to_json()
    return text


def _drawing(canvas: Canvas, title: str, summary: str, buffer: bytes) -> Drawing:
    """A canvas with its buffer packed; gzip writes no time, for the same bytes on every run."""
    if len(buffer) > MAX_CANVAS_BYTES:
        said = (
            f"{canvas.role}: {format_bytes(len(buffer))} to draw are left out, a document takes "
            f"{format_bytes(MAX_CANVAS_BYTES)}; the app draws it."
        )
        return Drawing(canvas, title, summary, "", said)
    packed = gzip.compress(sources.with_time(buffer, SHOWN_SINCE), mtime=0)
    return Drawing(canvas, title, summary, b64encode(packed).decode("ascii"), "")


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


def _said(text: str) -> str:
    return safe_text(text, max_length=MAX_SAID)


def _theme(name: str) -> Mapping[str, str]:
    """The colours of the app's theme `light` or `dark`, by the names that the styles use."""
    options = {
        "text-color": "textColor",
        "background-color": "backgroundColor",
        "secondary-background-color": "secondaryBackgroundColor",
        "border-color": "borderColor",
        "primary-color": "primaryColor",
    }
    return {key: str(st.get_option(f"theme.{name}.{option}")) for key, option in options.items()}


@cache
def _template():  # a jinja2.Template, whose stubs name no public type
    """The document's template; every text is escaped unless the template says `safe`."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["drawing"] = lambda part: isinstance(part, Drawing)
    environment.tests["figure"] = lambda part: isinstance(part, Figure)
    return environment.get_template("document.html.jinja")
