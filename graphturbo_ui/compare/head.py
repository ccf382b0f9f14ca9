"""The sentence above Compare's picture, and what all runs share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from graphturbo_core.comparison.compared_run import ComparedRun
from graphturbo_core.comparison.sentences import headline
from graphturbo_core.comparison.settings import shared_setting
from graphturbo_ui.compare import equal_run
from graphturbo_ui.jobs import Runs
from graphturbo_ui.text import Sink, safe_text

STYLE = Path(__file__).with_name("compare.css")
EMPTY = "No run is in this comparison."


def head(runs: Sequence[ComparedRun]) -> Runs:
    """The sentence above the picture, and what all runs share; runs that the sentence waits for."""
    st.html(STYLE)
    beside = equal_run.of_headline(runs)
    title = headline(runs, beside.runs, beside.why_not) if runs else EMPTY
    below = shared_setting(runs) if runs else ""
    st.html(
        f'<div class="compare-head"><h1>{safe_text(title, Sink.HTML, 200)}</h1>'
        f"<p>{safe_text(below, Sink.HTML, 300)}</p></div>"
    )
    return beside.pending
