"""Paper: the published numbers beside ours, row by row, and what moves each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from graphturbo_core.report.paper.comparisons import (
    OUTCOMES,
    PaperComparison,
    PaperTable,
    comparisons,
    families,
)
from graphturbo_core.report.paper.data import WRITE, PaperData, kept_paper
from graphturbo_core.report.paper.sentences import headline, means_text, summary
from graphturbo_ui.paper.below import effects, requirements, table_of_rows, why
from graphturbo_ui.paper.parts import choose_rows, picture, row_of_address, selected_row, shown_rows
from graphturbo_ui.session import paper, state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.text import Sink, safe_text

STYLE = Path(__file__).parents[1] / "paper" / "paper.css"
HALVES = (11, 10)
"""Widths of the columns."""
MISSING = (
    f"The file docs/paper-rows.json is not here. `{WRITE}` writes it "
    "from docs/paper.json; both are part of the repository."
)


def show(_: Choices) -> None:
    """The whole page."""
    data = kept_paper()
    if data is None or not data.configurations:
        st.title("Paper")
        st.info(MISSING, icon=":material/description:")
        return
    st.html(STYLE)
    if state.is_presenting():
        st.html(STYLE.with_name("presenting.css"))
    paper.begin({paper.RESULT: list(OUTCOMES), paper.KIND: families(data)})
    table, series, row = row_of_address(data)
    with st.container(key="paper_head"):
        st.title(headline(data))
        text = summary(table, comparisons(data, table.key, series))
        text += "" if state.is_presenting() else f" {means_text(data)}"
        st.caption(safe_text(text, Sink.MARKDOWN, 2000))
    if not state.is_presenting():
        choose_rows(data, table, series, row.letter)
    rows = shown_rows(data, table, series)
    left, right = st.columns(HALVES, gap="small")
    with left, st.container(border=True, key="paper_picture"):
        picture(rows, table, row.key)
    with right, st.container(border=True, key="paper_row"):
        selected_row(data, table, row)
    _below(data, table, row, rows)


def _below(
    data: PaperData, table: PaperTable, row: PaperComparison, rows: Sequence[PaperComparison]
) -> None:
    """What moves the row; at a desk also the reasons and the tables."""
    with st.container(key="paper_below"):
        if state.is_presenting():
            effects(data, row)
            return
        left, right = st.columns(HALVES, gap="small")
        with left, st.container(border=True):
            effects(data, row)
        with right, st.container(border=True):
            why(data, row)
    table_of_rows(table, rows)
    requirements(data)
