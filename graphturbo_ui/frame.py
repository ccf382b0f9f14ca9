"""Around every page: the session is read, refusals are shown calmly, runs are waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.units import format_seconds
from graphturbo_ui import query, run_state, state
from graphturbo_ui.choices import Choices
from graphturbo_ui.controls import choose, show_refusal
from graphturbo_ui.jobs import Run, Runs, WorkerError, shared_desk
from graphturbo_ui.text import Sink, safe_text

POLL_SECONDS = 0.15
"""How often a page that waits says how long it has; a click is answered within so much."""
BUG = "A run met a bug of ours. The server's log has the details; other choices still work."


def begin() -> bool:
    """What all pages have in common: the session, notes on the link, and the sidebar's choices.

    Drawn outside the pages, so that the choices stay when somebody goes from one to another.
    Whether there is something to draw: choices that are refused are said, and nothing else
    (`st.stop` would drop a click that came meanwhile).
    """
    state.begin()
    for note in state.notes():
        st.info(safe_text(note, Sink.MARKDOWN, 1000), icon=":material/link:")
    try:
        state.remember_choices(choose())
    except GraphTurboError as error:
        show_refusal(error)
        return False
    return True


def framed(page: Callable[[Choices], None]) -> Callable[[], None]:
    """`page` with the choices made; a GraphTurboError of it is shown, and the app goes on."""

    def show() -> None:
        with calm():
            page(cast(Choices, state.choices()))

    show.__name__ = page.__name__
    return show


@contextmanager
def calm() -> Iterator[None]:
    """A GraphTurboError in here is shown, a bug is owned up to, and the app goes on."""
    try:
        yield
    except GraphTurboError as error:
        show_refusal(error)
    except WorkerError:
        st.error(BUG)


def part(is_there: bool) -> DeltaGenerator:
    """The next part of a page: a container, or what is nothing and takes a part's place.

    Of the page before, Streamlit keeps until the script ends what is not drawn over; and a script
    that follows a run ends late.
    """
    return st.container() if is_there else st.empty()


def runs_of(choices: Choices) -> Runs:
    """A and B by name; those that are new have become one job."""
    requests = [choices.request(key) for key in query.RUN_KEYS]
    runs = shared_desk().start(requests, choices.source, run_state.visitor())
    return dict(zip("AB", runs, strict=True))


def present_cancelled(runs: Runs) -> None:
    """Which runs were cancelled, and what can be done about it."""
    stopped = {name: run for name, run in runs.items() if run.is_cancelled}
    with part(bool(stopped)):
        if not stopped:
            return
        names = " and ".join(stopped)
        verb = "were" if len(stopped) > 1 else "was"
        keys = tuple(run.key for run in stopped.values())
        st.info(f"{names} {verb} cancelled; other choices still work.", icon=":material/cancel:")
        with st.container(horizontal=True):
            st.button(
                f"Run {names} again", key="run_again", on_click=run_again, args=(keys,),
                icon=":material/refresh:",
            )  # fmt: skip
            if any(run.request.verify for run in stopped.values()):
                st.button(
                    "Go on without the replay", key="no_replay", on_click=state.ask_for_replay,
                    args=(False,),
                )  # fmt: skip


def follow(runs: Runs, seen: Outcome) -> None:
    """The steps of runs to come as they finish; once one is there, the page is drawn anew.

    What ended in a way that may pass is handed to the page that is drawn next, which would ask for
    it again.
    """
    if not seen.pending:
        return
    with seen.place:
        # Of each run one: B's button stays where it is when A's is gone.
        places = {name: st.container() for name in runs}
    boxes = [StepsBox(run, name, places[name]) for name, run in seen.pending.items()]
    answers = [run.answer for run in seen.pending.values()]
    is_there = False
    while not is_there:
        is_there = bool(wait(answers, POLL_SECONDS, FIRST_COMPLETED).done)
        # At the end, too: a click that came meanwhile is taken here, `st.rerun` would drop it.
        for box in boxes:
            box.update()
    ended = [run for run in runs.values() if run.is_done and not run.is_kept]
    run_state.visitor().ended = {run.key: run for run in ended}
    st.rerun()


class StepsBox:
    """What a run is at and what it has done, and a button that ends it."""

    def __init__(self, run: Run, name: str, place: DeltaGenerator) -> None:
        """Draw it into `place`."""
        self._run, self._name, self._shown = run, name, 0
        with place.container(border=True, key=f"steps_{name}"):
            with st.container(horizontal=True, vertical_alignment="center"):
                self._label = st.empty()
                st.button(
                    f"Cancel {name}", key=f"cancel_{name}", on_click=cancel, args=(run,),
                    icon=":material/cancel:",
                )  # fmt: skip
            self._steps = st.container()
        self.update()

    def update(self) -> None:
        """Say the seconds anew, and the steps that have finished since.

        The seconds come at every look, for Streamlit takes a click only where something is drawn.
        """
        self._label.markdown(_progress(self._run, self._name))
        steps = self._run.steps[self._shown :]
        self._shown += len(steps)
        for step, seconds in steps:
            self._steps.caption(f"{safe_text(step, Sink.MARKDOWN)}: {format_seconds(seconds)}")


def _progress(run: Run, name: str) -> str:
    """What a run that is not done is at, and for how long."""
    strategy = safe_text(run.request.strategy, Sink.MARKDOWN)
    doing = "Computing" if run.is_begun else "Waiting for a worker to compute"
    return f"**{doing} {name}** ({strategy}) … {monotonic() - run.asked_s:.0f} s"


def cancel(run: Run) -> None:
    """Let go of a run: it ends unless somebody else waits for it, and is not begun by itself."""
    visitor = run_state.visitor()
    visitor.cancelled.add(run.key)
    shared_desk().cancel(run, visitor)


def run_again(keys: tuple[str, ...]) -> None:
    """Want these runs once more; the page that is drawn next begins them."""
    run_state.visitor().cancelled.difference_update(keys)


@dataclass(frozen=True)
class Outcome:
    """The runs that can be drawn, those still to come, and the place of the steps of these."""

    drawn: Runs
    pending: Runs
    place: DeltaGenerator


def outcome(runs: Runs) -> Outcome:
    """What has become of the runs. Refusals are shown, cancelled runs not.

    A run may finish at any moment: each is looked at once, so that what is drawn and what is waited
    for agree.
    """
    done = {name: run for name, run in runs.items() if run.is_done}
    drawn = {name: run for name, run in done.items() if run.is_drawable}
    pending = {name: run for name, run in runs.items() if name not in done}
    refused = {n: run for n, run in done.items() if n not in drawn and not run.is_cancelled}
    with part(bool(refused)):
        _present_refused(refused)
    return Outcome(drawn, pending, part(bool(pending)))


def _present_refused(runs: Runs) -> None:
    """Why these have no report; once, where two have the same reason."""
    refusals: dict[str, GraphTurboError] = {}
    refused: dict[str, list[str]] = {}
    for name, run in runs.items():
        with calm():
            error = run.refusal
            if error is not None:
                refusals[error.line()] = error
                refused.setdefault(error.line(), []).append(name)
    for line, names in refused.items():
        show_refusal(refusals[line], " and ".join(names))
