"""The session's part of the page about the paper: the selected row, and filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from graphturbo_ui.session import state
from graphturbo_ui.text import safe_text

ROW = "row"
"""The query name of the selected row."""
RESULT, KIND = "result", "kind"
"""Query names of the filters: results, and kinds of models."""
MOVER = "paper_mover"


def named_row() -> str:
    """The row that the address names, else the one that was selected last; "" for none."""
    return str(st.query_params.get(ROW) or state.kept("paper_row", ""))


def row_query() -> list[tuple[str, str]]:
    """The part of the address that names the selected row and the filters."""
    return [
        (name, value) for name in (ROW, RESULT, KIND) for value in st.query_params.get_all(name)
    ]


def begin(known: Mapping[str, Sequence[str]]) -> None:
    """Check the filters of a link against the known values; name what is kept in the address.

    Streamlit empties the address when the page changes. The script runs again where the address
    changes, so that the bar's link is of the new one.
    """
    kept = {ROW: [row for row in [state.kept("paper_row", "")] if row]}
    if ROW in st.query_params:
        kept[ROW] = st.query_params.get_all(ROW)
        st.session_state["paper_row"] = st.query_params[ROW]
    for name, values in known.items():
        if f"paper_{name}" not in st.session_state:
            _keep(name, _checked(name, values))
        kept[name] = list(filters(name))
    is_changed = False
    for name, values in kept.items():
        if st.query_params.get_all(name) != values:
            _write(name, values)
            is_changed = True
    if is_changed:
        state.draw_again()


def _checked(name: str, known: Sequence[str]) -> list[str]:
    """The values of a link's filter that there are; others are noted."""
    named = list(dict.fromkeys(st.query_params.get_all(name)))
    for value in (value for value in named[: len(known)] if value not in known):
        state.note(f"The link's filter “{safe_text(value, max_length=40)}” is not one of Paper.")
    return [value for value in named if value in known]


def _keep(name: str, values: Sequence[str]) -> None:
    st.session_state[f"paper_{name}"] = tuple(values)


def _write(name: str, values: Sequence[str]) -> None:
    if values:
        st.query_params[name] = list(values)
    elif name in st.query_params:
        del st.query_params[name]


def select_row(key: str) -> None:
    """Select a row and have the address name it; from a callback."""
    if key != named_row():
        st.session_state[MOVER] = ""
    st.session_state["paper_row"] = key
    st.query_params[ROW] = key


def drop_row() -> None:
    """Take a row that there is not out of the address."""
    st.session_state["paper_row"] = ""
    if ROW in st.query_params:
        del st.query_params[ROW]


def picked(widget: str) -> object:
    """What a widget of the page has now, in its callback."""
    return st.session_state.get(widget)


def picked_point(widget: str) -> tuple[int, int] | None:
    """Trace and place in it of the point that was clicked in a chart; None for none."""
    return state.picked_point(widget)


def select_mover(name: str) -> None:
    """Keep which effect was clicked, until another row is selected."""
    st.session_state[MOVER] = name


def selected_mover() -> str:
    """The effect that was clicked last, "" for none."""
    return state.kept(MOVER, "")


def filters(name: str) -> Sequence[str]:
    """What passes a filter; nothing: everything."""
    return state.kept(f"paper_{name}", ())


def filter_widget(name: str) -> str:
    """Key of a filter's widget, which has what passes when it is drawn for the first time."""
    key = f"paper_{name}_pills"
    if key not in st.session_state:
        st.session_state[key] = list(filters(name))
    return key


def take_filter(name: str) -> None:
    """Keep what a filter's widget has, and have the address name it; from a callback."""
    values = st.session_state[f"paper_{name}_pills"]
    _keep(name, values)
    _write(name, values)
