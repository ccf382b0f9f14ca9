"""The first screen: how B compares with A, groupings, memory and time, on one height of the window."""

from __future__ import annotations

from functools import partial

import streamlit as st

from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.equal_batches import equal_text
from graphturbo_core.report.verdict.verdict import differences
from graphturbo_ui.components import overview as screen
from graphturbo_ui.equal_run import equal_report
from graphturbo_ui.figures.canvases import overview_bytes
from graphturbo_ui.jobs import Run, Runs
from graphturbo_ui.session import state
from graphturbo_ui.shown import reports_of, view


def overview(runs: Runs, beside: Run | str | None) -> None:
    """Draw it; `beside`: A at B's cluster batch, where the two differ."""
    said = _beside(reports_of(runs), equal_report(beside))
    is_presenting = state.is_presenting()
    make = partial(overview_bytes, beside=said, is_presenting=is_presenting)
    st.html(screen.FOLDER / "page.css")
    with st.container(key="overview_place"):
        screen.draw(view(f"overview {is_presenting} {said}", make, runs), state.open_from_overview)


def _beside(reports: tuple[Report, ...], equal: Report | str | None) -> str:
    """In what A and B differ besides the strategy, and the ratio at equal cluster batches."""
    if len(reports) == 1:
        return ""
    a, b = reports
    found = differences(a, b)
    said = f"A and B also differ in {', '.join(found)}" if found else ""
    return f"{said}{equal_text(a, b, equal)}"
