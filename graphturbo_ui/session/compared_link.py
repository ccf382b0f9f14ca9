"""The comparison in the address: its file is kept on the server, and the address has the digest.

An address without a comparison stands for A and B of the bar, as the page Compare begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from graphturbo_core.comparison.compared_run import ComparedRun, default_name
from graphturbo_core.comparison.comparison_file import read_comparison, write_comparison
from graphturbo_core.errors import GraphTurboError
from graphturbo_ui.session import compared, state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.session.query import COMPARED, COMPARISON_GONE, NO_RUNS, comparison_fault
from graphturbo_ui.store import written_store

FILE_NAME = "compare.json"
OF_LINK = "the comparison of this link"
_LINKED, _BEGUN, _WRITTEN, _NAMED, _OWN = (
    f"compared_{name}" for name in ("linked", "begun", "written", "named", "own")
)
Keys = tuple[str, ...]


@dataclass(frozen=True)
class Begun:
    """What the page began with: keys of A and B, and their rows once all are computed."""

    keys: Keys
    runs: tuple[ComparedRun, ...] | None = None


def read_address() -> None:
    """Read what the address names, once a session; it is opened when somebody looks at it."""
    if _LINKED not in st.session_state:
        st.session_state[_LINKED] = st.query_params.get(COMPARED, "")


def begin(choices: Choices) -> None:
    """Have a comparison: that of the link, else A and B."""
    if compared.is_begun():
        return
    is_linked = bool(_linked())
    if _restore():
        return
    if is_linked:
        state.draw_again()  # which draws the note
    st.session_state[_BEGUN] = Begun(_keys(choices))
    compared.want_both(choices)


def add_both(choices: Choices) -> None:
    """Have A and B join the comparison, which is that of the link where there is one."""
    if not compared.is_begun():
        _restore()
    compared.want_both(choices)


def _restore() -> bool:
    """Whether the comparison is now that of the link; a file that is none is noted.

    A link is a stranger's, and so is the file that it names: it is read as one that is opened.
    """
    digest = _linked()
    st.session_state[_LINKED] = ""
    kept = written_store().get(digest)
    try:
        runs = read_comparison(kept.data, OF_LINK) if kept is not None else ()
    except GraphTurboError:
        runs = ()
    if not runs and digest != NO_RUNS:
        if digest:
            state.note(COMPARISON_GONE)
        return False
    compared.keep(compared.Comparison().with_runs(runs))
    return True


def _linked() -> str:
    return state.kept(_LINKED, "")


def named(choices: Choices) -> tuple[tuple[str, str], ...]:
    """What the address names: nothing of a comparison that the page begins with.

    It is that of the last moment at which no run was wanted, so that Back undoes a whole choice.
    """
    if not compared.is_begun():
        linked = _linked()
        return ((COMPARED, linked),) if linked and not comparison_fault(linked) else ()
    now = compared.comparison()
    if not now.wanted:
        st.session_state[_NAMED] = "" if _is_as_begun(choices) else _digest(now.runs)
    digest: str = state.kept(_NAMED, "")
    return ((COMPARED, digest),) if digest else ()


def _keys(choices: Choices) -> Keys:
    return tuple(each.key for each in compared.both(choices))


def _is_as_begun(choices: Choices) -> bool:
    """Whether the page would begin with the same rows: nobody changed them, nor A and B."""
    begun: Begun | None = st.session_state.get(_BEGUN)
    if begun is None:
        return False
    now = compared.comparison()
    if begun.runs is None:
        is_own = {run.key for run in now.runs} <= set(begun.keys)
        is_untouched = is_own and not now.before and all(map(_is_plain, now.runs))
        begun = replace(begun, runs=now.runs) if is_untouched else None
        st.session_state[_BEGUN] = begun
    return begun is not None and now.runs == begun.runs and begun.keys == _keys(choices)


def _is_plain(run: ComparedRun) -> bool:
    """Whether nobody has named, noted or pinned a run."""
    is_from_plan = run.choices is not None and bool(run.choices.plan)
    is_named = run.name != default_name(run.figures, is_from_plan)
    return not (is_named or run.note or run.is_pinned)


def _digest(runs: Sequence[ComparedRun]) -> str:
    """The digest of the comparison's file, which is written where it is not kept.

    One that is too large is noted: the address then has the one before.
    """
    if not runs:
        return NO_RUNS
    last: tuple[Sequence[ComparedRun], str] | None = st.session_state.get(_WRITTEN)
    if last is not None and last[0] is runs and not comparison_fault(last[1]):
        return last[1]
    try:
        data = write_comparison(runs).encode()
    except GraphTurboError as error:
        state.note(f"The address does not name this comparison: {error.line()}")
        return state.kept(_NAMED, "")
    digest, own = written_store().put_own(FILE_NAME, data, state.kept(_OWN, ()))
    st.session_state[_OWN] = own
    st.session_state[_WRITTEN] = runs, digest
    return digest
