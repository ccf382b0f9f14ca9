"""The parts of Explore, each drawn once from the runs at hand."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from graphturbo_core.report.canvas import gantt_buffer, graph_buffer
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict import (
    VerdictRow,
    differences,
    sentence,
    verdict_rows,
    verified_text,
)
from graphturbo_ui import state
from graphturbo_ui.components.gantt import gantt_chart
from graphturbo_ui.components.graph import graph_view
from graphturbo_ui.controls import Choices
from graphturbo_ui.figures import tables
from graphturbo_ui.figures.memory import memory_figure
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import Run, shared_desk
from graphturbo_ui.text import Sink, safe_text

COLUMNS_OF_VERDICT = 4


def reports_of(runs: tuple[Run, ...]) -> tuple[Report, ...]:
    """The reports of finished runs."""
    return tuple(run.report for run in runs)


def banner(runs: tuple[Run, ...]) -> None:
    """Says in what A and B differ besides the strategy, and shows the runs' notes."""
    reports = reports_of(runs)
    if len(reports) > 1:
        found = differences(*reports)
        if found:
            said = safe_text("; ".join(found), Sink.MARKDOWN, 1000)
            st.info(f"A and B differ in more than strategy: {said}.", icon=":material/balance:")
    notes = tables.notes(*reports)
    if notes:
        with st.expander(f"Notes ({len(notes)})"):
            st.markdown("\n".join(f"- {safe_text(note, Sink.MARKDOWN, 1000)}" for note in notes))


def verdict(runs: tuple[Run, ...]) -> None:
    """B's figures with their change against A, and one sentence on why."""
    reports = reports_of(runs)
    a, b = reports[0], reports[1] if len(reports) > 1 else None
    outcome, reason = (safe_text(part, Sink.MARKDOWN, 1000) for part in sentence(a, b))
    st.markdown(f"**{outcome}** {reason}")
    rows = verdict_rows(a, b)
    for first in range(0, len(rows), COLUMNS_OF_VERDICT):
        shown = rows[first : first + COLUMNS_OF_VERDICT]
        for column, row in zip(st.columns(COLUMNS_OF_VERDICT), shown, strict=False):
            with column:
                _figure(row)
    states = [f"{name}: {verified_text(r)}" for name, r in zip("AB", reports, strict=False)]
    st.caption(f"Numbers checked against ONNX Runtime — {', '.join(states)}.")


def _figure(row: VerdictRow) -> None:
    """One figure: B's value (A's while B is under way) and the change, green where it is better."""
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


def groupings(runs: tuple[Run, ...]) -> None:
    """The graph with A's sub-graphs left and B's right, and what the selected one is."""
    reports = reports_of(runs)
    st.subheader("Sub-graph groupings", help=define("sub-graph"))
    summary = tables.graph_summary(*reports)
    st.caption(
        f"{summary} Click a sub-graph to see its ops in the other run; double click opens it. "
        "Keys: W A S D, arrows, + and -; [ and ] step through sub-graphs, Enter opens one."
    )
    buffer = shared_desk().view("graph", _graph, *runs)
    _facts(reports, graph_view(buffer, key="graph"))
    table("sub-graphs", tables.group_table, runs)


def _graph(*reports: Report) -> bytes:
    label = tables.graph_summary(*reports)
    return graph_buffer(*reports, show=safe_text, extra={"label": label})


def _facts(reports: tuple[Report, ...], selected: object) -> None:
    """What is known of the selected sub-graph, as a list."""
    if not isinstance(selected, dict) or not 0 <= selected.get("pane", -1) < len(reports):
        return
    report = reports[selected["pane"]]
    group = selected.get("group", -1)
    if not 0 <= group < len(report.tables["groups"]):
        return
    name = safe_text(report.tables["groups"][group]["name"], Sink.MARKDOWN)
    facts = tables.group_facts(report, group)
    lines = [f"- {label}: {safe_text(text, Sink.MARKDOWN, 1000)}" for label, text in facts.items()]
    st.markdown("\n".join([f"**Sub-graph {name} of {'AB'[selected['pane']]}**", "", *lines]))


def memory(runs: tuple[Run, ...]) -> None:
    """LB and GB of every layer as bars under their capacity lines."""
    st.subheader("Memory", help=f"{define('LB')} {define('GB')}")
    figure = shared_desk().view("memory", memory_figure, *runs)
    st.plotly_chart(figure, key="memory", alt="LB and GB use of every layer with capacity lines")
    table("memory", tables.memory_table, runs)


def gantt(runs: tuple[Run, ...]) -> None:
    """Both runs' instructions on their engines over time."""
    reports = reports_of(runs)
    st.subheader("Gantt", help=f"{define('engine')} {define('stall')}")
    st.caption(
        f"{tables.gantt_summary(*reports)} A column of pixels is filled for the share of its time "
        "that the engine is busy. Ctrl or ⌘ + wheel zooms, and so does the wheel after a click; "
        "keys: W A S D, arrows, + and -, 0 shows all, Esc leaves."
    )
    windows = state.linked_windows()
    buffer = shared_desk().view(
        f"gantt {windows}", lambda *all_runs: _gantt(windows, *all_runs), *runs
    )
    state.remember("window", gantt_chart(buffer, key="gantt"))
    count = tables.instruction_count(*reports)
    table("instructions", tables.instruction_table, runs, f"{count:,} in all.")


def _gantt(windows: list[list[int]] | None, *reports: Report) -> bytes:
    label = tables.gantt_summary(*reports)
    return gantt_buffer(*reports, show=safe_text, extra={"label": label, "window": windows})


def steps(runs: tuple[Run, ...]) -> None:
    """Every step with its seconds."""
    st.subheader("Steps")
    st.dataframe(tables.step_rows(*reports_of(runs)), hide_index=True, key="steps")


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
    runs: tuple[Run, ...],
    size: str = "",
) -> None:
    """The same rows as a table, made when somebody opens it."""
    with st.expander(f"Table of {name}", on_change="rerun", key=f"table_{name}") as box:
        if box.open:
            rows = shared_desk().view(f"table {name}", make, *runs)
            st.dataframe(rows[: tables.MAX_ROWS], hide_index=True)
            if len(rows) >= tables.MAX_ROWS or size:
                st.caption(f"The first {min(len(rows), tables.MAX_ROWS):,} rows. {size}")
