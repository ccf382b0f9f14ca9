"""The session's part of measured times: the rows of the last file, or why it was refused.

The file is kept as an upload, and the address has its digest.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.report.measured.table import MeasuredRow, read_measured
from graphturbo_ui.session import state
from graphturbo_ui.session.query import MEASURED, TIMES_GONE
from graphturbo_ui.store import upload_store
from graphturbo_ui.text import safe_text

_BEGUN, _FILE, _REFUSAL = "measured_begun", "measured_file", "measured_refusal"
MAX_NAME = 80


@dataclass(frozen=True, slots=True)
class MeasuredFile:
    """A file that was read: its name, the digest of its bytes, its rows."""

    name: str
    digest: str
    rows: tuple[MeasuredRow, ...]
    data: bytes = field(repr=False)

    @classmethod
    def of(cls, data: bytes, name: str) -> MeasuredFile:
        """The file, which is kept for its link.

        Raises:
            MeasurementError: it is no file of measured times.
        """
        rows = read_measured(data, name)
        return cls(name, upload_store().put(name, data), rows, data)


def begin() -> None:
    """Read the file that the address names, once a session, as a stranger's."""
    if _BEGUN in st.session_state:
        return
    kept = upload_store().get(st.query_params.get(MEASURED, ""))
    st.session_state[_BEGUN] = kept is not None
    if kept is None:
        return
    try:
        file = MeasuredFile.of(kept.data, safe_text(kept.name, max_length=MAX_NAME))
    except GraphTurboError:
        state.note(TIMES_GONE)
        return
    st.session_state[_FILE] = file


def is_linked() -> bool:
    """Whether the session began with a link to a file."""
    return state.kept(_BEGUN, False)


def named() -> tuple[tuple[str, str], ...]:
    """What the address names; a file that is no longer kept is kept again."""
    file = measured_file()
    if file is None:
        return ()
    if upload_store().get(file.digest) is None:
        upload_store().put(file.name, file.data)
    return ((MEASURED, file.digest),)


def take_measured(widget: str) -> None:
    """Read the file in an uploader; a refused one leaves the file before in place."""
    dropped = st.session_state.get(widget)
    st.session_state[_REFUSAL] = None
    if dropped is None:
        return
    name = safe_text(dropped.name, max_length=MAX_NAME)
    try:
        st.session_state[_FILE] = MeasuredFile.of(dropped.getvalue(), name)
    except GraphTurboError as error:
        st.session_state[_REFUSAL] = error


def drop_measured() -> None:
    """Forget the file."""
    st.session_state[_FILE] = None
    st.session_state[_REFUSAL] = None


def measured_file() -> MeasuredFile | None:
    """The file that was read last."""
    found: MeasuredFile | None = st.session_state.get(_FILE)
    return found


def measured_refusal() -> GraphTurboError | None:
    """Why the last file was refused."""
    return state.kept(_REFUSAL, None)
