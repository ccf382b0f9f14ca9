"""Measured times beside the simulated ones of the runs at hand."""

from __future__ import annotations

import streamlit as st

from graphturbo_core.report.measured.comparison import compared
from graphturbo_core.report.measured.table import template
from graphturbo_core.report.measured.texts import correlation_text, total_text, unmatched_texts
from graphturbo_ui.charts import chart_to_pick
from graphturbo_ui.figures.layer_tables import csv_text
from graphturbo_ui.jobs import Runs
from graphturbo_ui.measured.figures import Comparisons, share_figure, share_table, share_targets
from graphturbo_ui.refusals import show_refusal
from graphturbo_ui.session.measured import (
    drop_measured,
    is_linked,
    measured_file,
    measured_refusal,
    take_measured,
)
from graphturbo_ui.shown import csv_button
from graphturbo_ui.text import Sink, safe_text

WIDGET = "measured_times"
INTRO = (
    "A CSV file with the columns layer and milliseconds (or ms): one row per layer, or per op of "
    "a layer. Names are those of the table of layers; an op's name counts for its layer. Simulated "
    "is the time from a layer's first start to its last end in each kernel of one round on one "
    "cluster; layers that overlap share it."
)
CLICK = "A click on a dot selects the layer. Layers with 0 on one side are in the table alone."


def measured_times(runs: Runs) -> None:
    """An uploader, and what its times say of A and B; nothing is computed while it is closed."""
    with st.expander("Measured times", is_linked(), on_change="rerun", key="measured_box") as box:
        if not box.open:
            return
        st.caption(INTRO)
        _take(runs)
        refused = measured_refusal()
        if refused is not None:
            show_refusal(refused)
        file = measured_file()
        if file is None:
            st.caption("No times yet.")
            return
        if refused is not None:
            st.caption(f"Below are still the times of {safe_text(file.name, Sink.MARKDOWN, 80)}.")
        found = {name: compared(file.rows, run.report) for name, run in runs.items()}
        _sentences(found)
        if any(each.shares for each in found.values()):
            _chart(found, file.digest, runs)


def _take(runs: Runs) -> None:
    """The uploader, a file to fill in, and a button that forgets the times."""
    st.file_uploader(
        "Measured times (.csv)", ["csv", "txt"], key=WIDGET, on_change=take_measured, args=(WIDGET,)
    )
    with st.container(horizontal=True):
        report = next(iter(runs.values())).report
        label = "Template with the run's layers"
        csv_button(label, template(report), "measured.csv", "take_template")
        if measured_file() is not None:
            st.button("Forget the times", key="drop_measured", on_click=drop_measured)


def _sentences(found: Comparisons) -> None:
    """Correlation, sums and what has no counterpart, of each run."""
    for name, each in found.items():
        said = safe_text(f"{name}: {correlation_text(each)}", Sink.MARKDOWN, 200)
        st.markdown(f"**{said}**")
        st.caption(safe_text(total_text(each), Sink.MARKDOWN, 400))
    for text in dict.fromkeys(text for each in found.values() for text in unmatched_texts(each)):
        st.caption(safe_text(text, Sink.MARKDOWN, 3000))


def _chart(found: Comparisons, digest: str, runs: Runs) -> None:
    chart_to_pick(
        share_figure(found), f"measured {digest}",
        "Measured share of every layer over its simulated share, with the line of equal shares",
        share_targets(found), runs,
    )  # fmt: skip
    st.caption(CLICK)
    table = share_table(found)
    st.dataframe(table, hide_index=True, key="measured_table")
    csv_button("Comparison as CSV", csv_text(table), "measured-comparison.csv", "take_measured")
