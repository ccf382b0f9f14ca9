"""Explore: one model, one chip, two runs side by side."""

from __future__ import annotations

import streamlit as st

from graphturbo_core.report.verdict.equal_batches import cluster_batch
from graphturbo_ui import frame
from graphturbo_ui.beside.equal_run import equal_run
from graphturbo_ui.beside.searched_run import NAME, is_searched, searched_row, searched_run
from graphturbo_ui.beside.what_helps import Changed, change_text, changed_runs, why_not
from graphturbo_ui.jobs import Run, Runs
from graphturbo_ui.session import state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.text import Sink, safe_text
from graphturbo_ui.views.below import below
from graphturbo_ui.views.edit_plan import present_edits
from graphturbo_ui.views.overview import Others, overview
from graphturbo_ui.views.sharing import sharing


def show(choices: Choices) -> None:
    """The whole page: the first screen, and below it the views that are chosen."""
    runs = frame.runs_of(choices)
    state.see({name: run.key for name, run in runs.items()})
    with st.container(key="waiting"):  # so that the picture before keeps its place, paler
        words = st.empty()
        if not any(run.is_done for run in runs.values()):
            with words:
                _say_what_is_shown()
        place = frame.wait_for_first(runs)
        words.empty()
    drawn, pending = frame.outcome(runs)
    beside = equal_run(choices, drawn)
    changed = changed_runs(choices, drawn, is_whole=not pending)
    searched = searched_run(choices, pending)
    can_search = not pending and not is_searched(choices)
    helps = change_text(changed, drawn, why_not(choices, drawn))
    others = Others(beside, helps, searched_row(searched), can_search)
    awaited = {**_awaited(beside, drawn), **_awaited_change(changed, drawn)}
    awaited |= {NAME: searched} if searched is not None and not searched.is_done else {}
    if drawn:
        state.keep_drawn(choices.widgets())
        overview(runs, drawn, pending, others)
    edits = st.container()
    if drawn:
        below(runs, drawn, pending, beside, edits)
        sharing(choices, drawn, beside, others.helps)
    else:
        with edits:
            present_edits(runs, drawn)
    if pending:
        frame.finish(pending, place)
    else:
        frame.finish(awaited)  # below the page: above it, the first screen would move


def _say_what_is_shown() -> None:
    """Of which choices the pale picture is; a session without one has nothing to say."""
    drawn = state.drawn_before()
    if drawn:
        named = {
            key: safe_text(state.short_name(str(drawn[key])), Sink.MARKDOWN, 60)
            for key in ("model", "chip", "batch", "a", "b")
        }
        shown = "{model} on {chip} at batch {batch}: A {a}, B {b}".format(**named)
        st.caption(f"Until it is there, the page below still shows {shown}.")


def _awaited(beside: Run | str | None, drawn: Runs) -> Runs:
    """The run beside A and B, where the page is drawn without it.

    It is looked at before anything is drawn: one that is done by the time the page stands was not
    there for the result line, and the page has to be drawn again.
    """
    if not isinstance(beside, Run) or beside.is_done:
        return {}
    return {f"A at {cluster_batch(drawn['B'].report)}": beside}


def _awaited_change(changed: Changed, drawn: Runs) -> Runs:
    """The run on a changed chip, where the page is drawn without it."""
    name = "B" if "B" in drawn else "A"
    return {f"{name} with {change.words}": run for change, run in changed if not run.is_done}
