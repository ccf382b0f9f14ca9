"""Boxes of popovers, each a new one for the browser where the page has set its value.

A closed popover has no boxes in the browser. What was typed into one last is kept there and comes
with every later click: it would undo what the page has set meanwhile. A box with another key is
another box, of which the browser knows nothing yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st


def bound(
    key: str, take: Callable[[], None] | None = None, *, is_named_apart: bool = False
) -> dict[str, Any]:
    """Arguments of a box whose value is the session's `key`, which the address names.

    `take`: called once somebody has chosen. The first box is bound to the address; for later ones
    the page's script writes it, and for all where `is_named_apart`: the box shows other texts than
    the address has.
    """
    session = st.session_state
    if is_named_apart and _own(key) == key:
        named = session.get(key, st.query_params.get(key))
        if named is not None:
            session[key] = named  # else Streamlit drops it with the box that had it
            _renew(key)
    if key in session:
        if session.get(_seen(key), session[key]) != session[key]:
            _renew(key)
        session[_seen(key)] = session[key]
    own = _own(key)
    found: dict[str, Any] = {"key": own, "on_change": _taken, "args": (key, own, take)}
    if own == key:
        return {**found, "bind": "query-params"}
    session[own] = session[key]  # in every run: a box that opens later begins with it
    return found


def shown(key: str, value: object) -> str:
    """The key of a box that is to show `value`; the session keeps it under that key."""
    session = st.session_state
    if session.get(_own(key), value) != value:
        _renew(key)
    session[_own(key)] = value
    return _own(key)


def _taken(key: str, own: str, take: Callable[[], None] | None) -> None:
    session = st.session_state
    if own != _own(key):  # a box that another has replaced: the browser sends what it had last
        if own == key:
            session[key] = session[_own(key)]
        return
    session[_seen(key)] = session[own]
    if own != key:
        session[key] = session[own]
    if take is not None:
        take()


def _own(key: str) -> str:
    serial: int = st.session_state.get(_serial(key), 0)
    return f"{key}~{serial}" if serial else key


def _renew(key: str) -> None:
    st.session_state[_serial(key)] = st.session_state.get(_serial(key), 0) + 1


def _seen(key: str) -> str:
    return f"seen {key}"


def _serial(key: str) -> str:
    return f"boxes of {key}"
