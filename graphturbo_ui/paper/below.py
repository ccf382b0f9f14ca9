"""Below the first screen: what moves the selected number, the reasons, all rows as a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from graphturbo_core.report.paper.comparisons import PaperComparison, PaperTable
from graphturbo_core.report.paper.data import PaperData
from graphturbo_core.report.paper.ladder import runs_of_mover, runs_of_row
from graphturbo_core.report.paper.movers import Effect, Tornado, tornado
from graphturbo_core.report.paper.sentences import (
    knowledge,
    reach_text,
    reasons,
    requirement_rows,
    requirements_text,
    small_text,
)
from graphturbo_ui.charts import enlarged, inked, text_colour, theme
from graphturbo_ui.figures.layer_tables import csv_text
from graphturbo_ui.figures.tables import Table
from graphturbo_ui.paper.figures import tornado_figure
from graphturbo_ui.paper.links import command, explore_link
from graphturbo_ui.session import paper, state
from graphturbo_ui.shown import csv_button
from graphturbo_ui.text import Sink, safe_text

SWITCHED = (
    "One thing is changed at a time, everything else is as taken. Assumptions about TVM were "
    "changed for TVM alone, options for GraphTurbo's last step alone; other models and the other "
    "reading of Algorithm 1's capacity for every step. docs/paper-assumptions.md has the reasons."
)
PRESENTED_TOP = 36
"""Above the bars in front of an audience (px), for the published throughput."""
NOTHING = "This step was not changed: other models and chips were run without it."


def effects(data: PaperData, row: PaperComparison) -> None:
    """What moves the throughput of the row's step, largest effect first."""
    found = tornado(data, row.letter, row.level)
    st.subheader("What moves our throughput", help=SWITCHED)
    st.markdown(safe_text(reach_text(found), Sink.MARKDOWN, 400))
    figure = inked(tornado_figure(found, theme()), text_colour())
    if state.is_presenting():
        figure = enlarged(figure).update_layout(margin_t=PRESENTED_TOP)
    key = f"paper_effects_{row.key}_{paper.selected_mover()}"
    st.plotly_chart(
        figure, key=key,
        alt="Throughput with one assumption or option changed, over the throughput as taken",
        on_select=partial(_pick, key, found.drawn), selection_mode="points",
        config={"displayModeBar": False},
    )  # fmt: skip
    if not state.is_presenting():
        st.caption(safe_text(small_text(found), Sink.MARKDOWN, 2000))
        _effect(data, row, found)


def _pick(key: str, drawn: Sequence[Effect]) -> None:
    place = paper.picked_point(key)
    if place is not None and place[1] < len(drawn):
        paper.select_mover(_name(drawn[place[1]]))


def _name(effect: Effect) -> str:
    return f"{effect.name}: {effect.value}"


def _effect(data: PaperData, row: PaperComparison, found: Tornado) -> None:
    """The effect that was clicked: its number, and its run in Explore."""
    chosen = next((each for each in found.drawn if _name(each) == paper.selected_mover()), None)
    with st.container(key="paper_effect"):
        if chosen is None:
            st.caption("A click on a bar shows its number and its run." if found.drawn else "")
            return
        rate = chosen.mover.per_s or 0.0
        words = f"{_name(chosen)}: {rate:,.0f} samples/s, {chosen.ratio or 0.0:.3f} of as taken"
        st.markdown(f"**{safe_text(words, Sink.MARKDOWN, 200)}**")
        runs = runs_of_mover(data, row.letter, chosen.mover)
        if runs is None:
            st.caption("A number of the chip was changed: Explore needs a profile file with it.")
        else:
            st.link_button(
                "Open this run in Explore", explore_link(runs), icon=":material/open_in_new:"
            )


def why(data: PaperData, row: PaperComparison) -> None:
    """Reasons as docs/paper.md has them, and the command line of the row's run."""
    st.subheader("Why")
    for text in reasons(data, row):
        st.markdown(safe_text(text.replace("`", ""), Sink.MARKDOWN, 2000))
    each = data.configuration(row.letter)
    tvm, vendor = each.step("tvm"), each.step("vendor")
    if each.vendor_plan_per_s is not None and vendor is not None:
        ours = each.vendor_plan_per_s / tvm.per_s if tvm and tvm.per_s else 0.0
        st.caption(
            f"The vendor's own schedule as a plan file: {each.vendor_plan_per_s:,.0f} samples/s, "
            f"{ours:.2f}× TVM; the paper's bar of hand-written code has "
            f"{vendor.published_over_tvm:.2f}×. docs/vendor-resnet50.plan.yaml is the plan."
        )
    st.markdown("**What is known of this row**")
    lines = [
        f"- *{mark}*: {safe_text(text, Sink.MARKDOWN, 300)}"
        for mark, text in knowledge(data, row.letter)
    ]
    st.markdown("\n".join(lines))
    st.caption("The runs of the link on the command line")
    st.code(command(runs_of_row(data, row)), language=None, wrap_lines=True)


def requirements(data: PaperData) -> None:
    """What is required of the rows, met or not, as docs/paper.md has it."""
    with st.expander(requirements_text(data)):
        st.dataframe(requirement_rows(data), hide_index=True, key="paper_requirements")


def table_of_rows(table: PaperTable, rows: Sequence[PaperComparison]) -> None:
    """The rows of the picture as a table and a file."""
    with st.expander("Table of rows"):
        found = row_table(table, rows)
        st.dataframe(found, hide_index=True)
        csv_button("Rows as CSV", csv_text(found), "paper-rows.csv", "take_paper_rows")


def row_table(table: PaperTable, rows: Sequence[PaperComparison]) -> Table:
    """A line per row: both numbers, their ratio, how sure the model is."""
    return [
        {
            "row": safe_text(row.label),
            f"published ({table.unit})": row.published,
            "± reading error": row.error,
            f"ours ({table.unit})": row.ours,
            "ours / published": row.ratio,
            **_within(row),
            "model": row.mark,
        }
        for row in rows
    ]


def _within(row: PaperComparison) -> dict[str, object]:
    """Whether a row is reproduced; nothing where no run of ours can."""
    if row.is_within is None:
        return {}
    return {f"within {row.factor:g}×": "yes" if row.is_within else "no"}
