"""Plans and programs of the runs: to take away, to compare, and to change and run again."""

from __future__ import annotations

from functools import partial
from zlib import crc32

import streamlit as st

from graphturbo_core.export.differences import differences
from graphturbo_core.report.report import Report
from graphturbo_ui import query, run_state
from graphturbo_ui.controls import EMITTED, show_refusal
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import Runs
from graphturbo_ui.shown import view
from graphturbo_ui.text import safe_text

MAX_EDITED_CHARACTERS = 200_000
"""A longer plan is edited elsewhere: a text area of more makes the page slow (our choice)."""
SUFFIXES = {"plan": "plan.yaml", "program": "program.txt", "edits": "edits.yaml"}
HINT = (
    "A plan is a YAML file: what runs together, in how many pieces, where each tensor waits. "
    "Below `edits` you can force or forbid merges, fix pieces, axes, bindings, scopes and "
    "residencies. A program is a listing, a line an instruction."
)


def export(runs: Runs) -> None:
    """Downloads, differences and editors of the runs' plans, made when somebody asks for them."""
    st.subheader("Plans and programs", help=f"{define('plan file')} {define('edit')}")
    st.caption(HINT)
    if not run_state.are_files_wanted():
        st.button(
            "Prepare plans and programs", on_click=run_state.ask_for_files, key="prepare_plans",
            icon=":material/description:",
        )  # fmt: skip
    for column, key in zip(st.columns(len(query.RUN_KEYS)), query.RUN_KEYS, strict=True):
        with column:
            _run(key, runs)
    if len(runs) > 1 and all("plan" in run.report.files for run in runs.values()):
        with st.expander("Differences of A's and B's plan"):
            rows = view("plan differences", _difference_rows, runs)
            if rows:
                st.dataframe(rows, hide_index=True, key="plan_differences")
            else:
                st.caption("No difference.")


def _run(key: str, runs: Runs) -> None:
    """One run's downloads and editor; a plan can be given for a run that is refused, too."""
    name = key.upper()
    report = runs[name].report if name in runs else None
    text = ""
    if report is not None and "plan" in report.files:
        for kind in EMITTED:
            st.download_button(
                f"{name}'s {kind}", partial(report.text, kind), f"{name}.{SUFFIXES[kind]}",
                "text/plain", key=f"take_{kind}_{key}", on_click="ignore",
                icon=":material/download:",
            )  # fmt: skip
        text = report.text("plan")
    with st.expander(f"Give {name} a plan"):
        _editor(key, text)
    refused = run_state.plan_refusal(key)
    if refused is not None:
        show_refusal(refused, f"{name}'s plan")


def _editor(key: str, text: str) -> None:
    """An uploader, and where the plan is not too long its text to change."""
    st.file_uploader(
        f"A plan for {key.upper()} (.yaml)", ["yaml"], key=f"plan_{key}_file",
        on_change=run_state.hold_plan, args=(key, f"plan_{key}_file"),
    )  # fmt: skip
    if not text:
        return
    if len(text) > MAX_EDITED_CHARACTERS:
        st.caption("This plan is too long to edit here: take it away, change it, and upload it.")
        return
    shown = f"plan_{key}_text_{crc32(text.encode())}"
    st.text_area("The plan", text, height=400, key=shown)
    st.button(
        f"Run this as {key.upper()}", key=f"run_plan_{key}", on_click=run_state.hold_plan,
        args=(key, shown), icon=":material/play_arrow:",
    )  # fmt: skip


def _difference_rows(*reports: Report, names: str) -> list[dict[str, str]]:
    texts = [report.text("plan") for report in reports]
    found = differences(texts[0], texts[1], (f"plan of {names[0]}", f"plan of {names[1]}"))
    return [
        {
            "part": row.part,
            "what": safe_text(row.subject),
            names[0]: safe_text(row.a),
            names[1]: safe_text(row.b),
        }
        for row in found
    ]
