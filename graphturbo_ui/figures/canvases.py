"""Reports -> what the canvases draw, as bytes, each with the summary that screen readers tell."""

from __future__ import annotations

from collections.abc import Sequence

from graphturbo_core.report.canvases.address_canvas import address_buffer
from graphturbo_core.report.canvases.gantt_canvas import gantt_buffer
from graphturbo_core.report.canvases.graph_canvas import graph_buffer
from graphturbo_core.report.overview.buffer import overview_buffer
from graphturbo_core.report.report import Report
from graphturbo_ui.figures.buffers import address_summary
from graphturbo_ui.figures.group_tables import graph_summary
from graphturbo_ui.figures.instructions import gantt_summary
from graphturbo_ui.figures.tables import BOTH
from graphturbo_ui.text import safe_text

OPENED_VIEWS = ("Every core", "Plan edits")
"""Views that buttons of the first screen open."""


def graph_bytes(*reports: Report, names: str = BOTH) -> bytes:
    """The graph with the sub-graphs of every run."""
    label = graph_summary(*reports, names=names)
    return graph_buffer(*reports, show=safe_text, extra={"label": label, "names": names})


def address_bytes(*reports: Report, names: str = BOTH) -> bytes:
    """Every buffer at its addresses over time."""
    label = address_summary(*reports, names=names)
    return address_buffer(*reports, show=safe_text, extra={"label": label, "names": names})


def gantt_bytes(*reports: Report, names: str = BOTH) -> bytes:
    """Every instruction on its engine over time."""
    label = gantt_summary(*reports, names=names)
    return gantt_buffer(*reports, show=safe_text, extra={"label": label, "names": names})


def overview_bytes(
    *reports: Report,
    names: str = BOTH,
    beside: str = "",
    is_presenting: bool = False,
    views: Sequence[str] = OPENED_VIEWS,
) -> bytes:
    """The first screen; `beside`: what must be known of the comparison.

    `views`: those of `OPENED_VIEWS` that stand below it; its buttons open them.
    """
    extra = {
        "names": names,
        "beside": safe_text(beside, max_length=300),
        "state": f"{names} is there, the other run is not" if len(reports) == 1 else "",
        "is_presenting": is_presenting,
        "views": list(views),
    }
    return overview_buffer(*reports, show=safe_text, extra=extra)
