"""The runs as files: to take away, to compare, and plans to change and run again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from zlib import crc32

import streamlit as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.export.differences import differences
from graphturbo_core.export.dot import check_drawable, dot_text
from graphturbo_core.export.files import SUFFIXES, json_text
from graphturbo_core.export.trace_json import trace_json
from graphturbo_core.report.json_form import json_form
from graphturbo_core.report.report import Report
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import Runs
from graphturbo_ui.refusals import show_refusal
from graphturbo_ui.session import query, run_state
from graphturbo_ui.session.choices import EMITTED
from graphturbo_ui.shown import view
from graphturbo_ui.text import safe_text

MAX_EDITED_CHARACTERS = 200_000
"""A longer plan is edited elsewhere: a text area of more makes the page slow (our choice)."""
MAX_TRACED = 300_000
"""Instructions of a trace that the app writes: some 2 s of a shared server (our choice)."""
FILES = (
    "JSON holds every figure of a run, the trace its instructions, for Perfetto and Chrome's "
    "tracing page, DOT the graph with its sub-graphs, for Graphviz. "
    "The command line writes all three."
)
HINT = (
    "A plan is a YAML file: what runs together, in how many pieces, where each tensor waits. "
    "Below the word edits you can force or forbid merges, fix pieces, axes, bindings, scopes and "
    "residencies. A program is a listing, a line an instruction."
)


def export(runs: Runs) -> None:
    """Downloads of the runs; differences and editors of their plans, when somebody asks."""
    st.subheader("Export", help=FILES)
    for name, run in runs.items():
        _files(name, run.report)
    st.markdown("**Plans and programs**", help=f"{HINT} {define('plan file')} {define('edit')}")
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


def _files(name: str, report: Report) -> None:
    """One run's JSON, trace and DOT, each made when it is asked for."""
    count = len(report.arrays["start"])
    with st.container(horizontal=True, key=f"files_{name}"):
        _take(name, "JSON", lambda: json_text(json_form(report)))
        if count <= MAX_TRACED:
            _take(name, "trace", partial(trace_json, report))
        if _is_drawable(report):
            _take(name, "DOT", partial(dot_text, report))
    if count > MAX_TRACED:
        st.caption(
            f"{name}'s trace would have {count:,} instructions, the app writes {MAX_TRACED:,}: "
            "the command line writes all."
        )
    if not _is_drawable(report):
        st.caption(f"{name} has too many ops for a DOT file; its JSON lists the sub-graphs.")


def _is_drawable(report: Report) -> bool:
    try:
        check_drawable(report)
    except CapacityError:
        return False
    return True


def _take(name: str, kind: str, make: Callable[[], str]) -> None:
    """A button that downloads `make()` as `a.json`, or what its kind is called."""
    key = name.lower()
    st.download_button(
        f"{name}'s {kind}", make, f"{key}.{SUFFIXES[kind]}", "text/plain",
        key=f"take_{kind.lower()}_{key}", on_click="ignore", icon=":material/download:",
    )  # fmt: skip


def _run(key: str, runs: Runs) -> None:
    """One run's downloads and editor; a plan can be given for a run that is refused, too."""
    name = key.upper()
    report = runs[name].report if name in runs else None
    text = ""
    if report is not None and "plan" in report.files:
        for kind in EMITTED:
            _take(name, kind, partial(report.text, kind))
        text = report.text("plan")
    with st.expander(f"Run {name} from a plan file"):
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
