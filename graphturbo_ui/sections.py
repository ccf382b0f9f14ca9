"""The parts of Explore, each drawn once from the runs at hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import streamlit as st

from graphturbo_core.report.canvas import gantt_buffer, graph_buffer
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict import (
    VerdictRow,
    binding_text,
    differences,
    sentence,
    verdict_rows,
)
from graphturbo_core.report.verify_text import badge_text
from graphturbo_ui import state
from graphturbo_ui.components.gantt import gantt_chart
from graphturbo_ui.components.graph import graph_view
from graphturbo_ui.controls import Choices
from graphturbo_ui.figures import tables
from graphturbo_ui.figures.memory import memory_figure
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import Runs, shared_desk
from graphturbo_ui.text import Sink, safe_text

COLUMNS_OF_VERDICT = 4
T = TypeVar("T")


def reports_of(runs: Runs) -> tuple[Report, ...]:
    """The reports of finished runs."""
    return tuple(run.report for run in runs.values())


def names_of(runs: Runs) -> str:
    """The runs' names, a letter each."""
    return "".join(runs)


def told(make: Callable[..., T], runs: Runs) -> T:
    """`make(*reports, names=…)`: what it gives of these runs under their names."""
    return make(*reports_of(runs), names=names_of(runs))


def view(name: str, make: Callable[..., T], runs: Runs) -> T:
    """The same, made once for these runs and names, and kept."""
    names = names_of(runs)
    return shared_desk().view(f"{name} {names}", partial(make, names=names), *runs.values())


def banner(runs: Runs) -> None:
    """Says in what A and B differ besides the strategy, and shows the runs' notes."""
    reports = reports_of(runs)
    if len(reports) > 1:
        found = differences(*reports)
        if found:
            said = safe_text("; ".join(found), Sink.MARKDOWN, 1000)
            st.info(f"A and B differ in more than strategy: {said}.", icon=":material/balance:")
    notes = told(tables.notes, runs)
    if notes:
        with st.expander(f"Notes ({len(notes)})"):
            st.markdown("\n".join(f"- {safe_text(note, Sink.MARKDOWN, 1000)}" for note in notes))


def verdict(runs: Runs, pending: Runs) -> None:
    """B's figures with their change against A, and one sentence on why.

    Of one run alone while the other is `pending`, or where it is refused.
    """
    reports = reports_of(runs)
    a, b = reports[0], reports[1] if len(reports) > 1 else None
    outcome, reason = (safe_text(part, Sink.MARKDOWN, 1000) for part in _said(runs, pending))
    st.markdown(f"**{outcome}** {reason}")
    rows = verdict_rows(a, b)
    for first in range(0, len(rows), COLUMNS_OF_VERDICT):
        shown = rows[first : first + COLUMNS_OF_VERDICT]
        for column, row in zip(st.columns(COLUMNS_OF_VERDICT), shown, strict=False):
            with column:
                _figure(row)
    states = [f"{name}: {badge_text(r)}" for name, r in zip(runs, reports, strict=True)]
    st.caption(f"Numbers checked against ONNX Runtime (page Verification) — {', '.join(states)}.")


def _said(runs: Runs, pending: Runs) -> tuple[str, str]:
    """What the verdict says in words: how the runs stand, and what binds them."""
    if len(runs) > 1:
        return sentence(*reports_of(runs))
    ((name, run),) = runs.items()
    waits = [f"{other} is being computed" for other in pending]
    rest = waits[0] if waits else "the other run cannot be computed"
    return f"{name} is there, {rest}.", f"{name} {binding_text(run.report)}."


def _figure(row: VerdictRow) -> None:
    """One figure: B's value (that of a run alone) and the change, green where it is better."""
    colours = {True: "green", False: "red", None: "off"}
    st.metric(
        row.label,
        row.b or row.a,
        f"{row.change} · A {row.a}" if row.b else None,
        delta_color=colours[row.is_better],  # type: ignore[arg-type]  # one of Streamlit's words
        delta_arrow=row.arrow,  # type: ignore[arg-type]  # one of Streamlit's words
        help=f"{define(row.term)} {row.direction.capitalize()}.",
        border=True,
    )


