"""Rows that another version of the library computed, computed again by a click."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from graphturbo_core import __version__
from graphturbo_core.comparison.compared_run import ComparedRun
from graphturbo_core.units import counted
from graphturbo_ui.session import compared, reopening
from graphturbo_ui.text import Sink, safe_text

LABEL = "Compute again"
MAX_SHOWN = 3
"""Versions, and reasons, that are named; more are counted."""


def older(runs: Sequence[ComparedRun]) -> list[ComparedRun]:
    """Rows of another version that are not being computed again."""
    waited_for = {each.key for each in compared.comparison().wanted}
    return [run for run in runs if run.is_of_other_version and run.key not in waited_for]


def offer(runs: Sequence[ComparedRun]) -> None:
    """Which rows are of another version, and a button that computes them again."""
    found = older(runs)
    if not found:
        return
    why_not = dict.fromkeys(filter(None, map(reopening.why_not_again, found)))
    can = [run for run in found if not reopening.why_not_again(run)]
    with st.container(key="compare_older", horizontal=True, vertical_alignment="center"):
        verb = "has" if len(found) == 1 else "have"
        st.markdown(
            f"{counted(len(found), 'row')} {verb} figures of {_versions(found)}; this is version "
            f"{safe_text(__version__, Sink.MARKDOWN)}.", width="content",
        )  # fmt: skip
        if can:
            label = LABEL if len(can) == len(found) else f"{LABEL} {len(can)} of them"
            _button(label, "again_all", can)
        for reason in list(why_not)[:MAX_SHOWN]:
            st.caption(safe_text(reason, Sink.MARKDOWN, 300), width="content")


def offer_ticked(picked: Sequence[ComparedRun]) -> None:
    """The same button for the ticked rows of another version; none where there are none."""
    can = [run for run in older(picked) if not reopening.why_not_again(run)]
    if can:
        _button(LABEL, "again", can)


def _button(label: str, key: str, runs: Sequence[ComparedRun]) -> None:
    st.button(
        label, key=f"compare_{key}", icon=":material/refresh:", on_click=_want, args=(runs,),
        help="Name, note and pin remain. Figures become those of this version.",
    )  # fmt: skip


def _want(runs: Sequence[ComparedRun]) -> None:
    compared.change(lambda now: now.wanting([reopening.wanted_again(run) for run in runs]))


def _versions(runs: Sequence[ComparedRun]) -> str:
    found = list(dict.fromkeys(run.figures.version for run in runs))
    named = ", ".join(safe_text(version, Sink.MARKDOWN, 20) for version in found[:MAX_SHOWN])
    more = f" and {len(found) - MAX_SHOWN} more" if len(found) > MAX_SHOWN else ""
    return f"version {named}{more}" if len(found) == 1 else f"versions {named}{more}"
