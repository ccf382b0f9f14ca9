"""First screen of the page about the paper: filters, the picture of all rows, the selected row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from graphturbo_core.report.paper.comparisons import (
    OUTCOMES,
    RATES,
    STAGES,
    STEP_NAMES,
    TABLES,
    PaperComparison,
    PaperTable,
    comparisons,
    families,
    find_row,
    matching,
    table_of,
)
from graphturbo_core.report.paper.data import PaperData
from graphturbo_core.report.paper.ladder import ladder, runs_of_row, same_row
from graphturbo_core.report.paper.sentences import (
    MARKS,
    number_text,
    published_text,
    remark_text,
    verdict,
)
from graphturbo_ui.charts import enlarged, inked, text_colour, theme
from graphturbo_ui.paper.figures import DotRow, dot_figure, with_legend_above
from graphturbo_ui.paper.links import explore_link
from graphturbo_ui.session import paper, state
from graphturbo_ui.text import Sink, safe_text

PRESENTED_MARGIN = {"l": 8, "r": 100, "t": 44, "b": 8}
"""Of a dot plot in front of an audience (px): ratios at the right, the legend above."""
TITLES = {table.key: table.title for table in TABLES}


def shown_rows(data: PaperData, table: PaperTable, series: str) -> tuple[PaperComparison, ...]:
    """The rows that pass the filters."""
    outcomes, kinds = paper.filters(paper.RESULT), paper.filters(paper.KIND)
    return matching(comparisons(data, table.key, series), outcomes, kinds, data)


def choose_rows(data: PaperData, table: PaperTable, series: str, letter: str) -> None:
    """The bar with table, series and filters."""
    with st.container(key="paper_bar", horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            "Table", list(TITLES), default=table.key, format_func=TITLES.__getitem__,
            key=f"paper_table_{table.key}", label_visibility="collapsed", required=True,
            on_change=_take_table, args=(data, f"paper_table_{table.key}", letter),
        )  # fmt: skip
        key = f"paper_series_{table.key}_{series}"
        st.segmented_control(
            "Step", list(table.series), default=series, key=key,
            format_func=table.series.__getitem__,
            label_visibility="collapsed", required=True,
            on_change=_take_series, args=(data, table.key, key, letter),
        )  # fmt: skip
        count = len([*paper.filters(paper.RESULT), *paper.filters(paper.KIND)])
        with st.popover(f"Filter ({count})" if count else "Filter", icon=":material/filter_list:"):
            st.pills(
                "Result", list(OUTCOMES), selection_mode="multi",
                format_func=lambda name: OUTCOMES[name][0],
                key=paper.filter_widget(paper.RESULT),
                on_change=paper.take_filter, args=(paper.RESULT,),
            )  # fmt: skip
            st.pills(
                "Kind of model", families(data), selection_mode="multi",
                key=paper.filter_widget(paper.KIND),
                on_change=paper.take_filter, args=(paper.KIND,),
            )  # fmt: skip


def picture(rows: Sequence[PaperComparison], table: PaperTable, selected: str) -> None:
    """All rows that pass, published beside ours; a click selects one."""
    dots = [DotRow(row, row.label, _under(row)) for row in rows]
    figure = _with_legend(_dots(dots, table, selected))
    words = f"{table.title}: published numbers and ours, one line per row, with their ratio"
    chart_of_rows(figure, f"paper_rows_{selected}", words, [row.key for row in rows])
    if not state.is_presenting():
        st.caption(
            "Hollow: published, with the error of reading a bar chart. Filled: ours. Below each "
            "name: whether the model is known, derived or assumed. A click selects a row."
        )


def _dots(dots: Sequence[DotRow], table: PaperTable, selected: str) -> go.Figure:
    """The dot plot in the visitor's theme; large and with one line per label where presented."""
    if not state.is_presenting():
        return inked(dot_figure(dots, table, selected, theme()), text_colour())
    plain = [replace(each, under="") for each in dots]
    figure = enlarged(inked(dot_figure(plain, table, selected, theme()), text_colour()))
    figure.data[2].name = "bound"  # in one line with the others
    return figure.update_layout(margin=PRESENTED_MARGIN)


def _with_legend(figure: go.Figure) -> go.Figure:
    """The figure after its legend is drawn above it; presented, the legend is within."""
    if state.is_presenting():
        return figure
    legend, figure = with_legend_above(figure, theme())
    st.html(legend)
    return figure