def groupings(runs: Runs) -> None:
    """The graph with A's sub-graphs left and B's right, and what the selected one is."""
    st.subheader("Sub-graph groupings", help=define("sub-graph"))
    st.caption(
        f"{told(tables.graph_summary, runs)} "
        "Click a sub-graph to see its ops in the other run; double click opens it. "
        "Keys: W A S D, arrows, + and -; [ and ] step through sub-graphs, Enter opens one."
    )
    _facts(runs, graph_view(view("graph", _graph, runs), key="graph"))
    table("sub-graphs", tables.group_table, runs)


def _graph(*reports: Report, names: str) -> bytes:
    label = tables.graph_summary(*reports, names=names)
    return graph_buffer(*reports, show=safe_text, extra={"label": label})


def _facts(runs: Runs, selected: object) -> None:
    """What is known of the selected sub-graph, as a list."""
    if not isinstance(selected, dict) or not 0 <= selected.get("pane", -1) < len(runs):
        return
    run = names_of(runs)[selected["pane"]]
    report = runs[run].report
    group = selected.get("group", -1)
    if not 0 <= group < len(report.tables["groups"]):
        return
    name = safe_text(report.tables["groups"][group]["name"], Sink.MARKDOWN)
    facts = tables.group_facts(report, group)
    lines = [f"- {label}: {safe_text(text, Sink.MARKDOWN, 1000)}" for label, text in facts.items()]
    st.markdown("\n".join([f"**Sub-graph {name} of {run}**", "", *lines]))


def memory(runs: Runs) -> None:
    """LB and GB of every layer as bars under their capacity lines."""
    st.subheader("Memory", help=f"{define('LB')} {define('GB')}")
    figure = view("memory", memory_figure, runs)
    st.plotly_chart(figure, key="memory", alt="LB and GB use of every layer with capacity lines")
    table("memory", tables.memory_table, runs)


def gantt(runs: Runs) -> None:
    """Both runs' instructions on their engines over time."""
    st.subheader("Gantt", help=f"{define('engine')} {define('stall')}")
    st.caption(
        f"{told(tables.gantt_summary, runs)} "
        "A column of pixels is filled for the share of its time "
        "that the engine is busy. Ctrl or ⌘ + wheel zooms, and so does the wheel after a click; "
        "keys: W A S D, arrows, + and -, 0 shows all, Esc leaves."
    )
    windows = state.linked_windows()
    buffer = view(f"gantt {windows}", partial(_gantt, windows), runs)
    state.remember("window", gantt_chart(buffer, key="gantt"))
    count = tables.instruction_count(*reports_of(runs))
    table("instructions", tables.instruction_table, runs, f"{count:,} in all.")


def _gantt(windows: list[list[int]] | None, *reports: Report, names: str) -> bytes:
    label = tables.gantt_summary(*reports, names=names)
    return gantt_buffer(*reports, show=safe_text, extra={"label": label, "window": windows})


def steps(runs: Runs) -> None:
    """Every step with its seconds."""
    st.subheader("Steps")
    st.dataframe(told(tables.step_rows, runs), hide_index=True, key="steps")


def sharing(choices: Choices) -> None:
    """The link and the command that give this again."""
    st.subheader("Take it with you")
    left, right = st.columns(2)
    with left:
        st.caption("Copy link: this page's address with")
        st.code(choices.link(), language=None, wrap_lines=True)
    with right:
        st.caption("The same two runs on the command line")
        st.code(choices.command(), language="bash", wrap_lines=True)


def table(
    name: str,
    make: Callable[..., tables.Table],
    runs: Runs,
    size: str = "",
) -> None:
    """The same rows as a table, made when somebody opens it."""
    with st.expander(f"Table of {name}", on_change="rerun", key=f"table_{name}") as box:
        if box.open:
            rows = view(f"table {name}", make, runs)
            st.dataframe(rows[: tables.MAX_ROWS], hide_index=True)
            if len(rows) >= tables.MAX_ROWS or size:
                st.caption(f"The first {min(len(rows), tables.MAX_ROWS):,} rows. {size}")
