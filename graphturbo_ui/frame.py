"""Around every page: the session is read, refusals are shown calmly, runs are waited for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from graphturbo_core.errors import GraphTurboError
from graphturbo_ui.jobs import Run, Runs, WorkerError, shared_desk
from graphturbo_ui.progress import POLL_SECONDS, after, bar
from graphturbo_ui.refusals import (
    offer_way_back,
    one_per_cause,
    show_page_of_refusal,
    show_refused_run,
)
from graphturbo_ui.session import chips, compared_link, measured, query, run_state, state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.text import Sink, safe_text
from graphturbo_ui.top_bar.bar import choose
from graphturbo_ui.what_if.point_desk import let_go

BUG = "A run met a bug of ours. The server's log has the details; other choices still work."
LISTED = 2
"""So many notes on the link are a list."""
NOT_HAD = "Some parts of this link are not available:"


def begin(pages: Sequence[StreamlitPage]) -> bool:
    """What all pages have in common: the session, notes on the link, and the bar's choices.

    Drawn outside the pages, so that the choices stay when somebody goes from one to another.
    `pages` are those that the bar's menu lists.
    Whether there is something to draw: choices that are refused are said, and nothing else
    (`st.stop` would drop a click that came meanwhile).
    """
    chips.restore_upload()
    state.begin()
    chips.begin()
    measured.begin()
    compared_link.read_address()
    refused = None
    try:
        state.remember_choices(choose(pages))
    except GraphTurboError as error:
        refused = error
    _show_notes(state.notes())
    if refused is not None:
        show_page_of_refusal(refused)
    return refused is None


def _show_notes(notes: Sequence[str]) -> None:
    """What the link named and could not be had, in one box over the page until it is closed."""
    texts = [safe_text(note, Sink.MARKDOWN, 1000) for note in notes]
    lines = texts if len(texts) < LISTED else [NOT_HAD, "", *(f"- {text}" for text in texts)]
    if lines:
        with st.container(key="link_notes"):
            st.info("\n".join(lines), icon=":material/link:")
            st.button(
                "Close", key="close_notes", on_click=state.dismiss_notes, icon=":material/close:",
                help="The address is without these parts from then on.",
            )  # fmt: skip


def framed(page: Callable[[Choices], None], keeps_points: bool = False) -> Callable[[], None]:
    """`page` with the choices made; a GraphTurboError of it is shown, and the app goes on.

    `keeps_points`: it has use for the runs of points that What-if began.
    """

    def show() -> None:
        if not keeps_points:
            let_go()
        try:
            page(cast(Choices, state.choices()))
        except GraphTurboError as error:
            show_page_of_refusal(error)
        except WorkerError:
            st.error(BUG)

    show.__name__ = page.__name__
    return show


def runs_of(choices: Choices) -> Runs:
    """A and B by name; those that are new have become one job."""
    requests, desk = [choices.request(key) for key in query.RUN_KEYS], shared_desk()
    runs = desk.start(requests, choices.source, run_state.visitor())
    if not all(run.is_done for run in runs):
        desk.wake()
    return dict(zip("AB", runs, strict=True))


def wait_for_first(runs: Runs) -> DeltaGenerator:
    """Wait until one run can be drawn, or none is to come; what was cancelled is said at once.

    Raises:
        WorkerError: a run met a bug.
    """
    stopped = {name: run for name, run in runs.items() if run.is_cancelled}
    if stopped:
        _show_cancelled(stopped)
    place = st.empty()  # also with nothing to wait for: over the bar of the page before
    if any(run.is_done and run.refusal is None for run in runs.values()):
        return place
    for name, run in runs.items():
        wait_for(run, name, place, _later(runs, name))
        if run.refusal is None:
            break
    return place


def _later(runs: Runs, name: str) -> Runs:
    """The runs after that one."""
    names = list(runs)
    return {other: runs[other] for other in names[names.index(name) + 1 :]}


def wait_for(
    run: Run, name: str, place: DeltaGenerator | None = None, then: Runs | None = None
) -> None:
    """Show one progress bar of a run, with a button that cancels it, until its answer is there.

    It names the runs that come `then`.
    The bar is drawn again at every poll: Streamlit takes a click only where something is drawn.
    """
    if run.is_done:
        return
    place = st.empty() if place is None else place
    with place.container(
        border=True, key=f"steps_{name}", horizontal=True, vertical_alignment="center"
    ):
        drawn = st.empty()
        st.button(
            f"Cancel {name}", key=f"cancel_{name}", on_click=cancel, args=(run,),
            icon=":material/cancel:",
        )  # fmt: skip
        is_done = False
        while not is_done:
            now = bar(run, name)
            drawn.progress(now.share, now.text + after(then or {}))
            is_done = run.wait(POLL_SECONDS)
    place.empty()


def cancel(run: Run) -> None:
    """Let go of a run: it ends unless somebody else waits for it, and is not begun by itself."""
    for visitor in run_state.visitors_of(run):
        visitor.cancelled.add(run.key)
        shared_desk().cancel(run, visitor)


def run_again(keys: tuple[str, ...]) -> None:
    """Want these runs once more; the page that is drawn next begins them."""
    run_state.visitor().cancelled.difference_update(keys)


def _show_cancelled(runs: Runs) -> None:
    """Which runs were cancelled, and what can be done about it."""
    names = " and ".join(runs)
    verb = "were" if len(runs) > 1 else "was"
    keys = tuple(run.key for run in runs.values())
    st.info(f"{names} {verb} cancelled; other choices still work.", icon=":material/cancel:")
    with st.container(horizontal=True):
        st.button(
            f"Run {names} again", key="run_again", on_click=run_again, args=(keys,),
            icon=":material/refresh:",
        )  # fmt: skip
        if any(run.request.verify for run in runs.values()):
            st.button(
                "Go on without the replay", key="no_replay", on_click=run_state.ask_for_replay,
                args=(False,),
            )  # fmt: skip


def outcome(runs: Runs) -> tuple[Runs, Runs]:
    """The runs that can be drawn, and those still to come; refusals are shown, cancelled runs not.

    A run may finish at any moment: each is looked at once, so that what is drawn and what is waited
    for agree.

    Raises:
        WorkerError: a run met a bug.
    """
    done = {name: run for name, run in runs.items() if run.is_done}
    errors = {name: run.refusal for name, run in done.items() if run.refusal is not None}
    shown = [*one_per_cause({name: e for name, e in errors.items() if not done[name].is_cancelled})]
    is_page = len(errors) == len(runs) and len(shown) == 1
    show = show_page_of_refusal if is_page else show_refused_run
    for error, names in shown:
        show(error, names)
    if len(errors) == len(runs) and len(shown) > 1:
        offer_way_back()
    drawn = {name: run for name, run in done.items() if name not in errors}
    return drawn, {name: run for name, run in runs.items() if name not in done}


def finish(pending: Runs, place: DeltaGenerator | None = None) -> None:
    """Wait for these where the others' views are drawn already, then draw the page with all.

    Raises:
        GraphTurboError: a run was refused for a reason that may pass; the page is not drawn again,
            for the run would be computed again.
        WorkerError: a run met a bug; likewise.
    """
    for name, run in pending.items():
        wait_for(run, name, place, _later(pending, name))
        if not run.is_kept and not run.is_cancelled:
            _ = run.report
    if pending:
        state.draw_again()