def _under(row: PaperComparison) -> str:
    return "" if row.key.startswith(f"{STAGES}.") else f"model {row.mark}"


def chart_of_rows(figure: go.Figure, key: str, words: str, rows: Sequence[str]) -> None:
    """A dot plot whose first two traces have a point per row; a click selects its row."""
    st.plotly_chart(
        figure, key=key, alt=words, on_select=partial(_pick, key, rows),
        selection_mode="points", config={"displayModeBar": False},
    )  # fmt: skip


def _pick(key: str, rows: Sequence[str]) -> None:
    place = paper.picked_point(key)
    if place is not None and place[1] < len(rows):
        paper.select_row(rows[place[1]])


def _take_table(data: PaperData, widget: str, letter: str) -> None:
    """Another table: its default series, at the same configuration where it has it."""
    chosen = table_of(str(paper.picked(widget)))
    paper.select_row(same_row(data, chosen.key, chosen.default, letter))


def _take_series(data: PaperData, table: str, widget: str, letter: str) -> None:
    paper.select_row(same_row(data, table, str(paper.picked(widget)), letter))


def selected_row(data: PaperData, table: PaperTable, row: PaperComparison) -> None:
    """The selected row: its numbers, the steps of its configuration, and the way to Explore."""
    each = data.configuration(row.letter)
    if state.is_presenting():
        st.subheader(safe_text(row.label, Sink.MARKDOWN))
    else:
        _row_box(data, table, row)
    st.markdown(f"**{verdict(table, row)}**")
    if not state.is_presenting():
        st.caption(safe_text(_about(data, table, row), Sink.MARKDOWN, 1000))
    steps = ladder(data, row.letter)
    dots = [DotRow(step, STEP_NAMES[step.level], _strategy(data, step)) for step in steps]
    figure = _with_legend(_dots(dots, table_of(RATES), f"{RATES}.{row.level}.{row.letter}"))
    words = f"Throughput of every step of {each.title}: published and ours"
    chart_of_rows(figure, f"paper_steps_{row.key}", words, [step.key for step in steps])
    if state.is_presenting():
        return
    runs = runs_of_row(data, row)
    st.link_button(
        "Open in Explore", explore_link(runs), icon=":material/open_in_new:",
        help=f"A new tab: {runs.model} on {runs.chip}, batch {runs.batch}, {runs.a} and {runs.b}.",
    )  # fmt: skip


def _about(data: PaperData, table: PaperTable, row: PaperComparison) -> str:
    """Both numbers, the bound, and how sure the model is."""
    bound = ""
    if row.bound is not None and table.key == RATES:
        bound = f" · bound of chip and model {number_text(table, row.bound)}"
    return (
        f"Published {published_text(table, row)} · ours {number_text(table, row.ours)}{bound}. "
        f"{MARKS[data.configuration(row.letter).mark]}. {remark_text(data, row.letter)}"
    )


def _strategy(data: PaperData, row: PaperComparison) -> str:
    step = data.configuration(row.letter).step(row.level)
    return step.strategy if step else ""


def _row_box(data: PaperData, table: PaperTable, row: PaperComparison) -> None:
    """A box with the rows of the series: what a click in the picture does, by keys."""
    rows = comparisons(data, table.key, row.series)
    keys = [each.key for each in rows]
    labels = {each.key: each.label for each in rows}
    widget = f"paper_box_{row.key}"
    st.selectbox(
        "Selected row", keys, keys.index(row.key), format_func=labels.__getitem__, key=widget,
        on_change=_take_row, args=(widget,), label_visibility="collapsed",
    )  # fmt: skip


def _take_row(widget: str) -> None:
    paper.select_row(str(paper.picked(widget)))


def _say_no_row(named: str) -> None:
    shown = safe_text(named, Sink.MARKDOWN, 60)
    st.info(f"The link names the row “{shown}”, which is not there. The page shows the first.")


def row_of_address(data: PaperData) -> tuple[PaperTable, str, PaperComparison]:
    """Table, series and row that are selected; a name that is wrong is said and dropped."""
    named = paper.named_row()
    found = find_row(data, named) if named else None
    with st.container():  # what comes after keeps its place
        if named and found is None:
            paper.drop_row()
            _say_no_row(named)
    if found is None:
        found = find_row(data, same_row(data, RATES, table_of(RATES).default, ""))
    assert found is not None
    return found
