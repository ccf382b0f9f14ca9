"""Reports -> the first screen of the document: the app's component in a shadow root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphturbo_core.report.overview.headline import beside_text
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.binding_change import helps_text
from graphturbo_core.report.verdict.equal_batches import asked_text
from graphturbo_ui.components import sources
from graphturbo_ui.components.sources import OVERVIEW
from graphturbo_ui.figures.canvases import overview_bytes
from graphturbo_ui.page_file.packing import SHOWN_SINCE, packed


@dataclass(frozen=True)
class FirstScreen:
    """The component's frame, style and script as they are in the app, and its buffer packed."""

    html: str
    css: str
    js: str
    packed: str


@dataclass(frozen=True)
class Known:
    """What is computed beside the runs: A at B's cluster batch, and what makes the last one faster.

    `helps`: empty where nothing was tried.
    """

    equal: Report | str | None
    helps: str


def first_screen(
    reports: Sequence[Report], names: str, known: Known, views: Sequence[str]
) -> FirstScreen:
    """The first screen of one run or two; `views`: those that are sections of the document."""
    beside = beside_text(reports[0], reports[1], known.equal) if len(reports) > 1 else ""
    helps = known.helps or helps_text(names[len(reports) - 1], reports[-1])
    asked = asked_text(dict(zip(names, reports, strict=False)))
    said = {"beside": beside, "helps": helps, "asked": asked}
    buffer = overview_bytes(*reports, names=names, said=said, views=views)
    text = packed(sources.with_time(buffer, SHOWN_SINCE))
    return FirstScreen(OVERVIEW.html(), OVERVIEW.css(), OVERVIEW.js(), text)
