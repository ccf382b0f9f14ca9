"""The widgets of the page Compare: toolbar, picture, ladders, table, files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from graphturbo_core.comparison.compared_run import ComparedRun
from graphturbo_core.comparison.comparison_file import write_comparison
from graphturbo_core.comparison.ladder import ladders
from graphturbo_core.units import counted
from graphturbo_ui.compare import adding, equal_run, plan_diff, waterfall
from graphturbo_ui.compare.pair import act_on
from graphturbo_ui.compare.picture import picture_html
from graphturbo_ui.compare.plan_rows import wanted_by_plan
from graphturbo_ui.compare.run_table import NUMBERS, run_rows
from graphturbo_ui.jobs import Runs
from graphturbo_ui.session import compared
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.session.compared import WantedRun
from graphturbo_ui.session.plan_diff import PAIR
from graphturbo_ui.text import Sink, safe_text

EMPTY_WORDS = (
    "Add A and B of the bar above, the ladder of the paper's steps, or open a plan file, or a file "
    "of `compare --save` or `compare --json`."
)
MORE: tuple[tuple[str, str, Callable[[Choices], list[WantedRun]], str], ...] = (
    ("strategies", "Other strategies", adding.other_strategies,
     "Every strategy without a search, and plus, at B's cluster batch."),
    ("chips", "All chips", adding.all_chips, "B's strategy on every shipped chip."),
    ("batches", "Cluster batches", adding.cluster_batches,
     "B's strategy with its cluster batch halved down to one sample."),
    ("search", "Search (best)", adding.search,
     "The fastest schedule of a search: seconds to some minutes."),
)  # fmt: skip


def toolbar(choices: Choices, runs: Sequence[ComparedRun]) -> None:
    """One row of buttons: what can be added, undone, saved and opened."""
    with st.container(horizontal=True, key="compare_toolbar", gap="small"):
        _add("Add A and B", "both", compared.both, choices, "A and B of the bar above.")
        _add("Add the ladder", "ladder", adding.ladder, choices,
             "gb, lb, order and full of graphturbo at B's cluster batch.")  # fmt: skip
        with st.popover("Add more", icon=":material/add:"):
            for key, label, make, said in MORE:
                _add(label, key, make, choices, said)
                st.caption(said)
        with st.popover("Open", key="compare_open_box", icon=":material/folder_open:"):
            st.file_uploader(
                "compare.json, a plan file, or reports of run --json and compare --json",
                ["json", "yaml", "yml"], key="compare_file", on_change=compared.take_file,
                args=("compare_file", partial(wanted_by_plan, choices=choices)),
            )  # fmt: skip
            st.caption("A plan file adds the run of this plan on its own model and chip.")
        if runs:
            st.download_button(
                "Save", lambda: write_comparison(runs), "compare.json", "application/json",
                key="compare_save", on_click="ignore", icon=":material/download:",
                help="Opens here again, and with `compare --from compare.json`.",
            )  # fmt: skip
        lost = compared.comparison().lost
        if lost:
            st.button(
                f"Undo: bring back {counted(lost, 'run')}", key="compare_undo",
                on_click=compared.bring_back, icon=":material/undo:",
            )  # fmt: skip


def _add(
    label: str, key: str, make: Callable[[Choices], list[WantedRun]], choices: Choices, said: str
) -> None:  # fmt: skip
    """A button that adds runs; off where all of them are here or on their way."""
    wanted = make(choices)
    is_here = compared.comparison().has(wanted)
    st.button(
        label, key=f"compare_add_{key}", on_click=compared.want, args=(wanted,), disabled=is_here,
        help="All of these runs are in the comparison." if is_here else said,
    )  # fmt: skip


def lines() -> None:
    """Why runs or files did not join the comparison, and what runs that did have changed."""
    now = compared.comparison()
    if not now.refused and not now.said:
        st.empty()
        return
    with st.container(key="compare_lines"):
        if now.refused:
            st.warning(_text_of(now.refused))
        if now.said:
            st.info(_text_of(now.said))
        st.button("Dismiss", key="compare_dismiss", on_click=compared.forget_lines)


def _text_of(lines: Sequence[str]) -> str:
    return "  \n".join(safe_text(line, Sink.MARKDOWN, 600) for line in lines)


def picture(runs: Sequence[ComparedRun]) -> None:
    """The small multiples, or what to do where there is no run."""
    if not runs:
        st.info(EMPTY_WORDS)
        return
    ticked = [run.key for run in runs if run.key in compared.comparison().picked]
    marks = dict(zip(ticked, "AB", strict=True)) if len(ticked) == PAIR else {}
    st.html(picture_html(runs, marks))


def ladder_parts(runs: Sequence[ComparedRun]) -> None:
    """Every ladder among the runs."""
    for ladder in ladders(runs):
        st.html(waterfall.waterfall_html(ladder))


def presented_pair(runs: Sequence[ComparedRun]) -> Runs:
    """The plan diff of two ticked runs in front of an audience; runs that it waits for."""
    picked = [run for run in runs if run.key in compared.comparison().picked]
    return plan_diff.draw(picked) if len(picked) == PAIR else {}


def table(runs: Sequence[ComparedRun]) -> Runs:
    """The sortable table, and what can be done with ticked rows; runs that this waits for."""
    if not runs:
        return {}
    st.html('<h2 class="compare-title">All figures</h2>')
    now, key = compared.comparison(), compared.table_key()
    keys = [run.key for run in runs]
    ticked = [row for row, run in enumerate(runs) if run.key in now.picked]
    numbers = {name: st.column_config.NumberColumn(format="%.4g") for name in NUMBERS}
    actions = st.container()
    st.dataframe(
        run_rows(runs), hide_index=True, key=key,
        on_select=partial(compared.take_picked, key, keys), selection_mode="multi-row",
        column_config=numbers,
        selection_default={"selection": {"rows": ticked, "columns": [], "cells": []}},
    )  # fmt: skip
    picked = [run for run in runs if run.key in now.picked]
    with actions:
        if picked:
            return act_on(picked)
        st.caption(
            "Tick rows: one to name or note it, two to see what differs, also as a plan diff on "
            "the graph, and to open them as A and B in Explore, any number to pin, move or remove. "
            "Click a heading to sort."
        )
    plan_diff.let_go()
    equal_run.let_go_of_pair()
    return {}
