"""Reports -> one HTML document: first screen, verdict, sections and scripts in one template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from graphturbo_core import __version__
from graphturbo_core.export.plan_read import read_head
from graphturbo_core.report.overview.group_names import words_of
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.kept_replays import state_text
from graphturbo_core.report.verdict.verdict import binding_text, differences, sentence, verdict_rows
from graphturbo_ui.components import sources
from graphturbo_ui.figures import tables
from graphturbo_ui.figures.tables import BOTH
from graphturbo_ui.page_file.first_screen import Known, first_screen
from graphturbo_ui.page_file.packing import packed_font, packed_plotly
from graphturbo_ui.page_file.sections import Drawing, Figure, lighter, sections_of
from graphturbo_ui.palette import LIT
from graphturbo_ui.text import safe_text

FOLDER = Path(__file__).parent
MAX_SAID = 1000
"""Characters of a sentence or a note."""
MAX_BYTES = 6_000_000
"""Of the document; canvases that exceed it are left out, and the document says so."""


@dataclass(frozen=True)
class Origin:
    """What the document says of where it comes from: the app's link, and the command line."""

    link: str
    command: str


def page_html(
    *reports: Report,
    names: str = BOTH,
    origin: Origin,
    equal: Report | str | None = None,
    helps: str = "",
) -> str:
    """The document; the same reports, names and origin give the same bytes.

    `equal`: as the verdict is told of it (`equal_text`); `helps`: what binds the last run and the
    change of the chip that helps it, where that is known.

    It fetches nothing: its policy allows no address, and scripts, styles and data stand in it.
    """
    sections = sections_of(reports, names)
    known = Known(equal, helps)
    text = _rendered(reports, names, origin, known, sections)
    excess = len(text.encode()) - MAX_BYTES
    if excess <= 0:
        return text
    return _rendered(reports, names, origin, known, lighter(sections, excess, MAX_BYTES))


def _rendered(
    reports: Sequence[Report],
    names: str,
    origin: Origin,
    known: Known,
    sections: Sequence[Mapping[str, object]],
) -> str:
    """The template with all of it."""
    a, b = reports[0], reports[1] if len(reports) > 1 else None
    views = [str(section["view"]) for section in sections if section["view"]]
    text: str = _template().render(
        heading=_heading(reports, names),
        origin=origin,
        version=__version__,
        digests=_digests(reports[0]),
        themes={name: _theme(name) for name in ("light", "dark")},
        on_dark=dict(LIT),
        canvas_css=sources.style("canvas.css", "gantt.css", "graph.css"),
        css=(FOLDER / "document.css").read_text(encoding="utf-8"),
        script=(FOLDER / "document.js").read_text(encoding="utf-8"),
        plotly=packed_plotly(),
        font=packed_font(),
        differences=[_said(each) for each in (differences(a, b) if b else ())],
        sentence=[_said(part) for part in _sentence(reports, names, known.equal)],
        verdict=verdict_rows(a, b),
        is_pair=b is not None,
        names=names,
        verified=[
            f"{name}: {state_text(report)}" for name, report in zip(names, reports, strict=False)
        ],
        notes=[_said(note) for note in tables.notes(*reports, names=names)],
        first=first_screen(reports, names, known, views),
        sections=sections,
    )
    return text


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


def _sentence(reports: Sequence[Report], names: str, equal: Report | str | None) -> tuple[str, str]:
    """How the runs stand and what binds them; of one run what binds it."""
    words = words_of(*reports)
    if len(reports) > 1:
        return sentence(reports[0], reports[1], equal, words)
    return "", f"{names[0]} {binding_text(reports[0], words[0])}."


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
def _template() -> Template:
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
