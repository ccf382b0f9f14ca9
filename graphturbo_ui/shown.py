"""Runs at hand -> what the views draw of them, each made once; and tables of the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import streamlit as st

from graphturbo_core.report.report import Report
from graphturbo_ui.figures import tables
from graphturbo_ui.jobs import Runs, shared_desk
from graphturbo_ui.session import state
from graphturbo_ui.session.selection import Selection, marks, selected_in

T = TypeVar("T")


def nothing() -> None:
    """Draw over what stood here on the page before, where now there is nothing.

    Streamlit keeps it until the script ends, and a script that waits for a run ends late.
    """
    st.empty()


def csv_button(label: str, data: str | Callable[[], str], file_name: str, key: str) -> None:
    """A button that downloads a CSV file; the page is not drawn again."""
    st.download_button(
        label, data, file_name, "text/csv", key=key, on_click="ignore", icon=":material/download:"
    )


def reports_of(runs: Runs) -> tuple[Report, ...]:
    """The reports of finished runs."""
    return tuple(run.report for run in runs.values())


def names_of(runs: Runs) -> str:
    """The runs' names, a letter each."""
    return "".join(runs)


def of_runs(make: Callable[..., T], runs: Runs) -> T:
    """`make(*reports, names=…)`: what it gives of these runs under their names."""
    return make(*reports_of(runs), names=names_of(runs))


def view(name: str, make: Callable[..., T], runs: Runs) -> T:
    """The same, made once for these runs and names, and kept."""
    names = names_of(runs)
    return shared_desk().view(f"{name} {names}", partial(make, names=names), *runs.values())


def selected_ops(runs: Runs) -> list[frozenset[int]] | None:
    """The ops that are selected, of each run at hand; None where nothing is."""
    selected = state.selection()
    if selected is None or selected.run not in runs:
        return None
    reports = {name: run.report for name, run in runs.items()}
    return list(selected_in(selected, reports).values())


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


def table_to_pick(
    name: str,
    make: Callable[..., tables.Table],
    stands_for: Callable[..., Sequence[Selection]],
    runs: Runs,
) -> None:
    """A table of which a row can be picked: what it stands for is then selected in all views.

    `stands_for(*reports, names=…)` tells that of each row. Rows of what is selected are marked.
    """
    with st.expander(f"Table of {name}", on_change="rerun", key=f"table_{name}") as box:
        if not box.open:
            return
        rows = view(f"table {name}", make, runs)[: tables.MAX_ROWS]
        targets = of_runs(stands_for, runs)[: tables.MAX_ROWS]
        reports = {run: found.report for run, found in runs.items()}
        selected = state.selection()
        ticked = [row for row, target in enumerate(targets) if target == selected]
        said = marks(selected, targets, reports)
        st.dataframe(
            [{"selected": mark, **row} for mark, row in zip(said, rows, strict=True)],
            hide_index=True,
            on_select=partial(_pick, name, targets),
            selection_mode="single-row",
            selection_default={"selection": {"rows": ticked, "columns": [], "cells": []}},
            key=state.table_key(name, selected.text() if selected and ticked else ""),
        )
        st.caption("Tick a row to select it in all views.")


def _pick(name: str, targets: Sequence[Selection]) -> None:
    state.select(state.picked_row(name, targets))
