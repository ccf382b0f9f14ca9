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


def outcome(run_a: Run, run_b: Run) -> tuple[tuple[Run, ...], bool]:
    """The runs that can be drawn, and whether B is still to come; refusals are shown.

    B may finish at any moment: it is looked at once, so that what is drawn and what is waited for
    agree. A refusal of A ends the page.

    Raises:
        WorkerError: a run met a bug.
    """
    is_waiting = not run_b.is_done
    runs = {"A": run_a} if is_waiting else {"A": run_a, "B": run_b}
    refused: dict[str, list[str]] = {}
    for name, run in runs.items():
        if run.refusal is not None:
            refused.setdefault(run.refusal.line(), []).append(name)
    for names in refused.values():
        show_refusal(runs[names[0]].refusal, " and ".join(names))
    if run_a.refusal is not None:
        st.stop()
    return tuple(run for run in runs.values() if run.refusal is None), is_waiting


def finish(run_b: Run) -> None:
    """Wait for B where A's views are drawn already, then draw the page with both.

    Raises:
        GraphTurboError: B was refused.
        WorkerError: B met a bug; not drawn again, for it would be computed anew.
    """
    wait_for(run_b, "B")
    _ = run_b.report
    st.rerun()
