"""Both runs' instructions on their engines over time."""

from __future__ import annotations

import streamlit as st

from graphturbo_core.report.gantt_canvas import gantt_buffer
from graphturbo_core.report.report import Report
from graphturbo_ui.components.gantt import gantt_chart
from graphturbo_ui.figures import instructions
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import Runs
from graphturbo_ui.shown import reports_of, table, told, view
from graphturbo_ui.text import safe_text


def gantt(runs: Runs) -> None:
    """Both runs' instructions on their engines over time."""
    st.subheader("Gantt", help=f"{define('engine')} {define('stall')}")
    st.caption(
        f"{told(instructions.gantt_summary, runs)} "
        "A column of pixels is filled for the share of its time "
        "that the engine is busy. Ctrl or ⌘ + wheel zooms, and so does the wheel after a click; "
        "keys: W A S D, arrows, + and -, 0 shows all, Esc leaves."
    )
    gantt_chart(view("gantt", _gantt, runs), key="gantt")
    count = instructions.instruction_count(*reports_of(runs))
    table("instructions", instructions.instruction_table, runs, f"{count:,} in all.")


def _gantt(*reports: Report, names: str) -> bytes:
    label = instructions.gantt_summary(*reports, names=names)
    return gantt_buffer(*reports, show=safe_text, extra={"label": label, "names": names})
