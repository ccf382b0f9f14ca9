"""Around every page: the session is read, refusals are shown calmly, runs are waited for."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.units import format_seconds
from graphturbo_ui import state
from graphturbo_ui.controls import Choices, show_refusal
from graphturbo_ui.jobs import Run, WorkerError, shared_desk
from graphturbo_ui.text import Sink, safe_text

POLL_SECONDS = 0.15
BUG = "A run met a bug of ours. The server's log has the details; other choices still work."


def framed(page: Callable[[], None]) -> Callable[[], None]:
    """`page` with the session begun; a GraphTurboError of it is shown, and the app goes on."""

    def show() -> None:
        state.begin()
        for note in state.notes():
            st.info(safe_text(note, Sink.MARKDOWN, 1000), icon=":material/link:")
        try:
            page()
        except GraphTurboError as error:
            show_refusal(error)
        except WorkerError:
            st.error(BUG)

    show.__name__ = page.__name__
    return show


def runs_of(choices: Choices) -> tuple[Run, Run]:
    """A and B, started if they are new."""
    desk = shared_desk()
    run_a, run_b = (
        desk.start(choices.request(name), choices.model_bytes, choices.profile_bytes)
        for name in (choices.a, choices.b)
    )
    return run_a, run_b


def wait_for(run: Run, name: str) -> None:
    """Show a run's steps as they finish, until its answer is there."""
    if run.is_done:
        return
    place = st.empty()
    shown = 0
    with place.status(f"Computing {name} …", expanded=True):
        while not run.wait(POLL_SECONDS):
            for step, seconds in run.steps[shown:]:
                st.write(f"{safe_text(step, Sink.MARKDOWN)}: {format_seconds(seconds)}")
                shown += 1
    place.empty()


def finish(run_b: Run) -> None:
    """Wait for B where A's views are drawn already, then draw the page with both.

    Raises:
        GraphTurboError: B was refused.
    """
    if not run_b.is_done:
        wait_for(run_b, "B")
        _ = run_b.report  # a failure is not drawn again: what is not kept would be computed anew
        st.rerun()


def succeeded(run_a: Run, run_b: Run) -> tuple[Run, ...]:
    """A, and B when it is there; a refusal of B is shown beside A's views.

    Raises:
        GraphTurboError: A was refused.
    """
    _ = run_a.report
    if not run_b.is_done:
        return (run_a,)
    error = run_b.answer.exception()
    if isinstance(error, GraphTurboError):
        show_refusal(error)
        return (run_a,)
    _ = run_b.report
    return (run_a, run_b)
