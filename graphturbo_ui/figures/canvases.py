"""Reports -> what the canvases draw, as bytes, each with the summary that screen readers tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from graphturbo_core.report.algorithms.buffer import algorithms_buffer
from graphturbo_core.report.canvases.address_canvas import address_buffer
from graphturbo_core.report.canvases.gantt_canvas import gantt_buffer
from graphturbo_core.report.canvases.graph_canvas import graph_buffer
from graphturbo_core.report.overview.buffer import overview_buffer
from graphturbo_core.report.overview.group_names import names_of_groups
from graphturbo_core.report.overview.hues import hues_of, hues_of_groups
from graphturbo_core.report.report import Report
from graphturbo_ui.figures.buffers import address_summary
from graphturbo_ui.figures.group_tables import graph_summary
from graphturbo_ui.figures.instructions import gantt_summary
from graphturbo_ui.figures.tables import BOTH
from graphturbo_ui.text import safe_text

MAX_ATTRIBUTES = 1000
"""Characters of an op's attributes that are searched."""
MAX_SAID = 300
"""Characters of a sentence on the first screen."""
NOTHING: Mapping[str, str] = MappingProxyType({})
NO_ROW: Mapping[str, object] = MappingProxyType({})
OPENED_VIEWS = ("Every core", "Plan edits")
"""Views that buttons of the first screen open."""


def graph_bytes(*reports: Report, names: str = BOTH) -> bytes:
    """The graph with the sub-graphs of every run."""
    label = graph_summary(*reports, names=names)
    extra = _extra(label, names, reports)
    return graph_buffer(*reports, show=safe_text, show_long=_long, extra=extra)


def _long(text: str) -> str:
    return safe_text(text, max_length=MAX_ATTRIBUTES)


def address_bytes(*reports: Report, names: str = BOTH) -> bytes:
    """Every buffer at its addresses over time."""
    label = address_summary(*reports, names=names)
    return address_buffer(*reports, show=safe_text, extra=_extra(label, names, reports))


def algorithms_bytes(*reports: Report, names: str = BOTH, keys: str = "") -> bytes:
    """Algorithms 1 to 4 as pictures.

    `keys`: of the runs; the steps that are shown stay while they stay.
    """
    return algorithms_buffer(*reports, show=safe_text, extra={"names": names, "keys": keys})


def gantt_bytes(*reports: Report, names: str = BOTH) -> bytes:
    """Every instruction on its engine over time."""
    label = gantt_summary(*reports, names=names)
    return gantt_buffer(*reports, show=safe_text, extra=_extra(label, names, reports))


def overview_bytes(
    *reports: Report,
    names: str = BOTH,
    said: Mapping[str, str] = NOTHING,
    is_presenting: bool = False,
    views: Sequence[str] = OPENED_VIEWS,
    best: Mapping[str, object] = NO_ROW,
) -> bytes:
    """The first screen.

    `said`: `beside`, what must be known of the comparison; `state`, how a lone run stands; `helps`,
    what would help B; `keys`, of the runs: what was chosen on the screen stays while they stay.
    `views`: those of `OPENED_VIEWS` that stand below it; its buttons open them.
    `best`: what the race's third row shows.
    """
    extra = {name: safe_text(text, max_length=MAX_SAID) for name, text in said.items()}
    given = {
        "names": names, "is_presenting": is_presenting, "views": list(views), "best": dict(best)
    }  # fmt: skip
    return overview_buffer(*reports, show=safe_text, extra={**extra, **given})


def _extra(label: str, names: str, reports: Sequence[Report]) -> dict[str, object]:
    """What a canvas needs beside its runs: the hues are those of the first screen."""
    hues = hues_of(reports[0], reports[-1])
    others = [hues_of_groups(report, hues) for report in reports[:-1]]
    return {
        "label": label,
        "names": names,
        "group_names": [[*map(safe_text, own)] for own in names_of_groups(*reports)],
        "hues": {
            "titles": [safe_text(title) for title in hues.titles],
            "of_layer": hues.of_layer,
            "of_group": [*others, hues.of_group],
        },
    }
