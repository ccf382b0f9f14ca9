"""All that the page shows as one file."""

from __future__ import annotations

from functools import partial

import streamlit as st

from graphturbo_ui.beside.equal_run import equal_report
from graphturbo_ui.jobs import Run, Runs
from graphturbo_ui.page_file.document import Origin, page_html
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.shown import of_runs


def sharing(choices: Choices, runs: Runs, beside: Run | str | None, helps: str) -> None:
    """A file that shows these runs without the app; `helps`: a change of the chip for the last."""
    made_by = Origin(choices.link(), choices.command())
    made = partial(page_html, origin=made_by, equal=equal_report(beside), helps=helps)
    st.download_button(
        "Report as one HTML file", partial(of_runs, made, runs),
        "report.html", "text/html", key="take_page", on_click="ignore", icon=":material/download:",
        help="Charts, tables and canvases of all views; it opens in a browser without the app.",
    )  # fmt: skip
