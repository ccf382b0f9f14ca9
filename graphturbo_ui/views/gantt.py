"""Both runs' instructions on their engines over time."""

from __future__ import annotations

import streamlit as st

from graphturbo_ui.components.gantt import GANTT
from graphturbo_ui.figures import instructions
from graphturbo_ui.figures.canvases import gantt_bytes
from graphturbo_ui.figures.tables import MAX_ROWS
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import Runs
from graphturbo_ui.session import state
from graphturbo_ui.shown import names_of, of_runs, reports_of, selected_ops, view

KEYS = """
A column of pixels is filled for the share of its time that the engine is busy. Ctrl or ⌘ + wheel
zooms, and so does the wheel after a click; keys: W A S D, arrows, + and -, 0 shows all. Shift +
drag measures a span of time, M what is in sight. A click picks an instruction and selects its op in
every view; N and P step through what is selected or what an engine runs, up and down go to another
engine, Enter selects. A click on a core folds or opens it, and so does C for the core of the picked
instruction. K shows the critical path, then the longest dependency chain. Esc clears, then leaves.
"""


def gantt(runs: Runs) -> None:
    """Both runs' instructions on their engines over time."""
    terms = ("engine", "stall", "layers in flight", "critical path", "longest dependency chain")
    summary = of_runs(instructions.gantt_summary, runs)
    st.subheader("Every core", help=f"{summary}\n\n{KEYS}\n\n{' '.join(map(define, terms))}")
    GANTT.draw(view("gantt", gantt_bytes, runs))
    with st.expander("Table of instructions", on_change="rerun", key="table_instructions") as box:
        if box.open:
            _table(runs)


def _table(runs: Runs) -> None:
    """The instructions in sight, of the selected ops where any are."""
    reports, windows, ops = reports_of(runs), state.told_windows(), selected_ops(runs)
    rows = instructions.instruction_table(*reports, names=names_of(runs), windows=windows, ops=ops)
    st.dataframe(rows, hide_index=True)
    found = instructions.shown_instructions(*reports, windows=windows, ops=ops)
    st.caption(
        f"{sum(map(len, found)):,} of {instructions.instruction_count(*reports):,} instructions "
        f"are in sight{' and selected' if ops is not None else ''}; of each run the first "
        f"{MAX_ROWS // max(len(reports), 1):,} are listed. Times count from the start of a round."
    )
