"""Every step from the model to the trace, with what it made; GraphTurbo's algorithms one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.run_rows import BindingRow
from graphturbo_ui.charts import chart
from graphturbo_ui.figures.binding import (
    binding_figure,
    binding_label,
    bindings_of,
    kernel_names,
)
from graphturbo_ui.figures.pass_tables import (
    decision_table,
    product_rows,
    ready_at,
    ready_table,
    split_table,
)
from graphturbo_ui.figures.tables import MAX_ROWS, Table
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import Runs
from graphturbo_ui.shown import told
from graphturbo_ui.text import Sink, safe_text

HEIGHT_PX = 320
"""Of a table on the page: some eight rows, the rest by scrolling."""
MERGES = (
    "Merges and refusals in the order they were looked at, each with its rule and numbers. Of "
    "astitch: its regions, and by which scheme values pass inside each kernel."
)
SPLITS = (
    "For every axis of a part's last output: into how many pieces it must be cut for the live "
    "activations of one piece to fit. Sub-graphs first, then single layers."
)
ORDER = (
    "A list used as a stack: of the instances whose producers are done, the newest runs next, so "
    "what a piece made is used while it is still in LB."
)
BINDINGS = (
    "Which core computes which part of a tensor. A core keeps its colour and number: where they "
    "stand elsewhere in the next tensor, data moves between cores."
)


def passes(runs: Runs) -> None:
    """Every step with its seconds and product, then what each run's algorithms decided."""
    st.subheader("Algorithms")
    st.dataframe(told(product_rows, runs), hide_index=True, key="steps")
    _algorithm("Algorithm 1: how each part can be split", SPLITS, "splits", split_table, runs)
    _algorithm("Algorithm 2: what is merged", MERGES, "decisions", decision_table, runs)
    st.markdown(
        "#### Algorithm 3: in which order instances run", help=f"{ORDER} {define('instance')}"
    )
    for name, run in runs.items():
        if run.report.tables["ready"]:
            _order(name, run.report)
        else:
            st.caption(_without(name, run.report))
    st.markdown("#### Algorithm 4: which core holds which part", help=BINDINGS)
    for column, (name, run) in zip(st.columns(len(runs)), runs.items(), strict=True):
        with column:
            _binding(name, run.report)


def _algorithm(
    title: str, words: str, kind: str, make: Callable[[Report], Table], runs: Runs
) -> None:
    """A table a run of what an algorithm decided, or that the run has none."""
    st.markdown(f"#### {title}", help=words)
    for name, run in runs.items():
        rows = make(run.report)
        if not rows:
            st.caption(_without(name, run.report))
            continue
        st.markdown(f"**{_titled(name, run.report)}**")
        height = min(HEIGHT_PX, 35 * (len(rows) + 1) + 3)
        st.dataframe(rows[:MAX_ROWS], hide_index=True, height=height, key=f"{kind}_{name}")
        if len(rows) >= MAX_ROWS:
            st.caption(f"The first {MAX_ROWS:,} rows.")


def _titled(name: str, report: Report) -> str:
    return f"{name}: {safe_text(report.contract['strategy'], Sink.MARKDOWN)}"


def _without(name: str, report: Report) -> str:
    strategy = safe_text(report.contract["strategy"], Sink.MARKDOWN)
    return f"{name}: {strategy} does without this algorithm."


@st.fragment
def _order(name: str, report: Report) -> None:
    """A slider over the steps, and what is done, ready and run at the one it points at."""
    steps = len(report.tables["ready"])
    st.markdown(f"**{_titled(name, report)}**")
    step = 1
    if steps > 1:
        step = st.slider(f"Step of {name}'s order", 1, steps, 1, key=f"ready_{name}")
    facts = ready_at(report, step - 1)
    lines = [f"- {label}: {safe_text(text, Sink.MARKDOWN, 1000)}" for label, text in facts.items()]
    st.markdown("\n".join([f"Step {step} of {steps}", "", *lines]))
    with st.expander("All steps", key=f"all_ready_{name}", on_change="rerun") as box:
        if box.open:
            st.dataframe(ready_table(report)[:MAX_ROWS], hide_index=True, height=HEIGHT_PX)


@st.fragment
def _binding(name: str, report: Report) -> None:
    """The cores of one tensor of one kernel, both chosen from what the run has."""
    kernels = kernel_names(report)
    if not kernels:
        st.caption(_without(name, report))
        return
    kernel = st.selectbox(f"Kernel of {name}", kernels, key=f"kernel_{name}", format_func=safe_text)
    rows = bindings_of(report, kernel) if kernel else []
    chosen = st.selectbox(
        f"Tensor of {name}", range(len(rows)), key=f"tensor_{name}_{kernel}",
        format_func=partial(_label, rows),
    )  # fmt: skip
    row = rows[chosen] if chosen is not None and rows else None
    text = row["binding"] if row else ""
    chart(binding_figure(row), f"binding_{name}", f"The cores that compute the tensor: {text}")
    st.caption(f"Nested list of the vendor: {safe_text(text, Sink.MARKDOWN, 400)}")


def _label(rows: Sequence[BindingRow], index: int) -> str:
    return binding_label(rows[index])
