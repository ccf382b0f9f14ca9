"""Around every page: the session is read, refusals are shown calmly, runs are waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import streamlit as st

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.units import format_seconds
from graphturbo_ui import query, state
from graphturbo_ui.controls import Choices, choose, show_refusal
from graphturbo_ui.jobs import Run, Runs, WorkerError, shared_desk
from graphturbo_ui.text import Sink, safe_text

POLL_SECONDS = 0.15
BUG = "A run met a bug of ours. The server's log has the details; other choices still work."


def begin() -> None:
    """What all pages have in common: the session, notes on the link, and the sidebar's choices.

    Drawn outside the pages, so that the choices stay when somebody goes from one to another.
    """
    state.begin()
    for note in state.notes():
        st.info(safe_text(note, Sink.MARKDOWN, 1000), icon=":material/link:")
    try:
        state.remember_choices(choose())
    except GraphTurboError as error:
        show_refusal(error)
        st.stop()


def framed(page: Callable[[Choices], None]) -> Callable[[], None]:
    """`page` with the choices made; a GraphTurboError of it is shown, and the app goes on."""

    def show() -> None:
        try:
            page(cast(Choices, state.choices()))
        except GraphTurboError as error:
            show_refusal(error)
        except WorkerError:
            st.error(BUG)

    show.__name__ = page.__name__
    return show


def runs_of(choices: Choices) -> Runs:
    """A and B by name; those that are new have become one job."""
    requests = [choices.request(key) for key in query.RUN_KEYS]
    runs = shared_desk().start(requests, choices.model_bytes, choices.profile_bytes)
    return dict(zip("AB", runs, strict=True))


def wait_for_first(runs: Runs) -> None:
    """Wait until one run can be drawn, or none is to come.

    Raises:
        WorkerError: a run met a bug.
    """
    if any(run.is_done and run.refusal is None for run in runs.values()):
        return
    for name, run in runs.items():
        wait_for(run, name)
        if run.refusal is None:
            return


def wait_for(run: Run, name: str) -> None:
    """Show a run's steps as they finish, until its answer is there."""
    if run.is_done:
        return
    place = st.empty()
    shown = 0
    with place.status(f"Computing {name} …", expanded=True):
        if run.request.verify:
            st.button(
                "Cancel the replay", key=f"cancel_{name}", on_click=cancel_replay, args=(run,),
                icon=":material/cancel:",
            )  # fmt: skip
        while not run.wait(POLL_SECONDS):
            for step, seconds in run.steps[shown:]:
                st.write(f"{safe_text(step, Sink.MARKDOWN)}: {format_seconds(seconds)}")
                shown += 1
    place.empty()


def cancel_replay(run: Run) -> None:
    """End the replay under way; the page goes on with runs that are not replayed."""
    shared_desk().cancel(run)
    state.ask_for_replay(False)


def outcome(runs: Runs) -> tuple[Runs, Runs]:
    """The runs that can be drawn, and those still to come; refusals are shown.

    A run may finish at any moment: each is looked at once, so that what is drawn and what is waited
    for agree. Where there is nothing to draw the page ends.

    Raises:
        WorkerError: a run met a bug.
    """
    done = {name: run for name, run in runs.items() if run.is_done}
    errors = {name: run.refusal for name, run in done.items() if run.refusal is not None}
    refused: dict[str, list[str]] = {}
    for name, error in errors.items():
        refused.setdefault(error.line(), []).append(name)
    for names in refused.values():
        show_refusal(errors[names[0]], " and ".join(names))
    drawn = {name: run for name, run in done.items() if name not in errors}
    if not drawn:
        st.stop()
    return drawn, {name: run for name, run in runs.items() if name not in done}


def finish(pending: Runs) -> None:
    """Wait for these where the others' views are drawn already, then draw the page with all.

    Raises:
        GraphTurboError: a run was refused for a reason that may pass; the page is not drawn again,
            for the run would be computed again.
        WorkerError: a run met a bug; likewise.
    """
    for name, run in pending.items():
        wait_for(run, name)
        if not run.is_kept:
            _ = run.report
    if pending:
        st.rerun()
